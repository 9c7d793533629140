"""Gaussian scores of mixed and continuous tables: cg, cgd, dg, bf, bge; and mn, tables of columns cut into three.

In:  a Dataset, the chosen score, and a Prior on parent sets.
Out: a Source. The local models are regressions per cell (cg, cgd), Bayes' rule over Gaussians (cg, a discrete child of
continuous parents), regressions on embedded columns (dg, bf), Student t regressions (bge), and tables. The scores are
differences of functions of sets, shared between families (core/gaussian.cpp). Ordinal columns are taken by their
levels, as children and as parents. Likelihoods are in the user's units, so another unit changes all scores of a child
alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from spinney import _core
from spinney.choices import Choice
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import LimitError, way
from spinney.fitted.fit_gaussian import Settings, fit_gaussian
from spinney.fitted.model import LocalModel
from spinney.priors import Prior
from spinney.scores.mixed_columns import binned_columns, mixed_columns
from spinney.scores.source import Source

_PER_ROW = 0.5  # nanoseconds per row and family of cg; the others read matrices


class Gaussians(Source):
    """One data set under cg, cgd, dg, bf or bge."""

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        super().__init__(data, choice, prior, deadline)
        given = choice.values
        alpha_mu = float(given.get("alpha_mu", 1.0))
        self._settings = Settings(given.get("df", "full"), int(given.get("degree", 3)), alpha_mu, alpha_mu + 1.0)
        self._spec = _core.GaussianSpec(
            choice.name,
            bool(given.get("exact", False)),
            self._settings.df == "paper",
            self._settings.degree,
            self._settings.alpha_mu,
            self._settings.above,
            list(prior.by_size),
            prior.per_parameter,
        )

    @property
    def equivalent(self) -> bool:
        return self.entry.equivalent and not self.choice.values.get("exact", False)

    @cached_property
    def _gaussians(self) -> _core.GaussianScores:
        name = self.choice.name
        return _core.GaussianScores(mixed_columns(self.data, bins=name == "cgd", plain=name == "bge"), self._spec)

    def _build(self) -> _core.Scores:
        return self._gaussians

    @contextmanager
    def limits(self) -> Iterator[None]:
        """A matrix that outgrows the memory, as a sentence for the user."""
        try:
            yield
        except ValueError as error:
            if "embedded columns" not in str(error):
                raise
            raise LimitError(
                f"score {self.choice.name} would have more than {_core.most_embedded_columns:,} columns of indicators "
                "and powers",
                "leave columns out",
                way("use {}", "score", "cg"),
                way("use {}", "test", "cg"),
            ) from None

    def likelihood(self, child: str, parents: Sequence[str]) -> tuple[float, float]:
        """The log-likelihood of a family, and its free parameters."""
        with self.limits():
            return self._gaussians.terms(*self.family(child, parents))

    def parameters(self, child: str, parents: Sequence[str]) -> float:
        return self.likelihood(child, parents)[1]

    def family_cost(self, parents: int) -> float:
        return 500.0 + (_PER_ROW * self.data.n_rows if self.choice.name in ("cg", "cgd") else 0.0)

    def remembered_bytes(self, families: float) -> float:
        """Terms of sets, and of cg the sums in the cells of discrete columns (core/gaussian_cells.cpp)."""
        sums = 250.0 * len(self.names) ** 2 if self.choice.name in ("cg", "cgd") else 0.0
        return 64.0 * min(families, 2.0**20) + min(sums, 2.0**26)

    def most_bytes(self, threads: int) -> float:
        return 0.0  # no family is left out

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> LocalModel:
        return fit_gaussian(self.data, child, parents, self.choice.name, self._settings, value=score, stop=stop)


class CutTables(Source):
    """One data set under mn. Nodes of discrete columns get the tables of cgd, those of continuous ones the trees of
    pcart: a table of three bins is no density."""

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        super().__init__(data, choice, prior, deadline)
        self._spec = _core.Spec("bic", 0.0, list(prior.by_size), prior.per_parameter, [], [])

    def _build(self) -> _core.Scores:
        codes, levels = binned_columns(self.data)
        self._table = _core.Table(codes, levels, [0.0] * len(levels))
        return _core.table_scores(self._table, self._spec)

    def family_cost(self, parents: int) -> float:
        return 0.2 * self.data.n_rows

    def most_bytes(self, threads: int) -> float:
        return 0.0

    def parameters(self, child: str, parents: Sequence[str]) -> float:
        levels = dict(zip(self.names, binned_columns(self.data)[1], strict=True))
        count: float = levels[child] - 1
        for parent in parents:
            count *= levels[parent]
        return count

    @cached_property
    def _trees(self) -> Any:
        from spinney.scores import build_source  # it builds every group, this one too

        return build_source(self.data, "pcart")

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> LocalModel:
        if not self.data.kinds[child].discrete:
            model: LocalModel = self._trees.fit(child, parents, score, stop)
            return model
        return fit_gaussian(self.data, child, parents, "cgd", value=score, stop=stop)
