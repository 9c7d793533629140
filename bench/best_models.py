"""Does choosing the local model per node predict better? Log loss of `best` beside each score alone.

In:  --data DIR with datasets/NAME.csv.gz and NAME.json; the sets are those with a row in Table B.5 of Talvitie,
     Eggeling and Koivisto (2019), prepared as there (log_loss.py).
Out: mean log predictive density of a test row over ten folds; of `best` less the best single score, in standard errors
     of the paired difference. All with the prior `sizes`. Sets that are done are kept in the results folder and not
     computed again."""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import Table, arguments, machine, peer, report
from log_loss import FOLDS, folds, prepared

SINGLE = {"pcart": "pcart", "ft": "ft", "graph": "graph"}
MODELS = {
    **SINGLE,
    "linear": "pcart(leaf=linear)",
    "best": "best(pcart, ft, graph)",
    "best with linear": "best(pcart, pcart(leaf=linear), ft, graph)",
}
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
    for model, score in MODELS.items():
        began, found = time.process_time(), []
        for test in folds(len(frame)):
            known = np.ones(len(frame), dtype=bool)
            known[test] = False
            train = sp.Dataset.from_frame(frame[known], kinds=kinds, standardise=False)
            network = sp.learn(train, score, prior="sizes", **own).network
            unseen = sp.Dataset.from_frame(frame.iloc[test], kinds=network.accepts, standardise=False)
            found.append(float(network.log_prob(unseen).mean()))
        record["folds"][model], record["seconds"][model] = found, time.process_time() - began
    return record


def row(name: str, record: dict[str, Any]) -> list[Any]:
    means = {model: float(np.mean(record["folds"][model])) for model in MODELS}
    single = max(SINGLE, key=lambda model: means[model])
    apart = np.array(record["folds"]["best"]) - np.array(record["folds"][single])
    error = float(apart.std(ddof=1)) / math.sqrt(FOLDS)
    gain = float(apart.mean())
    in_errors = gain / error if error > 0 else 0.0
    how = f"{record['search']['search'].split('(')[0]}, {record['search']['max_parents']}"
    values = [means[model] for model in MODELS]
    more = np.array(record["folds"]["best with linear"]) - np.array(
        record["folds"][max(("pcart", "ft"), key=means.__getitem__)]
    )
    far = float(more.mean()) / (float(more.std(ddof=1)) / math.sqrt(FOLDS) or math.inf)
    return [name, record["columns"], record["rows"], how, *values, single, gain, in_errors, float(more.mean()), far]


def ahead(rows: list[list[Any]], single: int) -> int:
    best = 4 + list(MODELS).index("best")
    return sum(row[best] > row[4 + single] for row in rows)


def notes_of(rows: list[list[Any]]) -> list[str]:
    better = [r[0] for r in rows if r[-3] > 2]
    worse = [r[0] for r in rows if r[-3] < -2]
    ahead_by_linear, behind = [r[0] for r in rows if r[-1] > 2], [r[0] for r in rows if r[-1] < -2]
    names = list(enumerate(SINGLE))
    return [
        "Mean natural log of the predictive density of a test row, all columns together; larger is better. Same folds, "
        "search and limits for all models of a set.",
        f"best against the best single score of the set (chosen in hindsight): better by two standard errors of the "
        f"paired difference on {len(better)} of {len(rows)} sets, worse on {len(worse)}"
        + (f" ({', '.join(worse)})" if worse else "")
        + ".",
        f"best with linear leaves against the better of pcart and ft: better by two standard errors on "
        f"{len(ahead_by_linear)} of {len(rows)} sets, worse on {len(behind)}"
        + (f" ({', '.join(behind)})" if behind else "")
        + ".",
        *(f"best against {model} alone: higher mean on {ahead(rows, i)} of {len(rows)} sets." for i, model in names),
    ]


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
    columns |= {"best single": "", "best - single": "+.3f", "in s.e.": "+.1f", "linear - pcart or ft": "+.3f"}
    columns |= {"in their s.e.": "+.1f"}
    table = Table(f"Log loss of best, {FOLDS} folds", columns)
    table.rows = [row(name, done[name]) for name in names]
    table.notes = notes_of(table.rows)
    report("best_models", facts, [table], options.results)


if __name__ == "__main__":
    main()
