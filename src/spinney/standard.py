"""Continuous columns in standard units, and rows in an order of their own: what every score reads.

In:  the values of a continuous column; a Dataset.
Out: Standard, the column as the core wants it with what is needed to go back to the user's units; the Dataset with its
rows sorted, so that sums of numbers do not depend on the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError

if TYPE_CHECKING:
    from spinney.dataset import Dataset
    from spinney.deadline import Deadline

Floats = NDArray[np.float64]

SORT_PER_CELL = 1e-8  # seconds
LARGE = 2.0**1000  # differences and sums of larger numbers may overflow, so they are taken of a part of them
_SAFE = 400  # squares of numbers near 2 to this, and to minus this, are numbers
_PART = 2.0**-64  # a power of two: no digit is lost
_MOST_PLAIN = 1e100  # of a column that is not standardised: its squares must be numbers

_SORTED: WeakKeyDictionary[Dataset, Dataset] = WeakKeyDictionary()  # data set -> the same with its rows in order


@dataclass(frozen=True, eq=False)
class Standard:
    """A continuous column: value = (values + centre) * scale + shift."""

    values: Floats  # less `centre`, so that squares do not swallow the spread
    centre: float
    shift: float
    scale: float


def standard(name: str, values: Floats, wanted: bool) -> Standard:
    """Not `wanted`: in the user's units, less their mean."""
    own, shift, scale = standardised(name, values, wanted)
    centre = float(own.mean()) if len(own) else 0.0
    return Standard(np.subtract(own, centre, out=own if wanted else None), centre, shift, scale)


def standardised(name: str, values: Floats, wanted: bool) -> tuple[Floats, float, float]:
    """(values - shift) / scale, with the shift and the scale; not `wanted`: the values as they are."""
    if wanted:
        shift, scale = shift_and_scale(values)
        part = part_of(values)
        own = values - shift if part == 1.0 else values * part - shift * part
        return np.divide(own, scale * part, out=own), shift, scale
    if len(values) and np.abs(values).max() > _MOST_PLAIN:
        raise ChoiceError(
            f"column {name!r} has values beyond {_MOST_PLAIN:g}, and without standardising their squares are too large "
            f"for numbers; leave standardise=True, or measure the column in another unit"
        )
    return values, 0.0, 1.0


def shift_and_scale(values: Floats) -> tuple[float, float]:
    """Mean and population standard deviation; a constant column keeps its scale.

    Where squares might overflow or vanish, both are taken of the values over a power of two near the largest of them:
    the answer scales with the column, in every digit."""
    if len(values) == 0 or (low := values.min()) == (high := values.max()):
        return (float(values[0]) if len(values) else 0.0), 1.0
    exponent = int(np.frexp(max(abs(low), abs(high)))[1])
    if abs(exponent) <= _SAFE:
        exponent = 0
    units = np.ldexp(values, -exponent) if exponent else values
    mean = units.mean()
    away = units - mean
    spread = np.sqrt(np.multiply(away, away, out=away).mean())
    smallest = float(np.nextafter(0.0, 1.0))  # where the spread itself is below all numbers
    return float(np.ldexp(mean, exponent)), max(float(np.ldexp(spread, exponent)), smallest)


def part_of(values: Floats) -> float:
    """A factor under which sums and differences of these values are numbers."""
    return _PART if len(values) and max(-values.min(), values.max()) > LARGE else 1.0


def in_row_order(data: Dataset, deadline: Deadline | None = None) -> Dataset:
    """The same rows in an order of their own, whatever their order was: by the continuous columns, then the others.

    Sums of numbers depend on their order in the last digits, and between equal networks these would decide. Counts do
    not, so a table without continuous columns stays as it is. Where sorting would take more than a tenth of the time
    limit it is left out: the limit decides the answer there in any case."""
    continuous = [name for name in data.order if not data.kinds[name].discrete]
    if not continuous or data.n_rows < 2 or not data.rows_are_here:
        return data
    cells = data.n_rows * len(data.names)
    if deadline is not None and deadline.seconds is not None and SORT_PER_CELL * cells > 0.1 * deadline.seconds:
        return data
    if data not in _SORTED:
        first = data.values(continuous[0])
        order = np.argsort(first, kind="stable")
        ranked = first[order]
        if (ranked[1:] == ranked[:-1]).any():
            discrete = [name for name in data.order if data.kinds[name].discrete]
            keys = [*map(data.values, continuous), *map(data.codes, discrete)]
            order = np.lexsort(keys[::-1])  # the last key counts first there
        _SORTED[data] = data.take(order)
    return _SORTED[data]
