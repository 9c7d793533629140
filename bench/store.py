"""What a store of family scores costs: CPU seconds of Step 1 with and without it, and a large store written and read.

    python bench/store.py [--columns 30] [--parents 4]

In:  random tables.
Out: CPU seconds of one thread, the share that the store adds, seconds and bytes per family; results/DATE-store.md."""

import argparse
import functools
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from common import HERE, Table, machine, report


def table(columns: int, rows: int) -> sp.Dataset:
    rng = np.random.default_rng(1)
    last, found = rng.integers(0, 3, rows), {}
    for i in range(columns):
        last = np.where(rng.random(rows) < 0.6, last, rng.integers(0, 3, rows))
        found[f"x{i}"] = [f"l{value}" for value in last]
    return sp.Dataset.from_frame(found)


def cpu(works: Sequence[Callable[[], Any]]) -> tuple[float, Any]:
    best, answer = float("inf"), None
    for work in works:
        began = time.process_time()
        answer = work()
        best = min(best, time.process_time() - began)
    return best, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=26)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--parents", type=int, default=4)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    shown = Table(
        "A store beside Step 1, one thread",
        {
            "score": "",
            "families": ",d",
            "without": ".2f",
            "with": ".2f",
            "adds": ".1%",
            "read": ".2f",
            "bytes per family": ".1f",
        },
    )
    # No bounds: every family is scored, which is the quickest that scores can come.
    cases = [("bdeu", given.columns, given.parents), ("bic", given.columns, given.parents), ("pcart", 10, 3)]
    for score, columns, parents in cases:
        data = table(columns, given.rows)
        words: dict[str, Any] = {"max_parents": parents, "n_jobs": 1, "bounds": False}
        step_1 = functools.partial(sp.score_parent_sets, data, score, **words)
        without, plain = cpu([step_1] * given.runs)
        folders = [Path(tempfile.mkdtemp(prefix="spinney-store-")) for _ in range(given.runs)]
        made = [functools.partial(step_1, store=folder) for folder in folders]
        kept, sets = cpu(made)
        assert sets == plain
        again, sets = cpu(made[:1] * given.runs)
        assert sets == plain and sets.scored == 0
        size = sum(path.stat().st_size for path in folders[0].iterdir())
        row = [score, plain.scored, without, kept, kept / without - 1, again, size / (plain.scored or 1)]
        shown.rows.append(row)
        print(row, flush=True)
        for folder in folders:
            shutil.rmtree(folder)
    report("store", machine(), [shown], HERE / "results")


if __name__ == "__main__":
    main()
