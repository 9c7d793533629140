"""Sums of logarithms in the core keep the precision of one rounding, without a type wider than a double.

In:  one discrete column without parents. Its BDeu score is a sum of logs of rising factorials, one per level, less one.
Out: the difference from the same sum rounded once (math.fsum), in units of the last digit of its largest part."""

from __future__ import annotations

import re
import shutil
import subprocess
from math import fsum, log, ulp

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
