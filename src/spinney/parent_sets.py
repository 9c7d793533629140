"""Scored parent sets: the result of Step 1 and the input of Step 2.

In:  per child, parent sets with their local scores; from scores/ or from a jkl file.
Out: ParentSets, which searches read. Children and parents are numbered in sorted order of names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.constraints import Allowed
from spinney.errors import ChoiceError, way
from spinney.layout import counted

MOST_SCORE = 1e15  # beyond, sums of scores have no digits left for their differences

# scores, sizes, parents one set after another
Arrays = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]


class ParentSets:
    """Per child the scored parent sets, best score first. Immutable."""

    def __init__(
        self,
        names: Iterable[str],
        arrays: list[Arrays] | _core.ScoredSets,
        *,
        families: int | None = None,
        scored: int | None = None,
        pruned_for: Mapping[str, tuple[str, ...]] | None = None,
        complete: bool = False,
        unscored: int = 0,
        left_out: int = 0,
        interrupted: bool = False,
        among: str = "",
        known: int = 0,
        notes: Iterable[str] = (),
    ) -> None:
        self.names = tuple(names)
        self.order = tuple(sorted(self.names))
        self._given = arrays
        self.families = families  # how many there were before pruning, where known
        self.scored = scored  # how many of them the bounds left to be scored
        # The required parents per child under which dominated sets were dropped; None: none dropped, as far as known.
        self.pruned_for = pruned_for
        self.complete = complete  # known to hold dominated sets too
        self.unscored = unscored  # sets that were not scored before the time limit or Ctrl-C
        self.interrupted = interrupted  # by Ctrl-C
        self.among = among  # what the sets were chosen from, where candidates were chosen from the data
        self.known = known  # how many scores came from a store
        self.notes = tuple(notes)  # what the user should know of the store
        self.left_out = left_out  # sets that would have needed more memory than there is

    @property
    def over(self) -> str:
        """What a best network over these sets is the best of, where some sets are missing; else nothing."""
        missing = self.unscored + self.left_out
        if not missing or self.families is None:
            return self.among
        when = "before the interrupt" if self.interrupted else "within the time limit"
        reasons = [
            *([f"were scored {when}"] if self.unscored else []),
            *(["fit into memory"] if self.left_out else []),
        ]
        return f"the {self.families - missing:,} of {self.families:,} parent sets that {' and '.join(reasons)}" + (
            f", among {self.among}" if self.among else ""
        )

    @cached_property
    def pruned(self) -> bool | None:
        """Whether dominated sets were dropped, so that the second best network may be missing; None: not known."""
        if self.pruned_for is not None:
            return True
        return False if self.complete or self._holds_dominated() else None

    def _holds_dominated(self) -> bool:
        """Whether a set is listed that is no better than one of its subsets with one parent less."""
        for _, sizes, members in self.arrays:
            known: set[tuple[int, ...]] = set()
            for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
                own = tuple(sorted(members[end - size : end].tolist()))
                # Best first: a subset that is as good stands before.
                if any(own[:i] + own[i + 1 :] in known for i in range(size)):
                    return True
                known.add(own)
        return False

    @cached_property
    def arrays(self) -> list[Arrays]:
        """Per child, in sorted order of names: scores, sizes, and the parents one set after another."""
        given = self._given
        return given if isinstance(given, list) else [given.of(child) for child in range(len(self.names))]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_given": self.arrays}

    @classmethod
    def from_lists(
        cls,
        sets: Mapping[str, Iterable[tuple[Iterable[str], float]]],
        pruned_for: Mapping[str, tuple[str, ...]] | None = None,
    ) -> ParentSets:
        """From {child: [(parents, score), ...]}; of a set that is listed twice the better score counts."""
        order = sorted(sets)
        index = {name: i for i, name in enumerate(order)}
        arrays = []
        for child in order:
            best: dict[tuple[int, ...], float] = {}
            for parents, score in sets[child]:
                key = _key(child, parents, score, index)
                best[key] = max(float(score), best.get(key, float(score)))
            if not best:
                raise ChoiceError(f"variable {child!r} has no parent set; list at least one")
            rows = sorted(best.items(), key=lambda row: (-row[1], len(row[0]), row[0]))
            arrays.append(_pack([score for _, score in rows], [key for key, _ in rows]))
        if not order:
            raise ChoiceError("there is no variable among the parent sets; list at least one")
        return cls(sets, arrays, pruned_for=pruned_for)

    def of(self, child: str) -> list[tuple[tuple[str, ...], float]]:
        """The sets of this child, best first."""
        if child not in self.names:
            raise ChoiceError(f"there is no variable {child!r} among the parent sets")
        scores, sizes, parents = self.arrays[self.order.index(child)]
        ends = np.cumsum(sizes)
        return [
            (tuple(self.order[p] for p in parents[end - size : end]), float(score))
            for score, size, end in zip(scores, sizes, ends, strict=True)
        ]

    def score_of(self, child: str, parents: tuple[str, ...]) -> float | None:
        """The score of one listed set, without unpacking the others."""
        scores, sizes, members = self.arrays[self.order.index(child)]
        rows = np.flatnonzero(sizes == len(parents))
        first = (np.cumsum(sizes) - sizes)[rows]
        wanted = [self.order.index(p) for p in sorted(parents)]
        same = (members[first[:, None] + np.arange(len(parents))] == wanted).all(axis=1)
        return float(scores[rows[same][0]]) if same.any() else None

    def total(self, parents: Mapping[str, tuple[str, ...]]) -> float:
        """The score of a network, added up from the listed scores."""
        scores = []
        for child, own in parents.items():
            score = self.score_of(child, own)
            if score is None:
                raise ChoiceError(
                    f"no network was reached in which {child!r} has one of its listed parent sets",
                    way("use {}", "search", "exact"),
                    "list more sets",
                )
            scores.append(score)
        return math.fsum(scores)

    def __len__(self) -> int:
        return sum(len(scores) for scores, _, _ in self.arrays)

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        for child in self.names:
            for parents, score in self.of(child):
                yield child, parents, score

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParentSets) or self.names != other.names:
            return False
        pairs = zip(self.arrays, other.arrays, strict=True)
        return all(np.array_equal(mine[i], theirs[i]) for mine, theirs in pairs for i in range(3))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ParentSets({counted(len(self.names), 'variable')}, {counted(len(self), 'set')})"

    def within(self, allowed: Allowed) -> ParentSets:
        """Only the sets that the constraints permit."""
        self._check_required(allowed)
        arrays = []
        for child, (scores, sizes, parents) in zip(self.order, self.arrays, strict=True):
            ends = np.cumsum(sizes)
            possible = np.zeros(len(self.order), np.bool_)
            possible[[allowed.index[p] for p in allowed.candidates[child]]] = True
            required = {allowed.index[p] for p in allowed.required[child]}
            keep = sizes <= allowed.most[child]
            for i in np.flatnonzero(keep):
                own = parents[ends[i] - sizes[i] : ends[i]]
                keep[i] = possible[own].all() and (not required or required <= set(own.tolist()))
            arrays.append((scores[keep], sizes[keep], parents[np.repeat(keep, sizes)]))
            if not keep.any():
                raise ChoiceError(
                    f"no scored parent set of {child!r} meets the constraints; score the sets with the same constraints"
                )
        return ParentSets(
            self.names,
            arrays,
            families=self.families,
            pruned_for=self.pruned_for,
            complete=self.complete,
            unscored=self.unscored,
            left_out=self.left_out,
            interrupted=self.interrupted,
            among=self.among,
            known=self.known,
            notes=self.notes,
        )

    def _check_required(self, allowed: Allowed) -> None:
        """A set was dropped for a subset of it; where an edge is required that subset may not be allowed."""
        for child, required in allowed.required.items():
            late = set(required) - set((self.pruned_for or {}).get(child, ()))
            if late and self.pruned_for is not None:
                raise ChoiceError(
                    f"edge {min(late)!r} -> {child!r} is required, but the parent sets were pruned without it, so the "
                    f"best set with it may be missing; score them with the same required edges, or without pruning"
                )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the sets, as .jkl or .jkl.gz unless the suffix names another format."""
        from spinney import formats

        formats.write(self, path, "parent sets", usual="jkl")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> ParentSets:
        """Read a .jkl file, or one whose suffix names another format of parent sets."""
        from spinney import formats

        sets: ParentSets = formats.read(path, "parent sets", usual="jkl")
        return sets


def _key(child: str, parents: Iterable[str], score: float, index: Mapping[str, int]) -> tuple[int, ...]:
    if isinstance(parents, str):
        raise ChoiceError(f"a parent set of {child!r} is one text, {parents!r}; write a list, [{parents!r}]")
    given = tuple(parents)
    for parent in given:
        if parent not in index or parent == child or given.count(parent) > 1:
            raise ChoiceError(
                f"a parent set of {child!r} holds {parent!r}, which is not another listed variable, or occurs twice"
            )
    if not isinstance(score, (int, float, np.number)) or not abs(score) < MOST_SCORE:
        raise ChoiceError(
            f"a parent set of {child!r} has the score {score!r}; a score is a number between -1e15 and 1e15"
        )
    return tuple(sorted(index[p] for p in given))


def _pack(scores: list[float], sets: list[tuple[int, ...]]) -> Arrays:
    return (
        np.array(scores, np.float64),
        np.array([len(s) for s in sets], np.int32),
        np.array([p for s in sets for p in s], np.int32),
    )
