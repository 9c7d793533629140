"""A fitted conditional probability table.

In:  a child, its parents, and one row of probabilities for each stored configuration of the parents.
Out: probabilities, log-probabilities and draws of the child for rows of data.
A table may be sparse: configurations that are not stored share the default row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import Columns, Floats, Ints, Levels, LocalModel, align, draw_codes
from spinney.fitted.plain import levels_of, matrix
from spinney.kinds import Kind
from spinney.layout import LEVELS, ROWS, aligned, counted, html_table, probability, word

if TYPE_CHECKING:
    from spinney.dataset import Dataset

MAX_DENSE = 50_000_000  # numbers in a table that is written out in full (400 MB)


def scale_to_one(rows: Floats) -> None:
    """Divide rows by their sums, in place. A row whose sum is 1 up to rounding stays as it is, to the last bit, so that
    a table that is written and read again is never scaled twice."""
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1) > 1e-12
    rows[off] /= sums[off, None]


@dataclass(frozen=True, eq=False)
class Table(LocalModel):
    """P(child | parents). Configurations are mixed-radix codes of the parents' levels, the LAST parent varies fastest.

    `codes` are the stored configurations in rising order (all of them: the table is dense), `probabilities` their rows,
    `default` the row of every other configuration, `counts` what the rows were estimated from, `score` the local score
    of the fit."""

    word: ClassVar[str] = "table"

    child: str
    parents: tuple[str, ...]
    levels: tuple[str, ...]
    parent_levels: tuple[tuple[str, ...], ...]
    codes: Ints
    probabilities: Floats
    default: Floats
    counts: NDArray[np.float64] | NDArray[np.int64] | None = None
    score: float | None = None
    _rows: Floats = field(init=False, repr=False)  # probabilities and, last, the default: row -1 is the default

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("parents", tuple(self.parents))
        put("levels", tuple(self.levels))
        put("parent_levels", tuple(tuple(levels) for levels in self.parent_levels))
        put("codes", np.array(self.codes, dtype=np.int64))
        put("probabilities", np.asarray(self.probabilities, dtype=np.float64))
        put("default", np.asarray(self.default, dtype=np.float64))
        self._check_shape()
        rows = np.vstack([self.probabilities, self.default])
        self._check_rows(rows)
        scale_to_one(rows)
        put("_rows", rows)
        put("probabilities", rows[:-1])
        put("default", rows[-1])
        if self.counts is not None:
            put("counts", np.array(self.counts))
        for array in (self.codes, rows, self.probabilities, self.default, self.counts):
            if array is not None:
                array.setflags(write=False)

    def _check_shape(self) -> None:
        where = self._where
        r, q, k = len(self.levels), self.configurations, len(self.codes)
        if len(self.parents) != len(self.parent_levels):
            raise ChoiceError(
                f"{where} has {len(self.parents)} parents but levels of {len(self.parent_levels)}: give each its levels"
            )
        if r == 0 or not all(self.parent_levels):
            raise ChoiceError(f"{where} has a variable without levels: give at least one level")
        for name, levels in zip((self.child, *self.parents), (self.levels, *self.parent_levels), strict=True):
            if len(set(levels)) < len(levels):
                raise ChoiceError(f"{where}: a level of {name!r} occurs twice; name each level once")
        if q >= 2**62:
            raise LimitError(f"{where} has more than 2^62 configurations of parents: give {self.child!r} fewer parents")
        if self.probabilities.shape != (k, r) or self.default.shape != (r,):
            raise ChoiceError(
                f"{where}: probabilities of shape {self.probabilities.shape} and a default of {self.default.shape} "
                f"do not fit {k} configurations and {r} levels: give one row per configuration"
            )
        if self.counts is not None and np.shape(self.counts) != (k, r):
            raise ChoiceError(
                f"{where}: counts of shape {np.shape(self.counts)} are not {(k, r)}: give one count per probability"
            )
        if k and (self.codes[0] < 0 or self.codes[-1] >= q or np.any(np.diff(self.codes) <= 0)):
            raise ChoiceError(
                f"{where}: configurations must be rising codes from 0 to {q - 1}: sort them and drop repeats"
            )

    def _check_rows(self, rows: Floats) -> None:
        good = (rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= 1e-9)
        if not good.all():
            row = int(np.argmin(good))
            which = "the default row" if row == len(self.codes) else f"row {self.describe(int(self.codes[row]))}"
            raise ChoiceError(f"{self._where}, {which}: these are not probabilities that sum to 1; normalise the row")

    @property
    def _where(self) -> str:
        return f"the table of {self.child!r}"

    @classmethod
    def full(
        cls,
        child: str,
        parents: tuple[str, ...],
        levels: tuple[str, ...],
        parent_levels: tuple[tuple[str, ...], ...],
        probabilities: Floats,
    ) -> Table:
        """A dense table; `probabilities` has one row per configuration, the last parent varies fastest."""
        codes = np.arange(len(probabilities), dtype=np.int64)
        return cls(child, parents, levels, parent_levels, codes, probabilities, np.full(len(levels), 1 / len(levels)))

    @property
    def family(self) -> dict[str, Levels]:
        return {self.child: self.levels, **dict(zip(self.parents, self.parent_levels, strict=True))}

    @property
    def configurations(self) -> int:
        """The number of joint configurations of the parents, stored or not."""
        return math.prod(len(levels) for levels in self.parent_levels)

    @property
    def dense(self) -> bool:
        return len(self.codes) == self.configurations

    def levels_at(self, code: int) -> tuple[str, ...]:
        """The parents' levels of a configuration."""
        names = []
        for levels in reversed(self.parent_levels):
            code, place = divmod(code, len(levels))
            names.append(levels[place])
        return tuple(reversed(names))

    def describe(self, code: int) -> str:
        """A configuration in the user's words: (yes, low)."""
        return f"({', '.join(self.levels_at(code))})"

    def expanded(self) -> Floats:
        """All configurations, one row each."""
        if self.configurations * len(self.levels) > MAX_DENSE:
            raise LimitError(
                f"the table of {self.child!r} has {self.configurations} configurations, too many to write out in full: "
                f"save the network as .json, which keeps the stored ones only"
            )
        if self.dense:
            return self.probabilities
        rows = np.tile(self.default, (self.configurations, 1))
        rows[self.codes] = self.probabilities
        return rows

    def rows(self, data: Dataset | Columns) -> Ints:
        """The position of the stored row that each data row uses; -1 is the default row."""
        columns = align(data, dict(zip(self.parents, self.parent_levels, strict=True)))
        code = np.zeros(columns.n_rows, dtype=np.int64)
        for parent, levels in zip(self.parents, self.parent_levels, strict=True):
            code *= len(levels)
            code += columns.codes(parent)
        if self.dense:
            return code
        if len(self.codes) == 0:
            return np.full(columns.n_rows, -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.codes, code), len(self.codes) - 1)
        return np.where(self.codes[place] == code, place, -1)

    def conditional(self, data: Dataset | Columns) -> Floats:
        """P(level | parents of the row), one column per level."""
        return self._rows[self.rows(data)]

    def log_prob(self, data: Dataset | Columns) -> Floats:
        """log P(child of the row | parents of the row); -inf where the probability is 0."""
        columns = align(data, self.family)
        picked = self._rows[self.rows(columns), columns.codes(self.child)]
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(picked)
        return logs

    def log_prob_at_each(self, columns: Columns, parent: str) -> Floats:
        """As in LocalModel, by one look-up per row: the table is transposed so that the parent's levels are columns."""
        if not self.dense:
            return super().log_prob_at_each(columns, parent)
        shape = {name: len(levels) for name, levels in zip(self.parents, self.parent_levels, strict=True)}
        shape[self.child] = len(self.levels)
        places = self.probabilities.reshape(list(shape.values()))
        turned = np.moveaxis(places, self.parents.index(parent), -1).reshape(-1, shape.pop(parent))
        code = np.zeros(columns.n_rows, dtype=np.int64)
        for name, levels in shape.items():
            code *= levels
            code += columns.codes(name)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(turned).take(code, axis=0)
        return logs

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Ints:
        """A level code per data row, drawn given the parents of the row; one uniform number is used per row."""
        return draw_codes(self._rows, self.rows(data), rng)

    def text(self, rows: int | None = ROWS) -> str:
        """One line per stored configuration of the parents: their levels, the probabilities, the rows of data."""
        shown = self._stored(rows)
        head = (*self.parents, *map(str, self.levels[:LEVELS]), *self._last_heads())
        lines = aligned([tuple(map(word, head)), *(self._cells(place) for place in shown)], head=True)
        more = len(self.codes) - len([place for place in shown if place >= 0])
        title = self.title + (f", of {counted(len(self.levels), 'level')}" if len(self.levels) > LEVELS else "")
        return "\n".join([title, *lines, *([f"  ... and {counted(more, 'more row')}"] if more else [])])

    def _repr_html_(self) -> str:
        shown = self._stored(ROWS)
        more = len(self.codes) - len([place for place in shown if place >= 0])
        head = (*self.parents, *map(str, self.levels[:LEVELS]), *self._last_heads())
        after = f"... and {counted(more, 'more row')}" if more else ""
        return html_table(self.title, head, (self._cells(place) for place in shown), after)

    def _stored(self, most: int | None) -> list[int]:
        """The places of the rows to show; -1, the default row, comes last where configurations use it."""
        places = range(len(self.codes) if most is None else min(most, len(self.codes)))
        return [*places, *([] if self.dense else [-1])]

    def _last_heads(self) -> tuple[str, ...]:
        rest = len(self.levels) - LEVELS
        return (*((f"{rest} more",) if rest > 0 else ()), *(("rows",) if self.counts is not None else ()))

    def _cells(self, place: int) -> tuple[str, ...]:
        """One row: the parents' levels (a default row: 'other'), probabilities to four digits, the number of rows."""
        parents = (
            ("other",) * len(self.parents) if place < 0 else tuple(map(word, self.levels_at(int(self.codes[place]))))
        )
        shares = self._rows[place]
        cells = [probability(float(share)) for share in shares[:LEVELS]]
        if len(self.levels) > LEVELS:
            cells.append(probability(float(shares[LEVELS:].sum())))
        if self.counts is not None:
            cells.append("0" if place < 0 else f"{self.counts[place].sum():.10g}")
        return (*parents, *cells)

    def cuts(self, parent: str) -> Floats:
        """All parents of a table have levels."""
        return np.empty(0)

    def to_plain(self) -> dict[str, object]:
        return {
            "configurations": None if self.dense else self.codes.tolist(),  # null: all, in order
            "probabilities": self.probabilities.tolist(),
            "default": self.default.tolist(),
            "counts": None if self.counts is None else self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Table:
        child, parents = node["child"], tuple(node["parents"])
        for name in (child, *parents):
            if not getattr(kinds[name], "levels", None):
                raise ChoiceError(f"the table of {child!r} names {name!r}, which is no column with levels: add them")
        levels = levels_of(kinds[child])
        probabilities = matrix(node["probabilities"], len(levels))
        stored = node["configurations"]
        table = cls(
            child=child,
            parents=parents,
            levels=levels,
            parent_levels=tuple(levels_of(kinds[parent]) for parent in parents),
            codes=np.arange(len(probabilities)) if stored is None else np.array(stored, dtype=np.int64),
            probabilities=probabilities.astype(np.float64),
            default=np.array(node["default"], dtype=np.float64),
            counts=None if node["counts"] is None else matrix(node["counts"], len(levels)),
            score=node["score"],
        )
        if stored is None and not table.dense:
            raise ChoiceError(
                f"the table of {child!r} has {len(probabilities)} rows for {table.configurations} configurations: "
                f"add rows"
            )
        return table

    def for_page(self) -> dict[str, object]:
        """As in a file, with the rows of data instead of the counts."""
        rows = None if self.counts is None else self.counts.sum(axis=1).tolist()
        return {**self.to_plain(), "counts": None, "rows": rows}

    def as_dict(self) -> dict[str, object]:
        rows = [
            {
                "parents": None if place < 0 else list(self.levels_at(int(self.codes[place]))),
                "probabilities": self._rows[place].tolist(),
                **({} if self.counts is None or place < 0 else {"counts": self.counts[place].tolist()}),
            }
            for place in self._stored(None)
        ]
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": list(self.levels),
            "score": self.score,
            "rows": rows,  # a row whose parents are null stands for all configurations that are not listed
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": self.levels, "parents": self.parents, "cpt": self.expanded()}

    def __eq__(self, other: object) -> bool:
        """The same table written the same way; counts and score are not compared."""
        if not isinstance(other, Table):
            return NotImplemented
        return (
            (self.child, self.parents, self.levels, self.parent_levels)
            == (other.child, other.parents, other.levels, other.parent_levels)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.probabilities, other.probabilities)
            # A dense table never uses its default row.
            and (self.dense or np.array_equal(self.default, other.default))
        )
