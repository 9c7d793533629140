"""Fitted Gaussian models: they are what the scores say, probabilities, and readable.

In:  small mixed tables, and the core's log-likelihoods of their families.
Out: sums of log-probabilities equal to log-likelihoods, densities that integrate to one, equations in the user's
     units."""

from __future__ import annotations

import json
import math
from math import log, pi

import numpy as np
import pytest
from scipy.integrate import quad

import spinney as sp
from slow import gaussian as slow
from slow.mixed_tables import dataset_of, families_of, random_table, smooth_table
from slow.trees import CONTINUOUS, numbers
from spinney import _core
from spinney.errors import ChoiceError
from spinney.fitted.cut_table import CutTable
from spinney.fitted.embedded import Embedded
from spinney.fitted.fit_gaussian import Settings, fit_gaussian
from spinney.fitted.gaussian import GaussianBayes, Regression, StudentRegression
from spinney.fitted.model import Columns
from spinney.fitted.table import Table
from spinney.scores.mixed_columns import mixed_columns

SCORES = ["cg", "cgd", "dg", "bf", "bge"]


def near(expected: float, rel: float = 1e-9) -> object:
    return pytest.approx(expected, rel=rel, abs=rel)


def likelihood(data, score, child, parents, **options):
    """Of the core, in the user's units."""
    place = {name: i for i, name in enumerate(data.order)}
    facts = mixed_columns(data, bins=True)
    spec = _core.GaussianSpec(score, **options)
    found = _core.GaussianScores(facts, spec).terms(place[child], sorted(place[p] for p in parents))[0]
    # cg has the units already; dg standardises and forgets them.
    return found - (data.n_rows * facts[place[child]][4] if score == "dg" else 0.0)


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    height = 1.7 + 0.1 * sex + 0.1 * rng.normal(size=n)
    weight = 3.2 + 45 * height + 5 * sex + 2.1 * rng.normal(size=n)
    return sp.Dataset.from_frame({"sex": ["fm"[code] for code in sex], "height": height, "weight": weight})


# The models are what the scores say


def test_a_continuous_child_under_cg_has_the_likelihood_of_its_score():
    """Where every cell has its own regression."""
    table = smooth_table(1, "AbCdE", 150)
    data = dataset_of(table)
    compared = 0
    for child, parents in families_of(table, 4):
        if child.isupper():
            model = fit_gaussian(data, child, parents, "cg")
            assert isinstance(model, Regression)
            if not model.index.discrete or model.rows[:-1].sum() == data.n_rows:
                assert model.log_prob(data).sum() == near(likelihood(data, "cg", child, parents)), parents
                compared += 1
    assert compared >= 30


def test_a_discrete_child_under_cg_has_the_likelihood_of_the_exact_score():
    """Also with tiny and singular cells, copies and constants."""
    for seed in range(25):
        table = random_table(seed)
        data = dataset_of(table)
        for child, parents in families_of(table, 3, share=0.3, seed=seed):
            if table[child].kind == CONTINUOUS:
                continue
            for df in ("full", "paper"):
                model = fit_gaussian(data, child, parents, "cg", Settings(df=df))
                mixed = any(table[p].kind == CONTINUOUS for p in parents)
                assert isinstance(model, GaussianBayes if mixed else Table)
                expected = likelihood(data, "cg", child, parents, exact=True, paper=df == "paper")
                assert model.log_prob(data).sum() == near(expected, 1e-8), (seed, child, parents)


def test_a_continuous_child_under_dg_has_the_likelihood_of_its_score():
    table = smooth_table(2, "AbCdE", 100)
    data = dataset_of(table)
    for child, parents in families_of(table, 3):
        if child.isupper():
            model = fit_gaussian(data, child, parents, "dg")
            assert model.log_prob(data).sum() == near(likelihood(data, "dg", child, parents)), (child, parents)


def test_a_discrete_child_under_cgd_has_the_likelihood_of_its_score():
    for seed in range(10):
        table = random_table(seed)
        data = dataset_of(table)
        for child, parents in families_of(table, 3, share=0.2, seed=seed):
            if table[child].kind != CONTINUOUS:
                model = fit_gaussian(data, child, parents, "cgd")
                assert model.log_prob(data).sum() == near(likelihood(data, "cgd", child, parents)), (seed, child)


@pytest.mark.parametrize("alpha_mu, above", [(1.0, 2.0), (0.4, 3.5)])
def test_bge_predicts_the_ratio_of_marginal_likelihoods(alpha_mu, above):
    """p(new row | rows) of the child given the parents, from the formula with the row and without it.

    The rows are standardised, so that the model leaves them as they are."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(12, 3))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    names = ["a", "b", "c"]
    data = dataset_of({name: numbers(x[:, i].tolist()) for i, name in enumerate(names)})

    def evidence(rows, chosen):
        y = rows[:, [names.index(name) for name in chosen]]
        n, size = y.shape
        mean = y.mean(axis=0) if n else np.zeros(size)
        t = alpha_mu * (above - 1) / (alpha_mu + 1)
        away = y - mean
        posterior = t * np.eye(size) + away.T @ away + n * alpha_mu / (n + alpha_mu) * np.outer(mean, mean)
        gammas = slow.log_multivariate_gamma
        return (
            -size * n / 2 * log(pi)
            + size / 2 * log(alpha_mu / (n + alpha_mu))
            + gammas(size, (n + above + size) / 2)
            - gammas(size, (above + size) / 2)
            + (above + size) / 2 * size * log(t)
            - (n + above + size) / 2 * np.linalg.slogdet(posterior)[1]
        )

    for new in ([0.3, -1.2, 0.5], [4.0, 2.0, -3.0]):
        larger = np.vstack([x, new])
        row = Columns(1, {name: np.array([new[i]]) for i, name in enumerate(names)})
        for parents in ([], ["b"], ["b", "c"]):
            model = fit_gaussian(data, "a", parents, "bge", Settings(alpha_mu=alpha_mu, above=above))
            chosen = ["a", *parents]
            expected = evidence(larger, chosen) - evidence(x, chosen)
            if parents:
                expected -= evidence(larger, parents) - evidence(x, parents)
            assert model.log_prob(row)[0] == near(expected)


def test_tiny_cells_use_the_regression_of_all_rows():
    data = sp.Dataset.from_frame(
        {"a": ["p"] * 10 + ["q"] * 2, "x": [float(i) for i in range(12)], "y": [float(i * i % 7) for i in range(12)]},
        kinds={"x": "continuous", "y": "continuous"},
    )
    model = fit_gaussian(data, "y", ["a", "x"], "cg")
    assert model.codes.tolist() == [0] and model.rows.tolist() == [10, 12]
    slope, intercept = np.polyfit(np.arange(12.0), [float(i * i % 7) for i in range(12)], 1)
    assert model.mean(data)[11] == near(intercept + 11 * slope)
    slope, intercept = np.polyfit(np.arange(10.0), [float(i * i % 7) for i in range(10)], 1)
    assert model.mean(data)[5] == near(intercept + 5 * slope)


# Probabilities and densities


def special_models():
    for seed in range(12):
        table = random_table(seed)
        data = dataset_of(table)
        for child, parents in families_of(table, 3, share=0.12, seed=seed):
            for score in SCORES:
                if score != "bge" or all(table[name].kind == CONTINUOUS for name in (child, *parents)):
                    yield data, fit_gaussian(data, child, parents, score)


def test_discrete_children_have_probabilities():
    seen = set()
    for data, model in special_models():
        if model.family[model.child] is None:
            with pytest.raises(ChoiceError):
                model.conditional(data)
            continue
        seen.add(type(model))
        shares = model.conditional(data)
        assert (shares >= 0).all() and shares.sum(axis=1) == pytest.approx(1.0)
        picked = shares[np.arange(data.n_rows), data.codes(model.child)]
        assert np.exp(model.log_prob(data)) == pytest.approx(picked)
        assert (model.log_prob(data) <= 1e-15).all()
        drawn = model.sample(data, np.random.default_rng(1))
        assert drawn.min() >= 0 and drawn.max() < shares.shape[1]
        assert (shares[np.arange(data.n_rows), drawn] > 0).all()
    assert seen == {Table, CutTable, GaussianBayes, Embedded}


def test_continuous_children_have_densities():
    seen = set()
    for data, model in special_models():
        if model.family[model.child] is not None:
            with pytest.raises(ChoiceError):
                model.mean(data)
            continue
        seen.add(type(model))
        centre, scale = model.spread(data)
        assert np.isfinite(model.log_prob(data)).all() and np.isfinite(centre).all() and (scale > 0).all()
        assert np.isfinite(model.sample(data, np.random.default_rng(1))).all()
        t = np.linspace(-14, 14, 1401)  # z = sinh(t): the trapezoids are exact to many digits, also in heavy tails
        z = np.sinh(t)
        first = {
            name: data.values(name)[0] if own is None else data.codes(name)[0] for name, own in model.family.items()
        }
        rows = {name: np.full(len(z), value) for name, value in first.items()}
        rows[model.child] = centre[0] + scale[0] * z
        density = np.exp(model.log_prob(Columns(len(z), rows))) * scale[0]
        assert (density * np.cosh(t)).sum() * (t[1] - t[0]) == pytest.approx(1.0, rel=1e-4)
    assert seen == {Regression, StudentRegression, Embedded}


@pytest.mark.parametrize("score", ["cg", "bge"])
def test_pieces_of_a_continuous_child(score):
    data = dataset_of(smooth_table(3, "ABC", 40))
    model = fit_gaussian(data, "A", ["B", "C"], score)
    cuts = np.array([-1.0, -0.2, 0.7])
    logs, means = model.pieces(data, cuts)
    mass = np.exp(logs)
    assert mass.sum(axis=1) == pytest.approx(1.0)
    assert (mass * means).sum(axis=1) == pytest.approx(model.mean(data))
    one = data.take([4])
    columns = Columns(1, {name: one.values(name) for name in "ABC"})
    inside = quad(lambda v: math.exp(model.log_prob(columns.replaced("A", v))[0]), -0.2, 0.7)[0]
    assert mass[4, 2] == pytest.approx(inside)
    far = model.pieces(data, np.array([60.0, 70.0]))
    assert np.isfinite(far[1]).all() and not np.isnan(far[0]).any()


def test_samples_follow_the_model():
    data = people()
    rng = np.random.default_rng(5)
    many = data.take(np.repeat([3], 20_000))
    for score in SCORES:
        parents = ["height"] if score == "bge" else ["height", "sex"]
        model = fit_gaussian(data, "weight", parents, score)
        drawn = model.sample(many, rng)
        centre, scale = (column[0] for column in model.spread(many))
        assert abs(drawn.mean() - centre) < 5 * scale / math.sqrt(20_000)
        assert drawn.std() == pytest.approx(scale, rel=0.05)
    model = fit_gaussian(data, "sex", ["height", "weight"], "cg")
    share = model.conditional(many)[0]
    assert (model.sample(many, rng) == 1).mean() == pytest.approx(share[1], abs=5 * 0.5 / math.sqrt(20_000))


def test_cells_and_values_never_seen():
    table = smooth_table(4, "aBcD", 60)
    table["a"] = table["a"].__class__("categorical", table["a"].values, table["a"].levels + 2)
    data = dataset_of(table)
    unseen = table["a"].levels - 1
    extremes = np.array([0.0, 1e308, -1e308, 1e-300])
    row = Columns(4, {"a": np.full(4, unseen), "c": np.zeros(4, np.int64), "B": extremes, "D": extremes[::-1].copy()})
    for score in SCORES[:-1]:
        for child, parents in (("B", ["D", "a", "c"]), ("c", ["B", "D", "a"]), ("c", ["a"]), ("D", ["B"])):
            model = fit_gaussian(data, child, parents, score)
            logs = model.log_prob(row)
            assert not np.isnan(logs).any() and (logs < np.inf).all(), (score, child)
            drawn = model.sample(row, np.random.default_rng(1))
            assert np.isfinite(drawn).all()
            if child == "c":
                assert model.conditional(row).sum(axis=1) == pytest.approx(1.0)
    model = fit_gaussian(data, "B", ["D"], "bge")
    assert not np.isnan(model.log_prob(row)).any()


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_large_and_small_numbers(factor):
    """Another unit moves every log-density by the log of the unit."""
    table = smooth_table(1, "AbC", 60)
    scaled = {
        name: numbers([factor * v for v in column.values]) if column.kind == CONTINUOUS else column
        for name, column in table.items()
    }
    for score in ("cg", "dg", "bf"):
        for child, parents in (("A", ["C", "b"]), ("b", ["A", "C"])):
            plain, other = (fit_gaussian(dataset_of(t), child, parents, score) for t in (table, scaled))
            moved = log(factor) if child == "A" else 0.0
            before, after = plain.log_prob(dataset_of(table)), other.log_prob(dataset_of(scaled))
            assert after + moved == pytest.approx(before, rel=1e-6, abs=1e-6), score


# Words and files


def test_equations_in_the_users_names_and_units():
    data = people()
    text = str(fit_gaussian(data, "weight", ["height", "sex"], "cg"))
    lines = text.splitlines()
    assert len(lines) == 3 and all(line.startswith("  weight = ") for line in lines[1:])
    assert lines[1].endswith("if sex = f") and lines[2].endswith("if sex = m")
    for code, level in enumerate("fm"):
        mine = data.codes("sex") == code
        slope, intercept = np.polyfit(data.values("height")[mine], data.values("weight")[mine], 1)
        start, by = lines[1 + code].split(" = ")[1].split(" height")[0].split(" + ")
        assert (float(start), float(by)) == (pytest.approx(intercept, abs=0.03), pytest.approx(slope, rel=1e-4)), level
    for score in ("cg", "cgd", "dg", "bf"):
        model = fit_gaussian(data, "sex", ["height", "weight"], score)
        assert all(name in str(model) for name in ("sex", "height", "weight", "f", "m"))
    assert "approximation" in str(fit_gaussian(data, "sex", ["height"], "dg"))
    assert "degrees of freedom" in str(fit_gaussian(data, "weight", ["height"], "bge"))


def test_an_equation_can_be_evaluated_far_from_zero():
    """A parent around 1e6 needs a slope with more digits than six."""
    rng = np.random.default_rng(2)
    x = 1e6 + rng.normal(size=50)
    data = sp.Dataset.from_frame({"x": x, "y": 2 * x + 0.01 * rng.normal(size=50)})
    model = fit_gaussian(data, "y", ["x"], "cg")
    start, slope = (
        model.equation(0).split(" = ")[1].split(" x")[0].split(" - ")
        if " - " in model.equation(0)
        else (model.equation(0).split(" = ")[1].split(" x")[0].split(" + "))
    )
    assert float(start) + float(slope) * x == pytest.approx(model.mean(data), abs=0.01)


def test_files_hold_all_of_a_model():
    seen = set()
    for data, model in special_models():
        if isinstance(model, Table):
            continue
        plain = json.loads(json.dumps(model.to_plain(), allow_nan=False))
        node = {"child": model.child, "parents": list(model.parents), "score": None, **plain}
        again = type(model).from_plain(node, data.kinds)
        assert again == model and again.log_prob(data).tolist() == model.log_prob(data).tolist()
        json.dumps(model.as_dict(), allow_nan=False)
        assert model.attributes()["parents"] == model.parents
        assert len(model.text(2).splitlines()) <= 6  # a title, heads, two rows, the others, how many more
        assert model._repr_html_()
        seen.add(type(model))
    assert len(seen) == 5


def test_other_parameters_make_another_model():
    data = people()
    for score, parents in (("cg", ["height", "sex"]), ("dg", ["height", "sex"]), ("bge", ["height"])):
        model = fit_gaussian(data, "weight", parents, score)
        assert model != fit_gaussian(data.take(np.arange(200)), "weight", parents, score)
        assert model == fit_gaussian(data, "weight", parents, score)
    for score in ("cg", "cgd"):
        model = fit_gaussian(data, "sex", ["height"], score)
        assert model != fit_gaussian(data.take(np.arange(200)), "sex", ["height"], score)


@pytest.mark.parametrize(
    ("score", "change", "word"),
    [
        ("cg", {"deviations": [0.0, 1.0, 1.0]}, "deviation"),
        ("cg", {"slopes": [[1.0, 2.0]]}, "shape"),
        ("cg", {"cells": [1, 0]}, "rising"),
        ("dg", {"deviation": -1.0}, "deviation"),
        ("dg", {"means": [0.0]}, "shape"),
    ],
)
def test_damaged_files_are_refused(score, change, word):
    data = people()
    model = fit_gaussian(data, "weight", ["height", "sex"], score)
    node = {"child": "weight", "parents": list(model.parents), "score": None, **model.to_plain(), **change}
    with pytest.raises(ChoiceError, match=word):
        type(model).from_plain(node, data.kinds).log_prob(data)


def test_what_has_no_gaussian_model_is_refused():
    data = people(20)
    with pytest.raises(ChoiceError, match="choose cg"):
        fit_gaussian(data, "weight", ["sex"], "bge")
    with pytest.raises(ChoiceError, match="choose cg"):
        fit_gaussian(data, "weight", ["sex"], "mn")


# In a network


def test_a_network_of_gaussian_models(tmp_path):
    """Files, samples, and the posterior of a node in the middle: Gaussians have it in closed form."""
    data = people()
    families = {"sex": (), "height": ("sex",), "weight": ("height", "sex")}
    models = {child: fit_gaussian(data, child, parents, "cg") for child, parents in families.items()}
    network = sp.Network(data.kinds, models)
    network.save(tmp_path / "net.json")
    assert sp.Network.load(tmp_path / "net.json") == network
    assert network.log_prob(data).sum() == near(
        sum(likelihood(data, "cg", child, parents) for child, parents in families.items())
    )
    drawn = network.sample(500, seed=1)
    assert abs(drawn.values("weight").mean() - data.values("weight").mean()) < 2
    expected = []
    for row in range(20):
        height, weight = models["height"], models["weight"]
        place = int(data.codes("sex")[row])
        slope, sd = float(weight.slopes[place, 0]), float(weight.deviations[place])
        precision = 1 / height.deviations[place] ** 2 + (slope / sd) ** 2
        seen = data.values("weight")[row] - (weight.means[place, 0] - slope * weight.means[place, 1])
        expected.append((height.means[place, 0] / height.deviations[place] ** 2 + slope * seen / sd**2) / precision)
    assert network.predict(data.take(np.arange(20)), "height") == pytest.approx(expected, rel=1e-7)
    other = {**models, "sex": fit_gaussian(data, "sex", ("height",), "cg"), "height": fit_gaussian(data, "height", ())}
    turned = sp.Network(data.kinds, other)
    shares = turned.predict_proba(data.take(np.arange(20)), "sex")
    assert shares.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("score", ["cgd", "dg", "bf", "bge"])
def test_files_of_networks(score, tmp_path):
    data = people()
    families = {"sex": ("weight",), "height": (), "weight": ("height",)}
    models = {
        child: fit_gaussian(data, child, own, "cg" if score == "bge" and child == "sex" else score)
        for child, own in families.items()
    }
    network = sp.Network(data.kinds, models)
    network.save(tmp_path / "net.json")
    assert sp.Network.load(tmp_path / "net.json") == network
    means = network.predict(data.take(np.arange(5)), "weight")
    assert np.isfinite(means).all()
