"""PCART and FT beside the published program: local scores, all parent sets of a table (Step 1), and alarm.

In:  --data DIR with pcart_bench/ (tables, reference scores and times) and samples/alarm.csv.gz.
Out: milliseconds per local score of four parents, nanoseconds per split, seconds of Step 1, differences of the scores.
The published times are another machine's; scores are compared one by one wherever the leaf formulas are the same."""

import json
import math
import resource
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from common import Table, arguments, machine, peer, race, report

Family = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Goal:
    """ms per local score: the published dynamic programme without its tree extraction, and our limit."""

    published: float
    target: float


GOALS = {  # issue 3
    "a_cat4_N1000": Goal(105, 0.6),
    "a_cat4_N5000": Goal(356, 0.8),
    "b_cat5_N1000": Goal(3148, 18),
    "c_real_s5_N500": Goal(68, 4),
    "c_real_s5_N2000": Goal(306, 20),
    "d_mix_N1000": Goal(46, 4),
    "d_mix_N5000": Goal(260, 15),
    "e_ord5_N1000": Goal(56, 4),
}
FT_GAIN = 10  # times faster than published, where parents are continuous
STEP1 = {"step1_cat18_N1000": 1.5, "step1_cat15k4_N1000": 8.0}  # seconds, one thread
ALARM_SECONDS = 60
BIN_CHOICES = 6  # ft: 2 to 7 bins; our score holds the log of each choice's probability, the published one does not


def read_bench(data: Path, name: str) -> tuple[Any, dict[str, str]]:
    """A table of pcart_bench as a Dataset, and the types of its columns. The values are standardised already."""
    sp = peer("spinney")
    folder = data / "pcart_bench"
    spec = json.loads((folder / f"{name}.json").read_text())
    kinds: dict[str, Any] = {}
    for var in spec["vars"]:
        if var["type"] == "real":
            kinds[var["name"]] = sp.Continuous(var["lo"], var["hi"])
        else:
            kinds[var["name"]] = {"cat": sp.Categorical, "ord": sp.Ordinal}[var["type"]](range(var["k"]))
    frame = pd.read_csv(folder / f"{name}.csv")
    return sp.Dataset.from_frame(frame, kinds=kinds, standardise=False), {v["name"]: v["type"] for v in spec["vars"]}


def family(child: int, parents: Iterable[int]) -> Family:
    return f"x{child}", tuple(f"x{parent}" for parent in parents)


def largest_difference(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Relative; None where nothing compares."""
    return max((abs(ours - theirs) / abs(theirs) for ours, theirs in pairs), default=None)


def all_splits(levels: Sequence[int], kind: str) -> float:
    """Splits of all nodes over these discrete parents: no search of the finest table tries more. inf for real ones."""
    if kind not in ("cat", "ord"):
        return math.inf
    if kind == "cat":  # a node is a set of levels per parent; a set of c levels splits in 2^(c-1) - 1 ways
        nodes = [2**k - 1 for k in levels]
        splits = [sum(math.comb(k, c) * (2 ** (c - 1) - 1) for c in range(1, k + 1)) for k in levels]
    else:  # an interval of levels
        nodes = [k * (k + 1) // 2 for k in levels]
        splits = [sum((k - c + 1) * (c - 1) for c in range(1, k + 1)) for k in levels]
    return float(sum(math.prod(nodes) // node * split for node, split in zip(nodes, splits, strict=True)))


def split_count(data: Any, task: Mapping[str, Any], types: Mapping[str, str]) -> float:
    """The published count less what its tree extraction repeats, where that shows: beyond all splits there are."""
    _, parents = family(task["v"], task["P"])
    found = {types[parent] for parent in parents}
    kind = found.pop() if len(found) == 1 else "mixed"
    levels = [len(data.levels(parent)) for parent in parents] if kind in ("cat", "ord") else []
    return min(float(task["splits_tried"]), all_splits(levels, kind))


def local_table(data: Path, repeats: int) -> Table:
    sp = peer("spinney")
    table = Table(
        "Local scores with four parents, one thread",
        {
            "file": "",
            "scores": ",",
            "published ms": ",.1f",
            "ours ms": ".3f",
            "times faster": ",.0f",
            "target ms": ".1f",
            "met?": "",
            "splits": ",.0f",
            "ns per split": ".2f",
            "largest difference": ".1e",
            "FT published ms": ",.2f",
            "FT ours ms": ".3f",
            "FT times faster": ",.0f",
            "FT largest difference": ".1e",
        },
    )
    for name, stored in json.loads((data / "pcart_bench" / "local_scores.json").read_text()).items():
        dataset, types = read_bench(data, name)
        tasks = stored["tasks"]
        families = [family(task["v"], task["P"]) for task in tasks]
        runs = {
            score: lambda score=score, dataset=dataset, families=families: (
                lambda: sp.local_scores(dataset, families, score)
            )
            for score in ("pcart", "ft")
        }
        timed = race(runs, repeats)
        ours, ft = (1e3 * timed[score].cpu / len(tasks) for score in runs)
        splits = sum(split_count(dataset, task, types) for task in tasks) / len(tasks)
        goal = GOALS.get(name)
        published = goal.published if goal else stored["summary_mean"]["us_O3"] / 1e3
        ft_published = stored["summary_mean"]["ft_us_O3"] / 1e3
        table.rows.append([
            name, len(tasks), published, ours, published / ours, goal.target if goal else None,
            ("yes" if ours <= goal.target else "no") if goal else "no target", splits, 1e6 * ours / splits,
            largest_difference(tree_pairs(timed["pcart"].answer, tasks, types)), ft_published, ft, ft_published / ft,
            largest_difference(ft_pairs(timed["ft"].answer, tasks, types)),
        ])  # fmt: skip
    table.notes = local_notes(table)
    return table


def tree_pairs(scores: Sequence[float], tasks: Sequence[Any], types: Mapping[str, str]) -> list[tuple[float, float]]:
    pairs = zip(scores, tasks, strict=True)
    return [(score, task["score_ref"]) for score, task in pairs if types[f"x{task['v']}"] == "cat"]


def ft_pairs(scores: Sequence[float], tasks: Sequence[Any], types: Mapping[str, str]) -> list[tuple[float, float]]:
    """Ours less the log prior of the numbers of bins; categorical children, or those of the coherent build."""
    pairs = []
    for score, task in zip(scores, tasks, strict=True):
        cut = sum(types[f"x{parent}"] != "cat" for parent in task["P"])
        if "ft_coherent" in task or types[f"x{task['v']}"] == "cat":
            pairs.append((score + cut * math.log(BIN_CHOICES), task.get("ft_coherent", task.get("ft_ref"))))
    return pairs


def local_notes(table: Table) -> list[str]:
    place = {heading: i for i, heading in enumerate(table.columns)}
    missed = [row[0] for row in table.rows if row[place["met?"]] == "no"]
    slow = [row[0] for row in table.rows if row[0][0] in "cd" and row[place["FT times faster"]] < FT_GAIN]
    return [
        "Ours: CPU ms, the fastest of a few runs of one `local_scores` call over all tasks of the file, set-up "
        "included. Published: the means on a loaded machine; PCART's is the dynamic programme without the tree "
        "extraction (issue 3), for e_ord5_N5000, which has no target, the whole.",
        "Splits: mean per score as the files count them (tree extraction included); for four parents of one discrete "
        "kind at most the number of all splits of all nodes, which a search without repetition cannot exceed. For "
        "continuous and mixed parents the count still holds the repetitions, so ns per split flatters there. "
        "Nodes that a bound leaves out are not subtracted.",
        "Largest difference: relative, from score_ref, categorical children only; the published leaf formulas of the "
        f"others differ. FT: with {BIN_CHOICES} equally probable numbers of bins per cut parent taken out of our "
        "score; categorical children, and for e_ord5 the published program's coherent build.",
        f"PCART targets: {verdict(missed)}. FT at least {FT_GAIN} times as fast with continuous parents: "
        f"{verdict(slow)}.",
    ]


def step1_table(data: Path, repeats: int) -> Table:
    sp = peer("spinney")
    table = Table(
        "Step 1: all parent sets of up to four parents, pcart, uniform prior, one thread",
        {
            "file": "",
            "families": ",",
            "scored": ",",
            "kept": ",",
            "published s": ",.0f",
            "ours s": ".3f",
            "times faster": ",.0f",
            "target s": ".1f",
            "met?": "",
            "listed": ",",
            "of them kept": ",",
            "largest difference": ".1e",
            "wrongly dropped": ",",
        },
    )
    for name, target in STEP1.items():
        dataset, _ = read_bench(data, name)
        reference = json.loads((data / "pcart_bench" / f"{name}_ref.json").read_text())

        def prepare(dataset: Any = dataset) -> Callable[[], Any]:
            return partial(sp.score_parent_sets, dataset, "pcart", prior="uniform", max_parents=4, n_jobs=1)

        timed = race({name: prepare}, repeats, budget=10)[name]
        listed = {family(v, parents): score for v, parents, score, *_ in reference["scores"] or []}
        last = reference["extrapolated_size4"]
        listed |= {family(task["v"], task["P"]): task["score"] for task in last["tasks"]}
        pairs, wrong = compared(timed.answer, listed)
        published = reference["pcart_cpu_s"] + last["pcart_cpu_s"]
        table.rows.append([
            name, timed.answer.families, timed.answer.scored, len(timed.answer), published, timed.cpu,
            published / timed.cpu, target, "yes" if timed.cpu <= target else "no", len(listed), len(pairs),
            largest_difference(pairs), wrong,
        ])  # fmt: skip
    table.notes = [
        "Published: CPU s of all sets of up to three parents, and of those of four extrapolated from 300 and 60 drawn "
        "sets. Ours: CPU s, the fastest run. Scored: what the bounds left to be scored.",
        "Listed: reference scores there are. A listed set that we kept must have its score (largest relative "
        "difference); one that we dropped must not beat the best kept subset of it (else it is wrongly dropped). "
        "step1_cat18's reference scores have seven decimals.",
    ]
    return table


def compared(sets: Any, listed: Mapping[Family, float]) -> tuple[list[tuple[float, float]], int]:
    """(ours, reference) of the kept sets, and how many dropped ones are better than every kept subset of theirs."""
    kept = {
        child: {frozenset(parents): score for parents, score in sets.of(child)}
        for child in sorted({c for c, _ in listed})
    }
    pairs, wrong = [], 0
    for (child, parents), score in listed.items():
        own = frozenset(parents)
        if own in kept[child]:
            pairs.append((kept[child][own], score))
        else:
            best = max(value for subset, value in kept[child].items() if subset < own)
            wrong += score > best + 1e-9 * abs(score)
    return pairs, wrong


def alarm_table(data: Path) -> Table:
    sp = peer("spinney")
    frame = pd.read_csv(data / "samples" / "alarm.csv.gz", nrows=1000)
    levels = {str(name): int(str(name).rsplit(":d", 1)[1]) for name in frame}
    kinds = {name: sp.Categorical(range(k)) for name, k in levels.items()}
    dataset = sp.Dataset.from_frame(frame, kinds=kinds)
    before = peak_megabytes()
    started, ticked = time.perf_counter(), time.process_time()
    sets = sp.score_parent_sets(dataset, "pcart", prior="sizes", max_parents=4, n_jobs=2)
    wall, cpu = time.perf_counter() - started, time.process_time() - ticked
    table = Table(
        "Step 1 on alarm: 37 variables, 1,000 rows, up to four parents, pcart, sizes prior, two threads",
        {
            "families": ",",
            "scored": ",",
            "skipped by bounds": ".1%",
            "kept": ",",
            "wall s": ".2f",
            "CPU s": ".2f",
            "families per s": ",.0f",
            "target s": ".0f",
            "met?": "",
            "peak MB": ",.0f",
            "peak MB before": ",.0f",
        },
    )
    skipped = 1 - sets.scored / sets.families
    table.rows.append([
        sets.families, sets.scored, skipped, len(sets), wall, cpu, sets.families / wall, ALARM_SECONDS,
        "yes" if wall <= ALARM_SECONDS else "no", peak_megabytes(), before,
    ])  # fmt: skip
    table.notes = [
        "The levels are those of the network (alarm.csv.gz names their number), whether the rows hold them or not. "
        "Families per s: all of them, also those that bounds settled without a score, by wall clock. Peak: resident "
        "memory of the whole process (getrusage), with Python and its libraries; before: the same when Step 1 began.",
    ]
    return table


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux


def verdict(failures: Sequence[str]) -> str:
    return "every row" if not failures else "not " + "; not ".join(failures)


def main() -> None:
    options = arguments("PCART and FT scores beside the published program.", ["alarm", "local", "step1"])
    facts = machine()
    tables = []
    if "alarm" in options.only:  # first: the peak of memory is the process's
        tables.append(alarm_table(options.data))
    if "local" in options.only:
        tables.append(local_table(options.data, options.repeats))
    if "step1" in options.only:
        tables.append(step1_table(options.data, options.repeats))
    report("trees", facts, tables, options.results)


if __name__ == "__main__":
    main()
