"""Accuracy on rows that were not seen.

In:  small tables, folds and held-out rows.
Out: each row tested once, classes spread evenly, scipy's Wilson interval, and the number that a plain loop gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.tree import DecisionTreeClassifier

import spinney as sp
from lazy_polars import pl
from spinney.evaluate import Accuracy, accuracy
from spinney.evaluate.accuracies import _tests


def table(n: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    return pd.DataFrame(
        {
            "a": (y + rng.integers(0, 2, n)).astype(str),
            "b": rng.normal(y, 1.0),
            "y": np.array(["one", "two", "three"])[y],
        }
    )


@pytest.mark.parametrize(("correct", "rows"), [(0, 7), (7, 7), (1, 3), (90, 100), (123, 4567)])
def test_the_interval_is_wilsons(correct: int, rows: int) -> None:
    wanted = binomtest(correct, rows).proportion_ci(0.95, method="wilson")
    assert Accuracy(correct, rows, ()).interval == pytest.approx((wanted.low, wanted.high), abs=1e-12)


@pytest.mark.parametrize("folds", [2, 3, 10, 37])
def test_every_row_is_tested_once_and_classes_are_spread_evenly(folds: int) -> None:
    classes = table(37)["y"].to_numpy()
    tests = list(_tests(classes, folds, None, 5))
    assert sorted(np.concatenate(tests).tolist()) == list(range(37))
    assert max(map(len, tests)) - min(map(len, tests)) <= 1
    for label in set(classes):
        counts = [int((classes[test] == label).sum()) for test in tests]
        assert max(counts) - min(counts) <= 1
    assert [t.tolist() for t in tests] == [t.tolist() for t in _tests(classes, folds, None, 5)]
    if folds < 37:
        assert [t.tolist() for t in tests] != [t.tolist() for t in _tests(classes, folds, None, 6)]


@pytest.mark.parametrize("share", [0.1, 0.3, 1 / 3, 0.99])
def test_held_out_rows_are_that_share_of_every_class(share: float) -> None:
    classes = table(200)["y"].to_numpy()
    (test,) = _tests(classes, 10, share, 0)
    assert len(test) == math.floor(200 * share)
    for label in set(classes):
        among = int((classes == label).sum())
        assert abs((classes[test] == label).sum() - among * share) <= 1


def test_accuracy_is_what_a_plain_loop_gives() -> None:
    frame = table(120)
    found = accuracy(sp.TANClassifier("fnml"), frame, "y", folds=4, seed=2)
    right = []
    for test in _tests(frame["y"].to_numpy(), 4, None, 2):
        train = frame.drop(index=test)
        made = sp.TANClassifier("fnml").fit(train[["a", "b"]], train["y"])
        right.append((made.predict(frame.loc[test, ["a", "b"]]) == frame.loc[test, "y"]).to_numpy())
    assert found.folds == tuple(float(fold.mean()) for fold in right)
    assert found.correct == int(np.concatenate(right).sum()) and found.rows == 120
    assert found.mean == found.correct / 120 and str(found.correct) in str(found)
    assert found.as_dict()["interval"] == list(found.interval)
    assert accuracy("fnml", frame, "y", folds=4, seed=2) == found


def test_positions_are_the_rows_to_test_on() -> None:
    frame = table(100)
    found = accuracy("bdeu", frame, "y", holdout=range(80, 100))
    made = sp.TANClassifier("bdeu").fit(frame.loc[:79, ["a", "b"]], frame.loc[:79, "y"])
    assert found.rows == 20 and found.folds == (made.score(frame.loc[80:, ["a", "b"]], frame.loc[80:, "y"]),)


def test_tables_of_all_makes_and_estimators_of_others() -> None:
    frame = table(90)
    wanted = accuracy("bdeu", frame, "y", folds=3)
    polars: Any = pl.DataFrame({name: frame[name].tolist() for name in frame.columns})
    for data in (polars, sp.Dataset.from_frame(frame), {name: frame[name].tolist() for name in frame.columns}):
        assert accuracy("bdeu", data, "y", folds=3) == wanted
    assert accuracy(DecisionTreeClassifier(random_state=0), frame[["b", "y"]], "y", folds=3).mean > 0.4


def test_a_class_that_only_the_test_rows_have_is_missed_and_no_error() -> None:
    frame = table(60)
    frame.loc[0, "y"] = "four"
    found = accuracy(sp.NaiveBayesClassifier(), frame, "y", folds=60)
    assert found.rows == 60 and found.correct < 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folds": 1}, "folds must be"),
        ({"folds": 31}, "folds must be"),
        ({"folds": True}, "folds must be"),
        ({"holdout": 0.0}, "holdout must be"),
        ({"holdout": 1.0}, "holdout must be"),
        ({"holdout": 0.001}, "holdout must be"),
        ({"holdout": [0, 30]}, "positions"),
        ({"holdout": []}, "positions"),
        ({"holdout": [True] * 15 + [False] * 15}, "positions"),
        ({"holdout": [0.5, 1.5]}, "positions"),
        ({"holdout": [[1]]}, "positions"),
        ({"holdout": "half"}, "positions"),
        ({"seed": None}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"target": "z"}, "no column 'z'"),
        ({"target": "b"}, "cannot be a class"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(options: dict[str, Any], words: str) -> None:
    data = sp.Dataset.from_frame(table(30))
    with pytest.raises(sp.SpinneyError, match=words):
        accuracy("bdeu", data, **{"target": "y", **options})
    with pytest.raises(sp.DataError, match="no column besides the class"):
        accuracy("bdeu", table(30)[["y"]], "y")


def test_a_class_that_is_missing_is_refused_in_one_sentence() -> None:
    frame = table(30)
    frame.loc[4, "y"] = None
    for data in (frame, pl.from_pandas(frame), frame.to_dict("list")):
        with pytest.raises(sp.DataError, match="'y', row 5: the class is missing"):
            accuracy("bdeu", data, "y")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.assign(y=[None, *frame["y"][1:]]), "'y', row 1: the class is missing"),
        (lambda frame: frame.assign(y=[1, *frame["y"][1:]]), "several types"),
        (lambda frame: pd.concat([frame, frame], axis=1), "the same name"),
        (lambda frame: pl.DataFrame(frame).lazy(), "collect"),
        (lambda frame: frame.to_numpy(), "no table"),
        (lambda frame: None, "no table"),
    ],
)
def test_what_is_no_table_with_classes_is_refused_in_one_sentence(change: Any, words: str) -> None:
    with pytest.raises(sp.DataError, match=words):
        accuracy("bdeu", change(table(30)), "y")


def test_any_whole_number_is_a_seed_and_a_number_of_folds() -> None:
    frame = table(30)
    assert accuracy("bdeu", frame, "y", folds=np.int64(3), seed=-1) == accuracy(
        "bdeu", frame, "y", folds=3, seed=2**64 - 1
    )


@pytest.mark.parametrize("model", [5, sp.TANClassifier])
def test_what_is_no_model_is_refused_in_one_sentence(model: Any) -> None:
    with pytest.raises(sp.ChoiceError, match="give a scikit-learn classifier"):
        accuracy(model, table(30), "y")
