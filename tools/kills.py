"""kill -9 at random moments: nothing that was written is lost, nothing is scored twice, the answer is the same.

    python tools/kills.py --times 50                     # processes that write to a store
    python tools/kills.py --times 50 --cluster           # and clients, workers and schedulers in turn

In:  how often, a seed, the score.
Out: a line per kill; exit 1 and the difference if the sets or the network are not those of one undisturbed run."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from spinney.formats import jkl
from spinney.store import Store

RUN = """
import sys
import spinney as sp
path, store, score, address = sys.argv[1:]
print("begun", flush=True)
cluster = address or None
sets = sp.score_parent_sets(sp.Dataset.read(path), score, max_parents=3, n_jobs=1, store=store, cluster=cluster)
print("done", sets.scored, sets.known, flush=True)
"""


def table(path: Path, columns: int, rows: int) -> sp.Dataset:
    rng = np.random.default_rng(5)
    last, found = rng.integers(0, 3, rows), {}
    for i in range(columns):
        last = np.where(rng.random(rows) < 0.6, last, rng.integers(0, 3, rows))
        found[f"x{i}"] = [f"l{value}" for value in last]
    data = sp.Dataset.from_frame(found)
    data.write(path)
    return data


def written(store: Path) -> int:
    own = Store(store, make=True)
    return sum(len(own.read(run)) for run in own.runs())


def start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Cluster:
    """A scheduler and two workers, each a process that can be killed; started again when it was."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.scheduler: subprocess.Popen[str] | None = None
        self.workers: list[subprocess.Popen[str]] = []

    def up(self) -> str:
        import json

        if self.scheduler is None or self.scheduler.poll() is not None:
            self.down()
            self.file.unlink(missing_ok=True)
            words = ["-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
            self.scheduler = start([*words, "--scheduler-file", str(self.file)])
            while not self.file.exists():
                time.sleep(0.1)
            time.sleep(0.5)
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            words = ["-m", "distributed.cli.dask_worker", "--scheduler-file", str(self.file)]
            self.workers.append(start([*words, "--nthreads", "1", "--no-nanny", "--no-dashboard"]))
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def down(self) -> None:
        for process in (*self.workers, *([self.scheduler] if self.scheduler else [])):
            process.kill()
            process.wait()
        self.workers, self.scheduler = [], None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--score", default="pcart")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--cluster", action="store_true")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spinney-kills-"))
    cluster = Cluster(folder) if given.cluster else None
    try:
        return kills(given, folder, cluster)
    finally:
        if cluster is not None:
            cluster.down()
        shutil.rmtree(folder, ignore_errors=True)


def kills(given: Any, folder: Path, cluster: Cluster | None) -> int:
    rng = random.Random(given.seed)
    path = folder / "table.csv"
    data = table(path, given.columns, given.rows)
    began = time.perf_counter()
    plain = sp.score_parent_sets(data, given.score, max_parents=3, n_jobs=1)
    takes = time.perf_counter() - began
    network = sp.search(plain, "exact").parents
    bad = killed = round_ = 0
    while killed < given.times:
        store = folder / f"store{round_}"
        round_ += 1
        known = 0
        while True:  # until a run comes to its end
            address = cluster.up() if cluster is not None else ""
            process = start(["-c", RUN, str(path), str(store), given.score, address])
            assert process.stdout is not None
            process.stdout.readline()
            if killed < given.times:
                time.sleep(rng.uniform(0, 0.4) * takes + (1 if cluster is not None else 0))
                victims = ["client"] if cluster is None else ["client", "worker", "worker", "scheduler"]
                what = rng.choice(victims)
                victim = process
                if cluster is not None and what != "client":
                    victim = rng.choice(cluster.workers) if what == "worker" else cluster.scheduler or process
                victim.send_signal(signal.SIGKILL)
                killed += 1
            else:
                what = "nobody"
            out, err = process.communicate(timeout=600)
            now = written(store)
            lost = now < known
            bad += lost
            print(f"{killed:3d} killed {what:9s} {now:7,} of {plain.scored:,} written{' LOST' * lost}", flush=True)
            done = out.strip().splitlines()[-1].split() if out.strip() else []
            if done[:1] == ["done"]:
                scored, had = map(int, done[1:])
                if scored + had != plain.scored or had < known:
                    print(f"scored twice: {scored} made and {had} taken, of {plain.scored}; {known} had been written")
                    bad += 1
                break
            if process.returncode not in (-signal.SIGKILL, 0) and "Traceback" not in err:
                print(err[-300:])
            known = now
        sets = sp.score_parent_sets(data, given.score, max_parents=3, store=store)
        if jkl.text(sets) != jkl.text(plain) or sets.scored or sp.search(sets, "exact").parents != network:
            print("the sets or the network differ")
            bad += 1
        shutil.rmtree(store)
    print(f"{killed} kills, {round_} runs to the end, {os.cpu_count()} cores: {bad if bad else 'all as it should be'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
