"""What a job will take, before it runs.

In:  a table and the choices of learn().
Out: Forecast: the families to score, seconds and memory, calibrated by a probe of a second or two on this data and this
machine; which search `auto` takes and why; and what to change where limits of time or memory would not hold."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np

from spinney import _core
from spinney.candidates import CandidateParents, Run, listed_or_chosen
from spinney.catalog import Candidates, Search, choose_candidates, choose_search
from spinney.choices import Choice, loaded
from spinney.constraints import Allowed, Constraints, allowed_by
from spinney.dataset import Data, as_dataset
from spinney.deadline import Deadline
from spinney.errors import LimitError, way
from spinney.job import Job
from spinney.layout import counted
from spinney.limits import check_limits
from spinney.machine import resident, threads_for
from spinney.scores import build_source, why_resolved
from spinney.scores.source import Source
from spinney.search import automatic, check_options

PROBE = 1.0  # seconds of Step 1, and as many again for families of the larger sizes
GIB = 2.0**30
_LOOKED = 112.0  # bytes of a set of one child while its size is looked through, family by family
_KEPT = 40.0  # bytes of a set that is kept, with the room in which it is sorted
_ASKED = 3.0  # families that a search asks for, as a share of the square of the columns
_START = 0.2  # seconds of Python, to load what a first job needs and to end
_FITS = 8  # families that are fitted, at the most
_FINGERPRINT = 1.5e-8  # seconds of a cell
_LONGEST = 60.0  # seconds of a moment of choosing candidates
_LARGEST_SAMPLE = 200  # families of one size
_SCREENS = (40, 20, 12, 8, 5)  # candidates that may be proposed


@dataclass(frozen=True)
class Forecast:
    """What plan() gives back."""

    score: str
    why_score: str | None
    search: str
    why: str  # why `auto` takes this search
    max_parents: int | None
    families: int  # parent sets that Step 1 scores, or proves needless; 0 where the search asks as it goes
    seconds: dict[str, float | None]  # of the steps; None: not to be foreseen
    memory: float  # bytes of the process at its peak
    threads: int
    probe: float  # seconds that the forecast took
    time_limit: float | None = None
    memory_limit: float | None = None  # GiB
    ways: tuple[str, ...] = ()  # what to change so that the limits hold

    @property
    def total(self) -> float:
        """Seconds of all steps that can be foreseen."""
        return math.fsum(own for own in self.seconds.values() if own is not None)

    @property
    def fits(self) -> bool:
        """Do the limits hold, as far as can be foreseen?"""
        late = self.time_limit is not None and self.total > self.time_limit
        return not late and (self.memory_limit is None or self.memory <= self.memory_limit * GIB)

    def as_dict(self) -> dict[str, Any]:
        """All of it by name, for files."""
        return {**asdict(self), "total": self.total, "fits": self.fits}

    def lines(self) -> list[str]:
        """For people."""
        parts = [f"{word} {shown(own)}" for word, own in self.seconds.items()]
        limits = [
            *([f"the time limit of {shown(self.time_limit)}"] if self.time_limit is not None else []),
            *([f"the memory limit of {self.memory_limit:g} GiB"] if self.memory_limit is not None else []),
        ]
        holds = [f"limits  {' and '.join(limits)} {'hold' if self.fits else 'would not hold'}"] if limits else []
        return [
            f"score   {self.score}" + (f"; {self.why_score}" if self.why_score else ""),
            f"search  {self.search}" + (f"; {self.why}" if self.why else ""),
            f"sets    {self.families:,}" if self.families else "sets    none beforehand: this search asks as it goes",
            f"time    about {shown(self.total)} with {counted(self.threads, 'thread')} ({', '.join(parts)})",
            f"memory  about {self.memory / GIB:,.2f} GiB",
            *holds,
            *(f"change  {way}" for way in self.ways),
        ]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def shown(seconds: float | None) -> str:
    """1.2 s, 3 min, 5 h, 2 days; what cannot be foreseen says so."""
    if seconds is None:
        return "not foreseen"
    for size, word in ((172800, "days"), (7200, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds / {'days': 86400, 'h': 3600, 'min': 60}[word]:,.1f} {word}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def plan(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    search: str | Choice = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    **options: Any,
) -> Forecast:
    """What learn() with the same words would take: families, seconds, memory; nothing is learned yet.

    memory_limit: GiB of the whole process.

    >>> print(sp.plan(frame, max_parents=4, time_limit=60))
    """
    data = as_dataset(data)
    check_limits(time_limit, seed, memory_limit)
    listed, method = listed_or_chosen(candidates)
    allowed = allowed_by(constraints, data.names, max_parents, listed)
    began = time.process_time()
    own = build_source(data, score, prior)
    job = Job(own.restrict(allowed), own, threads_for(n_jobs), Deadline(None), seed)
    preparing = time.process_time() - began
    work = Foreseen(job, search, options, time_limit, method)
    found = work.forecast()
    found = replace(
        found,
        seconds={"prepare": _START + preparing, **found.seconds},
        why_score=why_resolved(data, score),
        max_parents=max_parents,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    return found if found.fits else replace(found, ways=tuple(_ways(work, found)))


def _as_many(allowed: Allowed, k: int) -> Allowed:
    """Which columns a method will choose is not known yet: any k of them, for the sake of counting."""
    lists = {
        child: tuple(sorted({*own[:k], *allowed.required[child]}))
        for child, own in ((child, allowed.candidates[child]) for child in allowed.names)
    }
    most = {child: min(allowed.most[child], len(lists[child])) for child in allowed.names}
    return replace(allowed, candidates=lists, most=most)


@dataclass
class Paces:
    """What the probe found out."""

    seconds: list[float]  # per family, with all threads, by its number of parents
    kept: float = 1.0  # the share of sets that stay
    fit: float = 0.0  # of a family, with one thread


Methods = tuple[Choice, ...]  # one after another; the last may read scored sets


def picked(
    job: Job, search: str | Choice, options: Mapping[str, Any], limit: float | None = None
) -> tuple[Methods, str]:
    """The searches that run, and, if `auto` chooses them, why."""
    method = choose_search(search)
    assert job.source is not None
    if method.name != "auto":
        return (choose_search(method, **options),), ""
    most = math.inf if limit is None else 1e9 * limit * job.threads
    ways = automatic.from_data(job.allowed, job.source.family_cost, options, most)
    return (*ways.local, *([] if ways.exact is None else [ways.exact])), f"auto: {ways.why()}"


def _by_sets(methods: Methods) -> bool:
    """Is there a Step 1?"""
    return any(isinstance(method.entry, Search) and method.entry.reads == "sets" for method in methods)


def _layers(allowed: Allowed) -> list[int]:
    """How many families there are, by their number of parents."""
    sizes = [0] * (max(allowed.most.values(), default=0) + 1)
    for child in allowed.names:
        for size in range(allowed.most[child] + 1):
            sizes[size] += math.comb(len(allowed.candidates[child]), size)
    return sizes


def _probe(job: Job, by_sets: bool) -> Paces:
    """Run Step 1 for a moment; then score some families of the sizes that it has not come to."""
    own = job.source
    assert own is not None
    layers = _layers(job.allowed)
    found = Paces([math.nan] * len(layers))
    if by_sets:
        _run_for_a_moment(job, layers, found)
    largest = max((size for size, pace in enumerate(found.seconds) if not math.isnan(pace)), default=-1)
    sampled = {}
    if not own.scores.walks or largest < 0:
        sizes = [size for size in range(len(layers)) if math.isnan(found.seconds[size])]
        for size in sizes:
            sampled[size] = (_sampled if by_sets else _extended)(job, size, PROBE / len(sizes))
    for size in range(len(layers)):
        if not math.isnan(found.seconds[size]):
            continue
        if size in sampled:
            found.seconds[size] = sampled[size] / job.threads
        else:
            growth = own.family_cost(size) / max(1.0, own.family_cost(largest))
            found.seconds[size] = found.seconds[largest] * max(1.0, growth)
    found.fit = _fitted(job, len(layers) - 1)
    return found


def _fitted(job: Job, largest: int) -> float:
    """Seconds to fit a family: the mean over a few of one or two parents, as most families of a network are."""
    own, rng, done = job.source, random.Random(1), 0
    assert own is not None
    began = time.process_time()
    while done < _FITS and (done == 0 or time.process_time() - began < PROBE / 4):
        child = rng.choice(job.allowed.names)
        size = min(1 + done % 2, largest, job.allowed.most[child])
        own.fit(child, rng.sample(job.allowed.candidates[child], size), 0.0)
        done += 1
    return (time.process_time() - began) / done


def _run_for_a_moment(job: Job, layers: Sequence[int], found: Paces) -> None:
    own = job.source
    assert own is not None
    began = time.process_time()  # of all threads: what else the machine does is not the job's
    looks = [(0.0, 0)]
    with suppress(LimitError):  # too large for the memory: it will be refused, and sampled families have to do
        sets = own.parent_sets(
            job.allowed,
            threads=job.threads,
            report=lambda done, total: looks.append((time.process_time() - began, done)),
            time_limit=PROBE,
            keep=True,
        )
        looks.append((time.process_time() - began, sets.looked))
        kept = sum(len(sets.of(child)[0]) for child in range(len(job.allowed.names)))
        found.kept = kept / max(1, sets.looked)
        begin = 0
        for size, count in enumerate(layers):
            end = begin + count
            first, last = _when(looks, begin), _when(looks, min(end, sets.looked))
            through = min(end, sets.looked) - begin
            if through > 0 and (through >= 0.02 * count or last - first > 0.1 * PROBE):
                found.seconds[size] = max(last - first, 1e-9) / through / job.threads
            begin = end


def _when(looks: Sequence[tuple[float, int]], done: float) -> float:
    """The moment when so many families were done."""
    for (t0, d0), (t1, d1) in pairwise(looks):
        if d1 >= done:
            return t0 + (t1 - t0) * (done - d0) / max(1, d1 - d0)
    return looks[-1][0]


def _sampled(job: Job, size: int, seconds: float) -> float:
    """Seconds of one thread for a family of this size: the mean over some that are drawn."""
    own, allowed, rng = job.source, job.allowed, random.Random(size)
    assert own is not None
    children = [name for name in allowed.names if allowed.most[name] >= size]
    if not children:
        return 0.0
    drawn = [rng.choice(children) for _ in range(_LARGEST_SAMPLE)]
    families = [(child, rng.sample(allowed.candidates[child], size)) for child in drawn]
    own.local_scores([(children[0], ())])  # what is made once per source is no part of a family
    began = time.process_time()
    scores = own.local_scores(families, time_limit=seconds)
    return (time.process_time() - began) / max(1, int(np.count_nonzero(~np.isnan(scores))))


def _extended(job: Job, size: int, seconds: float) -> float:
    """The same as searches ask for them: one family with each of some candidates more, of ever more of them."""
    own, allowed, rng = job.source, job.allowed, random.Random(size)
    assert own is not None
    children = [name for name in allowed.names if allowed.most[name] >= size]
    if size == 0 or not children:
        return _sampled(job, size, seconds)
    own.local_scores([(children[0], ())])
    began, count, pace = time.process_time(), 4, 0.0
    while True:
        name = rng.choice(children)
        drawn = rng.sample(allowed.candidates[name], min(len(allowed.candidates[name]), size - 1 + count))
        child, numbers = own.family(name, drawn[: size - 1])
        others = own.family(name, drawn[size - 1 :])[1]
        now = time.process_time()
        with own.limits():
            _core.extensions(own.scores, child, numbers, others)
        pace = (time.process_time() - now) / len(others)  # of the last: the most at a time
        if time.process_time() - began > seconds or (len(others) < count and count > _LARGEST_SAMPLE):
            return pace
        count *= 2


def _seconds(job: Job, methods: Methods, paces: Paces) -> dict[str, float | None]:
    own, layers = job.source, _layers(job.allowed)
    assert own is not None
    n = len(job.allowed.names)
    found: dict[str, float | None] = {}
    if _by_sets(methods):
        found["score"] = math.fsum(count * pace for count, pace in zip(layers, paces.seconds, strict=False))
    searches = [_search_seconds(job, method, paces, n, layers) for method in methods]
    known = [own_seconds for own_seconds in searches if own_seconds is not None]
    found["search"] = math.fsum(known) if len(known) == len(searches) else None
    found["fit"] = n * paces.fit / min(n, job.threads) + _FINGERPRINT * own.data.n_rows * n
    return found


def _search_seconds(job: Job, method: Choice, paces: Paces, n: int, layers: Sequence[int]) -> float | None:
    if method.name == "dp":
        return 1e-8 * n * 2.0**n / job.threads
    if method.name not in ("hc", "tabu", "boss"):
        return None
    asked = chain((n, n * n), (n * n * share for share in _asked(method, n)))
    threads = job.threads if method.name == "boss" else 1  # boss has one thread
    return threads * math.fsum(
        min(own, count) * pace for own, count, pace in zip(asked, layers, paces.seconds, strict=False)
    )


def _asked(method: Choice, n: int) -> Iterator[float]:
    """Different families of two, three and more parents that a search asks for, as a share of n n: counted on mixed
    tables of 25 to 50 columns, which depend on two others on average."""
    restarts = 1 + int(method.values.get("restarts", 0)) / 12
    share = {"hc": 0.6 * restarts, "tabu": 0.8 * restarts}.get(method.name, min(n, 200) / 10)
    while True:
        yield share
        share *= 1.0 if method.name == "boss" else 0.45


def _bytes(allowed: Allowed, own: Source, threads: int, kept: float, by_sets: bool) -> float:
    """Beyond what the process has when scoring begins: sets in all sizes, those that are kept, and what threads work
    with. `kept`: the share of sets that stay."""
    families, square = allowed.families, len(allowed.names) ** 2
    asked = families if by_sets else min(families, _ASKED * square)
    scratch = threads * (8.0 * own.data.n_rows + own.remembered_bytes(asked))
    if not by_sets:
        return scratch + 24.0 * square
    sets = _KEPT * families * min(1.0, kept)
    if own.scores.walks:
        return scratch + 17.0 * families - 9.0 * allowed.largest + sets
    widest = max(math.comb(len(allowed.candidates[c]), allowed.most[c]) for c in allowed.names)
    return scratch + _LOOKED * widest + sets


def _ways(work: Foreseen, found: Forecast) -> Iterator[str]:
    """What to change, each with what it would take; the least change of each sort."""
    for _, text, own in work.changes():
        changed = replace(own, time_limit=found.time_limit, memory_limit=found.memory_limit)
        if changed.fits:
            yield f"{text}: about {shown(changed.total)}, {changed.memory / GIB:,.2f} GiB"


def fitting(
    job: Job,
    search: str | Choice,
    options: Mapping[str, Any],
    method: Choice | None,
    time_limit: float | None,
    memory_limit: float,
) -> tuple[dict[str, Any], str]:
    """What to change in a job so that it stays within the limits, nothing where it does; and a line that says so.

    `method`: what will choose candidates in this job, and has not done so."""
    work = Foreseen(job, search, options, time_limit, method, timed=time_limit is not None)
    if time_limit is None and work.most() <= memory_limit * GIB:
        return {}, ""  # whatever a probe would say
    if work.least() > memory_limit * GIB:
        raise _refused(f"about {work.least() / GIB:,.2f} GiB", memory_limit)
    found = replace(work.forecast(), time_limit=time_limit, memory_limit=memory_limit)
    if found.fits:
        return {}, ""
    for changed, text, own in work.changes():
        if replace(own, time_limit=time_limit, memory_limit=memory_limit).fits:
            return changed, f"took {text}, because of the limits: as asked it would take {_taking(found)}"
    if found.memory <= memory_limit * GIB:
        return {}, f"no smaller job was found that would keep the time limit; this one would take {_taking(found)}"
    raise _refused(_taking(found), memory_limit)


def _refused(taking: str, memory_limit: float) -> LimitError:
    return LimitError(
        f"this would take {taking}, and {memory_limit:g} GiB are allowed",
        "take fewer rows or columns",
        way("raise {}", "memory_limit"),
    )


def _taking(found: Forecast) -> str:
    return f"about {shown(found.total)} and {found.memory / GIB:,.2f} GiB"


Change = tuple[dict[str, Any], str, Forecast]


class Foreseen:
    """One job, looked at once: what it would take, and what smaller jobs would."""

    def __init__(
        self,
        job: Job,
        search: str | Choice,
        options: Mapping[str, Any],
        limit: float | None,
        method: Choice | None,
        timed: bool = True,
    ) -> None:
        """Of a job that is checked already. `limit`: seconds, where the user has set a time limit; `method`: what will
        choose candidates, which is tried for a moment where its seconds are asked for."""
        check_options(options)
        assert job.source is not None
        self.source, self.all_candidates, self.method = job.source, job.allowed, method
        self.job = job if method is None else replace(job, allowed=_as_many(job.allowed, int(method.values["k"])))
        self.methods, self.why = picked(self.job, search, options, limit)
        self.by_sets = _by_sets(self.methods)
        self._chosen: dict[str, float] = {}
        self._timed = timed

    def least(self) -> float:
        """Bytes, whatever the candidates: the columns as the score reads them."""
        return resident() + self.source.ready_bytes()

    def most(self) -> float:
        """Bytes, if every set stayed."""
        return self.least() + _bytes(self.job.allowed, self.source, self.job.threads, 1.0, self.by_sets)

    @cached_property
    def paces(self) -> Paces:
        return _probe(self.job, self.by_sets)

    def forecast(self) -> Forecast:
        began = time.perf_counter()
        own = self._taking(self.job.allowed, self.methods, self.by_sets, self.method)
        return replace(
            own,
            search=", then ".join(method.short for method in self.methods),
            why=self.why,
            probe=time.perf_counter() - began,
        )

    def changes(self) -> Iterator[Change]:
        """Smaller jobs: what is changed, how that is written, and what it would take."""
        allowed = self.job.allowed
        if self.by_sets:
            for most in range(max(allowed.most.values(), default=0) - 1, 0, -1):
                if all(len(required) <= most for required in allowed.required.values()):
                    smaller = replace(allowed, most={child: min(most, m) for child, m in allowed.most.items()})
                    own = self._taking(smaller, self.methods, True, self.method)
                    yield {"max_parents": most}, f"max_parents={most}", own
            for k in _SCREENS:
                if k < len(allowed.names) - 1:
                    method = choose_candidates(f"screen(k={k})")
                    own = self._taking(_as_many(self.all_candidates, k), self.methods, True, method)
                    yield {"candidates": f"screen(k={k})"}, f"candidates='screen(k={k})'", own
        for name in ("tabu", "hc"):
            if self.by_sets or all(method.name != name for method in self.methods):
                own = self._taking(allowed, (choose_search(name),), False, self.method)
                yield {"search": name}, f"search={name!r}", own

    def _taking(self, allowed: Allowed, methods: Methods, by_sets: bool, chosen: Choice | None) -> Forecast:
        """By the paces of the one probe."""
        part = replace(self.job, allowed=allowed)
        seconds = _seconds(part, methods, self.paces)
        if chosen is not None and self._timed:
            seconds = {"candidates": self._choosing(chosen), **seconds}
        memory = resident() + _bytes(allowed, self.source, self.job.threads, self.paces.kept, by_sets)
        return Forecast(
            str(self.source.choice),
            None,
            ", ".join(method.short for method in methods),
            "",
            None,
            allowed.families if by_sets else 0,
            seconds,
            memory,
            self.job.threads,
            0.0,
        )

    def _choosing(self, method: Choice) -> float:
        """Seconds of a method that chooses candidates, if every child takes as long as those of a moment."""
        if method.name not in self._chosen:
            assert isinstance(method.entry, Candidates)
            run: Run = loaded(method.entry.run)
            part, began, moment, share = replace(self.job, allowed=self.all_candidates), 0.0, PROBE, 0.0
            while share == 0.0:  # a method may begin with what is of no child
                began = time.process_time()
                unfinished = run(part, method, moment).unfinished if moment < _LONGEST else ()
                share = 1 - len(unfinished) / len(part.allowed.names)
                moment *= 4
            self._chosen[method.name] = (time.process_time() - began) / share / self.job.threads
        return self._chosen[method.name]
