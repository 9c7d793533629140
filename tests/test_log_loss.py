"""Log loss on rows that were held out.

In:  small mixed tables, networks that are given, and scores.
Out: laws (the loss of a fixed network is minus the mean of its log_prob; folds test every row once; threads, order of
rows and columns change nothing), plain loops, and what cannot be is refused in one sentence."""

from __future__ import annotations

import json
import math
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

import spinney as sp
from spinney.draws import by_content, folds, part
from spinney.evaluate.pairs import by_bars, mean_and_error, pairs_of

ROWS = 90


def frame(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, rows)
    x = rng.normal(a, 1.0)
    b = (x + rng.normal(0, 1, rows) > 1).astype(int)
    return pd.DataFrame({
        "a": np.array(["u", "v", "w"])[a], "x": x, "b": np.array(["no", "yes"])[b], "z": rng.normal(size=rows)
    })  # fmt: skip


@pytest.fixture(scope="module")
def data() -> sp.Dataset:
    return sp.Dataset.from_frame(frame())


def test_a_fixed_network_has_minus_the_mean_of_its_log_prob(data: sp.Dataset) -> None:
    net = sp.fit(data, {"x": ["a"], "b": ["x"]}, score="pcart")
    wanted = -float(net.log_prob(data).mean())
    found = sp.evaluate.log_loss(data, {"fixed": net}, folds=4, repeats=2)  # folds of unequal size
    assert found.mean("fixed") == pytest.approx(wanted, rel=1e-12)
    held = sp.evaluate.compare({"fixed": net}, data)
    assert held.mean("fixed") == pytest.approx(wanted, rel=1e-12)
    assert held.error("fixed") == pytest.approx(float(net.log_prob(data).std(ddof=1)) / math.sqrt(ROWS), rel=1e-12)
    for own in (found, held):
        columns = own.as_dict()["methods" if own is found else "networks"]["fixed"]["columns"]
        sums = [value["log_loss"] if isinstance(value, dict) else value for value in columns.values()]
        assert sum(sums) == pytest.approx(wanted, rel=1e-12)


def test_it_is_what_a_plain_loop_gives(data: sp.Dataset) -> None:
    table = frame()
    tests = [np.arange(0, 30), np.arange(30, 60), np.arange(60, 90)]
    chosen: dict[str, Any] = {"PCARTp": {"score": "pcart", "prior": "sizes"}, "FT": "ft"}
    found = sp.evaluate.log_loss(data, chosen, search="exact", max_parents=2, folds=tests, repeats=1)
    for name, score, prior in (("PCARTp", "pcart", "sizes"), ("FT", "ft", "uniform")):
        wanted = []
        for test in tests:
            known = np.ones(ROWS, dtype=bool)
            known[test] = False
            kinds: dict[str, Any] = {k: v if v.discrete else "continuous" for k, v in data.kinds.items()}
            train = sp.Dataset.from_frame(table[known], kinds=kinds)
            net = sp.learn(train, score, prior, search="exact", max_parents=2).network
            wanted.append(-float(net.log_prob(table[~known]).mean()))
        assert found.losses[name] == pytest.approx(wanted, rel=1e-12)
        assert found.mean(name) == pytest.approx(np.mean(wanted), rel=1e-12)
        assert found.error(name) == pytest.approx(np.std(wanted, ddof=1) / math.sqrt(3), rel=1e-12)


def test_threads_and_the_order_of_rows_and_columns_change_nothing(data: sp.Dataset) -> None:
    options: dict[str, Any] = {"folds": 3, "repeats": 2, "seed": 5, "search": "hc", "max_parents": 2}
    wanted = sp.evaluate.log_loss(data, ["pcart", "cg"], n_jobs=1, **options).as_dict()
    assert sp.evaluate.log_loss(data, ["pcart", "cg"], n_jobs=4, **options).as_dict() == wanted
    turned = sp.Dataset.from_frame(frame().sample(frac=1, random_state=1)[["z", "b", "x", "a"]])
    found = sp.evaluate.log_loss(turned, ["pcart", "cg"], **options).as_dict()
    for name in ("pcart", "cg"):
        assert found["methods"][name]["test_sets"] == pytest.approx(wanted["methods"][name]["test_sets"], rel=1e-12)
    other = sp.evaluate.log_loss(data, ["pcart", "cg"], **{**options, "seed": 6}).as_dict()
    assert other["methods"]["cg"]["test_sets"] != wanted["methods"]["cg"]["test_sets"]


def test_every_row_is_held_out_once_per_repeat(data: sp.Dataset) -> None:
    order = by_content(data)
    assert sorted(order.tolist()) == list(range(ROWS))
    first, second = (folds(order, 7, 1, repeat) for repeat in (0, 1))
    for tests in (first, second):
        assert sorted(np.concatenate(tests).tolist()) == list(range(ROWS))
        assert {len(test) for test in tests} <= {12, 13}
    assert [own.tolist() for own in first] != [own.tolist() for own in second]


def test_a_part_has_its_own_range_but_a_declared_one_stays() -> None:
    table = {"x": [0.0, 1.0, 2.0, 10.0, 4.5], "y": [0.5, 1.5, 2.5, 3.5, 4.25], "c": ["p", "q", "p", "p", "r"]}
    data = sp.Dataset.from_frame(
        table, kinds={"y": sp.Continuous(0, 9), "x": "continuous", "c": "categorical"}, keep_all=True
    )
    own = part(data, np.array([0, 1, 2]))
    assert own.kinds["x"] == sp.Continuous(0, 2) and own.kinds["y"] == sp.Continuous(0, 9)
    assert own.levels("c") == data.levels("c") and own.n_rows == 3


def test_wins_by_bars_and_by_wilcoxon() -> None:
    low, high = np.arange(12.0), np.arange(12.0) + 5
    assert by_bars(low, high) == "win" and by_bars(high, low) == "loss" and by_bars(low, low) == "tie"
    assert by_bars(np.array([3.0, 9.0]), np.array([3.0, 3.0])) == "tie"  # 6 less 3 just reaches 3
    assert by_bars(np.array([3.0, 9.0]), np.array([2.9, 2.9])) == "loss"
    rng = np.random.default_rng(1)
    one = rng.normal(size=12)
    for shift in (0.02, 0.5, 3.0):
        other = one + shift * rng.normal(1, 1, size=12)
        (pair,) = pairs_of({"one": one, "other": other})
        assert pair.p_value == wilcoxon(one, other).pvalue
        assert pair.by_test == ("tie" if pair.p_value > 0.05 else "win" if one.mean() < other.mean() else "loss")
        assert (pair.difference, pair.error) == pytest.approx(mean_and_error(one - other))
    (same,) = pairs_of({"one": one, "other": one.copy()})
    assert (same.difference, same.p_value, same.by_test, same.by_bars) == (0.0, 1.0, "tie", "tie")


def test_ties_and_few_differences_are_counted_as_scipy_does() -> None:
    rng = np.random.default_rng(4)
    for rows in (1, 2, 3, 5, 6, 8, 9, 10, 12, 13, 14, 40):
        for apart in (rng.integers(-3, 6, rows).astype(float), rng.normal(0.5, 1, rows)):
            wanted = wilcoxon(apart).pvalue if apart.any() else 1.0
            (pair,) = pairs_of({"one": apart, "other": np.zeros(rows)})
            assert pair.p_value == pytest.approx(wanted, rel=1e-12)
    infinite = np.array([math.inf, 3.0, -1.0, 2.0, math.inf, -4.0])  # ranks alone matter
    (pair,) = pairs_of({"one": infinite, "other": np.zeros(6)})
    assert pair.p_value == pytest.approx(wilcoxon(np.array([9.0, 3.0, -1.0, 2.0, 9.0, -4.0])).pvalue, rel=1e-12)


def test_rows_that_are_impossible_are_an_infinite_loss_and_no_nan(tmp_path: Path) -> None:
    table = {"a": ["u", "v"] * 15, "b": ["p"] * 29 + ["q"]}
    found = sp.evaluate.log_loss(sp.Dataset.from_frame(table, keep_all=True), ["ll", "bdeu"], folds=3, repeats=1)
    assert found.mean("ll") == math.inf and math.isfinite(found.mean("bdeu")) and found.impossible["ll"] == 1
    (pair,) = found.pairs
    assert pair.by_bars == "loss" and pair.difference == math.inf and 0 < pair.p_value <= 1
    assert "probability 0" in str(found) and "nan" not in str(found)
    found.save(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text())["methods"]["ll"]["log_loss"] is None


def test_the_methods_are_all_combinations(data: sp.Dataset) -> None:
    found = sp.evaluate.log_loss(
        data, ["cg", "mn"], prior=["uniform", "sizes"], search="hc", folds=[range(20)], repeats=1
    )
    assert found.methods == ("cg, prior uniform", "cg, prior sizes", "mn, prior uniform", "mn, prior sizes")
    assert len(found.pairs) == 6 and math.isnan(found.error("cg, prior sizes"))
    assert found._repr_html_().count("<table>") == 3 and found.plot().axes


@pytest.mark.parametrize(("stop", "limit"), [("interrupted", None), ("time limit", 1.0)])
def test_the_time_limit_and_ctrl_c_keep_whole_test_sets(data: sp.Dataset, stop: str, limit: float | None) -> None:
    """A score that presses Ctrl-C, or takes its time, when the first test sets are done."""
    calls = [0]

    def slow(own: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
        calls[0] += 1
        if calls[0] == 300 and limit is None:
            os.kill(os.getpid(), signal.SIGINT)
        if calls[0] >= 300:
            time.sleep(0.02)
        return -1.0 - len(parents)

    scores = {"slow": sp.CustomScore(slow), "alone": {"score": "pcart", "max_parents": 0}}
    found = sp.evaluate.log_loss(data, scores, search="exact", max_parents=1, repeats=20, n_jobs=1, time_limit=limit)
    assert found.stopped == stop and 1 <= len(found.tested) < 200
    assert len(found.losses["slow"]) == len(found.losses["alone"]) == len(found.tested)
    assert f"ended early ({stop})" in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scores": []}, "nothing to evaluate"),
        ({"scores": "bdeux"}, "no score 'bdeux'"),
        ({"scores": "bge"}, "bge is defined for"),
        ({"scores": ["cg", "cg"]}, "there twice"),
        ({"scores": 5}, "scores is 5"),
        ({"scores": {"one": {"scores": "cg"}}}, "no choice 'scores'"),
        ({"scores": {"": "cg"}}, "name of a method"),
        ({"scores": {"one": 5}}, "give a score, a dict"),
        ({"scores": {"one": "cg"}, "prior": ["uniform", "sizes"]}, "each of them its own prior"),
        ({"folds": 1}, "folds must be"),
        ({"folds": 91}, "folds must be"),
        ({"folds": True}, "folds must be"),
        ({"folds": "ten"}, "folds must be"),
        ({"folds": [[0, 1], [95]]}, "folds must be"),
        ({"folds": [[0, 0]]}, "folds must be"),
        ({"folds": [[0, 1]], "repeats": 2}, "repeats must be 1"),
        ({"repeats": 0}, "repeats must be"),
        ({"seed": 0.5}, "seed must be"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"max_parents": -1}, "max_parents"),
    ],
)
def test_what_cannot_be_is_refused_before_computing(data: sp.Dataset, options: dict[str, Any], words: str) -> None:
    with pytest.raises(sp.SpinneyError, match=words):
        sp.evaluate.log_loss(data, **{"scores": "cg", "repeats": 1, **options})


def test_networks_that_cannot_be_compared_are_refused(data: sp.Dataset) -> None:
    net = sp.fit(data, {}, score="pcart")
    small = sp.fit(data.select(["a", "x"]), {}, score="pcart")
    with pytest.raises(sp.ChoiceError, match="different columns"):
        sp.evaluate.compare({"net": net, "small": small}, data)
    with pytest.raises(sp.ChoiceError, match="not the same columns"):
        sp.evaluate.log_loss(data, {"small": small})
    for wrong in ({}, {"net": 5}, [net]):
        with pytest.raises(sp.ChoiceError, match=r"networks are a dict|give a Network"):
            sp.evaluate.compare(wrong, data)  # type: ignore[arg-type]


def test_differences_are_of_pairs(data: sp.Dataset) -> None:
    one, other = (sp.fit(data, graph, score="pcart") for graph in ({"x": ["a"]}, {}))
    found = sp.evaluate.compare({"one": one, "other": other}, data)
    apart = other.log_prob(data) - one.log_prob(data)
    (pair,) = found.pairs
    assert pair.difference == pytest.approx(float(apart.mean()), rel=1e-12)
    assert pair.error == pytest.approx(float(apart.std(ddof=1)) / math.sqrt(ROWS), rel=1e-12)
    assert pair.error < found.error("one")
