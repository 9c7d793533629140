"""Accuracy of TAN classifiers under eight scores on twelve UCI sets, beside Table 2 of the report of Carvalho (2009).

In:  --data DIR with datasets/NAME.csv.gz and NAME.json (the types of the columns, the class).
Out: accuracies with 95 % intervals, the report's figures, and whether its conclusion on soybean-large holds.
The report: A. M. Carvalho, Scoring functions for learning Bayesian networks, INESC-ID Tec. Rep. 54/2009. Every score is
run in two ways (WAYS), because the report does not say how it fills its tables, nor from which rows it takes cuts."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from common import Table, arguments, machine, peer, report

FOLDS = 5  # as in the report
SEED = 1
SHUFFLES = 10  # of soybean-large
SCORES = {
    "LL": "ll",
    "BIC": "bic",
    "NML": "fnml",
    "MIT(0.99)": "mit(alpha=0.99)",
    "K2": "k2",
    "BDeu(1)": "bdeu(ess=1)",
    "BDeu(4)": "bdeu(ess=4)",
    "BDeu(16)": "bdeu(ess=16)",
}
FREQUENCIES, POSTERIOR = "frequencies", "posterior means"
WAYS = {  # what fills the tables, and whether cuts are taken from the whole table (else from the training rows)
    FREQUENCIES: ("ll", True),
    POSTERIOR: (None, False),
}


class Set(NamedTuple):
    """A data set of the report, and its line of Table 2: accuracy and what stands behind ±, in percent."""

    file: str
    test: range | float | None  # the rows to test on, or their share; None: folds
    figures: tuple[tuple[float, float], ...]
    numbered: bool = False  # the row number in order of class is one more attribute


VOTE = (
    (92.17, 1.77), (92.61, 1.73), (95.21, 1.41), (93.48, 1.63),
    (93.48, 1.63), (93.91, 1.58), (93.91, 1.58), (93.91, 1.58),
)  # fmt: skip
GLASS = (
    (93.81, 1.66), (88.57, 2.20), (95.24, 1.47), (92.38, 1.83),
    (92.86, 1.78), (93.81, 1.66), (91.90, 1.88), (91.90, 1.88),
)  # fmt: skip
SETS = {
    "letter": Set("letter", range(15000, 20000), (
        (78.48, 1.13), (77.96, 1.15), (75.02, 1.20), (77.98, 1.15),
        (82.14, 1.06), (82.25, 1.06), (82.12, 1.06), (82.20, 1.06),
    )),
    "satimage": Set("satimage", range(4435, 6435), (
        (78.55, 1.80), (78.00, 1.81), (78.00, 1.81), (78.45, 1.80),
        (77.39, 1.83), (77.39, 1.83), (77.05, 1.83), (77.25, 1.83),
    )),
    "chess": Set("chess-kr-vs-kp", 1066 / 3196, (
        (89.06, 1.87), (88.03, 1.94), (88.13, 1.93), (88.03, 1.94),
        (88.50, 1.91), (88.50, 1.91), (88.50, 1.91), (88.41, 1.91),
    )),
    "vehicle": Set("vehicle", None, (
        (67.69, 1.61), (62.60, 1.67), (63.07, 1.66), (62.84, 1.66),
        (67.57, 1.61), (67.93, 1.61), (67.46, 1.61), (68.17, 1.60),
    )),
    "diabetes": Set("pima-diabetes", None, (
        (77.91, 1.50), (77.91, 1.50), (76.99, 1.52), (76.99, 1.52),
        (77.65, 1.51), (77.65, 1.51), (77.65, 1.51), (77.65, 1.51),
    )),
    "soybean-large": Set("soybean-large-562", None, (
        (61.07, 2.06), (84.29, 1.53), (92.14, 1.14), (88.39, 1.35),
        (72.66, 1.88), (62.50, 2.05), (62.32, 2.05), (62.86, 2.04),
    )),
    "vote": Set("vote", None, VOTE),
    "vote (232 rows)": Set("congressional-voting-records", None, VOTE),
    "heart": Set("statlog-heart", None, (
        (85.19, 2.16), (85.19, 2.17), (84.07, 2.22), (84.07, 2.22),
        (84.07, 2.22), (84.07, 2.22), (84.07, 2.22), (84.07, 2.22),
    )),
    "glass": Set("glass-identification", None, GLASS),
    "glass (with Id)": Set("glass-identification", None, GLASS, numbered=True),
    "iris": Set("iris", None, (
        (93.33, 2.03), (92.00, 2.21), (92.67, 2.12), (93.33, 2.03),
        (92.67, 2.12), (93.33, 2.03), (92.67, 2.13), (93.33, 2.02),
    )),
    "lymphography": Set("lymphography", None, (
        (79.31, 3.36), (77.93, 3.44), (77.24, 3.48), (74.48, 3.62),
        (74.48, 3.62), (74.48, 3.62), (73.79, 3.65), (73.10, 3.68),
    )),
    "hepatitis": Set("hepatitis", None, (
        (95.00, 2.44), (96.25, 2.12), (93.75, 2.71), (93.75, 2.71),
        (86.25, 3.85), (83.75, 4.12), (86.25, 3.85), (85.00, 3.99),
    )),
}  # fmt: skip

AGAIN = {"vote (232 rows)", "glass (with Id)"}  # sets of the report as it may have had them


def read(data: Path, own: Set) -> tuple[Any, str]:
    """The table, and the name of its class. Ordinal columns are levels like any other to these scores."""
    sp = peer("spinney")
    facts = json.loads((data / "datasets" / f"{own.file}.json").read_text())
    frame = pd.read_csv(data / "datasets" / f"{own.file}.csv.gz", dtype=str, keep_default_na=False)
    kinds = {
        column["name"]: sp.Continuous() if column["type"] == "continuous" else sp.Categorical(column["levels"])
        for column in facts["columns"]
    }
    if own.numbered:
        frame = frame.sort_values(facts["target"], kind="stable").reset_index(drop=True)
        frame["Id"], kinds["Id"] = np.arange(len(frame), dtype=float), sp.Continuous()
    return sp.Dataset.from_frame(frame, kinds=kinds), facts["target"]


def cut(data: Any, target: str) -> Any:
    """The table with its continuous columns cut by the classes of all rows, those to be tested included."""
    sp = peer("spinney")
    frame = data.to_arrow().to_pandas()
    continuous = [name for name in data.names if not data.kinds[name].discrete]
    if continuous:
        frame[continuous] = sp.Discretiser("mdl").fit_transform(frame[continuous], frame[target])
    return sp.Dataset.from_frame(frame, kinds=dict.fromkeys(continuous, "ordinal"))


def accuracy(data: Any, target: str, own: Set, score: str, way: str, seed: int = SEED, forest: bool = False) -> Any:
    sp = peer("spinney")
    parameters, whole = WAYS[way]
    model = sp.TANClassifier(score, parameters=parameters, forest=forest)
    table = cut(data, target) if whole else data
    return sp.evaluate.accuracy(model, table, target, folds=FOLDS, holdout=own.test, seed=seed)


def rows_of(folder: Path, name: str) -> list[list[Any]]:
    own, rows = SETS[name], []
    data, target = read(folder, own)
    for (label, score), (figure, spread) in zip(SCORES.items(), own.figures, strict=True):
        for way in WAYS:
            started = time.perf_counter()
            found = accuracy(data, target, own, score, way)
            low, high = found.interval
            percents = [100 * share for share in (found.mean, low, high)]
            seconds = time.perf_counter() - started
            rows.append([name, found.rows, label, figure, spread, way, *percents, percents[0] - figure, seconds])
    return rows


def side_by_side(long: list[list[Any]]) -> list[list[Any]]:
    """Per data set the report's line and ours."""
    lines: list[list[Any]] = []
    for name in dict.fromkeys(row[0] for row in long):
        lines.append([name, "report", *(figure for figure, _ in SETS[name].figures)])
        for way in WAYS:
            lines.append([name, way, *(row[6] for row in long if row[0] == name and row[5] == way)])
    return lines


def soybean(folder: Path) -> Table:
    """The set on which the report finds a difference, with more shuffles than one."""
    own = SETS["soybean-large"]
    data, target = read(folder, own)
    table = Table(
        f"soybean-large, mean of {SHUFFLES} shuffles into {FOLDS} folds",
        {"tables": "", "edges": "", **dict.fromkeys(SCORES, ".1f")},
    )
    table.rows.append(["report", "", *(figure for figure, _ in own.figures)])
    for way in WAYS:
        for forest in (False, True):
            means = [
                np.mean([100 * accuracy(data, target, own, s, way, seed, forest).mean for seed in range(SHUFFLES)])
                for s in SCORES.values()
            ]
            table.rows.append([way, "those that gain" if forest else "a tree", *map(float, means)])
    table.notes = [verdict(table.rows)]
    return table


def verdict(rows: list[list[Any]]) -> str:
    """Is NML far ahead (five points) of LL and of every BDeu?"""
    said = []
    for way, edges, *figures in rows:
        by = dict(zip(SCORES, figures, strict=True))
        bdeu = [by[label] for label in SCORES if label.startswith("BDeu")]
        ahead = f"NML {by['NML']:.1f}, LL {by['LL']:.1f}, BDeu {min(bdeu):.1f} to {max(bdeu):.1f}"
        far = [n for n, other in (("LL", by["LL"]), ("BDeu", max(bdeu))) if by["NML"] - other >= 5]
        said.append(f"{way}{', ' + edges if edges else ''}: {ahead}, far ahead of {' and '.join(far) or 'neither'}")
    holds = any("far ahead of LL and BDeu" in line for line in said[1:])
    spread = max(max(figures) - min(figures) for way, _, *figures in rows if way == POSTERIOR)
    return (
        f"The report's conclusion that NML is far ahead (here: by five points or more) of LL and BDeu on soybean-large "
        f"{'holds' if holds else 'does not hold'}. {'; '.join(said)}. With {POSTERIOR} all eight scores are within "
        f"{spread:.1f} points, with the same trees and folds: what sets them apart with {FREQUENCIES} is the lack of "
        "smoothing."
    )


def notes_of(long: list[list[Any]]) -> list[str]:
    said = []
    for way in WAYS:
        rows = [row for row in long if row[5] == way and row[0] not in AGAIN]
        off: npt.NDArray[np.float64] = np.array([row[9] for row in rows])
        inside = sum(row[7] <= row[3] <= row[8] for row in rows)
        said.append(
            f"{way}: mean difference {off.mean():+.1f}, mean size {np.abs(off).mean():.1f} points, the report's figure "
            f"inside our 95 % interval {inside} of {len(off)} times"
        )
    return [
        f"Accuracy in percent. Two ways: {FREQUENCIES}: tables of relative frequencies, continuous columns cut (Fayyad "
        "and Irani) over the whole table before the rows are split; "
        f"{POSTERIOR}: what TANClassifier does, posterior means (of the score itself where it is Bayesian, else "
        "pseudo-counts 1/2), cuts from the training rows alone. The report says neither. Its figures under LL on "
        "soybean-large (61.07) and on satimage (78.55) are those of relative frequencies without smoothing (a test row "
        "that no class allows gets the most frequent one), so that is what it seems to have used.",
        "Ours: letter and satimage: the usual training and test rows, as in the report; chess: 1,066 test rows drawn "
        f"evenly from both classes (seed {SEED}; the report does not say which); all others {FOLDS} stratified folds "
        f"(seed {SEED}); the report's folds are not known. Intervals: Wilson, 95 %, every row tested once.",
        "The report's ± is 1.96 standard errors of a share on letter, satimage and chess, but one standard error on "
        "the sets with folds (vehicle: sqrt(0.677 x 0.323 / 845) = 1.61 points), though it calls all of them 95 % "
        "intervals.",
        "vote: Table 1 of the report says 435 rows, with a missing vote as a level here; but its figures are multiples "
        "of 1/230, so it seems to have used the 232 rows without missing votes: both are given.",
        "glass: the report's 88 to 95 % are out of reach with the nine measurements. The UCI file is sorted by class "
        "and begins with a row number, Id: with that as one more attribute we come near them, so the report may have "
        "left it in, though its Table 1 says nine attributes.",
        f"The pseudo-counts 1/2 were chosen with nine of these sets in view (all but letter, satimage and chess; under "
        "fnml, bdeu and k2 five ways to fill tables differed by 0.6 points at the most, averaged over the sets), so "
        f"{POSTERIOR} is no blind test of them under the scores that are not Bayesian. {FREQUENCIES} was taken for the "
        "report's way after four combinations (smoothed or not, tree or forest) had been looked at, by the figures "
        "under LL.",
        f"All of the report's sets together: {'; '.join(said)}.",
    ]


def main() -> None:
    options = arguments("TAN classifiers beside the report's Table 2.", list(SETS))
    facts = machine()
    long = Table(
        "Every figure",
        {
            "data": "",
            "tested": ",",
            "score": "",
            "report": ".2f",
            "report ±": ".2f",
            "tables": "",
            "ours": ".2f",
            "from": ".2f",
            "to": ".2f",
            "difference": "+.2f",
            "s": ".2f",
        },
    )
    for name in options.only:
        long.rows += rows_of(options.data, name)
        print(name, *(f"{row[6]:.2f}" for row in long.rows[-2 * len(SCORES) :]), flush=True)
    wide = Table("Table 2, the report and ours", {"data": "", "": "", **dict.fromkeys(SCORES, ".2f")})
    wide.rows, wide.notes = side_by_side(long.rows), notes_of(long.rows)
    tables = [wide, *([soybean(options.data)] if "soybean-large" in options.only else []), long]
    report("carvalho-table2", facts, tables, options.results)


if __name__ == "__main__":
    main()
