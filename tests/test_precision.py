"""Sums of logarithms in the core keep the precision of one rounding, without a type wider than a double.

In:  one discrete column without parents. Its BDeu score is a sum of logs of rising factorials, one per level, less one.
Out: the difference from the same sum rounded once (math.fsum), in units of the last digit of its largest part."""

from __future__ import annotations

import re
import shutil
import subprocess
from math import fsum, log, ulp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from spinney import _core

DIGITS = 3  # two tables and one subtraction are rounded


def factors(start: float, count: int) -> list[float]:
    return [log(start + k) for k in range(count)]


def in_last_digits(found: float, ess: float, first: int, second: int) -> float:
    """How far `found` is from the score of a column with these counts of its two levels."""
    seen, all_rows = factors(ess / 2, first) + factors(ess / 2, second), factors(ess, first + second)
    largest = max(abs(fsum(seen)), abs(fsum(all_rows)), *(abs(term) for term in [*seen, *all_rows]))
    return abs(found - fsum([*seen, *(-term for term in all_rows)])) / ulp(largest)


@given(ess=st.floats(1e-3, 1e3), first=st.integers(1, 255), second=st.integers(1, 255))
def test_a_score_is_rounded_as_if_its_logs_were_added_exactly(ess: float, first: int, second: int) -> None:
    data = {"x": ["a"] * first + ["b"] * second}
    found = sp.local_score(data, "x", [], f"bdeu(ess={ess!r})")
    assert in_last_digits(found, ess, first, second) <= DIGITS


def test_sums_of_plain_additions_would_be_seen() -> None:
    away = []
    for ess in (0.01, 0.3, 1.7, 40.0):
        plain = sum(factors(ess / 2, 200)) + sum(factors(ess / 2, 250)) - sum(factors(ess, 450))
        away.append(in_last_digits(plain, ess, 200, 250))
    assert max(away) > DIGITS


def test_the_core_holds_no_fused_multiply_adds() -> None:
    """They round once where others round twice: machines that have them would give other last digits."""
    program = shutil.which("objdump")
    if program is None:
        pytest.skip("objdump is not installed; it shows the instructions of the core here")
    shown = subprocess.run([program, "-d", "--no-show-raw-insn", _core.__file__], capture_output=True, text=True)
    assert shown.returncode == 0 and "ret" in shown.stdout
    assert not re.search(r"\bvfn?m(?:add|sub)\d+[sp][sd]\b|\bfn?m(?:add|sub|la|ls)\b", shown.stdout)


def test_columns_in_single_precision_are_the_rounded_ones(tmp_path: Path) -> None:
    """All that is learned is that of a table of the rounded numbers."""
    rng = np.random.default_rng(1)
    frame = {"x": rng.normal(size=300) * 1e6, "k": rng.choice(["a", "b"], 300)}
    frame["y"] = frame["x"] / 3 + rng.normal(size=300)
    rounded = {name: own.astype(np.float32).astype(float) if own.dtype == float else own for name, own in frame.items()}
    single, plain = sp.Dataset.from_frame(frame, single=True), sp.Dataset.from_frame(rounded)
    assert single.bytes_per_row("x") == 4 and plain.bytes_per_row("x") == 8
    assert single.kinds == plain.kinds and single.fingerprint == plain.fingerprint
    assert single.values("x").tolist() == plain.values("x").tolist()
    for score in ("dg", "cg", "pcart", "mars"):
        one, other = (sp.learn(data, score, search="hc") for data in (single, plain))
        assert one.found.score == other.found.score and one.network.parents == other.network.parents
    assert single.take(np.arange(10)).bytes_per_row("y") == 4
    single.write(tmp_path / "t.parquet")
    assert sp.Dataset.read(tmp_path / "t.parquet").fingerprint == plain.fingerprint


def test_single_precision_stays_within_the_declared_range() -> None:
    """0.1 is 0.100000001 there."""
    data = sp.Dataset.from_frame({"x": [0.0, 0.05, 0.1] * 5}, kinds={"x": sp.Continuous(0, 0.1)}, single=True)
    assert data.kinds["x"] == sp.Continuous(0, 0.1) and 0.0999 < data.values("x").max() <= 0.1
    with pytest.raises(sp.DataError, match="single precision does not hold"):
        sp.Dataset.from_frame({"x": [1.5, 2.5e39, 3.25] * 9}, kinds={"x": "continuous"}, single=True)
