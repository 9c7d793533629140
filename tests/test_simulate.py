"""Simulated tables: the numbers that were asked for, the models that were promised, and no trace of the causal order.

In:  simulate.mixed, simulate.random_network, simulate.from_network, with fixed seeds.
Out: counts of the graph; regressions and frequencies estimated from many rows, which must be in the ranges that
docs/simulate.md names; densities that integrate to 1; missing cells that depend on what they should."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import spinney as sp
from spinney.fitted.model import Columns
from spinney.fitted.partition import Partition
from spinney.fitted.table import Table
from spinney.simulate import functions, partitioned
from spinney.simulate.graphs import _pairs, random_dag

LOCALS = ("table", "tree", "linear", "spline")
MIXED = {"continuous": 0.4, "categorical": 0.3, "ordinal": 0.3}
CERTAIN = 1e-4  # below this p-value a law of chance counts as broken; seeds are fixed


def some_network(local: str, n: int = 12, degree: float = 2.5, seed: int = 3, **options: Any) -> Any:
    kinds = {"categorical": 0.5, "ordinal": 0.5} if local == "table" else MIXED
    return sp.simulate.random_network(n, degree, kinds, local, seed=seed, **options)


# --- the graph ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "degree", "most"),
    [
        (1, 0, 5),
        (2, 1, 1),
        (6, 2, 2),
        (6, 5, 5),
        (7, 2.5, 3),
        (9, 4, 4),
        (10, 0.3, 5),
        (30, 4, 5),
        (40, 5, 5),
        (8, 7, 9),
    ],
)
def test_degrees_are_those_that_were_asked_for(n: int, degree: float, most: int) -> None:
    for seed in range(20):
        truth = sp.simulate.mixed(n, degree, 2, most, seed=seed, discrete_share=0.0).truth
        degrees = Counter(end for edge in truth.edges for end in edge)
        assert len(truth.edges) == math.ceil(n * degree / 2) and len(truth.names) == n
        assert max(degrees.values(), default=0) <= most
        assert len(truth.order()) == n  # acyclic


@pytest.mark.parametrize(("n", "most"), [(6, 2), (7, 2), (8, 3), (9, 3), (9, 4), (5, 4), (10, 5), (11, 5), (12, 11)])
def test_the_fullest_graphs_are_found_too(n: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without luck: the construction on a circle alone."""
    for attempts in (200, 0):
        monkeypatch.setattr("spinney.simulate.graphs._ATTEMPTS", attempts)
        edges = n * most // 2
        pairs = _pairs(n, edges, most, np.random.default_rng(4))
        assert len({frozenset(pair) for pair in pairs}) == edges and all(a != b for a, b in pairs)
        assert max(Counter(end for pair in pairs for end in pair).values()) <= most


def test_every_ordered_pair_is_equally_likely() -> None:
    counts = Counter(edge for seed in range(4000) for edge in random_dag(5, 0.8, 5, seed).edges)
    assert len(counts) == 20 and sum(counts.values()) == 8000
    assert stats.chisquare(list(counts.values())).pvalue > CERTAIN


@pytest.mark.parametrize("make", ["mixed", "random_network"])
def test_neither_the_order_of_the_columns_nor_their_names_tell_the_causal_order(make: str) -> None:
    forward, edges, correlations = 0, 0, []
    for seed in range(200):
        if make == "mixed":
            truth = sp.simulate.mixed(10, 2, 2, seed=seed).truth
        else:
            truth = sp.simulate.random_network(10, 2, seed=seed).dag
        names = list(truth.names)
        assert names == sorted(names)
        forward += sum(names.index(parent) < names.index(child) for parent, child in truth.edges)
        edges += len(truth.edges)
        ancestors: dict[str, set[str]] = {}
        for name in truth.order():
            own = truth.parents[name]
            ancestors[name] = set(own).union(*(ancestors[parent] for parent in own))
        correlations.append(stats.spearmanr(range(10), [len(ancestors[name]) for name in names]).statistic)
    # Edges of one graph that share a variable go together, so the share is a little more spread than 1/sqrt(4 edges).
    assert abs(forward / edges - 0.5) < 4 * 1.5 / math.sqrt(4 * edges)
    assert abs(np.mean(correlations)) < 4 / math.sqrt(200 * 9)


def test_all_local_models_stand_on_the_same_graphs() -> None:
    for seed in range(5):
        assert {some_network(local, seed=seed).dag for local in LOCALS} == {random_dag(12, 2.5, 5, seed)}


def test_units_do_not_tell_the_causal_order() -> None:
    data = sp.simulate.mixed(40, 3, 500, seed=1, discrete_share=0.2).data
    for name in data.names:
        if not data.kinds[name].discrete:
            assert data.values(name).mean() == pytest.approx(0, abs=1e-12)
            assert data.values(name).std() == pytest.approx(1)
    for local in ("tree", "linear", "spline"):
        data = some_network(local, 20).sample(20_000, seed=1)
        deviations = [data.values(name).std() for name in data.names if not data.kinds[name].discrete]
        assert len(deviations) > 4 and max(abs(np.array(deviations) - 1)) < 0.06


# --- the kinds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_the_share_of_discrete_columns(share: float) -> None:
    discrete, levels = 0, Counter[int]()
    for seed in range(20):
        data = sp.simulate.mixed(50, 1, 2, seed=seed, discrete_share=share).data
        discrete += sum(kind.discrete for kind in data.kinds.values())
        levels.update(len(data.levels(name)) for name in data.names if data.kinds[name].discrete)
    if share in (0, 1):
        assert discrete == 1000 * share
    else:
        assert stats.binomtest(discrete, 1000, share).pvalue > CERTAIN
    if discrete:
        assert set(levels) == {2, 3, 4, 5} and stats.chisquare(list(levels.values())).pvalue > CERTAIN


def test_kinds_by_word_by_share_and_by_list() -> None:
    words = {name: kind.word for name, kind in some_network("linear", 400, 1).kinds.items()}
    for word, share in MIXED.items():
        assert stats.binomtest(list(words.values()).count(word), 400, share).pvalue > CERTAIN
    assert {k.word for k in sp.simulate.random_network(9, 1, "ordinal", "tree").kinds.values()} == {"ordinal"}
    listed = ["continuous", "ordinal", "categorical", "ordinal"]
    assert [k.word for k in sp.simulate.random_network(4, 1, listed, "spline").kinds.values()] == listed
    assert {k.word for k in sp.simulate.random_network(9, 1).kinds.values()} == {"categorical"}
    ordinal = sp.simulate.mixed(30, 2, 50, discrete_share=1.0, ordinal_share=1.0).data
    assert set(ordinal.words) == {"ordinal"}
    many = sp.simulate.random_network(3, 0, levels=(40, 40))
    assert all(len(set(many.levels(name))) == 40 for name in many.names)


# --- section 6 of Andrews, Ramsey and Cooper (2018) -----------------------------------------------------------------


def cells_of(data: sp.Dataset, names: list[str]) -> dict[tuple[int, ...], np.ndarray[Any, Any]]:
    """The rows of every configuration of these discrete columns."""
    sizes = [range(len(data.levels(name))) for name in names]
    return {
        codes: np.flatnonzero(
            np.logical_and.reduce(
                [np.ones(len(data), bool), *(data.codes(n) == c for n, c in zip(names, codes, strict=True))]
            )
        )
        for codes in product(*sizes)
    }


def regression(y: Any, terms: list[Any]) -> tuple[Any, float]:
    """Least squares: intercept and coefficients, and the standard deviation of what is left."""
    X = np.column_stack([np.ones(len(y)), *terms])
    found, *_ = np.linalg.lstsq(X, y, rcond=None)
    return found, float(np.std(y - X @ found))


def within(value: Any, ends: tuple[float, float], slack: float) -> bool:
    return bool(np.all((np.asarray(value) > ends[0] - slack) & (np.asarray(value) < ends[1] + slack)))


def test_a_continuous_child_has_a_regression_in_every_cell_of_its_discrete_parents() -> None:
    checked, signs, differ = 0, Counter[bool](), 0
    for seed in range(8):
        simulated = sp.simulate.mixed(10, 2.5, 20_000, seed=seed, standardise=False)
        data = simulated.data
        for child, parents in simulated.truth.parents.items():
            if data.kinds[child].discrete:
                continue
            given = [parent for parent in parents if not data.kinds[parent].discrete]
            found = []
            for rows in cells_of(data, [p for p in parents if p not in given]).values():
                if len(rows) < 1500:
                    continue
                terms = [data.values(parent)[rows] for parent in given]
                (intercept, *slopes), left = regression(data.values(child)[rows], terms)
                assert within(left, partitioned.DEVIATIONS, 0.08)
                # Parents have standard deviations of 0.5 and more, and at least 1,500 rows: 0.1 is far out.
                assert within(np.abs(slopes), partitioned.SLOPES, 0.12) if slopes else True
                assert within(intercept, partitioned.CENTRES, 0.6)
                signs.update(slope > 0 for slope in slopes)
                found.append((intercept, *slopes))
                checked += 1
            differ += len(found) > 1 and np.ptp(np.array(found), axis=0).max() > 0.3
    assert checked > 60 and differ > 5 and min(signs.values()) > 10


def test_a_discrete_child_sees_its_continuous_parent_through_two_to_five_bins_of_equal_frequency() -> None:
    """Within the right bins the child does not depend on the parent any more: halves of a bin have the same counts."""
    found = Counter[int]()
    for seed in range(60):
        simulated = sp.simulate.mixed(2, 1, 4000, seed=seed)
        data, ((parent, child),) = simulated.data, simulated.truth.edges
        if data.kinds[parent].discrete or not data.kinds[child].discrete:
            continue
        fits = {}
        for k in range(2, 6):
            bins, halves = (partitioned.equal_frequency(data.values(parent), pieces) for pieces in (k, 2 * k))
            assert (halves // 2 == bins).all() and np.ptp(np.bincount(bins)) <= 1
            statistic = freedom = 0.0
            for one in range(k):
                table = np.array(
                    [np.bincount(data.codes(child)[halves == 2 * one + half], minlength=5) for half in (0, 1)]
                )
                test = stats.chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False)
                statistic, freedom = statistic + test.statistic, freedom + test.dof
            fits[k] = stats.chi2.sf(statistic, freedom) if freedom else 1.0
        best = max(fits, key=lambda k: fits[k])
        assert fits[best] > CERTAIN, (seed, fits)
        found[best] += min(fits.values()) < CERTAIN
    assert set(found) == {2, 3, 4, 5}


def test_a_discrete_child_has_a_distribution_per_cell_that_fills_the_simplex() -> None:
    first = []
    for seed in range(300):
        simulated = sp.simulate.mixed(2, 1, 2000, seed=seed, discrete_share=1.0, levels=(2, 2))
        data, ((parent, child),) = simulated.data, simulated.truth.edges
        first += [
            data.codes(child)[data.codes(parent) == code].mean()
            for code in (0, 1)
            if (data.codes(parent) == code).sum() > 300
        ]
    # Dirichlet(1, 1) is uniform; estimates are within about 0.03 of it.
    assert stats.kstest(first, "uniform").pvalue > CERTAIN


def test_nonlinear_children_have_powers_and_where_these_are_too_large_roots() -> None:
    powers = roots = curved = 0
    for seed in range(8):
        simulated = sp.simulate.mixed(12, 2.5, 8000, seed=seed, nonlinear=True, discrete_share=0.2, standardise=False)
        data = simulated.data
        for child, parents in simulated.truth.parents.items():
            given = [parent for parent in parents if not data.kinds[parent].discrete]
            if data.kinds[child].discrete or not given:
                continue
            cells = [
                rows for rows in cells_of(data, [p for p in parents if p not in given]).values() if len(rows) > 500
            ]
            bases = {
                "powers": [lambda x: x, lambda x: x**2, lambda x: x**3],
                "roots": [lambda x: x, lambda x: np.sqrt(np.abs(x)), np.cbrt],
            }
            left = {
                name: [
                    regression(data.values(child)[rows], [f(data.values(p)[rows]) for p in given for f in functions])[1]
                    for rows in cells
                ]
                for name, functions in bases.items()
            }
            if np.abs(data.values(child)).max() <= partitioned.TOO_LARGE and within(
                left["powers"], partitioned.DEVIATIONS, 0.1
            ):
                powers += 1
                straight = [
                    regression(data.values(child)[rows], [data.values(p)[rows] for p in given])[1] for rows in cells
                ]
                curved += max(np.array(straight) / left["powers"]) > 1.2
            else:
                assert within(left["roots"], partitioned.DEVIATIONS, 0.1), (seed, child, left)
                roots += 1
    assert powers > 8 and roots > 3 and curved > 8


def test_values_that_no_computer_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioned, "SLOPES", (1e120, 1e120))
    for nonlinear in (False, True):
        with pytest.raises(sp.LimitError, match="lower average degree"):
            sp.simulate.mixed(8, 4, 5, nonlinear=nonlinear, discrete_share=0.0)
    monkeypatch.setattr(partitioned, "SLOPES", (1e80, 1e80))
    large = sp.simulate.mixed(3, 2, 50, discrete_share=0.0).data  # 1e160, whose squares are beyond
    assert all(large.values(name).std() == pytest.approx(1) for name in large.names)


# --- random networks ------------------------------------------------------------------------------------------------


def test_frequencies_of_a_sample_are_those_of_the_tables() -> None:
    net = some_network("table", 8)
    assert isinstance(net, sp.Network)
    data = sp.simulate.from_network(net, 60_000, seed=5).data
    for model in net.models.values():
        assert isinstance(model, Table)
        where, statistic, freedom = model.rows(data), 0.0, 0
        for row in np.unique(where):
            counts = np.bincount(data.codes(model.child)[where == row], minlength=len(model.levels))
            expected = counts.sum() * model.probabilities[row]
            if expected.min() > 3:
                statistic, freedom = (
                    statistic + float(((counts - expected) ** 2 / expected).sum()),
                    freedom + len(counts) - 1,
                )
        assert freedom and stats.chi2.sf(statistic, freedom) > CERTAIN


def test_trees_ask_every_parent_and_their_leaves_are_gaussian_or_tables() -> None:
    for seed in range(8):
        net = some_network("tree", 15, 3, seed)
        data = net.sample(20_000, seed=seed)
        for model in net.models.values():
            assert isinstance(model, Partition)
            assert set(model.feature[model.feature >= 0]) == set(range(len(model.parents)))
            where = model.leaf_of(data)
            assert np.bincount(where, minlength=len(model.sums)).min() > 0  # no leaf is beyond reach
            for leaf in np.unique(where):
                rows = where == leaf
                if rows.sum() < 300:
                    continue
                if model.kind.discrete:
                    expected = rows.sum() * model.probabilities[leaf]
                    counts = np.bincount(data.codes(model.child)[rows], minlength=len(expected))
                    enough = expected > 3
                    z = (counts - expected)[enough] / np.sqrt(expected[enough])
                    assert np.abs(z).max(initial=0) < 5
                else:
                    z = (data.values(model.child)[rows] - model.student.location[leaf]) / model.student.scale[leaf]
                    assert stats.kstest(z, "norm").pvalue > CERTAIN / 10


@pytest.mark.parametrize("local", ["table", "tree"])
def test_tables_and_trees_are_networks_with_files(local: str, tmp_path: Path) -> None:
    net = some_network(local)
    net.save(tmp_path / "net.json")
    assert sp.Network.load(tmp_path / "net.json") == net
    assert np.isfinite(net.log_prob(net.sample(50))).all()


@pytest.mark.parametrize("local", ["linear", "spline"])
def test_functions_give_probabilities_and_densities(local: str) -> None:
    net = some_network(local, 14, 3)
    data = net.sample(3000, seed=2)
    columns = Columns(3000, {n: data.codes(n) if data.kinds[n].discrete else data.values(n) for n in data.names})
    total = np.zeros(3000)
    for model in net.models.values():
        if model.kind.discrete:
            shares = model.conditional(columns)
            assert (shares >= 0).all() and shares.sum(axis=1) == pytest.approx(1)
            codes = columns.codes(model.child)
            z = (np.bincount(codes, minlength=shares.shape[1]) - shares.sum(axis=0)) / np.sqrt(
                (shares * (1 - shares)).sum(axis=0)
            )
            assert np.abs(z).max() < 4.5
            total += np.log(shares[np.arange(3000), codes])
        else:
            mean, deviation = model.mean(columns), model.deviation / model.scale
            values = columns.values(model.child)
            assert stats.kstest((values - mean) / deviation, "norm").pvalue > CERTAIN
            total += stats.norm.logpdf(values, mean, deviation)
    assert net.log_prob(data) == pytest.approx(total) and net.log_prob(data.to_pandas()) == pytest.approx(total)


@pytest.mark.parametrize("local", ["linear", "spline"])
@pytest.mark.parametrize("word", ["continuous", "categorical", "ordinal"])
def test_the_effect_of_a_number_is_straight_or_smooth(local: str, word: str) -> None:
    net = sp.simulate.random_network(2, 1, ["continuous", word], local, seed=_seed_with_edge(("X1", "X2")))
    model = net.models["X2"]
    grid = np.linspace(-3, 3, 6001)
    columns = Columns(len(grid), {"X1": grid})
    if word == "continuous":
        curve = model.mean(columns)[:, None]
    elif word == "categorical":
        shares = np.log(model.conditional(columns))
        curve = shares[:, 1:] - shares[:, :1]
    else:
        below = np.cumsum(model.conditional(columns), axis=1)[:, :-1]
        curve = np.log(below) - np.log1p(-below)
        # Proportional odds: the curves of all levels are parallel.
        assert np.ptp(curve - curve[:, :1], axis=0).max(initial=0) < 1e-8
    slope = np.diff(curve, axis=0) / (grid[1] - grid[0])
    if local == "linear":
        assert np.ptp(slope, axis=0).max() < 1e-6 and np.abs(slope).max() > 0.1
    else:
        assert np.ptp(slope, axis=0).min() > 0.1  # bent
        assert np.abs(np.diff(slope, axis=0)).max() < 0.05  # without a corner
        assert np.abs(np.diff(slope[grid[1:] > 2.6], axis=0)).max() < 1e-6  # straight beyond the outer knots


def _seed_with_edge(edge: tuple[str, str]) -> int:
    return next(seed for seed in range(50) if random_dag(2, 1, 5, seed).edges == [edge])


def test_a_linear_network_is_found_by_regression_on_levels_and_numbers() -> None:
    """No interactions: indicators and numbers explain all but the noise."""
    net = sp.simulate.random_network(12, 3, {"continuous": 0.6, "categorical": 0.4}, "linear", seed=8)
    data, checked = net.sample(20_000, seed=3), 0
    for name, model in net.models.items():
        if model.kind.discrete or not model.parents:
            continue
        terms: list[Any] = []
        for parent in model.parents:
            if data.kinds[parent].discrete:
                terms += [data.codes(parent) == code for code in range(1, len(data.levels(parent)))]
            else:
                terms.append(data.values(parent))
        _, left = regression(data.values(name), terms)
        assert left == pytest.approx(model.deviation / model.scale, rel=0.03)
        assert within(model.deviation, functions.DEVIATIONS, 0)
        checked += 1
    assert checked >= 4


def test_learning_finds_the_network_again() -> None:
    """Enough rows, few levels: tables by bdeu. The edges that are found and missed are those of compare()."""
    net = sp.simulate.random_network(8, 1.5, seed=2, alpha=0.5)
    found = sp.learn(sp.simulate.from_network(net, 20_000, seed=1).data, "bdeu").network
    assert sp.compare(net.dag, found).precision == 1 and sp.compare(net.dag, found).recall >= 0.8


# --- seeds ----------------------------------------------------------------------------------------------------------


def made(seed: int, **options: Any) -> sp.simulate.Simulated:
    return sp.simulate.mixed(12, 2, 80, seed=seed, ordinal_share=0.3, **options)


def test_the_same_seed_gives_the_same_rows_and_another_gives_others() -> None:
    assert made(4).data.fingerprint == made(4).data.fingerprint != made(5).data.fingerprint
    for local in LOCALS:
        one, same, other = (some_network(local, seed=seed).sample(50, seed=1) for seed in (3, 3, 4))
        assert one.fingerprint == same.fingerprint != other.fingerprint
        assert one.fingerprint != some_network(local, seed=3).sample(50, seed=2).fingerprint


def test_no_global_generator_is_read_or_moved() -> None:
    before = made(4).data.fingerprint
    np.random.seed(1)
    state = np.random.get_state()[1].tolist()  # type: ignore[union-attr,index]
    assert made(4).data.fingerprint == before
    assert np.random.get_state()[1].tolist() == state  # type: ignore[union-attr,index]


def test_parts_of_a_simulation_do_not_move_one_another() -> None:
    plain = made(4)
    holed = made(4, missing="mcar(0.3)")
    assert holed.complete.fingerprint == plain.data.fingerprint and holed.truth == plain.truth
    assert made(4, nonlinear=True).truth == made(4, discrete_share=0.0).truth == plain.truth
    longer = sp.simulate.mixed(12, 2, 2000, seed=4, ordinal_share=0.3)
    assert longer.truth == plain.truth and longer.data.words == plain.data.words


def rounded(data: sp.Dataset) -> dict[str, list[Any]]:
    cells = data.to_arrow().to_pydict()
    return {name: [cell if isinstance(cell, str) else round(cell, 6) for cell in own] for name, own in cells.items()}


def test_the_rows_of_a_seed_stay_what_they_are() -> None:
    """Written down once: a change of the way of drawing is a change of everybody's experiments, and must be meant."""
    drawn = sp.simulate.mixed(5, 2, 4, seed=5, nonlinear=True)
    assert drawn.truth.edges == PINNED_EDGES
    assert rounded(drawn.data) == PINNED_MIXED
    for local, rows in PINNED_NETWORKS.items():
        assert rounded(some_network(local, 3, 1.4, seed=0).sample(3, seed=1)) == rows


PINNED_EDGES = [("X2", "X5"), ("X3", "X5"), ("X4", "X2"), ("X4", "X3"), ("X4", "X5")]
PINNED_MIXED = {
    "X1": [1.186509, 0.745212, -1.258336, -0.673384],
    "X2": [-1.55637, -0.183649, 0.992794, 0.747225],
    "X3": ["e", "b", "d", "d"],
    "X4": ["a", "a", "b", "a"],
    "X5": [-0.274277, 0.891921, -1.520949, 0.903306],
}
PINNED_NETWORKS = {
    "table": {"X1": ["2", "2", "1"], "X2": ["c", "b", "a"], "X3": ["3", "1", "3"]},
    "tree": {"X1": ["a", "b", "a"], "X2": [-1.325134, 0.390994, 0.076413], "X3": ["b", "c", "b"]},
    "linear": {"X1": ["a", "b", "a"], "X2": [-0.433338, 0.042423, 0.933989], "X3": ["c", "a", "b"]},
    "spline": {"X1": ["a", "b", "a"], "X2": [-0.433338, 0.042423, 0.933989], "X3": ["b", "b", "a"]},
}


def test_another_process_with_another_hash_seed_draws_the_same() -> None:
    code = (
        "import spinney as sp; print(sp.simulate.mixed(9, 2, 60, seed=3).data.fingerprint, "
        "sp.simulate.random_network(9, 2, local='spline', seed=3).sample(60).fingerprint)"
    )
    out = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": hashed}, capture_output=True, text=True
        ).stdout
        for hashed in ("1", "2")
    }
    here = sp.simulate.random_network(9, 2, local="spline", seed=3).sample(60).fingerprint
    assert out == {f"{sp.simulate.mixed(9, 2, 60, seed=3).data.fingerprint} {here}\n"}


# --- missing cells --------------------------------------------------------------------------------------------------


def p_value(mask: Any, column: Any) -> float:
    return float(stats.mannwhitneyu(column[mask], column[~mask]).pvalue)


def numbers(data: sp.Dataset, name: str) -> Any:
    return data.codes(name).astype(float) if data.kinds[name].discrete else data.values(name)


@pytest.mark.parametrize("word", ["mcar", "mar", "mnar"])
@pytest.mark.parametrize("share", [0.1, 0.8])
def test_missing_cells_have_their_share_and_depend_on_what_they_should(word: str, share: float) -> None:
    # No edges, so that columns say nothing about one another.
    made = sp.simulate.mixed(12, 0, 4000, seed=6, missing=f"{word}({share})")
    frame, complete = made.frame, made.complete
    holed = [name for name in complete.names if name in made.missing]
    assert len(holed) == (9 if word == "mar" else 12)
    for name in complete.names:
        assert frame.column(name).null_count == (made.missing[name].sum() if name in holed else 0)
    for name in holed:
        mask = made.missing[name]
        assert stats.binomtest(int(mask.sum()), 4000, share).pvalue > CERTAIN
        dependent = [other for other in complete.names if p_value(mask, numbers(complete, other)) < CERTAIN]
        if word == "mcar":
            assert dependent == []
        elif word == "mnar":
            assert dependent == [name]
        else:
            assert len(dependent) == 1 and dependent[0] not in holed
    kept = frame.to_pydict()
    for name in holed:
        assert [cell for cell in kept[name] if cell is not None] == [
            cell
            for cell, hole in zip(complete.to_arrow().column(name).to_pylist(), made.missing[name], strict=True)
            if not hole
        ]


def test_data_is_the_frame_as_it_is_read(tmp_path: Path) -> None:
    drawn = sp.simulate.mixed(6, 2, 400, seed=2, missing="mcar(0.02)")
    read = sp.Dataset.from_frame(drawn.frame)
    assert drawn.data.fingerprint == read.fingerprint and drawn.data.n_rows == 400 - drawn.data.rows_dropped < 400
    assert drawn.complete.n_rows == 400 and drawn.to_pandas().isna().sum().sum() == sum(
        map(np.sum, drawn.missing.values())
    )
    for name in ("t.csv", "t.tsv.gz", "t.parquet", "t.feather"):
        drawn.write(tmp_path / name)
        again = sp.Dataset.read(tmp_path / name, missing="drop", kinds=drawn.complete.kinds)
        assert (
            again.fingerprint
            == sp.Dataset.from_frame(drawn.frame, missing="drop", kinds=drawn.complete.kinds).fingerprint
        )
    with pytest.raises(sp.ChoiceError, match="suffix"):
        drawn.write(tmp_path / "t.bif")
    whole = sp.simulate.mixed(6, 2, 400, seed=2)
    assert whole.data is whole.complete and "0 missing" in repr(whole)


def test_missing_is_an_option_of_networks_too() -> None:
    net = some_network("linear")
    drawn = sp.simulate.from_network(net, 300, seed=4, missing="mar(0.2)")
    assert drawn.truth == net.dag and drawn.network is net and drawn.missing
    assert drawn.complete.fingerprint == net.sample(300, seed=4).fingerprint


# --- bad input ------------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[Any, str]] = {
    "no variables": (lambda s: s.mixed(0, 0, 10), "number of variables.*at least 1, not 0"),
    "negative variables": (lambda s: s.mixed(-3, 0, 10), "at least 1, not -3"),
    "half a variable": (lambda s: s.mixed(2.5, 0, 10), "whole number.*2.5"),
    "a truth for variables": (lambda s: s.mixed(True, 0, 10), "whole number.*True"),
    "too many variables": (lambda s: s.mixed(10**29, 2, 10), "too many to simulate; ask for at most 100,000"),
    "degree beyond floats": (lambda s: s.mixed(5, 10**400, 10), "5 variables.*at most 4"),
    "share beyond floats": (lambda s: s.mixed(5, 1, 10, discrete_share=10**400), "discrete.*0 to 1"),
    "nonlinear an array": (lambda s: s.mixed(5, 1, 10, nonlinear=np.zeros((2, 2))), "nonlinear must be True or False"),
    "standardise a word": (lambda s: s.mixed(5, 1, 10, standardise="no"), "standardise must be True or False"),
    "negative degree": (lambda s: s.mixed(5, -1, 10), "average degree.*at least 0, not -1"),
    "degree nan": (lambda s: s.mixed(5, math.nan, 10), "average degree.*nan"),
    "degree infinite": (lambda s: s.mixed(5, math.inf, 10), "average degree.*inf"),
    "degree text": (lambda s: s.mixed(5, "2", 10), "average degree.*'2'"),
    "degree too large for the variables": (lambda s: s.mixed(4, 3.5, 10), "4 variables.*at most 3, not 3.5"),
    "degree above the largest": (lambda s: s.mixed(20, 4, 10, 3), "average degree, 4,.*3; .*raise max_degree"),
    "an edge too many": (lambda s: s.mixed(9, 5, 10, 5), "9 variables.*23 edges"),
    "negative largest degree": (lambda s: s.mixed(5, 0, 10, -1), "largest degree.*-1"),
    "no rows": (lambda s: s.mixed(5, 1, 0), "number of rows.*at least 1, not 0"),
    "negative rows": (lambda s: s.mixed(5, 1, -5), "number of rows.*-5"),
    "rows as text": (lambda s: s.mixed(5, 1, "10"), "number of rows.*'10'"),
    "too many rows": (lambda s: s.mixed(5, 1, 10**13), "GB of memory; ask for fewer rows"),
    "share below 0": (lambda s: s.mixed(5, 1, 10, discrete_share=-0.1), "discrete.*0 to 1, not -0.1"),
    "share above 1": (lambda s: s.mixed(5, 1, 10, discrete_share=1.1), "discrete.*0 to 1, not 1.1"),
    "share nan": (lambda s: s.mixed(5, 1, 10, discrete_share=math.nan), "0 to 1, not nan"),
    "ordinal share": (lambda s: s.mixed(5, 1, 10, ordinal_share=2), "ordinal.*0 to 1, not 2"),
    "one level": (lambda s: s.mixed(5, 1, 10, levels=(1, 3)), r"levels.*from 2.*\(1, 3\)"),
    "levels the wrong way": (lambda s: s.mixed(5, 1, 10, levels=(5, 2)), r"levels.*\(5, 2\)"),
    "levels as one number": (lambda s: s.mixed(5, 1, 10, levels=3), "levels.*two whole numbers.*not 3"),
    "no bins": (lambda s: s.mixed(5, 1, 10, bins=(0, 3)), "bins"),
    "negative seed": (lambda s: s.mixed(5, 1, 10, seed=-1), "the seed.*-1"),
    "seed text": (lambda s: s.mixed(5, 1, 10, seed="a"), "the seed.*'a'"),
    "no such missing": (lambda s: s.mixed(5, 1, 10, missing="random"), "missing 'random'; .*mcar, mar, mnar"),
    "missing as a number": (lambda s: s.mixed(5, 1, 10, missing=0.1), "0.1"),
    "missing share": (lambda s: s.mixed(5, 1, 10, missing="mcar(1.5)"), "share.*between 0 and 1"),
    "mar of one": (lambda s: s.mixed(1, 0, 10, missing="mar"), "only one"),
    "too many cells": (
        lambda s: s.mixed(30, 29, 10, 29, discrete_share=1.0),
        "more than a million; lower max_degree, or use fewer levels",
    ),
    "no such local": (lambda s: s.random_network(5, 1, local="forest"), "'forest'; choose one of table, tree, linear"),
    "table of numbers": (lambda s: s.random_network(5, 1, "continuous"), "discrete.*X1 is continuous.*local='tree'"),
    "no such kind": (lambda s: s.random_network(5, 1, "nominal", "tree"), "'nominal' is not a kind"),
    "shares of 2": (lambda s: s.random_network(5, 1, {"ordinal": 1, "continuous": 1}, "tree"), "not 1 in all"),
    "negative share of a kind": (lambda s: s.random_network(5, 1, {"ordinal": -1}, "tree"), "'ordinal'.*0 to 1"),
    "kinds of too few": (lambda s: s.random_network(5, 1, ["ordinal"], "tree"), "1 kinds are listed for 5"),
    "kinds a number": (lambda s: s.random_network(5, 1, 3, "tree"), "3 is not a kind"),
    "alpha 0": (lambda s: s.random_network(5, 1, alpha=0), "alpha.*not 0"),
    "too many table rows": (lambda s: s.random_network(20, 19, max_degree=19), "more than a million"),
    "rows of what is no network": (lambda s: s.from_network({"a": []}, 5), "a dict; give a Network"),
    "no rows of a network": (lambda s: s.from_network(s.random_network(3, 1), 0), "number of rows"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case: str) -> None:
    call, said = BAD[case]
    with pytest.raises(sp.SpinneyError, match=said) as caught:
        call(sp.simulate)
    assert "\n" not in str(caught.value) and len(str(caught.value)) <= 500


def test_rising_names_are_also_rising_numbers() -> None:
    names = sp.simulate.mixed(120, 0, 1).data.names
    assert all(a < b for a, b in pairwise(names)) and names[0] == "X001" and names[-1] == "X120"


@pytest.mark.parametrize("local", ["forest", {}, ["table"], None])
def test_a_kind_of_local_models_that_there_is_not_is_refused(local: Any) -> None:
    with pytest.raises(sp.ChoiceError, match="there is no local model"):
        sp.simulate.random_network(5, 2, local=local)
