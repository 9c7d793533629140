"""Every table gets in: `spinney learn FILE` without any option.

In:  --data DIR with datasets/*.csv.gz; messy files are made by tests/messy_tables.py.
Out: per file the exit code, seconds on the wall from the start of the process, what score and search were chosen, the
size of what was learned from, and how many doubts were said; then the sentences of those that were refused."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import HERE, Table, arguments, machine, report

sys.path.insert(0, str(HERE.parent / "tests"))
import messy_tables

LIMIT = 600  # seconds, after which a run counts as hanging
COMMAND = [sys.executable, "-c", "import sys; from spinney.cli import main; sys.exit(main())"]
COLUMNS = {"file": "", "exit": "d", "seconds": ".1f", "rows": ",", "columns": ",", "edges": ",", "score": "",
           "search": "", "proven": "", "notes": ","}  # fmt: skip


def learned(file: Path) -> tuple[list[Any], str]:
    """The row of one file, and the sentence if it was refused."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [*COMMAND, "learn", str(file), "--json"], capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return [file.name, -1, float(LIMIT), *[None] * 7], "did not end"
    seconds = time.perf_counter() - began
    if done.returncode:
        return [file.name, done.returncode, seconds, *[None] * 7], done.stderr.strip().splitlines()[-1]
    record = json.loads(done.stdout)
    plan, edges = record["plan"], record["edges"]
    proven = "yes" if record["optimal"] else "no" if record["gap"] is None else f"gap {record['gap']:.2%}"
    columns = len(record["local_scores"])
    return [file.name, 0, seconds, record["data"]["rows"], columns, len(edges),
            plan["score"].split("(")[0], plan["search"].split("(")[0], proven, len(record["notes"])], ""  # fmt: skip


def measured(title: str, files: list[Path]) -> Table:
    table = Table(title, COLUMNS)
    for file in files:
        row, sentence = learned(file)
        table.rows.append(row)
        if sentence:
            table.notes.append(f"{file.name}: {sentence.replace(str(file), file.name)}")
        print(*row, sentence, file=sys.stderr, flush=True)
    slowest = max(table.rows, key=lambda row: row[2])
    ended = sum(row[1] == 0 for row in table.rows)
    table.notes.append(
        f"{ended} of {len(table.rows)} gave a network; the slowest was {slowest[0]}, {slowest[2]:.1f} s."
    )
    return table


def main() -> None:
    options = arguments("Real and messy tables, without options.", ["datasets", "messy"])
    facts, tables = machine(), []
    if "datasets" in options.only:
        files = sorted((options.data / "datasets").glob("*.csv.gz"))
        tables.append(measured(f"{len(files)} real tables, as they are", files))
    if "messy" in options.only:
        with tempfile.TemporaryDirectory() as made:
            files = []
            for name, table in messy_tables.messy().items():
                files.append(Path(made) / f"{name}.csv")
                files[-1].write_bytes(table.content)
            tables.append(measured(f"{len(files)} messy files", files))
    report("real_tables", facts, tables, options.results)


if __name__ == "__main__":
    main()
