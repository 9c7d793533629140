"""MARS: the estimators, the core against its slow twin and R's earth, the score and its model.

In:  tests/golden/mars.earth-5.3.json, all of earth_shared.json where the shared folder is there; drawn tables.
Out: the same terms, GCV and RSS; laws of units, names and levels; what scikit-learn asks of estimators."""

from __future__ import annotations

import csv
import gzip
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import spinney as sp
from lazy_polars import pl
from slow.mars import Options, backward, forward, gcv
from spinney.scores import build_source

Matrix = Any


def table(seed: int) -> tuple[Matrix, Matrix, Options]:
    """A small table with some columns of few values, and options."""
    rng = np.random.default_rng(seed)
    n, p, r = int(rng.integers(12, 70)), int(rng.integers(1, 5)), int(rng.integers(1, 4)) if seed % 4 == 0 else 1
    x = rng.normal(size=(n, p)) * rng.choice([0.5, 1.0, 4.0], size=p) + rng.choice([0.0, 2.0], size=p)
    if rng.random() < 0.4:
        x[:, 0] = np.round(x[:, 0])
    if rng.random() < 0.3:
        x[:, -1] = x[:, -1] > x[:, -1].mean()
    y = rng.normal(size=(n, r)) * rng.choice([0.1, 0.5, 1.0])
    y += np.maximum(0, x[:, [0]]) * rng.normal(size=r) + np.sin(x[:, [p - 1]]) * x[:, [0]]
    options = Options(
        degree=int(rng.integers(1, 4)),
        max_terms=[None, 9, 15, 31][int(rng.integers(4))],
        penalty=[None, 1.0, -1][int(rng.integers(3))],
        threshold=[0.001, 0.0, 0.05][int(rng.integers(3))],
        minspan=int(rng.integers(3)),
        endspan=int(rng.integers(3)),
        fast_k=[20, 0, 3][int(rng.integers(3))],
        lines=bool(rng.integers(2)),
    )
    return x, y, options


@pytest.mark.parametrize("block", range(10))
def test_the_fast_pass_takes_the_terms_of_the_slow_one(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        x, y, options = table(seed)
        model = sp.MARSRegressor(**options._asdict()).fit(x, y[:, 0] if y.shape[1] == 1 else y)
        terms, values = forward(x, y, options)
        assert [[tuple(f) for f in term] for term in model.forward_basis_] == [list(term) for term in terms], seed
        subsets = backward(values, y, options.knot_penalty)
        best = min(subsets, key=lambda own: (own[0], len(own[2])))
        assert model.gcv_ == pytest.approx(best[0], rel=1e-6), seed
        assert model.rss_ == pytest.approx(best[1], rel=1e-6, abs=1e-9), seed
        assert model.gcv_ == pytest.approx(gcv(model.rss_, len(y), len(model.basis_), options.knot_penalty), rel=1e-12)
        fitted = model.predict(x).reshape(y.shape)
        assert float(((y - fitted) ** 2).sum()) == pytest.approx(model.rss_, rel=1e-6, abs=1e-9)


def test_earth_gives_the_same_models(golden: Path) -> None:
    for case in json.loads((golden / "mars.earth-5.3.json").read_text())["cases"]:
        model = sp.MARSRegressor(case["degree"]).fit(np.array(case["x"]), np.array(case["y"])[:, 0])
        assert (len(model.forward_basis_), len(model.basis_)) == (case["forward"], case["terms"]), case["name"]
        assert model.gcv_ == pytest.approx(case["gcv"], rel=1e-10), case["name"]
        assert model.rss_ == pytest.approx(case["rss"], rel=1e-10), case["name"]


def test_earth_gives_the_same_models_on_all_shared_cases(shared: Path) -> None:
    names = {"minspan": "minspan", "endspan": "endspan", "fast.k": "fast_k", "Auto.linpreds": "lines"}
    for name, case in json.loads((shared / "golden" / "earth_shared.json").read_text())["cases"].items():
        with gzip.open(shared / "golden" / "data" / f"{name}.csv.gz", "rt") as file:
            rows = list(csv.DictReader(file))
        frame = pd.DataFrame({key: [row[key] for row in rows] for key in rows[0]})
        for key in frame:
            frame[key] = pd.to_numeric(frame[key]) if not frame[key].str.isalpha().all() else frame[key]
        x, y = frame.drop(columns="y"), frame["y"]
        responses = case["response_cols"] if isinstance(case["response_cols"], list) else [case["response_cols"]]
        target = y if responses == ["y"] else pd.DataFrame({r: (y == r).astype(float) for r in responses})
        given = {names[key]: value for key, value in case["args"].items() if key in names}
        model = sp.MARSRegressor(
            case["args"]["degree"],
            max_terms=case["nk"],
            penalty=case["penalty"],
            threshold=case["thresh"],
            prune=case["args"].get("pmethod") != "none",
            **given,
        ).fit(x, target)
        assert (len(model.forward_basis_), len(model.basis_)) == (case["n_terms_forward"], case["n_terms_selected"])
        assert model.gcv_ == pytest.approx(case["gcv"], rel=1e-8), name
        assert model.rss_ == pytest.approx(case["rss"], rel=1e-8), name


def test_standardised_columns_have_no_units() -> None:
    for seed in range(30):
        x, y, options = table(seed)
        y = y[:, 0]
        rng = np.random.default_rng(seed)
        scale, shift = 10.0 ** rng.integers(-3, 4, size=x.shape[1]), rng.normal(size=x.shape[1]) * 100
        own = {**options._asdict(), "standardise": True}
        before = sp.MARSRegressor(**own).fit(x, y)
        after = sp.MARSRegressor(**own).fit(x * scale + shift, y * 7 - 3)
        assert len(before.basis_) == len(after.basis_), seed
        assert after.predict(x * scale + shift) == pytest.approx(7 * before.predict(x) - 3, rel=1e-6, abs=1e-6), seed
        assert after.gcv_ == pytest.approx(49 * before.gcv_, rel=1e-7)
        assert after.feature_importances_ == pytest.approx(before.feature_importances_, abs=1e-6)


@pytest.mark.parametrize("estimator", [sp.MARSRegressor(), sp.MARSRegressor(3), sp.MARSClassifier(2)])
def test_scikit_learn_finds_nothing_wrong(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 40
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"] == []


def clinic(seed: int = 0, n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.uniform(20, 80, n), "dose": rng.normal(5, 2, n), "site": rng.choice(list("abc"), n)}
    )
    frame["size"] = pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True)
    frame["y"] = np.maximum(0, frame.age - 50) * 0.3 + (frame.site == "b") * frame.dose + rng.normal(0, 0.5, n)
    frame["y"] += 2.0 * frame["size"].cat.codes
    frame["c"] = np.where(frame.y > 8, "high", np.where(frame.y > 3, "middle", "low"))
    return frame


def test_frames_keep_their_names_and_kinds() -> None:
    frame = clinic()
    x = frame[["age", "dose", "site", "size"]]
    model = sp.MARSRegressor(2).fit(x, frame.y)
    assert model.predictor_names_ == ["age", "dose", "[site = b]", "[site = c]", "size"]
    assert model.score(x, frame.y) > 0.95
    assert model.feature_importances_.sum() == pytest.approx(1.0) and len(model.feature_importances_) == 4
    text = model.summary()
    assert "[site = b]" in text and "GCV" in text and "importances: " in text
    plain = x.assign(size=x["size"].cat.codes)
    assert sp.MARSRegressor(2).fit(pl.from_pandas(plain), frame.y).predict(pl.from_pandas(plain)) == pytest.approx(
        model.predict(x)
    )
    with pytest.raises(sp.DataError, match="'site', row 1: 'z' was not there at fit"):
        model.predict(x.assign(site="z"))
    with pytest.raises(sp.DataError, match="'dose', row 3: the value is missing"):
        model.fit(x.assign(dose=[1.0, 2.0, None] * 133 + [1.0]), frame.y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x[["dose", "age", "site", "size"]])


def test_options_that_cannot_be_are_refused() -> None:
    for given, said in (
        ({"degree": 0}, "degree is 0"),
        ({"penalty": -2}, "penalty is -2"),
        ({"max_terms": 0}, "max_terms is 0"),
        ({"threshold": 1.0}, "threshold"),
        ({"minspan": 1.5}, "minspan is 1.5"),
    ):
        with pytest.raises(sp.ChoiceError, match=said):
            sp.MARSRegressor(**given).fit([[0.0], [1.0]], [0.0, 1.0])  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        sp.MARSRegressor().summary()


def test_the_classifier_repairs_its_probabilities() -> None:
    frame = clinic(3)
    x = frame[["age", "dose", "site", "size"]]
    for target in (frame.c, frame.c == "low"):
        model = sp.MARSClassifier(2).fit(x, target)
        far = x.assign(age=x.age * 100)
        for rows in (x, far):
            shares = model.predict_proba(rows)
            assert (shares > 0).all() and shares.sum(axis=1) == pytest.approx(1.0)
        assert model.score(x, target) > 0.85
        assert str(model.classes_[-1]) in model.summary()


def test_effects_add_up_to_the_prediction() -> None:
    pytest.importorskip("matplotlib")
    frame = clinic(5)
    x = frame[["age", "dose"]]
    model = sp.MARSRegressor(2).fit(x, frame.y + frame.age * frame.dose / 50)
    figure = model.plot()
    assert len(figure.axes) >= 2
    values = list(x.to_numpy().T)
    sets = {frozenset(factor.column for factor in term) for term in model.basis_ if term}
    total = model.coef_[0, 0] + sum(
        model._effect(set(own), {c: values[c] for c in own}, 0) for own in sets if len(own) <= 2
    )
    assert total == pytest.approx(model.predict(x))
    with pytest.raises(sp.ChoiceError, match="no response 4"):
        model.plot(4)


# --- the score ------------------------------------------------------------------------------------------------------


def test_the_score_is_the_gcv_of_the_slow_twin() -> None:
    """One continuous child, continuous parents in standard units, in the order of their association with it."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 60
        frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "y"])
        frame["y"] += np.abs(frame.a) * 2 + frame.b * np.maximum(frame.a, 0) * (seed % 3)
        data = sp.Dataset.from_frame(frame)
        z = (frame - frame.mean()) / frame.std(ddof=0)
        order = sorted("ab", key=lambda name: -abs(float((z[name] * z.y).sum())))
        x, y = z[order].to_numpy(), z[["y"]].to_numpy()
        _, values = forward(x, y, Options(degree=2))
        wanted = min(own[0] for own in backward(values, y, 3.0))
        assert sp.local_score(data, "y", ["a", "b"], "mars") == pytest.approx(-n / 2 * math.log(wanted), rel=1e-9)
        raw = -wanted * frame.y.var(ddof=0)
        assert sp.local_score(data, "y", ["a", "b"], "mars(objective=gcv)") == pytest.approx(raw, rel=1e-9)


def mixed(n: int = 300) -> sp.Dataset:
    frame = clinic(9, n)
    return sp.Dataset.from_frame(frame, kinds={"size": sp.Ordinal(["s", "m", "l"])})


def test_a_discrete_child_sums_the_squares_of_its_indicators() -> None:
    data = mixed()
    alone = sp.local_score(data, "c", [], "mars(objective=gcv)")
    shares = np.bincount(data.codes("c")) / data.n_rows
    assert alone == pytest.approx(-float((shares * (1 - shares)).sum()) / (1 - 1 / data.n_rows) ** 2, rel=1e-12)


@pytest.mark.parametrize("rows", [40, 300, 2000])
def test_groups_of_equal_rows_are_the_fit_of_all_rows(rows: int) -> None:
    """The score takes rows with the same categorical parents as one; the estimator takes them row by row."""
    rng = np.random.default_rng(rows)
    frame = pd.DataFrame(
        {name: rng.choice(list("uvwxyz")[:levels], rows) for name, levels in zip("abcd", (2, 3, 4, 6), strict=True)}
    )
    frame["e"] = np.where((frame.a == "u") & (rng.random(rows) < 0.8), frame.b, rng.choice(list("uvw"), rows))
    frame["f"] = (frame.c == "u") * 2.0 + (frame.d == "x") * (frame.a == "v") + rng.normal(0, 0.7, rows)
    data = sp.Dataset.from_frame(frame)
    for child, parents in (("e", "ab"), ("e", "abcd"), ("f", "acd"), ("f", "ab"), ("a", "de"), ("f", "b")):
        y = pd.get_dummies(frame[child]).to_numpy(float) if child != "f" else frame[["f"]].to_numpy()
        y = y[:, :1] if y.shape[1] == 2 else y
        columns = []
        for parent in parents:
            levels = sorted(set(frame[parent]), key=lambda level: -(frame[parent] == level).sum())
            columns += [
                (frame[parent] == level).to_numpy(float) for level in (levels if len(levels) > 2 else levels[1:])
            ]
        centred = y - y.mean(axis=0)
        columns.sort(key=lambda x: -float((((x - x.mean()) @ centred) ** 2).sum() / ((x - x.mean()) ** 2).sum()))
        model = sp.MARSRegressor(2).fit(np.column_stack(columns), y if y.shape[1] > 1 else y[:, 0])
        found = sp.local_score(data, child, list(parents), "mars(objective=gcv)")
        assert found == pytest.approx(-model.gcv_, rel=1e-9), (child, parents)
        fitted = build_source(data, "mars").fit(child, tuple(parents), found)
        assert len(fitted.terms) == len(model.basis_)


def test_of_perfect_fits_the_smallest_counts() -> None:
    """Squares that are nothing but rounding do not decide how many terms there are."""
    rng = np.random.default_rng(1)
    a = rng.choice(list("uvw"), 300)
    frame = pd.DataFrame(
        {"a": a, "b": np.where(a == "u", "p", "q"), **{n: rng.choice(list("xyz"), 300) for n in "cde"}}
    )
    data = sp.Dataset.from_frame(frame)
    alone = sp.local_score(data, "b", ["a"], "mars")
    for more in ("c", "cd", "cde"):
        assert sp.local_score(data, "b", ["a", *more], "mars") == pytest.approx(alone, rel=1e-12)


def test_renaming_levels_changes_nothing() -> None:
    data = mixed()
    other = {"a": "zz", "b": "k", "c": "aa"}
    frame = clinic(9, 300)
    renamed = sp.Dataset.from_frame(
        frame.assign(site=frame.site.map(other), c=frame.c.map({"low": "9", "middle": "5", "high": "1"})),
        kinds={"size": sp.Ordinal(["s", "m", "l"]), "c": sp.Categorical(["1", "5", "9"])},
    )
    for child, parents in (
        ("y", ["site", "age"]),
        ("c", ["site", "dose"]),
        ("site", ["c", "y"]),
        ("c", ["age", "size"]),
    ):
        for score in ("mars", "mars(degree=3)", "mars(objective=gcv)"):
            before, after = (sp.local_score(own, child, parents, score) for own in (data, renamed))
            assert after == pytest.approx(before, rel=1e-10), (child, parents, score)


def test_the_model_says_what_the_fit_says(tmp_path: Path) -> None:
    data = mixed()
    graph = {"y": ("age", "dose", "site", "size"), "c": ("y", "site"), "age": (), "dose": (), "site": (), "size": ()}
    net = sp.fit(data, graph, "mars")
    model = net.models["y"]
    residual = data.values("y") - model.mean(data)
    parameters = len(model.terms) + 3 * (len(model.terms) - 1) / 2
    n = data.n_rows
    wanted = float((residual**2).mean()) / (1 - parameters / n) ** 2
    assert float(model.spread(data)[1][0]) ** 2 == pytest.approx(wanted, rel=1e-9)
    assert model.score == pytest.approx(-n / 2 * math.log(wanted / data.values("y").var()), rel=1e-9)
    path = tmp_path / "net.json"
    net.save(path)
    again = sp.Network.load(path)
    assert again.models["y"] == model and np.array_equal(again.log_prob(data), net.log_prob(data))
    text = str(model)
    assert "[site is b]" in text and "h(age - " in text and "deviation" in text
    shares = net.models["c"].conditional(data)
    assert (shares > 0).all() and shares.sum(axis=1) == pytest.approx(1.0)
    assert np.isfinite(net.log_prob(net.sample(200, seed=2))).all()
    assert model.cuts("age") is None
    far = sp.Dataset.from_frame(
        clinic(1, 5).assign(age=np.linspace(1e300, 2e300, 5), dose=np.linspace(-1e300, 0, 5)),
        kinds={"size": data.kinds["size"]},
    )
    assert np.isfinite(model.log_prob(far)).all() and np.isfinite(model.mean(far)).all()


def test_constant_and_exact_children_have_scores() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=50)
    frame = {"x": x, "line": 3 * x + 1, "k": np.array(["a", "b"])[(x > 0).astype(int)]}
    data = sp.Dataset.from_frame(frame)
    for family in (("line", ["x"]), ("x", ["line"]), ("k", ["x"]), ("x", ["k", "line"])):
        assert math.isfinite(sp.local_score(data, *family, "mars"))
    source = build_source(data, "mars")
    assert source.parameters("x", ["line"]) >= 2


def test_every_search_takes_it() -> None:
    data = mixed(120)
    found = {search: sp.learn(data, "mars", search=search, max_parents=2).found for search in ("exact", "hc", "tabu")}
    best = found["exact"].score
    assert found["exact"].optimal and all(own.score <= best + 1e-9 * abs(best) for own in found.values())
