"""What `plan` foresees beside what the job then takes: memory and CPU seconds, each measured from outside.

In:  nothing; the tables are drawn here. --only names cases, --most SECONDS ends early.
Out: per case the forecast (in a process of its own) and the job (in another): seconds of CPU of the whole process less
     those before `learn` was called, and its peak resident memory, as the system counts them; one thread. Rows are
     kept in results/plan-rows.json. A job whose memory is limited to 1 GiB is run for the larger ones, too: what it
     took at its peak, or that it was refused."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from common import HERE, Table, machine, peer, report


@dataclass(frozen=True)
class Case:
    kind: str  # of the table: discrete, mixed
    columns: int
    rows: int
    words: dict[str, Any]  # of learn

    @property
    def name(self) -> str:
        others = ", ".join(f"{word}={value}" for word, value in self.words.items() if word != "score")
        return f"{self.kind}|{self.columns}|{self.rows}|{self.words['score']}|{others}"


def case(kind: str, columns: int, rows: int, score: str, search: str, **words: Any) -> Case:
    return Case(kind, columns, rows, {"score": score, "search": search, **words})


CASES = (
    case("discrete", 10, 10_000_000, "bdeu", "dp", max_parents=3),
    case("discrete", 20, 1_000_000, "bic", "hc", max_parents=3),
    case("discrete", 100, 10_000, "bdeu", "boss", max_parents=4),
    case("discrete", 24, 10_000, "bdeu", "dp", max_parents=4),
    case("discrete", 1041, 1_000, "bic", "hc", max_parents=3),
    case("mixed", 10, 100_000, "pcart", "dp", max_parents=3),
    case("mixed", 15, 1_000, "pcart", "dp", max_parents=3),
    case("mixed", 100, 1_000, "pcart", "hc", max_parents=3),
    case("mixed", 20, 100_000, "cg", "dp", max_parents=3),
    case("mixed", 500, 1_000, "cg", "tabu", max_parents=3),
    case("mixed", 12, 2_000, "mars", "dp", max_parents=3),
    case("mixed", 1041, 1_000, "mars", "hc", max_parents=2, candidates="screen(k=5)"),
)
LIMITED = (0, 1, 3, 8)  # of CASES, with a limit of 1 GiB

WORKER = """
import json, sys, time
import spinney as sp

path, step, words, began = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), time.process_time
data = sp.Dataset.read(path)
if step == "plan":
    found = sp.plan(data, **words, n_jobs=1)
    print(json.dumps({"seconds": found.total, "parts": found.seconds, "memory": found.memory, "probe": found.probe}))
else:
    print(json.dumps({"before": began()}), flush=True)
    try:
        result = sp.learn(data, **words, n_jobs=1)
        print(json.dumps({"search": str(result.found.method), "notes": [n for n in result.notes if n[:5] == "took "]}))
    except sp.LimitError as error:
        print(json.dumps({"refused": str(error)}))
lines = open("/proc/self/status").read().splitlines()
print(json.dumps({"most": next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))}))
"""


def discrete(columns: int, rows: int, path: Path) -> None:
    """Levels that depend on one or two columns before, in batches."""
    schema, writer = None, None
    for number, begin in enumerate(range(0, rows, 100_000)):
        size = min(100_000, rows - begin)
        drawn, arrays = np.random.default_rng([1, number]), {}
        made: list[Any] = []
        for column in range(columns):
            levels = 2 + column % 3
            own = drawn.integers(levels, size=size, dtype=np.int8)
            if column:
                copied = made[column - 1].astype(np.int64)
                if column > 3:
                    copied = copied + made[column - 4]
                own = np.where(drawn.random(size) < 0.5, copied % levels, own).astype(np.int8)
            made.append(own)
            arrays[f"c{column:04}"] = pa.array([f"level {level}" for level in range(levels)]).take(pa.array(own))
        table = pa.table(arrays)
        writer = writer or pyarrow.parquet.ParquetWriter(path, schema or table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def write(own: Case, path: Path) -> None:
    if own.kind == "discrete":
        discrete(own.columns, own.rows, path)
    else:
        peer("spinney").simulate.mixed(own.columns, 2, own.rows, seed=1).data.write(path)


def measured(path: Path, step: str, words: dict[str, Any]) -> dict[str, Any]:
    """What the process says, its CPU seconds, and its peak as the kernel has it (VmHWM: the peak that wait4 tells is at
    least that of the process that started it)."""
    command = [sys.executable, "-c", WORKER, str(path), step, json.dumps(words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{step} of {path.name} ended with {status}")
    found: dict[str, Any] = {}
    for line in said.splitlines():
        found |= json.loads(line)
    return found | {"cpu": usage.ru_utime + usage.ru_stime}


def compared(own: Case, limited: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write(own, path)
        plan, job = measured(path, "plan", own.words), measured(path, "learn", own.words)
        row = {
            "foreseen": plan["seconds"], "took": job["cpu"] - job["before"], "parts": plan["parts"],
            "probe": plan["probe"], "memory": plan["memory"], "most": job["most"],
        }  # fmt: skip
        if limited:
            less = measured(path, "learn", {**own.words, "memory_limit": 1})
            row["limited"] = "refused" if "refused" in less else less["most"]
            row["changed"] = less.get("refused") or "; ".join(less["notes"])
    return row


def shown(rows: dict[str, Any], facts: dict[str, Any], folder: Path) -> None:
    table = Table(
        "Foreseen and measured, one thread",
        {
            **dict.fromkeys(("table", "columns", "rows", "score", "other words"), ""), "CPU s foreseen": ".2f",
            "CPU s": ".2f", "ratio": ".2f", "GB foreseen": ".2f", "GB": ".2f", "memory ratio": ".2f",
            "within": "", "probe, s": ".1f", "peak with memory_limit=1, GB": "",
        },
    )  # fmt: skip
    within = 0
    for name, row in rows.items():
        ratio, memory = row["foreseen"] / row["took"], row["memory"] / row["most"]
        good = 0.5 <= ratio <= 2 and 1 / 1.5 <= memory <= 1.5
        within += good
        limited = row.get("limited")
        table.rows.append([
            *name.split("|"), row["foreseen"], row["took"], ratio, row["memory"] / 1e9, row["most"] / 1e9, memory,
            "yes" if good else "no", row["probe"], limited if limited in (None, "refused") else f"{limited / 1e9:.2f}",
        ])  # fmt: skip
    table.notes = [
        f"Time within 2 and memory within 1.5 in {within} of {len(rows)} cases. CPU s: those of the whole process "
        "less those before learn was called. GB: the most that the process had in memory, reading included.",
        *(
            f"{name}, limited to 1 GiB: {row['changed'] or 'as asked'}."
            for name, row in rows.items()
            if "changed" in row
        ),
    ]
    report("plan", facts, [table], folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", type=int, nargs="+", default=range(len(CASES)), help="numbers of cases, from 0")
    parser.add_argument("--most", type=float, default=float("inf"), help="seconds after which no case is begun")
    parser.add_argument("--again", action="store_true", help="also what has a row")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    facts, kept, began = machine(), given.results / "plan-rows.json", time.perf_counter()
    rows: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    for number in given.only:
        own = CASES[number]
        if (own.name in rows and not given.again) or time.perf_counter() - began > given.most:
            continue
        rows[own.name] = compared(own, number in LIMITED)
        print(own.name, rows[own.name], flush=True)
        kept.write_text(json.dumps(rows, indent=0) + "\n")
    rows = {own.name: rows[own.name] for own in CASES if own.name in rows}
    shown(rows, facts, given.results)


if __name__ == "__main__":
    main()
