"""Bayesian networks: a DAG and one fitted local model per node.

In:  the kinds of the columns and their fitted models (from fit, or from a file).
Out: Network; log-probabilities of rows, samples, predictions, files.
The levels of data are matched with those of the network by name; columns the network does not know are ignored, and
continuous values may lie outside the range that the network was learned from. A column that was cut into intervals
before the network was learned may be given as numbers: `cuts` has its thresholds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney import predict, sample, strengths
from spinney.catalog import choose_score
from spinney.choices import Choice
from spinney.dataset import Data, Dataset, as_dataset
from spinney.errors import ChoiceError
from spinney.fitted.model import Columns, Floats, Levels, LocalModel, align, checked_logs, some
from spinney.fitted.table import Table
from spinney.graph import CPDAG, DAG, Edge
from spinney.kinds import Continuous, Kind, Unseen, interval_codes, open_range
from spinney.layout import ROWS, aligned, counted, cut, family_rows, html_table, number
from spinney.reading import Reading
from spinney.table import read_frame

if TYPE_CHECKING:
    import networkx


class Network:
    """A Bayesian network. Immutable; equal to another when kinds and models are equal, whatever plan made them."""

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        models: Mapping[str, LocalModel],
        *,
        plan: Mapping[str, Any] | None = None,
        score: float | None = None,
        data: Mapping[str, Any] | None = None,
        cuts: Mapping[str, Iterable[float]] | None = None,
    ) -> None:
        """cuts: column -> rising thresholds; its levels are the intervals; one at a threshold is in the upper one."""
        _check_models(kinds, models)
        self.kinds: dict[str, Kind] = dict(kinds)
        self.models: dict[str, LocalModel] = {name: models[name] for name in kinds}
        self.dag = DAG(tuple(kinds), {name: model.parents for name, model in models.items()})
        self.plan: dict[str, Any] | None = None if plan is None else dict(plan)
        self.score = score
        self.data: dict[str, Any] | None = None if data is None else dict(data)
        self.cuts: dict[str, tuple[float, ...]] = {name: tuple(map(float, own)) for name, own in (cuts or {}).items()}
        _check_cuts(self.kinds, self.cuts, self.plan)

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order of the table."""
        return self.dag.names

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Per node its parents."""
        return dict(self.dag.parents)

    @property
    def edges(self) -> list[Edge]:
        """All (parent, child), sorted."""
        return self.dag.edges

    @property
    def accepts(self) -> dict[str, Kind]:
        """The kinds to read new data with: the levels of this network, and any range."""
        return {name: Continuous() if name in self.cuts else open_range(kind) for name, kind in self.kinds.items()}

    def levels(self, name: str) -> tuple[str, ...]:
        """The levels of a discrete column, in the order of its codes."""
        self._check_name(name)
        levels = self._levels(name)
        if levels is None:
            raise ChoiceError(f"{name!r} is continuous and has no levels: choose a discrete column")
        return levels

    def model(self, name: str) -> LocalModel:
        """The fitted model of a node; print() shows it as a labelled table or a tree.

        >>> print(net.model("heart"))
        """
        self._check_name(name)
        return self.models[name]

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str) or name not in self.models:
            raise ChoiceError(f"{name!r} is not a variable of this network: choose one of {some(self.names)}")

    def _levels(self, name: str) -> Levels:
        return self.models[name].family[name]

    def tables(self, purpose: str) -> dict[str, Table]:
        """The models, where all of them are tables; refused for this purpose if one is not."""
        tables = {}
        for name, model in self.models.items():
            if not isinstance(model, Table):
                about = "is continuous and" if self._levels(name) is None else "is discrete but"
                raise ChoiceError(
                    f"{purpose} needs tables of discrete columns, and {name!r} {about} has a {model.word}: "
                    f"learn the network from discrete columns with a table score such as bdeu"
                )
            tables[name] = model
        return tables

    def cpdag(self) -> CPDAG:
        """The Markov equivalence class of the graph."""
        return self.dag.cpdag()

    def log_prob(self, data: Data) -> Floats:
        """The natural log of each row's probability, times the density of its continuous columns in the user's units;
        -inf for a row of probability 0."""
        columns = self._columns(data, self.names)
        total = np.zeros(columns.n_rows)
        for model in self.models.values():
            total += checked_logs(model, model.log_prob(columns))
        return total

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """Draw n rows, as a Dataset. The same seed gives the same rows, whatever the order of the columns.

        >>> net.sample(1000, seed=1).to_arrow()
        """
        return sample.sample(self, n, seed)

    def edge_strengths(
        self,
        data: Data,
        score: str | Choice | None = None,
        prior: str | Choice | None = None,
        n_jobs: int = -1,
    ) -> dict[Edge, float]:
        """Per edge (parent, child), the strongest first: what leaving it out would cost, in nats per row of the data.

        That is the score of the child's family less its score without the parent, over the rows; score and prior are
        those that the network was learned with, unless others are named.

        >>> net.edge_strengths(frame)
        """
        return strengths.edge_strengths(self, data, score, prior, n_jobs)

    def predict_proba(self, data: Data, target: str, *, unseen: Unseen = "refuse") -> Floats:
        """P(target | all other columns) per row, one column per level of the target; see predict.py.

        unseen: levels that the network does not know are refused, or, with 'allow', the families that hold them are
        left out."""
        blanket = predict.markov_blanket(self.dag, target)
        if self._levels(target) is None:
            raise ChoiceError(
                f"the target {target!r} is continuous and has no levels: use predict(), which gives its mean"
            )
        return predict.posterior(self, self._columns(data, blanket, unseen), target)

    def predict(self, data: Data, target: str) -> list[str] | Floats:
        """Per row the most probable level of the target, among equals the earlier; or its mean, if it is continuous.

        >>> net.predict(frame.drop(columns="heart"), "heart")
        """
        blanket = predict.markov_blanket(self.dag, target)
        levels = self._levels(target)
        if levels is None:
            return predict.posterior_mean(self, self._columns(data, blanket), target)
        return [levels[code] for code in self.predict_proba(data, target).argmax(axis=1)]

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything, exactly, as .json or .json.gz."""
        from spinney import formats

        formats.need_suffix(path, ".json", "save() writes .json or .json.gz, other formats go through export()")
        formats.write(self, path, "network")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Network:
        """Read what save() wrote."""
        from spinney import formats

        formats.need_suffix(path, ".json", "load() reads .json or .json.gz, other formats go through Network.read()")
        network: Network = formats.read(path, "network")
        return network

    def export(self, path: str | PathLike[str], node: str | None = None, *, exact_names: bool = False) -> None:
        """Write the network in the format that the suffix names; a further .gz compresses. With a node: the tree or the
        decision graph of that node, as .dot. BIF has names of letters, digits and underscores, which other programs
        read, and the true names in properties; exact_names writes the true ones only."""
        # Formats know the network; the network looks them up only when a file is asked for.
        from spinney import formats

        if exact_names and (node is not None or formats.suffix(path) != ".bif"):
            raise ChoiceError(f"exact_names is for .bif, and {path} is another file: leave it out")
        if node is None:
            formats.write(self, path, "network", options={"exact_names": True} if exact_names else None)
            return
        formats.write_diagram(self.model(node), path)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Network:
        """Read a network in the format that the suffix names."""
        from spinney import formats

        network: Network = formats.read(path, "network")
        return network

    def report(self, path: str | PathLike[str], data: Data | None = None, target: str | None = None) -> None:
        """Write one page of HTML that shows the network, explains it and answers questions; it needs no other file.

        data: rows that the network is about: their counts are shown, and the strengths of the edges. No row is kept.
        target: the column that the page opens with.

        >>> net.report("report.html", data=frame)
        """
        from spinney.report import write_report

        write_report(path, self, data, target=target)

    def plot(self) -> Any:
        """The graph as a matplotlib Figure (extra `plot`); .savefig("net.pdf") and .svg keep lines and letters.

        >>> net.plot().savefig("net.pdf")
        """
        from spinney.plot import plot_network

        return plot_network(self)

    def to_networkx(self) -> networkx.DiGraph:
        """A networkx.DiGraph; nodes carry kind, levels and parents, and a table its cpt (a row per configuration, last
        parent fastest), a partition its text, another model what it says of itself."""
        try:
            import networkx
        except ImportError:
            raise ChoiceError(
                "to_networkx() needs the package networkx: install it with pip install networkx"
            ) from None
        graph = networkx.DiGraph()
        for name, model in self.models.items():
            graph.add_node(name, kind=self.kinds[name].word, **model.attributes())
        graph.add_edges_from(self.edges)
        return graph

    def _columns(self, data: Data, names: tuple[str, ...], unseen: Unseen = "refuse") -> Columns:
        """The named columns of a Dataset or a frame, in the codes of this network."""
        kinds = {name: self.accepts[name] for name in names}
        # One answer per row that came in: missing cells take the level 'missing' where there is one, or are refused.
        reading = Reading(declared=kinds, only_named=True, ignore_absent=True, unseen=unseen, every_row=True)
        if not names and not isinstance(data, Dataset):
            return Columns(len(read_frame(data).columns[0]), {})
        data = as_dataset(data, reading)
        cut = [name for name in names if name in self.cuts and not getattr(data.kinds.get(name), "discrete", True)]
        columns = align(data, {name: None if name in cut else self._levels(name) for name in names}, unseen=unseen)
        for name in cut:
            columns.put(name, interval_codes(columns.values(name), self.cuts[name]))
        return columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        mine, others = ((net.names, net.kinds, net.models, net.cuts) for net in (self, other))
        return mine == others

    def __repr__(self) -> str:
        return f"Network({self._size()})"

    def _size(self) -> str:
        return f"{counted(len(self.names), 'node')}, {counted(len(self.edges), 'edge')}"

    def text(self, rows: int | None = ROWS) -> str:
        """Every node with its parents and its local score, and the score; longer networks are cut after so many rows.

        >>> print(net)
        """
        lines = cut(aligned(self._family_rows()), rows, "node")
        total = [] if self.score is None else [f"score   {number(self.score)}{self._scored_by()}"]
        return "\n".join([self._title(), *lines, *total])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        rows = self._family_rows()
        after = f"... and {counted(len(rows) - ROWS, 'more node')}" if len(rows) > ROWS else ""
        table = html_table(self._title(), ("node", "parents", "local score"), rows[:ROWS], after)
        return self._picture() + table

    def _picture(self) -> str:
        """The graph as SVG; nothing where it is large."""
        from spinney.report.svg import graph_svg

        return graph_svg(self.dag, self.kinds)

    def _title(self) -> str:
        rows = (self.data or {}).get("rows")
        learned = f", learned from {counted(rows, 'row')}" if isinstance(rows, int) else ""
        return f"Bayesian network: {self._size()}{learned}"

    def _family_rows(self) -> list[tuple[str, str, str]]:
        return family_rows((name, model.parents, model.score) for name, model in self.models.items())

    def _scored_by(self) -> str:
        """The score's name in brackets; a plan may come from a file, so a text that is no score is left out."""
        try:
            return f"  ({choose_score((self.plan or {})['score']).short})"
        except (KeyError, ChoiceError):
            return ""


def _check_cuts(
    kinds: Mapping[str, Kind], cuts: Mapping[str, tuple[float, ...]], plan: Mapping[str, Any] | None
) -> None:
    """The plan of a classifier names the columns that were cut: without their thresholds no row could be read."""
    named = (plan or {}).get("cut_columns") or ()
    for name in named if isinstance(named, (list, tuple)) else ():
        if name not in cuts:
            raise ChoiceError(
                f"column {name!r} was cut into intervals before the network was learned, and its thresholds (cuts) are "
                f"missing: write the network again"
            )
    for name, own in cuts.items():
        levels = getattr(kinds.get(name), "levels", None) or ()
        rising = all(low < high for low, high in itertools.pairwise((-math.inf, *own, math.inf)))
        if not rising or len(levels) != len(own) + 1:
            raise ChoiceError(
                f"{name!r} is cut at {some(own)} and has {len(levels)} levels: give rising thresholds, one fewer than "
                f"levels"
            )


def _check_models(kinds: Mapping[str, Kind], models: Mapping[str, LocalModel]) -> None:
    if set(kinds) != set(models):
        odd = sorted(set(kinds) ^ set(models))[0]
        raise ChoiceError(f"{odd!r} has a kind or a model but not both: give every variable one of each")
    for name, model in models.items():
        if model.child != name:
            raise ChoiceError(f"the model stored under {name!r} belongs to {model.child!r}: store it under that name")
        for variable, levels in model.family.items():
            if variable not in kinds:
                raise ChoiceError(
                    f"{name!r} has the parent {variable!r}, which is not in the network: add it, or remove the edge"
                )
            if not model.fits(variable, kinds[variable]):
                differs, remedy = ("a range", "the same one") if levels is None else ("levels", some(levels))
                raise ChoiceError(
                    f"the model of {name!r} has another kind or other {differs} of {variable!r} than the network: "
                    f"use {remedy} in both"
                )
