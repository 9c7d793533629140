"""Means by quadrature, against closed forms, scipy and a slow twin that is told where the peaks are.

In:  products of normals, Student ts, squares, steep logistics and steps.
Out: errors below 1e-6 of the mean distance from the mean; what cannot be known is not answered."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from slow.means import Floats, mean_of
from spinney.quadrature import Means, means

Term = Callable[[Floats], Floats]


def one(log_density: Term, centre: float = 0.0, scale: float = 1.0, breaks: tuple[float, ...] = ()) -> Means:
    with np.errstate(over="ignore"):
        return means(
            lambda _, values: log_density(values), np.array([centre]), np.array([scale]), np.array(breaks, dtype=float)
        )


def mean(log_density: Term, centre: float = 0.0, scale: float = 1.0, breaks: tuple[float, ...] = ()) -> float:
    found = one(log_density, centre, scale, breaks)
    assert not found.empty[0] and not found.failed[0]
    return float(found.mean[0])


def student(values: Floats, freedom: float) -> Floats:
    logs: Floats = -(freedom + 1) / 2 * np.log1p(values**2 / freedom)
    return logs


def normal(values: Floats) -> Floats:
    logs: Floats = -(values**2) / 2
    return logs


def draw(rng: np.random.Generator) -> tuple[list[Term], list[float], float, float, list[float]]:
    """Terms of a log-density, the places they are about, centre, scale, and the breaks."""
    c, s = rng.normal() * 10 ** rng.uniform(-2, 3), 10 ** rng.uniform(-2, 2)
    freedom = rng.choice([2, 3, 5, 20])
    own: Term = (lambda v: normal((v - c) / s)) if rng.random() < 0.5 else (lambda v: student((v - c) / s, freedom))
    terms, places, breaks = [own], [c], []
    for _ in range(rng.integers(1, 4)):
        w, at = s * 10 ** rng.uniform(-6, 1), c + s * rng.normal() * rng.choice([1, 1, 3, 10])
        kind = rng.choice(["normal", "student", "logistic", "step", "square"])
        places.append(at)
        if kind == "normal":
            terms.append(lambda v, at=at, w=w: normal((v - at) / w))
        elif kind == "student":
            tails = rng.choice([1, 2, 4, 30])
            terms.append(lambda v, at=at, w=w, tails=tails: student((v - at) / w, tails))
        elif kind == "logistic":
            terms.append(lambda v, at=at, w=w: -np.logaddexp(0, -(v - at) / w))
        elif kind == "step":
            low, high = np.log(rng.uniform(0.01, 1, 2))
            terms.append(lambda v, at=at, low=low, high=high: np.where(v < at, low, high))
            breaks.append(at)
        else:
            y, noise = rng.uniform(0.1, 4), 10 ** rng.uniform(-4, 0)
            terms.append(lambda v, y=y, noise=noise: normal((((v - c) / s) ** 2 - y) / noise))
            places += [c - s * math.sqrt(y), c + s * math.sqrt(y)]
    return terms, places, c, s, sorted(breaks)


@pytest.mark.parametrize("seed", range(8))
def test_products_equal_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(60):
        terms, places, c, s, breaks = draw(rng)

        def log_density(values: Floats, terms: list[Term] = terms) -> Floats:
            return np.add.reduce([term(values) for term in terms])

        with np.errstate(over="ignore"):
            wanted, distance, top = mean_of(log_density, places, s)
        found = one(log_density, c, s, tuple(breaks))
        # Narrow terms may contradict each other by a million widths: then the digits of the logs say no more.
        exact = abs(top) < 1e10
        assert not found.empty[0] and not (found.failed[0] and exact)
        refused += int(found.failed[0])
        off, digits = abs(found.mean[0] - wanted), 64 * np.spacing(abs(wanted) + abs(c))
        assert found.failed[0] or off <= max((1e-6 if exact else 1e-2) * distance, digits)
    assert refused <= 1


@pytest.mark.parametrize("width", [1e-2, 1e-6, 1e-8])
@pytest.mark.parametrize("freedom", [1, 2, 4, 30])
def test_narrow_peaks_on_a_slope(width: float, freedom: int) -> None:
    """The tails of a Student t are flat beside the slope of a normal: its peak may show in no node, and holds half of
    the mass; only that the log-density is not smooth there tells."""
    for place in (0.3, 2.0, 5.0, 8.5, 9.25, 11.5):

        def log_density(values: Floats, place: float = place) -> Floats:
            return normal(values) + student((values - place) / width, freedom)

        wanted, distance, _ = mean_of(log_density, [0.0, place], 1.0)
        assert abs(mean(log_density) - wanted) <= max(1e-6 * distance, 1e-13)


@pytest.mark.parametrize("u", np.arange(-3, 3.5, 0.5))
def test_a_steep_change_at_the_end_of_a_panel(u: float) -> None:
    """No node is near enough to see it, and no panel holds it: only the jump between two panels tells."""
    place = math.sinh(u)
    for where in (place - 1e-7, place, place + 1e-7):
        found = mean(lambda v, where=where: normal(v) - np.logaddexp(0, -(v - where) / 1e-9))
        assert found == pytest.approx(norm.pdf(where) / norm.sf(where), abs=1e-8)


@pytest.mark.parametrize("sides", [1.0, 3.5, 6.0])
@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-7])
def test_a_narrow_peak_ends_in_the_next_panel(width: float, sides: float) -> None:
    """The peak is `sides` widths from the end of a panel: what lies beyond is not lost."""
    for end in (0.0, math.sinh(0.5), -math.sinh(2.0)):
        place = end + sides * width
        wanted = place / (1 + width**2)
        assert mean(lambda v, place=place: normal(v) + normal((v - place) / width)) == pytest.approx(
            wanted, abs=1e-7 * width
        )


@pytest.mark.parametrize("width", [1e-3, 1e-6])
def test_a_narrow_peak_goes_on_beyond_a_break(width: float) -> None:
    """Within the peak the density is divided by 10: a truncated normal on either side."""
    step = math.log(0.1)
    for sides in (-3.5, -1.0, 0.5, 3.0):
        cut = 0.7 + sides * width
        low, high = norm.cdf(sides), 0.1 * norm.sf(sides)
        wanted = 0.7 + width * (0.1 - 1) * norm.pdf(sides) / (low + high)
        found = mean(lambda v, cut=cut: normal((v - 0.7) / width) + np.where(v < cut, 0.0, step), breaks=(cut,))
        assert found == pytest.approx(wanted, abs=1e-6 * width)


def test_two_peaks_by_a_square() -> None:
    """y = x^2 with little noise: two peaks, whose weights are those of the prior at them."""
    assert mean(lambda v: normal(v - 0.1) + normal((4 - v**2) / 1e-7)) == pytest.approx(2 * math.tanh(0.2), abs=1e-9)


@pytest.mark.parametrize("freedom", [1.3, 1.5, 2.0, 3.0])
def test_heavy_tails(freedom: float) -> None:
    """Against scipy, on exp(u) to either side, where the tails of a power fall like an exponential."""

    def density(x: float) -> float:
        return float(np.exp(student(np.array(x), freedom) - np.logaddexp(0, -x)))

    def integral(power: int) -> float:
        return sum(
            quad(
                lambda u, side=side: density(side * math.sinh(u)) * (side * math.sinh(u)) ** power * math.cosh(u), *ends
            )[0]
            for side in (-1, 1)
            for ends in ((0, 3), (3, 30), (30, 200))
        )

    wanted = integral(1) / integral(0)
    found = mean(lambda v: student(v, freedom) - np.logaddexp(0, -v))
    assert found == pytest.approx(wanted, rel=1e-7)


def test_without_a_mean_within_eight_scales() -> None:
    def density(x: float) -> float:
        return float(np.exp(-np.logaddexp(0, -x)) / (1 + x * x))

    wanted = quad(lambda x: x * density(x), -8, 8)[0] / quad(density, -8, 8)[0]
    found = mean(lambda v: student((v - 70) / 3, 1) - np.logaddexp(0, -(v - 70) / 3), 70, 3)
    assert found == pytest.approx(70 + 3 * wanted, rel=1e-9)
    # A Cauchy density has a mean once it is observed, wherever that is.
    far = mean(lambda v: student((v - 70) / 3, 1) + normal(v - 1000), 70, 3)
    assert far == pytest.approx(1000 - 2 / 930, abs=1e-4)


@pytest.mark.parametrize("place", [1e3, -1e8, 1e16])
def test_a_centre_far_from_the_mass(place: float) -> None:
    assert mean(lambda v: normal((v - place) / max(1.0, abs(place) * 1e-10))) == pytest.approx(place, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-290, 1e-100, 1.0, 1e100, 1e290])
def test_units_do_not_matter(unit: float) -> None:
    found = mean(lambda v: normal(v / unit) + normal(v / unit - 3), 0.0, unit)
    assert found == pytest.approx(1.5 * unit, rel=1e-9)


def test_breaks_cost_less_than_jumps_that_are_not_said() -> None:
    calls: list[int] = []

    def log_density(values: Floats) -> Floats:
        calls.append(len(values))
        return normal(values) + np.log(np.where(values < 0.3, 0.2, 0.9))

    wanted = 0.7 * norm.pdf(0.3) / (0.2 * norm.cdf(0.3) + 0.9 * norm.sf(0.3))
    assert mean(log_density) == pytest.approx(wanted, abs=1e-9)
    unsaid = sum(calls)
    calls.clear()
    assert mean(log_density, breaks=(0.3,)) == pytest.approx(wanted, abs=1e-12)
    assert sum(calls) < unsaid / 2


def test_rows_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(0)
    places, widths = rng.normal(0, 3, 4000), 10 ** rng.uniform(-5, 1, 4000)

    def log_density(rows: np.ndarray, values: Floats) -> Floats:
        return normal(values) + normal((values - places[rows]) / widths[rows])

    together = means(log_density, np.zeros(4000), np.ones(4000), np.empty(0))
    assert np.abs(together.mean - places / (1 + widths**2)).max() < 1e-11
    alone = means(lambda rows, v: log_density(rows + 17, v), np.zeros(1), np.ones(1), np.empty(0))
    assert alone.mean[0] == together.mean[17]


def test_what_cannot_be_known_is_not_answered() -> None:
    narrow = one(lambda v: np.where((v > 2) & (v < 2 + 1e-9), 0.0, -np.inf))
    assert narrow.empty[0]
    wild = one(lambda v: normal(v) + normal((0.3 - np.sin(1000 * v)) / 1e-3))
    assert wild.failed[0]
    rounded = one(lambda v: normal(v) + 1e15 + normal((v - 1) * 2) - 1e15)
    assert rounded.failed[0] or abs(rounded.mean[0] - 0.8) < 0.05
