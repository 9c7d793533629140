"""The laws that every score of the catalog keeps, by construction: a new row is tested without a word here.

In:  the rows of the catalog, `best` and a custom score; small tables of all kinds that a row admits.
Out: probabilities that sum to at most 1; fit and score as one path; equivalent graphs, other units, names, orders of
rows and threads; the exact search against all DAGs; models that predict, draw and are saved."""

from __future__ import annotations

import math
import pickle
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from slow.graphs import all_dags, equivalence_class
from spinney.catalog import SCORES, Score
from spinney.choices import Choice
from spinney.scores import build_source

KINDS = ("categorical", "ordinal", "continuous")


def bic_again(data: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
    return sp.local_score(data, child, parents, "pcart") - 0.25 * len(parents)


# Beside the defaults of every row: options that change the formula.
MORE = {
    "pcart": ["pcart(ess=2)", "pcart(leaf=linear)", "pcart(average=True)", "pcart(leaf=linear, average=True)"],
    "graph": ["graph(prior=upn(5), structure_prior=True)"],
    "best": ["best(bdeu, pcart)", "best(pcart, ft, graph)"],
    "cg": ["cg(exact=True)", "cg(df=paper)"],
    "mvp": ["mvp(degree=log)"],
    "mars": ["mars(degree=1)", "mars(degree=3, max_terms=9, penalty=1)"],
    "lr": ["lr(degree=2)"],
    "bf": ["bf(degree=3)"],
}
CHOICES: dict[str, Any] = {name: name for name in SCORES if name != "bde"}
CHOICES |= {text: text for name, texts in MORE.items() if name in SCORES for text in texts}
CHOICES["bde"] = None  # with a prior network, made for the data
CHOICES["custom"] = sp.CustomScore(bic_again)


def entry_of(name: str) -> Score:
    asked = CHOICES[name]
    found = SCORES[name.split("(")[0]] if asked is None or isinstance(asked, str) else asked.entry
    assert isinstance(found, Score)
    return found


def chosen(name: str, data: sp.Dataset) -> str | Choice:
    if CHOICES[name] is not None:
        return CHOICES[name]  # type: ignore[no-any-return]
    prior = sp.fit(data, dict.fromkeys(data.names, ()), "k2")
    return sp.BDe(network=prior, ess=2.0)


def column(kind: str, rows: int, rng: np.random.Generator, like: Any) -> tuple[Any, Any]:
    """Values and kind of a column that depends on another."""
    latent = rng.normal(size=rows) + (0 if like is None else 1.2 * like)
    if kind == "continuous":
        return latent * 3 + 7, sp.Continuous()
    levels = ["a", "b", "c"] if kind == "categorical" else ["1", "2", "3", "4"]
    codes = np.clip(np.floor(latent + len(levels) / 2), 0, len(levels) - 1).astype(int)
    return [levels[code] for code in codes], (sp.Categorical if kind == "categorical" else sp.Ordinal)(levels)


@cache
def table(kinds: tuple[str, ...], rows: int = 60, seed: int = 1, standardise: bool = True) -> sp.Dataset:
    rng = np.random.default_rng([seed, rows, *map(ord, "".join(kinds))])
    latent, frame, declared = None, {}, {}
    for i, kind in enumerate(kinds):
        values, declared[f"v{i}"] = column(kind, rows, rng, latent)
        frame[f"v{i}"] = values
        if latent is None:
            numbers = np.unique(values, return_inverse=True)[1] if kind != "continuous" else np.asarray(values)
            latent = (numbers - numbers.mean()) / (numbers.std() or 1)
    return sp.Dataset.from_frame(frame, kinds=declared, standardise=standardise)


def families(entry: Score, parents: int = 2) -> list[tuple[str, ...]]:
    """The kinds of a child and of its parents, all that the row admits."""
    return [
        (child, *own) for child, admitted in entry.parents.items() for own in product(sorted(admitted), repeat=parents)
    ]


def mixed(entry: Score, columns: int = 4) -> tuple[str, ...]:
    """Kinds of a table in which every column may be every other's parent."""
    own = [
        kind for kind in KINDS if all(kind in parents for parents in entry.parents.values()) and kind in entry.parents
    ]
    return tuple(own[i % len(own)] for i in range(columns)) if own else ()


NAMES = list(CHOICES)
EVIDENCE = [name for name in NAMES if entry_of(name).evidence]
EQUIVALENT = [name for name in NAMES if entry_of(name).equivalent and "exact" not in name]


@pytest.mark.parametrize("name", EVIDENCE)
def test_probabilities_of_all_columns_of_a_discrete_child_sum_to_at_most_one(name: str) -> None:
    entry = entry_of(name)
    if name == "graph":
        pytest.skip("graph is on the evidence scale with structure_prior=True only; tested as that")
    for kinds in families(entry):
        if kinds[0] == "continuous":
            continue
        data = table(kinds, rows=3)
        levels = data.levels("v0")
        total = 0.0
        for cells in product(levels, repeat=3):
            frame = {"v0": list(cells), **{p: shown(data, p) for p in ("v1", "v2")}}
            again = sp.Dataset.from_frame(frame, kinds=dict(data.kinds))
            total += math.exp(sp.local_score(again, "v0", ["v1", "v2"], chosen(name, data)))
        assert 0 < total < 1 + 1e-9, kinds
        if entry.source == "spinney.scores.tabular:Tabular":
            assert total == pytest.approx(1.0)


def shown(data: sp.Dataset, name: str) -> Any:
    return (
        data.values(name) if not data.kinds[name].discrete else [data.levels(name)[code] for code in data.codes(name)]
    )


@pytest.mark.parametrize("name", EVIDENCE)
def test_densities_of_a_continuous_child_integrate_to_at_most_one(name: str) -> None:
    """Of one row, over a fine grid in the units of the child, which is not standardised; tails by their power."""
    if name == "graph":
        pytest.skip("graph is on the evidence scale with structure_prior=True only; tested as that")
    for kinds in families(entry_of(name), 1):
        if kinds[0] != "continuous":
            continue
        angles = (np.arange(200) + 0.5) / 200 * np.pi - np.pi / 2  # x = tan(angle): the whole line
        data = table(kinds, rows=1)
        total = 0.0
        for angle in angles:
            frame = {"v0": [math.tan(angle)], "v1": shown(data, "v1")}
            own = {"v0": sp.Continuous(-1e9, 1e9), "v1": data.kinds["v1"]}
            again = sp.Dataset.from_frame(frame, kinds=own, standardise=False)
            total += math.exp(sp.local_score(again, "v0", ["v1"], chosen(name, again))) / math.cos(angle) ** 2
        assert 0 < total * np.pi / 200 < 1 + 1e-6, kinds
        if name == "bge":  # no maximum over structures: all of the density is there
            assert total * np.pi / 200 == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_fit_and_score_are_one_path_and_models_are_complete(name: str, tmp_path: Path) -> None:
    for kinds in families(entry_of(name)):
        data = table(kinds)
        graph = {"v0": ("v1", "v2"), "v1": (), "v2": ()}
        score = chosen(name, data)
        if any(kind not in entry_of(name).parents for kind in kinds):
            continue
        net = sp.fit(data, graph, score)
        assert net.score == pytest.approx(sp.score(data, graph, score), rel=1e-12)
        model = net.models["v0"]
        assert model.score == sp.local_score(data, "v0", ["v1", "v2"], score)
        logs = np.asarray(net.log_prob(data))
        assert np.isfinite(logs).all()
        if kinds[0] == "continuous":
            assert np.isfinite(model.mean(data)).all() and np.isfinite(model.log_prob(data)).all()
        else:
            shares = model.conditional(data)
            assert shares.sum(axis=1) == pytest.approx(1.0) and (shares >= 0).all()
            own = np.log(shares[np.arange(data.n_rows), data.codes("v0")])
            assert np.asarray(model.log_prob(data)) == pytest.approx(own, abs=1e-9)
        drawn = net.sample(50, seed=3)
        assert np.isfinite(net.log_prob(drawn)).all()
        path = tmp_path / "net.json"
        net.save(path)
        assert np.array_equal(sp.Network.load(path).log_prob(data), logs)
        assert "v0" in str(model)


@pytest.mark.parametrize("name", EQUIVALENT)
def test_equivalent_graphs_score_the_same(name: str) -> None:
    kinds = mixed(entry_of(name))
    data = table(kinds, rows=80)
    score = chosen(name, data)
    local: dict[Any, float] = {}
    classes: dict[Any, list[float]] = {}
    for parents in all_dags(data.names):
        total = 0.0
        for family in parents.items():
            if family not in local:
                local[family] = sp.local_score(data, *family, score)
            total += local[family]
        classes.setdefault(equivalence_class(parents), []).append(total)
    assert len(classes) == 185
    spread = max(max(same) - min(same) for same in classes.values())
    assert spread < 1e-9 * max(abs(total) for same in classes.values() for total in same)


@pytest.mark.parametrize("name", NAMES)
def test_units_names_rows_and_threads_decide_nothing(name: str) -> None:
    for kinds in families(entry_of(name)):
        data = table(kinds)
        score = chosen(name, data)
        asked = [("v0", ()), ("v0", ("v1",)), ("v0", ("v1", "v2"))]
        before = np.array(sp.local_scores(data, asked, score))
        # Other units: differences stay.
        frame = {
            n: np.asarray(shown(data, n)) * 1e-3 + 5 if n in continuous(data) else shown(data, n) for n in data.names
        }
        own = {n: sp.Continuous() if n in continuous(data) else data.kinds[n] for n in data.names}
        scaled = sp.Dataset.from_frame(frame, kinds=own)
        after = np.array(sp.local_scores(scaled, asked, score if CHOICES[name] else chosen(name, scaled)))
        assert np.diff(after) == pytest.approx(np.diff(before), abs=1e-6)
        # Rows in another order.
        shuffled = data.take(np.random.default_rng(5).permutation(data.n_rows))
        assert np.array(sp.local_scores(shuffled, asked, score)) == pytest.approx(before, rel=1e-12, abs=1e-9)
        # Names in another order.
        other = {"v0": "m", "v1": "z", "v2": "a"}
        renamed = sp.Dataset.from_frame(
            {other[n]: shown(data, n) for n in data.names}, kinds={other[n]: data.kinds[n] for n in data.names}
        )
        turned = [(other[child], tuple(other[p] for p in own)) for child, own in asked]
        again = sp.local_scores(renamed, turned, score if CHOICES[name] else chosen(name, renamed))
        assert np.array(again) == pytest.approx(before, rel=1e-11, abs=1e-8)
        # Threads.
        source = build_source(data, score)
        assert np.array_equal(source.local_scores(asked, 1), source.local_scores(asked, 3))


def continuous(data: sp.Dataset) -> set[str]:
    return {name for name in data.names if not data.kinds[name].discrete}


@pytest.mark.parametrize("name", NAMES)
def test_the_exact_search_is_the_best_of_all_graphs_and_a_pickled_source_says_the_same(name: str) -> None:
    kinds = mixed(entry_of(name), 3)
    if not kinds:
        pytest.skip("not every column may be every other's parent")
    data = table(kinds)
    score = chosen(name, data)
    sets = sp.score_parent_sets(data, score, max_parents=2, prune=False)
    listed = {(child, own): value for child, own, value in sets}
    asked = list(listed)
    own = build_source(data, score)
    assert np.array(sp.local_scores(data, asked, score)) == pytest.approx(
        [listed[family] for family in asked], rel=1e-12
    )
    if name != "custom":  # a function of a test cannot be pickled by every way of running it
        copied = pickle.loads(pickle.dumps(own))
        assert np.array_equal(copied.local_scores(asked), own.local_scores(asked))
    best = max(math.fsum(listed[family] for family in parents.items()) for parents in all_dags(data.names))
    for search in ("exact", "dp", "hc", "order"):
        found = sp.learn(data, score, search=search, max_parents=2).found
        assert found.score <= best + 1e-9 * abs(best)
        if search in ("exact", "dp"):
            assert found.optimal and found.score == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("kinds", [*product(KINDS, repeat=3)])
def test_best_is_the_highest_of_its_scores_less_the_price_of_choosing(kinds: tuple[str, ...]) -> None:
    """Also where two of them are the same for a child, and one of them is passed over."""
    data = table(kinds)
    parts = ("pcart", "pcart(leaf=linear)", "ft", "pcart(leaf=linear, tau=5)", "graph(structure_prior=True)")
    asked = [("v0", ()), ("v0", ("v1",)), ("v0", ("v1", "v2"))]
    each = np.array([sp.local_scores(data, asked, part) for part in parts])
    together = sp.local_scores(data, asked, f"best({', '.join(parts)})")
    assert np.array(together) == pytest.approx(each.max(axis=0) - math.log(len(parts)), rel=1e-13)
    three = sp.local_scores(data, asked, "best")
    assert np.array(three) == pytest.approx(each[:3].max(axis=0) - math.log(3), rel=1e-13)


def test_the_sum_of_probabilities_can_be_above_one() -> None:
    """Without a normalised prior on structures the best graph of every column is taken for nothing."""
    data = table(("categorical", "categorical", "categorical"), rows=3)
    levels = data.levels("v0")
    total = 0.0
    for cells in product(levels, repeat=3):
        frame = {"v0": list(cells), **{p: shown(data, p) for p in ("v1", "v2")}}
        again = sp.Dataset.from_frame(frame, kinds=dict(data.kinds))
        total += math.exp(sp.local_score(again, "v0", ["v1", "v2"], "graph"))
    assert total > 1.01
