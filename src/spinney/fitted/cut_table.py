"""A table over parents of which the continuous ones are cut into bins: the fitted model of cgd for discrete children.

In:  a Table over the bins, and the thresholds of every continuous parent.
Out: what the table says of rows whose continuous parents are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spinney.errors import ChoiceError
from spinney.fitted.model import Columns, Floats, Ints, Levels, LocalModel, align
from spinney.fitted.table import Table
from spinney.kinds import Kind, intervals
from spinney.layout import ROWS

if TYPE_CHECKING:
    from spinney.dataset import Dataset


@dataclass(frozen=True, eq=False)
class CutTable(LocalModel):
    """P(child | parents). `thresholds` has the cuts of every continuous parent; a value on one is above it."""

    word: ClassVar[str] = "cut-table"

    table: Table
    thresholds: Mapping[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        own = {name: tuple(map(float, cuts)) for name, cuts in self.thresholds.items()}
        object.__setattr__(self, "thresholds", own)
        for name, levels in self.table.family.items():
            if name in own and levels != intervals(own[name]).levels:
                raise ChoiceError(f"the table of {self.child!r} has other bins of {name!r} than its thresholds make")
        if not own.keys() <= set(self.table.parents):
            raise ChoiceError(f"the table of {self.child!r} has thresholds of {sorted(own)}: name its parents only")

    @property
    def child(self) -> str:
        return self.table.child

    @property
    def parents(self) -> tuple[str, ...]:
        return self.table.parents

    @property
    def score(self) -> float | None:
        return self.table.score

    @property
    def family(self) -> dict[str, Levels]:
        return {name: None if name in self.thresholds else levels for name, levels in self.table.family.items()}

    def _binned(self, data: Dataset | Columns, child: bool) -> Columns:
        columns = align(data, {name: own for name, own in self.family.items() if child or name != self.child})
        found = Columns(columns.n_rows, {})
        for name in (*self.parents, *((self.child,) if child else ())):
            cuts = self.thresholds.get(name)
            column = columns[name] if cuts is None else np.searchsorted(cuts, columns.values(name), side="right")
            found.put(name, column)
        return found

    def log_prob(self, data: Dataset | Columns) -> Floats:
        return self.table.log_prob(self._binned(data, child=True))

    def conditional(self, data: Dataset | Columns) -> Floats:
        return self.table.conditional(self._binned(data, child=False))

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Ints:
        return self.table.sample(self._binned(data, child=False), rng)

    def cuts(self, parent: str) -> Floats:
        return np.array(self.thresholds[parent])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CutTable):
            return NotImplemented
        return (self.table, self.thresholds) == (other.table, other.thresholds)

    def to_plain(self) -> dict[str, object]:
        return {
            "thresholds": {name: list(cuts) for name, cuts in self.thresholds.items()},
            "configurations": self.table.codes.tolist(),
            "probabilities": self.table.probabilities.tolist(),
            "default": self.table.default.tolist(),
            "counts": None if self.table.counts is None else self.table.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> CutTable:
        parents, thresholds = tuple(node["parents"]), node["thresholds"]
        levels = getattr(kinds[node["child"]], "levels", None) or ()
        codes = np.array(node["configurations"], np.int64)
        counts = None if node["counts"] is None else np.array(node["counts"]).reshape(len(codes), len(levels))
        return cls(
            Table(
                child=node["child"],
                parents=parents,
                levels=levels,
                parent_levels=tuple(
                    getattr(intervals(thresholds[p]) if p in thresholds else kinds[p], "levels", None) or ()
                    for p in parents
                ),
                codes=codes,
                probabilities=np.array(node["probabilities"], np.float64).reshape(len(codes), len(levels)),
                default=np.array(node["default"], np.float64),
                counts=counts,
                score=node["score"],
            ),
            thresholds,
        )

    def text(self, rows: int | None = ROWS) -> str:
        return self.table.text(rows)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def for_page(self) -> dict[str, object]:
        return {**self.table.for_page(), "thresholds": {name: list(cuts) for name, cuts in self.thresholds.items()}}

    def as_dict(self) -> dict[str, object]:
        return {**self.table.as_dict(), "model": self.word, "thresholds": dict(self.thresholds)}

    def attributes(self) -> dict[str, object]:
        return {**self.table.attributes(), "thresholds": dict(self.thresholds)}
