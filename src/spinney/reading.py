"""How a table is to be read.

In:  the choices of the user, as he wrote them.
Out: a Reading: the same, checked, in one frozen object that goes from the front door to the last column."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from spinney import kinds_file
from spinney.errors import ChoiceError, DataError, named
from spinney.kinds import Kind, LeftOut, Unseen, as_declared

Missing = Literal["auto", "refuse", "drop", "level"]
Kinds = Mapping[str, Kind | LeftOut | str] | str | os.PathLike[str] | None
Names = str | Iterable[str] | None


@dataclass(frozen=True)
class Reading:
    """What is declared about the columns, and what is done about holes and rare levels."""

    declared: Mapping[str, Kind] = field(default_factory=dict)
    missing: Missing = "auto"
    columns: tuple[str, ...] | None = None  # only these
    exclude: tuple[str, ...] = ()  # all but these
    decimal: str | None = None  # the decimal mark of text; None: found from the file
    drop_missing_above: float = 0.5  # a column with a larger share of missing cells is left out
    min_count: int = 1  # rarer levels become "other"
    ignore_absent: bool = False  # kinds may name columns that the table does not have
    only_named: bool = False  # only the columns that kinds names
    unseen: Unseen = "refuse"
    every_row: bool = False  # no row may be dropped: each has to be answered
    single: bool = False  # continuous columns in single precision
    keep_all: bool = False  # no column is left out, and no level merged, unless the user says so

    @classmethod
    def of(cls, kinds: Kinds = None, columns: Names = None, exclude: Names = None, **choices: Any) -> Reading:
        """The choices, checked."""
        declared, left_out = _declared(kinds)
        chosen = None if columns is None else listed(columns)
        return cls(declared=declared, columns=chosen, exclude=(*listed(exclude), *left_out), **choices)

    def __post_init__(self) -> None:
        _one_of("missing", self.missing, get_args(Missing))
        _one_of("unseen", self.unseen, get_args(Unseen))
        if self.decimal not in (None, ",", "."):
            raise ChoiceError(f"{named('decimal')} is {self.decimal!r}; write ',' or '.', or leave it out")
        share = self.drop_missing_above
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise ChoiceError(f"{named('drop_missing_above')} is {share!r}; give a share, a number from 0 to 1")
        if isinstance(self.min_count, bool) or not isinstance(self.min_count, int) or self.min_count < 1:
            raise ChoiceError(f"{named('min_count')} is {self.min_count!r}; give a whole number of at least 1")

    def kept(self, names: Collection[str]) -> list[str]:
        """Those of the table's columns that are asked for; a name that the table lacks is refused."""
        known = set(names)
        asked = {"columns": self.columns or (), "exclude": self.exclude}
        if not self.ignore_absent:
            asked = {"kinds": tuple(self.declared), **asked}
        for option, wanted in asked.items():
            for name in wanted:
                if name not in known:
                    raise DataError(
                        f"{named(option)} names column {name!r} which the table does not have; its columns are "
                        f"{shown(tuple(names))}"
                    )
        kept = [name for name in names if name not in self.exclude]
        if self.columns is not None:
            kept = [name for name in kept if name in self.columns]
        if self.only_named:
            kept = [name for name in kept if name in self.declared]
            if not kept:
                raise DataError(
                    f"the table has none of the columns {shown(tuple(self.declared))}; it has "
                    f"{shown(tuple(names))}: name another table"
                )
        if not kept:
            raise DataError("no column is left to read; choose at least one, or exclude fewer")
        return kept


def listed(names: Names) -> tuple[str, ...]:
    """Names as a tuple; one name alone will do."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names)


def _declared(kinds: Kinds) -> tuple[dict[str, Kind], tuple[str, ...]]:
    """The kinds that are declared, and the columns that are to be left out."""
    if kinds is None:
        return {}, ()
    if isinstance(kinds, (str, os.PathLike)):
        given: Mapping[str, Kind | LeftOut] = kinds_file.read(kinds)
    elif isinstance(kinds, Mapping):
        given = {str(name): as_declared(str(name), kind) for name, kind in kinds.items()}
    else:
        raise DataError(f"kinds is a {type(kinds).__name__}; give a dict from columns to kinds, or a kinds file's path")
    declared = {name: kind for name, kind in given.items() if not isinstance(kind, LeftOut)}
    return declared, tuple(name for name, kind in given.items() if isinstance(kind, LeftOut))


def _one_of(option: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        listed = ", ".join(repr(word) for word in words[:-1])
        raise ChoiceError(f"{named(option)} is {value!r}; choose {listed} or {words[-1]!r}")


def shown(names: tuple[str, ...], most: int = 10) -> str:
    """Names for a message: all, or the first few and how many more."""
    listed = ", ".join(repr(name if len(name) <= 40 else name[:37] + "...") for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more"
