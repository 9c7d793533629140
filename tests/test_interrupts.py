"""Ctrl-C at every moment of a command: from the first import to the last line.

In:  real processes that get SIGINT at moments spread over their life.
Out: exit 130 with one sentence, or exit 0 with a network; never a traceback."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STARTED = "import sys; print('started', flush=True); from spinney_start import main; sys.exit(main())"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(1)
    names = [f"x{i}" for i in range(12)]
    lines = [",".join(names)]
    for _ in range(2000):  # a chain
        row = [rng.choice("abc")]
        while len(row) < len(names):
            row.append(row[-1] if rng.random() < 0.6 else rng.choice("abc"))
        lines.append(",".join(row))
    path = tmp_path_factory.mktemp("interrupts") / "table.csv"
    path.write_text("\n".join(lines))
    return path


def interrupted(words: list[str], moments: list[float]) -> tuple[int, str, str]:
    """The exit code and both streams of a command that got Ctrl-C at these seconds after its first line."""
    running = subprocess.Popen(
        [sys.executable, "-c", STARTED, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    running.stdout.readline()
    began = time.perf_counter()
    for moment in moments:
        time.sleep(max(0.0, began + moment - time.perf_counter()))
        running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    return running.returncode, out, err


def check(code: int, out: str, err: str) -> None:
    assert code in (0, 130), (code, err)
    assert "Traceback" not in err
    if code == 130:
        assert "interrupted" in err
    else:
        assert "score" in out


@pytest.mark.parametrize("part", range(8))
def test_once_at_any_moment(file: Path, part: int) -> None:
    rng = random.Random(part)
    for _ in range(3):
        moment = 0.02 + 0.2 * (part + rng.random())
        check(*interrupted(["learn", str(file), "--score", "bdeu"], [moment]))


@pytest.mark.parametrize("seed", range(4))
def test_twice(file: Path, seed: int) -> None:
    rng = random.Random(seed)
    first = 0.02 + 1.5 * rng.random()
    words = ["learn", str(file), "--score", "bdeu", "--search", "hc(restarts=1000000000)"]
    code, out, err = interrupted(words, [first, first + 0.3 * rng.random()])
    check(code, out, err)


def test_a_huge_shake_hears_ctrl_c_and_the_time_limit(file: Path) -> None:
    words = ["learn", str(file), "--score", "bdeu", "--search", "hc(shake=2000000000)"]
    code, out, err = interrupted(words, [6.0])
    check(code, out, err)
    ended = subprocess.run(
        [sys.executable, "-c", STARTED, *words, "--time-limit", "1"], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0 and "time limit" in ended.stderr


def test_a_family_of_many_cuttings_hears_ctrl_c(tmp_path: Path) -> None:
    """Eight continuous parents under ft: minutes of work, and just few enough ways to cut them not to be refused."""
    rng = random.Random(3)
    rows = [",".join(f"{rng.gauss(0, 1):.4f}" for _ in range(9)) for _ in range(3000)]
    (tmp_path / "t.csv").write_text(",".join(f"x{i}" for i in range(9)) + "\n" + "\n".join(rows) + "\n")
    parents = ",".join(f"x{i}" for i in range(1, 9))
    words = ["score", str(tmp_path / "t.csv"), "--child", "x0", "--parents", parents, "--score", "ft"]
    code, _, err = interrupted(words, [5.0])
    assert code == 130 and err == "spinney: interrupted before there was a result\n"
