"""The moment by which everything must have ended.

In:  the user's time limit in seconds, or None.
Out: what is left of it, for scoring, search and fit one after another. The clock is monotonic."""

from __future__ import annotations

import math
import time

LEAST = 1e-3  # seconds: a step whose time is up still returns the little that it has


class Deadline:
    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._began = time.perf_counter()

    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._began

    def left(self, share: float = 1.0, reserve: float = 0.0) -> float | None:
        """Seconds for the next step: this share of what is left beside `reserve` seconds. None: no limit."""
        if self.seconds is None:
            return None
        return max(LEAST, share * (self.seconds - self.passed() - reserve))

    def end(self, share: float) -> float:
        """When this share of all the time has passed, by time.perf_counter()."""
        return math.inf if self.seconds is None else self._began + share * self.seconds

    def over(self) -> bool:
        return self.seconds is not None and self.passed() >= self.seconds
