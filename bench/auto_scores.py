"""Which score finds the graph of a table with continuous columns? Structure and seconds on our simulators.

In:  nothing: the tables are drawn (`sp.simulate`), with a seed for each.
Out: per simulator and score the mean SHD of the CPDAG, the mean F1 of the skeleton, and CPU seconds. All scores search
     the same tables by tabu with up to three parents. The rule of score="auto" is chosen from these tables and from the
     log loss on real ones (best_models.py). What is done is kept in the results folder and not run again."""

import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from common import Table, arguments, machine, peer, report

VARIABLES, DEGREE = 12, 2.5
ROWS, ROWS_CONTINUOUS = (300, 2000), (300,)  # trees over continuous columns only take minutes for 2,000 rows
SEARCH = "tabu(restarts=2)"
SEEDS = range(8)
SCORES = {
    "pcart": "pcart",
    "linear": "pcart(leaf=linear)",
    "ft": "ft",
    "best": "best(pcart, pcart(leaf=linear), ft)",
    "cg": "cg",
    "dg": "dg",
    "mvp": "mvp",
}
FOR_KINDS = {"bge": ("continuous",), "bdeu": ("categorical", "ordinal")}  # rows of some simulators only

Draw = Callable[[int, int], Any]


def simulators() -> dict[str, Draw]:
    simulate = peer("spinney").simulate

    def mixed(nonlinear: bool) -> Draw:
        return lambda rows, seed: simulate.mixed(VARIABLES, DEGREE, rows, nonlinear=nonlinear, seed=seed)

    def network(local: str, kinds: str | None = None) -> Draw:
        return lambda rows, seed: simulate.from_network(
            simulate.random_network(VARIABLES, DEGREE, kinds, local, seed=seed), rows, seed=seed
        )

    return {
        "mixed, linear": mixed(False),
        "mixed, nonlinear": mixed(True),
        "table": network("table"),
        "tree": network("tree"),
        "linear": network("linear"),
        "spline": network("spline"),
        "tree, continuous": network("tree", "continuous"),
        "linear, continuous": network("linear", "continuous"),
        "spline, continuous": network("spline", "continuous"),
    }


def one(drawn: Any, score: str) -> tuple[int, float, float]:
    sp = peer("spinney")
    started = time.process_time()
    found = sp.find(drawn.data, score, search=SEARCH, n_jobs=1)
    seconds = time.process_time() - started
    compared = sp.compare(drawn.truth, found)
    return compared.shd, compared.f1, seconds


def scores_for(data: Any) -> dict[str, str]:
    words = {kind.word for kind in data.kinds.values()}
    return SCORES | {name: name for name, kinds in FOR_KINDS.items() if words <= set(kinds)}


def main() -> None:
    sp = peer("spinney")
    ways = simulators()
    options = arguments("Structure under the scores for mixed tables.", list(ways), needs_data=False)
    facts = machine()
    names = [*SCORES, *FOR_KINDS]
    kept = options.results / "auto_scores.kept.json"
    done: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    runs: dict[tuple[str, int], dict[str, list[Any]]] = {}
    for way in options.only:
        for rows in ROWS_CONTINUOUS if "continuous" in way else ROWS:
            own = runs[way, rows] = done.setdefault(f"{way}, {rows}", {})
            if own:
                continue
            for seed in SEEDS:
                drawn = ways[way](rows, seed)
                for name, score in scores_for(drawn.data).items():
                    # A Dataset remembers its sources: each score gets one of its own.
                    fresh = sp.simulate.Simulated(ways[way](rows, seed).complete, drawn.truth)
                    own.setdefault(name, []).append(one(fresh, score))
            kept.write_text(json.dumps(done))
            print(way, rows, {name: statistics.mean(r[0] for r in own[name]) for name in own}, file=sys.stderr)
    report("auto_scores", facts, [*(table(runs, names, what) for what in range(3)), pairs(runs)], options.results)


TITLES = ("SHD of the CPDAG (smaller is better)", "F1 of the skeleton (larger is better)", "CPU seconds of a search")


def table(runs: dict[tuple[str, int], dict[str, list[Any]]], names: list[str], what: int) -> Table:
    formats = (".1f", ".3f", ".2f")
    found = Table(TITLES[what], {"simulator": "", "rows": ",", **dict.fromkeys(names, formats[what])})
    for (way, rows), own in runs.items():
        means = [statistics.mean(run[what] for run in own[name]) if name in own else None for name in names]
        found.rows.append([way, rows, *means])
    found.notes = [
        f"Mean over seeds 0 to {SEEDS[-1]}: {VARIABLES} variables, {DEGREE} neighbours on average; {SEARCH}, up to "
        f"three parents, one thread. linear: {SCORES['linear']}; best: {SCORES['best']}."
    ]
    return found


def pairs(runs: dict[tuple[str, int], dict[str, list[Any]]]) -> Table:
    """Each score against pcart on the same tables: the mean difference of SHD over all that have a continuous column,
    and on how many it is nearer to the truth."""
    found = Table(
        "Against pcart, table by table",
        {"score": "", "simulators": "", "tables": "", "SHD less pcart's": "+.2f", "s.e.": ".2f", "nearer": "",
         "farther": ""},
    )  # fmt: skip
    kinds: dict[str, Callable[[str], bool]] = {
        "some discrete": lambda way: "continuous" not in way and way != "table",
        "all continuous": lambda way: "continuous" in way,
    }
    for label, chosen in kinds.items():
        for name in (*SCORES, *FOR_KINDS):
            apart = [
                mine[0] - other[0]
                for (way, _), own in runs.items()
                if chosen(way) and name in own
                for mine, other in zip(own[name], own["pcart"], strict=True)
            ]
            if name == "pcart" or len(apart) < 2:
                continue
            error = statistics.stdev(apart) / math.sqrt(len(apart))
            nearer, farther = sum(d < 0 for d in apart), sum(d > 0 for d in apart)
            found.rows.append([name, label, len(apart), statistics.mean(apart), error, nearer, farther])
    return found


if __name__ == "__main__":
    main()
