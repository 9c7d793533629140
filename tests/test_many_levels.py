"""Parents of many levels: never refused, grouped by a rule that reads the parents' columns only.

The laws: scores of all columns of the child still sum to at most 1, grouped levels are one level, the order of levels
does not matter, and what is fitted has the score that was found."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from spinney.scores import tabular
from spinney.scores.columns import frequency_ranks, frequent_levels, neighbouring_levels


def table(rows: int, levels: int, seed: int = 0, parents: int = 1, kind: type = sp.Categorical) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    names = [f"l{i:05d}" for i in range(levels)]
    codes = [np.minimum(rng.geometric(8 / levels, rows) - 1, levels - 1) for _ in range(parents)]
    frame = {f"x{i}": [names[c] for c in own] for i, own in enumerate(codes)}
    cause = codes[0] > np.median(codes[0]) if kind is sp.Ordinal else codes[0] % 2
    frame["y"] = [str(int(v)) for v in cause ^ (rng.random(rows) < 0.1)]
    return sp.Dataset.from_frame(frame, kinds={**{f"x{i}": kind(names) for i in range(parents)}, "y": "categorical"})


@given(st.lists(st.integers(0, 5), min_size=3, max_size=40), st.randoms())
def test_groupings_are_nested_and_do_not_depend_on_the_order_of_levels(counts: list[int], random: object) -> None:
    levels = [f"l{i}" for i in range(len(counts))]
    rank = frequency_ranks(np.array(counts), levels)
    assert sorted(rank) == list(range(len(counts)))
    shuffled = list(range(len(counts)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = frequency_ranks(np.array(counts)[shuffled], [levels[i] for i in shuffled])
    assert (again == rank[shuffled]).all()
    for ways in (frequent_levels(rank, 14), neighbouring_levels(np.array(counts))):
        assert [groups for groups, _ in ways] == sorted({groups for groups, _ in ways}, reverse=True)
        assert all(own.max() < groups for groups, own in ways)
        for (_, fine), (_, coarse) in itertools.pairwise(ways):
            assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
    assert all((np.diff(own.astype(int)) >= 0).all() for _, own in neighbouring_levels(np.array(counts)))


def merged(data: sp.Dataset, name: str, most: int) -> sp.Dataset:
    """The rarer levels of a column put into one, by hand."""
    codes, levels = data.codes(name), data.levels(name)
    counts = np.bincount(codes, minlength=len(levels))
    kept = sorted(range(len(levels)), key=lambda i: (-counts[i], levels[i]))[: most - 1]
    texts = [levels[c] if c in kept else "others" for c in codes]
    frame = {other: [data.levels(other)[c] for c in data.codes(other)] for other in data.names if other != name}
    kinds = {other: data.kinds[other] for other in data.names if other != name}
    return sp.Dataset.from_frame(
        {**frame, name: texts}, kinds={**kinds, name: sp.Categorical([*(levels[k] for k in kept), "others"])}
    )


@pytest.mark.parametrize(("score", "most"), [("pcart", 14), ("ft", 64)])
@pytest.mark.parametrize("levels", [15, 57, 300])
def test_a_grouped_level_is_one_level(score: str, most: int, levels: int) -> None:
    data = table(400, levels)
    same = merged(data, "x0", most) if levels > most else data
    assert sp.local_score(data, "y", ["x0"], score) == pytest.approx(
        sp.local_score(same, "y", ["x0"], score), rel=1e-12
    )


@pytest.mark.parametrize("score", ["pcart", "ft", "pcart(ess=2)"])
@pytest.mark.parametrize(("levels", "parents"), [(20, 1), (5000, 1), (9, 3), (40, 2)])
def test_what_is_fitted_has_the_score_that_was_found(score: str, levels: int, parents: int) -> None:
    data = table(200, levels, parents=parents)
    own = {"y": [f"x{i}" for i in range(parents)], **{f"x{i}": [] for i in range(parents)}}
    model = sp.fit(data, own, score).models["y"]
    assert model.score == sp.local_score(data, "y", own["y"], score)
    leaf = model.leaf_of(data)
    counts = np.zeros_like(model.sums)
    np.add.at(counts, (leaf, data.codes("y")), 1)
    assert (counts == model.sums).all()
    if score == "pcart":  # the score is the prior of the tree and the marginal likelihood of its leaves
        value = sum(math.lgamma(1) - math.lgamma(1 + n.sum()) for n in counts)
        value += sum(math.lgamma(0.5 + c) - math.lgamma(0.5) for n in counts for c in n)
        assert model.score is not None and model.score < value + 1e-9


@pytest.mark.parametrize("kind", [sp.Ordinal, sp.Categorical])
def test_thousands_of_levels_are_taken_within_little_memory(kind: type) -> None:
    data = table(2000, 5000, parents=3, kind=kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = sp.local_scores(data, [("y", ["x0", "x1", "x2"][:k]) for k in range(4)], "pcart")
    assert all(map(math.isfinite, values)) and values[1] > values[0]  # x0 is the cause of y


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([(15, 1), (6, 3)]))
def test_scores_of_all_columns_of_the_child_sum_to_at_most_1(seed: int, shape: tuple[int, int]) -> None:
    levels, parents = shape
    rng = np.random.default_rng(seed)
    names = [f"l{i}" for i in range(levels)]
    x = {f"x{i}": [names[c] for c in rng.integers(0, levels, 5)] for i in range(parents)}
    total = 0.0
    for y in itertools.product("ab", repeat=5):
        kinds = {**dict.fromkeys(x, sp.Categorical(names)), "y": sp.Categorical(["a", "b"])}
        total += math.exp(
            sp.local_score(sp.Dataset.from_frame({**x, "y": list(y)}, kinds=kinds), "y", list(x), "pcart")
        )
    assert total <= 1 + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_bounds_change_nothing_where_levels_are_grouped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 150)
    frame = {f"x{i}": [f"l{c}" for c in (y * 7 + rng.integers(0, 8 + i, 150))] for i in range(4)}
    data = sp.Dataset.from_frame({**frame, "y": [str(v) for v in y]}, kinds=dict.fromkeys([*frame, "y"], "categorical"))
    assert sp.score_parent_sets(data, "pcart", bounds=True) == sp.score_parent_sets(data, "pcart", bounds=False)


def test_learn_says_it_once() -> None:
    result = sp.learn(table(300, 57), "pcart")
    said = [note for note in result.notes if "57 levels" in note]
    assert said == [
        "column 'x0' has 57 levels; as a parent, trees split its 13 most frequent ones and treat the others as one"
    ]


def test_a_table_that_outgrows_memory_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row has a configuration of its own, and the table a number for each of them and each level of the child."""
    rng = np.random.default_rng(1)
    frame = {f"x{i}": [f"l{c}" for c in rng.integers(0, 4000, 4000)] for i in range(3)}
    data = sp.Dataset.from_frame(frame, kinds=dict.fromkeys(frame, "categorical"))
    parents = {"x2": ["x0", "x1"]}
    table = sp.fit(data, parents, "bdeu").models["x2"]
    assert table.probabilities.size > 2**22 and np.allclose(table.probabilities.sum(axis=1), 1)
    monkeypatch.setattr(tabular, "available_memory", lambda: 2.0**27)
    with pytest.raises(sp.LimitError, match=r"the table of 'x2' with parents 'x0', 'x1' needs 0\.\d GiB"):
        sp.fit(data, parents, "bdeu")


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "bds"])
def test_configurations_without_rows_are_uniform(score: str) -> None:
    data = sp.Dataset.from_frame(
        {"a": ["u", "v", "u"], "b": ["x", "y", "y"]},
        kinds={"a": sp.Categorical(["u", "v", "w"]), "b": sp.Categorical(["x", "y"])},
    )
    table = sp.fit(data, {"b": ["a"]}, score).models["b"]
    counts = np.array([[1, 1], [0, 1], [0, 0]])
    pseudo = {"bdeu": 1 / 6, "bic": 0, "k2": 1, "bds": 1 / 4}[score]
    expected = (counts + pseudo) / np.maximum((counts + pseudo).sum(axis=1, keepdims=True), 1e-9)
    expected[2] = 0.5
    assert table.probabilities == pytest.approx(expected)
