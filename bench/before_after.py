"""Two versions of spinney beside each other: is anything slower than before?

In:  --before PYTHON, the interpreter of an environment with the older version; --data DIR with samples/ and jkl/.
Out: CPU seconds of both for one row per operation, the fastest of --repeats runs, the two taking turns; their ratio.
Each version runs in a process of its own that is started once and warmed up; only the public API is used."""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DEFAULT_ROWS = 5000


def jobs(data: Path) -> dict[str, Callable[[], Any]]:
    """Per operation a function without arguments; what it needs is made here, off the clock."""
    import itertools

    import numpy as np
    import pandas as pd

    import spinney as sp

    frame = pd.read_csv(data / "samples" / "alarm.csv.gz", dtype=str).iloc[:DEFAULT_ROWS]
    alarm = sp.Dataset.from_frame(frame)
    families = [
        (child, parents)
        for child in alarm.names
        for size in range(3)
        for parents in itertools.combinations([name for name in alarm.names if name != child], size)
    ]
    rng = np.random.default_rng(1)
    latent = rng.normal(size=(1000, 12))
    mixed = {}
    for i in range(12):
        values = latent[:, i] + 0.8 * latent[:, i - 1]
        mixed[f"x{i:02d}"] = values if i % 2 else np.digitize(values, [-0.7, 0.4, 1.2]).astype(str)
    table = sp.Dataset.from_frame(mixed)
    pairs = [(c, p) for c in table.names for p in itertools.combinations([n for n in table.names if n != c], 2)]
    some = pairs[::7]
    sets = sp.ParentSets.read(next(iter(sorted((data / "jkl").glob("**/*insurance*")))))
    small = sp.Dataset.from_frame(frame.iloc[:1000, :16])
    return {
        "families, bdeu, alarm": lambda: sp.local_scores(alarm, families, "bdeu"),
        "families, bic, alarm": lambda: sp.local_scores(alarm, families, "bic"),
        "family by family, bdeu": lambda: [sp.local_score(alarm, *family, "bdeu") for family in families[:3000]],
        "Step 1, bdeu, alarm, 2 parents": lambda: sp.score_parent_sets(alarm, "bdeu", max_parents=2, n_jobs=1),
        "Step 1, bic, alarm, 3 parents": lambda: sp.score_parent_sets(alarm, "bic", max_parents=3, n_jobs=1),
        "hc, bic, alarm": lambda: sp.find(alarm, "bic", search="hc", n_jobs=1),
        "tabu, bdeu, alarm": lambda: sp.find(alarm, "bdeu", search="tabu", n_jobs=1),
        "families, pcart, mixed": lambda: sp.local_scores(table, pairs, "pcart"),
        "family by family, pcart": lambda: [sp.local_score(table, *family, "pcart") for family in some],
        "families, ft, mixed": lambda: sp.local_scores(table, pairs, "ft"),
        "families, graph, mixed": lambda: sp.local_scores(table, pairs, "graph"),
        "Step 1, pcart, mixed, 2 parents": lambda: sp.score_parent_sets(table, "pcart", max_parents=2, n_jobs=1),
        "hc, pcart, mixed": lambda: sp.find(table, "pcart", search="hc", n_jobs=1),
        "learn, pcart, exact, discrete": lambda: sp.learn(small, "pcart", search="exact", max_parents=2, n_jobs=1),
        "learn, bdeu, dp": lambda: sp.learn(small, "bdeu", search="dp", n_jobs=1),
        "chow-liu, bic, alarm": lambda: sp.find(alarm, "bic", search="chow-liu", n_jobs=1),
        "order over listed sets": lambda: sp.search(sets, method="order", n_jobs=1),
        "ilp over listed sets": lambda: sp.search(sets, method="ilp", n_jobs=1),
        "hc over listed sets": lambda: sp.search(sets, method="hc", n_jobs=1),
    }


def work(data: Path) -> None:
    """Reads the names of jobs, answers with CPU seconds."""
    import gc

    known = jobs(data)
    print("\t".join(known), flush=True)
    gc.freeze()
    for line in sys.stdin:
        job = known[line.rstrip("\n")]
        gc.collect()
        gc.disable()
        began = time.process_time()
        job()
        seconds = time.process_time() - began
        gc.enable()
        print(seconds, flush=True)


class Version:
    def __init__(self, python: str, data: Path) -> None:
        self.process = subprocess.Popen(
            [python, __file__, "--data", str(data), "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names = self._line().split("\t")

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def seconds(self, job: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(job + "\n")
        self.process.stdin.flush()
        return float(self._line())


def main() -> None:
    parser = argparse.ArgumentParser(description="Two versions of spinney beside each other.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--before", help="the interpreter of the older version's environment")
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if options.worker:
        return work(options.data)
    from common import Table, machine, report

    facts = machine()
    before, after = Version(options.before, options.data), Version(sys.executable, options.data)
    table = Table("Before and after", {"operation": "", "before, s": ".4f", "after, s": ".4f", "after / before": ".2f"})
    for job in after.names:
        times = [(before.seconds(job), after.seconds(job)) for _ in range(options.repeats + 1)][
            1:
        ]  # the first warms up
        least = [min(pair[i] for pair in times) for i in (0, 1)]
        table.rows.append([job, *least, least[1] / least[0]])
        print(*table.rows[-1], flush=True)
    mean = sum(row[3] for row in table.rows) / len(table.rows)
    table.notes = [
        f"Mean ratio {mean:.3f}; slowest row {max(row[3] for row in table.rows):.2f}. One thread, CPU seconds."
    ]
    report("before_after", facts, [table], options.results)


if __name__ == "__main__":
    main()
