"""Constraints: required and forbidden edges, tiers, limits.

In:  required and forbidden edges, tiers, limits, by column name.
Out: Allowed: per child the possible parents, the required ones, and how many at the most; free of contradictions.
Every search reads Allowed and nothing else, so that all searches obey the same constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import comb
from os import PathLike, fspath
from typing import Any

from spinney import _core
from spinney.errors import ChoiceError, FileFormatError, LimitError, named, way
from spinney.formats import suffix
from spinney.formats.plain import json_value, yaml_value
from spinney.formats.text import read_text
from spinney.graph import DAG
from spinney.limits import whole
from spinney.machine import available_memory

Edge = tuple[str, str]


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden edges, tiers and limits, for learn().

    Edges are (parent, child). A column of a later tier is never a parent of one of an earlier tier; columns in no
    tier are free. max_parents holds for all children, or per child when it is a dict.

    >>> sp.learn(data, constraints=sp.Constraints(forbidden=[("pain", "heart")], tiers=[["age"], ["smoker", "heart"]]))
    """

    required: Sequence[Edge] = ()
    forbidden: Sequence[Edge] = ()
    tiers: Sequence[Sequence[str]] = ()
    max_parents: int | Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        for word in ("required", "forbidden"):
            object.__setattr__(self, word, tuple(_edge(edge, word) for edge in _many(getattr(self, word), word)))
        object.__setattr__(
            self, "tiers", tuple(tuple(map(_tier_name, _many(tier, "tiers"))) for tier in _many(self.tiers, "tiers"))
        )

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Constraints:
        """From a JSON or YAML file with the same four words."""
        name = fspath(path)
        content = json_value(name, read_text(path)) if suffix(name) == ".json" else _yaml(name, read_text(path))
        if not isinstance(content, dict) or not set(content) <= {"required", "forbidden", "tiers", "max_parents"}:
            raise FileFormatError(
                f"{path}: constraints have the words required, forbidden, tiers, max_parents and no others"
            )
        try:
            return cls(**content)
        except ChoiceError as error:
            raise FileFormatError(f"{name}: {error}") from None

    def as_dict(self) -> dict[str, Any]:
        """The four parts by name, for files."""
        limit = dict(self.max_parents) if isinstance(self.max_parents, Mapping) else self.max_parents
        return {
            "required": [list(e) for e in self.required],
            "forbidden": [list(e) for e in self.forbidden],
            "tiers": [list(t) for t in self.tiers],
            "max_parents": limit,
        }

    def allowed(
        self,
        names: Iterable[str],
        max_parents: int | None = None,
        candidates: Mapping[str, Iterable[str]] | None = None,
    ) -> Allowed:
        """Resolved for these columns; contradictions are refused here, before any search."""
        order = tuple(sorted(names))
        known = set(order)
        self._check_names(known)
        possible = self._possible(order, known, candidates)
        required = self._required(order, possible, known, candidates)
        own = self.max_parents.values() if isinstance(self.max_parents, Mapping) else [self.max_parents]
        _check_limits(*own, max_parents)
        limits = self._limits(max_parents, possible)
        for child in order if self.required else ():
            if len(required[child]) > limits[child]:
                raise ChoiceError(
                    f"column {child!r} has {len(required[child])} required parents but {named('max_parents')} allows "
                    f"{limits[child]}",
                    way("raise {}", "max_parents"),
                    "drop a required edge",
                )
        return Allowed(order, possible, required, limits)

    def _possible(
        self, order: tuple[str, ...], known: set[str], candidates: Mapping[str, Iterable[str]] | None
    ) -> Mapping[str, tuple[str, ...]]:
        if candidates is None and not self.forbidden and not self.tiers:  # all others; no sets to build
            return Others(order)
        possible = _candidates(order, known, candidates)
        tier = {name: i for i, names_of in enumerate(self.tiers) for name in names_of}
        for parent, child in self.forbidden:
            possible[child].discard(parent)
        for child in tier:
            possible[child] -= {name for name, i in tier.items() if i > tier[child]}
        return {child: tuple(sorted(possible[child])) for child in order}

    def _required(
        self,
        order: tuple[str, ...],
        possible: Mapping[str, tuple[str, ...]],
        known: set[str],
        candidates: Mapping[str, Iterable[str]] | None,
    ) -> dict[str, tuple[str, ...]]:
        if not self.required:
            return dict.fromkeys(order, ())
        required: dict[str, set[str]] = {name: set() for name in order}
        for parent, child in self.required:
            if parent not in possible[child]:
                why = (
                    "the constraints forbid it"
                    if candidates is None or parent in candidates.get(child, known)
                    else f"{parent!r} is not among the candidates of {child!r}"
                )
                raise ChoiceError(f"edge {parent!r} -> {child!r} is required, but {why}; drop one of the two")
            required[child].add(parent)
        wanted = {child: tuple(sorted(parents)) for child, parents in required.items()}
        try:
            DAG(order, wanted)
        except ChoiceError as error:
            raise ChoiceError(f"the required edges cannot all hold: {error}") from None
        return wanted

    def _limits(self, overall: int | None, possible: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
        per_child = self.max_parents if isinstance(self.max_parents, Mapping) else {}
        own = None if isinstance(self.max_parents, Mapping) else self.max_parents
        most = min(len(possible) if limit is None else limit for limit in (own, overall))
        limits = {child: min(most, len(parents)) for child, parents in possible.items()}
        limits.update({child: min(limits[child], own) for child, own in per_child.items() if own is not None})
        return limits

    def _check_names(self, known: set[str]) -> None:
        limited = self.max_parents if isinstance(self.max_parents, Mapping) else ()
        named = (
            [n for e in (*self.required, *self.forbidden) for n in e] + [n for t in self.tiers for n in t] + [*limited]
        )
        for name in named:
            if name not in known:
                raise ChoiceError(
                    f"the constraints name column {name!r}, which the table does not have; "
                    f"its columns are {_some(sorted(known))}"
                )
        for parent, child in (*self.required, *self.forbidden):
            if parent == child:
                raise ChoiceError(f"the constraints have an edge from {parent!r} to itself; remove it")
        in_tiers = [n for t in self.tiers for n in t]
        for name in in_tiers:
            if in_tiers.count(name) > 1:
                raise ChoiceError(f"column {name!r} stands in two tiers; leave it in one")


class Others(Mapping[str, tuple[str, ...]]):
    """Every column with all others. They are listed when asked for: of 20,000 columns the lists take gigabytes."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._index = {name: i for i, name in enumerate(names)}

    def __getitem__(self, name: str) -> tuple[str, ...]:
        i = self._index[name]
        return self._names[:i] + self._names[i + 1 :]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class Allowed:
    """Constraints resolved. Everything in sorted order of names."""

    names: tuple[str, ...]
    candidates: Mapping[str, tuple[str, ...]]
    required: dict[str, tuple[str, ...]]
    most: dict[str, int]
    index: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {name: i for i, name in enumerate(self.names)})

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle, which make the core's lists anew."""
        return {word: value for word, value in self.__dict__.items() if word != "for_core"}

    def numbers(self, lists: Mapping[str, tuple[str, ...]]) -> list[list[int]]:
        """The same lists as the core wants them: one per variable, numbers in rising order. REQUIRES: sorted names."""
        everybody, others = list(range(len(self.names))), len(self.names) - 1
        number = self.index.__getitem__
        return [
            # The two usual cases, all others and none, without looking up each.
            everybody[:i] + everybody[i + 1 :] if len(own) == others else list(map(number, own)) if own else []
            for i, own in enumerate(map(lists.__getitem__, self.names))
        ]

    @cached_property
    def for_core(self) -> _core.Allowed:
        everybody = isinstance(self.candidates, Others)
        candidates = [None] * len(self.names) if everybody else self.numbers(self.candidates)
        return _core.Allowed(candidates, self.numbers(self.required), [self.most[name] for name in self.names])

    @cached_property
    def families(self) -> int:
        """How many parent sets there are, over all children."""
        alike = Counter(map(self._free, self.names))
        return sum(times * comb(n, k) for (n, most), times in alike.items() for k in range(most + 1))

    def _free(self, child: str) -> tuple[int, int]:
        """Candidates that are not required, and how many of them there may be beside the required ones."""
        required = len(self.required[child])
        return len(self.candidates[child]) - required, self.most[child] - required

    @property
    def largest(self) -> int:
        """How many of them are as large as may be."""
        return sum(comb(*self._free(c)) for c in self.names)

    def one_way(self, edges: Iterable[Edge]) -> list[Edge]:
        """Of these edges those that may not be turned."""
        if isinstance(self.candidates, Others) and not any(self.required.values()):
            return []
        return [
            (parent, child)
            for parent, child in edges
            if parent in self.required[child] or child not in self.candidates[parent]
        ]

    def permits(self, child: str, parents: Iterable[str]) -> bool:
        given = set(parents)
        return (
            given <= set(self.candidates[child])
            and given >= set(self.required[child])
            and len(given) <= self.most[child]
        )


def check_pairs(columns: int) -> None:
    """Refuse what keeps something of every pair of columns, where that does not fit."""
    need = BYTES_PER_PAIR * columns**2
    if need > 2**28 and need > 0.8 * (there := available_memory()):
        raise LimitError(
            f"the pairs of {columns:,} columns need {need / 2**30:,.1f} GiB of memory and {there / 2**30:,.1f} GiB are "
            f"free; take fewer columns"
        )


def allowed_by(
    constraints: Constraints | None,
    names: Iterable[str],
    max_parents: int | None = None,
    candidates: Mapping[str, Iterable[str]] | None = None,
) -> Allowed:
    """As Constraints.allowed; None is no constraints."""
    if constraints is not None and not isinstance(constraints, Constraints):
        raise ChoiceError("constraints is a sp.Constraints(required=, forbidden=, tiers=, max_parents=)")
    own = tuple(names)
    if constraints is not None or candidates is not None or len(own) > _FEW:
        return (constraints or Constraints()).allowed(own, max_parents, candidates)
    _check_limits(max_parents)
    return _everybody(own, max_parents)


BYTES_PER_PAIR = 24.0  # of columns, in the core: two numbers, and its gain in a greedy search
_FEW = 100  # columns: of more, what is remembered would take megabytes, and scoring takes longer anyway


@lru_cache(maxsize=16)
def _everybody(names: tuple[str, ...], max_parents: int | None) -> Allowed:
    """No constraints. Remembered: for a few columns, and a table that is asked often, this took longer than scores."""
    return Constraints().allowed(names, max_parents)


def _check_limits(*limits: Any) -> None:
    for value in limits:
        if value is not None and (not whole(value) or value < 0):
            raise ChoiceError(f"{named('max_parents')} must be a whole number of at least 0, not {value!r}")


def listed_candidates(given: Mapping[str, Iterable[str]] | None) -> dict[str, tuple[str, ...]] | None:
    """The candidates as lists that can be read more than once."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ChoiceError(
            "candidates is a dict from a column to the columns that may be its parents, or the name of a method: "
            "'forest(k=5)'"
        )
    return {child: tuple(_many(parents, f"candidates of {child!r}")) for child, parents in given.items()}


def _candidates(
    order: tuple[str, ...], known: set[str], given: Mapping[str, Iterable[str]] | None
) -> dict[str, set[str]]:
    listed = listed_candidates(given)
    if listed is None:
        return {child: known - {child} for child in order}
    for name in (*listed, *(p for parents in listed.values() for p in parents)):
        if name not in known:
            raise ChoiceError(
                f"candidates names column {name!r}, which the table does not have; its columns are "
                f"{_some(sorted(known))}"
            )
    return {child: (set(listed[child]) if child in listed else set(known)) - {child} for child in order}


def _tier_name(name: Any) -> str:
    if not isinstance(name, (str, int, float)):
        raise ChoiceError(f"tiers are lists of columns, and {name!r} is no name of a column")
    return str(name)


def _many(value: Any, word: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ChoiceError(f"{word} must be a list of columns, not {value!r}")
    return list(value)


def _yaml(name: str, text: str) -> Any:
    """Names are text, so that yes, 1 and null are columns; only max_parents holds numbers."""
    content = yaml_value(name, text, "constraints")
    if not isinstance(content, dict):
        return content
    content = {word: value or None for word, value in content.items()}
    limit = content.get("max_parents")
    if isinstance(limit, dict):
        content["max_parents"] = {name: _maybe_int(value) for name, value in limit.items()}
    elif limit is not None:
        content["max_parents"] = _maybe_int(limit)
    return content


def _maybe_int(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _edge(edge: Any, word: str) -> Edge:
    # A mapping or a set has no first and second.
    pair = [] if isinstance(edge, (str, bytes, Mapping, Set)) or not isinstance(edge, Iterable) else list(edge)
    if len(pair) != 2 or not all(isinstance(name, (str, int, float)) for name in pair):
        raise ChoiceError(f"constraints: {word} holds pairs (parent, child), not {edge!r}")
    return str(pair[0]), str(pair[1])


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
