"""Searches over equivalence classes side by side: distances to the true class and CPU seconds of one thread.

In:  nothing for the linear-Gaussian graphs, which are drawn here; --data DIR with tetrad_mixed/ for the mixed tables.
Out: one table per number of variables and degree, contenders as rows; the mixed tables with precision and recall of
adjacencies (AP, AR) and of arrowheads (AHP, AHR). andrey-core is left out where it is not installed, xges without
--xges PYTHON, an interpreter that has it (it needs an older numpy than spinney). Finished runs on linear-Gaussian
graphs are kept in results/classes-cells.json and not run again; --most SECONDS begins nothing new after these.

A graph has edges between random pairs in a random order, weights 0.3 to 1.5 of either sign, noise of variance 1,
columns standardised. The distance counts the pairs that are not joined in the same way (none, ->, <-, -) in the two
CPDAGs. All maximise the Gaussian BIC with its penalty times 1 or 2; spinney's is cg, with the prior kappa(N^-1/2)
for 2."""

import argparse
import csv
import importlib.util
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from common import HERE, Table, machine, peer, report

Matrix = npt.NDArray[np.float64]
Edges = npt.NDArray[np.int8]  # [a, b] = 1: a -> b, or a - b where [b, a] is 1 too
ROWS = 2000
GRAPHS = {"50 variables, degree 2": (50, 2), "50, degree 6": (50, 6), "100, degree 4": (100, 4)}


@dataclass(frozen=True)
class Contender:
    name: str
    needs: str  # the package
    run: Callable[[Matrix, Any, int], tuple[Edges, float]]  # (values, prepared, penalty): the class, CPU seconds
    prepare: Callable[[Matrix, Any], Any] = lambda values, truth: None  # not timed; may see the true DAG


def draw(variables: int, degree: float, seed: int) -> tuple[Matrix, Any]:
    """The table and the true DAG."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(variables)
    pairs = [(order[i], order[j]) for j in range(variables) for i in range(j)]
    chosen = rng.choice(len(pairs), size=round(variables * degree / 2), replace=False)
    weights = np.zeros((variables, variables))
    for k in chosen:
        weights[pairs[k]] = rng.uniform(0.3, 1.5) * rng.choice([-1, 1])
    values = rng.normal(size=(ROWS, variables))
    for v in order:
        values[:, v] += values @ weights[:, v]
    values = (values - values.mean(0)) / values.std(0)
    sp = peer("spinney")
    names = names_of(variables)
    parents = {names[v]: [names[p] for p in np.flatnonzero(weights[:, v])] for v in range(variables)}
    return values, sp.DAG(names, parents)


def names_of(variables: int) -> list[str]:
    return [f"v{v:05}" for v in range(variables)]


def edges_of(cpdag: Any) -> Edges:
    place = {name: v for v, name in enumerate(sorted(cpdag.names))}
    edges = np.zeros((len(place), len(place)), dtype=np.int8)
    for a, b in cpdag.directed:
        edges[place[a], place[b]] = 1
    for a, b in map(tuple, cpdag.undirected):
        edges[place[a], place[b]] = edges[place[b], place[a]] = 1
    return edges


def distance(a: Edges, b: Edges) -> int:
    different = a != b
    return int(np.triu(different | different.T).sum())


def spinney(search: str, from_truth: bool = False, **options: Any) -> Contender:
    sp = peer("spinney")

    def prepare(values: Matrix, truth: Any) -> Any:
        names = names_of(values.shape[1])
        kinds = dict.fromkeys(names, "continuous")
        return sp.Dataset.from_frame(pd.DataFrame(values, columns=names), kinds=kinds), truth if from_truth else None

    def run(values: Matrix, prepared: Any, penalty: int) -> tuple[Edges, float]:
        data, start = prepared
        prior = "uniform" if penalty == 1 else f"kappa({len(values) ** (-(penalty - 1) / 2)!r})"
        began = time.process_time()
        found = sp.find(data, "cg", prior=prior, search=search, max_parents=None, n_jobs=1, start=start, **options)
        seconds = time.process_time() - began
        return edges_of(found.cpdag or sp.DAG(tuple(found.parents), found.parents).cpdag()), seconds

    words = ", ".join(f"{name}={value}" for name, value in options.items())
    name = f"spinney {search}" + (f"({words})" if words else "") + (", from the truth" if from_truth else "")
    return Contender(name, "spinney", run, prepare)


def xges(python: Path) -> Contender:
    """In another process, which is started once: what xges compiles when it is first used takes a minute."""
    worker = subprocess.Popen(
        [python, HERE / "xges_worker.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(values: Matrix, prepared: Any, penalty: int) -> tuple[Edges, float]:
        assert worker.stdin is not None and worker.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            np.save(path := Path(folder) / "values.npy", values)
            print(json.dumps({"values": str(path), "penalty": penalty}), file=worker.stdin, flush=True)
            found = json.loads(worker.stdout.readline())
        return np.asarray(found["edges"], dtype=np.int8), found["seconds"]

    return Contender("xges", "spinney", run)


def andrey(search: str) -> Contender:
    def run(values: Matrix, prepared: Any, penalty: int) -> tuple[Edges, float]:
        began = time.process_time()
        found = getattr(peer("andrey"), search)(values, lambda_value=float(penalty))
        seconds = time.process_time() - began
        marks = found.structure.to_numpy()  # a -> b: [a, b] is 1 and [b, a] is 2; a - b: both are 1
        return np.asarray(marks == 1, dtype=np.int8), seconds

    return Contender(f"andrey {search}", "andrey", run)


CONTENDERS = [
    spinney("ges"),
    spinney("ges", extended=False),
    spinney("ges", from_truth=True, extended=False),  # no contender: where the score leads who knows the answer
    spinney("boss"),
    spinney("boss", patience=0),
    andrey("ges"),
    andrey("boss"),
]


def gaussian_tables(seeds: int, contenders: list[Contender], kept: Path, most: float) -> list[Table]:
    """The means over the runs that there are; one seed after another, so that what is there is comparable."""
    done: dict[str, tuple[int, float]] = json.loads(kept.read_text()) if kept.exists() else {}
    began, warm = time.perf_counter(), set()
    for seed in range(seeds):
        for title, (variables, degree) in GRAPHS.items():
            values, dag = draw(variables, degree, seed)
            truth = edges_of(dag.cpdag())
            for penalty in (1, 2):
                for contender in contenders:
                    key = f"{title}, penalty {penalty}, seed {seed}: {contender.name}"
                    if key in done or time.perf_counter() - began > most:
                        continue
                    if contender.name not in warm:  # what is compiled or loaded when first used
                        contender.run(few := values[:, :5], contender.prepare(few, None), penalty)
                        warm.add(contender.name)
                    found, seconds = contender.run(values, contender.prepare(values, dag), penalty)
                    done[key] = distance(found, truth), round(seconds, 4)
                    print(key, *done[key], flush=True)
                    kept.write_text(json.dumps(done, indent=0) + "\n")
    tables = []
    for title in GRAPHS:
        for penalty in (1, 2):
            table = Table(
                f"{title}, penalty {penalty}, N={ROWS}",
                {"search": "", "distance, mean": ".1f", "CPU s, mean": ".3f", "distances, seeds 0, 1, ...": ""},
            )
            for name in dict.fromkeys(key.rsplit(": ", 1)[1] for key in done):
                keys = [f"{title}, penalty {penalty}, seed {seed}: {name}" for seed in range(seeds)]
                runs = [done[key] for key in keys if key in done]
                if runs:
                    distances, seconds_of = zip(*runs, strict=True)
                    row = [name, float(np.mean(distances)), float(np.mean(seconds_of)), "/".join(map(str, distances))]
                    table.rows.append(row)
            tables.append(table)
    return tables


MIXED = {  # score: its name in the README beside the tables
    "cg": "CG", "cgd": "CGd", "mvp(1)": "MVP1", "mvp(log)": "MVPlogn", "dg": "", "bf": "", "pcart": "", "best": "",
}  # fmt: skip
CPC = {"cpc(alpha=0.001)": ("cg", "cgd"), "cpc(alpha=0.01)": ("cg", "cgd")}
SLOW = {"pcart": 1, "best": 1}  # one table of 100 variables each, with this limit
LIMIT = 120.0
MARKS = ("AP", "AR", "AHP", "AHR")


def mixed_table(folder: Path) -> Table:
    sp = peer("spinney")
    table = Table(
        "Mixed tables: ges under the prior binomial(1), cpc; Tetrad 6.4.0 behind the dash",
        {
            **dict.fromkeys(("tables", "search", "score", "n"), ""),
            "CPU s": ".3f",
            "Tetrad's": ".2f",
            **dict.fromkeys(MARKS, ""),
            "behind by": ".3f",
        },
        notes=[
            "Means over the tables, against the true DAG; AHR counts all its arrowheads. Loading is not in the "
            "seconds. Tetrad's figures are those listed beside the tables, over all replicates, its seconds those of "
            "another machine; behind by: the most that one of the four is below Tetrad's. pcart and best: one table of "
            f"each kind with 100 variables, at most {LIMIT:.0f} s.",
        ],
    )
    listed = tetrad(folder / "README.md")
    groups: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.csv.gz")):
        groups.setdefault(path.name.rsplit("_r", 1)[0], []).append(path)
    asked = [("ges", score, {"prior": "binomial(1)"}, ("fges", name, "1")) for score, name in MIXED.items()]
    asked += [(search, score, {}, ("cpc", MIXED[score], "0")) for search, scores in CPC.items() for score in scores]
    for group, paths in groups.items():
        loaded = [read_mixed(sp, path) for path in paths]
        for search, score, options, key in asked:
            figures, stopped = [], False
            if score in SLOW and group.startswith("p500"):
                continue
            for again, truth in loaded[: SLOW.get(score)]:
                data = again()
                began = time.process_time()
                limit = LIMIT if score in SLOW else None
                found = sp.find(
                    data, score=score, search=search, max_parents=None, n_jobs=1, time_limit=limit, **options
                )
                stopped = stopped or bool(found.stopped)
                seconds = time.process_time() - began
                figures.append((seconds, *agreement(edges_of(found.cpdag), truth)))
            ours = list(map(float, np.nanmean(figures, axis=0)))
            theirs = listed.get((group, *key), [math.nan] * 5)
            pairs = list(zip(ours, theirs, strict=True))[1:]
            behind = max((b - a for a, b in pairs if not math.isnan(b)), default=None)
            cells = [f"{a:.2f}" + ("" if math.isnan(b) else f" - {b:.2f}") for a, b in pairs]
            known = None if math.isnan(theirs[0]) else theirs[0]
            name = score + (" (stopped)" if stopped else "")
            table.rows.append([group, search, name, len(figures), ours[0], known, *cells, behind])
            print(table.rows[-1], flush=True)
    return table


def tetrad(readme: Path) -> dict[tuple[str, ...], list[float]]:
    """(tables, search, score, prior): CPU seconds, AP, AR, AHP, AHR."""
    rows = (line.strip().strip("|").split("|") for line in readme.read_text().splitlines() if line.startswith("| p"))
    cells = [[cell.strip() for cell in row] for row in rows]
    return {tuple(row[:4]): [float(cell) for cell in row[5:10]] for row in cells}


def read_mixed(sp: Any, path: Path) -> tuple[Callable[[], Any], Edges]:
    """A fresh data set each time, for what it keeps of an earlier run; and the true DAG."""
    frame = pd.read_csv(path)
    kinds = {}
    for column in frame.columns:
        name, kind = column.split(":")
        kinds[name] = "continuous" if kind == "c" else "categorical"
    frame.columns = pd.Index(list(kinds))
    for name, kind in kinds.items():
        if kind == "categorical":
            frame[name] = frame[name].astype(str)
    with open(str(path).replace(".csv.gz", ".truth.csv"), encoding="utf-8") as file:
        pairs = [row[:2] for row in csv.reader(file)]
    parents: dict[str, list[str]] = {name: [] for name in sorted(kinds)}
    for a, b in pairs:
        if b in parents:  # not the heading
            parents[b].append(a)
    truth = np.zeros((len(parents), len(parents)), dtype=np.int8)
    place = {name: v for v, name in enumerate(parents)}
    for child, own in parents.items():
        for parent in own:
            truth[place[parent], place[child]] = 1
    return lambda: sp.Dataset.from_frame(frame, kinds=kinds), truth


def agreement(found: Edges, truth: Edges) -> tuple[float, float, float, float]:
    """Precision and recall of adjacencies and of arrowheads."""

    def share(part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_]) -> float:
        return float(part.sum() / whole.sum()) if whole.any() else float("nan")

    joined, truly = (found | found.T) > 0, (truth | truth.T) > 0
    heads, true_heads = (found > 0) & (found.T == 0), (truth > 0) & (truth.T == 0)
    both, both_heads = joined & truly, heads & true_heads
    return share(both, joined), share(both, truly), share(both_heads, heads), share(both_heads, true_heads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with tetrad_mixed/")
    parser.add_argument("--only", nargs="+", choices=["gaussian", "mixed"], default=["gaussian", "mixed"])
    parser.add_argument("--seeds", type=int, default=10, help="linear-Gaussian graphs of each size")
    parser.add_argument("--xges", type=Path, help="an interpreter with xges")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds after which nothing new is begun")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    facts = machine()
    if "gaussian" in given.only:
        here = [one for one in CONTENDERS if importlib.util.find_spec(one.needs)]
        if given.xges:
            here.append(xges(given.xges))
        else:
            print("xges is left out: name an interpreter that has it with --xges")
        tables = gaussian_tables(given.seeds, here, given.results / "classes-cells.json", given.most)
        report("classes", facts, tables, given.results)
    if "mixed" in given.only:
        if not given.data:
            parser.error("the mixed tables need --data")
        report("classes_mixed", facts, [mixed_table(given.data / "tetrad_mixed")], given.results)


if __name__ == "__main__":
    main()
