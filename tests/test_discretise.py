"""Discretiser: the cuts against their definitions, and what scikit-learn asks of a transformer.

In:  small columns with ties; Fisher's iris as scikit-learn has it.
Out: the same thresholds as the plain twins, in every container, whatever the order of rows and the names of classes."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import spinney as sp
from lazy_polars import pl
from slow import discretise as slow
from spinney.discretise import mdl_thresholds, quantile_thresholds, width_thresholds
from spinney.errors import ChoiceError

METHODS = ["mdl", "quantile", "width"]


def cuts(rows: list[tuple[float, int]]) -> list[float]:
    found = mdl_thresholds(np.array([v for v, _ in rows], float), np.array([c for _, c in rows], np.int64))
    return [float(cut) for cut in found]


# Fayyad and Irani


@settings(max_examples=200)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 60),
    values=st.sampled_from([1, 2, 5, 15, 100]),
    classes=st.integers(1, 4),
    noise=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
)
def test_mdl_is_what_the_definition_says(seed: int, rows: int, values: int, classes: int, noise: float) -> None:
    rng = random.Random(seed)
    table = []
    for _ in range(rows):
        value = rng.randrange(values)
        of_value = value * classes // values if rng.random() >= noise else rng.randrange(classes)
        table.append((value / 2, of_value))
    assert cuts(table) == pytest.approx(slow.mdl_thresholds(table), rel=1e-12)
    assert cuts(rng.sample(table, rows)) == cuts(table), "rows in another order"
    names = rng.sample(range(classes), classes)
    assert cuts([(v, names[c]) for v, c in table]) == cuts(table), "classes in another order"


def test_the_cuts_of_iris() -> None:
    """Of the sepal length 5.55 and 6.15, as the reporter of scikit-mine's issue 134 expects."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = sp.Discretiser().fit(X, y).thresholds_
    assert list(found) == list(X.columns)
    assert list(found["sepal length (cm)"]) == pytest.approx([5.55, 6.15])
    for name, own in found.items():
        assert list(own) == pytest.approx(slow.mdl_thresholds(list(zip(X[name], y, strict=True))))


def test_a_threshold_always_parts_the_two_values() -> None:
    """Also where no number, or only a rounded one, lies between them."""
    for low in (1.0, -1.0, 0.0, 1e308, -1e308, 5e-324, 2.0**52):
        high = float(np.nextafter(low, np.inf))
        values = np.repeat([low, high], 50)
        [cut] = mdl_thresholds(values, np.repeat([0, 1], 50))
        assert low < cut <= high
    [cut] = mdl_thresholds(np.repeat([-1.7e308, 1.7e308], 50), np.repeat([0, 1], 50))
    assert cut == 0.0


def test_mdl_has_nothing_to_cut() -> None:
    rng = np.random.default_rng(1)
    assert cuts([(1.0, 0)]) == [] == cuts([(2.0, 0), (2.0, 1)] * 50)
    assert cuts([(float(v), 0) for v in range(100)]) == []
    assert len(mdl_thresholds(rng.normal(size=1000), rng.integers(0, 3, 1000))) == 0


# Quantiles and equal widths


@settings(max_examples=150)
@given(values=st.lists(st.integers(-5, 30), min_size=1, max_size=30), bins=st.integers(1, 9))
def test_quantiles_are_what_the_definition_says(values: list[int], bins: int) -> None:
    found = quantile_thresholds(np.array(values, float), bins)
    every = [slow.quantile(values, Fraction(i, bins)) for i in range(1, bins)]
    splits = {tuple(v >= cut for v in values) for cut in every}
    splits -= {(True,) * len(values), (False,) * len(values)}
    assert {tuple(v >= cut - 1e-12 for v in values) for cut in found} == splits
    assert len(found) == len(splits) and (np.diff(found) > 0).all()
    assert all(min(abs(float(exact) - cut) for exact in every) < 1e-9 for cut in found)


def test_quantiles_share_out_the_rows() -> None:
    codes = sp.Discretiser("quantile", bins=4).fit_transform(np.random.default_rng(2).normal(size=(1000, 3)))
    assert all((np.bincount(column) == 250).all() for column in codes.T)


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), bins=st.integers(1, 20))
def test_widths_are_equal(low: float, width: float, bins: int) -> None:
    found = width_thresholds(np.array([low, low + width, low + width / 3]), bins)
    edges = np.array([low, *found, low + width])
    assert len(found) == bins - 1
    assert np.diff(edges) == pytest.approx(width / bins, rel=1e-6, abs=1e-9)


def test_widths_of_extreme_columns() -> None:
    assert len(width_thresholds(np.full(5, 3.0), 4)) == 0
    assert width_thresholds(np.array([-1.7e308, 1.7e308]), 2) == pytest.approx([0.0])


# The transformer


@pytest.mark.parametrize("method", METHODS)
def test_scikit_learn_accepts_it(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # array API checks are skipped where scipy is not set up for them
        results = check_estimator(sp.Discretiser(method), on_fail=None)
    assert {r["check_name"]: str(r["exception"]) for r in results if r["status"] not in ("passed", "skipped")} == {}


def table(rows: int = 120) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(4)
    y = np.array(["no", "yes"])[rng.integers(0, 2, rows)]
    shift = (y == "yes") * 3.0
    frame = {"a": rng.normal(size=rows) + shift, "b": rng.normal(size=rows), "c": rng.choice(list("uvw"), rows)}
    return pd.DataFrame(frame), y


@pytest.mark.parametrize("method", METHODS)
def test_codes_and_thresholds_belong_together(method: str) -> None:
    X, y = table()
    cutter = sp.Discretiser(method, bins=3).fit(X[["a", "b"]], y)
    codes = cutter.transform(X[["a", "b"]])
    assert codes.dtype == np.int64 and list(cutter.thresholds_) == ["a", "b"]
    for column, name in zip(codes.T, "ab", strict=True):
        expected = [sum(v >= cut for cut in cutter.thresholds_[name]) for v in X[name]]
        assert column.tolist() == expected
        assert set(column) == set(range(len(cutter.thresholds_[name]) + 1)) or method == "width"


@pytest.mark.parametrize("method", METHODS)
def test_every_container_gives_the_same(method: str) -> None:
    X, y = table()
    numbers = X[["a", "b"]]
    codes = sp.Discretiser(method).fit_transform(numbers.to_numpy(), y)
    for other in (numbers, pl.from_pandas(numbers)):
        assert (sp.Discretiser(method).fit_transform(other, y) == codes).all()
    as_pandas = sp.Discretiser(method).set_output(transform="pandas").fit_transform(numbers, y)
    as_polars = sp.Discretiser(method).set_output(transform="polars").fit_transform(numbers, y)
    assert list(as_pandas.columns) == list(as_polars.columns) == ["a", "b"]
    assert (as_pandas.to_numpy() == codes).all() and (as_polars.to_numpy() == codes).all()
    assert (sp.Discretiser(method).fit_transform(numbers, pd.Series(y).astype("category")) == codes).all()


def test_the_other_columns_pass() -> None:
    X, y = table()
    codes = sp.Discretiser().fit_transform(X[["a"]], y)[:, 0]
    for frame in (X, pl.from_pandas(X)):
        cutter = sp.Discretiser(columns=["a"]).fit(frame, y)
        out = cutter.transform(frame)
        assert type(out) is type(frame) and list(out.columns) == ["a", "b", "c"] == list(cutter.get_feature_names_out())
        assert out["a"].to_list() == codes.tolist()
        assert out["b"].to_list() == X["b"].to_list() and out["c"].to_list() == X["c"].to_list()
        assert list(cutter.thresholds_) == ["a"]
    shuffled = X.sample(frac=1, random_state=1)
    out = sp.Discretiser(columns=["a"]).fit(X, y).transform(shuffled)
    assert out.index.equals(shuffled.index) and out.loc[X.index, "a"].tolist() == codes.tolist()
    out = sp.Discretiser(columns=[0]).set_output(transform="pandas").fit(X, y).transform(X)
    assert out["a"].tolist() == codes.tolist() and out["c"].tolist() == X["c"].tolist()
    array = sp.Discretiser(columns=[0]).fit_transform(X[["a", "b"]].to_numpy(), y)
    assert array[:, 0].tolist() == codes.tolist() and array[:, 1].tolist() == X["b"].tolist()
    mixed = sp.Discretiser(columns=[0]).fit_transform(X.to_numpy(), y)
    assert mixed[:, 0].tolist() == codes.tolist() and mixed[:, 2].tolist() == X["c"].tolist()


def test_in_a_pipeline_and_on_to_a_network() -> None:
    X, y = table()
    pipe = make_pipeline(StandardScaler(), sp.Discretiser()).set_output(transform="pandas")
    frame = clone(pipe).fit_transform(X[["a", "b"]], y).assign(y=y)
    kinds = dict.fromkeys("aby", "categorical")
    found = sp.find(sp.Dataset.from_frame(frame, kinds=kinds), "bic", search="tan", target="y", forest=True)
    assert found.parents == {"a": ("y",), "b": ("y",), "y": ()}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "entropy"}, "'entropy'"),
        ({"method": ["mdl"]}, "['mdl']"),
        ({"bins": 0}, "bins"),
        ({"bins": 2.5}, "bins"),
        ({"bins": True}, "bins"),
        ({"columns": ["z"]}, "'z'"),
        ({"columns": [9]}, "9"),
        ({"columns": []}, "at least one"),
        ({"columns": ["a", 0]}, "twice"),
        ({"columns": [True]}, "True"),
        ({"columns": 1.5}, "1.5"),
    ],
)
def test_wrong_choices_are_one_sentence(options: dict[str, Any], words: str) -> None:
    X, y = table()
    with pytest.raises(ChoiceError) as told:
        sp.Discretiser(**options).fit(X[["a", "b"]], y)
    assert words in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, "U1", object])
def test_a_narrow_array_holds_the_numbers_of_many_intervals(dtype: Any) -> None:
    X = np.array([[1, 7], [9, 7], [5, 7]]).astype(dtype)
    codes = sp.Discretiser("width", 1000, columns=[0]).fit_transform(X)
    assert codes[:, 0].astype(float).tolist() == [0, 999, 500] and codes[:, 1].tolist() == X[:, 1].tolist()


def test_wrong_tables_are_refused_as_scikit_learn_does() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="requires y"):
        sp.Discretiser().fit(X[["a"]])
    with pytest.raises(ValueError, match="Unknown label type"):
        sp.Discretiser().fit(X[["a"]], X["b"])
    with pytest.raises(ValueError, match="inconsistent"):
        sp.Discretiser().fit(X[["a"]], y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        sp.Discretiser("width").fit([[1.0], [float("nan")]])
    with pytest.raises(ValueError, match="could not convert"):
        sp.Discretiser(columns=["c"]).fit(X, y)
    with pytest.raises(NotFittedError):
        sp.Discretiser(columns=["a"]).transform(X)
    with pytest.raises(ValueError, match="feature names"):
        sp.Discretiser(columns=["a"]).fit(X, y).transform(X[["b", "a", "c"]])
