"""Checks of the numbers that users give.

In:  a time limit, a seed, a count.
Out: nothing, or one sentence."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from spinney.errors import ChoiceError, named

LARGEST = 2**31 - 1  # the core's int32


def whole(value: Any) -> bool:
    """Is it a whole number, of Python's or numpy's kind? int is asked first: an abstract class takes its time."""
    return isinstance(value, (int, Integral)) and not isinstance(value, bool)


def check_limits(time_limit: float | None, seed: int = 0, memory_limit: float | None = None) -> None:
    if memory_limit is not None and (
        isinstance(memory_limit, bool) or not isinstance(memory_limit, Real) or not memory_limit > 0
    ):
        raise ChoiceError(f"{named('memory_limit')} must be a number of GiB above 0, or None, not {memory_limit!r}")
    if time_limit is not None and (
        isinstance(time_limit, bool) or not isinstance(time_limit, Real) or not time_limit > 0
    ):
        raise ChoiceError(f"{named('time_limit')} must be a number of seconds above 0, or None, not {time_limit!r}")
    if not whole(seed):
        raise ChoiceError(f"{named('seed')} must be a whole number, not {seed!r}")
