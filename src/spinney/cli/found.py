"""Lines about families and about the result of a search.

In:  families, a Found.
Out: lines of text."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Mapping

from spinney.choices import Choice
from spinney.cli.answer import aligned, number, say_aside, word, words
from spinney.layout import counted, family_rows
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
    return aligned(family_rows(rows))


def of_class(found: Found) -> list[str]:
    """A line about the class, where the search returns one."""
    if found.cpdag is None:
        return []
    directed, undirected = len(found.cpdag.directed), len(found.cpdag.undirected)
    return [
        f"class   {counted(directed, 'directed edge')} and {counted(undirected, 'undirected edge')}; "
        "the network above is one member"
    ]


def proof(found: Found, over: str) -> list[str]:
    """The bound, and what follows from it."""
    if not math.isfinite(found.bound):
        return [f"bound   not known: {found.unproven}"]
    over = found.over or over
    if found.closed:
        sure = "the best" if found.over else "proven optimal"
        return [f"bound   {number(found.bound)}  gap 0: {sure} over {over}"]
    return [
        f"bound   {number(found.bound)}  gap {100 * found.gap:.4f} %: no network over {over} scores above the bound"
    ]


def choices(score: Choice, prior: Choice) -> str:
    """The score and, where it is not the default, the prior, with the options that are not; files have them all."""
    return score.short + ("" if prior.short == "uniform" else f", prior {prior.short}")


def why_score(reason: str | None) -> list[str]:
    """What the score auto stands for, and how to choose another."""
    return [] if reason is None else [f"        {reason} (another: --score, see spinney list scores)"]


def stopped(found: Found) -> list[str]:
    """A note when more time might have found a better network."""
    if not found.stopped:
        return []
    more = "; --search exact goes on to the proof" if found.stopped == "node limit" else ""
    return [f"the search ended early ({found.stopped}); this is the best network so far{more}"]


def others(found: Found) -> list[str]:
    """The next best networks, each by where it differs from the best one."""
    lines = []
    for rank, other in enumerate(found.alternatives, 2):
        differs = [
            f"{word(child)} <- {words(own)}" if own else f"{word(child)} has no parents"
            for child, own in other.parents.items()
            if set(own) != set(found.parents[child])
        ]
        lines.append(f"next    {rank}. score {number(other.score)}: {'; '.join(differs)}")
    return lines


def seconds(steps: Mapping[str, float]) -> list[str]:
    return ["seconds " + ", ".join(f"{step} {taken:.3f}" for step, taken in steps.items())]
