"""Few threads and little memory: an answer with what there is, or one sentence.

In:  processes with limits of the system, and Python's own way to say that no thread can be started.
Out: exit 0 with a network, or exit 2; never a crash, a hang or exit 70."""

from __future__ import annotations

import _thread
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import spinney as sp
import spinney_start
from spinney import cli, machine, prepare, table
from spinney.errors import LimitError

resource = pytest.importorskip("resource", reason="this system has no limits of processes")
COMMAND = "import sys; from spinney_start import main; sys.exit(main())"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(2)
    rows = []
    for _ in range(400):
        a, x = rng.choice("pqr"), rng.gauss(0, 1)
        rows.append(f"{a},{'u' if rng.random() < 0.8 else a},{x:.4f},{x + rng.gauss(0, 1):.4f},{rng.gauss(0, 1):.4f}")
    path = tmp_path_factory.mktemp("scarce") / "t.csv"
    path.write_text("a,b,x,y,z\n" + "\n".join(rows) + "\n")
    return path


NEEDS_SPACE = pytest.mark.skipif("SPINNEY_SANITIZER" in os.environ, reason="a sanitizer takes 20 TB of address space")


def limited(words: list[str], **limits: int) -> subprocess.CompletedProcess[str]:
    def set_limits() -> None:
        for name, most in limits.items():
            resource.setrlimit(getattr(resource, name), (most, most))

    return subprocess.run(
        [sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, timeout=120, preexec_fn=set_limits
    )


@NEEDS_SPACE
@pytest.mark.parametrize("score", ["bdeu", "pcart", "ft"])
def test_many_threads_in_little_address_space(file: Path, score: str) -> None:
    columns = ["--columns", "a,b"] if score == "bdeu" else []
    done = limited(["learn", str(file), "--score", score, "--n-jobs", "256", *columns], RLIMIT_AS=2_500_000 * 1024)
    assert done.returncode == 0 and "score" in done.stdout, (done.returncode, done.stderr[-500:])


@NEEDS_SPACE
@pytest.mark.parametrize("megabytes", [300, 500, 700, 1000])
def test_too_little_address_space_for_the_libraries_is_one_sentence(file: Path, megabytes: int) -> None:
    done = limited(["learn", str(file)], RLIMIT_AS=megabytes * 10**6)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"spinney: {spinney_start.TOO_LITTLE_SPACE}\n"


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser's threads are not limited")
def test_no_threads_at_all_is_one_sentence(file: Path) -> None:
    done = limited(["learn", str(file)], RLIMIT_NPROC=1)
    assert done.returncode == 2 and done.stderr == f"spinney: {spinney_start.TOO_FEW_THREADS}\n"


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """As if the system let this many more threads be there."""
    left, start = [10**6], _thread.start_new_thread

    def started(function: object, arguments: tuple[object, ...]) -> object:
        if left[0] == 0:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        return start(function, arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(spinney_start, "_limit", lambda name: 100.0)
    monkeypatch.setattr(_thread, "start_new_thread", started)
    return left


@pytest.mark.parametrize("there", [0, 1, 4, 5, 16])
def test_threads_are_counted_as_they_start(threads: list[int], there: int) -> None:
    threads[0] = there
    assert spinney_start.threads_that_start(5) == min(there, 5)


def test_reading_with_few_threads(file: Path, threads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sp.Dataset.read(file).fingerprint
    said: list[int] = []
    monkeypatch.setattr(table.pa, "set_cpu_count", said.append)
    monkeypatch.setattr(table.pa, "set_io_thread_count", said.append)
    threads[0] = spinney_start.FEWEST_THREADS
    assert sp.Dataset.read(file).fingerprint == whole and said == [1, 1]
    threads[0] = spinney_start.FEWEST_THREADS - 1
    with pytest.raises(LimitError, match="no more threads; end other programs"):
        sp.Dataset.read(file)
    threads[0] = 0
    assert spinney_start.main() == 2


def test_columns_are_read_one_by_one_where_no_thread_starts(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sp.Dataset.read(file).fingerprint

    def none(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(prepare.ThreadPoolExecutor, "submit", none)
    assert sp.Dataset.read(file).fingerprint == whole


@pytest.mark.parametrize("words", ["can't start new thread", "Unknown error: Failed to launch worker thread: Resource"])
def test_a_library_without_threads_is_no_fault_of_ours(
    file: Path, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(table, "_raw_bytes", fail)
    assert cli.main(["kinds", str(file)]) == 2
    assert capsys.readouterr().err == f"spinney: {spinney_start.TOO_FEW_THREADS}\n"


@pytest.mark.parametrize(("space", "most"), [(None, 256), (0.0, 1), (2.0**30, 8), (2.0**40, 256)])
def test_threads_fit_into_the_address_space(space: float | None, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_of_the_process", lambda: space)
    assert machine.threads_for(1000) == most and machine.threads_for(1) == 1
    assert machine.threads_for(-1) <= most
