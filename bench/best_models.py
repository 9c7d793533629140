"""Does choosing the local model per node predict better? Log loss of `best` beside each score alone.

In:  --data DIR with datasets/NAME.csv.gz and NAME.json; the sets are those with a row in Table B.5 of Talvitie,
     Eggeling and Koivisto (2019), prepared as there (log_loss.py).
Out: mean log predictive density of a test row over ten folds; of `best` less the best single score, in standard errors
     of the paired difference. All with the prior `sizes`. Sets that are done are kept in the results folder and not
     computed again."""

import json
import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from common import Table, arguments, machine, peer, report
from log_loss import FOLDS, folds, prepared

SINGLE = {"pcart": "pcart", "ft": "ft", "graph": "graph"}
MODELS = {
    **SINGLE,
    "linear": "pcart(leaf=linear)",
    "best": "best(pcart, pcart(leaf=linear), ft)",
    "best with graph": "best(pcart, ft, graph)",
}
BESTS = ("best", "best with graph")
FEW_COLUMNS, FEW_CELLS = 14, 15_000  # searched exactly, with up to three parents; larger ones by one climb


def choices(columns: int, rows: int) -> dict[str, Any]:
    """How a set is searched: the same for all models."""
    if columns <= FEW_COLUMNS and columns * rows <= FEW_CELLS:
        return {"search": "exact", "max_parents": 3}
    if columns <= FEW_COLUMNS:
        return {"search": "exact", "max_parents": 2}
    return {"search": "hc(restarts=0)", "max_parents": 3 if columns * rows <= 4 * FEW_CELLS else 2}


def losses(data: Path, name: str) -> dict[str, Any]:
    """Per model the loss of every fold, and the seconds."""
    sp = peer("spinney")
    frame, kinds = prepared(data, name)
    own = choices(len(frame.columns), len(frame))
    record: dict[str, Any] = {
        "columns": len(frame.columns),
        "rows": len(frame),
        "search": own,
        "folds": {},
        "seconds": {},
    }
    table = sp.Dataset.from_frame(frame, kinds=kinds, standardise=False)
    for model, score in MODELS.items():
        began, way = time.process_time(), {"score": score, "prior": "sizes", **own}
        found = sp.evaluate.log_loss(table, {model: way}, folds=folds(len(frame)), repeats=1)
        record["folds"][model] = (-found.losses[model]).tolist()  # the paper's sign
        record["seconds"][model] = time.process_time() - began
    return record


def gain(record: dict[str, Any], model: str, others: Iterable[str]) -> tuple[str, float, float]:
    """The best of the others in hindsight; how far the model is above it, and that in standard errors of the pairs."""
    folds_of = record["folds"]
    other = max(others, key=lambda one: float(np.mean(folds_of[one])))
    apart = np.array(folds_of[model]) - np.array(folds_of[other])
    error = float(apart.std(ddof=1)) / math.sqrt(FOLDS)
    mean = float(apart.mean())
    return other, mean, mean / error if error > 0 else 0.0


def row(name: str, record: dict[str, Any]) -> list[Any]:
    how = f"{record['search']['search'].split('(')[0]}, {record['search']['max_parents']}"
    means = [float(np.mean(record["folds"][model])) for model in MODELS]
    return [name, record["columns"], record["rows"], how, *means, *gain(record, "best", SINGLE)]


def notes_of(done: dict[str, Any]) -> list[str]:
    notes = [
        "Mean natural log of the predictive density of a test row, all columns together; larger is better. Same folds, "
        "search and limits for all models of a set. The last columns: best less the best single score of the set, "
        "chosen in hindsight among pcart, ft and graph.",
        "Better and worse: by two standard errors of the paired difference.",
    ]
    for model in BESTS:
        for others in (tuple(SINGLE), ("pcart", "ft"), *((one,) for one in (*SINGLE, "linear"))):
            far = {name: gain(record, model, others)[2] for name, record in done.items()}
            worse = [name for name, errors in far.items() if errors < -2]
            some = f" ({', '.join(worse)})" if 0 < len(worse) < 6 else ""
            against = others[0] if len(others) == 1 else f"the best of {', '.join(others)} in hindsight"
            notes.append(
                f"{MODELS[model]} against {against}: better on {sum(errors > 2 for errors in far.values())} of "
                f"{len(far)} sets, worse on {len(worse)}{some}."
            )
    return notes


def main() -> None:
    options = arguments("Log loss of best beside each score alone.", [])
    kept = options.results / "best_models.kept.json"
    done: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    facts = machine()
    names = options.only or sorted(
        path.stem
        for path in (options.data / "datasets").glob("*.json")
        if json.loads(path.read_text()).get("paper_000_table_b5")
    )
    for name in names:
        if name not in done:
            done[name] = losses(options.data, name)
            kept.write_text(json.dumps(done))
        print(*row(name, done[name]), flush=True)
    columns = {"data": "", "columns": "", "rows": ",", "search": "", **dict.fromkeys(MODELS, ".3f")}
    columns |= {"best single": "", "best - single": "+.3f", "in s.e.": "+.1f"}
    table = Table(f"Log loss of best, {FOLDS} folds", columns)
    table.rows = [row(name, done[name]) for name in names]
    table.notes = notes_of({name: done[name] for name in names})
    report("best_models", facts, [table], options.results)


if __name__ == "__main__":
    main()
