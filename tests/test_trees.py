"""PCART and FT: the best tree and the best full table over parents of any kind.

In:  small mixed tables that the slow twins can look through, and golden/pcart_shared.json.
Out: fast == slow for every mix of kinds; priors and likelihoods that sum (integrate) to one; scores that do not depend
on order, names or units; and the twins' own parts against their definitions."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from itertools import combinations, combinations_with_replacement, product
from math import comb, exp, fsum, isfinite, log, pi, tan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.leaves import PAPER, Hyper, categorical, continuous, leaf, ordinal, segmentations
from slow.trees import (
    CATEGORICAL,
    CONTINUOUS,
    ORDINAL,
    Column,
    best_tree,
    best_tree_by_enumeration,
    dataset,
    discrete,
    every_tree,
    from_golden,
    ft,
    golden_hyper,
    leaf_value,
    log_c,
    log_c_by_enumeration,
    log_gamma,
    numbers,
    pcart,
    shape_of,
    standardised,
)
from spinney.errors import SpinneyError

NEAR = {"rel": 1e-10, "abs": 1e-10}
KINDS = (CATEGORICAL, ORDINAL, CONTINUOUS)
MIXES = [mix for size in range(4) for mix in combinations_with_replacement(KINDS, size)]
OTHER = Hyper(alpha=0.3, mu0=-0.7, a=0.2, nu=2.5, lam=0.4, kappa=0.6)
SHARED = Hyper(ess=2.0)
HYPERS = st.sampled_from([PAPER, OTHER, SHARED, Hyper(alpha=2.0, mu0=1.5, a=3.0, nu=1.0, lam=5.0, kappa=1.0)])

Table = tuple[Column, list[Column]]  # a child and its parents


# How a table is asked about


def named(table: Table) -> dict[str, Column]:
    child, parents = table
    return {"child": child, **{f"p{u}": parent for u, parent in enumerate(parents)}}


def fast(table: Table, score, standardise: bool = False, prior: str = "uniform") -> float:
    data = dataset(named(table), standardise=standardise)
    return sp.local_score(data, "child", [f"p{u}" for u in range(len(table[1]))], score=score, prior=prior)


def pcart_score(table: Table, hyper: Hyper = PAPER, structure_prior: bool = True) -> sp.catalog.Choice:
    """The choice that a table was drawn for: all its continuous parents have the same s."""
    (s,) = {parent.s for parent in table[1] if parent.kind == CONTINUOUS} or {5}
    return sp.PCART(**asdict(hyper), max_splits=s, structure_prior=structure_prior)


def assert_twins_agree(table: Table, hyper: Hyper = PAPER, near=NEAR) -> None:
    child, parents = table
    assert fast(table, pcart_score(table, hyper)) == pytest.approx(pcart(child, parents, hyper), **near)
    bare = fast(table, pcart_score(table, hyper, structure_prior=False))
    assert bare == pytest.approx(pcart(child, parents, hyper, structure_prior=False), **near)
    assert fast(table, sp.FT(**asdict(hyper))) == pytest.approx(ft(child, parents, hyper), **near)


# How tables are drawn


@st.composite
def columns(draw, kind: str, n_rows: int, s: int = 3, top_size: int = 4) -> Column:
    """Unseen and single levels, ties, midpoints, ends of the range, constant columns: all come up."""
    if kind != CONTINUOUS:
        levels = draw(st.integers(1, top_size))
        return discrete(kind, draw(st.lists(st.integers(0, levels - 1), min_size=n_rows, max_size=n_rows)), levels)
    steps = draw(st.sampled_from([2, 8, 10, 1000]))  # eighths lie on midpoints, tenths beside them
    scale, shift = draw(st.sampled_from([(1.0, 0.0), (0.6, 0.1), (1e3, -7e4), (1e-3, 0.5)]))
    places = draw(st.lists(st.integers(0, steps), min_size=n_rows, max_size=n_rows))
    values = [shift + scale * place / steps for place in places]
    whole = draw(st.booleans())
    lo, hi = (min(shift, *values), max(shift + scale, *values)) if whole else (None, None)
    return numbers(values, lo, hi, s)


@st.composite
def children(draw, kind: str, n_rows: int) -> Column:
    if kind != CONTINUOUS:
        return draw(columns(kind, n_rows, top_size=5))
    values = st.integers(-6, 6).map(lambda number: number / 2) | st.floats(-50, 50, allow_subnormal=False)
    return numbers(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))


@st.composite
def tables(draw, kind: str | None = None, mix: tuple[str, ...] | None = None, rows=(1, 12), size: int = 3) -> Table:
    kind = draw(st.sampled_from(KINDS)) if kind is None else kind
    mix = draw(st.sampled_from([mix for mix in MIXES if len(mix) <= size])) if mix is None else mix
    n_rows, s = draw(st.integers(*rows)), draw(st.integers(1, 3))
    return draw(children(kind, n_rows)), [draw(columns(of_parent, n_rows, s)) for of_parent in mix]


def dependent_table(kind: str, mix: tuple[str, ...], n_rows: int, seed: int, s: int = 3) -> Table:
    """The child follows a rule of its parents' halves, with noise: trees of several leaves win."""
    rng = random.Random(seed)
    parents = []
    for of_parent in mix:
        if of_parent == CONTINUOUS:
            parents.append(numbers([rng.random() ** 2 for _ in range(n_rows)], 0.0, 1.0, s))
        else:
            parents.append(discrete(of_parent, [rng.randrange(4) for _ in range(n_rows)], 4))
    halves = [[value > (0.25 if p.kind == CONTINUOUS else 1) for value in p.values] for p in parents]
    rule = {key: rng.randrange(3) for key in product([False, True], repeat=len(mix))}
    signal = [rule[tuple(half[row] for half in halves)] for row in range(n_rows)]
    if kind == CONTINUOUS:
        return numbers([rng.gauss(3.0 * level, 0.5) for level in signal]), parents
    return discrete(kind, [level if rng.random() < 0.9 else rng.randrange(3) for level in signal], 3), parents


# The optimiser against all trees


@pytest.mark.parametrize("mix", MIXES, ids="+".join)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5)
@given(draw=st.data())
def test_equals_slow_twin(kind, mix, draw):
    assert_twins_agree(draw.draw(tables(kind, mix)), draw.draw(HYPERS))


@pytest.mark.parametrize("mix", [mix for mix in MIXES if mix], ids="+".join)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_slow_twin_where_trees_are_worth_it(kind, mix):
    table = dependent_table(kind, mix, n_rows=80, seed=len(mix))
    assert best_tree(*table)[1] > 1
    assert_twins_agree(table)


@pytest.mark.parametrize("kind", KINDS)
def test_a_skewed_parent_is_halved_past_empty_halves(kind):
    """One far value; the rest differ only in the fourth halving, and each halving before it leaves a half empty."""
    parent = numbers([0.03] * 30 + [0.09] * 30 + [1.0], 0.0, 1.0)
    values = [0] * 30 + [2] * 30 + [0]
    child = numbers([3.0 * value for value in values]) if kind == CONTINUOUS else discrete(kind, values, 3)
    assert best_tree(child, [parent])[1] == 5
    assert_twins_agree((child, [parent]))


@pytest.mark.parametrize("rows", [2, 3, 5, 9, 40])
@pytest.mark.parametrize("kind", [CATEGORICAL, CONTINUOUS])
def test_few_rows_on_either_side_of_where_a_split_begins_to_pay(kind, rows):
    """The core tries no split where none can gain: from no gap at all to one that pays, the twin sees no difference."""
    rng = random.Random(rows)
    parents = [numbers([rng.random() for _ in range(rows)], 0.0, 1.0, 3) for _ in range(3)]
    right = [value >= 0.5 for value in parents[rng.randrange(3)].values]
    leaves = set()
    for step in range(9):
        if kind == CONTINUOUS:
            child = numbers([rng.gauss(step * 1.5 * side, 0.3) for side in right])
        else:
            child = discrete(kind, [int(side) if rng.random() < step / 8 else rng.randrange(3) for side in right], 3)
        assert_twins_agree((child, parents))
        leaves.add(best_tree(child, parents)[1])
    assert 1 in leaves
    assert len(leaves) > 1 or rows < 40


@pytest.mark.parametrize("s", [1, 2, 5, 7])
def test_at_most_s_halvings_along_a_path(s):
    """Neighbouring cells of the finest level alternate, so that every halving that is allowed is needed."""
    places = [(place, row) for place in range(2**s) for row in range(40 if s < 5 else 12)]
    parent = numbers([(place + 0.5) / 2**s for place, _ in places], 0.0, 1.0, s)
    table = discrete(CATEGORICAL, [place % 2 for place, _ in places], 2), [parent]
    assert best_tree(*table)[1] == 2**s
    assert_twins_agree(table)
    if s > 1:
        assert fast(table, sp.PCART(max_splits=s - 1)) < fast(table, sp.PCART(max_splits=s))


def test_five_halvings_by_default():
    table = dependent_table(CATEGORICAL, (CONTINUOUS, CONTINUOUS), n_rows=60, seed=3, s=5)
    assert fast(table, "pcart") == pytest.approx(pcart(*table), **NEAR)


@pytest.mark.parametrize("kind", [CATEGORICAL, ORDINAL])
@pytest.mark.parametrize("levels", [6, 8])
def test_many_levels(kind, levels):
    rng = random.Random(levels)
    codes = [rng.randrange(levels) for _ in range(150)]
    good = set(rng.sample(range(levels), 3))
    child = discrete(CATEGORICAL, [int((code in good) != (rng.random() < 0.1)) for code in codes], 2)
    other = discrete(CATEGORICAL, [rng.randrange(2) for _ in codes], 2)
    assert_twins_agree((child, [discrete(kind, codes, levels), other]))


def test_many_levels_most_of_them_unseen():
    child = discrete(ORDINAL, [0, 3, 3, 0, 4, 4, 3, 0], 12)
    parent = discrete(CATEGORICAL, [1, 6, 6, 1, 4, 6, 4, 1], 8)
    assert_twins_agree((child, [parent, discrete(ORDINAL, [0, 6, 6, 0, 5, 5, 6, 0], 7)]))


@pytest.mark.parametrize("kind", KINDS)
def test_one_row(kind):
    child = numbers([1.7]) if kind == CONTINUOUS else discrete(kind, [1], 3)
    for parents in ([], [numbers([0.2])], [discrete(CATEGORICAL, [0], 3)], [discrete(ORDINAL, [2], 3)]):
        assert_twins_agree((child, parents))
        assert best_tree(child, parents)[1] == 1
    assert_twins_agree((child, [numbers([0.2], 0.0, 1.0), discrete(CATEGORICAL, [0], 3), discrete(ORDINAL, [2], 3)]))


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns(kind):
    """A constant parent costs its prior and gives nothing."""
    rng = random.Random(4)
    same = [2.5] * 20
    other = discrete(CATEGORICAL, [rng.randrange(2) for _ in same], 2)
    constants = [
        numbers(same),
        numbers(same, 0.0, 5.0),
        discrete(CATEGORICAL, [1] * 20, 3),
        discrete(ORDINAL, [0] * 20, 1),
    ]
    child = numbers([rng.gauss(0, 1) for _ in same]) if kind == CONTINUOUS else discrete(kind, list(other.values), 3)
    for constant in constants:
        assert_twins_agree((child, [constant]))
        assert_twins_agree((child, [other, constant]))
        bare = pcart_score((child, [other]), structure_prior=False)
        assert fast((child, [other, constant]), bare) == pytest.approx(fast((child, [other]), bare), **NEAR)
    still = numbers(same) if kind == CONTINUOUS else discrete(kind, [1] * 20, 3)
    assert_twins_agree((still, [other]))


def test_parents_of_one_level_are_no_parents_to_a_tree():
    """Nothing can be split: the single leaf, prior 1."""
    child = discrete(CATEGORICAL, [0, 1, 1, 0, 1], 2)
    ones = [discrete(CATEGORICAL, [0] * 5, 1), discrete(ORDINAL, [0] * 5, 1)]
    assert fast((child, ones), "pcart") == pytest.approx(fast((child, []), "pcart"), **NEAR)


def test_a_midpoint_goes_right_and_the_upper_end_belongs_to_the_last_cell():
    """By hand: gamma = 1/4, one split, two pure leaves; c(P) of one halving is 1/(1/4 + 1/16)."""
    expected = 2 * log(1 / 4) - log(1 / 4 + 1 / 16) + 2 * categorical([0] * 20, 2)
    for left, right, lo, hi in [
        (0.4999, 0.5, 0.0, 1.0),
        (0.0, 0.5, 0.0, 1.0),
        (0.3, 1.0, 0.0, 1.0),
        (-3.0, -1.0, -3.0, 1.0),
    ]:
        parent = numbers([left, right] * 20, lo, hi, 1)
        table = discrete(CATEGORICAL, [0, 1] * 20, 2), [parent]
        assert fast(table, sp.PCART(max_splits=1)) == pytest.approx(expected, **NEAR), (left, right)
    table = discrete(CATEGORICAL, [0, 1] * 20, 2), [numbers([0.5, 1.0] * 20, 0.0, 1.0, 1)]
    alone = log(1 / 4) - log(1 / 4 + 1 / 16) + categorical([0, 1] * 20, 2)
    assert fast(table, sp.PCART(max_splits=1)) == pytest.approx(alone, **NEAR)


@pytest.mark.parametrize("max_bins", [2, 3, 7, 12])
@settings(max_examples=15)
@given(table=tables(rows=(1, 15), size=2), hyper=HYPERS)
def test_ft_equals_slow_twin_for_any_number_of_bins(max_bins, table, hyper):
    asked = sp.FT(**asdict(hyper), max_bins=max_bins)
    assert fast(table, asked) == pytest.approx(ft(*table, hyper, max_bins), **NEAR)


@pytest.mark.parametrize("kind", KINDS)
def test_ft_where_many_bins_are_worth_it(kind):
    table = dependent_table(kind, (CONTINUOUS, ORDINAL, CATEGORICAL), n_rows=120, seed=11)
    assert fast(table, "ft") == pytest.approx(ft(*table), **NEAR)


# Leaves


@pytest.mark.parametrize("score", ["pcart", "ft"])
@pytest.mark.parametrize("hyper", [PAPER, OTHER], ids=["paper", "other"])
def test_a_lone_leaf_on_many_rows(score, hyper):
    rng = random.Random(6)
    words = ",".join(f"{name}={value}" for name, value in asdict(hyper).items())
    for child in (
        discrete(CATEGORICAL, [rng.randrange(3) for _ in range(20_000)], 4),
        discrete(ORDINAL, [rng.choice([0, 1, 1, 5, 6, 6, 6, 10]) for _ in range(20_000)], 11),
        numbers([rng.gauss(2, 3) for _ in range(20_000)]),
        numbers([rng.gauss(0, 1) / rng.gauss(0, 1) for _ in range(3_000)]),  # heavy tails
    ):
        expected = leaf(child.kind, child.values, child.levels, hyper)
        assert fast((child, []), f"{score}({words})") == pytest.approx(expected, rel=1e-9)


def test_large_numbers_keep_their_digits():
    """S is a sum of squared differences from the mean; n, sum and sum of squares alone would lose it here."""
    rng = random.Random(7)
    group = [rng.randrange(2) for _ in range(60)]
    child = numbers([1e7 + 4 * half + round(rng.gauss(0, 1) * 64) / 64 for half in group])
    table = child, [discrete(CATEGORICAL, group, 2)]
    assert best_tree(*table, Hyper(mu0=1e7))[1] == 2
    assert_twins_agree(table, Hyper(mu0=1e7), near={"rel": 1e-8})


@pytest.mark.parametrize("score", ["pcart", "ft", "pcart(alpha=0.3,kappa=0.6)", "ft(alpha=2,kappa=1.5)"])
@pytest.mark.parametrize(
    ("kind", "levels", "rows"), [(CATEGORICAL, 3, 4), (ORDINAL, 3, 4), (ORDINAL, 4, 3), (ORDINAL, 5, 2)]
)
def test_a_leaf_sums_to_one_over_all_child_columns(score, kind, levels, rows):
    every = product(range(levels), repeat=rows)
    total = fsum(exp(fast((discrete(kind, column, levels), []), score)) for column in every)
    assert total == pytest.approx(1.0, abs=1e-10)


def integral(log_density, centre: float, width: float, points: int = 120) -> float:
    """Over the real line, y = centre + width tan(u), by Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    angles = nodes * pi / 2
    return fsum(
        weight * pi / 2 * width / np.cos(u) ** 2 * exp(log_density(centre + width * tan(u)))
        for u, weight in zip(angles, weights, strict=True)
    )


@pytest.mark.parametrize("score", ["pcart", "ft", "pcart(mu0=-0.7,a=0.2,nu=3,lam=0.4)"])
@pytest.mark.parametrize("before", [[], [0.4], [0.4, -1.3], [2.0, 2.0, 2.0, 2.5, -7.0]])
def test_a_continuous_leaf_integrates_to_what_it_was_before_the_last_row(score, before):
    """For no row before: to one."""
    centre = sum(before) / (len(before) + 1)
    total = integral(lambda value: fast((numbers([*before, value]), []), score), centre, 1.5)
    assert total == pytest.approx(exp(fast((numbers(before), []), score)) if before else 1.0, rel=1e-6)


@pytest.mark.parametrize("kind", [CATEGORICAL, ORDINAL])
@pytest.mark.parametrize("mix", [(CATEGORICAL,), (CATEGORICAL, CATEGORICAL), (CONTINUOUS,), (ORDINAL, CONTINUOUS)])
def test_a_full_table_with_one_choice_of_bins_sums_to_one(kind, mix):
    """max_bins=2 leaves a single choice, and the maximum over it is a probability."""
    _, parents = dependent_table(kind, mix, n_rows=5, seed=8)
    every = product(range(3), repeat=5)
    total = fsum(exp(fast((discrete(kind, column, 3), parents), sp.FT(max_bins=2))) for column in every)
    assert total == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("score", ["pcart", "ft"])
@pytest.mark.parametrize("mix", [(CATEGORICAL,), (ORDINAL, CONTINUOUS), (CONTINUOUS, CATEGORICAL)])
def test_the_best_structure_alone_never_sums_to_more_than_one(score, mix):
    """Summed over columns and structures, prior times likelihood is 1; the score keeps one structure per column."""
    _, parents = dependent_table(CATEGORICAL, mix, n_rows=6, seed=9)
    every = product(range(2), repeat=6)
    total = fsum(exp(fast((discrete(CATEGORICAL, column, 2), parents), score)) for column in every)
    assert 0 < total <= 1 + 1e-12


# The prior over trees and over parent sets


def golden_file() -> dict:
    return json.loads((Path(__file__).with_name("golden") / "pcart_shared.json").read_text())


GOLDEN = golden_file()


def shape_name(row: dict) -> str:
    return "+".join(f"{one['type']}{one.get('k', one.get('s'))}" for one in row["predictors"]) or "none"


def halvings(predictors: list[dict]) -> set[int]:
    return {predictor["s"] for predictor in predictors if predictor["type"] == "real"}


@pytest.mark.parametrize("row", GOLDEN["normalizer_cases"], ids=shape_name)
def test_normalisers_of_the_published_program(row):
    """A child of one level has likelihood 1 in every tree: its score is the prior of the single leaf."""
    parents = [from_golden(predictor, [0, 0]) for predictor in row["predictors"]]
    assert log_gamma(shape_of(parents)) == pytest.approx(row["leaf_penalty"], rel=1e-12, abs=1e-12)
    assert log_c(shape_of(parents)) == pytest.approx(row["normalizer"], rel=1e-12, abs=1e-12)
    s = halvings(row["predictors"])
    if s != {0}:
        score = sp.PCART(max_splits=max(s, default=5))
        prior = row["leaf_penalty"] + row["normalizer"]
        assert fast((discrete(CATEGORICAL, [0, 0], 1), parents), score) == pytest.approx(prior, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("score", ["pcart", "ft", "pcart(max_splits=2)"])
def test_the_sizes_prior_counts_parent_sets(score):
    table = dependent_table(CATEGORICAL, (CATEGORICAL, ORDINAL, CONTINUOUS), n_rows=20, seed=10)
    data = dataset(named(table))
    for size in range(4):
        parents = [f"p{u}" for u in range(size)]
        uniform, sizes = (sp.local_score(data, "child", parents, score=score, prior=p) for p in ("uniform", "sizes"))
        assert sizes - uniform == pytest.approx(-log(comb(3, size)), abs=1e-9)


def test_full_tables_pay_for_their_choice_of_bins():
    """A child of one level again: what is left is the prior, (M-1)^-1 for every parent that is cut."""
    _, parents = dependent_table(CATEGORICAL, (CATEGORICAL, ORDINAL, CONTINUOUS), n_rows=20, seed=10)
    one = discrete(CATEGORICAL, [0] * 20, 1)
    assert fast((one, parents), "ft") == pytest.approx(-2 * log(6), **NEAR)
    assert fast((one, parents), "ft(max_bins=4)") == pytest.approx(-2 * log(3), **NEAR)
    assert fast((one, parents[:1]), "ft") == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=40)
@given(table=tables(rows=(1, 25)))
def test_no_score_is_below_its_single_leaf(table):
    child, parents = table
    shape = shape_of(parents)
    alone = log_gamma(shape) + log_c(shape) if parents else 0.0
    assert fast(table, pcart_score(table)) >= alone + leaf_value(child, range(len(child.values)), PAPER) - 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_prior_more_parents_never_hurt_and_a_copy_changes_nothing(kind):
    child, parents = dependent_table(kind, (CATEGORICAL, CONTINUOUS, ORDINAL), n_rows=50, seed=12)
    score = pcart_score((child, parents), structure_prior=False)
    steps = [fast((child, parents[:size]), score) for size in range(4)]
    assert steps == sorted(steps)
    for parent in parents:
        assert fast((child, [parent, parent]), score) == pytest.approx(fast((child, [parent]), score), **NEAR)


# The door


@pytest.mark.parametrize(
    "score", ["pcart", "pcart(alpha=0.3,mu0=0.5,a=2,nu=3,lam=0.4,kappa=0.6,max_splits=2)", "ft(max_bins=3)"]
)
def test_a_string_and_an_object_are_the_same_choice(score):
    things = {
        "pcart": sp.PCART(alpha=0.5, mu0=0.0, a=1.0, nu=1.0, lam=1.0, kappa=0.25, max_splits=5, structure_prior=True),
        "ft(max_bins=3)": sp.FT(alpha=0.5, mu0=0.0, a=1.0, nu=1.0, lam=1.0, kappa=0.25, max_bins=3),
    }
    thing = things.get(score, sp.PCART(alpha=0.3, mu0=0.5, a=2.0, nu=3.0, lam=0.4, kappa=0.6, max_splits=2))
    for kind in KINDS:
        table = dependent_table(kind, (CATEGORICAL, CONTINUOUS), n_rows=30, seed=13)
        assert fast(table, score) == fast(table, thing)


@pytest.mark.parametrize(
    "score",
    ["pcart(alpha=0)", "pcart(alpha=-1)", "pcart(a=0)", "pcart(nu=0)", "pcart(lam=0)", "pcart(lam=nan)",
     "pcart(mu0=inf)", "pcart(kappa=-0.1)", "pcart(max_splits=-1)", "pcart(max_bins=7)",
     "ft(alpha=0)", "ft(max_bins=1)", "ft(max_splits=5)"],
)  # fmt: skip
def test_a_wrong_choice_is_one_sentence(score):
    with pytest.raises(SpinneyError) as told:
        fast((discrete(CATEGORICAL, [0, 1], 2), []), score)
    assert len(str(told.value)) > 10 and "\n" not in str(told.value)


# Order, names and units


def rows_in_order(table: Table, order: list[int]) -> Table:
    def moved(column: Column) -> Column:
        return replace(column, values=tuple(column.values[row] for row in order))

    return moved(table[0]), [moved(parent) for parent in table[1]]


def relabelled(column: Column, rng: random.Random) -> Column:
    """Categorical levels in any order, ordinal ones upside down."""
    if column.kind == CONTINUOUS:
        return column
    order = (
        list(range(column.levels))[::-1] if column.kind == ORDINAL else rng.sample(range(column.levels), column.levels)
    )
    return replace(column, values=tuple(order[int(code)] for code in column.values))


SCORES = pytest.mark.parametrize("score", ["pcart", "ft"])


@SCORES
@settings(max_examples=25)
@given(table=tables(rows=(1, 20)), seed=st.integers(0, 99))
def test_no_order_of_rows_or_columns_changes_a_score(score, table, seed):
    rng = random.Random(seed)
    expected = fast(table, score)
    n_rows = len(table[0].values)
    shuffled = rows_in_order(table, rng.sample(range(n_rows), n_rows))
    assert fast(shuffled, score) == pytest.approx(expected, **NEAR)
    assert fast((table[0], table[1][::-1]), score) == pytest.approx(expected, **NEAR)
    here, there = named(table), dict(sorted(named(table).items(), reverse=True))
    parents = [name for name in here if name != "child"]
    asked = [sp.local_score(dataset(there), "child", order, score=score) for order in (parents, parents[::-1])]
    assert asked == [expected, expected]


@settings(max_examples=40)
@given(table=tables(rows=(1, 20)), seed=st.integers(0, 99))
def test_names_of_levels_change_nothing(table, seed):
    """FT cuts an ordinal parent from below, so that only trees may be turned upside down."""
    rng = random.Random(seed)
    child, parents = table
    other = relabelled(child, rng), [relabelled(parent, rng) for parent in parents]
    assert fast(other, "pcart") == pytest.approx(fast(table, "pcart"), **NEAR)
    flat = [parent if parent.kind == ORDINAL else relabelled(parent, rng) for parent in parents]
    assert fast((relabelled(child, rng), flat), "ft") == pytest.approx(fast(table, "ft"), **NEAR)


@SCORES
@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize(("scale", "shift"), [(8.0, 0.0), (0.25, 3.0), (1.0, -1024.0), (2.0**40, 2.0**41)])
def test_units_of_continuous_parents_change_nothing(score, standardise, scale, shift):
    """Multiples of 1/64 with powers of two: the change itself is exact, and midpoints stay midpoints."""
    rng = random.Random(14)
    for kind in KINDS:
        child, parents = dependent_table(kind, (CONTINUOUS, CATEGORICAL, CONTINUOUS), n_rows=40, seed=15)
        grids = [numbers([rng.randrange(65) / 64 for _ in range(40)]) for _ in range(2)]
        moved = [numbers([scale * value + shift for value in grid.values]) for grid in grids]
        before = fast((child, [grids[0], parents[1], grids[1]]), score, standardise)
        assert fast((child, [moved[0], parents[1], moved[1]]), score, standardise) == pytest.approx(before, **NEAR)


@SCORES
@pytest.mark.parametrize(("scale", "shift"), [(1000.0, 0.0), (1e-6, 5.0), (-3.0, 1.0), (7.0, 1e7)])
def test_units_of_a_standardised_child_change_nothing(score, scale, shift):
    child, parents = dependent_table(CONTINUOUS, (CONTINUOUS, CATEGORICAL), n_rows=50, seed=16)
    moved = numbers([scale * value + shift for value in child.values])
    before = fast((child, parents), score, standardise=True)
    assert fast((moved, parents), score, standardise=True) == pytest.approx(before, rel=1e-7)


@settings(max_examples=30)
@given(table=tables(CONTINUOUS, rows=(2, 15)), hyper=HYPERS)
def test_a_child_is_standardised_to_mean_0_and_deviation_1(table, hyper):
    child, parents = table
    inside = standardised(child)
    near = {"rel": 1e-9, "abs": 1e-9}
    assert fast(table, pcart_score(table, hyper), standardise=True) == pytest.approx(
        pcart(inside, parents, hyper), **near
    )
    assert fast(table, sp.FT(**asdict(hyper)), standardise=True) == pytest.approx(ft(inside, parents, hyper), **near)


@SCORES
@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1 / 3])
@pytest.mark.parametrize("rows", [1, 3, 10])
def test_a_constant_child_is_standardised_to_0(score, value, rows):
    """The mean of three 0.1 is not 0.1 in doubles; the difference must not be blown up to a deviation of 1."""
    parents = [discrete(CATEGORICAL, [row % 2 for row in range(rows)], 2)]
    score_of_zeros = fast((numbers([0.0] * rows), parents), score)
    answer = fast((numbers([value] * rows), parents), score, standardise=True)
    assert isfinite(answer) and answer == pytest.approx(score_of_zeros, **NEAR)


# Step 1


@SCORES
@pytest.mark.parametrize("prior", ["uniform", "sizes"])
def test_every_kept_set_beats_all_its_subsets_and_no_other_is_dropped(score, prior):
    """Whatever bounds are at work: what is kept has its own local score, what is not is no better than a subset."""
    for seed, rows in ((17, 8), (18, 60), (19, 250)):
        table = dependent_table(KINDS[seed % 3], (CATEGORICAL, ORDINAL, CONTINUOUS, CATEGORICAL), rows, seed)
        data = dataset(named(table), standardise=True)
        sets = sp.score_parent_sets(data, score=score, prior=prior, max_parents=3)
        for child in data.names:
            kept = {frozenset(parents): value for parents, value in sets.of(child)}
            best: dict[frozenset[str], float] = {}
            for parents in (
                set(some) for size in range(4) for some in combinations(sorted({*data.names} - {child}), size)
            ):
                value = sp.local_score(data, child, sorted(parents), score=score, prior=prior)
                below = max((best[frozenset(parents - {one})] for one in parents), default=float("-inf"))
                best[frozenset(parents)] = max(value, below)
                if frozenset(parents) in kept:
                    assert kept[frozenset(parents)] == pytest.approx(value, **NEAR)
                    assert value > below - 1e-9 * max(1.0, abs(value))
                else:
                    assert value <= below + 1e-9 * max(1.0, abs(value)), (child, parents)


# Numbers from outside


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_golden_scores(case):
    child = from_golden(case["response"], case["columns"][-1])
    parents = [from_golden(*pair) for pair in zip(case["predictors"], case["columns"], strict=False)]
    hyper, structure = golden_hyper(case["response"]), case["use_structure_score"]
    expected, best = case["expected"], case["expected"]["coherent"]
    value, leaves = best_tree(child, parents, hyper, structure)
    assert log_gamma(shape_of(parents)) == pytest.approx(expected["leaf_penalty"], rel=1e-12, abs=1e-12)
    assert log_c(shape_of(parents)) == pytest.approx(expected["normalizer"], rel=1e-12, abs=1e-12)
    assert value + expected["normalizer_used"] == pytest.approx(best["total"], rel=1e-11, abs=1e-11)
    assert best["n_leaves_min"] <= leaves <= best["n_leaves_max"]
    if case["n"] == 0:  # a Dataset has rows
        return
    if len(halvings(case["predictors"])) <= 1:  # the others are the twins' alone: s is one number for all parents
        asked = pcart_score((child, parents), hyper, structure)
        assert fast((child, parents), asked) == pytest.approx(best["total"], rel=1e-9)
    table_total = best["ft"]["total"] + expected["ft_log_prior_bins"]
    assert ft(child, parents, hyper, case["ft_max_bins"]) == pytest.approx(table_total, rel=1e-11)
    asked = sp.FT(**asdict(hyper), max_bins=case["ft_max_bins"])
    assert fast((child, parents), asked) == pytest.approx(table_total, rel=1e-9)


# The twins' own parts

SIX = [0.1, 0.2, 0.6, 0.9, 0.5, 0.0]
TINY = [
    (discrete(CATEGORICAL, [0, 1, 2, 2, 0, 1], 3),),
    (discrete(CATEGORICAL, [0, 1, 3, 2, 0, 1], 4),),
    (discrete(ORDINAL, [0, 1, 3, 2, 0, 1], 4),),
    (numbers(SIX, 0.0, 1.0, 3),),
    (numbers(SIX, 0.0, 1.0, 1), discrete(CATEGORICAL, [0, 1, 2, 2, 0, 1], 3)),
    (discrete(CATEGORICAL, [0, 1, 1, 1, 0, 1], 2), discrete(ORDINAL, [0, 1, 2, 2, 0, 1], 3)),
    (numbers(SIX, 0.0, 1.0, 1), numbers([3, 4, 5, 6, 7, 8], s=1), discrete(ORDINAL, [0, 1, 1, 1, 0, 1], 2)),
]


@pytest.mark.parametrize("parents", TINY)
def test_the_twins_normaliser_is_the_sum_over_every_tree(parents):
    assert log_c(shape_of(parents)) == pytest.approx(log_c_by_enumeration(parents), abs=1e-12)
    gamma = exp(log_gamma(shape_of(parents)))
    total = fsum(exp(log_c(shape_of(parents))) * gamma ** len(tree) for tree in every_tree(parents))
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("parents", TINY)
@pytest.mark.parametrize("structure_prior", [True, False])
@pytest.mark.parametrize("hyper", [PAPER, SHARED], ids=["paper", "shared"])
def test_the_twins_best_tree_is_the_best_of_every_tree(parents, structure_prior, hyper):
    for child in (
        discrete(CATEGORICAL, [0, 1, 1, 1, 0, 1], 2),
        discrete(ORDINAL, [0, 2, 2, 3, 0, 1], 4),
        numbers([0.0, 5.0, 5.1, 4.9, 0.2, 0.1]),
    ):
        remembered = best_tree(child, parents, hyper, structure_prior)
        assert remembered == pytest.approx(best_tree_by_enumeration(child, parents, hyper, structure_prior), abs=1e-12)


def test_how_many_trees_there_are():
    """Binary trees over labelled leaves: (2k-3)!! if every level is alone, and fewer leaves by set partitions."""
    assert len(list(every_tree([discrete(CATEGORICAL, [0], 2)]))) == 2
    assert len(list(every_tree([discrete(CATEGORICAL, [0], 3)]))) == 1 + 3 + 3
    assert len(list(every_tree([discrete(ORDINAL, [0], 3)]))) == 1 + 2 + 2
    assert len(list(every_tree([numbers([0.0, 1.0], s=2)]))) == 1 + (1 + 1) ** 2
    assert len(list(segmentations(5))) == len(set(segmentations(5))) == 16


@pytest.mark.parametrize("hyper", [PAPER, OTHER], ids=["paper", "other"])
def test_the_twins_leaves_are_probabilities(hyper):
    for levels, rows in ((2, 5), (3, 4), (4, 3)):
        every = list(product(range(levels), repeat=rows))
        assert fsum(exp(categorical(column, levels, hyper)) for column in every) == pytest.approx(1.0, abs=1e-12)
        assert fsum(exp(ordinal(column, levels, hyper)) for column in every) == pytest.approx(1.0, abs=1e-12)
    for before in ([], [0.3], [0.3, -2.0]):
        total = integral(lambda value, before=before: continuous([*before, value], hyper), 0.0, 1.5, points=400)
        assert total == pytest.approx(exp(continuous(before, hyper)), rel=1e-5)


def test_the_twins_continuous_leaf_is_exchangeable():
    values = [0.3, -2.0, 5.5, 0.3, 17.0]
    for hyper in (PAPER, OTHER):
        assert continuous(values[::-1], hyper) == pytest.approx(continuous(values, hyper), rel=1e-12)
