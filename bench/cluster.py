"""Step 1 on a LocalCluster of two workers with one thread each, beside two processes that share the job out by hand.

In:  --columns, --parents: a job of about two minutes for one thread; --rounds.
Out: per round the wall seconds of the cluster, and of two processes at the same time of which each scores every second
     child; their ratio is the speed-up of the cluster as a share of that of the processes, whatever else the machine
     does. Starting Python, the workers, and reading the table are on nobody's clock. results/DATE-cluster.md.

Where the machine is shared, run it when both cores are free."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import spinney as sp
from common import HERE, Table, machine, report
from kills import table
from spinney.formats import jkl

HALF = """
import sys, time
import spinney as sp
path, score, parents, half = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
data = sp.Dataset.read(path)
candidates = {name: [] for place, name in enumerate(data.order) if place % 2 != half}
print("ready", flush=True)
sys.stdin.readline()
began, ticked = time.perf_counter(), time.process_time()
sets = sp.score_parent_sets(data, score, max_parents=parents, candidates=candidates, n_jobs=1)
print(time.perf_counter() - began, time.process_time() - ticked, sets.scored, flush=True)
"""


def halves(path: Path, score: str, parents: int) -> list[tuple[float, float]]:
    """Two processes at the same time: wall and CPU seconds of each."""
    words = [sys.executable, "-c", HALF, str(path), score, str(parents)]
    own = [
        subprocess.Popen([*words, str(half)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for half in range(2)
    ]
    for process in own:
        assert process.stdout is not None
        process.stdout.readline()
    for process in own:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[0].split() for process in own]
    return [(float(wall), float(cpu)) for wall, cpu, _ in said]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--parents", type=int, default=4)
    parser.add_argument("--score", default="pcart")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    from distributed import Client, LocalCluster

    facts = machine()
    shown = Table(
        f"Step 1 of {given.score}, {given.columns} columns, {given.rows:,} rows, {given.parents} parents",
        {
            "round": "", "two processes, wall s": ".1f", "their CPU s": ".1f", "cluster, wall s": ".1f",
            "share of the speed-up": ".2f", "load": ".1f",
        },
    )  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        path = Path(folder) / "table.csv"
        table(path, given.columns, given.rows)
        data, texts = sp.Dataset.read(path), set()
        client.run(lambda: __import__("spinney"))
        for number in range(given.rounds):
            timed = halves(path, given.score, given.parents)
            began = time.perf_counter()
            sets = sp.score_parent_sets(data, given.score, max_parents=given.parents, cluster=client, n_jobs=1)
            wall = time.perf_counter() - began
            texts.add(jkl.text(sets))
            mean = statistics.fmean(own for own, _ in timed)
            cpu = sum(own for _, own in timed)
            shown.rows.append([number + 1, mean, cpu, wall, mean / wall, os.getloadavg()[0]])
            print(shown.rows[-1], flush=True)
        assert len(texts) == 1
    median = float(np.median([row[4] for row in shown.rows]))
    shown.notes = [
        f"Median {median:.2f}. Wall seconds of the two processes: their mean, so that one with more work is no excuse. "
        f"{sets.families:,} parent sets."
    ]
    report("cluster", facts, [shown], given.results)


if __name__ == "__main__":
    main()
