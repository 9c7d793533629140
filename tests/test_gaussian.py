"""The core's Gaussian scores against their slow twins and laws: cg, cgd, mn, dg, bf, bge.

In:  small tables with special cases, tables with many cells, the golden numbers of the paper's equations.
Out: the same numbers as the twins, the same bits however they are asked for, and the laws of each score."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import fsum, log, pi

import numpy as np
import pytest

import spinney as sp
from slow import gaussian as slow
from slow.case import dependent_case
from slow.gaussian import Local, Table
from slow.graphs import all_dags, equivalence_class
from slow.mixed_tables import Family, dataset_of, families_of, random_table, smooth_table
from slow.trees import CONTINUOUS, discrete, numbers
from spinney import _core
from spinney.scores import build_source
from spinney.scores.mixed_columns import binned_columns, mixed_columns, three_cuts

Twin = Callable[[Table, str, Sequence[str]], Local]
SCORES: dict[str, tuple[dict[str, object], Twin]] = {
    "cg": ({"score": "cg"}, slow.cg),
    "cg, paper": ({"score": "cg", "paper": True}, lambda *family: slow.cg(*family, df="paper")),
    "cg, exact": ({"score": "cg", "exact": True}, lambda *family: slow.cg(*family, exact=True)),
    "cgd": ({"score": "cgd"}, slow.cgd),
    "dg": ({"score": "dg"}, slow.dg),
    "bf(1)": ({"score": "bf", "degree": 1}, lambda *family: slow.bf(*family, degree=1)),
    "bf(4)": ({"score": "bf", "degree": 4}, lambda *family: slow.bf(*family, degree=4)),
    "bge": ({"score": "bge"}, slow.bge),
    "bge, other prior": (
        {"score": "bge", "alpha_mu": 0.3, "above": 4.5},
        lambda *family: slow.bge(*family, alpha_mu=0.3, above=4.5),
    ),
}
SET_SCORES = ["cg", "cg, paper", "dg", "bf(4)", "bge"]  # the same bits, however they are asked for


def continuous_part(table: Table) -> Table:
    return {name: column for name, column in table.items() if column.kind == CONTINUOUS}


def fitting(table: Table, score: str) -> Table:
    """The columns that the score takes."""
    return continuous_part(table) if score.startswith("bge") else table


def core_scores(table: Table, score: str, families: Sequence[Family], threads: int = 1, **more: object) -> list[float]:
    data = dataset_of(table)
    place = {name: i for i, name in enumerate(data.order)}
    asked = [(place[child], sorted(place[parent] for parent in parents)) for child, parents in families]
    spec = _core.GaussianSpec(**SCORES[score][0], **more)
    scores = _core.GaussianScores(mixed_columns(data, bins=True), spec)
    found: list[float] = _core.families(scores, asked, threads).tolist()
    return found


def terms(table: Table, score: str, child: str, parents: Sequence[str]) -> tuple[float, float]:
    data = dataset_of(table)
    place = {name: i for i, name in enumerate(data.order)}
    asked = sorted(place[parent] for parent in parents)
    spec = _core.GaussianSpec(**SCORES[score][0])
    likelihood, parameters = _core.GaussianScores(mixed_columns(data, bins=True), spec).terms(place[child], asked)
    return likelihood, parameters


def near(expected: float, rel: float = 1e-9) -> object:
    return pytest.approx(expected, rel=rel, abs=rel)


# The twins


@pytest.mark.parametrize("score", SCORES)
def test_equals_the_slow_twin_on_special_cases(score):
    for seed in range(40):
        table = fitting(random_table(seed), score)
        families = families_of(table, 3, share=0.2, seed=seed)
        if not families:
            continue
        for family, found in zip(families, core_scores(table, score, families), strict=True):
            assert found == near(SCORES[score][1](table, *family).score), (seed, family)


@pytest.mark.parametrize("score", SCORES)
def test_equals_the_slow_twin_on_a_harmless_table(score):
    table = fitting(smooth_table(1, "AbCdEfG", 120), score)
    families = families_of(table, 4, share=0.15, seed=1)
    for family, found in zip(families, core_scores(table, score, families), strict=True):
        assert found == near(SCORES[score][1](table, *family).score, 1e-11), family


@pytest.mark.parametrize("levels", [(3, 3, 3), (40, 50, 3), (300, 200, 4), (2000, 3000, 1000)])
def test_many_cells(levels):
    """Joint codes are numbered anew where they would be many, by a table or by sorting."""
    rng = random.Random(1)
    n = 300
    table = {
        name: discrete("categorical", [min(rng.randrange(r), rng.randrange(r), 40) for _ in range(n)], r)
        for name, r in zip("abc", levels, strict=True)
    }
    x = [rng.gauss(code, 1) for code in table["a"].values]
    y = [rng.gauss(value, 1) for value in x]
    table |= {"x": numbers(x), "y": numbers(y)}
    families = families_of(table, 4, share=0.5, seed=2)
    for family, found in zip(families, core_scores(table, "cg", families), strict=True):
        assert found == near(slow.cg(table, *family).score, 1e-11), family


def test_more_rows_than_a_block():
    """Sums are taken in blocks of rows; here there are several, and the last is not full."""
    rng = np.random.default_rng(3)
    n = 9001
    a, b = rng.integers(0, 3, n), rng.integers(0, 200, n)  # with b there are too many cells for blocks
    x = rng.normal(a, 1)
    y = x / 2 + rng.normal(size=n)
    table = {
        "a": discrete("categorical", a.tolist(), 3),
        "b": discrete("categorical", b.tolist(), 200),
        "x": numbers(x.tolist()),
        "y": numbers(y.tolist()),
    }
    for child, parents in (("y", ["a", "x"]), ("a", ["b", "x"]), ("y", ["x"]), ("x", ["a", "b", "y"])):
        assert core_scores(table, "cg", [(child, tuple(parents))])[0] == near(
            slow.cg(table, child, parents).score, 1e-11
        )
    assert core_scores(table, "dg", [("y", ("a", "x"))])[0] == near(slow.dg(table, "y", ["a", "x"]).score, 1e-11)


def test_mn_counts_the_table_of_bins():
    for seed in range(15):
        table = random_table(seed)
        data = dataset_of(table)
        codes, levels = binned_columns(data)
        families = families_of(table, 2, share=0.3, seed=seed)
        place = {name: i for i, name in enumerate(data.order)}
        asked = [(place[child], sorted(place[p] for p in parents)) for child, parents in families]
        spec = _core.Spec("bic", 0.0, [], 0.0, [], [])
        found = _core.families(_core.table_scores(_core.Table(codes, levels, [0.0] * len(levels)), spec), asked)
        for family, value in zip(families, found, strict=True):
            assert value == near(slow.mn(table, *family).score, 1e-11), (seed, family)


def test_three_cuts_are_those_of_the_twin():
    rng = random.Random(1)
    for n in [*range(1, 12), 200]:
        for values in ([rng.gauss(0, 1) for _ in range(n)], [float(rng.randrange(3)) for _ in range(n)], [1.0] * n):
            cuts = three_cuts(np.array(values))
            codes, levels = slow.three_bins(values)
            assert np.searchsorted(cuts, values, side="right").tolist() == codes
            assert len(cuts) + 1 == levels


# Outside numbers


def test_equations_of_the_paper(golden):
    """Andrews, Ramsey and Cooper (2018), literally; families with a singular cell have no number there."""
    andrews = json.loads((golden / "mixed-200.andrews-paper.json").read_text())
    columns = {name: [row[j] for row in andrews["rows"]] for j, name in enumerate(andrews["columns"])}
    table = {
        name: discrete("categorical", [int(code) for code in columns[name]], levels)
        if levels
        else numbers(columns[name])
        for name, levels in zip(andrews["columns"], andrews["categories"], strict=True)
    }
    compared = 0
    for family in andrews["families"]:
        likelihood, parameters = terms(table, "cg, paper", family["child"], family["parents"])
        assert parameters == family["CG_dof"]
        if family["CG_loglik"] is not None:
            assert likelihood == near(family["CG_loglik"], 1e-10)
            compared += 1
        if family.get("CGd_dof") is not None:
            assert terms(table, "cgd", family["child"], family["parents"]) == (
                near(family["CGd_loglik"], 1e-10),
                family["CGd_dof"],
            )
    assert compared > 5


# One set, one value


@pytest.mark.parametrize("score", SET_SCORES)
def test_the_same_bits_one_by_one_together_and_in_threads(score):
    """One family alone is scored by score(); families of one child that differ in one parent by extend()."""
    for seed in range(4):
        table = fitting(smooth_table(seed, "AbCdEf", 90) if seed % 2 else random_table(100 + seed), score)
        families = families_of(table, 3)
        together = core_scores(table, score, families)
        assert together == core_scores(table, score, families, threads=2)
        for place in range(0, len(families), 7):
            family = families[place]
            alone = core_scores(table, score, [family])[0]
            kinds = {table[name].kind == CONTINUOUS for name in (family[0], *family[1])}
            if True in kinds or score == "dg":
                assert alone == together[place], family
            else:  # counted as a table, whose cells come in another order
                assert alone == near(together[place], 1e-12), family


def test_near_scores_without_a_parent_are_the_scores():
    """What ges and boss rank deletes by. Copies and discrete columns have none, or right ones."""
    rng = np.random.default_rng(3)
    answered = 0
    for case in range(60):
        n = int(rng.integers(8, 200))
        values = rng.normal(size=(n, 7)) @ rng.normal(size=(7, 7))
        values[:, 6] = values[:, 5] + rng.choice([0, 1e-9, 1e-4, 0.01]) * values[:, 6]
        frame: dict[str, object] = {f"x{i}": values[:, i].tolist() for i in range(7)}
        if case % 3 == 0:
            frame["d"] = [f"l{level}" for level in rng.integers(0, 2, n)]
        data = sp.Dataset.from_frame(frame, kinds={f"x{i}": "continuous" for i in range(7)})
        own = build_source(data, "cg", "sizes")
        for _ in range(5):
            child, *parents = rng.permutation(own.names)[: int(rng.integers(2, 7))]
            family = own.family(str(child), tuple(sorted(map(str, parents))))
            found = _core.near_scores_without(own.scores, *family)
            if found is None:
                continue
            answered += 1
            assert "d" not in (child, *parents)
            less = [tuple(p for p in sorted(map(str, parents)) if p != left) for left in sorted(map(str, parents))]
            expected = own.local_scores([(str(child), one) for one in less])
            assert found == pytest.approx(list(expected), rel=1e-10, abs=1e-8), (child, parents)
    assert answered > 150


def test_rows_in_another_order():
    table = smooth_table(2, "AbCdE", 80)
    order = random.Random(1).sample(range(80), 80)
    shuffled = {
        name: discrete("categorical", [column.values[row] for row in order], column.levels)
        if column.levels
        else numbers([column.values[row] for row in order])
        for name, column in table.items()
    }
    families = families_of(table, 2)
    for score in ("cg", "cgd", "dg", "bf(4)", "cg, exact"):
        assert core_scores(shuffled, score, families) == near(core_scores(table, score, families), 1e-11)


def test_priors_are_added_once():
    table = smooth_table(3, "AbCd", 50)
    families = families_of(table, 3)
    sizes, per_parameter = [0.0, -1.5, -4.0], -0.25
    for score in ("cg", "cgd", "dg", "bf(1)", "cg, exact"):
        plain = core_scores(table, score, families)
        priced = core_scores(table, score, families, size_prior=sizes, per_parameter=per_parameter)
        for family, before, after in zip(families, plain, priced, strict=True):
            parameters = SCORES[score][1](table, *family).df
            expected = before + sizes[min(len(family[1]), 2)] + per_parameter * parameters
            assert after == near(expected, 1e-11), (score, family)


# Laws


def class_spread(table: Table, score: str) -> float:
    """The largest difference, relative to the size of the scores, between two equivalent DAGs."""
    families = families_of(table, len(table) - 1)
    local = dict(zip(families, core_scores(table, score, families), strict=True))
    totals = defaultdict(list)
    for parents in all_dags(list(table)):
        chosen = [local[child, tuple(name for name in table if name in own)] for child, own in parents.items()]
        totals[equivalence_class(parents)].append(fsum(chosen))
    assert len(totals) == 185, "there are 185 classes of DAGs on 4 nodes"
    return max((max(same) - min(same)) / max(1.0, abs(same[0])) for same in totals.values())


@pytest.mark.parametrize("score", ["cg", "cg, paper", "dg", "bf(4)"])
def test_score_equivalence_of_mixed_tables(score):
    assert class_spread(smooth_table(1, "AbCd", 60), score) < 1e-9
    for seed in range(8):
        assert class_spread(random_table(seed, "abcd"), score) < 1e-9, seed


def test_score_equivalence_of_bge():
    assert class_spread(smooth_table(1, "ABCD", 40), "bge") < 1e-9
    x = [float(i % 7) for i in range(30)]
    copies = {"a": numbers(x), "b": numbers([2 * v for v in x]), "c": numbers([3.0] * 30), "d": numbers(x[::-1])}
    assert class_spread(copies, "bge") < 1e-9


@pytest.mark.parametrize("score", ["cgd", "cg, exact"])
def test_score_equivalence_can_fail(score):
    assert class_spread(smooth_table(1, "AbCd", 60), score) > 1e-6


@pytest.mark.parametrize("score", ["cg", "cg, exact", "cgd"])
def test_discrete_tables_are_scored_by_bic(score):
    case = dependent_case({"a": 2, "b": 3, "c": 4, "d": 2}, n_rows=40, seed=1, unseen=True)
    table = {name: discrete("categorical", case.columns[name], case.sizes[name]) for name in case.names}
    families = families_of(table, 3)
    for (child, parents), found in zip(families, core_scores(table, score, families), strict=True):
        assert found == near(sp.local_score(case.data(), child, parents, score="bic"), 1e-12)


@pytest.mark.parametrize("score", ["cg", "cgd"])
def test_gaussian_tables_are_scored_by_the_gaussian_bic(score):
    """Least squares by numpy: N/2 log of the mean square left; a slope per parent, an intercept and a variance."""
    table = smooth_table(5, "ABCD", 70)
    n = 70
    for child, parents in families_of(table, 3):
        x = np.column_stack([np.ones(n), *(table[p].values for p in parents)])
        y = np.array(table[child].values)
        left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        likelihood = -n / 2 * (log(left @ left / n) + log(2 * pi) + 1)
        expected = likelihood - (len(parents) + 2) / 2 * log(n)
        assert core_scores(table, score, [(child, parents)])[0] == near(expected, 1e-11)


@pytest.mark.parametrize("score", SCORES)
def test_units_and_shifts_change_no_difference(score):
    table = fitting(smooth_table(7, "AbCdEf", 80), score)
    moved = {
        name: numbers([1e-7 * (value + 1e6) for value in column.values]) if column.kind == CONTINUOUS else column
        for name, column in table.items()
    }
    families = families_of(table, 2)
    before, after = (dict(zip(families, core_scores(each, score, families), strict=True)) for each in (table, moved))
    for child, parents in families:
        gain, again = (values[child, parents] - values[child, ()] for values in (before, after))
        assert again == pytest.approx(gain, rel=1e-7, abs=1e-6), (child, parents)  # 1e6 costs the data ten digits


def test_a_discrete_child_under_exact_is_never_above_zero():
    for seed in range(30):
        table = random_table(seed)
        for child, parents in families_of(table, 3, share=0.2, seed=seed):
            if table[child].kind != CONTINUOUS:
                assert terms(table, "cg, exact", child, parents)[0] <= 0


# Digits


def exact_variances(columns: list[list[float]]) -> list[Fraction]:
    """Of each column given those before it, in fractions of the doubles: no rounding at all."""
    n = len(columns[0])
    basis: list[list[Fraction]] = [[Fraction(1)] * n]
    found = []
    for column in columns:
        x = [Fraction(value) for value in column]
        for other in basis:
            share = sum((p * q for p, q in zip(x, other, strict=True)), Fraction(0)) / sum(q * q for q in other)
            x = [p - share * q for p, q in zip(x, other, strict=True)]
        found.append(sum((p * p for p in x), Fraction(0)) / n)
        basis.append(x)
    return found


@pytest.mark.parametrize("noise", [1e-2, 1e-3, 1e-4])
def test_columns_that_are_nearly_a_function_of_others(noise):
    """The correlation matrix has not enough digits; the rows have."""
    rng = random.Random(1)
    n = 14
    x = [rng.gauss(0, 1) for _ in range(n)]
    y = [rng.gauss(0, 1) for _ in range(n)]
    z = [p - q + noise * rng.gauss(0, 1) for p, q in zip(x, y, strict=True)]
    half = [0, 1] * (n // 2)
    table = {"a": discrete("categorical", half, 2), "x": numbers(x), "y": numbers(y), "z": numbers(z)}
    left = exact_variances([x, y, z])[-1]
    whole = -n / 2 * (log(left) + log(2 * pi) + 1)
    assert terms(table, "cg", "z", ["x", "y"])[0] == near(whole, 1e-11)
    cells = 0.0
    for code in (0, 1):
        mine = [row for row in range(n) if half[row] == code]
        left = exact_variances([[column[row] for row in mine] for column in (x, y, z)])[-1]
        cells -= len(mine) / 2 * (log(left) + log(2 * pi) + 1)
    assert terms(table, "cg", "z", ["a", "x", "y"])[0] == near(cells, 1e-11)


@pytest.mark.parametrize("spread", [1e-2, 1e-3, 5e-4])
def test_cells_far_apart_and_narrow(spread):
    """A cell's variance is the small difference of large squares."""
    rng = random.Random(2)
    n = 15
    code = [row % 3 for row in range(n)]
    x = [1e6 + own * 10 + spread * rng.gauss(0, 1) for own in code]
    table = {"a": discrete("categorical", code, 3), "x": numbers(x)}
    expected = 0.0
    for own in range(3):
        left = exact_variances([[x[row] for row in range(n) if code[row] == own]])[0]
        expected -= n / 6 * (log(left) + log(2 * pi) + 1)
    # x is standardised first, and 1e6 leaves the spread of a cell six digits or more of the sixteen.
    assert terms(table, "cg", "x", ["a"])[0] == near(expected, 1e-12 / spread)


def test_large_and_small_numbers():
    for factor in (1e300, 1e-300):
        table = smooth_table(1, "AbC", 30)
        scaled = {
            name: numbers([factor * v for v in column.values]) if column.kind == CONTINUOUS else column
            for name, column in table.items()
        }
        families = families_of(table, 2)
        for score in SCORES:
            if score.startswith("bge"):
                continue
            found = core_scores(scaled, score, families)
            assert all(math.isfinite(value) for value in found), score
        gains = [core_scores(t, "cg", [("A", ("C", "b")), ("A", ())]) for t in (table, scaled)]
        assert gains[0][0] - gains[0][1] == near(gains[1][0] - gains[1][1])


# Limits


def test_time_limit_leaves_nan():
    rng = np.random.default_rng(1)
    n = 400_000
    columns = [
        (0, np.zeros(n, np.uint16), rng.normal(size=n), 1, 0.0)
        if i % 2
        else (4, rng.integers(0, 4, n, np.uint16), None, 0, 0.0)
        for i in range(12)
    ]
    families = [(child, sorted({0, 1, 2, 3} - {child})) for child in range(12)] * 50
    scores = _core.GaussianScores(columns, _core.GaussianSpec("cg", exact=True))
    found = _core.families(scores, families, time_limit=0.05)
    assert len(found) == len(families) and np.isnan(found).any()


def test_too_many_embedded_columns():
    levels = 20_002
    columns = [(levels, np.arange(10, dtype=np.uint16), None, 0, 0.0)]
    with pytest.raises(ValueError, match="embedded columns"):
        _core.families(_core.GaussianScores(columns, _core.GaussianSpec("dg")), [(0, [])])


def test_more_configurations_than_numbers():
    """A product of levels beyond all numbers is no family that a search wants, and no NaN."""
    n, many = 5, 70
    columns = [(65535, np.arange(n, dtype=np.uint16), None, 0, 0.0) for _ in range(many)]
    columns.append((0, None, np.array([-1.0, 0.5, 1.0, 0.0, -0.5]), 0, 0.0))
    found = _core.families(_core.GaussianScores(columns, _core.GaussianSpec("cg")), [(many, list(range(many)))])
    assert found[0] == -math.inf
