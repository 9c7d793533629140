"""pcart(leaf="linear"): trees whose leaves hold a Bayesian linear regression on the continuous parents.

In:  small tables that the slow twin can look through, and larger ones for laws.
Out: fast == slow for every mix of parents; densities that integrate to one; the plain tree where there is nothing to
regress on; scores that do not depend on units, offsets, the order of rows or threads; fitted models whose predictions
are the ratios of marginal likelihoods, and whose files and equations say the same."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import spinney as sp
from slow.leaves import PAPER, Hyper
from slow.linear_tree import (
    best_linear_tree,
    best_linear_tree_by_enumeration,
    linear_leaf,
    linear_leaf_row_by_row,
    linear_pcart,
    predictive,
)
from slow.trees import CATEGORICAL, CONTINUOUS, ORDINAL, Column, dataset, discrete, numbers, standardised
from spinney.errors import ChoiceError
from spinney.fitted.linear_leaves import LinearLeaves
from spinney.fitted.partition import Partition
from spinney.formats import json as network_file
from spinney.scores import build_source

NEAR = {"rel": 1e-10, "abs": 1e-9}
OTHER = Hyper(mu0=-0.7, a=0.2, nu=2.5, lam=0.4)
MIXES = [
    (*["continuous"] * d, *others)
    for d in (1, 2, 3)
    for size in range(3 - min(d, 2))
    for others in combinations_with_replacement((CATEGORICAL, ORDINAL), size)
]

Table = tuple[Column, list[Column]]


def named(table: Table) -> dict[str, Column]:
    return {"child": table[0], **{f"p{u}": parent for u, parent in enumerate(table[1])}}


def score_of(hyper: Hyper = PAPER, s: int = 5, tau: float = 1.0, **more) -> sp.catalog.Choice:
    return sp.PCART(**asdict(hyper), max_splits=s, leaf="linear", tau=tau, **more)


def fast(table: Table, score, standardise: bool = True, prior: str = "uniform") -> float:
    data = dataset(named(table), standardise=standardise)
    return sp.local_score(data, "child", [f"p{u}" for u in range(len(table[1]))], score=score, prior=prior)


@st.composite
def drawn(draw, mix: tuple[str, ...], rows=(1, 12), s: int = 2) -> Table:
    """Ties, midpoints, constant and equal columns, single levels: all come up."""
    n = draw(st.integers(*rows))
    parents: list[Column] = []
    for kind in mix:
        if kind != CONTINUOUS:
            levels = draw(st.integers(1, 3))
            parents.append(discrete(kind, draw(st.lists(st.integers(0, levels - 1), min_size=n, max_size=n)), levels))
        elif parents and parents[-1].kind == CONTINUOUS and draw(st.integers(0, 4)) == 0:
            parents.append(numbers([3 - 2 * value for value in parents[-1].values], s=s))  # collinear
        else:
            steps, scale = draw(st.sampled_from([2, 8, 1000])), draw(st.sampled_from([1.0, 1e3, 0.6]))
            values = [scale * place / steps for place in draw(st.lists(st.integers(0, steps), min_size=n, max_size=n))]
            parents.append(numbers(values, s=s))
    noise = st.integers(-6, 6).map(lambda number: number / 2) | st.floats(-50, 50, allow_subnormal=False)
    values = draw(st.lists(noise, min_size=n, max_size=n))
    if draw(st.booleans()):  # nearly a line in the first parent
        values = [5 * x + 0.01 * y for x, y in zip(parents[0].values, values, strict=True)]
    return numbers(values), parents


def table_with_kink(n: int, seed: int, offset: float = 0.0, unit: float = 1.0) -> pd.DataFrame:
    """y is |x| with a shift by the group, z is linear in x: trees of a few leaves win."""
    rng = np.random.default_rng(seed)
    x, w, g = rng.normal(size=n), rng.normal(size=n), rng.integers(0, 3, n)
    y = np.abs(x) + 0.5 * w + g + 0.1 * rng.normal(size=n)
    z = 2 * x - w + 0.2 * rng.normal(size=n)
    columns = {"x": x, "w": w, "y": y, "z": z}
    frame = pd.DataFrame({name: unit * column + offset for name, column in columns.items()})
    return frame.assign(g=pd.Categorical.from_codes(g, list("abc")))


# Against all trees


@pytest.mark.parametrize("mix", MIXES, ids="+".join)
@settings(max_examples=6)
@given(data=st.data())
def test_equals_slow_twin(mix, data):
    """REQUIRES nothing of the data: every kind of parent, few rows and many, with and without the prior of trees."""
    table = data.draw(drawn(mix, rows=(1, 8 if len(mix) > 2 else 12)))
    hyper, tau = data.draw(st.sampled_from([(PAPER, 1.0), (OTHER, 0.3)]))
    child, parents = standardised(table[0]), table[1]
    for prior in (True, False):
        mine = fast(table, score_of(hyper, 2, tau, structure_prior=prior))
        assert mine == pytest.approx(linear_pcart(child, parents, hyper, tau, structure_prior=prior), **NEAR)


@settings(max_examples=15)
@given(table=drawn((CONTINUOUS, CONTINUOUS, CATEGORICAL), rows=(2, 9)))
def test_not_standardised(table):
    """The columns as they are: the priors then speak of the user's units, of mean and slopes about 0."""
    mine = fast(table, score_of(OTHER, 2, 0.5), standardise=False)
    assert mine == pytest.approx(linear_pcart(*table, OTHER, 0.5, standardise=False), rel=1e-9, abs=1e-8)


@settings(max_examples=10)
@given(table=drawn((CONTINUOUS, CATEGORICAL), rows=(2, 6), s=1))
def test_twin_is_the_best_of_all_trees_named_one_by_one(table):
    child = standardised(table[0])
    assert best_linear_tree(child, table[1])[0] == pytest.approx(best_linear_tree_by_enumeration(child, table[1])[0])


@pytest.mark.parametrize("mix", [(CONTINUOUS,), (CONTINUOUS, CATEGORICAL), (CONTINUOUS, CONTINUOUS)], ids="+".join)
def test_many_rows_in_few_cells(mix):
    """Thousands of rows are summed up by cells, block by block; the twin adds exact fractions."""
    rng = random.Random(5)
    n = 3000
    parents = [
        numbers([rng.random() for _ in range(n)], 0.0, 1.0, 1)
        if kind == CONTINUOUS
        else discrete(kind, [rng.randrange(2) for _ in range(n)], 2)
        for kind in mix
    ]
    y = [3 * row[0] + (row[-1] > 0.5) + rng.gauss(0, 0.1) for row in zip(*(p.values for p in parents), strict=True)]
    table = (numbers(y), parents)
    twin = linear_pcart(standardised(table[0]), parents)
    assert fast(table, score_of(s=1)) == pytest.approx(twin, rel=1e-12)


def test_rows_that_need_no_split_are_known_rightly():
    """Hundreds of small nodes that are leaves by the bound alone: with a looser prior each has to be looked at too."""
    rng = random.Random(8)
    for seed in range(12):
        n = rng.randrange(6, 24)
        x = [rng.random() for _ in range(n)]
        y = [10 * v * (v > 0.5) + rng.gauss(0, 10 ** rng.uniform(-4, 0)) for v in x]
        table = (numbers(y), [numbers(x, 0.0, 1.0, 4)])
        hyper = [PAPER, OTHER, Hyper(lam=1e-3), Hyper(nu=20.0)][seed % 4]
        tau = [1.0, 1e-3, 10.0][seed % 3]
        twin = linear_pcart(standardised(table[0]), table[1], hyper, tau)
        assert fast(table, score_of(hyper, 4, tau)) == pytest.approx(twin, **NEAR)


# What it reduces to, and what ignores it


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_no_continuous_parents_is_the_plain_leaf(seed):
    frame = table_with_kink(40, seed)
    frame["h"] = pd.Categorical.from_codes(np.random.default_rng(seed).integers(0, 2, 40), ["u", "v"])
    for parents in ([], ["g"], ["g", "h"]):
        assert sp.local_score(frame, "y", parents, "pcart(leaf=linear)") == sp.local_score(frame, "y", parents, "pcart")
        assert (
            type(
                sp.fit(
                    frame, {"y": parents, "g": [], "h": [], "x": [], "w": [], "z": []}, score="pcart(leaf=linear)"
                ).models["y"]
            )
            is Partition
        )


def test_discrete_children_ignore_it():
    frame = table_with_kink(60, 3)
    frame["o"] = pd.Categorical.from_codes(np.digitize(frame.x, [-1, 0, 1]), list("1234"), ordered=True)
    for child, parents in (("g", ["x", "y"]), ("o", ["w", "z", "g"])):
        scores = [sp.local_score(frame, child, parents, score) for score in ("pcart", "pcart(leaf=linear(3))")]
        assert scores[0] == scores[1]


def test_linear_data_need_no_split_and_gain():
    frame = table_with_kink(300, 1)
    linear, plain = (sp.local_score(frame, "z", ["w", "x"], score) for score in ("pcart(leaf=linear)", "pcart"))
    assert linear > plain + 100
    model = sp.fit(frame, {"z": ["w", "x"], "w": [], "x": [], "y": [], "g": []}, score="pcart(leaf=linear)").models["z"]
    assert isinstance(model, LinearLeaves) and len(model.sums) == 1


# Densities


def score_as_density(xs: list[float], ys: list[float], hyper: Hyper) -> float:
    table = (numbers(ys, -1e9, 1e9), [numbers(xs, 0.0, 1.0, 2)])
    return math.exp(fast(table, score_of(hyper, 2, structure_prior=False), standardise=False))


def test_a_leaf_integrates_to_one():
    """One and two rows that no split tells apart."""
    one = quad(lambda t: score_as_density([0.3], [math.tan(t)], PAPER) / math.cos(t) ** 2, -math.pi / 2, math.pi / 2)[0]
    assert one == pytest.approx(1, rel=1e-6)
    hyper = Hyper(nu=3.0, mu0=0.5)
    points, weights = np.polynomial.legendre.leggauss(60)
    points, weights = points * math.pi / 2, weights * math.pi / 2
    two = sum(
        wa * wb * score_as_density([0.3, 0.31], [math.tan(a), math.tan(b)], hyper) / (math.cos(a) * math.cos(b)) ** 2
        for a, wa in zip(points, weights, strict=True)
        for b, wb in zip(points, weights, strict=True)
    )
    assert two == pytest.approx(1, rel=1e-3)


def fitted(frame: pd.DataFrame, child: str, parents: list[str], score: str = "pcart(leaf=linear)") -> LinearLeaves:
    graph = {name: parents if name == child else [] for name in frame.columns}
    model = sp.fit(frame, graph, score=score).models[child]
    assert isinstance(model, LinearLeaves)
    return model


@pytest.mark.parametrize("row", [0, 1, 2])
def test_the_predictive_density_integrates_to_one(row):
    frame = table_with_kink(50, 2, offset=1000.0, unit=10.0)
    model = fitted(frame, "y", ["g", "w", "x"])
    given_row = frame.iloc[[row]]
    location, scale = (float(part[0]) for part in model.spread(sp.Dataset.from_frame(given_row)))

    def density(t: float) -> float:
        value = location + scale * math.tan(t)
        columns = sp.Dataset.from_frame(given_row.assign(y=value), kinds={"y": "continuous"})
        return math.exp(model.log_prob(columns)[0]) * scale / math.cos(t) ** 2

    assert quad(density, -math.pi / 2, math.pi / 2, limit=30)[0] == pytest.approx(1, rel=1e-5)


def test_sequential_predictions_multiply_to_the_marginal_likelihood():
    """Of one leaf: the twin's two ways, and our own score."""
    rng = random.Random(2)
    x = [[1.0, rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(7)]
    y = [1 + 2 * row[1] - row[2] + rng.gauss(0, 0.3) for row in x]
    table = (numbers(y), [numbers([row[1] for row in x], s=0), numbers([row[2] for row in x], s=0)])
    mine = fast(table, score_of(OTHER, 0, 0.7, structure_prior=False), standardise=False)
    assert mine == pytest.approx(linear_leaf(y, x, OTHER, 0.7), **NEAR)
    assert mine == pytest.approx(linear_leaf_row_by_row(y, x, OTHER, 0.7), **NEAR)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_predictions_are_those_of_the_twin(offset):
    """Location, scale and degrees of freedom in a leaf, from the rows in it."""
    frame = table_with_kink(120, 4, offset=offset)
    model = fitted(frame, "y", ["g", "w", "x"])
    data = sp.Dataset.from_frame(frame)
    leaf = model.leaf_of(data)
    location, scale = model.spread(data)
    z = {name: (frame[name] - frame[name].mean()) / frame[name].std(ddof=0) for name in ("w", "x", "y")}
    assert len(model.sums) > 1
    for row in range(0, 120, 13):
        mine = np.flatnonzero(leaf == leaf[row])
        xs = [[1.0, z["w"][i], z["x"][i]] for i in mine]
        centre, squared, freedom = predictive([z["y"][i] for i in mine], xs, [1.0, z["w"][row], z["x"][row]])
        unit = frame["y"].std(ddof=0)
        assert location[row] == pytest.approx(frame["y"].mean() + unit * centre, rel=1e-9)
        assert scale[row] == pytest.approx(unit * math.sqrt(squared), rel=1e-7)
        assert model.rows[leaf[row]] + 1 == freedom


def test_pieces_add_up_and_mean_is_theirs():
    frame = table_with_kink(80, 6)
    model = fitted(frame, "y", ["w", "x"])
    data = sp.Dataset.from_frame(frame)
    log_mass, means = model.pieces(data, np.array([0.0, 1.0, 2.5]))
    assert np.exp(log_mass).sum(axis=1) == pytest.approx(np.ones(80), rel=1e-9)
    assert (np.exp(log_mass) * means).sum(axis=1) == pytest.approx(model.mean(data), rel=1e-6, abs=1e-6)


def test_draws_follow_the_regression():
    frame = table_with_kink(400, 7)
    model = fitted(frame, "z", ["w", "x"])
    rows = sp.Dataset.from_frame(
        pd.concat([frame.iloc[:1]] * 20_000, ignore_index=True), kinds=dict.fromkeys("wxyz", "continuous")
    )
    draws = model.sample(rows, np.random.default_rng(1))
    location, scale = (float(part[0]) for part in model.spread(rows))
    assert np.mean(draws) == pytest.approx(location, abs=5 * scale / math.sqrt(20_000))
    assert np.std(draws) == pytest.approx(scale, rel=0.05)


def test_a_parent_is_predicted_through_its_linear_child():
    """The posterior mean of x given z, by sums over a fine grid of joint densities."""
    frame = table_with_kink(150, 17)[["x", "z"]]
    net = sp.fit(frame, {"x": [], "z": ["x"]}, score="pcart(leaf=linear)")
    rows = frame.iloc[:4]
    grid = np.linspace(-12, 12, 40_001)
    means = []
    for z in rows.z:
        joint = sp.Dataset.from_frame(pd.DataFrame({"x": grid, "z": z}), kinds=dict.fromkeys("xz", "continuous"))
        weight = np.exp(net.log_prob(joint))
        means.append((grid * weight).sum() / weight.sum())
    assert np.asarray(net.predict(rows, "x")) == pytest.approx(means, rel=1e-3, abs=1e-3)


# Units, order, threads


def all_scores(frame: pd.DataFrame, threads: int = 1) -> np.ndarray:
    families = [("y", p) for p in ([], ["x"], ["w", "x"], ["g", "x"], ["g", "w", "x"])] + [("z", ["w", "x", "y"])]
    return build_source(sp.Dataset.from_frame(frame), "pcart(leaf=linear)").local_scores(families, threads)


@pytest.mark.parametrize(("offset", "unit"), [(0.0, 1e-7), (-3e5, 250.0), (0.0, 1e200)])
def test_units_and_offsets_change_no_score(offset, unit):
    plain, moved = all_scores(table_with_kink(200, 9)), all_scores(table_with_kink(200, 9, offset, unit))
    assert moved == pytest.approx(plain, rel=1e-9)


def test_an_offset_of_a_million_costs_no_digit():
    """Values are whole parts of 4096, so that the offset itself rounds nothing away; the mean still does, by 1e-10."""
    frame = table_with_kink(200, 9)
    for name in "wxyz":
        frame[name] = np.round(frame[name] * 4096) / 4096
    moved = frame.assign(**{name: frame[name] + 2.0**20 for name in "wxyz"})
    assert all_scores(moved) == pytest.approx(all_scores(frame), rel=1e-10)


def test_threads_and_rows_in_any_order_give_the_same_digits():
    frame = table_with_kink(500, 10)
    first = all_scores(frame)
    assert np.array_equal(first, all_scores(frame, threads=2))
    assert np.array_equal(first, all_scores(frame.sample(frac=1, random_state=3)))


@pytest.mark.parametrize("kind", ["twice", "constant", "sum", "child"])
def test_collinear_parents_are_fine(kind):
    frame = table_with_kink(60, 11)
    frame["q"] = {"twice": frame.x, "constant": 0 * frame.x + 4.5, "sum": frame.x + frame.w, "child": frame.y}[kind]
    kinds = {"q": "continuous"}
    data = sp.Dataset.from_frame(frame, kinds=kinds)
    assert np.isfinite(sp.local_score(data, "y", ["q", "w", "x"], "pcart(leaf=linear)"))
    if kind == "constant":  # as a regressor it says nothing: what is left is the prior of the larger trees
        bare = "pcart(leaf=linear, structure_prior=False)"
        with_it, without = (sp.local_score(data, "y", p, bare) for p in (["q", "w", "x"], ["w", "x"]))
        assert with_it == pytest.approx(without, rel=1e-12)
    graph = {name: ["q", "w", "x"] if name == "y" else [] for name in frame.columns}
    model = sp.fit(data, graph, score="pcart(leaf=linear)").models["y"]
    assert np.isfinite(model.log_prob(data)).all()
    assert np.isfinite(model.mean(data)).all()


def test_far_values_give_numbers():
    frame = table_with_kink(60, 12)
    model = fitted(frame, "y", ["w", "x"])
    far = pd.DataFrame({"w": [1e300, -1e300, 0.0], "x": [1e300, 1e300, -1e308], "y": [0.0, 1e300, 1.0]})
    data = sp.Dataset.from_frame(far, kinds=dict.fromkeys("wxy", "continuous"))
    assert np.isfinite(model.log_prob(data)).all()
    assert np.isfinite(model.mean(data)).all()
    assert np.isfinite(model.sample(data, np.random.default_rng(0))).all()


# Learning and files


def test_learn_fits_what_it_scored_and_files_keep_it(tmp_path):
    frame = table_with_kink(300, 13)
    result = sp.learn(frame, score="pcart(leaf=linear)", search="hc")
    net = result.network
    assert result.found.score == pytest.approx(sum(m.score for m in net.models.values()), rel=1e-12)
    for child, model in net.models.items():
        assert model.score == pytest.approx(
            sp.local_score(frame, child, model.parents, "pcart(leaf=linear)"), rel=1e-12
        )
    assert any(isinstance(model, LinearLeaves) for model in net.models.values())
    network_file.write(net, tmp_path / "net.json")
    again = network_file.read(tmp_path / "net.json")
    assert again == net
    assert np.array_equal(again.log_prob(frame), net.log_prob(frame))
    assert net.sample(50, seed=1).n_rows == 50


@pytest.mark.parametrize("change", ["x_scale", "x_means", "tau", "x_scatter"])
def test_damaged_files_get_a_sentence(tmp_path, change):
    frame = table_with_kink(100, 14)
    net = sp.fit(frame, {"z": ["w", "x"], "w": [], "x": [], "y": [], "g": []}, score="pcart(leaf=linear)")
    network_file.write(net, tmp_path / "net.json")
    record = json.loads((tmp_path / "net.json").read_text())
    (node,) = [node for node in record["nodes"] if node["child"] == "z"]
    bad = {"x_scale": [0, 1], "x_means": [[1.0]], "tau": -1, "x_scatter": [[[1.0, 2.0], [3.0, 1.0]]]}[change]
    node["regression"][change] = bad
    (tmp_path / "net.json").write_text(json.dumps(record))
    with pytest.raises(sp.SpinneyError, match=change):
        network_file.read(tmp_path / "net.json")


def test_the_text_has_the_equation_in_the_users_units():
    rng = np.random.default_rng(0)
    age, dose = rng.uniform(20, 80, 400), rng.uniform(0, 5, 400)
    frame = pd.DataFrame({"age": age, "dose": dose, "pressure": 100 + 0.5 * age - 4 * dose + rng.normal(0, 0.01, 400)})
    model = fitted(frame, "pressure", ["age", "dose"])
    text = str(model)
    assert "linear in age, dose" in text
    slopes = [float(words.split()[-1]) for words in text.split("mean ")[1].split(" (")[:2]]
    assert slopes == pytest.approx([0.5, 4.0], rel=0.02)
    assert " - " in text.split("(age")[1]
    assert f"(age - {age.mean():.6g})" in text


def test_options_are_checked():
    frame = table_with_kink(20, 15)
    for score in ("pcart(leaf=cubic)", "pcart(leaf=linear, tau=0)", "pcart(leaf=linear, tau=-1)", "ft(leaf=linear)"):
        with pytest.raises(ChoiceError):
            sp.local_score(frame, "y", ["x"], score)


def test_more_weight_on_the_prior_makes_flatter_slopes():
    frame = table_with_kink(30, 16)
    slopes = [
        np.abs(fitted(frame, "z", ["x"], f"pcart(leaf=linear, tau={tau}, max_splits=0)")._regressions.slopes).sum()
        for tau in (0.01, 1, 100, 10000)
    ]
    assert slopes == sorted(slopes, reverse=True)
    assert slopes[-1] < 0.05 * slopes[0]
