"""Step 1: the lists of parent sets.

In:  small tables, all families of which can be enumerated.
Out: complete without pruning, minimal with it, the same optimum either way, the same on one thread or two, and
unharmed by a trip through a file."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings

import spinney as sp
from slow.case import Case, cases, dependent_case
from slow.graphs import best_of_all
from slow.parent_sets import enumerate_sets, lead, read_jkl, subsets, write_jkl
from slow.scores import ONE_OF_EACH, PRIORS, TWINS, WITH_GRAPHS, choice
from spinney.errors import SpinneyError

SIZES = {"b": 3, "a": 2, "d": 4, "c": 2, "e": 3}
NEAR = {"rel": 1e-10, "abs": 1e-10}


def as_dict(sets) -> dict[str, dict[frozenset[str], float]]:
    return {child: {frozenset(parents): score for parents, score in sets.of(child)} for child in sets.names}


def assert_close(fast, slow) -> None:
    assert fast.keys() == slow.keys()
    for child, of_child in slow.items():
        assert fast[child].keys() == of_child.keys(), child
        for parents, score in of_child.items():
            assert fast[child][parents] == pytest.approx(score, **NEAR), (child, set(parents))


@pytest.mark.parametrize("score", TWINS)
def test_unpruned_lists_are_all_parent_sets(score):
    case = dependent_case(SIZES, n_rows=30, seed=1, unseen=True)
    for max_parents in (0, 2, 9):
        sets = sp.score_parent_sets(
            case.data(), score=choice(score, case), max_parents=max_parents, prune=False, bounds=False
        )
        assert_close(as_dict(sets), enumerate_sets(case, score, max_parents))


@pytest.mark.parametrize("prior", PRIORS)
def test_unpruned_lists_carry_the_prior(prior):
    case = dependent_case(SIZES, n_rows=30, seed=2)
    sets = sp.score_parent_sets(case.data(), score="bic", prior=prior, max_parents=3, prune=False)
    assert_close(as_dict(sets), enumerate_sets(case, "bic", 3, prior))


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize("score", [*TWINS, "graph"])
@settings(max_examples=6)
@given(case=cases(columns=(1, 5), rows=(1, 20)))
def test_every_kept_set_beats_all_its_subsets_and_no_other_is_dropped(score, bounds, case):
    asked = choice(score, case)
    every = as_dict(sp.score_parent_sets(case.data(), score=asked, max_parents=4, prune=False, bounds=False))
    kept = as_dict(sp.score_parent_sets(case.data(), score=asked, max_parents=4, prune=True, bounds=bounds))
    for child, of_child in every.items():
        for parents, score in of_child.items():
            if parents in kept[child]:
                assert kept[child][parents] == score
                assert lead(parents, of_child) > 0
            else:  # equal up to rounding is a tie, and a tie goes to the smaller set
                assert lead(parents, of_child) < 1e-9 * max(1.0, abs(score))


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("score", WITH_GRAPHS)
def test_bounds_drop_nothing_more_than_pruning(score, prior):
    for seed, rows in ((3, 12), (4, 60), (5, 300)):
        case = dependent_case(SIZES, n_rows=rows, seed=seed, noise=0.2, unseen=seed == 4)
        asked = choice(score, case)
        lists = [
            as_dict(sp.score_parent_sets(case.data(), score=asked, prior=prior, max_parents=4, bounds=bounds))
            for bounds in (True, False)
        ]
        assert lists[0] == lists[1]


@pytest.mark.parametrize("score", ONE_OF_EACH)
def test_pruned_and_unpruned_have_the_same_optimum(score):
    for seed in (6, 7):
        case = dependent_case(SIZES, n_rows=35, seed=seed)
        slow, _ = best_of_all(case.names, enumerate_sets(case, score, 3))
        found = []
        for prune_it, bounds in ((False, False), (True, False), (True, True)):
            sets = sp.score_parent_sets(
                case.data(), score=choice(score, case), max_parents=3, prune=prune_it, bounds=bounds
            )
            found.append(sp.search(sets, method="dp"))
            assert found[-1].score == pytest.approx(slow, rel=1e-9)
        assert found[0].parents == found[1].parents == found[2].parents


@pytest.mark.parametrize("score", WITH_GRAPHS)
def test_one_thread_or_two_give_the_same_lists(score):
    case = dependent_case({name: 2 + position % 3 for position, name in enumerate("hgfedcba")}, n_rows=80, seed=8)
    asked = choice(score, case) if score != "bde" else "bdeu(ess=5)"  # the twin's joint of 8 columns is not needed here
    one, two = (sp.score_parent_sets(case.data(), score=asked, max_parents=3, n_jobs=jobs) for jobs in (1, 2))
    assert one.names == two.names
    assert all(one.of(child) == two.of(child) for child in one.names)


def test_lists_are_sorted_best_first_with_ties_by_size_then_name():
    column = [0, 1, 0, 1, 1, 0, 0, 1]
    case = Case(dict.fromkeys("cab", 2), dict.fromkeys("cab", column))
    sets = sp.score_parent_sets(case.data(), score="ll", max_parents=2, prune=False)
    assert [parents for parents, _ in sets.of("b")] == [("a",), ("c",), ("a", "c"), ()]
    kept = sp.score_parent_sets(case.data(), score="ll", max_parents=2)
    assert [parents for parents, _ in kept.of("b")] == [("a",), ("c",), ()]


def test_parents_are_named_in_sorted_order_and_scores_fall():
    sets = sp.score_parent_sets(dependent_case(SIZES, n_rows=40, seed=9).data(), score="aic", max_parents=3)
    for child in sets.names:
        rows = sets.of(child)
        assert all(list(parents) == sorted(parents) for parents, _ in rows)
        assert [score for _, score in rows] == sorted((score for _, score in rows), reverse=True)
        assert any(parents == () for parents, _ in rows), "the empty set has no proper subset and always stays"
    assert len(sets) == sum(len(sets.of(child)) for child in sets.names)


def test_candidates_are_the_only_parents():
    case = dependent_case(SIZES, n_rows=40, seed=10)
    candidates = {"a": ["b", "c"], "b": [], "c": ["e"], "d": ["a", "b", "c", "e"], "e": ["d"]}
    sets = sp.score_parent_sets(case.data(), score="bic", max_parents=3, candidates=candidates, prune=False)
    for child, rows in as_dict(sets).items():
        assert set(rows) == set(subsets(candidates[child], 3))


def test_constraints_shape_the_lists():
    case = dependent_case(SIZES, n_rows=40, seed=11)
    rules = sp.Constraints(
        required=[("a", "b")], forbidden=[("c", "b")], tiers=[["a", "b"], ["c", "d", "e"]], max_parents={"e": 1}
    )
    lists = as_dict(sp.score_parent_sets(case.data(), score="bic", max_parents=3, constraints=rules, prune=False))
    assert set(lists["b"]) == {frozenset("a")}
    assert set(lists["e"]) == set(subsets("abcd", 1))
    assert set(lists["c"]) == set(subsets("abde", 3))
    assert set(lists["a"]) <= set(subsets("b", 1)), "c, d, e come later"


def test_pruning_never_drops_a_required_parent():
    """The empty set would beat it, but the empty set is not allowed."""
    case = dependent_case({"a": 3, "b": 4, "c": 3}, n_rows=6, seed=12, noise=1.0)
    rules = sp.Constraints(required=[("a", "b")])
    lists = as_dict(sp.score_parent_sets(case.data(), score="bic", max_parents=2, constraints=rules))
    assert lists["b"] and all("a" in parents for parents in lists["b"])


@pytest.mark.parametrize("name", ["sets.jkl", "sets.jkl.gz"])
def test_jkl_round_trip(name, tmp_path):
    sets = sp.score_parent_sets(dependent_case(SIZES, n_rows=40, seed=13).data(), score="bdeu(ess=1)", max_parents=3)
    path = tmp_path / name
    sets.write(path)
    again = sp.ParentSets.read(path)
    assert set(again.names) == set(sets.names)
    assert all(again.of(child) == sets.of(child) for child in sets.names), "scores to the last bit"
    raw = path.read_bytes()
    assert read_jkl((gzip.decompress(raw) if name.endswith(".gz") else raw).decode()) == as_dict(sets)
    assert sp.search(again, method="dp").parents == sp.search(sets, method="dp").parents


def test_jkl_of_others_is_read(tmp_path):
    """Names or indices, integers as scores, sets in any order: what other programs write."""
    path = tmp_path / "other.jkl"
    path.write_text(write_jkl({"0": [(["1"], -3), ([], -5)], "1": [([], -4.5), (["0"], -2.25)]}))
    sets = sp.ParentSets.read(path)
    none, zero, one = frozenset(), frozenset("0"), frozenset("1")
    assert as_dict(sets) == {"0": {one: -3.0, none: -5.0}, "1": {none: -4.5, zero: -2.25}}
    assert sp.search(sets, method="dp").score == pytest.approx(-7.25)


@pytest.mark.parametrize(
    "text",
    ["", "two\n", "2\na 1\n-1.0 0\n", "1\na 2\n-1.0 0\n", "1\na 1\n-1.0 1 b\n", "1\na 1\n-1.0 1 a\n", "1\na 1\nnan 0\n",
     "2\na 1\n-1.0 0\na 1\n-1.0 0\n", "1\na 1\n-1.0 0\nmore\n"],
    ids=["empty", "no number", "short", "fewer sets", "unknown parent", "own parent", "nan", "twice", "longer"],
)  # fmt: skip
def test_a_broken_jkl_is_one_sentence(text, tmp_path):
    path = tmp_path / "broken.jkl"
    path.write_text(text)
    with pytest.raises(SpinneyError) as told:
        sp.ParentSets.read(path)
    assert "broken.jkl" in str(told.value) and "\n" not in str(told.value)
