"""Scores of mixed tables: microseconds per family beside PyBNesian, growth with the rows, hill climbing; in one run.

In:  nothing; tables of half continuous, half categorical columns are drawn here (seed 1).
Out: five tables: all families of up to two parents on 100 variables and 1,000 rows; lr beside mvp; growth to a
     million rows, with all that is prepared and, for the scores that read one matrix, without; hill climbing on 40
     columns.
One thread unless it says otherwise. A run starts from columns in memory: standardising and matrices are inside unless
it says otherwise."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from common import Prepare, Table, arguments, machine, peer, race, report

ROWS, VARIABLES = 1000, 100
GROWTH, GROWTH_VARIABLES = [1_000, 10_000, 100_000, 1_000_000], 20
CLIMB, CLIMB_VARIABLES, CLIMB_PARENTS = [10_000, 100_000, 1_000_000], 40, 5
SCORES = {"cg": {}, "cgd": {}, "mn": {}, "dg": {}, "bf(3)": {"degree": 3}, "bge": {}}
MATRIX_SCORES = ("dg", "bf(3)", "bge")
PEER_FAMILIES = 3000
REGRESSIONS, REGRESSED = ("mvp", "lr", "mvp(degree=log)", "lr(degree=log)"), 30  # scores, variables

Family = tuple[str, tuple[str, ...]]


def mixed_frame(rows: int, variables: int) -> pd.DataFrame:
    """Every column leans on the three before it; every second one is cut into 2 to 5 levels at its quantiles."""
    rng = np.random.default_rng(1)
    numbers: list[Any] = []
    frame = {}
    for i in range(variables):
        lean = 0.5 * sum(column - column.mean() for column in numbers[-3:]) + rng.normal(size=rows)
        name = f"v{i:03d}"
        if i % 2 == 0:
            numbers.append(lean)
            frame[name] = lean
            continue
        levels = 2 + i // 2 % 4
        codes = np.searchsorted(np.quantile(lean, np.arange(1, levels) / levels), lean)
        numbers.append(codes.astype(float))
        frame[name] = pd.Categorical.from_codes(codes, [f"l{level}" for level in range(levels)])
    return pd.DataFrame(frame)


def continuous(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[name for name in frame if frame[name].dtype == float]]


def families_of(names: Sequence[str], most: int = 2) -> list[Family]:
    return [
        (child, parents)
        for child in names
        for size in range(most + 1)
        for parents in itertools.combinations([name for name in names if name != child], size)
    ]


def spinney(frame: pd.DataFrame, score: str) -> Prepare:
    """All parent sets of up to two parents, none pruned; their number and the sets."""
    sp = peer("spinney")

    def prepare() -> Callable[[], Any]:
        data = sp.Dataset.from_frame(continuous(frame) if score == "bge" else frame)
        count = len(families_of(data.names))
        return lambda: (
            count,
            sp.score_parent_sets(data, score=score, max_parents=2, prune=False, bounds=False, n_jobs=1),
        )

    return prepare


def one_by_one(frame: pd.DataFrame, score: str, families: Sequence[Family]) -> list[float]:
    sp = peer("spinney")
    found: list[float] = sp.local_scores(sp.Dataset.from_frame(frame), families, score)
    return found


def pybnesian(frame: pd.DataFrame, score: str, families: Sequence[Family]) -> Prepare:
    """CLG networks under BIC, Gaussian ones under BGe; scored family by family, as its searches do."""
    pbn = peer("pybnesian")
    queries = [(child, list(parents)) for child, parents in families]

    def prepare() -> Callable[[], list[float]]:
        if score == "bge":
            network, scorer = pbn.GaussianNetwork(list(frame)), pbn.BGe(frame)
        else:
            network, scorer = pbn.CLGNetwork(list(frame)), pbn.BIC(frame)
        return lambda: [scorer.local_score(network, child, parents) for child, parents in queries]

    return prepare


def subset(families: Sequence[Family]) -> list[Family]:
    size = min(PEER_FAMILIES, len(families))
    chosen = np.random.default_rng(1).choice(len(families), size=size, replace=False)
    return [families[position] for position in sorted(chosen)]


def per_family(repeats: int) -> Table:
    frame = mixed_frame(ROWS, VARIABLES)
    numbers = continuous(frame)
    standard = (numbers - numbers.mean()) / numbers.std(ddof=0)
    # It has no scores of discrete children with continuous parents.
    allowed = [
        (child, parents)
        for child, parents in families_of(list(frame))
        if child in numbers or not any(p in numbers for p in parents)
    ]
    asked = {"cg": (frame, subset(allowed)), "bge": (standard, subset(families_of(list(numbers))))}
    timed = race(
        {
            **{score: spinney(frame, score) for score in SCORES},
            **{f"PyBNesian {score}": pybnesian(*asked[score][:1], score, asked[score][1]) for score in asked},
        },
        repeats,
    )
    table = Table(
        f"Microseconds per family: {VARIABLES} mixed variables, {ROWS:,} rows, up to two parents, one thread",
        {"who": "", "score": "", "families": ",", "us per family": ".3f", "spinney is faster by": ".0f",
         "largest relative difference": ".1e"},
    )  # fmt: skip
    micro = {}
    for score in SCORES:
        count = timed[score].answer[0]
        micro[score] = timed[score].cpu / count * 1e6
        table.rows.append(["spinney", score, count, micro[score], None, None])
    infinite: dict[str, int] = {}
    for score, (given, families) in asked.items():
        theirs = timed[f"PyBNesian {score}"]
        ours = one_by_one(given, score, families)
        pairs = [(a, b) for a, b in zip(ours, theirs.answer, strict=True) if np.isfinite(b)]
        infinite[score] = len(ours) - len(pairs)
        apart = max(abs(a - b) / max(1.0, abs(a)) for a, b in pairs)
        each = theirs.cpu / len(families) * 1e6
        name = "CLG BIC" if score == "cg" else "BGe"
        table.rows.append(["PyBNesian", name, len(families), each, each / micro[score], apart])
    table.notes = [
        f"PyBNesian scores a random subset (seed 1) of {PEER_FAMILIES:,} families; of CLG BIC those that it can: "
        "discrete children with discrete parents, and continuous children.",
        "bge and BGe: the continuous half of the columns, standardised. In CLG BIC the variances of PyBNesian have the "
        "divisor rows less parameters, and cells with few rows are treated in another way: this is the difference; "
        f"{infinite['cg']} families have -inf there and are not compared.",
    ]
    return table


def regressions(repeats: int) -> Table:
    """mvp and lr differ for discrete children with continuous parents only, so these have a column of their own."""
    sp = peer("spinney")
    frame = mixed_frame(ROWS, REGRESSED)
    numbers = set(continuous(frame))
    every = families_of(list(frame))
    own = [f for f in every if f[0] not in numbers and any(p in numbers for p in f[1])]

    def prepare(score: str, families: Sequence[Family]) -> Prepare:
        def built() -> Callable[[], Any]:
            data = sp.Dataset.from_frame(frame)
            return lambda: sp.local_scores(data, families, score)

        return built

    asked = {"all": every, "discrete child, continuous parent": own}
    timed = race({f"{score} {what}": prepare(score, asked[what]) for score in REGRESSIONS for what in asked}, repeats)
    table = Table(
        f"lr beside mvp, microseconds per family: {REGRESSED} mixed variables, {ROWS:,} rows, up to two parents",
        {"families": "", "number": ",", **dict.fromkeys(REGRESSIONS, ".1f"), "lr / mvp": ".1f", "of degree log": ".1f"},
    )
    for what, families in asked.items():
        micro = [timed[f"{score} {what}"].cpu / len(families) * 1e6 for score in REGRESSIONS]
        table.rows.append([what, len(families), *micro, micro[1] / micro[0], micro[3] / micro[2]])
    return table


def growth(repeats: int) -> Table:
    table = Table(
        f"Growth with N: microseconds per family of up to two parents over {GROWTH_VARIABLES} mixed variables",
        {"N": ",", "families": ",", **dict.fromkeys(SCORES, ".2f"), "cg, ns per row": ".3f"},
    )
    for rows in GROWTH:
        frame = mixed_frame(rows, GROWTH_VARIABLES)
        timed = race({score: spinney(frame, score) for score in SCORES}, repeats if rows < 100_000 else 1)
        micro = {score: timed[score].cpu / timed[score].answer[0] * 1e6 for score in SCORES}
        table.rows.append([rows, timed["cg"].answer[0], *micro.values(), micro["cg"] * 1e3 / rows])
    table.notes = [
        "Everything is counted in: columns standardised, for cgd and mn also cut, which means sorted; for dg, bf, bge "
        "the one matrix. The next table has these three without it.",
    ]
    return table


def after_the_matrix(repeats: int) -> Table:
    sp = peer("spinney")
    table = Table(
        f"The same families once the matrix is there: microseconds per family, {GROWTH_VARIABLES} variables",
        {"N": ",", "families": ",", **dict.fromkeys(MATRIX_SCORES, ".2f")},
    )
    for rows in GROWTH:
        frame = mixed_frame(rows, GROWTH_VARIABLES)
        runs, counts = {}, {}
        for score in MATRIX_SCORES:
            data = sp.Dataset.from_frame(continuous(frame) if score == "bge" else frame)
            asked = families_of(data.names) * 5
            counts[score] = len(asked)
            own = peer("spinney.scores").build_source(data, score)
            own.local_scores(asked[:1])
            runs[score] = lambda own=own, asked=asked: lambda: own.local_scores(asked)
        timed = race(runs, repeats)
        micro = [timed[score].cpu / counts[score] * 1e6 for score in MATRIX_SCORES]
        table.rows.append([rows, counts[MATRIX_SCORES[0]], *micro])
    table.notes = ["Families are asked for by name; bge has the continuous half of the columns."]
    return table


def climb() -> Table:
    """From the empty graph, additions, removals and turns until none improves."""
    sp = peer("spinney")
    table = Table(
        f"Hill climbing on {CLIMB_VARIABLES} mixed columns, up to {CLIMB_PARENTS} parents, two threads",
        {"N": ",", "score": "", "edges": "", "wall, s": ".2f", "CPU, s": ".2f"},
    )
    for rows in CLIMB:
        frame = mixed_frame(rows, CLIMB_VARIABLES)
        for score in ("cg", "dg"):

            def prepare(score: str = score, frame: pd.DataFrame = frame) -> Any:
                data = sp.Dataset.from_frame(frame)
                return lambda: sp.find(data, score, search="hc(restarts=0)", max_parents=CLIMB_PARENTS, n_jobs=2)

            timed = race({"run": prepare}, 1)["run"]
            edges = sum(map(len, timed.answer.parents.values()))
            table.rows.append([rows, score, edges, timed.wall, timed.cpu])
    return table


def main() -> None:
    options = arguments(
        "Scores of mixed tables beside PyBNesian.", ["families", "regressions", "growth", "climb"], needs_data=False
    )
    facts = machine()
    tables = []
    if "families" in options.only:
        tables.append(per_family(options.repeats))
    if "regressions" in options.only:
        tables.append(regressions(options.repeats))
    if "growth" in options.only:
        tables += [growth(options.repeats), after_the_matrix(options.repeats)]
    if "climb" in options.only:
        tables.append(climb())
    report("mixed", facts, tables, options.results)


if __name__ == "__main__":
    main()
