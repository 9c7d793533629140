"""Hill climbing side by side: spinney, PyBNesian and pyAgrum in one run, bnlearn's figures beside them.

In:  --data DIR with samples/, networks/ and samples/bnlearn_timing.csv.
Out: CPU seconds and network scores for each, one thread; every network is scored by the same scorer, spinney's.
The same rows, the same levels, the same moves (add, delete, reverse from the empty graph), no limit on parents."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from common import Prepare, Table, Timed, arguments, frame_of, machine, peer, race, read_codes, report

Parents = dict[str, list[str]]


@dataclass(frozen=True)
class Case:
    data: str
    rows: int
    search: str = "hc"


CASES = [
    Case("alarm", 1000),
    Case("alarm", 5000),
    Case("alarm", 50000),
    Case("insurance", 5000),
    Case("water", 5000),
    Case("pathfinder", 5000),
    Case("andes", 5000),
    Case("alarm", 5000, "tabu"),
]
SCORES = {"bic": "bic", "bdeu(ess=1)": "bde"}  # ours -> bnlearn's name; its file has BDe with iss = 1


def spinney(frame: pd.DataFrame, score: str, search: str) -> Prepare:
    """A new table for every run: one that was asked before has its bitmaps already."""
    sp = peer("spinney")

    def prepare() -> Callable[[], Parents]:
        data = sp.Dataset.from_frame(frame)

        def run() -> Parents:
            found = sp.find(data, score=score, search=search, max_parents=None, n_jobs=1)
            return {child: list(parents) for child, parents in found.parents.items()}

        return run

    return prepare


def pybnesian(frame: pd.DataFrame, score: str, search: str) -> Prepare | None:
    """max_indegree=0 means no limit. It has no tabu search for these scores. Arrow is its own form of a table."""
    if search != "hc":
        return None
    pb = peer("pybnesian")
    names = [str(name) for name in frame]
    batch = pa.RecordBatch.from_pandas(frame, preserve_index=False)

    def run() -> Parents:
        scorer = pb.BIC(batch) if score == "bic" else pb.BDe(batch, 1)
        climber = pb.GreedyHillClimbing()
        network = climber.estimate(pb.ArcOperatorSet(), scorer, pb.DiscreteBN(names), max_indegree=0)
        return {child: list(network.parents(child)) for child in names}

    return lambda: run


def pyagrum(frame: pd.DataFrame, score: str, search: str) -> Prepare:
    """No limit on parents unless setMaxIndegree is called. A learner remembers scores: a new one for every run."""
    gum = peer("pyagrum")
    gum.setNumberOfThreads(1)
    text = frame.astype(str)

    def prepare() -> Callable[[], Parents]:
        learner = gum.BNLearner(text)
        if score == "bic":
            learner.useScoreBIC()
        else:
            learner.useScoreBDeu()  # its ess is 1; a prior would be added on top of it
        learner.useNoPrior()
        if search == "hc":
            learner.useGreedyHillClimbing()
        else:
            learner.useLocalSearchWithTabuList()

        def run() -> Parents:
            dag, names = learner.learnDAG(), learner.names()
            return {names[child]: [names[parent] for parent in dag.parents(child)] for child in dag.nodes()}

        return run

    return prepare


CONTENDERS = {"spinney": spinney, "PyBNesian": pybnesian, "pyAgrum": pyagrum}
PEERS = [name for name in CONTENDERS if name != "spinney"]


def bnlearn_figures(data: Path) -> dict[tuple[str, int, str, str], tuple[float, float]]:
    """(data, rows, search, bnlearn's score name) -> CPU seconds, network score; measured elsewhere, by R."""
    path = data / "samples" / "bnlearn_timing.csv"
    with path.open(newline="") as lines:
        return {
            (row["data"], int(row["n"]), row["algo"], row["score_or_test"]): (float(row["cpu_s"]), float(row["score"]))
            for row in csv.DictReader(lines)
            if row["score"] != "NA"
        }


def row_of(case: Case, score: str, timed: dict[str, Timed], scores: dict[str, float], r: tuple[Any, Any]) -> list[Any]:
    ours = timed["spinney"].cpu
    others = [scores[name] for name in PEERS if name in scores] + [value for value in [r[1]] if value is not None]
    # A tie within rounding is not a loss: the same network's terms may be summed in another order.
    best = scores["spinney"] >= max(others) - 1e-9 * abs(max(others))
    seconds = [timed[name].cpu if name in timed else None for name in PEERS]
    ratios = [None if value is None else value / ours for value in seconds]
    found = [scores.get(name) for name in PEERS]
    return [
        case.data, case.rows, case.search, score, ours, *seconds, r[0], *ratios, scores["spinney"], *found, r[1],
        "yes" if best else f"no, by {max(others) - scores['spinney']:.2f}",
    ]  # fmt: skip


def main() -> None:
    options = arguments("Hill climbing beside PyBNesian, pyAgrum and bnlearn.", sorted({case.data for case in CASES}))
    facts = machine()
    figures = bnlearn_figures(options.data)
    sp = peer("spinney")
    table = Table(
        "Greedy search, one thread, no limit on parents",
        {
            "data": "",
            "N": ",",
            "search": "",
            "score": "",
            "spinney s": ".4f",
            **{f"{name} s": ".4f" for name in PEERS},
            "bnlearn s": ".3f",
            **{f"{name} / spinney": ".1f" for name in PEERS},
            "spinney": ".2f",
            **dict.fromkeys(PEERS, ".2f"),
            "bnlearn": ".2f",
            "spinney best?": "",
        },
    )
    for case in [case for case in CASES if case.data in options.only]:
        frame = frame_of(read_codes(case.data, case.rows, options.data))
        data = sp.Dataset.from_frame(frame)
        for score, their_name in SCORES.items():
            prepared = {name: enter(frame, score, case.search) for name, enter in CONTENDERS.items()}
            timed = race({name: run for name, run in prepared.items() if run is not None}, options.repeats)
            scores = {name: sp.score(data, result.answer, score=score) for name, result in timed.items()}
            r = figures.get((case.data, case.rows, case.search, their_name), (None, None))
            table.rows.append(row_of(case, score, timed, scores, r))
    ratio = list(table.columns).index("PyBNesian / spinney")
    slower = [row[:4] for row in table.rows if row[ratio] is not None and row[ratio] < 2]
    worse = [row[:4] for row in table.rows if row[-1] != "yes"]
    table.notes = [
        "Seconds: CPU, the fastest of a few runs taken in turn; from the library's own table in memory to the graph "
        ". bnlearn: its CPU seconds on another, loaded machine, for orientation.",
        "Scores: larger is better; every network scored by spinney, bnlearn's as R printed it.",
        f"At least twice as fast as PyBNesian: {verdict(slower)}. Score not worse than any other: {verdict(worse)}.",
    ]
    report("greedy", facts, [table], options.results)


def verdict(failures: list[list[Any]]) -> str:
    return "every row" if not failures else "not " + "; not ".join(" ".join(map(str, row)) for row in failures)


if __name__ == "__main__":
    main()
