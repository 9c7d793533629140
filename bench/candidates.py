"""How many true parents are among the candidates, and what choosing them takes.

In:  --data DIR with networks/NAME.bif.gz; simulated mixed tables of spinney itself. 1,000 rows each, seed 1.
Out: recall of true parents (the parent is a candidate of its child) and of true neighbours (of either one of the other)
for screen and forest, with CPU seconds of one thread; and, on some children, the forest's measure of importance beside
permutation importance of the same trees: recall and time."""

import time
from typing import Any

import numpy as np

from common import Table, arguments, machine, peer, report

ROWS, VARIABLES = 1000, 100
MIXED = {"mixed, linear": False, "mixed, nonlinear": True}
NETWORKS = ("alarm", "andes", "munin1")
SOME = 15  # children of each table for the comparison with permutation importance
MOST = {"screen": 60, "forest": 10}
SHOWN = (("screen", 5), ("screen", 10), ("screen", 20), ("screen", 60), ("forest", 5), ("forest", 10))

Edges = list[tuple[str, str]]


def table_of(name: str, options: Any) -> tuple[Any, Edges]:
    sp = peer("spinney")
    if name in MIXED:
        drawn = sp.simulate.mixed(VARIABLES, 4, ROWS, nonlinear=MIXED[name], seed=1)
        data, truth = drawn.data, drawn.truth
    else:
        network = sp.Network.read(options.data / "networks" / f"{name}.bif.gz")
        data, truth = network.sample(ROWS, seed=1), network.dag
    return data, [(parent, child) for child, own in truth.parents.items() for parent in own]


def job_of(data: Any) -> Any:
    job, constraints, scores = (peer(f"spinney.{name}") for name in ("job", "constraints", "scores"))
    source = scores.build_source(data, "pcart", "uniform")
    return job.Job(source.restrict(constraints.allowed_by(None, data.names)), source)


def ranked(data: Any, method: str) -> tuple[dict[str, tuple[str, ...]], float]:
    """Per child the candidates, the best first, and CPU seconds."""
    catalog, run = peer("spinney.catalog"), peer(f"spinney.candidates.{method}").run
    began = time.process_time()
    picked = run(job_of(data), catalog.choose_candidates(f"{method}(k={MOST[method]})"), None)
    return picked.lists, time.process_time() - began


def recalls(edges: Edges, lists: dict[str, tuple[str, ...]], k: int) -> tuple[float, float]:
    found = [(parent in lists[child][:k], child in lists[parent][:k]) for parent, child in edges]
    return float(np.mean([there for there, _ in found])), float(np.mean([any(both) for both in found]))


def permuted(own: Any, tree: Any, judges: Any, rng: np.random.Generator) -> Any:
    """By how much the squared error of rows outside the tree grows when a column is permuted (Breiman 2001)."""
    used = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
    rows = np.repeat(own.cells[judges][None], len(used) + 1, axis=0)
    order = rng.permutation(len(judges))
    for place, column in enumerate(used):
        rows[place + 1, :, column] = rows[0, order, column]
    means = own._means(tree, tree.tree_)[tree.tree_.apply(rows.reshape(-1, rows.shape[2]))]
    truth = own.centred[judges] + (own.shares if own.classes else 0.0)
    errors = ((means.reshape(len(used) + 1, len(judges), -1) - truth) ** 2).sum(axis=2).mean(axis=1)
    gains = np.zeros(own.cells.shape[1])
    gains[used] = errors[1:] - errors[0]
    return gains


def beside_permutation(data: Any, edges: Edges, trees: int = 50) -> tuple[float, ...]:
    """Recall of five by both measures on some children; CPU milliseconds per child of trees and of both measures."""
    forest, screen = peer("spinney.candidates.forest"), peer("spinney.candidates.screen")
    screened = screen.strongest(job_of(data), 60)
    ranks = {name: screen.ranks(data, name).astype(np.float32) for name in data.names if not data.kinds[name].discrete}
    parents = {child: {p for p, c in edges if c == child} for child in data.names}
    children = [child for child in data.names if parents[child]]
    children = [children[i] for i in np.random.default_rng(1).permutation(len(children))[:SOME]]
    hits, wanted, spent = [0, 0], 0, [0.0, 0.0, 0.0]
    for child in children:
        own = forest._Forest(data, child, screened[child], ranks, 0)
        own.shares = np.eye(own.centred.shape[1])[own.target].mean(axis=0) if own.classes else 0.0
        rng, gains, n = np.random.default_rng(1), np.zeros(len(screened[child])), len(own.target)
        for _ in range(trees):
            inside = rng.integers(0, n, n)
            judges = np.setdiff1d(np.arange(n), inside)
            kind = forest.DecisionTreeClassifier if own.classes else forest.DecisionTreeRegressor
            model = kind(max_features=forest.SHARE, min_samples_leaf=forest.LEAF, random_state=int(rng.integers(2**31)))
            moments = [time.process_time()]
            model.fit(own.cells[inside], own.target[inside], check_input=False)
            moments.append(time.process_time())
            own.judge(model, judges)
            moments.append(time.process_time())
            gains += permuted(own, model, judges, rng)
            moments.append(time.process_time())
            spent = [old + new for old, new in zip(spent, np.diff(moments).tolist(), strict=True)]
        for which, measure in enumerate((own.gains, gains)):
            best = np.argsort(-np.round(measure, 9), kind="stable")[:5]
            hits[which] += len(parents[child] & {screened[child][i] for i in best})
        wanted += len(parents[child])
    return hits[0] / wanted, hits[1] / wanted, *(1000 * seconds / len(children) for seconds in spent)


def main() -> None:
    options = arguments("Recall of true parents among candidates.", [*MIXED, *NETWORKS])
    facts = machine()
    recall = Table(
        f"Recall of true parents, and of true neighbours in brackets; {ROWS:,} rows",
        {"table": "", "columns": ",", "edges": ",", **{f"{method}({k})": "" for method, k in SHOWN},
         "screen, CPU s": ".2f", "forest, CPU s": ".1f"},
    )  # fmt: skip
    measures = Table(
        f"Importance of splits outside the tree beside permutation, same 50 trees, {SOME} children; CPU ms per child",
        {"table": "", "recall of 5": ".2f", "by permutation": ".2f", "trees": ".0f", "splits": ".0f",
         "permuting": ".0f"},
    )  # fmt: skip
    for name in options.only:
        data, edges = table_of(name, options)
        lists, seconds = {}, {}
        for method in MOST:
            lists[method], seconds[method] = ranked(data, method)
        cells = ["{:.2f} ({:.2f})".format(*recalls(edges, lists[method], k)) for method, k in SHOWN]
        recall.rows.append([name, len(data.names), len(edges), *cells, seconds["screen"], seconds["forest"]])
        measures.rows.append([name, *beside_permutation(data, edges)])
        report("candidates", facts, [recall, measures], options.results)  # after each: what is done is kept


if __name__ == "__main__":
    main()
