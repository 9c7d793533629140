"""Bounds for trees: what Step 1 leaves unscored would have been dropped.

In:  small tables of every mix of kinds, with and without signal, in which every column is a child once.
Out: the same kept sets, scores and optimum with and without bounds; that bounds are at work; and the two lemmas of the
proof in docs/how-it-works.md, by enumeration."""

from __future__ import annotations

import random
from itertools import combinations, combinations_with_replacement, product
from math import fsum, inf, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.leaves import Hyper, categorical, ordinal
from slow.trees import CATEGORICAL, CONTINUOUS, ORDINAL, Column, dataset, discrete, log_c, log_gamma, numbers
from slow.trees import pcart as slow_pcart

KINDS = (CATEGORICAL, ORDINAL, CONTINUOUS)
MIXES = list(combinations_with_replacement(KINDS, 4))
CHOICES = [
    sp.PCART(max_splits=2),
    sp.PCART(max_splits=3, alpha=2.0, kappa=1.5),
    sp.PCART(max_splits=1, alpha=0.2),  # no lemma on what leaves pay: the price of leaves alone
    sp.PCART(max_splits=2, structure_prior=False),  # a tree over a subset ties
]
PRIORS = ["uniform", "sizes", "binomial(r=0.3)", "binomial(r=2.5)"]  # the last one rewards size


def table(mix: tuple[str, ...], n_rows: int, seed: int, noise: float) -> dict[str, Column]:
    """Each column follows a rule of the halves of up to two columns before it; unseen and single levels come up."""
    rng = random.Random(seed)
    made: dict[str, Column] = {}
    halves: list[list[int]] = []
    for place, kind in enumerate(mix):
        before = rng.sample(halves, min(len(halves), rng.randint(0, 2)))
        signal = [sum(half[row] for half in before) % 2 for row in range(n_rows)]
        signal = [rng.randrange(2) if rng.random() < noise or not before else bit for bit in signal]
        halves.append(signal)
        name = f"x{place}"
        if kind == CONTINUOUS:
            made[name] = numbers([bit + rng.choice([0.0, 0.5, rng.random()]) for bit in signal], 0.0, 2.0)
        else:
            levels = rng.choice([1, 2, 2, 3, 4])
            codes = [min(levels - 1, bit * (levels // 2) + rng.randrange(1 + levels // 3)) for bit in signal]
            made[name] = discrete(kind, codes, levels)
    return made


def kept(sets: sp.ParentSets) -> dict[str, dict[frozenset[str], float]]:
    return {child: {frozenset(parents): value for parents, value in sets.of(child)} for child in sets.names}


def both(data: Any, **asked: Any) -> tuple[sp.ParentSets, sp.ParentSets]:
    """With bounds, and without: the law."""
    bounded, plain = (sp.score_parent_sets(data, bounds=bounds, n_jobs=1, **asked) for bounds in (True, False))
    assert kept(bounded) == kept(plain)
    assert bounded.scored <= plain.scored
    return bounded, plain


@pytest.mark.parametrize("mix", MIXES, ids="+".join)
@settings(max_examples=12)
@given(
    rows=st.sampled_from([1, 2, 4, 9, 25, 70]),
    seed=st.integers(0, 10**6),
    noise=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    score=st.sampled_from(CHOICES),
    prior=st.sampled_from(PRIORS),
)
def test_bounds_drop_nothing_more_than_pruning(mix, rows, seed, noise, score, prior):
    order = random.Random(seed).sample(mix, len(mix))
    both(dataset(table(tuple(order), rows, seed, noise), standardise=True), score=score, prior=prior, max_parents=3)


@settings(max_examples=400)
@given(
    rows=st.integers(1, 12) | st.integers(1, 200),
    seed=st.integers(0, 10**6),
    noise=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    score=st.sampled_from(CHOICES),
    prior=st.sampled_from(PRIORS),
)
def test_bounds_drop_nothing_more_than_pruning_among_discrete_columns(rows, seed, noise, score, prior):
    """Where the bounds bite most, with more parents."""
    rng = random.Random(seed)
    mix = tuple(rng.choice([CATEGORICAL, CATEGORICAL, ORDINAL]) for _ in range(6))
    both(dataset(table(mix, rows, seed, noise)), score=score, prior=prior, max_parents=4)


@settings(max_examples=300)
@given(
    rows=st.integers(1, 12) | st.integers(1, 120),
    seed=st.integers(0, 10**6),
    score=st.sampled_from(CHOICES),
    prior=st.sampled_from(PRIORS),
)
def test_bounds_honour_required_edges(rows, seed, score, prior):
    """A subset stands in for a set only if it has the required parents too."""
    rng = random.Random(seed)
    mix = tuple(rng.choice([CATEGORICAL, CATEGORICAL, ORDINAL, CONTINUOUS]) for _ in range(5))
    data = dataset(table(mix, rows, seed, rng.choice([0.0, 0.2, 1.0])), standardise=True)
    child, *parents = rng.sample(sorted(data.names), rng.choice([2, 3]))
    rules = sp.Constraints(required=[(parent, child) for parent in parents])
    both(data, score=score, prior=prior, max_parents=4, constraints=rules)


@pytest.mark.parametrize("prior", ["uniform", "sizes"])
def test_the_same_optimum(prior):
    for seed in range(6):
        mix = (CATEGORICAL, ORDINAL, CATEGORICAL, CONTINUOUS, CATEGORICAL)
        data = dataset(table(mix, 60, seed, noise=0.2), standardise=True)
        bounded, plain = both(data, score="pcart(max_splits=2)", prior=prior, max_parents=3)
        every = sp.score_parent_sets(data, score="pcart(max_splits=2)", prior=prior, max_parents=3, prune=False)
        found = [sp.search(sets, method="dp") for sets in (bounded, plain, every)]
        assert found[0].parents == found[1].parents == found[2].parents
        assert found[0].score == found[1].score == found[2].score


@pytest.mark.parametrize("kind", [CATEGORICAL, ORDINAL])
def test_bounds_are_at_work(kind):
    """Columns that have nothing to do with each other: most sets need no scoring."""
    bounded, plain = both(dataset(table((kind,) * 7, 400, 3, noise=1.0)), score="pcart", max_parents=3)
    assert plain.scored == plain.families == bounded.families
    assert bounded.scored < 0.7 * plain.scored


def test_without_pruning_all_sets_are_scored():
    data = dataset(table((CATEGORICAL,) * 5, 100, 3, noise=1.0))
    sets = sp.score_parent_sets(data, score="pcart", max_parents=3, prune=False)
    assert sets.scored == sets.families == sum(len(sets.of(child)) for child in data.names)


def test_one_thread_or_two_leave_out_the_same_sets():
    data = dataset(table((CATEGORICAL, ORDINAL, CATEGORICAL, CATEGORICAL, ORDINAL, CATEGORICAL), 150, 5, noise=0.3))
    one, two = (sp.score_parent_sets(data, score="pcart", max_parents=4, n_jobs=jobs) for jobs in (1, 2))
    assert kept(one) == kept(two)
    assert one.scored == two.scored < one.families


# The lemmas


def likelihood(counts: tuple[int, ...]) -> float:
    """The largest that a leaf with these counts can have."""
    total = sum(counts)
    return fsum(count * log(count / total) for count in counts if count)


def values(counts: tuple[int, ...]) -> list[int]:
    return [level for level, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize("alpha", [0.5, 0.7, 3.0])
@pytest.mark.parametrize("levels", [2, 3, 4])
def test_even_counts_pay_least(levels, alpha):
    """How far the marginal likelihood stays below the maximum: least where the counts differ by one at the most."""
    hyper = Hyper(alpha=alpha)
    for rows in range(1, 13):
        pay = {
            counts: likelihood(counts) - categorical(values(counts), levels, hyper)
            for counts in product(range(rows + 1), repeat=levels)
            if sum(counts) == rows
        }
        even = min(value for counts, value in pay.items() if max(counts) - min(counts) <= 1)
        assert even <= min(pay.values()) + 1e-12


@pytest.mark.parametrize("hyper", [Hyper(), Hyper(alpha=0.2, kappa=3.0)], ids=["paper", "other"])
def test_no_discrete_leaf_is_above_its_maximum_likelihood(hyper):
    for counts in product(range(5), repeat=4):
        if any(counts):
            for leaf in (categorical, ordinal):
                assert leaf(values(counts), 4, hyper) <= likelihood(counts) + 1e-12


@settings(max_examples=60)
@given(rows=st.integers(2, 60), seed=st.integers(0, 10**6), noise=st.sampled_from([0.0, 0.2, 1.0]))
def test_a_set_that_beats_its_subsets_has_a_row_in_more_leaves_than_parents(rows, seed, noise):
    """So it scores at most as much as the finest cells less the price of those leaves."""
    rng = random.Random(seed)
    mix = tuple(rng.choice([CATEGORICAL, ORDINAL, CONTINUOUS]) for _ in range(3))
    columns = {**table(mix, rows, seed, noise), "y": table((CATEGORICAL,) * 2, rows, seed, 0.3)["x1"]}
    child = columns.pop("y")
    parents = [Column(**{**vars(column), "s": 2}) for column in columns.values()]
    best = {
        some: slow_pcart(child, list(some)) for size in range(len(parents) + 1) for some in combinations(parents, size)
    }
    for some, value in best.items():
        if value > max((best[less] for less in best if set(less) < set(some)), default=-inf) + 1e-9 and some:
            cells: dict[tuple[float, ...], list[float]] = {}
            for row in range(rows):
                key = tuple(p.cell(row) if p.kind == CONTINUOUS else p.values[row] for p in some)
                cells.setdefault(key, []).append(child.values[row])
            finest = fsum(
                likelihood(tuple(inside.count(level) for level in range(child.levels))) for inside in cells.values()
            )
            shape = tuple(column.shape() for column in some)
            assert len(cells) >= len(some) + 1
            assert value <= finest + (len(some) + 1) * log_gamma(shape) + log_c(shape) + 1e-9
