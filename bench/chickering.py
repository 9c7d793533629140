"""Decision graphs as in Chickering, Heckerman and Meek (1997): their Tables 1 to 6, beside the paper's figures.

In:  --data DIR with datasets/promoters.csv.gz, datasets/splice-junction.csv.gz and networks/alarm.bif.gz.
Out: chickering-tables: log scores above the lowest of each row, as the paper gives them, and whether its claims hold;
     chickering-optimum: how far greedy search ends below the best of all set partitions;
     chickering-seconds: CPU seconds, and those of the straightforward version in tests/slow beside them."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from common import HERE, Table, arguments, machine, peer, race, report

sys.path.insert(0, str(HERE.parent / "tests"))
from slow.decision_graphs import OPERATORS, Family, Leaves, descendants, greedy
from slow.trees import CATEGORICAL, discrete

WITH_TABLES = ("COMP", *OPERATORS)
SAMPLES = (1, 2, 3)  # seeds of the rows drawn from alarm
ROWS = 1000
MOST_CONFIGURATIONS = 8
STEPS = ("best", "splits-first")  # the best operator at every step; splits and merges in turns
QUANTILES = (0.5, 0.9, 0.99)
REDUCED_ROWS, REDUCED_PARENTS = 300, tuple(f"x{place}" for place in range(25, 37))  # around the junction

PROMOTER = {
    "uniform": (0, 13.62, 6.07, 22.13, 26.11, 26.11),
    "upn(10)": (0, 6.12, 4.21, 9.5, 10.82, 12.93),
    "upn(20)": (0, 5.09, 3.34, 14.11, 12.11, 14.12),
    "upn(30)": (0, 4.62, 2.97, 10.93, 12.98, 16.65),
    "upn(40)": (0, 3.14, 1.27, 16.3, 13.54, 16.02),
    "upn(50)": (0, 2.99, 1.12, 15.76, 15.54, 17.54),
}
SPLICE = (0, 383, 363, 464, 655, 687)
ALARM = {  # Tables 3 to 5
    "S": (0, 134, 186, 165, 257, 270, 270),
    "U": (255, 0, 256, 241, 869, 977, 1136),
    "C": (0, 179, 334, 307, 553, 728, 790),
}
TABLE_6 = {
    "S": (278, 412, 464, 443, 534, 548, 548),
    "U": (255, 0, 256, 241, 869, 976, 1136),
    "C": (336, 515, 670, 643, 889, 1064, 1126),
}
EXPERIMENTS = {
    "S": "Table 3: alarm, the true DAG",
    "U": "Table 4: alarm, local and global search",
    "C": "Table 5: alarm, local and global search among the true non-descendants",
}

Scores = dict[str, float]  # operators -> log score
Pair = tuple[str, float, float]  # where, what should be larger, than what


def graph(operators: str, prior: str = "uniform", **rest: Any) -> Any:
    word, _, ess = prior.rstrip(")").partition("(")
    return peer("spinney").Graph(operators=operators, prior=word, ess=float(ess or 1), **rest)


def read(data: Path, name: str) -> Any:
    return peer("spinney").Dataset.read(data / "datasets" / f"{name}.csv.gz")


# Tables


def one_node(data: Any, child: str, prior: str, steps: str, filled: bool = False) -> Scores:
    """All other columns are the child's parents."""
    parents = [name for name in data.names if name != child]
    choices = {o: graph(o, prior, steps=steps, filled=filled) for o in OPERATORS}
    return {o: peer("spinney").local_score(data, child, parents, choice) for o, choice in choices.items()}


def alarm(truth: Any, data: Any, steps: str) -> dict[str, Scores]:
    """The three experiments, with the score of complete tables (k2) as COMP."""
    sp = peer("spinney")
    before = {child: set(data.names) - {child} - descendants(truth.parents, child) for child in data.names}
    free: dict[str, Any] = {"max_parents": None, "n_jobs": 1}
    climb = {**free, "search": "hc", "restarts": 0}
    joint = {**free, "search": "local-global"}
    graphs = {o: graph(o, steps=steps) for o in OPERATORS}
    return {
        "S": {"COMP": sp.score(data, truth, "k2"), **{o: sp.score(data, truth, g) for o, g in graphs.items()}},
        "U": {
            "COMP": sp.find(data, "k2", **climb).score,
            **{o: sp.find(data, g, **joint).score for o, g in graphs.items()},
        },
        "C": {
            "COMP": sp.find(data, "k2", candidates=before, start=truth, **climb).score,
            **{o: sp.find(data, g, candidates=before, **joint).score for o, g in graphs.items()},
        },
    }


def above(scores: Scores, lowest: float | None = None) -> list[float]:
    floor = min(scores.values()) if lowest is None else lowest
    return [score - floor for score in scores.values()]


def relative(title: str, columns: Iterable[str], digits: int = 0) -> Table:
    return Table(title, {"": "", "from": "", **dict.fromkeys(columns, f".{digits}f"), "lowest log score": ".3f"})


def claim(text: str, pairs: Iterable[Pair]) -> str:
    """How often it holds here, and where it does not."""
    every = list(pairs)
    failing = [f"{where} ({more - less:+.1f})" for where, more, less in every if not more > less]
    said = f"Paper: {text} Here: in {len(every) - len(failing)} of {len(every)} cases"
    return said + (": it holds." if not failing else f"; not in {', '.join(failing)}.")


def merges(rows: Mapping[str, Scores]) -> list[Pair]:
    return [(f"{row} {o}", s[o], s[o.removesuffix("M")]) for row, s in rows.items() for o in ("CM", "BM", "CBM")]


def node_tables(data: Path) -> list[Table]:
    promoters, splice = read(data, "promoters"), read(data, "splice-junction")
    first = relative("Table 1: promoters", OPERATORS, 2)
    ours: dict[str, Scores] = {}
    off = {}
    for prior, paper in PROMOTER.items():
        first.rows.append([prior, "paper", *map(float, paper), None])
        for steps in STEPS:
            found = ours[f"{prior} {steps}"] = one_node(promoters, "promoter", prior, steps)
            first.rows.append([prior, f"here, {steps}", *above(found), min(found.values())])
        parted = one_node(promoters, "promoter", prior, "best", filled=True)
        first.rows.append([prior, "here, filled", *above(parted), min(parted.values())])
        trees = zip(OPERATORS, above(parted), paper, strict=True)
        off[prior] = max(abs(here - there) for word, here, there in trees if "M" not in word)
    far = max(off, key=lambda prior: off[prior])
    first.notes = [
        f"{promoters.n_rows} rows, {len(promoters.names) - 1} parents. The paper prints U-PN 40 twice; the second is "
        "taken for 50. Here, best: the best operator at every step, as the paper says; splits-first: splits as long as "
        "one gains, then merges, in turns; filled: best, and a split must send rows into at least two leaves.",
        f"With filled=True the trees (C, B, CB) are the paper's under every prior: at most {off[far]:.2f} off "
        f"({far}). Without it, U-PN gains from leaves without rows. Those with merges are not the paper's.",
        claim("without exception merges make it more probable.", merges(ours)),
        claim(
            "complete splits beside binary ones make trees less probable (B above CB).",
            [(prior, ours[f"{prior} best"]["B"], ours[f"{prior} best"]["CB"]) for prior in PROMOTER],
        ),
    ]
    second = relative("Table 2: splice junctions", OPERATORS)
    junctions = {steps: one_node(splice, "class", "uniform", steps) for steps in STEPS}
    second.rows = [
        ["uniform", "paper", *map(float, SPLICE), None],
        *(["uniform", f"here, {steps}", *above(s), min(s.values())] for steps, s in junctions.items()),
    ]
    second.notes = [
        f"{splice.n_rows:,} rows, {len(splice.names) - 1} parents; ambiguous bases are levels of their own.",
        claim("merges make it more probable.", merges(junctions)),
        claim("CBM is above BM.", [(steps, s["CBM"], s["BM"]) for steps, s in junctions.items()]),
        claim("B is above CB.", [("trees", junctions["best"]["B"], junctions["best"]["CB"])]),
    ]
    return [first, second]


Runs = Mapping[tuple[int, str], Mapping[str, Scores]]  # sample, steps -> experiment -> scores


def alarm_tables(data: Path) -> list[Table]:
    truth = peer("spinney").Network.read(data / "networks" / "alarm.bif.gz")
    samples = {seed: truth.sample(ROWS, seed=seed) for seed in SAMPLES}
    runs = {(seed, steps): alarm(truth, samples[seed], steps) for seed in SAMPLES for steps in STEPS}
    tables = []
    for experiment, title in EXPERIMENTS.items():
        table = relative(title, WITH_TABLES)
        table.rows.append(["", "paper", *map(float, ALARM[experiment]), None])
        for (seed, steps), run in runs.items():
            scores = run[experiment]
            table.rows.append([f"sample {seed}", f"here, {steps}", *above(scores), min(scores.values())])
        own = {f"{seed} {steps}": run[experiment] for (seed, steps), run in runs.items()}
        table.notes = [
            claim("merges make it more probable.", merges(own)),
            claim(
                "decision graphs beat complete tables by hundreds (CBM above COMP by 100 at least).",
                [(row, s["CBM"], s["COMP"] + 100) for row, s in own.items()],
            ),
        ]
        tables.append(table)
    tables[0].notes.insert(
        0,
        f"{ROWS:,} rows drawn from alarm by `Network.sample` (seeds {', '.join(map(str, SAMPLES))}); the paper's are "
        "not known. Uniform prior; COMP is k2.",
    )
    tables[1].notes += [
        "COMP: hill climbing over tables from no edges (one climb: add, remove, turn).",
        claim(
            "complete tables beat trees of complete splits, with and without binary ones (COMP above C and CB).",
            [
                (f"{seed} {o}", run["U"]["COMP"], run["U"][o])
                for (seed, steps), run in runs.items()
                for o in ("C", "CB")
                if steps == "best"
            ],
        ),
    ]
    tables[2].notes.append("COMP: hill climbing over tables from the true DAG.")
    return [*tables, table_6(runs)]


def table_6(runs: Runs) -> Table:
    table = relative("Table 6: alarm, all experiments above the lowest of all", WITH_TABLES)
    for experiment, paper in TABLE_6.items():
        table.rows.append([experiment, "paper", *map(float, paper), None])
        for (seed, steps), run in runs.items():
            lowest = min(score for scores in run.values() for score in scores.values())
            table.rows.append([experiment, f"sample {seed}, {steps}", *above(run[experiment], lowest), lowest])
    table.notes = [
        claim(
            "every graph (CM, BM, CBM) found with the structure is above all those on the true structure.",
            [
                (f"{seed} {steps} {which} {o}", run[which][o], max(run["S"].values()))
                for (seed, steps), run in runs.items()
                for which in "UC"
                for o in ("CM", "BM", "CBM")
            ],
        ),
        claim(
            "the constrained searches behave as the free ones (the same order of every two operator sets).",
            [
                (f"{seed} {steps} {more}, {less}", run["C"][more], run["C"][less])
                for (seed, steps), run in runs.items()
                for more in OPERATORS
                for less in OPERATORS
                if run["U"][more] > run["U"][less]
            ],
        ),
    ]
    return table


# Greedy search and the optimum


def small_families(data: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Every child with every set of parents that has 2 to 8 configurations."""
    sizes = {name: len(data.levels(name)) for name in data.names}
    sets: list[tuple[tuple[str, ...], int]] = [((), 1)]
    for name in data.names:
        sets += [((*own, name), q * sizes[name]) for own, q in sets if q * sizes[name] <= MOST_CONFIGURATIONS]
    return [(child, own) for child in data.names for own, q in sets if q > 1 and child not in own]


def optimum_table(data: Path) -> Table:
    sp = peer("spinney")
    sample = sp.Network.read(data / "networks" / "alarm.bif.gz").sample(ROWS, seed=SAMPLES[0])
    families = small_families(sample)
    table = Table(
        f"The best of all set partitions less greedy search: alarm, {ROWS:,} rows, {len(families):,} families",
        {
            "prior": "", "operators": "", "steps": "", "reached": ".1%", "mean": ".3f", "median": ".3f", "90 %": ".3f",
            "99 %": ".3f", "largest": ".2f", "mean of those not reached": ".3f",
        },
    )  # fmt: skip
    for prior in ("uniform", "upn(10)"):
        best = np.array(sp.local_scores(sample, families, graph("CBM", prior, optimal=True)))
        for operators in OPERATORS:
            for steps in STEPS if "M" in operators else STEPS[:1]:
                gap = best - np.array(sp.local_scores(sample, families, graph(operators, prior, steps=steps)))
                short = gap > 1e-7
                table.rows.append([
                    prior, operators, steps, float(1 - short.mean()), float(gap.mean()),
                    *np.quantile(gap, QUANTILES).tolist(), float(gap.max()),
                    float(gap[short].mean()) if short.any() else None,
                ])  # fmt: skip
    table.notes = [
        f"All families with 2 to {MOST_CONFIGURATIONS} configurations of the parents; nats. Reached: within 1e-7.",
    ]
    return table


# Seconds


def seconds_table(data: Path, repeats: int) -> Table:
    sp = peer("spinney")
    splice = read(data, "splice-junction")
    bases = [name for name in splice.names if name != "class"]
    sample = sp.Network.read(data / "networks" / "alarm.bif.gz").sample(ROWS, seed=SAMPLES[0])
    reduced, of = reduced_splice(splice)
    runs = race(
        {
            "splice, CBM, all rows and parents": lambda: lambda: sp.local_score(splice, "class", bases, "graph"),
            "alarm, local-global, CBM": lambda: (
                lambda: sp.find(sample, "graph", search="local-global", max_parents=None, n_jobs=1).score
            ),
            "reduced splice, CBM": lambda: lambda: sp.local_score(reduced, "class", REDUCED_PARENTS, "graph"),
            "reduced splice, CBM, straightforward": lambda: lambda: of.score(greedy(of)[0]),
        },
        repeats,
    )
    table = Table("One thread", {"case": "", "CPU s": ".5f", "wall s": ".5f", "runs": "", "log score": ".6f"})
    table.rows = [[name, run.cpu, run.wall, run.runs, run.answer] for name, run in runs.items()]
    fast, slow = (runs[name] for name in ("reduced splice, CBM", "reduced splice, CBM, straightforward"))
    table.notes = [
        f"Reduced: {REDUCED_ROWS} rows, evenly spread, and the {len(REDUCED_PARENTS)} bases {REDUCED_PARENTS[0]} to "
        f"{REDUCED_PARENTS[-1]}, with the levels that occur there. Straightforward: tests/slow/decision_graphs.py, "
        "which applies every operator and scores every leaf from the rows, in plain Python: "
        f"{slow.cpu / fast.cpu:,.0f} times the seconds (algorithm and language together; they were not measured "
        f"apart). The scores differ by {abs(slow.answer - fast.answer):.1e}.",
    ]
    return table


def reduced_splice(splice: Any) -> tuple[Any, Family]:
    """The same few rows and parents for both sides."""
    rows = np.arange(REDUCED_ROWS) * (splice.n_rows // REDUCED_ROWS)
    seen = {name: np.unique(splice.codes(name)[rows], return_inverse=True) for name in ("class", *REDUCED_PARENTS)}
    levels = [[splice.levels(name)[code] for code in codes] for name, (codes, _) in seen.items()]
    reduced = peer("spinney").Dataset.from_codes(
        list(seen), [codes.astype(np.uint8) for _, codes in seen.values()], levels
    )
    child, *parents = (discrete(CATEGORICAL, codes.tolist(), len(own)) for own, codes in seen.values())
    return reduced, Family(child, parents, Leaves())


def main() -> None:
    options = arguments(
        "Decision graphs as in Chickering, Heckerman and Meek (1997).", ["tables", "optimum", "seconds"]
    )
    facts = machine()
    if "tables" in options.only:
        report("chickering-tables", facts, [*node_tables(options.data), *alarm_tables(options.data)], options.results)
    if "optimum" in options.only:
        report("chickering-optimum", facts, [optimum_table(options.data)], options.results)
    if "seconds" in options.only:
        report("chickering-seconds", facts, [seconds_table(options.data, options.repeats)], options.results)


if __name__ == "__main__":
    main()
