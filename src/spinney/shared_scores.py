"""Scores that several jobs on the same data share: those that differ by the prior on parent sets alone.

In:  one Step 1 after another; of those with the same score, that under the uniform prior first.
Out: to the first, a log of what it scores; to the others, these scores with their own prior added, to the last digit
what they would have scored themselves. A job takes it in place of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from spinney import _core
from spinney.constraints import Allowed
from spinney.dataset import Dataset
from spinney.progress import Report
from spinney.scores.source import Source
from spinney.store_files import Families, by_layer


@dataclass
class Shared:
    """What a Step 1 knows beforehand, and tells as it goes."""

    known: _core.KnownScores | None
    log: _core.FamilyLog | None

    def reporting(self, report: Report | None) -> Report | None:
        return report


class SharedScores:
    """The scores of families, whatever the prior on the number of parents, of each score on each data set."""

    used = True
    damages: Sequence[str] = ()

    def __init__(self) -> None:
        self._scored: dict[tuple[int, str], tuple[Dataset, Allowed, Families]] = {}  # the data set is kept for its id

    @contextmanager
    def session(self, source: Source, allowed: Allowed, threads: int) -> Iterator[Shared | None]:
        prior, key = source.prior, (id(source.given), str(source.choice))
        there = self._scored.get(key)
        if not source.prior_last or prior.per_parameter or (there is None and prior.by_size):
            yield None
        elif there is None:
            log = _core.FamilyLog(threads)
            yield Shared(None, log)
            self._scored[key] = source.given, allowed, Families(*log.drain())
        elif allowed != there[1]:  # their candidates were chosen one by one
            yield None
        else:
            known = _core.KnownScores(allowed.for_core)
            for child, size, part in by_layer(there[2]):
                count = len(allowed.candidates[allowed.names[child]])
                known.add(child, size, part.rank, part.score + prior.of_size(size), None, count, None)
            yield Shared(known, None)
