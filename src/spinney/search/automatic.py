"""Which searches, when the user leaves it open.

In:  the number of variables and of candidate parent sets, and what scoring one costs.
Out: over scored sets dp for a few variables, else ilp. From data local searches, the best of which counts; and where
all parent sets can be scored in about half a minute, dp or ilp from there. Work is foreseen, not timed: the same data
is searched in the same way on every day."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from spinney.catalog import SEARCHES
from spinney.choices import Choice, build_choice
from spinney.constraints import Allowed

FEW_VARIABLES = 18  # 2^18 subsets: a few hundredths of a second
MOST_FAMILIES = 5_000_000
MOST_WORK = 3e10  # of Step 1, nanoseconds of one thread as scores foresee them: about half a minute on two threads
MOST_LOCAL = 8e9  # of the local searches, where they are all; boss has one thread
LITTLE_WORK = 2e9  # of them before Step 1, where a quarter of its work is less
MOST_SIZE = 6  # parents: beyond, no family is foreseen
MOST_NODES = 1  # of branch and cut: more of them take long and rarely end with a proof


Cost = Callable[[int], float]  # of scoring a family of so many parents, on average: nanoseconds, counted, not measured


@dataclass(frozen=True)
class Ways:
    """Local searches from data, of which the best answer is kept, and the exact search that begins there."""

    local: tuple[Choice, ...] = ()
    exact: Choice | None = None
    wanted: bool = False  # they are those with the options that the user has set

    def why(self, gain: float | None = None) -> str:
        """One sentence for the user. `gain`: by how much the exact search beats the local ones."""
        names = " and ".join(method.name for method in self.local)
        if self.wanted:
            return "it has the options that were set"
        if self.exact is not None:
            may = "all parent sets can be scored, so optimality may be proven"
            if gain is None:
                return may
            return f"{may}; {names} found as much before" if gain == 0 else f"{may}; it gained {gain:.4g} over {names}"
        long = "scoring all parent sets would take too long"
        if len(self.local) > 1:
            return f"{long}; the best of {names}"
        return f"{long}, and so would boss" if names == "tabu" else f"{long}, and so would tabu and boss"


def over_sets(allowed: Allowed, wanted: Collection[str] = ()) -> Choice:
    """`wanted`: options that the user has set, which the method must have."""
    few = len(allowed.names) <= FEW_VARIABLES
    return build_choice(SEARCHES[_with(wanted, *(["dp"] if few else []), "ilp", "boss", "tabu")], {})


def from_data(allowed: Allowed, cost: Cost, wanted: Mapping[str, Any], limit: float = math.inf) -> Ways:
    """`wanted`: options that the user has set, which the method must have; `limit`: nanoseconds that all threads have
    together, where the user has set a time limit."""
    n, size = len(allowed.names), min(max(allowed.most.values(), default=0), MOST_SIZE)
    families = allowed.families
    work = families * cost(size)
    listed = families <= MOST_FAMILIES and work <= min(MOST_WORK, limit if not wanted else math.inf)
    exact = [*(["dp"] if n <= FEW_VARIABLES else []), "ilp"] if listed else []
    if wanted:
        name = _with(wanted, *exact, "boss", "tabu", "ilp")
        one = build_choice(SEARCHES[name], {**_exact(name).values, **wanted})
        return Ways((), one, True) if name in ("dp", "ilp") else Ways((one,), None, True)
    if not exact:
        return Ways(_local(n, size, cost, families, MOST_LOCAL))
    if exact[0] == "dp" and limit == math.inf:  # the local searches would ask for about as many families
        return Ways(exact=_exact("dp"))
    return Ways(_local(n, size, cost, families, max(LITTLE_WORK, work / 4)), _exact(exact[0]))


def _exact(name: str) -> Choice:
    return build_choice(SEARCHES[name], {"nodes": MOST_NODES} if name == "ilp" else {})


def _with(wanted: Collection[str], *names: str) -> str:
    return next((name for name in names if {o.name for o in SEARCHES[name].options} >= set(wanted)), names[0])


def _local(n: int, size: int, cost: Cost, families: int, most: float) -> tuple[Choice, ...]:
    """tabu and boss; boss with less patience or not at all, tabu with fewer restarts, at the last one plain climb where
    the families that they ask for would take too long.

    How many of the largest size that are: a climb asks for half of n n and a restart of tabu for a tenth (counted on
    networks of 27 and 37 variables); boss for n n n / 3 there, but for nearly all where many columns depend on one
    another, as in tables of continuous ones. Beyond 200 variables the last n no longer grows."""
    pairs, square = n * n * cost(min(1, size)), n * n
    cube = square * min(n, 200)
    for restarts, patience, asked in (
        (16, 10, 3 * square + 1.5 * cube),
        (16, 2, 3 * square + cube),
        (16, None, 3 * square),
        (4, None, 1.5 * square),
        (1, None, square),
    ):
        if pairs + min(asked, families) * cost(size) <= most:
            tabu = build_choice(SEARCHES["tabu"], {"restarts": restarts})
            return (tabu,) if patience is None else (tabu, build_choice(SEARCHES["boss"], {"patience": patience}))
    return (build_choice(SEARCHES["hc"], {"restarts": 0}),)
