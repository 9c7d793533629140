"""Which search, when the user leaves it open.

In:  the number of variables and of candidate parent sets.
Out: over scored sets dp for a few variables, else ilp. From data the same, with an end to branch and
cut, where Step 1 takes about a minute at the most; else tabu."""

from __future__ import annotations

from collections.abc import Collection

from spinney.catalog import SEARCHES, Choice, made
from spinney.constraints import Allowed

FEW_VARIABLES = 14  # 2^14 subsets: a millisecond
MOST_FAMILIES = 5_000_000
MOST_ROWS_TIMES_FAMILIES = 2e11
MOST_NODES = 20  # of branch and cut, seconds; a limit in seconds would give another answer on another day


def pick(allowed: Allowed, rows: int | None, wanted: Collection[str] = ()) -> Choice:
    """`wanted`: options that the user has set, which the method must have."""
    families = allowed.families
    exact = rows is None or (families <= MOST_FAMILIES and families * rows <= MOST_ROWS_TIMES_FAMILIES)
    ways = ["dp"] if exact and len(allowed.names) <= FEW_VARIABLES else []
    ways += ["ilp", "tabu"] if exact else ["tabu", "ilp"]
    way = next((way for way in ways if {o.name for o in SEARCHES[way].options} >= set(wanted)), ways[0])
    return made(SEARCHES[way], {"nodes": MOST_NODES} if way == "ilp" and rows is not None else {})
