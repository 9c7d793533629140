"""The three kinds of column.

In:  what a user writes: Categorical(["a", "b"]), Ordinal(["low", "high"]), Continuous(0, 1), or one of the three words.
Out: frozen kinds, checked; levels are text, always. A continuous column that is cut has intervals for levels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from spinney.errors import DataError

MAX_LEVELS = 65_536  # codes are two bytes at most


def level_text(value: object) -> str:
    """The name of a level: text as it is, 3 -> '3', 0.5 -> '0.5', True -> 'True'."""
    if isinstance(value, float):
        return repr(float(value) + 0.0)  # -0.0 and 0.0 are one number, so one level
    if isinstance(value, np.floating):
        return str(value + 0.0)  # float32: the short text, '0.1', not the digits of its float64 image
    return str(value)


def _checked_levels(levels: Iterable[object] | None, word: str) -> tuple[str, ...] | None:
    if levels is None:
        return None
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise DataError(f"the levels of a kind are a list, not {levels!r}; write {word.capitalize()}(['a', 'b'])")
    given = list(levels)
    for value in given:
        if value is None or (isinstance(value, (float, np.floating)) and math.isnan(value)):
            raise DataError(f"{value!r} cannot be a level of a {word} column; leave it out, or turn it into text")
    texts = tuple(level_text(value) for value in given)
    if not texts:
        raise DataError(f"a {word} column needs at least one level; leave levels out to take those found in the data")
    if len(set(texts)) < len(texts):
        twice = next(text for position, text in enumerate(texts) if text in texts[:position])
        raise DataError(f"level {twice!r} of a {word} column is named twice; name every level once")
    return texts


def _checked_end(value: float | None, end: str) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DataError(f"{end}={value!r} of a continuous column is not a number; give one or leave it out") from None
    if not math.isfinite(number):
        raise DataError(f"{end}={value!r} of a continuous column is not finite; leave it out to take the data's range")
    return number + 0.0


@dataclass(frozen=True, init=False)
class Categorical:
    """Levels without an order; None: those found in the data."""

    levels: tuple[str, ...] | None
    word: ClassVar[str] = "categorical"
    discrete: ClassVar[bool] = True

    def __init__(self, levels: Iterable[object] | None = None) -> None:
        object.__setattr__(self, "levels", _checked_levels(levels, self.word))


@dataclass(frozen=True, init=False)
class Ordinal:
    """Levels from low to high; None: the numbers found in the data, in their order."""

    levels: tuple[str, ...] | None
    word: ClassVar[str] = "ordinal"
    discrete: ClassVar[bool] = True

    def __init__(self, levels: Iterable[object] | None = None) -> None:
        object.__setattr__(self, "levels", _checked_levels(levels, self.word))


@dataclass(frozen=True, init=False)
class Continuous:
    """Numbers from lo to hi; None: the range found in the data."""

    lo: float | None
    hi: float | None
    word: ClassVar[str] = "continuous"
    discrete: ClassVar[bool] = False

    def __init__(self, lo: float | None = None, hi: float | None = None) -> None:
        object.__setattr__(self, "lo", _checked_end(lo, "lo"))
        object.__setattr__(self, "hi", _checked_end(hi, "hi"))
        if self.lo is not None and self.hi is not None and self.lo > self.hi:
            raise DataError(f"a continuous column cannot go from lo={self.lo!r} to hi={self.hi!r}; exchange the two")


@dataclass(frozen=True)
class LeftOut:
    """Not a kind: a column that is declared so is not read."""

    word: ClassVar[str] = "left out"


Kind = Categorical | Ordinal | Continuous
KIND_WORDS = (Categorical.word, Ordinal.word, Continuous.word)
Unseen = Literal["refuse", "allow"]  # what to do about levels that a kind, or a network, does not have

KINDS: dict[str, type[Categorical] | type[Ordinal] | type[Continuous]] = {
    kind.word: kind for kind in (Categorical, Ordinal, Continuous)
}


def as_kind(name: str, kind: object) -> Kind:
    """A kind, or the word for one, as the user gave it for column `name`."""
    if isinstance(kind, (Categorical, Ordinal, Continuous)):
        return kind
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]()
    raise DataError(f"column {name!r}: {kind!r} is not a kind; write one of {', '.join(KINDS)}")


def as_declared(name: str, kind: object) -> Kind | LeftOut:
    """A kind, or that the column is to be left out, as the user gave it for column `name`."""
    if isinstance(kind, LeftOut) or (isinstance(kind, str) and kind in (LeftOut.word, "exclude")):
        return LeftOut()
    try:
        return as_kind(name, kind)
    except DataError as error:
        raise DataError(f"{error}, or {LeftOut.word!r}") from None


def intervals(thresholds: Sequence[float]) -> Ordinal:
    """What a continuous column is when it has been cut: its intervals, from low to high."""
    ends = [repr(float(end)) for end in thresholds]
    if not ends:
        return Ordinal(["any"])
    inner = [f"[{low}, {high})" for low, high in itertools.pairwise(ends)]
    return Ordinal([f"< {ends[0]}", *inner, f">= {ends[-1]}"])


def interval_codes(values: npt.NDArray[np.float64], thresholds: Sequence[float]) -> npt.NDArray[np.int64]:
    """The interval of each value; one that is on a threshold is above it."""
    return np.searchsorted(np.asarray(thresholds, dtype=np.float64), values, side="right")


def open_range(kind: Kind) -> Kind:
    """The kind as new data may have it: levels stay, a range is left to the data."""
    return Continuous() if isinstance(kind, Continuous) else kind


def to_plain(kind: Kind) -> dict[str, Any]:
    """A kind as words, lists and numbers, for the kinds file, the network file and the fingerprint."""
    if isinstance(kind, Continuous):
        ends = {"lo": kind.lo, "hi": kind.hi}
        return {"kind": kind.word, **{end: value for end, value in ends.items() if value is not None}}
    return {"kind": kind.word} if kind.levels is None else {"kind": kind.word, "levels": list(kind.levels)}


def from_plain(name: str, plain: object) -> Kind:
    """The kind that to_plain() wrote, or a word alone, for column `name`."""
    if isinstance(plain, str):
        return as_kind(name, plain)
    if not isinstance(plain, Mapping):
        raise DataError(f"column {name!r}: {plain!r} is not a kind; write a word or a mapping with the key 'kind'")
    options = {key: value for key, value in plain.items() if key != "kind"}
    kind = as_kind(name, plain.get("kind"))
    allowed = ("levels",) if kind.discrete else ("lo", "hi")
    for key in options:
        if key not in allowed:
            raise DataError(f"column {name!r}: a {kind.word} column has no {key!r}; it takes {' and '.join(allowed)}")
    try:
        return KINDS[kind.word](**options)
    except DataError as error:
        raise DataError(f"column {name!r}: {error}") from None


def code_type(levels: Sized) -> type[np.uint8] | type[np.uint16]:
    """The smallest integers that number these levels."""
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"a column has {len(levels):,} levels; at most {MAX_LEVELS:,} can be numbered, merge or drop some"
        )
    return np.uint8 if len(levels) <= 256 else np.uint16
