"""The figures 2, 3 and 4 of Sharma and van Beek (2021): splines with forests beside tables and GES.

In:  --data DIR with networks/NAME.bif.gz, networks/dream4-*.edges.csv and datasets/dream4-*-gnw1000.csv.gz; synthetic
     networks of spinney's simulator with at most three parents and three children of each variable.
Out: per network, number of rows and contender: F1 of the skeleton; TP, WD (wrong direction) and FP of the CPDAG as
     shares of the true edges; SHD of the CPDAGs; certainty, seconds. DREAM4 networks have cycles: skeletons only.
Every row is kept in results/sharma-rows.json as it is made, and not made again; contenders whose score or search this
version does not have are named and left for later. --limit is the time of each run, and a row says what it stopped;
--most ends the bench before a run that would begin later than this. Few rows come first, then small networks. The
forests of one table are grown once: they do not depend on the score, and their seconds count in every row that uses
them."""

import argparse
import json
import math
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import HERE, Table, machine, peer, report

SYNTHETIC = {f"synthetic{n}": n for n in (100, 300, 500, 900)}
NETWORKS = ("pathfinder", "munin1", "andes", "diabetes", "pigs", "link", "munin2", "munin4", "munin3", "munin")
DREAM4 = tuple(f"dream4-{i}" for i in range(1, 6))
SIZES = (1000, 5000)
FOREST: dict[str, Any] = {"candidates": "forest(k=5)", "search": "exact", "max_parents": None}
CONTENDERS: dict[str, dict[str, Any]] = {
    "mars+forest": {"score": "mars", **FOREST},  # BN-FS-MARS
    "bic2": {"score": "bic", "search": "exact", "max_parents": 2},
    "ges": {"score": "bic", "search": "ges", "max_parents": None},
    "bic+forest": {"score": "bic", **FOREST},
    "bic+screen": {"score": "bic", **FOREST, "candidates": "screen(k=10)", "max_parents": 3},
    "pcart+forest": {"score": "pcart", **FOREST, "prior": "sizes"},
}
CONTINUOUS = {"bic": "cg"}  # BIC of continuous columns: that of Gaussians

Row = dict[str, Any]


def synthetic(n: int) -> Any:
    """A network of tables over a random DAG with n edges: in- and out-degree at most three, two to four levels."""
    sp, graphs, models = (peer(name) for name in ("spinney", "spinney.simulate.graphs", "spinney.simulate.models"))
    rng = np.random.default_rng(n)
    names, place = graphs.names_of(n), rng.permutation(n)
    parents: dict[str, list[str]] = {name: [] for name in names}
    children = dict.fromkeys(names, 0)
    while sum(map(len, parents.values())) < n:
        one, other = (names[i] for i in sorted(rng.choice(n, 2, replace=False), key=lambda i: place[i]))
        if one not in parents[other] and len(parents[other]) < 3 and children[one] < 3:
            parents[other].append(one)
            children[one] += 1
    dag = sp.DAG(names, {name: sorted(own) for name, own in parents.items()})
    kinds = graphs.random_kinds(names, {"categorical": 1.0}, (2, 4), n)
    return models.table_network(dag, kinds, 0.5, n)


def cases(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    for rows in options.rows:
        for name in options.only:
            if name not in DREAM4 or rows == 1000:
                yield name, rows


def drawn(name: str, rows: int, data: Path) -> tuple[Any, Any]:
    """The rows, and the true DAG; of DREAM4 the pairs of the true skeleton."""
    sp = peer("spinney")
    if name in DREAM4:
        own = name.replace("dream4-", "dream4-size100-")
        frame = pd.read_csv(data / "datasets" / f"{own}-gnw1000.csv.gz")
        edges = pd.read_csv(data / "networks" / f"{own}.edges.csv")
        kinds = {str(column): "continuous" for column in frame}
        pairs = {frozenset(edge) for edge in zip(edges["from"], edges["to"], strict=True)}
        return sp.Dataset.from_frame(frame, kinds=kinds, keep_all=True), pairs
    network = synthetic(SYNTHETIC[name]) if name in SYNTHETIC else sp.Network.read(data / f"networks/{name}.bif.gz")
    return network.sample(rows, seed=1), network.dag


def compared(truth: Any, found: Any) -> Row:
    sp = peer("spinney")
    if isinstance(truth, set):
        learned = found.graph.skeleton()
        common, fp, fn = len(truth & learned), len(learned - truth), len(truth - learned)
        return {"edges": len(truth), "f1": common / (common + (fp + fn) / 2), "tp+wd": common, "fp": fp}
    own = sp.compare(truth, found)
    return {
        "edges": len(truth.edges), "f1": own.f1, "tp": own.tp, "wd": own.wd, "tp+wd": own.tp + own.wd, "fp": own.fp,
        "shd": own.shd, "shd_dag": own.shd_dag,
    }  # fmt: skip


@dataclass
class Forests:
    """Of one table, once some contender has grown them."""

    chosen: Any = None
    wall: float = 0.0
    cpu: float = 0.0


def run(data: Any, truth: Any, contender: str, limit: float, threads: int, forests: Forests) -> Row:
    sp = peer("spinney")
    own = dict(CONTENDERS[contender])
    shared = Forests()
    if own.get("candidates") == FOREST["candidates"]:
        if forests.chosen is None:
            grow(data, limit, threads, forests)
        own["candidates"], shared = forests.chosen, forests
    if "continuous" in data.words:
        own["score"] = CONTINUOUS.get(own["score"], own["score"])
    began, ticked = time.perf_counter(), time.process_time()
    result = sp.learn(data, **own, time_limit=max(1.0, limit - shared.wall), n_jobs=threads)
    return {
        **compared(truth, result.found),
        "learned": len(result.network.edges),
        "certainty": result.found.certainty + (f" over {FOREST['candidates']}" if shared.wall else ""),
        "stopped": result.found.stopped,
        "wall": time.perf_counter() - began + shared.wall,
        "cpu": time.process_time() - ticked + shared.cpu,
        "seconds": result.seconds | ({"candidates": shared.wall} if shared.wall else {}),
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,  # of the process so far
        "limit": limit,
    }


def grow(data: Any, limit: float, threads: int, forests: Forests) -> None:
    """The candidates by themselves: with them alone there is one set to score for each child."""
    sp = peer("spinney")
    began, ticked = time.perf_counter(), time.process_time()
    score = "cg" if "continuous" in data.words else "bic"
    quick = {"search": "hc(restarts=0)", "max_parents": 0}
    found = sp.learn(data, score=score, candidates=FOREST["candidates"], **quick, time_limit=limit, n_jobs=threads)
    forests.chosen = found.plan.candidates
    forests.wall, forests.cpu = time.perf_counter() - began, time.process_time() - ticked


def available(contender: str) -> bool:
    catalog = peer("spinney.catalog")
    own = CONTENDERS[contender]
    return own["score"] in catalog.SCORES and own["search"] in catalog.SEARCHES


def tables(rows: dict[str, Row]) -> Iterator[Table]:
    titles = {
        "Figure 2: synthetic networks": tuple(SYNTHETIC),
        "Figure 3: repository networks": NETWORKS,
        "Figure 4: DREAM4, skeletons": DREAM4,
    }
    columns = {
        "network": "", "edges": ",", "rows": ",", "contender": "", "F1": ".3f", "TP/m": ".3f", "(TP+WD)/m": ".3f",
        "FP/m": ".3f", "SHD": ",", "certainty": "", "stopped": "", "CPU s": ".1f", "wall s": ".1f",
    }  # fmt: skip
    for title, names in titles.items():
        table = Table(title, columns)
        for key, row in sorted(rows.items(), key=lambda item: _place(item[0], names)):
            name, size, contender = key.split("|")
            if name in names:
                m = row["edges"]
                tp = row["tp"] / m if "tp" in row else None
                table.rows.append([
                    name, m, int(size), contender, row["f1"], tp, row["tp+wd"] / m, row["fp"] / m, row.get("shd"),
                    row["certainty"], row["stopped"], row["cpu"], row["wall"],
                ])  # fmt: skip
        if table.rows:
            yield table


def _place(key: str, names: tuple[str, ...]) -> tuple[int, int, int]:
    name, size, contender = key.split("|")
    return (names.index(name) if name in names else -1, int(size), list(CONTENDERS).index(contender))


def main() -> None:
    every = [*DREAM4, *SYNTHETIC, *NETWORKS]
    parser = argparse.ArgumentParser(description="Figures 2 to 4 of Sharma and van Beek (2021).")
    parser.add_argument("--data", type=Path, required=True, help="folder with networks/ and datasets/")
    parser.add_argument("--only", nargs="+", choices=every, default=every)
    parser.add_argument("--rows", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS))
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of each run")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds after which no run is begun")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the results go")
    options = parser.parse_args()
    began = time.perf_counter()
    facts, file = machine(), options.results / "sharma-rows.json"
    rows: dict[str, Row] = json.loads(file.read_text()) if file.exists() else {}
    for contender in options.contenders:
        if not available(contender):
            print(f"{contender}: this version has not its score or search; left for later")
    for name, size in cases(options):
        todo = [c for c in options.contenders if available(c) and f"{name}|{size}|{c}" not in rows]
        if not todo or time.perf_counter() - began > options.most:
            continue
        data, truth = drawn(name, size, options.data)
        forests = Forests()
        for contender in todo:
            if time.perf_counter() - began > options.most:
                break
            row = run(data, truth, contender, options.limit, options.threads, forests)
            rows[f"{name}|{size}|{contender}"] = row
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n")
            print(name, size, contender, {k: row[k] for k in ("f1", "fp", "certainty", "cpu", "wall")}, flush=True)
    report("sharma", facts, list(tables(rows)), options.results)


if __name__ == "__main__":
    main()
