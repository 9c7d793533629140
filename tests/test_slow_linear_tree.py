"""The slow twins of linear leaves, and of trees that have them, against laws and each other.

In:  families drawn here.
Out: agreement of three ways to compute a leaf, and of the tree recursion with all trees."""

from __future__ import annotations

import random
from math import exp, inf, isfinite

import pytest
from scipy.integrate import quad

from slow.gaussian import Column
from slow.leaves import Hyper, continuous
from slow.linear_tree import (
    best_linear_tree,
    best_linear_tree_by_enumeration,
    linear_leaf,
    linear_leaf_as_student,
    linear_leaf_row_by_row,
    linear_pcart,
    predictive,
)
from slow.trees import discrete, numbers, pcart


def near(expected: float, rel: float = 1e-9) -> object:
    return pytest.approx(expected, rel=rel, abs=rel)


# Tables


WIDE = Hyper(mu0=0.4, a=0.7, nu=2.5, lam=1.8)


@pytest.mark.parametrize("hyper", [Hyper(), WIDE])
@pytest.mark.parametrize("n_rows", [1, 2, 5, 9])
def test_three_ways_to_a_linear_leaf(hyper, n_rows):
    rng = random.Random(25)
    x = [[1.0, rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(n_rows)]
    y = [rng.gauss(row[1], 0.5) for row in x]
    found = linear_leaf(y, x, hyper, tau=0.3)
    assert found == near(linear_leaf_as_student(y, x, hyper, tau=0.3))
    assert found == near(linear_leaf_row_by_row(y, x, hyper, tau=0.3))
    without = [row[:1] for row in x]
    assert linear_leaf(y, without, hyper) == near(continuous(y, hyper))
    assert linear_leaf(y, [[1.0, 0.0] for _ in y], hyper) == near(continuous(y, hyper))


def test_linear_leaves_integrate_to_one():
    x = [[1.0, 0.5], [1.0, -1.2]]
    one, _ = quad(lambda y: exp(linear_leaf([y], x[:1])), -inf, inf)
    assert one == near(1.0, 1e-7)
    # One value given: the integral over the second is the density of the first, and its shape the predictive one.
    rest, _ = quad(lambda y: exp(linear_leaf([0.7, y], x)), -inf, inf)
    assert rest == near(exp(linear_leaf([0.7], x[:1])), 1e-7)
    location, squared_scale, freedom = predictive([0.7], x[:1], x[1])
    assert freedom == 2 and squared_scale > 0 and isfinite(location)


def test_offsets_do_not_cost_digits():
    """Fractions: y and x around 1e6 give what the same numbers give when the intercept is all but free."""
    rng = random.Random(26)
    x = [[1.0, 1e6 + rng.randrange(64) / 64] for _ in range(8)]
    y = [1e6 + row[1] - 1e6 + rng.randrange(64) / 256 for row in x]
    flat = Hyper(a=1e-12, mu0=1e6)
    assert linear_leaf(y, x, flat, tau=1e-12) == near(linear_leaf_row_by_row(y, x, flat, tau=1e-12), 1e-9)


def small_family(seed: int, n_rows: int = 12) -> tuple[Column, list[Column]]:
    rng = random.Random(seed)
    x = [rng.uniform(-2, 2) for _ in range(n_rows)]
    a = [rng.randrange(3) for _ in range(n_rows)]
    y = [abs(value) + (code == 1) + rng.gauss(0, 0.1) for value, code in zip(x, a, strict=True)]
    return numbers(y), [numbers(x, s=2), discrete("categorical", a, 3)]


@pytest.mark.parametrize("seed", range(3))
def test_best_linear_tree_is_the_best_of_all(seed):
    child, parents = small_family(seed)
    small = [numbers(parents[0].values, s=1), parents[1]]
    found, expected = best_linear_tree(child, small), best_linear_tree_by_enumeration(child, small)
    assert found[0] == near(expected[0]) and found[1] == expected[1]


def test_linear_trees_without_continuous_parents_are_pcart():
    child, parents = small_family(4, 16)
    assert linear_pcart(child, parents[1:]) == near(pcart(child, parents[1:]))
    assert linear_pcart(child, []) == near(pcart(child, []))


def test_linear_trees_bend_where_the_data_bend():
    """|x|: two linear leaves, or a finer tree of constants that scores less."""
    child, parents = small_family(5, 40)
    _, leaves = best_linear_tree(child, parents)
    assert leaves >= 2
    assert linear_pcart(child, parents) > pcart(child, parents)
    assert linear_pcart(child, parents, structure_prior=False) == near(
        best_linear_tree(child, parents, structure_prior=False)[0]
    )
