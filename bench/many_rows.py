"""Many rows: pcart, ft and pcart with linear leaves per row and family, and `learn` from a file of a million rows.

In:  --rows, the sizes of the tables. For families they are drawn here (seed 1): a chain of ten columns, five of them
     categorical. For `learn` by simulate.mixed: 40 columns, 20 of them categorical.
Out: CPU nanoseconds per row and family of one, two and three parents, for a continuous and a categorical child; of the
     command `spinney learn FILE --search hc` the seconds, from the start of the process to its end, and the most memory
     that it held, both as the system tells them."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import HERE, Table, machine, peer, race, report

SCORES = ("pcart", "pcart(leaf=linear)", "ft")
MIXES = ("x", "k", "xx", "xk", "kk", "xxx", "xxk", "xkk")  # x: a continuous parent, k: one with four levels


def drawn(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    value = rng.normal(size=rows)
    for place in range(5):
        value = 0.6 * value + 0.8 * rng.normal(size=rows)
        levels = np.clip(np.floor(value + rng.normal(size=rows) + 2), 0, 3).astype(int)
        columns[f"x{place}"] = value
        columns[f"k{place}"] = pd.Categorical.from_codes(levels, list("abcd"))
    return pd.DataFrame(columns)


def families(child: str, mix: str) -> list[tuple[str, tuple[str, ...]]]:
    """Three families, and each again: what is prepared once counts little."""
    found = []
    for last in (1, 2, 3):
        places = {"x": iter([0, last, 3 - last if last < 3 else 1]), "k": iter([0, last, 3 - last if last < 3 else 1])}
        found.append((child, tuple(sorted({f"{kind}{next(places[kind])}" for kind in mix}))))
    return found * 4


def rows_table(sizes: list[int], repeats: int) -> Table:
    sp = peer("spinney")
    columns = {"rows": ",", "child": "", "parents": ""} | dict.fromkeys(SCORES, ",.2f")
    table = Table("CPU nanoseconds per row and family, one thread", columns)
    for size in sizes:
        data = sp.Dataset.from_frame(drawn(size))
        built = {score: peer("spinney.scores").build_source(data, score) for score in SCORES}
        for own in built.values():
            own.scores  # noqa: B018 (the cells of the columns, once per table)
        for child, word in (("x4", "continuous"), ("k4", "categorical")):
            for mix in MIXES:
                asked = families(child, mix)
                runs = {
                    score: lambda own=own, asked=asked: lambda: own.local_scores(asked) for score, own in built.items()
                }
                timed = race(runs, repeats)
                table.rows.append([size, word, mix, *(1e9 * timed[s].cpu / len(asked) / size for s in SCORES)])
    table.notes = ["x: a continuous parent (32 cells, or 2 to 7 bins); k: a categorical one of four levels."]
    return table


COLUMNS, LEARNED = 40, ("pcart", "cg")
COMMAND = [sys.executable, "-c", "import sys; from spinney.cli import main; sys.exit(main())"]


def simulated(rows: int) -> Any:
    """Half of the columns categorical: the first seed that draws them so."""
    mixed = peer("spinney").simulate.mixed
    for seed in range(1000):
        kinds = mixed(COLUMNS, 2, 1, seed=seed).complete.kinds.values()
        if sum(kind.discrete for kind in kinds) == COLUMNS // 2:
            return mixed(COLUMNS, 2, rows, seed=seed)
    raise AssertionError("no seed has as many categorical as continuous columns")


def learn_table(sizes: list[int]) -> Table:
    columns = {"rows": ",", "score": "", "edges": "", "wall, s": ".1f", "CPU, s": ".1f", "most memory, GB": ".2f"}
    table = Table(f"spinney learn on {COLUMNS} mixed columns, --search hc, two threads", columns)
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            file, net = Path(folder) / "drawn.parquet", Path(folder) / "net.json"
            drawn = simulated(size)
            drawn.write(file)
            for score in LEARNED:
                command = [*COMMAND, "learn", str(file), "--score", score, "--search", "hc", "-o", str(net)]
                began = time.perf_counter()
                process = subprocess.Popen(
                    [*command, "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                _, status, used = os.wait4(process.pid, 0)
                wall = time.perf_counter() - began
                if status:
                    raise SystemExit(f"learn with {score} on {size} rows ended with status {status}")
                edges = len(peer("spinney").Network.load(net).edges)
                memory = used.ru_maxrss * 1024 / 1e9
                table.rows.append([size, score, edges, wall, used.ru_utime + used.ru_stime, memory])
                print(*table.rows[-1], file=sys.stderr, flush=True)
    table.notes = [
        "A Parquet file drawn by simulate.mixed, average degree 2; up to three parents. Reading, scoring, search and "
        "fit are all counted. Wall seconds are those of the machine as it was (see its load above); CPU seconds are of "
        "both threads together."
    ]
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the fastest counts")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    parser.add_argument("--only", nargs="+", choices=("families", "learn"), default=["families", "learn"])
    args = parser.parse_args()
    facts = machine()
    tables = []
    if "families" in args.only:
        tables.append(rows_table(args.rows, args.repeats))
    if "learn" in args.only:
        tables.append(learn_table([rows for rows in args.rows if rows >= 10_000]))
    report("many-rows", facts, tables, args.results)
