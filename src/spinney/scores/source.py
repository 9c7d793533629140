"""What a score group is: the one contract between scores and everything that uses them.

In:  a Dataset, a chosen score, a Prior on parent sets.
Out: Source: a _core.Scores, which every operation of the core takes (families, Step 1, greedy search), and fitted local
models. A new group derives from Source and says how families are scored (`_build`, or `family_score` for one that is
computed in Python) and fitted (`fit`). Columns stand in sorted order of names, so that nothing depends on the order in
the file."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.catalog import Score
from spinney.choices import Choice, loaded
from spinney.constraints import Allowed, check_pairs
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.model import LocalModel
from spinney.machine import available_memory, is_limited
from spinney.priors import Prior
from spinney.progress import Report
from spinney.standard import in_row_order

LITTLE = 2**28  # bytes that need no asking
_BYTES_PER_SET = 64  # of a set that stays: score, size, parents, and a turn at being sorted

Family = tuple[str, Sequence[str]]
Block = tuple[int, int, int, int]  # size, child (-1: of all), begin, end: see Block in core/parent_sets.hpp


@dataclass(frozen=True)
class Portion:
    """What a Step 1 has to do, where it is not all of it."""

    known: _core.KnownScores | None = None  # these are not scored again
    log: _core.FamilyLog | None = None  # is told what is scored
    block: Block | None = None  # this part alone, into the log
    only_known: bool = False  # nothing is scored but the smallest sets


ALL = Portion()


class Source(ABC):
    """One score under one prior on one Dataset."""

    fit_grows: bool = False  # does a fit take as long as scoring the family?
    here: bool = True  # else Step 1 asks other machines, set by set (scores/elsewhere.py)
    fits: bool = True  # are there fitted models?
    uncut: Sequence[str] = ()  # columns that there was no time to prepare as parents

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        assert isinstance(choice.entry, Score)
        self.given = data
        if "continuous" in data.words and data.rows_are_here:
            per_row = 8.0 + sum(map(data.bytes_per_row, data.names))
            check_memory("sorting the rows of the table", data.n_rows * per_row)
        self.data = in_row_order(data, deadline)
        self.choice = choice
        self.entry = choice.entry
        self.prior = prior
        self.names = data.order
        self._index = {name: i for i, name in enumerate(self.names)}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process builds it again from the data and the choices."""
        return _rebuilt, (self.given, self.choice, self.prior)

    @property
    def notes(self) -> tuple[str, ...]:
        """What becomes of columns, for the user."""
        return ()

    @cached_property
    def scores(self) -> _core.Scores:
        """What every operation of the core takes."""
        return self._build()

    def _build(self) -> _core.Scores:
        def call(child: int, parents: tuple[int, ...]) -> float:
            key = (child, parents)
            if key not in known:
                known[key] = self._called(self.names[child], tuple(self.names[p] for p in parents))
            return known[key]

        known: dict[tuple[int, tuple[int, ...]], float] = {}
        return _core.called_scores(call, len(self.names), self.data.n_rows)

    def _called(self, child: str, parents: tuple[str, ...]) -> float:
        """With the prior on parent sets; anything but a number is refused."""
        value = self.family_score(child, parents)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)) or math.isnan(value):
            raise ChoiceError(
                f"score {self.choice.name} of {child!r} given {list(parents)} is {value!r}; it must return a number"
            )
        if abs(value) >= 1e15 and value != -math.inf:
            raise ChoiceError(
                f"score {self.choice.name} of {child!r} given {list(parents)} is {value!r}; it must lie between -1e15 "
                f"and 1e15, or be minus infinity for parents that may not be"
            )
        per_parameter = self.prior.per_parameter * self.parameters(child, parents) if self.prior.per_parameter else 0.0
        return float(value) + self.prior.of_size(len(parents)) + per_parameter

    def family_score(self, child: str, parents: tuple[str, ...]) -> float:
        """The score of one family without the prior on parent sets, for groups that are computed in Python."""
        raise NotImplementedError

    @abstractmethod
    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> LocalModel:
        """The local model of a family whose score is known. `stop` may be set by another thread: TimeoutError."""

    def parameters(self, child: str, parents: Sequence[str]) -> float:
        """The free parameters of a family; by default those of its table."""
        for name in (child, *parents):
            if not self.data.kinds[name].discrete:
                raise ChoiceError(
                    f"score {self.choice.name} does not count its free parameters where a column is continuous "
                    f"({name!r}); use another prior than ebic and kappa"
                )
        return float((len(self.data.levels(child)) - 1) * math.prod(len(self.data.levels(p)) for p in parents))

    def family_cost(self, parents: int) -> float:
        """Nanoseconds to score a family of so many parents, foreseen."""
        return 1e6

    def choice_for(self, word: str) -> Choice:
        """The choice as children of this kind see it, without the options that they ignore."""
        return self.choice

    def after_fit(self, models: Mapping[str, LocalModel]) -> tuple[str, ...]:
        """What to say of the fitted models, for the user."""
        return ()

    def ready_bytes(self) -> float:
        """Bytes of what is made of the columns once, before the first score; none where it is there already."""
        if "for_core" in self.data.__dict__ or not self.data.rows_are_here:
            return 0.0
        levels = [len(self.data.levels(name)) if kind.discrete else 0 for name, kind in self.data.kinds.items()]
        bits = sum(own for own in levels if own <= _core.most_bitmap_levels)  # core/data.hpp
        return self.data.n_rows * (bits / 8 + 8.0 * levels.count(0))  # and continuous columns in standard units

    def remembered_bytes(self, families: float) -> float:
        """Bytes that a thread keeps of so many families, for those that come."""
        return 0.0

    def most_bytes(self, threads: int) -> float:
        """Of one family: as many as there are threads are scored at the same time."""
        return max(LITTLE, 0.8 * available_memory() / threads)

    # What is refused before any computing; a group adds its own limits.

    def check_family(self, child: str, parents: Sequence[str]) -> None:  # noqa: B027 (most groups have no such limit)
        """Refuse a family that cannot be scored."""

    def check_sets(self, allowed: Allowed, prune: bool) -> None:
        """Refuse a Step 1 that needs more memory than there is."""
        families = allowed.families
        need = 17 * families - 9 * allowed.largest  # score, best of the subsets, flags; of the largest sets the score
        need += 0 if prune else _BYTES_PER_SET * families
        instead = way("use {}, which scores as it goes", "search", "tabu")
        check_memory(f"scoring {families:,} parent sets", need, instead)

    def check_search(self, allowed: Allowed) -> None:  # noqa: B027
        """Refuse a search that asks for scores as it goes."""

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Errors of the core as sentences for the user, where a group has some."""
        yield

    # The same for all groups.

    def prepare(self, names: Sequence[str]) -> None:  # noqa: B027 (most groups have nothing to prepare)
        """Make columns of `uncut` ready as parents, however long it takes. REQUIRES: nothing was scored yet."""

    def restrict(self, allowed: Allowed) -> Allowed:
        """Only parents of kinds that the score admits for the kind of the child, and that are ready as parents."""
        return self.restricted(allowed, self.entry.parents)

    def restricted(self, allowed: Allowed, own: Mapping[str, tuple[str, ...]]) -> Allowed:
        kinds = self.data.kinds
        words = {kind.word for kind in kinds.values()}
        required = {parent for parents in allowed.required.values() for parent in parents}
        if late := sorted(required.intersection(self.uncut)):
            self.prepare(late)
        uncut = set(self.uncut)
        if not uncut and all(words <= set(own.get(word, ())) for word in words):
            return allowed
        candidates = {}
        for child in allowed.names:
            admitted = own.get(kinds[child].word, ())
            candidates[child] = tuple(
                p for p in allowed.candidates[child] if kinds[p].word in admitted and p not in uncut
            )
            for parent in allowed.required[child]:
                if parent not in candidates[child]:
                    raise ChoiceError(
                        f"edge {parent!r} -> {child!r} is required, but score {self.choice.name} has no "
                        f"{kinds[parent].word} parents of a {kinds[child].word} column; use another score"
                    )
        most = {child: min(allowed.most[child], len(candidates[child])) for child in allowed.names}
        return replace(allowed, candidates=candidates, most=most)

    def family(self, child: str, parents: Sequence[str]) -> tuple[int, list[int]]:
        place = self._index.__getitem__
        return place(child), sorted(map(place, parents))

    def local_scores(
        self,
        families: Sequence[Family],
        threads: int = 1,
        report: Report | None = None,
        time_limit: float | None = None,
    ) -> NDArray[np.float64]:
        """In one call of the core. NaN for what was not scored within the time limit."""
        self._check_kinds(families)
        if type(self).check_family is not Source.check_family:
            for child, parents in families:
                self.check_family(child, parents)
        place = self._index.__getitem__  # as family() has it; of a million families, a call each is noticed
        numbered = [(place(child), sorted(map(place, parents))) for child, parents in families]
        with self.limits():
            return _core.families(self.scores, numbered, threads, report, time_limit or 0.0)

    def _check_kinds(self, families: Sequence[Family]) -> None:
        """Refuse parents of kinds that the score does not admit for a child."""
        kinds, own = self.data.kinds, self.entry.parents
        if all(set(own) == set(admitted) for admitted in own.values()):
            return  # the data set was checked when the source was built
        for child, parents in families:
            for parent in parents:
                if kinds[parent].word not in own[kinds[child].word]:
                    raise ChoiceError(
                        f"score {self.choice.name} has no {kinds[parent].word} parents ({parent!r}) of a "
                        f"{kinds[child].word} column ({child!r})",
                        way("use {}, which takes any kind", "score", "pcart"),
                    )

    def parent_sets(
        self,
        allowed: Allowed,
        *,
        prune: bool = True,
        threads: int = 1,
        report: Report | None = None,
        time_limit: float | None = None,
        bounds: bool = True,
        keep: bool = False,
        portion: Portion = ALL,
    ) -> _core.ScoredSets:
        """Step 1. `keep`: Ctrl-C gives back what has been scored before it, as a time limit does."""
        self.check_sets(allowed, prune)
        check_pairs(len(allowed.names))
        for child in allowed.names:
            self.check_family(child, allowed.required[child])
        with self.limits():
            return _core.parent_sets(
                self.scores,
                allowed.for_core,
                prune,
                bounds and prune,
                threads,
                report,
                time_limit or 0.0,
                keep or time_limit is not None,
                self.most_bytes(threads),
                portion.known,
                portion.log,
                portion.block,
                portion.only_known,
            )

    @property
    def equivalent(self) -> bool:
        """Whether Markov equivalent DAGs score the same."""
        return self.entry.equivalent

    def ask(self, search: Callable[..., dict[str, Any]], args: Any, report: Report | None) -> dict[str, Any]:
        """What a search of the core finds that asks for scores as it goes. `args` know their number of threads."""
        with self.limits():
            return search(self.scores, args, report, self.most_bytes(args.threads))


def _rebuilt(data: Dataset, choice: Choice, prior: Prior) -> Source:
    assert isinstance(choice.entry, Score)
    source: Source = loaded(choice.entry.source)(data, choice, prior)
    return source


def check_memory(what: str, need: float, *ways: Any) -> None:
    """Refuse what needs more memory than there is."""
    if (need < LITTLE and not is_limited()) or need <= 0.8 * (there := available_memory()):
        return
    raise LimitError(
        f"{what} needs {need / 2**30:,.1f} GiB of memory and {there / 2**30:,.1f} GiB are free",
        way("lower {}", "max_parents"),
        way("give {}", "candidates"),
        *ways,
    )
