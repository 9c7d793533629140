"""Which search, when the user leaves it open.

In:  the number of variables and of candidate parent sets, and what scoring one costs.
Out: over scored sets dp for a few variables, else ilp. From data the same, with an end to branch and
cut, where Step 1 takes about a minute at the most; else tabu, with fewer restarts or none where that takes too long."""

from __future__ import annotations

from collections.abc import Callable, Collection

from spinney.catalog import SEARCHES
from spinney.choices import Choice, build_choice
from spinney.constraints import Allowed

FEW_VARIABLES = 18  # 2^18 subsets: a few hundredths of a second
MOST_FAMILIES = 5_000_000
MOST_WORK = 1e11  # nanoseconds of one thread, as scores foresee them (twice too many or more): half a minute on two
MOST_SIZE = 6  # parents: beyond, no family is foreseen
MOST_NODES = 20  # of branch and cut, seconds; a limit in seconds would give another answer on another day


Cost = Callable[[int], float]  # of scoring a family of so many parents, on average: nanoseconds, counted, not measured


def pick(allowed: Allowed, cost: Cost | None, wanted: Collection[str] = ()) -> Choice:
    """`cost` is None over scored sets; `wanted`: options that the user has set, which the method must have."""
    families, size = allowed.families, min(max(allowed.most.values(), default=0), MOST_SIZE)
    exact = cost is None or (families <= MOST_FAMILIES and families * cost(size) <= MOST_WORK)
    ways = ["dp"] if exact and len(allowed.names) <= FEW_VARIABLES else []
    ways += ["ilp", "tabu"] if exact else ["tabu", "ilp"]
    way = next((way for way in ways if {o.name for o in SEARCHES[way].options} >= set(wanted)), ways[0])
    if way == "tabu" and cost is not None and not wanted:
        return _climbing(len(allowed.names), size, cost)
    return build_choice(SEARCHES[way], {"nodes": MOST_NODES} if way == "ilp" and cost is not None else {})


def _climbing(n: int, size: int, cost: Cost) -> Choice:
    """tabu, with fewer restarts where its families would take too long; at the last one plain climb.

    A step asks for the families of one or two children anew; a climb has about two steps per variable, and a restart
    of tabu about as many as its patience."""
    first, step = n * n * cost(min(1, size)), 1.5 * n * cost(size)
    patience = next(option.default for option in SEARCHES["tabu"].options if option.name == "patience")
    for restarts in (16, 4, 1):
        if first + step * (2 * n + 2 * patience * (restarts + 1)) <= MOST_WORK:
            return build_choice(SEARCHES["tabu"], {"restarts": restarts})
    return build_choice(SEARCHES["hc"], {"restarts": 0})
