"""The local models of a graph, fitted within the time that is left.

In:  a source of local scores, the families of the graph, and a Deadline.
Out: a model per child, and the children for whose parents there was no time: these stand with their required parents.
Ctrl-C shortens the time and loses nothing that has been fitted."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spinney import _core
from spinney.deadline import Deadline
from spinney.fitted.model import LocalModel
from spinney.tasks import AtWork

if TYPE_CHECKING:
    from spinney.scores.source import Source

Family = tuple[str, tuple[str, ...]]

FEW_CELLS = 200_000  # of the table: its models are there before a thread would have started
AFTER_INTERRUPT = 0.7  # seconds of fitting that remain after Ctrl-C
LOOK = 0.05  # seconds between looks at the clock


@dataclass
class Fitted:
    models: dict[str, LocalModel]
    without: tuple[str, ...] = ()  # children that lost their parents for want of time
    interrupted: bool = False

    @property
    def score(self) -> float:
        return math.fsum(model.score or 0.0 for model in self.models.values())


@dataclass
class _Work:
    """Families that threads take one after another."""

    source: Source
    families: Sequence[Family]
    scores: Mapping[str, float]
    stop: _core.Stop = field(default_factory=_core.Stop)
    stopped: bool = False
    interrupted: bool = False
    models: dict[str, LocalModel] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.next = iter(self.families)  # of a list: threads may share it

    def take(self) -> None:
        for child, parents in self.next:
            if self.stopped and parents:
                continue
            try:
                self.models[child] = self.source.fit(child, parents, self.scores[child], self.stop)
            except TimeoutError:
                continue
            except BaseException as failure:
                self.failures.append(failure)
                return

    def watch(self, threads: AtWork, deadline: Deadline) -> None:
        """Until all threads have ended; says stop when the time is up, or soon after Ctrl-C."""
        end = math.inf
        while not threads.ended():
            try:
                threads.ended(LOOK)
                if deadline.over() or time.perf_counter() > end:
                    self.stopped = True
                    self.stop.set()
            except KeyboardInterrupt:
                self.interrupted = True
                end = min(end, time.perf_counter() + AFTER_INTERRUPT)


def fit_models(
    source: Source,
    parents: Mapping[str, tuple[str, ...]],
    local: Mapping[str, float] | None = None,
    required: Mapping[str, tuple[str, ...]] | None = None,
    threads: int = 1,
    deadline: Deadline | None = None,
) -> Fitted:
    """`local`: the scores of the families, where they are known; they are computed where not."""
    deadline = deadline or Deadline(None)
    families = [(child, tuple(sorted(parents[child]))) for child in source.data.names]
    if local is None:
        values = source.local_scores(families, threads, None, deadline.left(0.5))
        local = {child: float(value) for (child, _), value in zip(families, values, strict=True)}
    known = [family for family in families if not math.isnan(local[family[0]])]
    if deadline.seconds is None and source.data.n_rows * len(families) < FEW_CELLS:
        return Fitted({child: source.fit(child, own, local[child]) for child, own in families})
    work = _Work(source, known, local)
    _run(work, threads, deadline)
    if work.failures:
        raise work.failures[0]
    without = [child for child, _ in families if child not in work.models]
    least = [(child, tuple(sorted((required or {}).get(child, ())))) for child in without]
    if least:
        rest = _Work(source, least, dict(zip(without, map(float, source.local_scores(least, threads)), strict=True)))
        _run(rest, threads, Deadline(None))
        if rest.failures:
            raise rest.failures[0]
        work.models.update(rest.models)
    models = {child: work.models[child] for child, _ in families}
    return Fitted(models, tuple(c for c, own in least if own != tuple(sorted(parents[c]))), work.interrupted)


def _run(work: _Work, threads: int, deadline: Deadline) -> None:
    helpers = AtWork(work.take, min(threads, len(work.families)))
    try:
        work.watch(helpers, deadline)
    finally:  # also where a second Ctrl-C ends the watch: the program waits for these threads
        work.stopped = True
        work.stop.set()
