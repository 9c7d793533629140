"""Tests of independence by likelihood ratios, from every score that is a penalised likelihood.

In:  a table, two columns, columns that are given, and a test: g2 for tables, or the name of such a score (cg, lr).
Out: Independence: statistic, degrees of freedom, p-value.

The statistic is 2 (l1 - l0), l1 the log-likelihood of x given y and the others, l0 that of x given the others; under
independence it is about chi-square with as many degrees of freedom as l1 has more free parameters (Andrews, Ramsey and
Cooper 2018, section 5.3). A score that is not score equivalent gives another answer for y given x. As in the paper, the
columns are then dependent if either test says so: the p-value is the smaller of the two. Under independence it is below
alpha in alpha to 2 alpha of all cases; both are in `directions`, for whoever wants to combine them otherwise.

A test is as good as its model of x given the others. Measured on 800 rows, x and y discrete with logits that are linear
in a given continuous column, slope 1, and independent given it: at alpha = 0.05 lr rejects 8%, cg 10%, cgd 19%, dg 25%,
mvp(degree=1) 79%, because probabilities are no straight lines and y then tells where they bend."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

from scipy.special import chdtrc

from spinney import _core
from spinney.catalog import SCORES, Score, choose_score
from spinney.choices import Choice, build_choice, loaded
from spinney.dataset import Data, Dataset, as_dataset
from spinney.errors import ChoiceError, DataError
from spinney.layout import words
from spinney.scores import build_source
from spinney.scores.source import Source


class Likelihoods(Protocol):
    """What a test reads: per family the log-likelihood and the number of free parameters."""

    def likelihood(self, child: str, parents: tuple[str, ...]) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Direction:
    """The test of a child given a parent and the given columns, against the given columns alone."""

    child: str
    parent: str
    statistic: float
    df: float
    p_value: float


@dataclass(frozen=True)
class Independence:
    """Whether two columns are independent given others. Statistic and df are those of the smaller p-value."""

    x: str
    y: str
    given: tuple[str, ...]
    test: str
    statistic: float
    df: float
    p_value: float
    rows: int
    directions: tuple[Direction, ...]

    def independent(self, alpha: float = 0.05) -> bool:
        """Not refuted at this level."""
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
            raise ChoiceError(f"alpha is a number between 0 and 1, not {alpha!r}; 0.05 and 0.01 are usual")
        return self.p_value > alpha

    def __str__(self) -> str:
        given = f" | {words(self.given)}" if self.given else ""
        return (
            f"{words((self.x,))} and {words((self.y,))}{given}: {self.test} {self.statistic:.6g}, "
            f"df {self.df:.6g}, p = {self.p_value:.4g} ({self.rows:,} rows)"
        )


class IndependenceTests:
    """One test on one data set, for many questions: searches ask the same families again and again."""

    def __init__(self, data: Dataset, test: str | Choice = "auto") -> None:
        self.data = data
        choice = chosen_test(data, test)
        self.test = "g2" if choice.name == "ll" else choice.short
        assert isinstance(choice.entry, Score)
        self.source = build_source(data, choice)
        self._both = not self.source.equivalent
        own = _Tables(self.source) if choice.name == "ll" else cast(Likelihoods, self.source)
        self._likelihood = cache(own.likelihood)

    def for_core(self) -> _core.Tests:
        """The same p-values for searches; the columns are numbered in sorted order of names."""
        if type(self.source)._build is not Source._build:
            return _core.likelihood_tests(self.source.scores, self._both)
        names = self.source.names  # its likelihoods are computed in Python
        return _core.called_tests(
            lambda x, y, given: self(names[x], names[y], [names[v] for v in given]).p_value, len(names)
        )

    def __call__(self, x: str, y: str, given: Iterable[str] = ()) -> Independence:
        others = _checked(self.data, x, y, given)
        directions = [self._direction(x, y, others)]
        if self._both:
            directions.append(self._direction(y, x, others))
        best = min(directions, key=lambda own: own.p_value)
        rows = self.data.n_rows
        return Independence(x, y, others, self.test, best.statistic, best.df, best.p_value, rows, tuple(directions))

    def _direction(self, child: str, parent: str, given: tuple[str, ...]) -> Direction:
        without, few = self._likelihood(child, given)
        with_it, more = self._likelihood(child, tuple(sorted((*given, parent))))
        # Below 0 by rounding, or where the two models are not nested (probabilities of mvp are no maximum likelihood).
        statistic, df = max(0.0, 2 * (with_it - without)), max(0.0, more - few)
        # No more parameters, as for a parent with one level: there is nothing that the parent could explain.
        return Direction(child, parent, statistic, df, float(chdtrc(df, statistic)) if df > 0 else 1.0)


class _Tables:
    """Log-likelihoods of tables, from the score ll."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def likelihood(self, child: str, parents: tuple[str, ...]) -> tuple[float, float]:
        return float(self._source.local_scores([(child, parents)])[0]), self._source.parameters(child, parents)


def independence(data: Data, x: str, y: str, given: Iterable[str] = (), test: str | Choice = "auto") -> Independence:
    """Test whether x and y are independent given the columns `given`, by a likelihood ratio.

    test: g2 (tables of discrete columns); cg, lr or another score of scores.md that counts parameters (any kinds), with
        its options, such as lr(degree=2); or auto: g2 where all these columns are discrete, else cg.

    >>> sp.independence(data, "heart", "smoker", given=["age"]).p_value
    """
    data = as_dataset(data)
    others = _checked(data, x, y, given)
    return IndependenceTests(data.select((x, y, *others)), test)(x, y, others)


def chosen_test(data: Dataset, test: str | Choice) -> Choice:
    """The score whose likelihoods the test compares."""
    if isinstance(test, str) and test == "auto":
        test = "g2" if all(kind.discrete for kind in data.kinds.values()) else "cg"
    choice = choose_score("ll" if isinstance(test, str) and test == "g2" else test)
    assert isinstance(choice.entry, Score)
    if choice.name != "ll" and not _has_likelihood(choice.entry):
        known = ["g2", *(name for name, row in SCORES.items() if _has_likelihood(row))]
        raise ChoiceError(f"{test!s} is not a test of independence; use one of {', '.join(known)}")
    if "count_variance" in choice.values:  # a variance per cell is fitted, so it is tested
        return build_choice(choice.entry, {**choice.values, "count_variance": True})
    return choice


def test_of(score: Choice) -> str | Choice:
    """What a search tests with unless told: the likelihoods of the score, where it is a penalised likelihood."""
    assert isinstance(score.entry, Score)
    return score if _has_likelihood(score.entry) else "auto"


def _has_likelihood(row: Score) -> bool:
    """Whether its scores are likelihoods with counted parameters; probabilities of a column are none."""
    return bool(row.source) and not row.bayesian and not row.evidence and hasattr(loaded(row.source), "likelihood")


def _checked(data: Dataset, x: str, y: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ChoiceError(f"given is a list of columns, not {given!r}; write given=[{given!r}]")
    others = tuple(given)
    for name in (x, y, *others):
        if not isinstance(name, str) or name not in data.kinds:
            shown = ", ".join(map(repr, data.names[:8])) + (", ..." if len(data.names) > 8 else "")
            raise ChoiceError(f"there is no column {name!r}; the columns are {shown}")
    if x == y:
        raise ChoiceError(f"{x!r} is tested against itself; name two columns")
    for name in (x, y):
        if name in others:
            raise ChoiceError(f"column {name!r} is tested and given at the same time; leave it out of given")
    if len(set(others)) < len(others):
        twice = next(name for place, name in enumerate(others) if name in others[:place])
        raise ChoiceError(f"column {twice!r} is given twice; name it once")
    if data.n_rows == 0:
        raise DataError("the table has no rows; independence cannot be tested without data")
    if not math.isfinite(math.prod(len(data.levels(p)) + 0.0 for p in (x, y, *others) if data.kinds[p].discrete)):
        raise ChoiceError(f"{len(others)} given columns have more joint levels than a number holds; give fewer")
    return tuple(sorted(others))
