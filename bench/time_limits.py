"""Is the time limit a wall limit? Random jobs, scores x searches x sizes up to a million rows, limits of 1 to 30 s.

In:  nothing; the tables are made here, each column from one or two before it.
Out: per job when it ended after its limit, loading not counted. Fails if a job ends more than a second late or gives no
network."""

import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Table, arguments, machine, report

JOBS, SEED = 60, 12
MOST_LATE = 1.0  # seconds
LIMITS = (1, 1, 2, 2, 3, 3, 5, 5, 8, 10, 15, 30)
SIZES = tuple((rows, columns) for rows in (1_000, 20_000, 200_000, 1_000_000) for columns in (8, 20, 40))
FAMILIES = ("auto", "best", "pcart", "pcart(leaf=linear)", "ft", "graph", "cg", "mvp", "lr", "dg", "bf", "mars")
SCORES = {
    "discrete": ("auto", "bdeu", "bic", "qnml", "pcart", "graph", "lr"),
    "mixed": FAMILIES,
    "continuous": (*FAMILIES, "bge"),
}
SEARCHES = ("auto", "tabu", "hc", "exact", "ilp", "order", "boss", "ges", "chow-liu", "tan(target=x00)")

COMMAND = "import sys; from spinney_start import main; sys.exit(main())"
LIBRARY = """
import json, sys, time
import spinney as sp
file, score, search, limit = sys.argv[1:]
began = time.perf_counter()
data = sp.Dataset.read(file)
read = time.perf_counter()
result = sp.learn(data, score, search=search, time_limit=float(limit))
ended = time.perf_counter()
json.dump({"loading": read - began, "learning": ended - read, "parents": result.network.parents,
           "stopped": result.found.stopped, "plan": result.plan.as_dict()}, sys.stdout)
"""


@dataclass(frozen=True)
class Job:
    kind: str
    rows: int
    columns: int
    score: str
    search: str
    limit: int
    by: str  # command, library


def jobs() -> list[Job]:
    rng = random.Random(SEED)
    made: list[Job] = []
    while len(made) < JOBS:
        kind = rng.choice(sorted(SCORES))
        score = rng.choice(SCORES[kind])
        search = rng.choice((*SEARCHES, "local-global") if score == "graph" else SEARCHES)
        made.append(
            Job(kind, *rng.choice(SIZES), score, search, rng.choice(LIMITS), rng.choice(("command", "library")))
        )
    return made


def table(kind: str, rows: int, columns: int) -> pd.DataFrame:
    rng = np.random.default_rng([SEED, rows, columns])
    values = [rng.normal(size=rows)]
    for i in range(1, columns):
        before = values[rng.integers(i)] + 0.5 * values[rng.integers(i)] ** 2
        values.append((before - before.mean()) / before.std() + rng.normal(size=rows))
    frame = {}
    for i, column in enumerate(values):
        if kind == "continuous" or (kind == "mixed" and i % 2):
            frame[f"x{i:02}"] = column
        else:
            cuts = np.quantile(column, np.linspace(0, 1, 3 + i % 4)[1:-1])
            frame[f"x{i:02}"] = pd.Categorical.from_codes(
                np.searchsorted(cuts, column), [f"v{k}" for k in range(len(cuts) + 1)]
            )
    return pd.DataFrame(frame)


def file_of(job: Job, folder: Path) -> Path:
    path = folder / f"{job.kind}-{job.rows}-{job.columns}.parquet"
    if not path.exists():
        table(job.kind, job.rows, job.columns).to_parquet(path)
    return path


def seconds(code: str, *words: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, timeout=600
    )
    return time.perf_counter() - began, done


def run(job: Job, path: Path) -> list[Any]:
    """Seconds of loading and of learning, and what came of it. Loading of a command: all of its time but what it says
    that scoring, search and fit took: starting Python, reading, printing."""
    words = [job.score, job.search, str(job.limit)]
    if job.by == "library":
        _, done = seconds(LIBRARY, str(path), *words)
        answer = json.loads(done.stdout) if done.returncode == 0 else {}
        loading, learning = answer.get("loading"), answer.get("learning")
    else:
        flags = ["--score", job.score, "--search", job.search, "--time-limit", str(job.limit), "--json", "--timing"]
        total, done = seconds(COMMAND, "learn", str(path), *flags)
        answer = json.loads(done.stdout) if done.returncode == 0 else {}
        learning = sum(answer["seconds"].values()) if answer else None
        loading = None if learning is None else total - learning
    edges = sum(map(len, answer["parents"].values())) if answer else None  # of a class: those of its member
    chosen = answer["plan"]["search"].split("(")[0] if answer else "-"
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
    return [loading, learning, edges, chosen, answer.get("stopped") or "-"]


def main() -> None:
    options = arguments("Random jobs with time limits.", ["all"], needs_data=False)
    facts = machine()
    shown = Table(
        f"{JOBS} jobs, seed {SEED}: seconds of wall clock",
        {
            "job": "", "by": "", "table": "", "rows": ",", "columns": "", "score": "", "search": "", "limit": "",
            "loading": ".1f", "learning": ".2f", "late": ".2f", "edges": "", "ran": "", "stopped": "",
        },
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for number, job in enumerate(jobs(), 1):
            loading, learning, edges, chosen, stopped = run(job, file_of(job, Path(folder)))
            late = None if learning is None else max(0.0, learning - job.limit)
            shown.rows.append([
                number, job.by, job.kind, job.rows, job.columns, job.score, job.search, job.limit, loading, learning,
                late, edges, chosen, stopped,
            ])  # fmt: skip
            print(shown.rows[-1], flush=True)
    lates = [row[10] for row in shown.rows]
    without = sum(late is None for late in lates)
    most = max(late for late in lates if late is not None)
    shown.notes = [
        f"Latest: {most:.2f} s after its limit; {without} jobs without a network. Loading is reading the table, and "
        "for commands starting Python and printing too; it is not counted."
    ]
    report("time_limits", facts, [shown], options.results)
    if without or most > MOST_LATE:
        raise SystemExit("a job ended late or gave no network")


if __name__ == "__main__":
    main()
