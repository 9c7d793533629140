"""What a store of family scores costs: CPU seconds of Step 1 with and without it, and a large store written and read.

    python bench/store.py [--only 3]

In:  random tables.
Out: CPU seconds of one thread, the share that the store adds, seconds and bytes per family; results/DATE-store.md.
     The last case has ten million families. Rows are kept in results/store-rows.json."""

import argparse
import functools
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from common import HERE, Table, machine, report
from spinney.store import Store


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


CASES = (("bdeu", 34, 4), ("bic", 34, 4), ("pcart", 30, 3), ("bdeu", 49, 4))  # score, columns, parents


def row_of(score: str, columns: int, parents: int, rows: int, runs: int) -> list[Any]:
    """One case: Step 1 without a store, with a new one, and with one that has all scores."""
    data = table(columns, rows)
    # No bounds: every family is scored, which is the quickest that scores can come.
    words: dict[str, Any] = {"max_parents": parents, "n_jobs": 1, "bounds": False}
    step_1 = functools.partial(sp.score_parent_sets, data, score, **words)
    folders = [Path(tempfile.mkdtemp(prefix="spinney-store-")) for _ in range(runs)]
    try:
        made = [functools.partial(step_1, store=folder) for folder in folders]
        without = kept = float("inf")
        for with_store in made:  # in turn, so that a busy moment of the machine hits both
            own, plain = cpu([step_1])
            without = min(without, own)
            own, sets = cpu([with_store])
            kept = min(kept, own)
            assert sets == plain
        again, sets = cpu(made[:1] * runs)
        assert sets == plain and sets.scored == 0
        size = sum(path.stat().st_size for path in folders[0].iterdir())
        merging, _ = cpu([Store(folders[0]).merge])
        merged = sum(path.stat().st_size for path in folders[0].iterdir())
    finally:
        for folder in folders:
            shutil.rmtree(folder)
    count = plain.scored or 1
    return [score, columns, count, without, kept, kept / without - 1, again, size / count, merging, merged / count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--only", type=int, nargs="+", default=range(len(CASES)), help="numbers of cases, from 0")
    parser.add_argument("--runs", type=int, default=5, help="of which the fastest counts; the largest case has two")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    facts, file = machine(), given.results / "store-rows.json"
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    for number in given.only:
        case = CASES[number]
        kept[str(number)] = row_of(*case, given.rows, given.runs if case[1] < 40 else 2)
        print(kept[str(number)], flush=True)
        file.write_text(json.dumps(kept, indent=0) + "\n")
    shown = Table(
        "A store beside Step 1, CPU seconds of one thread",
        {
            "score": "", "columns": "", "families": ",d", "without": ".2f", "with": ".2f", "adds": ".1%",
            "taken from the store": ".2f", "bytes per family": ".1f", "merged in": ".2f",
            "merged, bytes per family": ".1f",
        },
        [kept[number] for number in sorted(kept)],
        ["Taken from the store: Step 1 again, with all scores known."],
    )  # fmt: skip
    report("store", facts, [shown], given.results)


if __name__ == "__main__":
    main()
