"""Tables 2 to 7 of Andrews, Ramsey and Cooper (2018) again: scores, priors and tests for mixed tables.

In:  nothing; rows are drawn by sp.simulate.mixed, the simulation of the paper's section 6, with seeds 0, 1, ...
Out: per table our figures beside the paper's, and for each conclusion of the paper in how many cells it holds, in its
     figures and in ours.
Every finished repetition is kept in a JSON file (--cells) and not run again. `--most` ends after so many CPU seconds;
what was not run is a dash. One thread; seconds are CPU seconds of the search, without drawing the rows."""

import argparse
import gc
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from common import HERE, Table, machine, peer, report

STATISTICS = ("AP", "AR", "AHP", "AHR", "T")
SCORES = {
    "CG": "cg",
    "CGd": "cgd",
    "MVP 1": "mvp(degree=1)",
    "LR 1": "lr(degree=1)",
    "MVP log n": "mvp(degree=log)",
    "LR log n": "lr(degree=log)",
    "MN": "mn",
}
PRIORS = {"Uniform": "uniform", "EBIC": "ebic(gamma=0.5)", "Binomial": "binomial(r=1)"}
ROWS = (200, 1000)


@dataclass(frozen=True)
class Cell:
    """What is run: the rows that are drawn, and how a graph is learned from them."""

    variables: int
    degree: int
    rows: int
    nonlinear: bool
    search: str
    score: str
    prior: str

    def key(self, seed: int) -> str:
        curve = "nonlinear" if self.nonlinear else "linear"
        drawn = f"{self.variables} variables, degree {self.degree}, {self.rows} rows, {curve}, seed {seed}"
        return f"{drawn}: {self.search}, {self.score}, {self.prior}"


# As printed: table -> (average degree, score, prior) -> (AP, AR, AHP, AHR, T) with 200 rows, the same with 1,000 rows.
PAPER: dict[int, dict[tuple[int, str, str], str]] = {
    2: {
        (2, "CG", "Uniform"): "0.54 0.59 0.40 0.38 0.29  0.76 0.83 0.66 0.59 0.63",
        (2, "CG", "EBIC"): "0.85 0.45 0.80 0.12 0.26  0.93 0.78 0.88 0.43 0.53",
        (2, "CG", "Binomial"): "0.82 0.53 0.75 0.19 0.18  0.91 0.81 0.85 0.49 0.55",
        (2, "MVP 1", "Uniform"): "0.36 0.57 0.24 0.35 9.32  0.70 0.81 0.56 0.57 6.43",
        (2, "MVP 1", "EBIC"): "0.84 0.39 0.69 0.17 1.35  0.85 0.71 0.74 0.46 3.53",
        (2, "MVP 1", "Binomial"): "0.53 0.53 0.35 0.31 1.53  0.83 0.77 0.70 0.52 3.93",
        (2, "MVP log n", "Uniform"): "0.37 0.55 0.23 0.31 7.51  0.77 0.79 0.60 0.50 14.47",
        (2, "MVP log n", "EBIC"): "0.84 0.31 0.65 0.09 2.50  0.87 0.65 0.73 0.37 7.25",
        (2, "MVP log n", "Binomial"): "0.52 0.51 0.33 0.28 2.51  0.84 0.76 0.68 0.47 8.54",
    },
    3: {
        (4, "CG", "Uniform"): "0.66 0.41 0.52 0.31 0.23  0.87 0.66 0.79 0.57 1.09",
        (4, "CG", "EBIC"): "0.85 0.30 0.70 0.16 0.15  0.94 0.57 0.86 0.43 0.92",
        (4, "CG", "Binomial"): "0.82 0.36 0.69 0.23 0.16  0.92 0.62 0.84 0.51 0.85",
        (4, "MVP 1", "Uniform"): "0.45 0.42 0.34 0.30 16.85  0.85 0.66 0.77 0.56 7.24",
        (4, "MVP 1", "EBIC"): "0.84 0.27 0.69 0.16 0.98  0.92 0.54 0.84 0.43 4.29",
        (4, "MVP 1", "Binomial"): "0.53 0.36 0.39 0.25 6.24  0.90 0.61 0.83 0.51 4.90",
        (4, "MVP log n", "Uniform"): "0.44 0.37 0.30 0.23 20.70  0.89 0.62 0.78 0.49 16.74",
        (4, "MVP log n", "EBIC"): "0.85 0.18 0.64 0.08 2.06  0.94 0.46 0.84 0.34 9.25",
        (4, "MVP log n", "Binomial"): "0.52 0.33 0.36 0.20 6.50  0.93 0.58 0.84 0.46 11.55",
    },
    4: {
        (2, "CG", ""): "0.91 0.40 0.96 0.04 0.57  0.93 0.68 0.93 0.24 1.26",
        (2, "CGd", ""): "0.92 0.42 0.98 0.05 0.46  0.95 0.69 0.94 0.26 1.15",
        (2, "MVP 1", ""): "0.77 0.27 0.67 0.01 1.37  0.88 0.60 0.67 0.15 6.63",
        (2, "MVP log n", ""): "0.97 0.29 0.75 0.01 2.03  0.92 0.67 0.68 0.23 16.82",
        (4, "CG", ""): "0.93 0.26 0.93 0.05 0.44  0.94 0.50 0.93 0.24 4.47",
        (4, "CGd", ""): "0.93 0.26 0.89 0.05 0.44  0.95 0.50 0.95 0.24 8.55",
        (4, "MVP 1", ""): "0.81 0.14 0.43 0.01 1.28  0.92 0.41 0.65 0.16 11.21",
        (4, "MVP log n", ""): "0.98 0.15 0.56 0.01 2.01  0.93 0.48 0.60 0.21 48.73",
    },
    5: {
        (2, "CG", "Binomial"): "0.82 0.53 0.75 0.19 0.29  0.91 0.81 0.85 0.49 0.56",
        (2, "CGd", "Binomial"): "0.90 0.45 0.82 0.17 0.19  0.95 0.77 0.93 0.47 0.53",
        (2, "MVP 1", "Binomial"): "0.53 0.53 0.35 0.31 1.92  0.83 0.77 0.70 0.52 4.01",
        (2, "LR 1", "Binomial"): "0.53 0.53 0.36 0.32 18.55  0.84 0.78 0.71 0.51 52.34",
        (2, "MVP log n", "Binomial"): "0.52 0.51 0.33 0.28 2.63  0.84 0.76 0.68 0.47 8.55",
        (2, "LR log n", "Binomial"): "0.53 0.51 0.34 0.28 34.86  0.87 0.78 0.71 0.49 165.53",
        (2, "MN", "Binomial"): "0.93 0.41 0.85 0.07 0.09  0.97 0.72 0.90 0.36 0.48",
        (4, "CG", "Binomial"): "0.82 0.36 0.69 0.23 0.16  0.92 0.62 0.84 0.51 0.90",
        (4, "CGd", "Binomial"): "0.92 0.32 0.80 0.18 0.15  0.96 0.58 0.91 0.48 0.73",
        (4, "MVP 1", "Binomial"): "0.53 0.36 0.39 0.25 8.82  0.90 0.61 0.83 0.51 5.20",
        (4, "LR 1", "Binomial"): "0.53 0.36 0.39 0.25 27.22  0.91 0.63 0.83 0.52 62.08",
        (4, "MVP log n", "Binomial"): "0.53 0.33 0.36 0.20 6.25  0.93 0.58 0.84 0.46 12.00",
        (4, "LR log n", "Binomial"): "0.53 0.33 0.36 0.20 45.97  0.93 0.59 0.84 0.47 215.93",
        (4, "MN", "Binomial"): "0.93 0.26 0.86 0.07 0.06  0.98 0.51 0.84 0.36 0.19",
    },
    6: {
        (2, "CG", "Binomial"): "0.53 0.54 0.35 0.33 0.47  0.58 0.67 0.45 0.45 1.91",
        (2, "CGd", "Binomial"): "0.82 0.52 0.61 0.23 0.23  0.83 0.68 0.67 0.39 1.03",
        (2, "MVP 1", "Binomial"): "0.67 0.55 0.45 0.32 0.82  0.76 0.69 0.58 0.41 3.37",
        (2, "LR 1", "Binomial"): "0.67 0.55 0.45 0.31 10.93  0.76 0.68 0.58 0.41 46.03",
        (2, "MVP log n", "Binomial"): "0.75 0.54 0.51 0.29 1.42  0.87 0.67 0.71 0.42 6.90",
        (2, "LR log n", "Binomial"): "0.75 0.54 0.51 0.29 22.07  0.87 0.67 0.71 0.42 158.09",
        (2, "MN", "Binomial"): "0.95 0.49 0.96 0.05 0.11  0.96 0.65 0.83 0.31 0.24",
        (4, "CG", "Binomial"): "0.48 0.34 0.34 0.24 0.57  0.70 0.51 0.60 0.41 1.38",
        (4, "CGd", "Binomial"): "0.81 0.32 0.64 0.19 0.33  0.86 0.51 0.77 0.39 1.00",
        (4, "MVP 1", "Binomial"): "0.71 0.35 0.53 0.23 1.03  0.83 0.52 0.73 0.41 3.82",
        (4, "LR 1", "Binomial"): "0.72 0.35 0.54 0.23 12.50  0.82 0.52 0.72 0.40 48.62",
        (4, "MVP log n", "Binomial"): "0.81 0.33 0.63 0.23 1.88  0.93 0.52 0.84 0.41 8.29",
        (4, "LR log n", "Binomial"): "0.81 0.34 0.63 0.23 35.04  0.93 0.53 0.84 0.42 191.39",
        (4, "MN", "Binomial"): "0.95 0.27 0.85 0.05 0.06  0.95 0.44 0.75 0.29 0.20",
    },
    7: {
        (2, "CG", "Binomial"): "0.67 0.51 0.48 0.28 2.11  0.88 0.77 0.81 0.50 7.28",
        (2, "CGd", "Binomial"): "0.86 0.44 0.75 0.19 1.74  0.94 0.71 0.89 0.46 8.42",
        (2, "MVP 1", "Binomial"): "0.40 0.49 0.24 0.27 56.83  0.81 0.73 0.67 0.51 44.68",
        (2, "MVP log n", "Binomial"): "0.40 0.46 0.23 0.24 81.20  0.84 0.72 0.68 0.46 96.91",
        (2, "MN", "Binomial"): "0.93 0.39 0.84 0.07 1.79  0.97 0.67 0.89 0.36 14.74",
        (4, "CG", "Binomial"): "0.75 0.35 0.59 0.25 2.21  0.91 0.61 0.84 0.51 9.70",
        (4, "CGd", "Binomial"): "0.88 0.31 0.78 0.19 2.22  0.95 0.58 0.90 0.48 16.59",
        (4, "MN", "Binomial"): "0.93 0.26 0.77 0.07 1.32  0.98 0.51 0.86 0.37 12.43",
    },
}

Place = tuple[int, int, str, str, int]  # table, degree, score, prior, rows
Figures = Mapping[Place, tuple[float, ...]]  # one per statistic


def printed() -> dict[Place, tuple[float, ...]]:
    found = {}
    for table, lines in PAPER.items():
        for (degree, score, prior), text in lines.items():
            numbers = tuple(map(float, text.split()))
            for i, rows in enumerate(ROWS):
                found[table, degree, score, prior, rows] = numbers[5 * i : 5 * i + 5]
    return found


def cell_of(place: Place) -> Cell:
    table, degree, score, prior, rows = place
    search = "cpc(alpha=0.001)" if table == 4 else "ges(extended=False)"
    return Cell(
        500 if table == 7 else 100, degree, rows, table == 6, search, SCORES[score], PRIORS.get(prior, "uniform")
    )


@lru_cache(maxsize=8)
def drawn_rows(variables: int, degree: int, rows: int, nonlinear: bool, seed: int) -> Any:
    return peer("spinney").simulate.mixed(variables, degree, rows, nonlinear=nonlinear, seed=seed)


def run(cell: Cell, seed: int, limit: float) -> dict[str, float]:
    """A run that does not end within the limit has its time and no figures."""
    sp = peer("spinney")
    drawn = drawn_rows(cell.variables, cell.degree, cell.rows, cell.nonlinear, seed)
    gc.collect()
    ticked = time.process_time()
    found = sp.find(drawn.data, cell.score, cell.prior, cell.search, max_parents=None, n_jobs=1, time_limit=limit)
    cpu = time.process_time() - ticked
    if found.stopped:
        return {"T": cpu}
    far = sp.compare(drawn.truth, found)
    ratios = {"AP": far.ap, "AR": far.ar, "AHP": far.ahp, "AHR": far.ahr}
    return {**ratios, "T": cpu, "AHR common": far.ahr_common, "SHD": far.shd}


class Kept:
    """Finished repetitions, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, cell: Cell, seed: int) -> dict[str, float] | None:
        return self._known.get(cell.key(seed))

    def put(self, cell: Cell, seed: int, figures: dict[str, float]) -> None:
        self._known[cell.key(seed)] = {name: round(value, 4) for name, value in figures.items()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".part")
        beside.write_text(json.dumps(self._known, indent=0) + "\n")
        beside.replace(self._path)


def ours(kept: Kept, places: Iterable[Place], seeds: range) -> dict[Place, tuple[float, ...]]:
    """Means over the repetitions that there are; a cell without any is left out."""
    found = {}
    for place in places:
        runs = [run for seed in seeds if "AP" in (run := kept.get(cell_of(place), seed) or {})]
        if runs:
            found[place] = (*(statistics.fmean(run[name] for run in runs) for name in STATISTICS), len(runs))
    return found


# --- what the paper concludes ----------------------------------------------------------------------------------------

Column = tuple[int, str, str]  # table (PRIOR_TABLES: 2 for degree 2, 3 for degree 4), score, prior
Holds = Callable[[float, float], bool]
Pair = tuple[Column, str, Column, Holds]  # a statistic of two columns

PRIOR_TABLES = 23


def against(
    ones: Iterable[Column], statistics: Iterable[str], other: Callable[[Column], Column], holds: Holds
) -> list[Pair]:
    return [(one, statistic, other(one), holds) for one in ones for statistic in statistics]


def more(a: float, b: float) -> bool:
    return a > b


def less(a: float, b: float) -> bool:
    return a < b


def near(most: float) -> Holds:
    return lambda a, b: abs(a - b) <= most + 1e-9


def scores(tables: Iterable[int], names: Iterable[str]) -> list[Column]:
    return [(table, name, "" if table == 4 else "Binomial") for table in tables for name in names]


def same_table(name: str) -> Callable[[Column], Column]:
    return lambda one: (one[0], name, one[2])


def uniform(one: Column) -> Column:
    return PRIOR_TABLES, one[1], "Uniform"


def regression(one: Column) -> Column:
    return one[0], one[1].replace("LR", "MVP"), one[2]


MVP = ("MVP 1", "MVP log n")
PRECISION, RECALL = ("AP", "AHP"), ("AR", "AHR")
WITH_PRIOR = [(PRIOR_TABLES, score, prior) for score in ("CG", *MVP) for prior in ("EBIC", "Binomial")]
EBIC = [column for column in WITH_PRIOR if column[2] == "EBIC"]
LOGISTIC = scores((5, 6), ("LR 1", "LR log n"))

CLAIMS: dict[str, list[Pair]] = {
    "The binomial prior and EBIC raise precision (AP, AHP) over the uniform prior (Tables 2, 3)": against(
        WITH_PRIOR, PRECISION, uniform, more
    ),
    "and lower recall (AR, AHR)": against(WITH_PRIOR, RECALL, uniform, less),
    "and take less time": against(WITH_PRIOR, ("T",), uniform, less),
    "EBIC has the higher precision (AP), binomial the higher recall (AR)": [
        *against(EBIC, ("AP",), lambda one: (*one[:2], "Binomial"), more),
        *against(EBIC, ("AR",), lambda one: (*one[:2], "Binomial"), less),
    ],
    "As scores they find more than as tests: AR and AHR of Table 5 above Table 4": against(
        scores((5,), ("CG", "CGd", *MVP)), RECALL, lambda one: (4, one[1], ""), more
    ),
    "MVP and LR are alike: AP, AR, AHP, AHR within 0.03 (Tables 5, 6)": against(
        LOGISTIC, STATISTICS[:4], regression, near(0.03)
    ),
    "and LR takes at least five times as long": against(LOGISTIC, ("T",), regression, lambda a, b: a > 5 * b),
    "MVP takes longer than CG (Tables 5, 6)": against(scores((5, 6), MVP), ("T",), same_table("CG"), more),
    "Cutting continuous parents of discrete children (CGd) raises precision (AP, AHP) (Tables 5, 6)": against(
        scores((5, 6), ("CGd",)), PRECISION, same_table("CG"), more
    ),
    "MN loses recall: AR and AHR of the others are higher (Tables 5, 6)": against(
        scores((5, 6), ("CG", "CGd", *MVP)), RECALL, same_table("MN"), more
    ),
    "On linear data MVP has lower precision (AP, AHP) than CG (Table 5)": against(
        scores((5,), MVP), PRECISION, same_table("CG"), less
    ),
    "On non-linear data MVP has higher precision (AP, AHP) than CG (Table 6)": against(
        scores((6,), MVP), PRECISION, same_table("CG"), more
    ),
    "500 variables are found as well as 100: AP, AR, AHP, AHR within 0.06 (Tables 7, 5; CG, CGd, MN)": against(
        scores((7,), ("CG", "CGd", "MN")), STATISTICS[:4], lambda one: (5, *one[1:]), near(0.06)
    ),
    "CG returns 500 variables in less than 10 seconds (Table 7)": against(
        scores((7,), ("CG",)), ("T",), same_table("CG"), lambda a, b: a < 10
    ),
}


def held(pairs: list[Pair], figures: Figures) -> str:
    """In how many of the comparisons that can be made, over both degrees and numbers of rows."""

    def value(column: Column, degree: int, rows: int, statistic: str) -> float | None:
        table = column[0] if column[0] != PRIOR_TABLES else 2 if degree == 2 else 3
        own = figures.get((table, degree, *column[1:], rows))
        return None if own is None else own[STATISTICS.index(statistic)]

    answers = []
    for one, statistic, other, holds in pairs:
        for degree, rows in product((2, 4), ROWS):
            a, b = (value(column, degree, rows, statistic) for column in (one, other))
            if a is not None and b is not None:
                answers.append(holds(a, b))
    return f"{sum(answers)} of {len(answers)}" if answers else "-"


def conclusions(paper: Figures, own: Figures) -> Table:
    table = Table(
        "What the paper concludes, and in how many comparisons of two cells it holds",
        {"conclusion": "", "its figures": "", "ours": ""},
    )
    table.notes.append(
        "Compared are means over the runs that ended. Where cells have different numbers of runs (see the tables) these"
        " are means over different seeds, and a run that did not end within its limit is in none: with few runs read a "
        "count as a hint. A dash: nothing to compare was run."
    )
    table.rows = [[words, held(pairs, paper), held(pairs, own)] for words, pairs in CLAIMS.items()]
    return table


def shown(number: int, paper: Figures, own: Figures, seeds: range) -> Table:
    table = Table(
        f"Table {number}: ours, with the paper's in brackets",
        {"degree": "", "score": "", "prior": "", "rows": ",", **dict.fromkeys(STATISTICS, ""), "runs": ""},
    )
    for place, theirs in paper.items():
        if place[0] != number:
            continue
        mine = own.get(place)
        cells = [f"{'-' if mine is None else f'{mine[i]:.2f}'} ({theirs[i]:.2f})" for i in range(5)]
        table.rows.append([place[1], place[2], place[3] or "-", place[4], *cells, 0 if mine is None else int(mine[5])])
    missing = sum(len(seeds) - row[-1] for row in table.rows)
    if missing:
        table.notes.append(f"{missing} of {len(seeds) * len(table.rows)} repetitions were not run, or did not end.")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables 2 to 7 of Andrews, Ramsey and Cooper (2018).")
    parser.add_argument("--only", nargs="+", type=int, choices=list(PAPER), default=list(PAPER), help="these tables")
    parser.add_argument("--scores", nargs="+", choices=list(SCORES), default=list(SCORES), help="these scores")
    parser.add_argument("--repeats", type=int, default=10, help="repetitions, each with its own seed")
    parser.add_argument("--seed", type=int, default=0, help="of the first repetition")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a run has not ended")
    parser.add_argument("--most", type=float, default=math.inf, help="CPU seconds after which nothing new is begun")
    parser.add_argument(
        "--cells", type=Path, default=HERE / "results" / "andrews-cells.json", help="finished repetitions"
    )
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    options = parser.parse_args()
    facts, kept, seeds = machine(), Kept(options.cells), range(options.seed, options.seed + options.repeats)
    paper = printed()
    began = time.process_time()
    for seed in seeds:  # all cells once before any is run again: what is there after a stop is a whole table
        for place in paper:
            if (
                place[0] not in options.only
                or place[2] not in options.scores
                or time.process_time() - began > options.most
            ):
                continue
            cell = cell_of(place)
            if kept.get(cell, seed) is None:
                kept.put(cell, seed, run(cell, seed, options.limit))
    own = ours(kept, paper, seeds)
    tables: list[Any] = [shown(number, paper, own, seeds) for number in PAPER]
    tables[0].notes.append(
        "Means over the runs; AHR is over all arrowheads of the true DAG, T in CPU seconds of one thread (the paper: "
        "elapsed seconds of its laptop). Searches: ges(extended=False) beside the paper's fGES, cpc(alpha=0.001) "
        "beside its CPC (Table 4)."
    )
    report("andrews-tables", facts, [*tables, conclusions(paper, own)], options.results)


if __name__ == "__main__":
    main()
