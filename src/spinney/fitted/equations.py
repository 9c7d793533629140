"""Equations in words: polynomials of several columns in the user's units.

In:  a constant, and per column the coefficients of its Legendre polynomials.
Out: text such as "1.2 + 0.35 age - 0.02 (dose - 5)^2". Lines are written in the column itself, unless its values are
far from 0, and higher powers around the middle of its range: powers of raw values would cancel each other, and no
number of digits would show the curve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leg2poly

from spinney.layout import shown_number

_POWERS = 5  # that are written out
_NEAR = 1000.0  # half widths from 0
NO_NUMBERS = "a linear function whose coefficients in these units are no numbers"  # of columns of 1e308 or 1e-320

# A column: its name, the middle and half the width of its range, the coefficients of P_1, P_2, ... of that range.
Term = tuple[str, float, float, Sequence[float]]


def equation(constant: float, scale: float, terms: Sequence[Term], precision: float) -> str:
    """constant + scale * (sum of the terms); numbers are written to differences of `precision` in the whole."""
    parts: list[tuple[float, str, float]] = []  # coefficient, what it multiplies, the size of that
    for name, centre, width, factors in terms:
        degree = len(factors)
        polynomial = Polynomial(leg2poly([0.0, *factors]))
        near = degree == 1 and abs(centre) < _NEAR * width
        around = 0.0 if near else float(shown_number(centre, width / 10))
        with np.errstate(all="ignore"):
            # Infinite where the width is below all numbers.
            units = np.array([around - centre, 1.0]) / np.float64(width)
            moved = polynomial(Polynomial(units)) * scale
        numbers = moved.coef.tolist()
        if not all(map(math.isfinite, [*numbers, constant + numbers[0]])):
            parts.append((1.0, f"a polynomial of degree {degree} in {name}", 1.0))
            continue
        constant += numbers[0]
        base = name if around == 0 else f"({name} {'-' if around > 0 else '+'} {shown_number(abs(around), width / 10)})"
        reach = abs(centre) + width if around == 0 else width
        for power, number in enumerate(numbers[1 : _POWERS + 1], 1):
            parts.append((number, base if power == 1 else f"{base}^{power}", _power(reach, power)))
        if degree > _POWERS:
            parts.append((1.0, f"... to the power {degree}", 1.0))
    text = shown_number(constant, precision)
    for number, what, size in parts:
        sign = "-" if number < 0 else "+"
        factor = "" if number == 1 else f"{shown_number(abs(number), min(precision / size, 1e300) if size else 0.0)} "
        text += f" {sign} {factor}{what}"
    return text


def _power(base: float, power: int) -> float:
    try:
        return float(base**power)
    except OverflowError:
        return math.inf
