"""What fitted Gaussian models share: cells of discrete parents, and numbers that stay numbers.

In:  parents with their levels, and rows of data.
Out: the place of every row's cell; sums and distances that are finite however large the values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import Columns, Floats, Ints, Levels
from spinney.layout import word

_LARGEST = float(np.finfo(np.float64).max)
_FAR = 1e150  # deviations from a mean; the square is a number


def split_parents(parents: Sequence[str], levels: Sequence[Levels]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The discrete and the continuous ones, in their order."""
    pairs = list(zip(parents, levels, strict=True))
    return tuple(p for p, own in pairs if own is not None), tuple(p for p, own in pairs if own is None)


class CellIndex:
    """The cells of discrete parents that are stored, by mixed-radix codes of their levels; the last varies fastest."""

    def __init__(self, child: str, parents: Sequence[str], levels: Sequence[Levels], codes: Ints) -> None:
        if len(parents) != len(levels) or len({child, *parents}) <= len(parents):
            raise ChoiceError(f"the model of {child!r} has a variable twice, or parents without levels: name each once")
        self.discrete = split_parents(parents, levels)[0]
        self.levels = tuple(own for own in levels if own is not None)
        self.codes = codes
        if self.configurations >= 2**62:
            raise too_many_cells(child)
        if len(codes) and (codes[0] < 0 or codes[-1] >= self.configurations or (np.diff(codes) <= 0).any()):
            raise ChoiceError(f"the model of {child!r} has cells that are not rising codes: sort them, drop repeats")

    @cached_property
    def configurations(self) -> int:
        return math.prod(map(len, self.levels))

    def joint(self, columns: Columns) -> Ints:
        """The code of every row."""
        code = np.zeros(columns.n_rows, dtype=np.int64)
        for parent, levels in zip(self.discrete, self.levels, strict=True):
            code = code * len(levels) + columns.codes(parent)
        return code

    def of(self, columns: Columns) -> Ints:
        """The place of every row's cell; one more than the last for those that are not stored."""
        last = len(self.codes)
        if last == 0:
            return np.zeros(columns.n_rows, dtype=np.int64)
        code = self.joint(columns)
        place = np.minimum(np.searchsorted(self.codes, code), last - 1)
        return np.where(self.codes[place] == code, place, last)

    def levels_at(self, place: int) -> dict[str, str]:
        code, names = int(self.codes[place]), []
        for levels in reversed(self.levels):
            code, at = divmod(code, len(levels))
            names.append(levels[at])
        return dict(zip(self.discrete, reversed(names), strict=True))

    def words(self, place: int) -> str:
        """sex = m and smoker = yes"""
        return " and ".join(f"{word(name)} = {word(level)}" for name, level in self.levels_at(place).items())


def too_many_cells(child: str) -> LimitError:
    return LimitError(f"the model of {child!r} has more than 2^62 cells of parents: give {child!r} fewer parents")


def numbers(model: Any, floats: Sequence[str], ints: Sequence[str]) -> None:
    """Arrays of a frozen model, as float64 and int64, finite and not to be changed."""
    for name in ("parents", "levels", "parent_levels"):
        if hasattr(model, name):
            object.__setattr__(model, name, tuple(getattr(model, name)))
    for names, kind in ((floats, np.float64), (ints, np.int64)):
        for name in names:
            array = np.array(getattr(model, name), dtype=kind)
            if not np.isfinite(array).all():
                raise ChoiceError(f"the model of {model.child!r} has {name} that are not finite: give numbers")
            array.setflags(write=False)
            object.__setattr__(model, name, array)


def clipped(values: Floats) -> Floats:
    return np.clip(values, -_LARGEST, _LARGEST)


def total_of(terms: Sequence[Floats]) -> Floats:
    """A sum that is a number where its terms, or they together, are not."""
    total = np.zeros_like(terms[0])
    with np.errstate(over="ignore"):
        for term in terms:
            total = clipped(total + clipped(term))
    return total


def standard(values: Floats, centre: Any, scale: Any) -> Floats:
    """(values - centre) / scale; the difference itself may be too large for a number. Infinite values stay so."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = values - centre
        z: Floats = np.where(np.isfinite(away), away / scale, (values / 2 - centre / 2) / scale * 2)
    return np.where(np.isinf(values), values, np.clip(z, -_FAR, _FAR))
