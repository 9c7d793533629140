"""What every benchmark needs: tables to learn from, a clock, machine facts, and a place for the results.

In:  a folder with samples/ and networks/ (--data), and for every contender a function that prepares one run.
Out: CPU seconds and answers, printed as markdown tables, and results/DATE-NAME.json and .md.
Import it before any contender: it sets the thread limits that their runtimes read when they are loaded."""

import argparse
import datetime
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

HERE = Path(__file__).resolve().parent
PACKAGES = ("spinney", "pybnesian", "pyagrum", "pgmpy", "scikit-learn", "numpy", "pandas")

Codes = Mapping[str, npt.NDArray[np.int64]]  # column -> levels counted from 0
Prepare = Callable[[], Callable[[], Any]]  # builds fresh state, returns what is timed


@dataclass(frozen=True)
class Timed:
    """The fastest of a few runs, and the answer (every run gives the same one)."""

    cpu: float
    wall: float
    runs: int
    answer: Any


@dataclass
class Table:
    """A result table; `columns` maps each heading to the format of its cells, None is printed as '-'."""

    title: str
    columns: dict[str, str]
    rows: list[list[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        formats = list(self.columns.values())
        cells = [
            ["-" if cell is None else format(cell, f) for cell, f in zip(row, formats, strict=True)]
            for row in self.rows
        ]
        lines = [list(self.columns), ["---"] * len(self.columns), *cells]
        text = [f"## {self.title}", "", *("| " + " | ".join(line) + " |" for line in lines), ""]
        return "\n".join([*text, *(f"{note}\n" for note in self.notes)])


def peer(name: str) -> ModuleType:
    """Peers are an extra: where one is not installed, a message says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise SystemExit(f"the benchmark needs {name!r} ({problem}); run: pip install '.[bench]'") from problem


def race(contenders: Mapping[str, Prepare], repeats: int = 5, budget: float = 3.0) -> dict[str, Timed]:
    """Time the contenders in turn, round after round, so that a busy minute of the machine hits all of them.

    A contender runs until it has had `repeats` runs or `budget` CPU seconds; its fastest run counts."""
    cpu: dict[str, list[float]] = {name: [] for name in contenders}
    wall: dict[str, list[float]] = {name: [] for name in contenders}
    answers: dict[str, Any] = {}
    gc.collect()
    gc.freeze()  # what is imported is no garbage: a walk over it, before every run, empties the caches for everybody
    for _ in range(repeats):
        for name, prepare in contenders.items():
            if sum(cpu[name]) >= budget:
                continue
            run = prepare()
            gc.collect()
            gc.disable()
            started, ticked = time.perf_counter(), time.process_time()
            answers[name] = run()
            cpu[name].append(time.process_time() - ticked)
            wall[name].append(time.perf_counter() - started)
            gc.enable()
    return {name: Timed(min(cpu[name]), min(wall[name]), len(cpu[name]), answers[name]) for name in contenders}


def read_codes(name: str, rows: int, data: Path) -> Codes:
    """The first rows of samples/NAME.csv.gz, or `rows` rows drawn by spinney (seed 1) from networks/NAME.bif.gz.

    Every column comes as codes of the levels that these rows hold: what a library would see in a plain table."""
    sample = data / "samples" / f"{name}.csv.gz"
    if sample.exists():
        frame = pd.read_csv(sample, dtype=str, keep_default_na=False, nrows=rows)  # "NA" is a level of pathfinder
        columns = {str(column): frame[column].to_numpy(dtype=str) for column in frame}
    else:
        drawn = peer("spinney").Network.read(data / "networks" / f"{name}.bif.gz").sample(rows, seed=1)
        columns = {column: drawn.codes(column) for column in drawn.names}
    if any(len(values) < rows for values in columns.values()):
        raise SystemExit(f"{sample} has fewer than {rows} rows; ask for fewer")
    return {column: np.unique(values, return_inverse=True)[1] for column, values in columns.items()}


def frame_of(codes: Codes) -> pd.DataFrame:
    """The one frame that every contender gets: categories with plain level names, in the order of the codes."""
    levels = {name: pd.Index([f"v{level}" for level in range(int(column.max()) + 1)]) for name, column in codes.items()}
    frame: pd.DataFrame = pd.DataFrame({name: pd.Categorical.from_codes(codes[name], levels[name]) for name in codes})
    return frame


def machine() -> dict[str, Any]:
    """Facts without which a number of seconds means nothing."""
    cpuinfo = Path("/proc/cpuinfo")
    facts = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.split(":", 1)[1].strip() for line in facts if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        "compiler": first_line("cc", "--version"),
        "commit": first_line("git", "-C", str(HERE), "describe", "--always", "--dirty"),
        "packages": {name: installed(name) for name in PACKAGES},
    }


def first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["unknown"])[0]


def installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def arguments(description: str, cases: Sequence[str], *, needs_data: bool = True) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    if needs_data:
        parser.add_argument("--data", type=Path, required=True, help="folder with samples/, networks/ and the like")
    parser.add_argument("--only", nargs="+", choices=cases or None, default=list(cases), help="run a part only")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the fastest counts")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    return parser.parse_args()


def report(name: str, facts: Mapping[str, Any], tables: Sequence[Table], folder: Path) -> None:
    """Print the tables, and keep them as JSON (to compute with) and markdown (to read)."""
    date = datetime.date.today().isoformat()
    packages = ", ".join(f"{package} {version}" for package, version in facts["packages"].items() if version)
    lines = [
        f"# {name}, {date}",
        "",
        f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, load {facts['load_average']} at the start; "
        f"{facts['system']}, Python {facts['python']}, {facts['compiler']}; spinney at {facts['commit']}; {packages}.",
        "",
        *(table.markdown() for table in tables),
    ]
    text = "\n".join(lines)
    print(text)
    record = {
        "bench": name,
        "date": date,
        "machine": dict(facts),
        "tables": [{"title": t.title, "columns": list(t.columns), "rows": t.rows, "notes": t.notes} for t in tables],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{date}-{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    (folder / f"{date}-{name}.md").write_text(text + "\n")
