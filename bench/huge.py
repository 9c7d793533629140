"""Very many rows: a Parquet file that is made in batches, read, searched by hc under BIC, and listed by Step 1.

In:  --rows, numbers of rows; --steps and --folder, to do a long job in parts. Rows are kept in results/huge-rows.json.
Out: for each number of rows the CPU seconds and the most memory, each step in a process of its own: reading; reading
     and `find` by hc under BIC; reading and Step 1 with two parents; seconds of the steps apart from the reading.

The table has 20 discrete columns of two to five levels, ten of them text and ten whole numbers. Each depends on one or
two columns before it. Row r of a batch is drawn from the seed and the number of the batch, so a longer table begins as
a shorter one does."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from common import HERE, Table, machine, report

COLUMNS, BATCH, SEED = 20, 100_000, 1
STEPS = ("read", "hc", "step1")

WORKER = """
import json, resource, sys
import spinney as sp

def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime

def most():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

path, step = sys.argv[1:]
began = used()
data = sp.Dataset.read(path)
found = {"read": used() - began, "seconds": 0.0}
began = used()
if step == "hc":
    found["edges"] = len(sp.find(data, score="bic", search="hc", n_jobs=1).graph.edges)
elif step == "step1":
    sets = sp.score_parent_sets(data, score="bic", max_parents=2, n_jobs=1)
    found["sets"] = len(sets)
elif step == "together":
    print(json.dumps({**found, "most": most()}))
    began = used()
    edges = len(sp.find(data, score="bic", search="hc", n_jobs=1).graph.edges)
    print(json.dumps({**found, "seconds": used() - began, "edges": edges, "most": most()}), flush=True)
    began = used()
    found["sets"] = len(sp.score_parent_sets(data, score="bic", max_parents=2, n_jobs=1))
found["seconds"] = used() - began
found["most"] = most()
print(json.dumps(found))
"""


def levels_of(column: int) -> int:
    return 2 + column % 4


def batch(number: int, rows: int) -> pa.Table:
    """Rows of the table: a level depends on that of one column before, or of two."""
    drawn = np.random.default_rng([SEED, number])
    made: list[np.ndarray] = []
    for column in range(COLUMNS):
        levels = levels_of(column)
        base = drawn.integers(levels, size=BATCH, dtype=np.int8)
        if column:
            copied = made[column - 1] % levels
            if column > 3:
                copied = (copied + made[column - 4]) % levels
            base = np.where(drawn.random(BATCH, dtype=np.float32) < 0.5, copied, base).astype(np.int8)
        made.append(base)
    arrays: dict[str, pa.Array] = {}
    for column, codes in enumerate(made):
        codes = codes[:rows]
        if column % 2:
            arrays[f"n{column:02}"] = pa.array(codes.astype(np.int64))
        else:
            texts = pa.array([f"level {place}" for place in range(levels_of(column))])
            arrays[f"t{column:02}"] = texts.take(pa.array(codes))
    return pa.table(arrays)


def write(path: Path, rows: int) -> None:
    """The table, batch by batch; by the suffix as Parquet or CSV."""
    schema = batch(0, 1).schema
    if path.suffix == ".parquet":
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for begin in range(0, rows, 10 * BATCH):
                ends = range(begin, min(rows, begin + 10 * BATCH), BATCH)
                writer.write_table(pa.concat_tables(batch(at // BATCH, min(BATCH, rows - at)) for at in ends))
    else:
        with pyarrow.csv.CSVWriter(path, schema) as writer:
            for at in range(0, rows, BATCH):
                writer.write_table(batch(at // BATCH, min(BATCH, rows - at)))


def measured(path: Path, step: str) -> dict[str, Any]:
    """One step in a process of its own; "together": all of them in one, where reading takes long."""
    done = subprocess.run([sys.executable, "-c", WORKER, str(path), step], stdout=subprocess.PIPE, check=True)
    found = list(map(json.loads, done.stdout.decode().splitlines()))
    return dict(zip(STEPS, found, strict=True)) if step == "together" else {step: found[-1]}


COLUMNS_SHOWN = {
    "rows": ",", "file, MB": ",.0f", "read, CPU s": ".2f", "peak, GB": ".2f", "hc, CPU s": ".2f", "edges": "",
    "hc peak, GB": ".2f", "Step 1, CPU s": ".2f", "sets kept": ",", "Step 1 peak, GB": ".2f",
    "most bytes per row": ",.0f",
}  # fmt: skip


def shown(kept: dict[str, Any], suffix: str) -> Table:
    table = Table(f"{COLUMNS} discrete columns, {suffix}, BIC, one thread", COLUMNS_SHOWN)
    names = [name for name, own in kept.items() if name.startswith(suffix) and set(STEPS) <= set(own)]
    for name in sorted(names, key=lambda name: int(name.split("|")[1])):
        own, rows = kept[name], int(name.split("|")[1])
        most = max(own[step]["most"] for step in STEPS)
        read, hc, sets = (own[step] for step in STEPS)
        table.rows.append(
            [
                *(rows, own["bytes"] / 1e6, min(own[step]["read"] for step in STEPS), read["most"] / 1e9),
                *(hc["seconds"], hc["edges"], hc["most"] / 1e9),
                *(sets["seconds"], sets["sets"], sets["most"] / 1e9, most / rows),
            ]
        )
    table.notes = [
        "Peaks are those of the whole process, reading included, with 0.1 GB of libraries; seconds of hc and of Step 1 "
        "(two parents) are without the reading. Each step has a process of its own, but for 100 million rows, which "
        "are read once for all three."
    ]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**power for power in range(5, 9)])
    parser.add_argument("--suffix", choices=["parquet", "csv"], default="parquet")
    parser.add_argument(
        "--steps", nargs="*", default=[*STEPS], choices=[*STEPS, "together"], help="what is measured; none: write"
    )
    parser.add_argument("--folder", type=Path, help="where tables are, or stay, for further steps; else nowhere")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    facts, file = machine(), given.results / "huge-rows.json"
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    with tempfile.TemporaryDirectory() as made:
        for rows in given.rows:
            path = (given.folder or Path(made)) / f"rows{rows}.{given.suffix}"
            if not path.exists():
                write(path, rows)
            row = kept.setdefault(f"{given.suffix}|{rows}", {})
            row["bytes"] = path.stat().st_size
            for step in given.steps:
                row |= measured(path, step)
                print(given.suffix, rows, step, row, flush=True)
            file.write_text(json.dumps(kept, indent=0) + "\n")
            if given.folder is None:
                path.unlink()
    report("huge", facts, [shown(kept, suffix) for suffix in ("parquet", "csv")], given.results)


if __name__ == "__main__":
    main()
