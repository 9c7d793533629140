"""How commands speak of families and of what a search found.

In:  families, a Found.
Out: lines of text."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Mapping

from spinney.cli.answer import aligned, number, say_aside, word, words
from spinney.progress import Progress
from spinney.search import Found


def news() -> Progress:
    """A bar on a terminal; elsewhere a line on standard error when there is something new, at most one a second."""
    if sys.stderr.isatty():
        return True
    began = time.perf_counter()
    said, moment = "", began

    def tell(what: str, done: int, total: int) -> None:
        nonlocal said, moment
        now = time.perf_counter()
        if what != said and now - moment >= 1:
            say_aside(f"{now - began:7.1f} s  {what}")
            said, moment = what, now

    return tell


def families(rows: Iterable[tuple[str, Iterable[str], float]]) -> list[str]:
    """One line per child: its parents and its local score."""
    return aligned(
        [(word(child), f"<- {words(parents)}" if parents else "", number(score)) for child, parents, score in rows]
    )


def proof(found: Found, over: str) -> list[str]:
    """The bound, and what follows from it."""
    if not math.isfinite(found.bound):
        return ["bound   not known: this search proves nothing"]
    if found.optimal:
        return [f"bound   {number(found.bound)}  gap 0: proven the best over {over}"]
    return [f"bound   {number(found.bound)}  gap {100 * found.gap:.4f} %: nothing over {over} scores above the bound"]


def why_auto(method: str) -> str:
    if method.startswith("tabu"):
        return ", taken by auto: there are too many parent sets or rows to score them all in about a minute"
    return ", taken by auto: the parent sets are few enough to look for a proof"


def stopped(found: Found) -> list[str]:
    """A note for whoever should know that more time might have found more."""
    if not found.stopped:
        return []
    more = "; --search exact goes on to the proof" if found.stopped == "node limit" else ""
    return [f"the search ended early ({found.stopped}); this is the best network so far{more}"]


def others(found: Found) -> list[str]:
    """The next best networks, each by where it differs from the best one."""
    lines = []
    for rank, other in enumerate(found.alternatives, 2):
        differs = [
            f"{word(child)} <- {words(own)}" if own else f"{word(child)} without parents"
            for child, own in other.parents.items()
            if set(own) != set(found.parents[child])
        ]
        lines.append(f"next    {rank}. score {number(other.score)}: {'; '.join(differs)}")
    return lines


def seconds(steps: Mapping[str, float]) -> list[str]:
    return ["seconds " + ", ".join(f"{step} {taken:.3f}" for step, taken in steps.items())]
