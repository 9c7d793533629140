"""Empirical Bayes: options of a score that the data chooses, as in pcart(alpha="auto").

In:  a score with options that are `auto`, and a way to build its source for given values.
Out: the same score with numbers in their place: those under which the best forest, that is the best network with at
most one parent per node, scores highest. The values of an option are tried in turn while the others stay, until no
option changes any more. The forest is that of the search chow-liu(forest=True), under the uniform prior on parent
sets and without constraints, so a score has the same values wherever it is used on these rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney import _core
from spinney.choices import Choice, Option, build_choice
from spinney.constraints import allowed_by
from spinney.deadline import Deadline
from spinney.layout import counted
from spinney.progress import Report

if TYPE_CHECKING:
    from spinney.scores.source import Source

MOST_COLUMNS = 64  # beyond, only pairs of columns that are associated are joined: all pairs would take minutes
ASSOCIATED = 8  # per column, as candidates="screen(k=8)" chooses them
PASSES = 10  # over the options
TIE = 1e-9  # of the score: smaller gains may be rounding, and leave the value as it is
SHARE = 0.3  # of the time limit


def left_to_evidence(choice: Choice) -> bool:
    """Is there an option that the data chooses? In the scores within a score too."""
    inner = (one for value in choice.values.values() if isinstance(value, tuple) for one in value)
    return bool(_free(choice)) or any(left_to_evidence(one) for one in inner if isinstance(one, Choice))


def with_defaults(choice: Choice) -> Choice:
    """The same with the defaults for these options."""
    return _changed(choice, {option.name: option.default for option in _free(choice)}, with_defaults)


def by_evidence(
    choice: Choice,
    build: Callable[[Choice], Source],
    deadline: Deadline | None = None,
    threads: int = 1,
    report: Report | None = None,
) -> tuple[Choice, bool]:
    """The choice with values, and why; and whether all of them were tried within the time.

    build: gives the source of a score, under the uniform prior.
    report: is told of every value, how many were tried and how many there are until no option changes any more, as far
        as is known."""
    reasons, whole = [], True

    def chosen(inner: Choice) -> Choice:
        nonlocal whole
        if not left_to_evidence(inner):
            return inner
        found, all_tried = by_evidence(inner, build, deadline, threads, report)
        whole = whole and all_tried
        reasons.append(found.why)
        return found

    free = _free(choice)
    plain = _changed(choice, {option.name: option.default for option in free}, chosen)
    if not free:
        return replace(plain, why="; ".join(reasons)), whole
    trial = _Trial(plain, build, threads, deadline, report)
    found, whole = trial.climbed(free)
    return replace(found, why=trial.reason(free, found)), whole


def _free(choice: Choice) -> tuple[Option, ...]:
    return tuple(option for option in choice.entry.options if option.grid and choice[option.name] == "auto")


def _changed(choice: Choice, values: Mapping[str, Any], inner: Callable[[Choice], Choice]) -> Choice:
    own = {
        name: tuple(inner(one) if isinstance(one, Choice) else one for one in value)
        if isinstance(value, tuple)
        else value
        for name, value in choice.values.items()
    }
    return build_choice(choice.entry, {**own, **values})


@dataclass
class _Trial:
    """The totals of the best forests under the values that were tried."""

    plain: Choice  # with the defaults
    build: Callable[[Choice], Source]
    threads: int
    deadline: Deadline | None
    report: Report | None = None
    totals: dict[tuple[float, ...], float] = field(default_factory=dict)
    late: bool = False

    def __post_init__(self) -> None:
        self._source = self.build(self.plain)
        data = self._source.data
        allowed = self._source.restrict(allowed_by(None, data.names, 1, None))
        self._names = allowed.names
        if len(self._names) > MOST_COLUMNS:
            self._candidates = self._associated(allowed)
        else:
            self._candidates = dict(allowed.candidates)
        self._words = {name: data.kinds[name].word for name in self._names}
        # Per child: the values of the options that its scores depend on, and the scores.
        self._known: dict[tuple[str, tuple[float, ...]], Sequence[float]] = {}
        given = self.deadline
        left = None if given is None or given.seconds is None else max(0.0, SHARE * given.seconds - given.passed())
        self._limit = Deadline(left)

    def _associated(self, allowed: Any) -> dict[str, tuple[str, ...]]:
        from spinney.candidates.screen import strongest  # it needs a Job, which needs sources
        from spinney.job import Job

        return strongest(Job(allowed, self._source, self.threads), ASSOCIATED)

    def climbed(self, free: Sequence[Option]) -> tuple[Choice, bool]:
        """The best values, one option after another; and whether there was time for all."""
        values = {option.name: float(option.default) for option in free}
        best = self.total(free, values)
        heeded = [option for option in free if self._heeded(option)]
        tried, in_a_pass = 0, sum(len(option.grid) for option in heeded)
        for number in range(0 if self.late else PASSES):
            before = dict(values)
            for option in heeded:
                for value in sorted(option.grid, key=lambda one: abs(math.log(one / option.default))):
                    total = self.total(free, {**values, option.name: value})
                    tried += 1
                    if self.report is not None:
                        self.report(tried, (number + 1) * in_a_pass)
                    if total > best + TIE * max(1.0, abs(best)):
                        values[option.name], best = value, total
            if values == before or self.late:
                break
        return build_choice(self.plain.entry, {**self.plain.values, **values}), not self.late

    def _heeded(self, option: Option) -> bool:
        return any(word in option.children for word in self._words.values())

    def total(self, free: Sequence[Option], values: Mapping[str, float]) -> float:
        """Of the best forest under these values; minus infinity where there was no time."""
        key = tuple(values[option.name] for option in free)
        if key not in self.totals:
            self.totals[key] = self._forest(free, values)
        return self.totals[key]

    def _forest(self, free: Sequence[Option], values: Mapping[str, float]) -> float:
        own = {
            child: (child, tuple(values[o.name] for o in free if self._words[child] in o.children))
            for child in self._names
        }
        asked = [child for child in self._names if own[child] not in self._known]
        if asked and not self._scored(asked, own, values):
            return -math.inf
        place = {name: i for i, name in enumerate(self._names)}
        alone = np.array([self._known[own[child]][0] for child in self._names])
        joint = np.full((len(alone), len(alone)), -math.inf)
        for i, child in enumerate(self._names):
            joint[i, [place[parent] for parent in self._candidates[child]]] = self._known[own[child]][1:]
        weights = np.ascontiguousarray((joint - alone[:, None]).ravel())
        chosen = _core.branching(weights, [True] * len(alone), True, 0.0)
        return math.fsum(float(joint[i, one] if one >= 0 else alone[i]) for i, one in enumerate(chosen))

    def _scored(self, asked: Sequence[str], own: Mapping[str, Any], values: Mapping[str, float]) -> bool:
        """The scores of these children, alone and with each candidate; whether there was time for all."""
        tried = build_choice(self.plain.entry, {**self.plain.values, **values})
        source = self.build(tried) if self._known else self._source
        families = [(child, one) for child in asked for one in ((), *((p,) for p in self._candidates[child]))]
        scores = (
            np.empty(0) if self._limit.over() else source.local_scores(families, self.threads, None, self._limit.left())
        )
        if len(scores) < len(families) or np.isnan(scores).any():
            self.late = True
            return False
        start = 0
        for child in asked:
            end = start + 1 + len(self._candidates[child])
            self._known[own[child]] = scores[start:end].tolist()
            start = end
        return True

    def reason(self, free: Sequence[Option], found: Choice) -> str:
        """For people: the values, and what they gain."""
        if not self._known:
            return f"there was no time to try values of {', '.join(o.name for o in free)} of {found.name}"
        heeded = [option for option in free if self._heeded(option)]
        idle = [option.name for option in free if not self._heeded(option)]
        parts = []
        if heeded:
            named = ", ".join(f"{option.name}={found[option.name]:g}" for option in heeded)
            before = self.totals[tuple(float(option.default) for option in free)]
            best = max(self.totals.values())
            defaults = ", ".join(f"{option.name}={option.default:g}" for option in heeded)
            parts.append(
                f"by evidence {found.name} has {named}: the best network of at most one parent per node scores "
                f"{best:.4f}, with {defaults} {before:.4f}"
            )
        if ends := [option.name for option in heeded if found[option.name] in (option.grid[0], option.grid[-1])]:
            parts.append(f"{', '.join(ends)} {'are' if ends[1:] else 'is'} at an end of the values that are tried")
        if idle:
            verb = (
                "concern no column here and keep their defaults"
                if idle[1:]
                else "concerns no column here and keeps its default"
            )
            parts.append(f"{', '.join(idle)} of {found.name} {verb}")
        if self.late:
            tried = sum(map(math.isfinite, self.totals.values()))
            parts.append(f"the time limit ended the trials after {counted(tried, 'value')}")
        return "; ".join(parts)
