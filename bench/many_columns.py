"""Searches over very many columns of 1,000 rows: seconds, peak memory, and how near the truth.

In:  nothing; mixed tables are the simulator's, Gaussian ones are drawn here: as many edges as columns between random
     pairs, weights 0.3 to 1.5 of either sign, noise of variance 1.
Out: one row per case: wall and CPU seconds of the search on two threads, GiB at the most (of a process of its own, the
     table included), edges, F1 of the skeleton, SHD of the classes. Rows are kept in results/many-columns-rows.json.
All scores have the prior binomial(1): under the plain penalty of BIC, chance alone joins 20,000 pairs of 2,000
columns."""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import HERE, Table, machine, peer, report

ROWS = 1000
Case = tuple[str, int, str, str, str | None]
CASES: tuple[Case, ...] = (  # kind, columns, score, search, candidates
    ("mixed", 1000, "cg", "ges", None),
    ("mixed", 1000, "cg", "boss", None),
    ("mixed", 1000, "dg", "ges", None),
    ("mixed", 1000, "pcart", "hc", None),
    ("gaussian", 2000, "dg", "ges", None),
    ("gaussian", 2000, "dg", "boss", None),
    ("mixed", 5000, "dg", "ges", None),
    ("mixed", 5000, "cg", "ges", None),
    ("gaussian", 10000, "cg", "exact", "screen(k=8)"),
    ("gaussian", 20000, "dg", "ges", None),
    ("gaussian", 20000, "bge", "ges", None),
)


def gaussian(columns: int) -> tuple[Any, Any]:
    sp, rng = peer("spinney"), np.random.default_rng(columns)
    names = [f"v{i:05}" for i in range(columns)]
    parents: dict[int, list[int]] = {v: [] for v in range(columns)}
    drawn: set[tuple[int, int]] = set()
    while len(drawn) < columns:
        a, b = sorted(map(int, rng.choice(columns, 2, replace=False)))
        if (a, b) not in drawn:
            drawn.add((a, b))
            parents[b].append(a)
    values = rng.normal(size=(columns, ROWS))
    for child, own in parents.items():
        for parent in own:
            values[child] += rng.uniform(0.3, 1.5) * rng.choice([-1, 1]) * values[parent]
    place = rng.permutation(columns)  # so that the order of the columns tells nothing
    frame = pd.DataFrame({names[place[v]]: values[v] for v in np.argsort(place)})
    truth = sp.DAG(names, {names[place[v]]: [names[place[p]] for p in own] for v, own in parents.items()})
    return sp.Dataset.from_frame(frame, kinds=dict.fromkeys(names, "continuous")), truth


def run(case: Case, limit: float) -> dict[str, Any]:
    sp, (kind, columns, score, search, candidates) = peer("spinney"), case
    if kind == "mixed":
        simulated = sp.simulate.mixed(columns, 2, ROWS, seed=1)
        data, truth = simulated.data, simulated.truth
    else:
        data, truth = gaussian(columns)
    most = {"candidates": candidates} if candidates else {}
    began, ticked = time.perf_counter(), time.process_time()
    found = sp.find(
        data, score, prior="binomial(1)", search=search, max_parents=3 if candidates or search == "hc" else None,
        n_jobs=2, time_limit=limit, **most,
    )  # fmt: skip
    wall, cpu = time.perf_counter() - began, time.process_time() - ticked
    compared = sp.compare(truth, found)
    return {
        "wall": wall, "cpu": cpu, "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "edges": compared.tp + compared.wd + compared.fp, "f1": compared.f1, "shd": compared.shd,
        "stopped": found.stopped,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of each search")
    parser.add_argument("--case", type=int, help="this one only, printed as JSON")
    parser.add_argument("--most", type=int, default=20000, help="columns of the largest case")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    if given.case is not None:
        print(json.dumps(run(CASES[given.case], given.limit)))
        return
    facts, kept = machine(), given.results / "many-columns-rows.json"
    rows: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    for number, (kind, columns, score, search, candidates) in enumerate(CASES):
        name = "|".join(map(str, (kind, columns, score, search, candidates or "-")))
        if name in rows or columns > given.most:
            continue
        command = [sys.executable, __file__, "--case", str(number), "--limit", str(given.limit)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows[name] = json.loads(ended.stdout)
        print(name, rows[name], flush=True)
        kept.write_text(json.dumps(rows, indent=0) + "\n")
    table = Table(
        f"{ROWS:,} rows, prior binomial(1), two threads",
        {
            **dict.fromkeys(("table", "columns", "score", "search", "candidates"), ""),
            "wall s": ".1f", "CPU s": ".1f", "GiB": ".2f", "edges": ",", "F1": ".3f", "SHD": ",", "stopped": "",
        },
    )  # fmt: skip
    for name, row in rows.items():
        table.rows.append([
            *name.split("|"), row["wall"], row["cpu"], row["gib"], row["edges"], row["f1"], row["shd"],
            row["stopped"] or None,
        ])  # fmt: skip
    report("many_columns", facts, [table], given.results)


if __name__ == "__main__":
    main()
