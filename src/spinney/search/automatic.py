"""Which search, when the user leaves it open.

In:  the number of variables and of candidate parent sets.
Out: over scored sets dp for a few variables, else ilp. From data, dp where Step 1 and the search take about a minute at
the most, else tabu."""

from __future__ import annotations

from spinney.catalog import SEARCHES, Choice, made
from spinney.constraints import Allowed

FEW_VARIABLES = 14  # 2^14 subsets: a millisecond
MOST_VARIABLES = 22  # 2^22 subsets: seconds
MOST_FAMILIES = 5_000_000
MOST_ROWS_TIMES_FAMILIES = 2e11


def pick(allowed: Allowed, rows: int | None) -> Choice:
    variables = len(allowed.names)
    if rows is None:  # the sets are scored
        return made(SEARCHES["dp" if variables <= FEW_VARIABLES else "ilp"], {})
    families = allowed.families()
    small = families <= MOST_FAMILIES and families * rows <= MOST_ROWS_TIMES_FAMILIES
    return made(SEARCHES["dp" if small and variables <= MOST_VARIABLES else "tabu"], {})
