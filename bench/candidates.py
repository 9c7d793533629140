"""How many true parents are among the candidates, and what choosing them takes.

In:  --data DIR with networks/NAME.bif.gz; simulated mixed tables of spinney itself. 1,000 rows each, seed 1.
Out: recall of true parents (the parent is a candidate of its child) and of true neighbours (of either one of the other)
     for screen and forest, with CPU seconds of one thread; and, on some children, the forest beside bootstrap trees of
     scikit-learn on the same columns, which are judged by what their splits explain of rows outside them, or by
     permutation importance there: recall and time."""

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


class Trees:
    """The cells of one child and its screened columns, as scikit-learn's trees read them."""

    def __init__(self, data: Any, child: str, columns: tuple[str, ...]) -> None:
        forest = peer("spinney.candidates.forest")
        self.classes = data.kinds[child].discrete
        self.target = data.codes(child).astype(np.int64) if self.classes else forest.numbers(data, child) / forest.SCALE
        every = np.eye(int(self.target.max()) + 1)[self.target] if self.classes else self.target[:, None]
        self.mean = every.mean(axis=0)
        self.centred = every - self.mean
        cells = [
            self.ordered(data.codes(name)) if data.kinds[name].word == "categorical" else self.numbers(data, name)
            for name in columns
        ]
        self.cells = np.column_stack(cells).astype(np.float32)

    def ordered(self, codes: Any) -> Any:
        """Levels in the order of the child's mean, or along the first principal component of its shares."""
        counts = np.bincount(codes)
        means = np.column_stack([np.bincount(codes, own) for own in self.centred.T]) / np.maximum(counts, 1)[:, None]
        axis = np.linalg.eigh((means * counts[:, None]).T @ means)[1][:, -1]
        return np.argsort(np.argsort(means @ axis, kind="stable"), kind="stable")[codes]

    def numbers(self, data: Any, name: str) -> Any:
        return data.codes(name) if data.kinds[name].discrete else peer("spinney.candidates.screen").ranks(data, name)

    def grown(self, rng: np.random.Generator) -> tuple[Any, Any]:
        tree = peer("sklearn.tree")
        inside = rng.integers(0, len(self.target), len(self.target))
        kind = tree.DecisionTreeClassifier if self.classes else tree.DecisionTreeRegressor
        model = kind(max_features=1 / 3, min_samples_leaf=5, random_state=int(rng.integers(2**31)))
        model.fit(self.cells[inside], self.target[inside], check_input=False)
        return model, np.setdiff1d(np.arange(len(self.target)), inside)

    def means(self, model: Any) -> Any:
        values = model.tree_.value[:, 0, :]
        if not self.classes:
            return values
        means = np.zeros((len(values), self.centred.shape[1]))
        means[:, model.classes_] = values / values.sum(axis=1, keepdims=True)
        return means

    def judged(self, model: Any, judges: Any) -> Any:
        """What each column's splits explain of these rows."""
        tree, gains = model.tree_, np.zeros(self.cells.shape[1])
        inner, means = np.flatnonzero(tree.children_left >= 0), self.means(model)
        sums = tree.decision_path(self.cells[judges]).T @ self.centred[judges]
        own = np.zeros(len(inner))
        for child in (tree.children_left[inner], tree.children_right[inner]):
            own += np.einsum("ij,ij->i", sums[child], means[child] - means[inner])
        np.add.at(gains, tree.feature[inner], own)
        return gains / len(judges)

    def permuted(self, model: Any, judges: Any, rng: np.random.Generator) -> Any:
        """By how much the squared error of these rows grows when a column is permuted (Breiman 2001)."""
        used = np.unique(model.tree_.feature[model.tree_.feature >= 0])
        rows = np.repeat(self.cells[judges][None], len(used) + 1, axis=0)
        order = rng.permutation(len(judges))
        for place, column in enumerate(used):
            rows[place + 1, :, column] = rows[0, order, column]
        fitted = self.means(model)[model.tree_.apply(rows.reshape(-1, rows.shape[2]))]
        truth = self.centred[judges] + self.mean
        errors = ((fitted.reshape(len(used) + 1, len(judges), -1) - truth) ** 2).sum(axis=2).mean(axis=1)
        gains = np.zeros(self.cells.shape[1])
        gains[used] = errors[1:] - errors[0]
        return gains


def beside_scikit_learn(data: Any, edges: Edges, trees: int = 50) -> tuple[float, ...]:
    """Recall of five on some children by the forest and by both measures of scikit-learn's trees; CPU milliseconds per
    child of the forest, and of scikit-learn's trees with each measure."""
    forest, screen, catalog = (
        peer(f"spinney.{name}") for name in ("candidates.forest", "candidates.screen", "catalog")
    )
    job = job_of(data)
    screened = screen.strongest(job, 60)
    parents = {child: {p for p, c in edges if c == child} for child in data.names}
    children = [child for child in data.names if parents[child]]
    children = [children[i] for i in np.random.default_rng(1).permutation(len(children))[:SOME]]
    hits, wanted, spent = [0, 0, 0], 0, [0.0] * 3
    began = time.process_time()
    method = catalog.choose_candidates(f"forest(trees={trees})")
    ours, _ = forest.gains(data, {child: screened[child] for child in children}, method, job, 0.0)
    spent[0] = time.process_time() - began
    for child in children:
        began = time.process_time()
        rng, own = np.random.default_rng(1), Trees(data, child, screened[child])
        measures = [ours[child], np.zeros(len(screened[child])), np.zeros(len(screened[child]))]
        shared, each = time.process_time() - began, [0.0, 0.0]
        for _ in range(trees):
            moments = [time.process_time()]
            model, judges = own.grown(rng)
            moments.append(time.process_time())
            measures[1] += own.judged(model, judges)
            moments.append(time.process_time())
            measures[2] += own.permuted(model, judges, rng)
            moments.append(time.process_time())
            grow, judge, permute = np.diff(moments).tolist()
            shared, each = shared + grow, [each[0] + judge, each[1] + permute]
        spent = [spent[0], spent[1] + shared + each[0], spent[2] + shared + each[1]]
        for which, measure in enumerate(measures):
            hits[which] += len(parents[child] & set(forest.best(screened[child], measure, 5)))
        wanted += len(parents[child])
    return *(own / wanted for own in hits), *(1000 * seconds / len(children) for seconds in spent)


def main() -> None:
    options = arguments("Recall of true parents among candidates.", [*MIXED, *NETWORKS])
    facts = machine()
    recall = Table(
        f"Recall of true parents, and of true neighbours in brackets; {ROWS:,} rows",
        {"table": "", "columns": ",", "edges": ",", **{f"{method}({k})": "" for method, k in SHOWN},
         "screen, CPU s": ".2f", "forest, CPU s": ".1f"},
    )  # fmt: skip
    measures = Table(
        f"The forest beside scikit-learn's trees, 50 of each, {SOME} children: recall of 5, CPU ms per child",
        {"table": "", "forest": ".2f", "its splits": ".2f", "its permutation": ".2f", "forest, ms": ".1f",
         "its splits, ms": ".0f", "its permutation, ms": ".0f"},
    )  # fmt: skip
    for name in options.only:
        data, edges = table_of(name, options)
        lists, seconds = {}, {}
        for method in MOST:
            lists[method], seconds[method] = ranked(data, method)
        cells = ["{:.2f} ({:.2f})".format(*recalls(edges, lists[method], k)) for method, k in SHOWN]
        recall.rows.append([name, len(data.names), len(edges), *cells, seconds["screen"], seconds["forest"]])
        measures.rows.append([name, *beside_scikit_learn(data, edges)])
        report("candidates", facts, [recall, measures], options.results)  # after each: what is done is kept


if __name__ == "__main__":
    main()
