"""What models are read from: lists and numbers of a file, checked.

In:  entries as JSON has them.
Out: arrays and levels; a TypeError where an entry is of another kind, which the reader of the file turns into a
     sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.kinds import Continuous, Kind


def whole(numbers: Sequence[int]) -> NDArray[np.int32]:
    return np.array([whole_number(number) for number in numbers], dtype=np.int32)


def whole_number(number: Any) -> int:
    """True and false, and 1.0, are none."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError("a whole number is expected")
    return number


def matrix(rows: Sequence[Sequence[float]], width: int) -> NDArray[Any]:
    """Rows of so many numbers; there may be no row."""
    return np.array(rows) if rows else np.empty((0, width))


def levels_of(kind: Kind) -> tuple[str, ...]:
    """REQUIRES: the kind is discrete, and its levels are known."""
    assert not isinstance(kind, Continuous) and kind.levels is not None
    return kind.levels
