"""Searches over classes and orders on networks of repositories: score of the class, distance to the true one, seconds.

In:  --data DIR with networks/NAME.json (linear-Gaussian networks) and networks/NAME.bif.gz; --xges PYTHON as in
     classes.py.
Out: per network and score one row per search: score less that of the true graph, distance of the CPDAGs, CPU seconds of
one thread. andrey-core and xges maximise the Gaussian BIC, so they are in those tables only. The exact search of
discrete networks is over up to three parents and stops after --limit seconds; "proof" is what it says then.
Loading and sampling are not in the seconds. Kept in results/class-networks-rows.json, and not run again."""

import argparse
import importlib.util
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import classes
from common import HERE, Table, machine, peer, report

GAUSSIAN = ("ecoli70", "magic-niab", "magic-irri", "arth150")
DISCRETE = ("alarm", "hailfinder", "andes", "pigs")
GAUSSIAN_ROWS, DISCRETE_ROWS = 2000, 5000
MOST_EXACT = 300  # columns: the sets of three parents of more do not fit into memory
SEARCHES = ("ges", "boss", "boss(patience=0)", "tabu", "exact")
Row = dict[str, Any]


def linear(path: Path) -> tuple[Any, pd.DataFrame]:
    """The DAG of a linear-Gaussian network, and rows of it."""
    sp, rng = peer("spinney"), np.random.default_rng(1)
    nodes = {node["name"]: node for node in json.loads(path.read_text())["nodes"]}
    dag = sp.DAG(tuple(nodes), {name: node["parents"] for name, node in nodes.items()})
    drawn: dict[str, Any] = {}
    for name in dag.order():
        (model,) = nodes[name]["regressions"]
        slopes = model["coefficients"]
        if not isinstance(slopes, dict):
            slopes = dict(zip(nodes[name]["continuous_parents"], slopes, strict=True))
        values = model["intercept"] + model["sd"] * rng.normal(size=GAUSSIAN_ROWS)
        drawn[name] = values + sum((slope * drawn[parent] for parent, slope in slopes.items()), np.zeros(1))
    return dag, pd.DataFrame(drawn)


def gaussian(name: str, data: Path, others: list[classes.Contender]) -> Iterator[Row]:
    sp = peer("spinney")
    dag, frame = linear(data / "networks" / f"{name}.json")
    names = classes.names_of(frame.shape[1])
    place = dict(zip(frame.columns, names, strict=True))
    values = ((frame - frame.mean()) / frame.std(ddof=0)).to_numpy()
    dag = sp.DAG(names, {place[child]: [place[p] for p in own] for child, own in dag.parents.items()})
    table = sp.Dataset.from_frame(pd.DataFrame(values, columns=names), kinds=dict.fromkeys(names, "continuous"))
    truth, best = classes.edges_of(dag.cpdag()), sp.score(table, dag, score="cg")
    own = [classes.spinney(search) for search in SEARCHES if search != "exact"]
    for contender in [*own, *others]:
        edges, seconds = contender.run(values, contender.prepare(values, None), 1)
        graph = member(sp, names, edges)
        yield {
            "network": name, "score": "bic", "search": contender.name, "seconds": seconds, "proof": "",
            "gain": None if graph is None else sp.score(table, graph, score="cg") - best,
            "distance": classes.distance(edges, truth), "edges": len(dag.edges),
        }  # fmt: skip


def member(sp: Any, names: list[str], edges: classes.Edges) -> Any:
    """A DAG of the class, None where these edges are no class of DAGs."""
    pairs = list(zip(*np.nonzero(edges), strict=True))
    directed = [(names[a], names[b]) for a, b in pairs if not edges[b, a]]
    undirected = [(names[a], names[b]) for a, b in pairs if edges[b, a] and a < b]
    try:
        return sp.CPDAG(tuple(names), directed, undirected).extension()
    except ValueError:
        return None


def discrete(name: str, data: Path, limit: float) -> Iterator[Row]:
    sp = peer("spinney")
    network = sp.Network.read(data / "networks" / f"{name}.bif.gz")
    rows = network.sample(DISCRETE_ROWS, seed=1)
    truth = classes.edges_of(network.dag.cpdag())
    for score in ("bic", "bdeu"):
        best = sp.score(rows, network.dag, score=score)
        for search in SEARCHES:
            parents = 3 if search == "exact" else None
            if search == "exact" and len(network.names) > MOST_EXACT:
                continue
            fresh = network.sample(DISCRETE_ROWS, seed=1)  # a Dataset keeps what was counted
            began = time.process_time()
            found = sp.find(
                fresh, score=score, search=search, max_parents=parents, n_jobs=1,
                time_limit=limit if search == "exact" else None,
            )  # fmt: skip
            seconds = time.process_time() - began
            cpdag = found.cpdag or sp.DAG(tuple(found.parents), found.parents).cpdag()
            yield {
                "network": name, "score": score, "search": f"spinney {search}", "seconds": seconds,
                "proof": found.certainty if search == "exact" else "", "gain": found.score - best,
                "distance": classes.distance(classes.edges_of(cpdag), truth), "edges": len(network.edges),
            }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with networks/")
    parser.add_argument("--only", nargs="+", choices=[*GAUSSIAN, *DISCRETE], default=[*GAUSSIAN, *DISCRETE])
    parser.add_argument("--xges", type=Path, help="an interpreter with xges")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of each exact search")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds after which no network is begun")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    facts, kept = machine(), given.results / "class-networks-rows.json"
    others = [classes.andrey("ges"), classes.andrey("boss")] if importlib.util.find_spec("andrey") else []
    if given.xges:
        others.append(classes.xges(given.xges))
    rows: dict[str, list[Row]] = json.loads(kept.read_text()) if kept.exists() else {}
    began = time.perf_counter()
    for name in given.only:
        if name in rows or time.perf_counter() - began > given.most:
            continue
        rows[name] = []
        for row in gaussian(name, given.data, others) if name in GAUSSIAN else discrete(name, given.data, given.limit):
            print(row, flush=True)
            rows[name].append(row)
        kept.write_text(json.dumps(rows, indent=0) + "\n")
    report("class_networks", facts, list(tables(rows)), given.results)


def tables(rows: dict[str, list[Row]]) -> Iterator[Table]:
    columns = {
        "network": "", "edges": ",", "score": "", "search": "", "score less the true graph's": ",.1f",
        "distance": "", "CPU s": ".3f", "proof": "",
    }  # fmt: skip
    for title, names in ((f"Gaussian, N={GAUSSIAN_ROWS:,}", GAUSSIAN), (f"Discrete, N={DISCRETE_ROWS:,}", DISCRETE)):
        table = Table(title, columns)
        for row in (row for name in names for row in rows.get(name, [])):
            table.rows.append([
                row["network"], row["edges"], row["score"], row["search"], row["gain"], row["distance"], row["seconds"],
                row["proof"] or None,
            ])  # fmt: skip
        if table.rows:
            yield table


if __name__ == "__main__":
    main()
