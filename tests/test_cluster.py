"""Step 1 on a real Dask cluster of processes: the answer of one machine, whatever dies.

In:  small tables; a scheduler and two workers, each a process of its own.
Out: the sets of one thread, byte for byte; one sentence for everything that is wrong with a cluster."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney import cluster as own
from spinney.cli import main
from spinney.formats import jkl
from spinney.store import Store

distributed = pytest.importorskip("distributed", reason="the package distributed is not installed: spinney[dask]")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as workers,
        distributed.Client(workers, set_as_default=False) as connected,
    ):
        yield connected


def table(columns: int = 8, rows: int = 150, continuous: int = 0, seed: int = 1) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    last = rng.normal(size=rows)
    for i in range(columns):
        last = last + rng.normal(size=rows)
        found[f"x{i}"] = last if i < continuous else [f"l{np.clip(int(value), -1, 1)}" for value in last]
    return sp.Dataset.from_frame(found)


@pytest.mark.parametrize("score", ["bdeu", "bic", "pcart", "graph", "best(pcart, ft)"])
def test_discrete_scores_are_those_of_one_thread(client: Any, score: str) -> None:
    data = table()
    plain = sp.score_parent_sets(data, score, n_jobs=1)
    shared = sp.score_parent_sets(data, score, cluster=client)
    assert jkl.text(shared) == jkl.text(plain)
    assert shared.scored == plain.scored and shared.families == plain.families and shared.known == 0


@pytest.mark.parametrize("score", ["pcart", "cg", "mars"])
def test_mixed_scores_too(client: Any, score: str) -> None:
    data = table(5, continuous=3)
    plain = sp.score_parent_sets(data, score, n_jobs=1)
    assert jkl.text(sp.score_parent_sets(data, score, cluster=client)) == jkl.text(plain)


def test_without_pruning_with_constraints_and_candidates(client: Any) -> None:
    data = table()
    limits = sp.Constraints(required=[("x1", "x0")], forbidden=[("x2", "x3")])
    for words in ({"prune": False}, {"constraints": limits}, {"candidates": {"x0": ["x1"], "x3": ["x0", "x4"]}}):
        for score in ("bdeu", "pcart"):
            plain = sp.score_parent_sets(data, score, n_jobs=1, **words)
            assert jkl.text(sp.score_parent_sets(data, score, cluster=client, **words)) == jkl.text(plain)


def test_small_tasks_make_no_difference(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "TASK", 1e-5)
    monkeypatch.setattr(own, "LEAST", 1e-5)
    data = table(6)
    for score in ("bdeu", "pcart"):
        plain = sp.score_parent_sets(data, score, n_jobs=1)
        assert jkl.text(sp.score_parent_sets(data, score, cluster=client)) == jkl.text(plain)


def test_learn_find_and_the_command(client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = table()
    plain = sp.learn(data, search="exact")
    shared = sp.learn(data, search="exact", cluster=client.scheduler.address)
    assert shared.network.parents == plain.network.parents and shared.found.score == plain.found.score
    assert sp.find(data, search="exact", cluster=client).parents == plain.network.parents
    data.write(tmp_path / "t.csv")
    words = ["families", str(tmp_path / "t.csv"), "--cluster", client.scheduler.address]
    assert main([*words, "-o", str(tmp_path / "a.jkl")]) == 0
    assert main(["families", str(tmp_path / "t.csv"), "-o", str(tmp_path / "b.jkl")]) == 0
    assert (tmp_path / "a.jkl").read_text() == (tmp_path / "b.jkl").read_text()


def test_scores_go_into_the_store(client: Any, tmp_path: Path) -> None:
    data = table()
    first = sp.score_parent_sets(data, "bdeu", cluster=client, store=tmp_path)
    again = sp.score_parent_sets(data, "bdeu", store=tmp_path)
    assert again.scored == 0 and again.known == first.scored and jkl.text(again) == jkl.text(first)
    half = sp.score_parent_sets(data, "bic", max_parents=2, store=tmp_path)
    rest = sp.score_parent_sets(data, "bic", max_parents=3, cluster=client, store=tmp_path)
    assert rest.known == half.scored and jkl.text(rest) == jkl.text(sp.score_parent_sets(data, "bic"))


def slowly(data: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
    import time  # at the worker

    time.sleep(0.005)
    return -float(len(parents)) - len(child) / 10


def test_workers_that_are_killed_cost_their_tasks_only(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "LEAST", 0.05)
    monkeypatch.setattr(own, "TASK", 0.05)
    data = table(7)
    score = sp.CustomScore(slowly, name="slowly")
    plain = sp.score_parent_sets(data, sp.CustomScore(lambda d, c, p: -float(len(p)) - len(c) / 10), n_jobs=1)
    pids = list(client.run(os.getpid).values())

    def kill() -> None:
        for pid in pids:
            time.sleep(0.5)
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    sets = sp.score_parent_sets(data, score, cluster=client, store=tmp_path)
    killer.join()
    assert jkl.text(sets) == jkl.text(plain)
    assert sp.score_parent_sets(data, score, store=tmp_path).scored == 0
    client.wait_for_workers(2, timeout=300)


def test_ctrl_c_and_time_limits_keep_what_there_is(client: Any, tmp_path: Path) -> None:
    data = table(7)
    score = sp.CustomScore(slowly, name="slowly")
    limited = sp.score_parent_sets(data, score, cluster=client, store=tmp_path, time_limit=1.0)
    assert limited.unscored > 0 and all(len(limited.of(child)) >= 1 for child in data.names)
    kept = sum(len(Store(tmp_path).read(run)) for run in Store(tmp_path).runs())
    assert kept > 0

    def interrupt(what: str, done: int, total: int) -> None:
        if done > kept:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sp.score_parent_sets(data, score, cluster=client, store=tmp_path, progress=interrupt)
    assert sum(len(Store(tmp_path).read(run)) for run in Store(tmp_path).runs()) >= kept


def twice(shared: int, job: int) -> int:
    return shared * job


def failing(shared: Any, job: int) -> int:
    if job == 3:
        raise sp.ChoiceError("three is not wanted")
    raise MemoryError


def test_map_jobs(client: Any) -> None:
    seen = []
    assert own.map_jobs(client, twice, range(20), 3, lambda done, total: seen.append((done, total))) == [
        3 * job for job in range(20)
    ]
    assert seen[-1] == (20, 20)
    with pytest.raises(sp.ChoiceError, match="three"):
        own.map_jobs(client, failing, [3])
    with pytest.raises(sp.LimitError, match="not enough memory"):
        own.map_jobs(client, failing, [4])


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize(
    "address, words", [("nonsense", "no address"), (7, "Client or the address"), ("", "Client or")]
)
def test_bad_addresses_are_refused(address: Any, words: str) -> None:
    with pytest.raises(sp.ChoiceError, match=words):
        sp.score_parent_sets(table(3), "bdeu", cluster=address)


def test_a_scheduler_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table(3).write(tmp_path / "t.csv")
    assert main(["learn", str(tmp_path / "t.csv"), "--cluster", f"tcp://127.0.0.1:{free_port()}"]) == 2
    error = capsys.readouterr().err
    assert "no Dask scheduler answers" in error and error.count("\n") == 1


def test_versions_must_be_the_same(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = own._about()
    for other, words in (
        (("9.9", *here[1:]), r"has spinney .* and this machine 9\.9"),
        ((here[0], 99, here[2]), "version 99"),
        ((*here[:2], (3, 99)), r"this machine 3\.99"),
    ):
        monkeypatch.setattr(own, "_here", lambda other=other: other)
        with pytest.raises(sp.ChoiceError, match=words):
            sp.score_parent_sets(table(3), "bdeu", cluster=client)
    with pytest.raises(sp.ChoiceError, match="has no spinney"):
        own._check_worker("tcp://w:1", ModuleNotFoundError("No module named 'spinney'"), here)


def test_workers_without_memory_are_refused(client: Any) -> None:
    with pytest.raises(sp.LimitError, match="too little for the table"):
        own.check_memory_of_workers(client, 1e15, "the table")


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty,
        pytest.raises(sp.ChoiceError, match="has no workers"),
    ):
        sp.score_parent_sets(table(3), "bdeu", cluster=empty.scheduler_address)


def test_a_scheduler_that_ends_in_the_middle_is_said(tmp_path: Path) -> None:
    """What was scored until then is in the store."""
    file = tmp_path / "scheduler.json"
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    module = [sys.executable, "-m"]
    started = [subprocess.Popen([*module, "distributed.cli.dask_scheduler", *words, "--port", "0"], **quiet)]
    try:
        while not file.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        started.append(
            subprocess.Popen([*module, "distributed.cli.dask_worker", *words, "--no-nanny", "--nthreads", "1"], **quiet)
        )

        def pausing(data: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
            time.sleep(0.005)
            return -float(len(parents))

        score = sp.CustomScore(pausing, name="pausing")  # defined here: sent with its body

        def kill(what: str, done: int, total: int) -> None:
            if done > 50 and started[0].poll() is None:
                started[0].kill()
                started[0].wait()

        address = json.loads(file.read_text())["address"]
        with pytest.raises(sp.LimitError, match="let go of its tasks"):
            sp.score_parent_sets(table(9), score, cluster=address, store=tmp_path / "s", progress=kill)
        kept = Store(tmp_path / "s")
        assert sum(len(kept.read(run)) for run in kept.runs()) > 50
    finally:
        for process in started:
            process.kill()
            process.wait()
