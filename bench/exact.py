"""Exact search on score files: seconds to a proof, and what every stage leaves.

In:  --data DIR with jkl/NAME.jkl.gz and jkl/README.md, whose table has the known optima and other programs' seconds.
Out: per file the sets after each stage, score, bound, CPU seconds; and the way of score and bound for the slower ones.
One thread; reading the file is not counted, importing neither, everything else is."""

import argparse
import time
from pathlib import Path
from typing import Any

from common import HERE, Table, machine, peer, report

STAGES = ("clean", "climb", "ascent", "lp")
SLOW = 2.0  # CPU seconds from which the way there is shown
MOMENTS = 6


def known(folder: Path) -> dict[str, tuple[float | None, float | None]]:
    """file -> optimum, the smaller number of seconds of GOBNILP 1.6 and a prototype; None where not known."""
    rows: dict[str, tuple[float | None, float | None]] = {}
    for line in (folder / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[1].isdigit():
            seconds = [float(cell) for cell in cells[4:] if cell]
            rows[cells[0]] = (float(cells[3]) if cells[3] else None, min(seconds, default=None))
    return rows


def moments(trace: tuple[tuple[float, float, float], ...]) -> list[tuple[float, float, float]]:
    """A few points of the way, spread evenly over the changes."""
    step = max(1, (len(trace) - 1) // (MOMENTS - 1))
    return [*trace[:-1:step], trace[-1]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Exact search on score files.")
    parser.add_argument("--data", type=Path, required=True, help="folder with jkl/")
    parser.add_argument("--only", nargs="+", help="names of files, without .jkl.gz")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds per file")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    options = parser.parse_args()
    sp, facts = peer("spinney"), machine()
    folder = options.data / "jkl"
    figures = known(folder)
    table = Table(
        "Exact search, one thread",
        {
            "file": "",
            "n": ",",
            "sets": ",",
            **dict.fromkeys(STAGES, ","),
            "score": ".6f",
            "bound": ".6f",
            "gap %": ".5f",
            "CPU s": ".2f",
            "others s": ".2f",
            "verdict": "",
        },
    )
    way = Table(
        f"Score and bound over time (files that took {SLOW:g} s or more)",
        {"file": "", "wall s": ".2f", "score": ".4f", "bound": ".4f", "gap %": ".5f"},
    )
    for path in sorted(folder.glob("*.jkl.gz")):
        name = path.name.removesuffix(".jkl.gz")
        if options.only and name not in options.only:
            continue
        sets = sp.ParentSets.read(path)
        ticked = time.process_time()
        found = sp.search(sets, method="ilp", time_limit=options.time_limit, n_jobs=1)
        cpu = time.process_time() - ticked
        optimum, seconds = figures.get(name, (None, None))
        counts = {stage: left for stage, _, left in found.counts}
        row: list[Any] = [name, len(sets.names), len(sets), *(counts.get(stage) for stage in STAGES)]
        table.rows.append(
            [*row, found.score, found.bound, 100 * found.gap, cpu, seconds, verdict(found, optimum, cpu, seconds)]
        )
        print(table.rows[-1], flush=True)
        if cpu >= SLOW:
            way.rows += [[name, t, s, b, 100 * (b - s) / abs(s)] for t, s, b in moments(found.trace)]
    table.notes = [
        "clean, climb, ascent, lp: sets in parts that are not settled after that stage (0: proven there). others: the "
        "smaller of GOBNILP 1.6's and a prototype's CPU seconds, on another, loaded machine.",
    ]
    report("exact", facts, [table, way], options.results)


def verdict(found: Any, optimum: float | None, cpu: float, seconds: float | None) -> str:
    if not found.optimal:
        return f"gap {100 * found.gap:.4f} %"
    if optimum is not None and abs(found.score - optimum) > 1e-6 + 1e-12 * abs(optimum):
        return f"proven, but off the known optimum by {found.score - optimum:.2g}"
    slower = seconds is not None and cpu > max(seconds, 0.05)  # the clock of the others had two digits
    return "proven" + (", as known" if optimum is not None else "") + (", slower" if slower else "")


if __name__ == "__main__":
    main()
