"""score="auto": what it stands for, that it says so, and that it refuses no table that some score can take."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import spinney as sp
from spinney import scores
from spinney.catalog import SCORES
from spinney.cli import app
from spinney.scores import resolved, why_resolved

KINDS = st.sampled_from(["categorical", "ordinal", "continuous"])


@st.composite
def tables(draw: st.DrawFn) -> sp.Dataset:
    kinds = draw(st.lists(KINDS, min_size=1, max_size=4))
    rows = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = {
        f"x{i}": rng.normal(size=rows) if kind == "continuous" else rng.integers(0, 3, rows)
        for i, kind in enumerate(kinds)
    }
    return sp.Dataset.from_frame(columns, kinds={f"x{i}": kind for i, kind in enumerate(kinds)})


@given(tables())
def test_auto_is_the_score_that_it_names(data: sp.Dataset) -> None:
    discrete = all(kind.discrete for kind in data.kinds.values())
    result = sp.learn(data)
    named = "bdeu(ess=1.0)" if discrete else str(sp.Best())
    assert result.plan.score == named and result.network.plan is not None
    assert result.network.plan["score"] == named
    assert result.plan.why_score is not None and named.split("(")[0] in result.plan.why_score
    parents = result.network.parents
    assert result.found.score == pytest.approx(sp.score(data, parents), rel=1e-12)
    assert sp.score(data, parents) == sp.score(data, parents, named)
    assert sp.fit(data, parents).plan == sp.fit(data, parents, named).plan
    assert sp.learn(data, named).plan.why_score is None
    assert list(sp.score_parent_sets(data)) == list(sp.score_parent_sets(data, named))


def test_auto_is_the_default_wherever_a_score_is_asked_for() -> None:
    asking = [sp.learn, sp.find, sp.score, sp.local_score, sp.local_scores, sp.fit, sp.score_parent_sets]
    asking += [sp.NaiveBayesClassifier, sp.TANClassifier, sp.NetworkClassifier]
    for function in asking:
        assert inspect.signature(function).parameters["score"].default == "auto", function


def test_many_columns_have_trees_alone() -> None:
    rng = np.random.default_rng(1)
    for columns, score in ((scores.MOST_COLUMNS_FOR_BEST, "best"), (scores.MOST_COLUMNS_FOR_BEST + 1, "pcart")):
        data = sp.Dataset.from_frame({f"x{i}": rng.normal(size=5) for i in range(columns)})
        assert resolved(data, "auto").name == score
        reason = ", too many columns to compare models" if score == "pcart" else ""
        kinds = f"{columns} of {columns} columns are continuous"
        assert why_resolved(data, "auto") == f"auto chose {score}: {kinds}{reason}"


@pytest.mark.parametrize(("model", "usual"), [("naive-bayes", "bd"), ("tan", "fnml"), ("network", "bdeu")])
def test_classifiers_keep_their_own(model: str, usual: str) -> None:
    from spinney.classify import MODELS

    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 80)
    X = {"a": y + rng.normal(size=80), "b": rng.integers(0, 3, 80), "c": (y + rng.integers(0, 2, 80)) % 3}
    by_auto, by_name = MODELS[model]().fit(X, y), MODELS[model](usual).fit(X, y)
    assert by_auto.network_ == by_name.network_


def test_the_commands_say_what_auto_chose(tmp_path: object) -> None:
    rng = np.random.default_rng(0)
    rows = "\n".join(
        f"{a:.3f},{b},{c}" for a, b, c in zip(rng.normal(size=60), *rng.integers(0, 2, (2, 60)), strict=True)
    )
    path = f"{tmp_path}/t.csv"
    with open(path, "w") as file:
        file.write("a,b,c\n" + rows + "\n")
    run = CliRunner()
    shown = run.invoke(app, ["learn", path]).stdout
    assert "auto chose best: 1 of 3 columns is continuous (another: --score, see spinney list scores)" in shown
    plan = json.loads(run.invoke(app, ["learn", path, "--json"]).stdout)["plan"]
    assert plan["score"] == str(sp.Best()) and plan["why_score"] == "auto chose best: 1 of 3 columns is continuous"
    assert "auto chose best" in run.invoke(app, ["score", path, "--child", "a", "--parents", "b"]).stdout
    assert "auto chose" not in run.invoke(app, ["learn", path, "--score", "ft"]).stdout


@pytest.mark.parametrize("score", [name for name, row in SCORES.items() if len(row.kinds) == 3])
def test_foreseen_work_grows_with_rows(score: str) -> None:
    from spinney.scores import build_source

    def cost(rows: int, parents: int) -> float:
        rng = np.random.default_rng(2)
        frame = {"a": rng.normal(size=rows), "b": rng.normal(size=rows), "c": rng.integers(0, 3, rows)}
        data = sp.Dataset.from_frame(frame, kinds={"a": "continuous", "b": "continuous", "c": "categorical"})
        return build_source(data, score).family_cost(parents)

    for parents in (0, 1, 2, 3):
        if score in ("dg", "bf"):  # from one matrix, whatever the rows
            assert 0 < cost(100, parents) == cost(1000, parents)
        else:
            assert 0 < cost(100, parents) < cost(1000, parents)
    assert cost(1000, 1) <= cost(1000, 3)


def test_large_tables_have_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above so many cells `auto` is pcart, for learn, score and fit alike; discrete tables are bdeu at any size."""
    rng = np.random.default_rng(4)
    data = sp.Dataset.from_frame({"a": rng.normal(size=50), "b": rng.integers(0, 2, 50)})
    discrete = sp.Dataset.from_frame({"b": rng.integers(0, 2, 50), "c": rng.integers(0, 3, 50)})
    assert resolved(data, "auto").name == "best" and data.n_rows * 2 < scores.MOST_FOR_BEST
    monkeypatch.setattr(scores, "MOST_FOR_BEST", 99)
    assert resolved(data, "auto") == resolved(data, "pcart") and resolved(discrete, "auto").name == "bdeu"
    result = sp.learn(data)
    assert result.plan.why_score == "auto chose pcart: 1 of 2 columns is continuous, and the table has 100 cells"
    assert result.plan.score == str(sp.PCART())
    assert result.found.score == pytest.approx(sp.score(data, result.network.parents), rel=1e-12)


def test_the_reason_writes_large_numbers_as_other_lines_do() -> None:
    names = [f"x{i}" for i in range(1200)]
    data = sp.Dataset.from_frame(
        {name: [0.5, 1.25, 2.75] for name in names}, kinds=dict.fromkeys(names, sp.Continuous())
    )
    assert "1,200 of 1,200 columns are continuous" in (why_resolved(data, "auto") or "")
