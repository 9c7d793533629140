"""Every function that takes data takes a Dataset, a frame or a dict of columns, and gives the same answer for all.

In:  one table as a Dataset, a pandas, a polars and an Arrow frame, and a dict of columns.
Out: the answers, compared. The functions are found by their signatures, so that a new one cannot be forgotten."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import spinney as sp
from lazy_polars import pl

RNG = np.random.default_rng(7)
SMOKER = RNG.choice(["no", "yes"], 200)
COUGH = np.where(RNG.random(200) < 0.8, SMOKER, "no")
SITE = RNG.choice(["A", "B", "C"], 200)
COLUMNS = {"cough": COUGH.tolist(), "site": SITE.tolist(), "smoker": SMOKER.tolist()}
DATA = sp.Dataset.from_frame(COLUMNS)
FRAMES: dict[str, Callable[[dict[str, list[str]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "dict": dict,
}
GRAPH = {"cough": ["smoker"], "site": [], "smoker": []}
NET = sp.fit(DATA, GRAPH, "bdeu")


def _found(found: sp.Found) -> dict[str, Any]:
    return found.as_dict()


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "bootstrap": lambda data: sp.bootstrap(data, "bdeu", search="hc", replicates=3).edges,
    "plan": lambda data: sp.plan(data, "bdeu", search="dp").families,
    "posterior": lambda data: sp.posterior(data, "bdeu").edges.tolist(),
    "learn": lambda data: (sp.learn(data, "bdeu").network, _found(sp.learn(data, "bdeu").found)),
    "find": lambda data: _found(sp.find(data, "bic")),
    "fit": lambda data: sp.fit(data, GRAPH, "bdeu"),
    "fit_structure": lambda data: sp.fit_structure(data, GRAPH, "bdeu"),
    "independence": lambda data: sp.independence(data, "cough", "smoker").p_value,
    "local_score": lambda data: sp.local_score(data, "cough", ["smoker"], "bic"),
    "local_scores": lambda data: sp.local_scores(data, [("cough", ["smoker"]), ("site", [])], "bic"),
    "score": lambda data: sp.score(data, GRAPH, "bdeu"),
    "score_parent_sets": lambda data: sp.score_parent_sets(data, "bdeu"),
}
METHODS: dict[str, Callable[[Any], Any]] = {
    "edge_strengths": lambda data: NET.edge_strengths(data),
    "log_prob": lambda data: NET.log_prob(data).tolist(),
    "predict": lambda data: NET.predict(data, "smoker"),
    "predict_proba": lambda data: NET.predict_proba(data, "smoker").tolist(),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "evaluate.accuracy": lambda data: sp.evaluate.accuracy("fnml", data, "smoker", folds=3),
    "fit_dataset": lambda data: sp.TANClassifier().fit_dataset(data, "smoker").network_,
}
CALLS = {**FUNCTIONS, **METHODS, **OTHERS}


def _taking_data(owner: Any, names: list[str]) -> set[str]:
    functions = {name: getattr(owner, name) for name in names if inspect.isfunction(getattr(owner, name))}
    return {
        name
        for name, function in functions.items()
        if "data" in inspect.signature(function).parameters and not name.startswith("_")
    }


def test_no_function_that_takes_data_is_forgotten_here() -> None:
    assert _taking_data(sp, sp.__all__) == {*FUNCTIONS, "average"}  # works without data; see test_ensemble
    assert _taking_data(sp.Network, dir(sp.Network)) == {*METHODS, "report"}  # works without data; see test_report


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("call", CALLS)
def test_a_frame_gives_the_answer_of_its_dataset(call: str, frame: str) -> None:
    assert CALLS[call](FRAMES[frame](COLUMNS)) == CALLS[call](DATA)


@pytest.mark.parametrize("call", [*FUNCTIONS, *METHODS, "fit_dataset"])
@pytest.mark.parametrize("wrong", ["table.csv", 5, None])
def test_what_is_no_table_is_refused_in_a_sentence(call: str, wrong: Any) -> None:
    with pytest.raises(sp.SpinneyError, match=r"Dataset\.read" if wrong == "table.csv" else "is no table"):
        CALLS[call](wrong)


def test_the_answer_counts_the_rows_that_came_in() -> None:
    """A frame with missing cells is not shortened before it is predicted: the answer would belong to other rows."""
    frame = pd.DataFrame(COLUMNS)
    frame.loc[3, "cough"] = None
    with pytest.raises(sp.DataError, match="missing"):
        NET.predict(frame, "smoker")


def test_completion_shows_every_public_name() -> None:
    assert dir(sp) == sorted(sp.__all__)
    assert {"TANClassifier", "NaiveBayesClassifier", "NetworkClassifier", "Discretiser", "evaluate"} <= set(dir(sp))
    for name in dir(sp):
        assert getattr(sp, name).__doc__ or name == "__version__"


def test_a_result_says_what_was_found_and_what_was_decided_about_the_data() -> None:
    result = sp.learn(DATA, "bdeu")
    assert repr(result) == f"Result({result.network!r}, score {result.found.score:.4f}, proven optimal)"
    assert "no proof (local search)" in repr(sp.learn(DATA, "bdeu", search="hc"))
    assert result.notes == DATA.notes
