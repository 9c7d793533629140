"""A time limit ends everything, and a network always comes back; so it does when memory is short.

In:  tables for which the time is far too short, and hypothesis's choice of sizes and limits.
Out: what was scored has its true score, every child has its smallest set, and the certificate says what it is about."""

from __future__ import annotations

import math
import os
import random
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from spinney import _core, parameters
from spinney.deadline import Deadline
from spinney.scores import build_source, columns
from spinney.scores import tree as tree_scores
from spinney.scores.source import Source
from spinney.tasks import AtWork

KINDS = {"bdeu": "discrete", "bic": "discrete", "pcart": "mixed", "ft": "mixed", "graph": "mixed"}


def table(rows: int, columns: int, kind: str, seed: int = 1) -> sp.Dataset:
    """A chain: every column depends on the one before."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=rows)]
    while len(values) < columns:
        values.append(0.7 * values[-1] + rng.normal(size=rows))
    return sp.Dataset.from_frame(
        pd.DataFrame(
            {
                f"x{i:02}": v if kind == "continuous" or (kind == "mixed" and i % 2) else np.where(v > 0, "a", "b")
                for i, v in enumerate(values)
            }
        )
    )


TABLES = {kind: table(300, 14, kind) for kind in ("discrete", "mixed", "continuous")}
REQUIRED = sp.Constraints(required=[("x00", "x03"), ("x02", "x03"), ("x04", "x06")])  # from discrete columns


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.floats(1e-6, 0.05), st.booleans(), st.integers(1, 3))
def test_sets_scored_in_time_have_their_true_scores(score: str, limit: float, constrained: bool, threads: int) -> None:
    data, constraints = TABLES[KINDS[score]], REQUIRED if constrained else None
    sets = sp.score_parent_sets(
        data, score, max_parents=3, constraints=constraints, time_limit=limit, n_jobs=threads, prune=False
    )
    for child in data.names:
        listed = dict(sets.of(child))
        smallest = tuple(sorted(p for p, c in REQUIRED.required if c == child)) if constrained else ()
        assert smallest in listed
        some = random.Random(1).sample(sorted(listed), min(3, len(listed)))
        known = sp.local_scores(data, [(child, own) for own in some], score)
        assert [listed[own] for own in some] == pytest.approx(known, rel=1e-9)
    assert (sets.unscored == 0) == (sets.over == "")
    if not sets.unscored and not constrained:
        assert len(sets) == sets.families


@pytest.mark.parametrize("score", sorted(KINDS))
@pytest.mark.parametrize("search", ["ilp", "dp", "hc", "tabu", "order", "exact", "auto"])
def test_a_network_comes_back_however_little_time_there_is(score: str, search: str) -> None:
    data = TABLES[KINDS[score]]
    result = sp.learn(data, score, search=search, time_limit=1e-6, constraints=REQUIRED)
    assert set(REQUIRED.required) <= set(result.network.edges)
    if result.found.over:  # a search may end within the millisecond that every step has
        assert result.found.stopped and not result.found.optimal
    parents = {name: model.parents for name, model in result.network.models.items()}
    assert {child: tuple(own) for child, own in result.found.parents.items()} == parents
    assert result.network.score == pytest.approx(sp.score(data, result.network, score), rel=1e-9)
    assert result.found.score == pytest.approx(result.network.score, rel=1e-9)


def test_local_global_comes_back_however_little_time_there_is() -> None:
    data = TABLES["mixed"]
    network = sp.learn(data, "graph", search="local-global", time_limit=1e-6).network
    assert set(network.names) == set(data.names)


def test_partial_sets_prune_nothing_that_was_not_beaten() -> None:
    """Every set that is kept beats its subsets, by the sets that are kept without a limit."""
    data = TABLES["discrete"]
    everything = sp.score_parent_sets(data, "bdeu", max_parents=3)
    sets = sp.score_parent_sets(data, "bdeu", max_parents=3, time_limit=0.002, n_jobs=1)
    for child in data.names:
        assert set(sets.of(child)) <= set(everything.of(child))


def test_the_certificate_names_the_sets_it_is_about() -> None:
    sets = sp.score_parent_sets(TABLES["continuous"], "pcart", max_parents=3, time_limit=0.01)
    assert sets.unscored and sets.families
    found = sp.search(sets, "ilp")
    assert found.over == f"the {sets.families - sets.unscored:,} of {sets.families:,} parent sets that were scored " + (
        "within the time limit"
    )
    assert not found.optimal and found.stopped == "time limit" and "time limit" in found.as_dict()["over"]


def test_the_command_says_what_the_bound_is_about(tmp_path, capsys) -> None:
    from spinney.cli import main

    TABLES["continuous"].write(tmp_path / "t.csv")
    words = [str(tmp_path / "t.csv"), "--score", "pcart", "--search", "ilp", "--time-limit", "0.02"]
    assert main(["learn", *words]) == 0
    shown = capsys.readouterr().out
    assert "that were scored within the time limit" in shown
    assert "up to 3" not in shown and "proven" not in shown


def test_auto_without_time_for_step_1_gives_the_true_reason() -> None:
    data = table(3000, 30, "discrete")
    result = sp.learn(data, "bdeu", max_parents=5, search="ilp", time_limit=0.5)
    assert result.found.over or "there was no time to score all" in result.why
    result = sp.learn(data, "qnml", max_parents=3, time_limit=0.02)
    assert result.plan.search.startswith(("tabu", "boss")) and not result.found.over
    assert "would take too long" in result.why or "there was no time to score all" in result.why


def test_ilp_begins_with_what_a_quick_search_finds() -> None:
    """There is no time for most of the 70 million sets; so what ilp finds among the others is seldom as good."""
    data = table(300, 36, "discrete")
    limit = 20.0 if "SPINNEY_SANITIZER" in os.environ else 3.0
    found = sp.find(data, "bic", max_parents=6, search="exact", time_limit=limit)
    quick = sp.find(data, "bic", max_parents=6, search="boss", patience=0)
    assert found.stopped == "time limit" and not found.optimal
    assert found.score >= quick.score - 1e-9 * abs(quick.score)


@pytest.mark.parametrize("search", ["hc", "tabu"])
def test_a_stop_in_the_first_pass_keeps_the_best_parents_so_far(search: str) -> None:
    """After 40 of 144 families the score takes longer than there is time: what it gave until then is used."""
    data, limit = table(60, 12, "continuous"), 0.5
    known: dict[tuple[str, tuple[str, ...]], float] = {}

    def slow(data: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
        if len(known) == 40:
            time.sleep(2 * limit)
        known[child, parents] = sp.local_score(data, child, parents, "pcart")
        return known[child, parents]

    found = sp.find(data, sp.CustomScore(slow), search=search, time_limit=limit, n_jobs=1)
    assert found.stopped == "time limit" and len(known) < 50
    assert any(found.parents.values()) and all(len(own) <= 1 for own in found.parents.values())
    assert found.score == pytest.approx(sp.score(data, found.parents, "pcart"), rel=1e-9)


def test_families_that_need_too_much_memory_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of three, which the limit does not allow, are missing, and the rest is as without a limit."""
    data = table(60, 6, "continuous")
    score = "pcart(max_splits=3)"
    free = sp.score_parent_sets(data, score, max_parents=3, prune=False)
    monkeypatch.setattr(tree_scores.Trees, "most_bytes", staticmethod(lambda threads: 20e3))
    sets = sp.score_parent_sets(data, score, max_parents=3, prune=False)
    assert free.left_out == 0 and sets.left_out == 6 * 10
    assert set(sets) == {(child, own, value) for child, own, value in free if len(own) < 3}
    found = sp.learn(data, score, search="hc", max_parents=3).found
    assert all(len(own) < 3 for own in found.parents.values())
    result = sp.learn(data, score, search="ilp", max_parents=3)
    assert any(note.startswith("left out 60 parent sets") for note in result.found.notes)
    assert "fit into memory" in result.found.over and not result.found.optimal


def test_best_fits_the_models_that_the_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees over three parents do not fit, tables do: learn ends with the tables."""
    data, score = table(60, 6, "continuous"), "best(pcart(max_splits=3), ft)"
    monkeypatch.setattr(Source, "most_bytes", staticmethod(lambda threads: 20e3))
    monkeypatch.setattr(tree_scores, "available_memory", lambda: 25e3)
    monkeypatch.setattr(tree_scores, "LITTLE", 0)
    parents = {name: data.names[:3] if name == "x05" else () for name in data.names}
    with pytest.raises(sp.LimitError, match="the trees of 'x05' over 3 parents need"):
        sp.local_score(data, "x05", parents["x05"], "pcart(max_splits=3)")
    required = [(parent, "x05") for parent in parents["x05"]]
    result = sp.learn(data, score, search="hc", max_parents=3, constraints=sp.Constraints(required=required))
    assert set(result.found.parents["x05"]) == set(parents["x05"])
    alone = sp.local_score(data, "x05", parents["x05"], "ft") - math.log(2)
    assert result.network.models["x05"].score == pytest.approx(alone, rel=1e-12)


def test_too_many_joint_cuttings_are_one_sentence() -> None:
    data = table(300, 11, "continuous")
    with pytest.raises(sp.LimitError, match="60,466,176 joint ways to cut the 10 parents"):
        sp.local_score(data, "x00", data.names[1:], "ft")


def test_columns_that_there_was_no_time_to_cut_are_no_parents() -> None:
    data, late = TABLES["continuous"], Deadline(1e-9)
    for score in ("pcart", "ft", "graph"):
        own = build_source(data, score, "uniform", late)
        assert list(own.uncut) == list(own.names)
        whole = build_source(data, score)
        families = [(name, ()) for name in data.names]
        assert np.asarray(own.local_scores(families)) == pytest.approx(whole.local_scores(families))
        pairs = [("x00", ("x01",)), ("x03", ("x02",))]
        alone = np.asarray(whole.local_scores([(child, ()) for child, _ in pairs]))
        assert (np.asarray(own.local_scores(pairs)) <= alone + 1e-9).all()


def test_ctrl_c_in_the_fit_keeps_what_the_search_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that would take for ever is given up soon after Ctrl-C; the others stand."""
    data, endless = table(20_000, 12, "discrete"), "x05"
    own = build_source(data, "bdeu")
    fit = own.fit

    def slow(child: str, parents: tuple[str, ...], score: float, stop: _core.Stop | None = None) -> object:
        if child == endless and parents:
            while not work or not work[0].stopped:
                time.sleep(0.01)
            raise TimeoutError
        return fit(child, parents, score, stop)

    work: list[parameters._Work] = []
    monkeypatch.setattr(own, "fit", slow)
    watch = parameters._Work.watch

    def watched(self: parameters._Work, threads: AtWork, deadline: Deadline) -> None:
        work.append(self)
        ended, first = threads.ended, iter([True])

        def interrupted(seconds: float = 0.0) -> bool:
            if seconds and next(first, False):
                raise KeyboardInterrupt
            return ended(seconds)

        monkeypatch.setattr(threads, "ended", interrupted)
        watch(self, threads, deadline)

    monkeypatch.setattr(parameters._Work, "watch", watched)
    parents = {name: (data.names[i - 1],) if i else () for i, name in enumerate(data.names)}
    fitted = parameters.fit_models(own, parents, threads=2)
    assert fitted.interrupted and fitted.without == (endless,)
    assert {name: model.parents for name, model in fitted.models.items()} == {**parents, endless: ()}


def test_everybody_is_listed_when_asked_for() -> None:
    """No constraints: the core is told "all others", not their numbers; both are the same to it."""
    names = [f"x{i}" for i in range(6)]
    implicit = sp.Constraints().allowed(names, 2)
    listed = sp.Constraints().allowed(names, 2, {name: [other for other in names if other != name] for name in names})
    assert implicit.for_core.candidates == listed.for_core.candidates
    assert dict(implicit.candidates) == dict(listed.candidates)


def test_pairs_of_columns_that_outgrow_memory_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from spinney import constraints

    monkeypatch.setattr(constraints, "available_memory", lambda: 2.0**30)
    with pytest.raises(sp.LimitError, match="the pairs of 20,000 columns need"):
        constraints.check_pairs(20_000)


@pytest.mark.parametrize("score", ["pcart", "ft", "graph", "best(pcart, ft)"])
@pytest.mark.parametrize("search", ["hc", "ilp", "boss", "ges", "chow-liu", "tan(target=x00)", "tan(target=x01)"])
def test_what_there_was_no_time_to_cut_is_a_parent_only_where_required(
    score: str, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the time were up after two columns; the score of what is found is its true score, required edges too."""
    data, ready = TABLES["continuous"], ("x00", "x03")
    monkeypatch.setattr(columns.Preparing, "time_for", lambda self, name: _only(self, name, ready))
    required = [("x05", "x06")] if search in ("hc", "ilp") else []
    constraints = sp.Constraints(required=required)
    found = sp.find(data, score, search=search, max_parents=2, time_limit=600, constraints=constraints)
    late = [(p, c) for c, own in found.parents.items() for p in own if p not in ready]
    assert late == required or (required and {p for p, _ in late} == {"x05"})
    assert any("no time to cut" in note for note in found.notes) and not found.optimal
    assert any(own for own in found.parents.values()) or search == "tan(target=x01)"
    monkeypatch.undo()
    assert found.score == pytest.approx(sp.score(data, found.parents, score), rel=1e-9)


def _only(preparing: columns.Preparing, name: str, ready: tuple[str, ...]) -> bool:
    if name in ready or name in preparing._needed:
        return True
    preparing.uncut.append(name)
    return False
