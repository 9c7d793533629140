"""search="auto": what it takes, against the searches that it is made of.

In:  drawn tables and constraints, foreseen work of any size.
Out: never worse than tabu and boss alone, and the optimum where that is foreseen; the dearer a family, the less is
asked for; one true sentence about what it took; the best so far after a stop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.graphs import acyclic
from spinney import step2
from spinney.catalog import choose_search
from spinney.constraints import allowed_by
from spinney.search import automatic


def table(seed: int, n: int, rows: int = 300) -> sp.Dataset:
    """Discrete columns, each of up to three before it."""
    rng = np.random.default_rng(seed)
    codes: list[np.ndarray] = []
    for i in range(n):
        before = [codes[k] for k in rng.choice(i, min(i, 3), replace=False)] if i else []
        value = rng.integers(0, 3, rows) * (rng.random(rows) < 0.5)
        codes.append((value + sum(before)) % 3)
    return sp.Dataset.from_frame(pa.table({f"x{i:02}": [f"v{code}" for code in own] for i, own in enumerate(codes)}))


@pytest.fixture
def no_step_1(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(automatic, "MOST_WORK", 0.0)
    yield


RULES = sp.Constraints(required=[("x00", "x05"), ("x03", "x05")], forbidden=[("x01", "x02")])


@pytest.mark.parametrize("constraints", [None, RULES])
@pytest.mark.parametrize("seed", range(4))
def test_never_worse_than_the_searches_it_is_made_of(
    no_step_1: None, seed: int, constraints: sp.Constraints | None
) -> None:
    data = table(seed, 22)
    result = sp.learn(data, "bdeu", constraints=constraints, seed=seed)
    assert result.plan.search.startswith(("tabu", "boss")) and "the best of tabu and boss" in result.why
    for search in ("hc", "tabu", "boss"):
        other = sp.find(data, "bdeu", search=search, constraints=constraints, seed=seed)
        assert result.found.score >= other.score - 1e-9 * abs(other.score)
    assert result.found.score == pytest.approx(sp.score(data, result.network, "bdeu"), rel=1e-12)
    again = sp.find(data, "bdeu", constraints=constraints, seed=seed, n_jobs=1)
    assert again.parents == result.found.parents


@pytest.mark.parametrize("n", [12, 20])
def test_the_optimum_where_all_sets_can_be_scored(n: int) -> None:
    data = table(n, n)
    result = sp.learn(data, "bdeu", max_parents=2)
    best = sp.find(data, "bdeu", search="exact", max_parents=2)
    assert result.plan.search.startswith("dp" if n <= automatic.FEW_VARIABLES else "ilp")
    assert result.found.score == pytest.approx(best.score, rel=1e-12) and result.found.bound >= best.score - 1e-9
    assert "all parent sets can be scored" in result.why and result.sets is not None
    if n > automatic.FEW_VARIABLES:
        assert "tabu and boss" in result.why


def test_the_sentence_says_what_the_exact_search_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local searches are replaced by a climb that may not add anything: the rest is the gain."""
    data = table(3, 20)
    monkeypatch.setattr(automatic, "_local", lambda *_: (choose_search("hc", restarts=0),))
    climb = sp.find(data, "bdeu", search="hc", restarts=0, max_parents=2)
    result = sp.learn(data, "bdeu", max_parents=2)
    gain = result.found.score - climb.score
    assert gain >= -1e-9
    said = f"it gained {gain:.4g} over hc" if gain > 1e-6 else "hc found as much before"
    assert result.why.endswith(said)


def test_a_start_is_never_made_worse(no_step_1: None) -> None:
    data = table(5, 20)
    best = sp.find(data, "bdeu", search="boss", patience=20)
    assert sp.find(data, "bdeu", start=best.parents).score >= best.score - 1e-9


def test_options_choose_the_search_that_has_them() -> None:
    data = table(1, 20)
    for options, name in (({"restarts": 2}, "tabu"), ({"patience": 3}, "boss"), ({"k": 2}, "ilp")):
        result = sp.learn(data, "bdeu", max_parents=1, **options)
        assert result.plan.search.startswith(f"{name}(") and "options that were set" in result.why
        assert {**choose_search(result.plan.search).values}.items() >= options.items()


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 300), st.sampled_from([1, 2, 3, None]), st.floats(1, 1e12))
def test_the_work_is_foreseen(n: int, most: int | None, cost: float) -> None:
    """The dearer a family, the less is asked for; exact only while all families fit the work, and the time."""
    allowed = allowed_by(None, [f"x{i}" for i in range(n)], most, None)
    asked = []
    for each in (cost, 10 * cost, 1e15):
        ways = automatic.from_data(allowed, lambda size, each=each: each, {})
        work = allowed.families * each
        fits = allowed.families <= automatic.MOST_FAMILIES and work <= automatic.MOST_WORK
        assert (ways.exact is not None) == fits
        assert automatic.from_data(allowed, lambda size, each=each: each, {}, work / 2).exact is None
        if ways.exact is None:
            assert ways.local
            asked.append(sum(one.values.get("restarts", 0) + one.values.get("patience", 0) for one in ways.local))
        assert all(choose_search(str(one)) == one for one in ways.local)
    assert asked == sorted(asked, reverse=True)


@pytest.mark.parametrize("limit", [1e-6, 0.02, 0.1])
def test_a_network_within_the_limit(limit: float) -> None:
    data = table(2, 40)
    result = sp.learn(data, "qnml", time_limit=limit, constraints=RULES)
    assert set(RULES.required) <= set(result.network.edges) and acyclic(result.network.parents)
    assert math.isfinite(result.found.score) and result.why


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_step_1_that_does_not_end_costs_nothing(monkeypatch: pytest.MonkeyPatch, interrupted: bool) -> None:
    """What the local searches found before is kept, and searched on where there is time."""
    data, real = table(4, 24), step2.scored_sets

    def scored(*args: Any, **named: Any) -> sp.ParentSets:
        sets = real(*args, **named)
        sets.unscored, sets.interrupted = 5, interrupted
        return sets

    local = max(sp.find(data, "bdeu", search=search, max_parents=2).score for search in ("tabu", "boss"))
    monkeypatch.setattr(step2, "scored_sets", scored)
    result = sp.learn(data, "bdeu", max_parents=2)
    assert result.found.score >= local - 1e-9 and result.found.stopped == ("interrupted" if interrupted else "")
    assert result.plan.search.startswith(("tabu", "boss")) and not result.found.optimal
    assert interrupted or "there was no time to score all" in result.why
