"""The order of rows and columns is not part of the data.

In:  tables with copied and negated columns, whose networks tie, and the same tables shuffled.
Out: the same graph and the same score, for every score and every search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp

SEARCHES = ["order", "ilp", "dp", "hc", "tabu", "chow-liu"]
DISCRETE, MIXED = ["bdeu", "bic", "qnml"], ["pcart", "ft", "graph"]


def ties(seed: int, rows: int) -> pd.DataFrame:
    """Columns that say the same: a copy, a negative, a multiple."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows) * 10.0 ** rng.integers(-3, 4)
    d = a / (np.abs(a).max() or 1) + rng.normal(size=rows)
    return pd.DataFrame({"a": a, "b": -a, "c": a.copy(), "d": d, "e": 4 * d, "f": np.round(rng.normal(size=rows))})


def found(frame: pd.DataFrame, score: str, search: str) -> sp.Found:
    kind = "categorical" if score in DISCRETE else "continuous"
    data = sp.Dataset.from_frame(frame, kinds=dict.fromkeys(frame.columns, kind))
    return sp.find(data, score=score, search=search, max_parents=2, n_jobs=1)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("score", DISCRETE + MIXED)
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 60))
def test_shuffled_rows_and_columns_give_the_same_network(score: str, search: str, seed: int, rows: int) -> None:
    frame = ties(seed, rows)
    if score in DISCRETE:
        frame = (frame > frame.median()).astype(int).astype(str)
    rng = np.random.default_rng(seed)
    shuffled = frame.iloc[rng.permutation(rows), rng.permutation(frame.shape[1])].reset_index(drop=True)
    one, other = found(frame, score, search), found(shuffled, score, search)
    assert {child: set(own) for child, own in one.parents.items()} == {c: set(own) for c, own in other.parents.items()}
    assert one.score == other.score, "to the last digit"


@pytest.mark.parametrize("score", MIXED)
def test_shuffled_rows_give_the_same_scores_and_parameters_to_the_last_digit(score: str) -> None:
    frame = ties(1, 500)
    shuffled = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    kinds = dict.fromkeys(frame.columns, "continuous")
    one, other = (sp.Dataset.from_frame(table, kinds=kinds) for table in (frame, shuffled))
    families = [("d", ("a", "f")), ("a", ()), ("f", ("b",)), ("e", ("d",))]
    assert sp.local_scores(one, families, score) == sp.local_scores(other, families, score)
    graph = {"d": ["a"], "e": ["d", "f"]}
    first, second = sp.fit(one, graph, score), sp.fit(other, graph, score)
    assert first.models["e"].sums.tolist() == second.models["e"].sums.tolist()


def test_renamed_levels_give_the_same_score() -> None:
    frame = (ties(5, 200) > 0).astype(int).astype(str)
    renamed = frame.replace({"0": "zero", "1": "eins"})
    for search in ("dp", "hc", "ilp"):
        one, other = found(frame, "bdeu", search), found(renamed, "bdeu", search)
        assert one.score == pytest.approx(other.score, abs=1e-9) and one.parents == other.parents
