"""Step 2: the searches, against all DAGs.

In:  parent sets of small tables, or written by hand.
Out: dp is the best of all DAGs; the others are never better and never invalid; constraints are honoured or refused;
ties go to the smaller parent set, then to the earlier names."""

from __future__ import annotations

import random
from functools import cache
from itertools import permutations
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.case import Case, cases, dependent_case
from slow.graphs import acyclic, best_of_all
from slow.parent_sets import enumerate_sets, write_jkl
from slow.scores import ONE_OF_EACH, choice, local_score
from spinney.errors import SpinneyError

SIZES = {"b": 3, "a": 2, "d": 4, "c": 2, "e": 3}
SEARCHES = ["dp", "hc", "tabu", "order"]
EVERY_SEARCH = pytest.mark.parametrize("method", SEARCHES)


def check(found, sets, max_parents: int = 99) -> None:
    """What every Found owes, whoever found it."""
    assert set(found.parents) == set(sets.names)
    assert acyclic(found.parents)
    assert all(len(parents) <= max_parents for parents in found.parents.values())
    listed = {child: dict(sets.of(child)) for child in sets.names}
    total = sum(listed[child][tuple(sorted(parents))] for child, parents in found.parents.items())
    assert found.score == pytest.approx(total, rel=1e-12, abs=1e-12), "the parents re-add to the score"
    assert found.bound >= found.score
    assert found.gap >= 0 and (found.gap < 1e-9 or not found.optimal)
    assert found.optimal == (found.bound - found.score <= 1e-9 * max(1.0, abs(found.score)))


def sets_from(tmp_path, lists: dict[str, list[tuple[str, float]]]):
    """ParentSets written by hand; parents are one-letter names in a string."""
    path = tmp_path / "hand.jkl"
    path.write_text(write_jkl(lists))
    return sp.ParentSets.read(path)


# The optimum


@pytest.mark.parametrize("score", ONE_OF_EACH)
def test_dp_is_the_best_of_all_29281_dags(score):
    case = dependent_case(SIZES, n_rows=40, seed=1)
    top, _ = best_of_all(case.names, enumerate_sets(case, score, 4))
    sets = sp.score_parent_sets(case.data(), score=choice(score, case), max_parents=4)
    found = sp.search(sets, method="dp")
    check(found, sets)
    assert found.optimal and found.gap == pytest.approx(0.0, abs=1e-9)
    assert found.score == pytest.approx(top, rel=1e-9)


@pytest.mark.parametrize("score", ONE_OF_EACH)
@settings(max_examples=8)
@given(case=cases(columns=(1, 4), rows=(1, 25)), max_parents=st.integers(0, 3))
def test_dp_is_the_best_of_all_dags(score, case, max_parents):
    top, _ = best_of_all(case.names, enumerate_sets(case, score, max_parents))
    sets = sp.score_parent_sets(case.data(), score=choice(score, case), max_parents=max_parents)
    found = sp.search(sets, method="dp")
    check(found, sets, max_parents)
    assert found.score == pytest.approx(top, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", ["hc", "tabu", "auto"])
@settings(max_examples=15)
@given(
    case=cases(columns=(1, 6), rows=(1, 25)),
    score=st.sampled_from(["bic", "aic", "k2", "bdeu(ess=1)"]),
    seed=st.integers(0, 5),
)
def test_no_search_is_better_than_dp_nor_invalid(method, case, score, seed):
    sets = sp.score_parent_sets(case.data(), score=score, max_parents=3)
    best = sp.search(sets, method="dp")
    found = sp.search(sets, method=method, seed=seed)
    check(found, sets, 3)
    near = 1e-9 * max(1.0, abs(best.score))
    assert found.score <= best.score + near
    assert found.bound >= best.score - near, "a bound lies above every network, not only above the one found"


@pytest.mark.parametrize("method", ["hc", "tabu"])
def test_a_local_search_cannot_be_bettered_by_one_edge(method):
    """Its own promise: no single addition, removal or reversal improves the network it returns."""
    for seed in range(6):
        case = dependent_case(SIZES, n_rows=60, seed=seed)
        sets = sp.score_parent_sets(case.data(), score="bic", max_parents=4, prune=False, bounds=False)
        listed = {child: {frozenset(parents): score for parents, score in sets.of(child)} for child in sets.names}
        found = sp.search(sets, method=method, seed=seed)
        for near in neighbours(found.parents):
            total = sum(listed[child][frozenset(parents)] for child, parents in near.items())
            assert total <= found.score + 1e-9


def neighbours(parents):
    for start, end in permutations(parents, 2):
        here = {child: set(of_child) for child, of_child in parents.items()}
        if start in here[end]:
            here[end].remove(start)
            yield here
            turned = {**here, start: here[start] | {end}}
            if acyclic(turned):
                yield turned
        elif end not in here[start]:
            here[end].add(start)
            if acyclic(here):
                yield here


@EVERY_SEARCH
def test_the_same_seed_gives_the_same_answer(method):
    sets = sp.score_parent_sets(dependent_case(SIZES, n_rows=40, seed=2).data(), score="bdeu(ess=1)")
    one, two = sp.search(sets, method=method, seed=3), sp.search(sets, method=method, seed=3)
    assert one.parents == two.parents and one.score == two.score and one.bound == two.bound


# Constraints

RULES = {
    "nothing": {},
    "required": {"required": [("e", "b"), ("d", "a")]},
    "forbidden": {"forbidden": [("b", "a"), ("a", "b"), ("d", "e")]},
    "tiers": {"tiers": [["e"], ["d", "c"], ["a", "b"]]},
    "some in tiers": {"tiers": [["e"], ["a"]]},
    "at most one": {"max_parents": 1},
    "each its own": {"max_parents": {"a": 0, "d": 1}},
    "all": {
        "required": [("c", "a")],
        "forbidden": [("e", "b")],
        "tiers": [["c", "e"], ["a", "b", "d"]],
        "max_parents": {"d": 1},
    },
}


def obeys(parents, required=(), forbidden=(), tiers=(), max_parents=None) -> bool:
    edges = {(parent, child) for child, of_child in parents.items() for parent in of_child}
    tier = {name: number for number, names in enumerate(tiers) for name in names}
    most = max_parents if isinstance(max_parents, dict) else dict.fromkeys(parents, max_parents)
    return (
        all(edge in edges for edge in required)
        and not any(edge in edges for edge in forbidden)
        and all(tier[start] <= tier[end] for start, end in edges if start in tier and end in tier)
        and all(len(of) <= (inf if most.get(child) is None else most[child]) for child, of in parents.items())
    )


CONSTRAINED = dependent_case(SIZES, n_rows=50, seed=4)


@cache
def best_under(rule: str) -> float:
    sets = enumerate_sets(CONSTRAINED, "bic", 3)
    return best_of_all(CONSTRAINED.names, sets, lambda parents: obeys(parents, **RULES[rule]))[0]


@pytest.mark.parametrize("method", [*SEARCHES, "auto"])
@pytest.mark.parametrize("rule", RULES)
def test_constraints_are_honoured(rule, method):
    data, top = CONSTRAINED.data(), best_under(rule)
    rules = sp.Constraints(**RULES[rule])
    result = sp.learn(data, score="bic", search=method, max_parents=3, constraints=rules)
    assert obeys(result.network.parents, **RULES[rule])
    assert acyclic(result.network.parents)
    assert result.found.score <= top + 1e-9
    assert result.found.bound >= top - 1e-9
    again = sp.score(data, result.network.parents, score="bic")
    assert again == pytest.approx(result.found.score, rel=1e-12)
    if method == "dp":
        assert result.found.score == pytest.approx(top, rel=1e-9)


@EVERY_SEARCH
@pytest.mark.parametrize("rule", RULES)
def test_constraints_given_to_search_alone(rule, method):
    """The lists were made without them and are complete; the search filters."""
    sets = sp.score_parent_sets(CONSTRAINED.data(), score="bic", max_parents=3, prune=False, bounds=False)
    found = sp.search(sets, method=method, constraints=sp.Constraints(**RULES[rule]))
    check(found, sets, 3)
    assert obeys(found.parents, **RULES[rule])
    if method == "dp":
        assert found.score == pytest.approx(best_under(rule), rel=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_random_constraints_are_honoured_or_refused(seed):
    """Refused exactly when no DAG at all satisfies them."""
    rng = random.Random(seed)
    case = dependent_case({"a": 2, "b": 3, "c": 2, "d": 2}, n_rows=30, seed=seed)
    edges = list(permutations("abcd", 2))
    rule = {"required": rng.sample(edges, rng.randrange(4)), "forbidden": rng.sample(edges, rng.randrange(4))}
    if rng.random() < 0.5:
        names = rng.sample("abcd", 4)
        rule["tiers"] = [names[:2], names[2:]]
    if rng.random() < 0.5:
        rule["max_parents"] = rng.randrange(3)
    try:
        top, _ = best_of_all(case.names, enumerate_sets(case, "aic", 3), lambda parents: obeys(parents, **rule))
    except ValueError:
        top = None
    for method in SEARCHES:
        if top is None:
            with pytest.raises(SpinneyError):
                sp.learn(case.data(), score="aic", search=method, constraints=sp.Constraints(**rule))
        else:
            result = sp.learn(case.data(), score="aic", search=method, constraints=sp.Constraints(**rule))
            assert obeys(result.network.parents, **rule)
            assert result.found.score <= top + 1e-9
            assert method != "dp" or result.found.score == pytest.approx(top, rel=1e-9)


@EVERY_SEARCH
@pytest.mark.parametrize(
    "rule",
    [
        {"required": [("a", "b")], "forbidden": [("a", "b")]},
        {"required": [("a", "b"), ("b", "a")]},
        {"required": [("a", "b"), ("b", "c"), ("c", "a")]},
        {"required": [("a", "b")], "tiers": [["b"], ["a"]]},
        {"required": [("a", "b"), ("c", "b")], "max_parents": 1},
        {"required": [("a", "b")], "max_parents": {"b": 0}},
        {"required": [("a", "a")]},
        {"required": [("a", "nobody")]},
        {"forbidden": [("nobody", "a")]},
        {"tiers": [["a", "nobody"]]},
        {"tiers": [["a"], ["a", "b"]]},
        {"max_parents": {"nobody": 1}},
        {"max_parents": -1},
    ],
    ids=str,
)
def test_contradictions_are_refused_in_one_sentence(rule, method):
    case = dependent_case(SIZES, n_rows=20, seed=7)
    with pytest.raises(SpinneyError) as told:
        sp.learn(case.data(), score="bic", search=method, constraints=sp.Constraints(**rule))
    assert len(str(told.value)) > 10 and "\n" not in str(told.value)


@EVERY_SEARCH
def test_a_required_edge_without_a_list_entry_is_refused(method, tmp_path):
    sets = sets_from(tmp_path, {"a": [("", -1.0)], "b": [("", -1.0)]})
    with pytest.raises(SpinneyError):
        sp.search(sets, method=method, constraints=sp.Constraints(required=[("a", "b")]))


# Ties


@EVERY_SEARCH
@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([("", 0.0), ("a", 0.0)], ()),
        ([("b", 1.0), ("a", 1.0), ("", 0.0)], ("a",)),
        ([("ab", 1.0), ("c", 1.0), ("", 0.0)], ("c",)),
        ([("bc", 2.0), ("ad", 2.0), ("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0), ("", 0.0)], ("a", "d")),
        ([("ac", 2.0), ("ab", 2.0), ("a", 1.0), ("", 0.0)], ("a", "b")),
        ([("", 3.0), ("a", 3.0), ("ab", 3.0)], ()),
    ],
    ids=["empty first", "earlier name", "smaller first", "first name decides", "second name decides", "all equal"],
)
def test_ties_go_to_the_smaller_set_then_to_the_earlier_names(sets, expected, method, tmp_path):
    """Only x may have parents, so that no cycle has a say."""
    for order in (sets, sets[::-1]):
        lists = {"d": [("", 0.0)], "x": order, "b": [("", 0.0)], "a": [("", 0.0)], "c": [("", 0.0)]}
        if method != "dp" and expected == ("c",):
            continue  # a climber that adds one edge at a time meets {c} only by luck of what it may pass through
        assert tuple(sp.search(sets_from(tmp_path, lists), method=method).parents["x"]) == expected


@EVERY_SEARCH
def test_the_order_in_the_file_decides_nothing(method, tmp_path):
    """a -> b or b -> a: both score the same; the answer may be either, but always the same one."""
    answers = set()
    for order in permutations("abc"):
        lists = {child: [("", 0.0), *((parent, 1.0) for parent in order if parent != child)] for child in order}
        found = sp.search(sets_from(tmp_path, lists), method=method)
        answers.add(tuple(sorted((child, tuple(parents)) for child, parents in found.parents.items())))
        assert found.score == pytest.approx(2.0)
    assert len(answers) == 1


# Small ends


@EVERY_SEARCH
def test_one_column(method):
    case = Case({"a": 3}, {"a": [0, 1, 2, 0]})
    result = sp.learn(case.data(), score="bic", search=method)
    assert result.network.parents == {"a": ()}
    assert result.found.score == pytest.approx(local_score(case, "a", (), "bic"), rel=1e-12)


@EVERY_SEARCH
def test_no_parents_allowed(method):
    case = dependent_case(SIZES, n_rows=30, seed=8)
    result = sp.learn(case.data(), score="bic", search=method, max_parents=0)
    assert all(parents == () for parents in result.network.parents.values())
    assert method != "dp" or result.found.optimal


@EVERY_SEARCH
def test_constant_columns_stay_alone(method):
    case = dependent_case({"a": 1, "b": 3, "c": 1, "d": 3}, n_rows=40, seed=9, noise=0.1)
    parents = sp.learn(case.data(), score="bdeu(ess=1)", search=method).network.parents
    assert parents["a"] == parents["c"] == ()
    assert not {"a", "c"} & set(parents["b"] + parents["d"])


def test_an_unknown_search_is_one_sentence():
    case = dependent_case(SIZES, n_rows=10, seed=10)
    with pytest.raises(SpinneyError, match="dp"):
        sp.learn(case.data(), search="nothing")
