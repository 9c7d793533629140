"""Is search="auto" ever worse than another search that has the same seconds?

In:  --data DIR with samples/, networks/ and datasets/; tables of all kinds, under the score auto.
Out: per table what every search finds, with the seconds that auto took (its own end, if that is earlier), one thread;
and the CPU seconds of each. Fails if a search is ahead of auto. Rows are kept in the results folder as they are made; a
table that is there is not searched again."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from common import Table, arguments, frame_of, machine, peer, read_codes, report

SAMPLES = {
    "alarm": (1000, 5000, 50000),
    "insurance": (1000, 5000, 50000),
    "andes": (1000, 5000),
    "hailfinder": (1000, 10000),
    "win95pts": (2000,),
    "pathfinder": (1000,),
    "pigs": (1000,),
}
DATASETS = ("housing", "forest-fires", "flags", "vehicle", "mesotheliomas-disease", "turkiye-student-evaluation")
TABLES = (*(f"{name} {rows}" for name, sizes in SAMPLES.items() for rows in sizes), *DATASETS)
OTHERS = ("hc", "tabu", "order", "boss", "ges")
LEAST = 1.0  # seconds: below, a busy machine decides
ROUNDED = 1e-9  # of the score


def read(name: str, data: Path) -> Any:
    sp = peer("spinney")
    if name in DATASETS:
        return sp.Dataset.read(data / "datasets" / f"{name}.csv.gz")
    network, rows = name.split()
    return sp.Dataset.from_frame(frame_of(read_codes(network, int(rows), data)))


def one(data: Any, search: str, limit: float | None) -> dict[str, Any]:
    began, ticked = time.perf_counter(), time.process_time()
    result = peer("spinney").learn(data, search=search, n_jobs=1, time_limit=limit)
    seconds = {"wall": time.perf_counter() - began, "cpu": time.process_time() - ticked}
    found = result.found
    return {"score": found.score, "gap": found.gap if found.bound < float("inf") else None, "took": result.plan.search,
            "stopped": found.stopped, **seconds}  # fmt: skip


def main() -> None:
    options = arguments("search='auto' beside the others, with the same seconds.", list(TABLES))
    facts = machine()
    kept = options.results / "auto_search-rows.json"
    rows: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in options.only:
        if name not in rows:
            data = read(name, options.data)
            own = {"auto": one(data, "auto", None)}
            for search in OTHERS:
                own[search] = one(data, search, max(LEAST, own["auto"]["wall"]))
            rows[name] = own
            kept.write_text(json.dumps(rows, indent=1) + "\n")
            print(name, own["auto"], file=sys.stderr)
    shown = {name: own for name, own in rows.items() if name in TABLES}
    report("auto_search", facts, [scores(shown), seconds(shown)], options.results)
    ahead = [(name, search) for name, own in shown.items() for search in OTHERS if behind(own, search) < 0]
    if [pair for pair in ahead if pair[1] != "ges"]:
        raise SystemExit(f"auto is behind: {ahead}")


def behind(own: dict[str, Any], search: str) -> float:
    """By how much this search is behind auto; 0 where they agree in nine digits."""
    difference = float(own["auto"]["score"] - own[search]["score"])
    return 0.0 if abs(difference) <= ROUNDED * abs(own["auto"]["score"]) else difference


def scores(rows: dict[str, dict[str, Any]]) -> Table:
    table = Table(
        "What auto finds, and by how many nats the others are behind it with the same seconds",
        {"table": "", "auto took": "", "score": ",.1f", "gap %": ".2f", **dict.fromkeys(OTHERS, ".1f")},
    )
    for name, own in rows.items():
        mine = own["auto"]
        gap = None if mine["gap"] is None else 100 * mine["gap"]
        apart = [behind(own, search) for search in OTHERS]
        table.rows.append([name, mine["took"].split("(")[0], mine["score"], gap, *apart])
    table.notes = [
        "One thread, score auto, up to three parents. The others have the wall seconds of auto, at least one; most end "
        "earlier. Negative: ahead of auto."
    ]
    return table


def seconds(rows: dict[str, dict[str, Any]]) -> Table:
    searches = ("auto", *OTHERS)
    table = Table("CPU seconds, the fit included", {"table": "", **dict.fromkeys(searches, ".2f")})
    table.rows = [[name, *(own[search]["cpu"] for search in searches)] for name, own in rows.items()]
    return table


if __name__ == "__main__":
    main()
