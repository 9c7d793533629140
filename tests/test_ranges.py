"""Columns of any size: numbers that are tiny, huge, symmetric about 0, or far from all others.

The rule for the cells of a range is asked on both sides of every threshold; the other laws change the unit of a column,
which changes no network and, the Jacobian apart, no score."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import spinney as sp
from spinney.cuts import first_of_cell, halving_cells
from spinney.standard import shift_and_scale, standardised

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = sys.float_info.max
UNITS = [2.0**-1000, 1e-300, 1e-200, 2.0**-500, 1e-30, 10.0, 1e160, 1e200, 2.0**900, 1e300]


@st.composite
def ranges(draw: st.DrawFn) -> tuple[float, float]:
    one = draw(FINITE)
    other = draw(st.one_of(FINITE, st.just(-one), st.sampled_from([0.0, 5e-324, -5e-324, 1e300, LARGEST, -LARGEST])))
    assume(one != other)
    return min(one, other), max(one, other)


@given(ranges(), st.integers(1, 12), st.data())
@example((-1.0, 1.0), 5, None)
@example((-LARGEST, LARGEST), 5, None)
@example((0.0, 5e-324), 5, None)
@example((-1e300, 1e300), 12, None)
def test_a_threshold_parts_the_cells_exactly(
    ends: tuple[float, float], halvings: int, data: st.DataObject | None
) -> None:
    cell = data.draw(st.integers(1, 2**halvings - 1)) if data else 2 ** (halvings - 1)
    threshold = first_of_cell(*ends, halvings, cell)
    assert ends[0] < threshold <= ends[1]
    sides = np.array([math.nextafter(threshold, -math.inf), threshold])
    below, above = halving_cells(sides, *ends, halvings)
    assert below < cell <= above


@given(ranges(), st.integers(1, 12), st.lists(FINITE, min_size=1, max_size=20))
def test_cells_never_fall_as_values_grow(ends: tuple[float, float], halvings: int, values: list[float]) -> None:
    cells = halving_cells(np.array([*ends, *values]), *ends, halvings)
    assert cells[0] == 0 and cells[1] == 2**halvings - 1
    order = np.argsort([*ends, *values], kind="stable")
    assert (np.diff(cells[order].astype(int)) >= 0).all()


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=30), st.integers(-1060, 1000))
def test_shift_and_scale_scale_with_the_column(numbers: list[int], exponent: int) -> None:
    values = np.array(numbers, float)
    assume(values.min() != values.max())
    shift, scale = shift_and_scale(values)
    moved_shift, moved_scale = shift_and_scale(np.ldexp(values, exponent))
    smallest = 5e-324  # below 1e-308 numbers have fewer digits
    assert moved_shift == pytest.approx(math.ldexp(shift, exponent), rel=1e-15, abs=smallest)
    assert moved_scale == pytest.approx(math.ldexp(scale, exponent), rel=1e-15, abs=smallest)
    assert moved_scale > 0


@given(st.lists(FINITE, min_size=1, max_size=30))
def test_standardised_columns_have_mean_0_and_spread_1(numbers: list[float]) -> None:
    values = np.array(numbers) + 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        standard, shift, scale = standardised("x", values, True)
    assert np.isfinite(standard).all() and math.isfinite(shift) and 0 < scale < math.inf
    spread = float(np.abs(values).max())
    if values.min() < values.max() and scale > max(1e-300, 1e-9 * spread):  # else digits are lost to the shift
        assert standard.mean() == pytest.approx(0, abs=1e-6)
        assert np.mean(standard**2) == pytest.approx(1, rel=1e-6)


def table(unit: float, rows: int = 120) -> sp.Dataset:
    rng = np.random.default_rng(7)
    x = rng.normal(size=rows)
    y = np.where(x > 0.3, 2.0, -1.0) + 0.5 * rng.normal(size=rows)
    z = np.where(y > 0, "high", "low")
    frame = {"x": x, "y": y * unit, "z": np.where(rng.random(rows) < 0.1, "low", z)}
    return sp.Dataset.from_frame(frame, kinds={"x": "continuous", "y": "continuous", "z": "categorical"})


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("score", ["pcart", "ft", "graph"])
def test_the_unit_of_a_column_changes_nothing(score: str, unit: float) -> None:
    plain = sp.learn(table(1.0), score, search="dp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = sp.learn(table(unit), score, search="dp")
        density = moved.network.log_prob(table(unit))
    assert plain.network.edges and moved.network.edges == plain.network.edges
    assert moved.found.score == pytest.approx(plain.found.score, rel=1e-9)
    assert density + math.log(unit) == pytest.approx(plain.network.log_prob(table(1.0)), rel=1e-9)


@pytest.mark.parametrize("score", ["pcart", "ft", "graph"])
@pytest.mark.parametrize("far", [(1e300,), (-LARGEST, LARGEST), (LARGEST,), (5e-324,)])
def test_numbers_far_from_all_others_are_taken(score: str, far: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 60))
    if far == (5e-324,):
        y = rng.integers(0, 3, 60) * 5e-324
    y[: len(far)] = far
    data = sp.Dataset.from_frame({"x": x, "y": y}, kinds={"x": "continuous", "y": "continuous"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sp.learn(data, score, search="dp")
        network = sp.fit(data, {"x": ["y"], "y": []}, score)
        assert math.isfinite(found.found.score)
        assert np.isfinite(network.log_prob(data)).all()
        assert network.models["x"].describe() and network.models["y"].describe()
        assert np.isfinite(network.sample(50, seed=1).values("y")).all()


def test_without_standardising_huge_values_are_refused_in_a_sentence() -> None:
    data = sp.Dataset.from_frame({"x": [1.0, 2.5, 1e200]}, kinds={"x": "continuous"}, standardise=False)
    with pytest.raises(sp.SpinneyError, match="leave standardise=True"):
        sp.score(data, {"x": []}, "pcart")


def test_a_range_symmetric_about_0_is_fitted(tmp_path: Path) -> None:
    """In a process of its own: what it guards against has no end."""
    code = (
        "import numpy as np, spinney as sp\n"
        "x = np.linspace(-1, 1, 81); data = sp.Dataset.from_frame({'x': x, 'y': np.sign(x) + 0.1 * np.cos(50 * x)}, "
        "kinds={'x': 'continuous', 'y': 'continuous'})\n"
        "model = sp.fit(data, {'y': ['x'], 'x': []}, 'pcart').models['y']\n"
        "assert 'x < 0:' in model.describe(), model.describe()\n"
        "print('done')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.stdout == "done\n", done.stderr
