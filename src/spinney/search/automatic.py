"""Which search, when the user leaves it open.

In:  the number of variables and of candidate parent sets.
Out: dp where Step 1 and the search take about a minute at the most, else tabu."""

from __future__ import annotations

from spinney.catalog import SEARCHES, Choice, made
from spinney.constraints import Allowed

MOST_VARIABLES = 22  # 2^22 subsets: seconds
MOST_FAMILIES = 5_000_000
MOST_ROWS_TIMES_FAMILIES = 2e11


def pick(allowed: Allowed, rows: int | None) -> Choice:
    families = allowed.families()
    small = len(allowed.names) <= MOST_VARIABLES
    if rows is not None:  # the sets are not scored yet
        small = small and families <= MOST_FAMILIES and families * rows <= MOST_ROWS_TIMES_FAMILIES
    return made(SEARCHES["dp" if small else "tabu"], {})
