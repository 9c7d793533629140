"""A short run of tools/fuzz.py: hostile inputs and mutated files are answered or refused, whatever the case.

In:  a fixed seed. Out: no crash, hang, traceback or NaN. The limit is generous: machines may be busy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "tools" / "fuzz.py"


def test_a_short_campaign_finds_nothing() -> None:
    run = subprocess.run(
        [sys.executable, str(FUZZ), "--inputs=60", "--files=140", "--seed=12", "--limit=20", "--workers=2"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    counts = [line.split() for line in run.stdout.splitlines()[1:-1]]
    assert sum(int(count) for _, *row in counts for count in row) == 200
    assert all(int(answered) for kind, answered, _, _ in counts if kind == "csv"), "no table was taken at all"
