"""How commands speak of families and of what a search found.

In:  families, a Found.
Out: lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from spinney.cli.answer import aligned, number, word, words
from spinney.search import Found, automatic


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


def why_auto(variables: int, method: str) -> str:
    if method == "dp":
        return f", taken by auto: {variables} variables are few enough to prove the best network"
    if method == "ilp":
        return ", taken by auto: the parent sets are scored, and the best network over them can be proven"
    if variables > automatic.MOST_VARIABLES:
        most = automatic.MOST_VARIABLES
        return f", taken by auto: {variables} variables are more than the {most} for which it searches exactly"
    return ", taken by auto: there are too many parent sets or rows to search exactly in about a minute"


def stopped(found: Found) -> list[str]:
    """A note for whoever should know that more time might have found more."""
    return [f"the search ended early ({found.stopped}); this is the best network so far"] if found.stopped else []


def seconds(steps: Mapping[str, float]) -> list[str]:
    return ["seconds " + ", ".join(f"{step} {taken:.3f}" for step, taken in steps.items())]
