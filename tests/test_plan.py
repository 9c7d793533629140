"""Forecasts: what a job will take, and jobs that keep their limits.

In:  small tables.
Out: counts that are exact, and choices that follow from limits. Seconds are not tested: machines differ."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney import machine
from spinney.cli import main


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["spinney.plan"], "PROBE", 0.1)


def table(columns: int = 8, rows: int = 200) -> sp.Dataset:
    rng = np.random.default_rng(2)
    return sp.Dataset.from_frame({f"x{i}": [f"l{v}" for v in rng.integers(0, 3, rows)] for i in range(columns)})


@pytest.mark.parametrize("score", ["bdeu", "pcart", "cg"])
def test_families_are_counted(score: str) -> None:
    found = sp.plan(table(), score, search="exact", max_parents=2)
    assert found.families == 8 * (1 + 7 + 21)
    assert found.search == "exact" and found.fits and found.ways == ()
    assert found.total > 0 and found.memory > 2**20 and found.threads >= 1
    assert all(seconds is None or math.isfinite(seconds) for seconds in found.seconds.values())
    assert "sets    232" in str(found)


def test_the_search_is_the_one_that_learn_takes() -> None:
    found = sp.plan(table())
    assert (
        found.search == sp.learn(table()).found.method if hasattr(sp.Found, "method") else found.why.startswith("auto")
    )
    assert found.why_score is not None and "bdeu" in found.why_score
    climb = sp.plan(table(), search="hc")
    assert climb.families == 0 and climb.search == "hc"


def test_methods_that_choose_candidates_count_for_as_many() -> None:
    found = sp.plan(table(), search="exact", max_parents=2, candidates="screen(k=3)")
    assert found.families == 8 * (1 + 3 + 3)


def test_limits_that_cannot_hold_are_answered_with_ways() -> None:
    found = sp.plan(table(12), "pcart", search="exact", max_parents=5, time_limit=1e-5)
    assert not found.fits and found.as_dict()["fits"] is False
    assert "would not hold" in str(found)
    # 2.5 million sets in a tenth of a second: no forecast calls that possible, and fewer parents are proposed
    slower = sp.plan(table(40), "bdeu", search="exact", max_parents=5, time_limit=1.0)
    assert not slower.fits and any(way.startswith("max_parents=") for way in slower.ways)


def test_a_limit_of_memory_makes_a_job_smaller_or_refuses_it() -> None:
    data = table(40, 100)
    here = machine.resident() / 2**30
    result = sp.find(data, "bdeu", search="exact", max_parents=5, memory_limit=here + 0.1, time_limit=60)
    assert any(note.startswith("took ") for note in result.notes)
    with pytest.raises(sp.LimitError, match="are allowed"):
        sp.find(data, "bdeu", search="exact", max_parents=3, memory_limit=0.01)
    assert not sp.find(table(), "bdeu", search="exact", memory_limit=here + 1).notes


def test_available_memory_knows_the_limit() -> None:
    before = machine.available_memory()
    with machine.memory_limited(1e-6):
        assert machine.available_memory() == 0.0
    assert machine.available_memory() > before / 2


@pytest.mark.parametrize("limit", [0, -1, True, "much"])
def test_what_is_no_limit_is_refused(limit: object) -> None:
    with pytest.raises(sp.ChoiceError, match="memory_limit must be"):
        sp.plan(table(3), memory_limit=limit)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(5).write(tmp_path / "t.csv")
    assert main(["learn", str(tmp_path / "t.csv"), "--plan", "--json", "--search", "exact"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["families"] == 5 * (1 + 4 + 6 + 4) and record["fits"] is True
    assert main(["learn", str(tmp_path / "t.csv"), "--plan"]) == 0
    assert "memory  about" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read as Linux tells it")
def test_a_process_stays_below_its_limit() -> None:
    code = """
import numpy as np, spinney as sp
rng = np.random.default_rng(1)
data = sp.Dataset.from_frame({f"x{i}": [f"l{v}" for v in rng.integers(0, 3, 60)] for i in range(60)})
try:
    sp.find(data, "bdeu", search="hc", max_parents=5, memory_limit=0.5, n_jobs=1)
except sp.LimitError as error:
    print(error)
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) * 1024 < 0.5 * 2**30


@pytest.mark.skipif("SPINNEY_SANITIZER" in os.environ, reason="sanitizers keep memory that was given back")
def test_with_a_limit_the_source_and_the_candidates_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the job is made smaller or not."""
    from spinney import scores
    from spinney.candidates import forest

    counts = {"source": 0, "forest": 0}
    build, grow = scores._source, forest.run

    def building(*words: Any) -> Any:
        counts["source"] += 1
        return build(*words)

    def growing(*words: Any) -> Any:
        counts["forest"] += 1
        return grow(*words)

    monkeypatch.setattr(scores, "_source", building)
    monkeypatch.setattr(forest, "run", growing)
    data = table(12, 100)
    here = machine.resident() / 2**30
    method = "forest(k=3, trees=2)"
    sp.find(data, "bic", search="exact", max_parents=2, candidates=method, memory_limit=here + 1)
    assert counts == {"source": 1, "forest": 1}
    limit = machine.resident() / 2**30 + 0.018  # 30 MB as asked, for ll prunes nothing; 8 MB with four parents
    method = "forest(k=20, trees=1)"
    found = sp.find(table(24, 100), "ll", search="order", max_parents=5, candidates=method, memory_limit=limit, runs=1)
    assert any(note.startswith("took ") for note in found.notes)
    assert counts["source"] == 2 and counts["forest"] <= 2


def test_lists_of_the_user_are_kept_when_a_job_is_made_smaller() -> None:
    data = table(24, 100)
    lists = {name: [other for other in data.names if other not in (name, "x3")] for name in data.names}
    limit = machine.resident() / 2**30 + 0.03  # 48 MB as asked, 12 MB with four parents
    found = sp.find(data, "ll", search="order", max_parents=5, candidates=lists, memory_limit=limit, runs=1)
    assert any(note.startswith("took ") for note in found.notes)
    assert all("x3" not in parents for parents in found.parents.values())


def test_what_is_prepared_is_counted() -> None:
    """Bitmaps, a bit per row and level, and columns in standard units; not once they are there."""
    from spinney.scores import build_source

    data = table(4, 800)
    source = build_source(data, "bic")
    assert source.ready_bytes() == 800 * (4 * 3) / 8
    source.local_scores([("x0", ["x1"])])
    assert source.ready_bytes() == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read as Linux tells it")
@pytest.mark.skipif("SPINNEY_SANITIZER" in os.environ, reason="sanitizers take memory of their own")
def test_columns_that_alone_exceed_the_limit_are_refused_before_the_job(tmp_path: Path) -> None:
    """The sorted copy of continuous columns, and the same in standard units, count."""
    code = """
import sys, numpy as np, spinney as sp
rng = np.random.default_rng(1)
data = sp.Dataset.from_columns(
    {f"x{i}": sp.Continuous(0, 1) for i in range(30)}, {f"x{i}": rng.random(500_000) for i in range(30)}
)
try:
    sp.find(data, "dg", search="hc", memory_limit=0.35, n_jobs=1)
except sp.LimitError as error:
    print(error)
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, most = done.stdout.splitlines()
    assert "sorting the rows" in said or "are allowed" in said
    assert int(most) * 1024 < 0.35 * 2**30
