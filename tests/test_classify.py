"""The classifiers: scikit-learn's own checks, and the posterior by brute force.

In:  small tables of every kind of column, and all that scikit-learn's checks think of.
Out: no failed check; the posterior that counting gives; an answer, and never a NaN, to odd rows, levels and classes."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import spinney as sp
from lazy_polars import pl
from slow.posterior import class_posterior
from spinney.discretise import Discretiser

ESTIMATORS = [
    sp.NaiveBayesClassifier(),
    sp.NaiveBayesClassifier("pcart"),
    sp.TANClassifier(),
    sp.TANClassifier("bdeu", forest=True),
    sp.TANClassifier("pcart"),
    sp.TANClassifier("ll", parameters="ll"),
    sp.NetworkClassifier(),
    sp.NetworkClassifier("ft", "hc"),
]
CLASSIFIERS = [sp.NaiveBayesClassifier(), sp.TANClassifier(), sp.NetworkClassifier()]
ATTRIBUTES = ("colour", "size", "shape")


def plain_rows(n: int, seed: int) -> list[dict[str, str]]:
    """Three attributes that depend on the class and on one another."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        kind = draw.choice("ABC")
        colour = draw.choice(["red", "blue"] if kind == "A" else ["red", "blue", "green", "green"])
        size = "large" if draw.random() < {"A": 0.8, "B": 0.4, "C": 0.2}[kind] else "small"
        shape = draw.choice(["round", "flat"] if size == "large" else ["flat", "flat", "long"])
        rows.append({"kind": kind, "colour": colour, "size": size, "shape": shape})
    return rows


def mixed(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.choice(["A", "B", "C"], n)
    at = pd.Series(kind).map({"A": 0.0, "B": 1.0, "C": 2.0}).to_numpy()
    return pd.DataFrame(
        {
            "length": at + rng.normal(0, 0.5, n),
            "grade": pd.Categorical.from_codes(
                np.clip(at + rng.integers(-1, 2, n), 0, 2).astype(int), ["low", "mid", "high"], ordered=True
            ),
            "legs": (2 * at + rng.integers(0, 2, n)).astype(int),
            "wings": rng.random(n) < 0.2 + 0.3 * at,
            "colour": np.where(rng.random(n) < 0.3 * at, "green", "red"),
            "kind": kind,
        }
    )


def parts(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    return table.drop(columns="kind"), table["kind"]


def sound(shares: Any) -> None:
    assert np.isfinite(shares).all() and (shares >= 0).all()
    assert shares.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learn_finds_nothing_wrong(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that hand over columns as y, and the like
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 40
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"] == []
    # The one check that is skipped asks for SCIPY_ARRAY_API in the environment.
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}


@pytest.mark.parametrize(
    ("score", "pseudo"),
    [("k2", lambda r, q: 1.0), ("bdeu(ess=4)", lambda r, q: 4 / (r * q)), ("bd(alpha=0.5)", lambda r, q: 0.5)],
)
@pytest.mark.parametrize("model", ["naive", "tan", "network"])
def test_the_posterior_is_what_counting_gives(model: str, score: str, pseudo: Any) -> None:
    rows, asked = plain_rows(80, 1), plain_rows(20, 2)
    made = {
        "naive": sp.NaiveBayesClassifier(score),
        "tan": sp.TANClassifier(score),
        "network": sp.NetworkClassifier(score, max_parents=2),
    }[model]
    frame = pd.DataFrame(rows)
    made.fit(*parts(frame))
    network = made.network_
    assert made.target_ == "kind" and list(made.classes_) == ["A", "B", "C"]
    levels = {name: network.levels(name) for name in network.names}
    asked[0]["colour"], asked[1]["size"] = "mauve", "huge"  # nobody has seen these
    wanted = [class_posterior(rows, levels, network.parents, pseudo, "kind", row) for row in asked]
    shares = made.predict_proba(pd.DataFrame(asked)[list(ATTRIBUTES)])
    assert shares == pytest.approx(np.array(wanted), rel=1e-9)
    assert (made.predict(pd.DataFrame(asked)[list(ATTRIBUTES)]) == made.classes_[shares.argmax(axis=1)]).all()


def test_tan_is_a_tree_under_the_class_and_naive_bayes_a_star() -> None:
    table = mixed(300, 3)
    naive = sp.NaiveBayesClassifier().fit(*parts(table)).network_.parents
    assert naive == {name: (() if name == "kind" else ("kind",)) for name in table.columns}
    tan = sp.TANClassifier().fit(*parts(table)).network_.parents
    assert tan["kind"] == () and all("kind" in tan[name] for name in table.columns if name != "kind")
    assert sorted(len(own) for own in tan.values()) == [0, 1, 2, 2, 2, 2]
    forest = sp.TANClassifier("bic", forest=True).fit(*parts(table)).network_
    assert len(forest.edges) <= 9


def test_tan_of_a_score_has_at_least_that_of_naive_bayes() -> None:
    table = mixed(300, 3)
    tan = sp.TANClassifier("k2", forest=True).fit(*parts(table)).network_
    naive = sp.NaiveBayesClassifier("k2").fit(*parts(table)).network_
    assert tan.score >= naive.score


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_frames_of_all_makes_give_the_same(estimator: Any) -> None:
    table = mixed(200, 4)
    X, y = parts(table)
    arrow = sp.Dataset.from_frame(X).to_arrow()
    wanted = clone(estimator).fit(X, y).predict_proba(X)
    sound(wanted)
    grades = pl.Series("grade", X["grade"].astype(str).tolist(), dtype=pl.Enum(["low", "mid", "high"]))
    columns = {name: X[name].tolist() for name in X.columns}
    for other, classes in (
        (pl.DataFrame(columns).with_columns(grades), pl.Series("kind", y.tolist())),
        (arrow, y.tolist()),
        (sp.Dataset.from_frame(X), y.to_numpy()),
        (columns, pd.Categorical(y)),
    ):
        fitted = clone(estimator).fit(other, classes)
        # scikit-learn reads the names of frames other than pandas' since 1.9; columns go by position without them.
        assert list(getattr(fitted, "feature_names_in_", X.columns)) == list(X.columns) and fitted.n_features_in_ == 5
        assert fitted.predict_proba(other) == pytest.approx(wanted, rel=1e-9)
    together = clone(estimator).fit_dataset(sp.Dataset.from_frame(table), "kind")
    assert together.predict_proba(X) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("score", ["bdeu", "pcart", "ft"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_any_mix_of_kinds_is_learned_from(estimator: Any, score: str) -> None:
    X, y = parts(mixed(400, 5))
    made = clone(estimator).set_params(score=score).fit(X, y)
    assert made.score(X, y) > 0.8
    assert bool(made.network_.cuts) == (score == "bdeu")
    fresh, truth = parts(mixed(100, 6))
    sound(made.predict_proba(fresh))
    assert made.score(fresh, truth) > 0.7


@pytest.mark.parametrize(
    "labels", [[3, -1, 7], [True, False, True], ["b", "a", "c"], [0.0, 1.0, 2.0], np.array([5, 6, 7], np.int16)]
)
def test_classes_come_back_as_they_were(labels: Any) -> None:
    X, y = parts(mixed(120, 7))
    given = np.asarray(labels)[y.map({"A": 0, "B": 1, "C": 2}).to_numpy()]
    made = sp.TANClassifier().fit(X, given)
    assert made.target_ == "class" and made.classes_.tolist() == np.unique(given).tolist()
    assert made.predict(X).dtype == given.dtype
    assert (made.predict(X) == given).mean() > 0.7


def test_the_class_takes_a_free_name() -> None:
    X = pd.DataFrame({"class": list("uvuvuv"), "kind": list("xxyyxy")})
    y = pd.Series([0, 1, 0, 1, 0, 1], name="kind")
    made = sp.NaiveBayesClassifier().fit(X, y)
    assert made.target_ == "class_" and (made.predict(X) == y).all()


def test_the_parameter_score_and_the_method_score() -> None:
    X, y = parts(mixed(100, 8))
    for choice in ("fnml", sp.BDeu(ess=4)):
        made = sp.TANClassifier(choice).fit(X, y)
        assert made.get_params()["score"] == clone(made).get_params()["score"] == choice
        assert made.score(X, y) == (made.predict(X) == y).mean()
    assert repr(sp.TANClassifier("k2")) == "TANClassifier(score='k2')"
    assert made.set_params(score="k2").get_params()["score"] == "k2"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_a_pickle_predicts_the_same(estimator: Any) -> None:
    X, y = parts(mixed(100, 9))
    made = clone(estimator).set_params(score=sp.FT(alpha=0.4)).fit(X, y)
    again = pickle.loads(pickle.dumps(made))
    assert (again.predict_proba(X) == made.predict_proba(X)).all()
    assert again.get_params()["score"] == sp.FT(alpha=0.4) and again.network_ == made.network_


def test_in_a_pipeline_a_grid_and_folds() -> None:
    X, y = parts(mixed(150, 10))
    grid = GridSearchCV(sp.TANClassifier(n_jobs=1), {"score": ["bdeu", "fnml"], "forest": [False, True]}, cv=3).fit(
        X, y
    )
    assert grid.best_params_["score"] in ("bdeu", "fnml") and grid.best_score_ > 0.7
    assert cross_val_score(make_pipeline(FunctionTransformer(), sp.NaiveBayesClassifier()), X, y, cv=3).mean() > 0.7


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_odd_rows_classes_and_columns_have_an_answer(estimator: Any) -> None:
    X, y = parts(mixed(60, 11))
    X["constant"], X["flat"] = "same", 1.5
    y = y.copy()
    y.iloc[0] = "alone"  # a class with one row
    made = clone(estimator).fit(X, y)
    assert "alone" in made.classes_
    sound(made.predict_proba(X))
    strange = X.iloc[:4].assign(colour=["mauve"] * 4, legs=[99, 2, 77, 0], constant=["other"] * 4, length=[1e9] * 4)
    strange["grade"] = pd.Categorical(["low", "top", "mid", "high"], ["low", "mid", "high", "top"], ordered=True)
    sound(made.predict_proba(strange))
    one = clone(estimator).fit(X.iloc[:1], y.iloc[:1])
    assert (one.predict(X) == "alone").all()


def test_a_row_that_contradicts_relative_frequencies_has_an_answer() -> None:
    X = pd.DataFrame({"a": list("uvuv"), "b": list("xxyy")})
    made = sp.NaiveBayesClassifier("ll").fit(X, [0, 0, 1, 1])
    shares = made.predict_proba(pd.DataFrame({"a": ["u", "w"], "b": ["x", "x"]}))
    assert shares == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0]]))
    alone = sp.NaiveBayesClassifier("ll").fit(X.assign(c=list("ppqq")), [0, 0, 1, 1])
    sound(alone.predict_proba(pd.DataFrame({"a": ["u"], "b": ["x"], "c": ["q"]})))  # no class allows both b and c


def test_information_scores_fill_tables_with_pseudo_counts_of_a_half() -> None:
    X, y = parts(mixed(100, 12))
    made = sp.TANClassifier("fnml").fit(X, y)
    plan = made.network_.plan
    assert plan["score"] == "bd(alpha=0.5)" and plan["graph"]["score"].startswith("fnml")
    assert plan["target"] == "kind" and plan["graph"]["value"] == made.found_.score
    assert (made.network_.models["legs"].probabilities > 0).all()
    assert (sp.TANClassifier("fnml", parameters="ll").fit(X, y).network_.models["legs"].probabilities == 0).any()


def test_continuous_columns_are_cut_on_the_rows_of_fit() -> None:
    X, y = parts(mixed(300, 13))
    made = sp.NaiveBayesClassifier().fit(X, y)
    cutter = Discretiser("mdl").fit(X[["length"]], y)
    assert made.network_.cuts == {"length": tuple(cutter.thresholds_["length"])}
    assert len(made.network_.cuts["length"]) >= 2
    on_it = X.iloc[:2].assign(length=made.network_.cuts["length"][:2])
    sound(made.predict_proba(on_it))
    for other in ("quantile", Discretiser("width", bins=3)):
        cut = sp.NaiveBayesClassifier(discretise=other).fit(X, y)
        assert cut.network_.cuts["length"] != made.network_.cuts["length"]
        assert cut.score(X, y) > 0.7
    assert sp.NaiveBayesClassifier("pcart", discretise="mdl").fit(X, y).network_.cuts
    with pytest.raises(sp.ChoiceError, match="'length' is continuous"):
        sp.NaiveBayesClassifier(discretise=None).fit(X, y)


def test_the_network_alone_takes_raw_columns_also_from_a_file(tmp_path: Any) -> None:
    X, y = parts(mixed(200, 14))
    made = sp.TANClassifier().fit(X, y)
    made.network_.save(tmp_path / "net.json")
    again = sp.Network.load(tmp_path / "net.json")
    assert again == made.network_ and again.cuts == made.network_.cuts
    assert (again.predict_proba(X, "kind") == made.predict_proba(X)).all()
    read = sp.Dataset.from_frame(X, kinds=again.accepts, ignore_absent=True)
    assert (again.predict_proba(read, "kind") == made.predict_proba(X)).all()
    drawn = again.sample(50, seed=1)  # has the intervals as levels
    sound(again.predict_proba(drawn, "kind"))
    assert np.isfinite(again.log_prob(X.assign(kind=y))).all()


def test_numbers_in_an_array_are_what_kinds_says() -> None:
    rng = np.random.default_rng(15)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([y ^ (rng.random(200) < 0.2), rng.integers(0, 3, 200)]).astype(float)
    assert set(sp.NaiveBayesClassifier().fit(X, y).network_.cuts) == {"x0", "x1"}
    assert set(sp.NaiveBayesClassifier(kinds={"x0": "categorical"}).fit(X, y).network_.cuts) == {"x1"}
    made = sp.NaiveBayesClassifier(kinds="categorical").fit(X, y)
    assert made.network_.levels("x1") == ("0.0", "1.0", "2.0") and not made.network_.cuts
    assert sp.NaiveBayesClassifier().fit(X.astype(int), y).network_.levels("x1") == ("0", "1", "2")
    with pytest.warns(UserWarning, match="feature names"):
        shares = made.predict_proba(pd.DataFrame(X, columns=["p", "q"]))
    assert (shares == made.predict_proba(X)).all()


def test_columns_are_checked_as_scikit_learn_does() -> None:
    X, y = parts(mixed(50, 16))
    made = sp.TANClassifier().fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        made.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        made.predict(X[["legs"]])
    with pytest.raises(sp.DataError, match="missing"):
        made.predict(X.assign(colour=[None, *X["colour"][1:]]))
    with pytest.raises(ValueError, match="inconsistent"):
        made.fit(X, y[:-1])
    with pytest.raises(sp.DataError, match="the same name 'legs'"):
        made.fit(pd.concat([X, X[["legs"]]], axis=1), y)
    with pytest.raises(sp.DataError, match="collect"):
        made.fit(pl.DataFrame(X).lazy(), y)
    with pytest.raises(sp.DataError, match="several types"):
        made.fit(X, np.array([*y[:-1], 1], dtype=object))


def test_threads_and_seeds_change_nothing() -> None:
    X, y = parts(mixed(200, 17))
    for estimator in (sp.TANClassifier(), sp.NetworkClassifier(search="tabu")):
        one, two = (clone(estimator).set_params(n_jobs=jobs).fit(X, y) for jobs in (None, 2))
        assert one.network_ == two.network_
    a, b = (sp.NetworkClassifier(search="hc", random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2))
    assert a.network_ == b.network_


def test_constraints_know_the_class_by_the_name_of_y() -> None:
    X, y = parts(mixed(200, 18))
    made = sp.NetworkClassifier(constraints=sp.Constraints(forbidden=[("kind", "legs"), ("legs", "kind")])).fit(X, y)
    assert not {("kind", "legs"), ("legs", "kind")} & set(made.network_.edges)


def test_importing_spinney_does_not_import_scikit_learn() -> None:
    code = "import sys, spinney, spinney.cli; assert 'sklearn' not in sys.modules; spinney.TANClassifier"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError):
        _ = sp.TANKlassifier  # type: ignore[attr-defined]


def test_fit_dataset_refuses_what_is_no_class() -> None:
    data = sp.Dataset.from_frame(mixed(50, 19))
    with pytest.raises(sp.DataError, match="'length' is continuous and cannot be a class"):
        sp.TANClassifier().fit_dataset(data, "length")
    with pytest.raises(sp.DataError, match="no column 'sort'"):
        sp.TANClassifier().fit_dataset(data, "sort")
    with pytest.raises(sp.DataError, match="no column besides the class"):
        sp.TANClassifier().fit_dataset(data.select(["kind"]), "kind")


def test_the_graphs_that_local_global_grew_are_the_classifier():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({name: rng.integers(0, 3, 400).astype(str) for name in "abc"})
    y = np.where((X.a == "1") ^ (X.b == "2") ^ (rng.random(400) < 0.05), "yes", "no")
    model = sp.NetworkClassifier("graph", "local-global", max_parents=None).fit(X, y)
    assert model.network_.score == model.found_.score
    assert model.network_.models["class"] == model.found_.models["class"]
    assert model.network_.data["rows"] == 400
    assert model.score(X, y) > 0.8


def test_a_dataset_keeps_its_kinds_ranges_and_units() -> None:
    X, y = parts(mixed(80, 20))
    given = {"length": sp.Continuous(-100, 100), "legs": "ordinal"}
    data = sp.Dataset.from_frame(X, kinds=given, standardise=False)
    whole = sp.Dataset.from_frame(X.assign(kind=y), kinds=given, standardise=False)
    for made in (sp.TANClassifier("pcart").fit(data, y), sp.TANClassifier("pcart").fit_dataset(whole, "kind")):
        assert all(made.network_.kinds[name] == data.kinds[name] for name in data.names)
        assert made.network_.models["length"].scale == 1.0
        sound(made.predict_proba(X))
    assert sp.TANClassifier("pcart").fit_dataset(mixed(80, 20), "kind").target_ == "kind"
    with pytest.raises(sp.ChoiceError, match="data is a path"):
        sp.TANClassifier().fit_dataset("table.csv", "kind")


@pytest.mark.parametrize("wrong", [5, False, StandardScaler()])
def test_what_cannot_cut_columns_is_refused_in_one_sentence(wrong: Any) -> None:
    X, y = parts(mixed(50, 20))
    with pytest.raises(sp.ChoiceError, match="give a Discretiser"):
        sp.TANClassifier(discretise=wrong).fit(X, y)


def test_positions_in_a_discretiser_are_those_of_x() -> None:
    rng = np.random.default_rng(21)
    X = pd.DataFrame({"text": ["a", "b"] * 20, "p": rng.normal(size=40), "q": rng.normal(size=40)})
    for columns in ([1], ["p"], 1, "p"):
        cutter = sp.Discretiser("width", 3, columns)
        assert list(sp.NaiveBayesClassifier("pcart", discretise=cutter).fit(X, ["u", "v"] * 20).network_.cuts) == ["p"]


@pytest.mark.parametrize(
    ("score", "search", "prior"),
    [("graph", "local-global", "uniform"), ("graph", "hc", "kappa(0.01)"), ("graph", "local-global", "kappa(0.1)")],
)
def test_the_network_is_that_of_learn(score: str, search: str, prior: str) -> None:
    frame = mixed(300, 22)
    made = sp.NetworkClassifier(score, search, prior=prior).fit_dataset(sp.Dataset.from_frame(frame), "kind")
    again = sp.learn(sp.Dataset.from_frame(frame), score, prior, search).network
    assert made.network_.models == again.models and made.network_.score == again.score
    assert (made.network_.plan or {})["prior"] == (again.plan or {})["prior"]
