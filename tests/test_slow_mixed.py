"""The slow twins of the mixed scores against outside numbers, laws, and each other. The fast path is not used here.

In:  tests/golden/mixed-200.andrews-paper.json, tests/golden/gaussians.bnlearn-5.2.1.json, and the shared folder where
     it is there (all families; bnlearn's data sets).
Out: agreement, and the limits that the docstrings of slow/gaussian.py and slow/polynomial.py state."""

from __future__ import annotations

import csv
import gzip
import json
import random
from itertools import combinations, permutations, product
from math import fsum, inf, isfinite, log, pi, sqrt
from math import gamma as gamma_function

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import roots_genlaguerre, roots_hermitenorm
from scipy.stats import gamma, multivariate_normal, norm

from slow import scores
from slow.case import Case, dependent_case
from slow.gaussian import (
    Column,
    Local,
    Table,
    at_unbiased_variance,
    bf,
    bge,
    bge_set,
    cg,
    cg_set,
    cgd,
    dg,
    mn,
    three_bins,
)
from slow.polynomial import lr, mvp, repaired
from slow.trees import discrete, numbers

SCORES = {
    "cg": cg,
    "cg(df=paper)": lambda *family: cg(*family, df="paper"),
    "cg(exact)": lambda *family: cg(*family, exact=True),
    "cgd": cgd,
    "mn": mn,
    "dg": dg,
    "bf(3)": bf,
    "mvp(1)": mvp,
    "mvp(log)": lambda *family: mvp(*family, degree="log"),
    "lr(1)": lr,
    "lr(log)": lambda *family: lr(*family, degree="log"),
}
EQUIVALENT = ["cg", "cg(df=paper)", "mn", "dg", "bf(3)"]
PROBABILITIES = ["cg(exact)", "cgd", "mn", "mvp(1)", "mvp(log)", "lr(1)", "lr(log)"]  # of a discrete child


def near(expected: float, rel: float = 1e-9) -> object:
    return pytest.approx(expected, rel=rel, abs=rel)


# Tables


def mixed_table(seed: int, n_rows: int = 60) -> Table:
    """a, c categorical, b ordinal, x, y, z continuous, depending on each other."""
    rng = random.Random(seed)
    a = [rng.randrange(3) for _ in range(n_rows)]
    x = [rng.gauss(code, 1) for code in a]
    b = [min(3, max(0, int(value + rng.gauss(1, 0.7)))) for value in x]
    y = [(1 if code == 2 else -0.5) * value + rng.gauss(0, 0.6) for code, value in zip(a, x, strict=True)]
    c = [int(value + rng.gauss(0, 1) > 0) for value in y]
    z = [rng.gauss(value * value, 1 + code) for value, code in zip(x, c, strict=True)]
    return {
        "a": discrete("categorical", a, 3),
        "b": discrete("ordinal", b, 4),
        "c": discrete("categorical", c, 2),
        "x": numbers(x),
        "y": numbers(y),
        "z": numbers(z),
    }


def degenerate_table(seed: int, n_rows: int = 14) -> Table:
    """Tiny cells, an unseen level, a constant, a copy, a sum, a column that is constant where a is 0, and ties."""
    rng = random.Random(seed)
    a = [rng.randrange(3) for _ in range(n_rows)]
    x = [float(rng.randrange(4)) if rng.random() < 0.4 else rng.gauss(0, 1) for _ in range(n_rows)]
    y = [rng.gauss(0, 1) if code else 0.0 for code in a]
    return {
        "a": discrete("categorical", a, 4),
        "b": discrete("ordinal", [rng.randrange(5) for _ in range(n_rows)], 5),
        "one": discrete("categorical", [0] * n_rows, 1),
        "same": numbers([3.3] * n_rows),
        "x": numbers(x),
        "copy": numbers([2 * value + 1e3 for value in x]),
        "y": numbers(y),
        "sum": numbers([p + q for p, q in zip(x, y, strict=True)]),
    }


def every_family(table: Table, most: int = 2) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (child, parents)
        for child in table
        for size in range(most + 1)
        for parents in combinations([name for name in table if name != child], size)
    ]


def in_other_units(column: Column, factor: float, shift: float) -> Column:
    return numbers([factor * value + shift for value in column.values]) if column.kind == "continuous" else column


# Outside numbers: the paper's equations


def table_of(columns: list[str], categories: list[int], rows: list[list[float]]) -> Table:
    values = {name: [row[j] for row in rows] for j, name in enumerate(columns)}
    return {
        name: discrete("categorical", [int(code) for code in values[name]], levels) if levels else numbers(values[name])
        for name, levels in zip(columns, categories, strict=True)
    }


def check_paper(table: Table, child: str, parents: list[str], numbers_of: dict[str, float | None]) -> None:
    found: dict[str, Local] = {"CG": cg(table, child, parents, df="paper")}
    found["MVP1"] = mvp(table, child, parents)
    found["MVPlogn"] = mvp(table, child, parents, degree="log", least_degree=0)
    if numbers_of.get("CGd_dof") is not None:
        found["CGd"] = cgd(table, child, parents)
    for name, local in found.items():
        assert local.df == numbers_of[f"{name}_dof"], name
        expected = numbers_of[f"{name}_loglik"]
        if expected is None:  # the literal equation has a singular cell; ours is finite
            assert name == "CG" and isfinite(local.loglik)
        else:
            # mvp: a cell of one row follows the child's standard deviation, which is 1 here to 7 digits only.
            digits = 1e-9 if name.startswith("MVP") else 1e-11
            assert local.loglik == near(expected, digits), name
        if numbers_of.get(f"{name}_sp0") is not None:
            assert 2 * local.score == near(numbers_of[f"{name}_sp0"], 1e-9 if name.startswith("MVP") else 1e-11), name
    if numbers_of.get("CG_loglik_plus1_form") is not None:
        printed = cg(table, child, parents, df="paper", constant=1)
        assert printed.loglik == near(numbers_of["CG_loglik_plus1_form"], 1e-11)


@pytest.fixture(scope="module")
def andrews(golden):
    return json.loads((golden / "mixed-200.andrews-paper.json").read_text())


def test_equations_of_the_paper(andrews):
    table = table_of(andrews["columns"], andrews["categories"], andrews["rows"])
    for family in andrews["families"]:
        check_paper(table, family["child"], family["parents"], family)


def test_where_formulas_and_golden_numbers_differ(andrews):
    """Cells of k + 1 rows (cg), and the degree in cells of one or two rows (mvp)."""
    table = table_of(andrews["columns"], andrews["categories"], andrews["rows"])
    other_cg, other_mvp = [], []
    for family in andrews["families"]:
        name = (family["child"], tuple(family["parents"]))
        ours = cg(table, *name, df="paper", tiny="k+1").loglik
        if family["CG_loglik"] is not None and ours != near(family["CG_loglik"]):
            other_cg.append(name)
        if mvp(table, *name, degree="log").df != family["MVPlogn_dof"]:
            other_mvp.append(name)
        assert mvp(table, *name, degree="log").loglik == near(family["MVPlogn_loglik"])
    assert other_cg == [("X4", ("X5", "X9", "X8"))]
    assert other_mvp == [("X1", ("X7", "X5", "X10")), ("X3", ("X7", "X6", "X9"))]


def test_equations_of_the_paper_on_all_shared_families(shared):
    path = shared / "golden" / "tetrad_shared.json"
    if not path.is_file():
        pytest.skip(f"the family scores by the paper's equations are not at {path}")
    for data in json.loads(path.read_text())["datasets"]:
        names = data["columns"]
        table = table_of(names, data["categories"], data["rows"])
        for family in data["families"]:
            check_paper(table, names[family["child"]], [names[p] for p in family["parents"]], family["paper"])


# Outside numbers: R bnlearn


@pytest.fixture(scope="module")
def bnlearn(golden):
    return json.loads((golden / "gaussians.bnlearn-5.2.1.json").read_text())["cases"]


def bnlearn_table(shared, case) -> Table:
    path = shared / "golden" / "data" / f"{case['data']}.csv.gz"
    if not path.is_file():
        pytest.skip(f"bnlearn's {case['data']} is not at {path}")
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: discrete("categorical", [levels.index(row[name]) for row in rows], len(levels))
        if levels
        else numbers([float(row[name]) for row in rows])
        for name, levels in case["levels"].items()
    }


@pytest.mark.parametrize("index", range(6))
def test_local_scores_of_bnlearn(shared, bnlearn, index):
    case = bnlearn[index]
    table = bnlearn_table(shared, case)
    for child, parents in case["parents"].items():
        ours, more = cg(table, child, parents), at_unbiased_variance(table, child, parents)
        for score, by_node in case["scores"].items():
            expected = by_node[child]
            if score == "bge":
                assert bge(table, child, parents, columns="centred").score == near(expected, 1e-12)
            elif score.startswith("loglik"):
                assert ours.loglik + more == near(expected, 1e-12)
                assert ours.loglik >= expected - 1e-8  # ours is the maximum
            else:
                assert ours.score + more == near(expected, 1e-12)


def test_a_discrete_child_far_above_zero(shared, bnlearn):
    """The approximate denominator on bnlearn's own data: see slow/gaussian.py."""
    table = bnlearn_table(shared, bnlearn[0])
    assert cg(table, "A", ["D", "E", "F", "G"]).loglik > 10_000
    assert cg(table, "A", ["D", "E", "F", "G"], exact=True).loglik <= 0


# Laws of all scores


@pytest.mark.parametrize("score", SCORES)
def test_degenerate_tables_give_finite_numbers(score):
    for seed in range(2):
        table = degenerate_table(seed)
        for child, parents in every_family(table):
            local = SCORES[score](table, child, parents)
            assert isfinite(local.score), (child, parents)
            assert local.df >= 0, (child, parents)
    for n_rows in (1, 2, 3):
        table = degenerate_table(7, n_rows)
        for child, parents in every_family(table):
            assert isfinite(SCORES[score](table, child, parents).score), (n_rows, child, parents)


@pytest.mark.parametrize("score", PROBABILITIES)
def test_a_discrete_child_is_never_above_zero(score):
    tables = [degenerate_table(seed) for seed in range(3)] + [mixed_table(seed) for seed in range(2)]
    for table in tables:
        for child, parents in every_family(table):
            if table[child].kind != "continuous":
                assert SCORES[score](table, child, parents).loglik <= 1e-12, (child, parents)


@pytest.mark.parametrize("score", EQUIVALENT)
def test_score_equivalence(score):
    """All orders of a complete graph, and the chains and the fork of three columns."""
    for table in (degenerate_table(1), degenerate_table(2, 40), mixed_table(3)):
        local = SCORES[score]
        for names in (("a", "b", "x", "y"), *([("copy", "sum", "x", "a")] if "copy" in table else [])):
            totals = [fsum(local(table, order[i], order[:i]).score for i in range(4)) for order in permutations(names)]
            assert totals == [near(totals[0])] * len(totals), names
            for one, middle, two in combinations(names, 3):
                chain = local(table, one, ()), local(table, middle, (one,)), local(table, two, (middle,))
                fork = local(table, middle, ()), local(table, one, (middle,)), local(table, two, (middle,))
                assert fsum(part.score for part in chain) == near(fsum(part.score for part in fork))


@pytest.mark.parametrize("score", SCORES)
def test_units_and_shifts_change_no_difference(score):
    """Of standardised columns anyway; here of the raw ones, where every cell has two rows or more."""
    table = mixed_table(4, 200)
    other = {name: in_other_units(column, 1000.0, 5e4) for name, column in table.items()}
    for child, parents in (("x", ("a", "y")), ("x", ("z",)), ("a", ("x", "z")), ("c", ("a", "y")), ("z", ("x", "y"))):
        local = SCORES[score]
        gain = local(table, child, parents).score - local(table, child, ()).score
        assert local(other, child, parents).score - local(other, child, ()).score == near(gain, 1e-7), child


def test_units_of_copies_cancel_too():
    table = degenerate_table(3, 30)
    other = {name: in_other_units(column, 1e-3, 7.0) for name, column in table.items()}
    for child, parents in every_family(table):
        gain = cg(table, child, parents).score - cg(table, child, ()).score
        assert cg(other, child, parents).score - cg(other, child, ()).score == near(gain, 1e-6), (child, parents)


# cg


def as_table(case: Case) -> Table:
    return {name: discrete("categorical", case.columns[name], case.sizes[name]) for name in case.names}


@pytest.mark.parametrize("score", ["cg", "cg(df=paper)", "cg(exact)", "cgd", "mn"])
def test_discrete_tables_are_scored_by_bic(score):
    case = dependent_case({"a": 3, "b": 2, "c": 4, "d": 3}, 40, seed=5, unseen=True)
    for child, parents in every_family(as_table(case), 3):
        assert SCORES[score](as_table(case), child, parents).score == near(scores.bic(case, child, parents))


@pytest.mark.parametrize("score", ["mvp(1)", "lr(1)"])
def test_discrete_tables_under_regressions(score):
    """The log-likelihood of the table; df counts the cells that have rows."""
    case = dependent_case({"a": 3, "b": 2, "c": 4}, 40, seed=6)
    for child, parents in every_family(as_table(case), 2):
        local = SCORES[score](as_table(case), child, parents)
        seen = len(set(scores.configurations(case, parents)))
        assert local.loglik == near(scores.ll(case, child, parents))
        assert local.df == (case.sizes[child] - 1) * seen


def regression(y: list[float], x: list[list[float]]) -> tuple[float, int]:
    """The maximum log-likelihood of a linear regression with a constant, and its number of parameters."""
    columns = np.array([[1.0, *row] for row in x])
    away = np.array(y) - columns @ np.linalg.lstsq(columns, np.array(y), rcond=None)[0]
    return sum(norm.logpdf(away, scale=sqrt(away @ away / len(y)))), columns.shape[1] + 1


def test_gaussian_tables_are_scored_by_the_gaussian_bic():
    table = {name: column for name, column in mixed_table(8).items() if column.kind == "continuous"}
    for child, parents in every_family(table):
        x = [[table[parent].values[row] for parent in parents] for row in range(60)]
        loglik, parameters = regression(list(table[child].values), x)
        assert cg(table, child, parents).loglik == near(loglik)
        assert cg(table, child, parents).score == near(loglik - parameters / 2 * log(60))
        assert mvp(table, child, parents, variance=True).score == near(loglik - parameters / 2 * log(60))


def test_a_continuous_child_is_regressed_in_every_cell():
    table = mixed_table(9, 300)
    for parents in (("a", "x"), ("a", "c"), ("a", "c", "x")):
        cells: dict[tuple[float, ...], list[int]] = {}
        above = [name for name in parents if name != "x"]
        for row in range(300):
            cells.setdefault(tuple(table[name].values[row] for name in above), []).append(row)
        found = [
            regression(
                [table["y"].values[row] for row in rows],
                [[table["x"].values[row]] if "x" in parents else [] for row in rows],
            )
            for rows in cells.values()
        ]
        assert cg(table, "y", parents).loglik == near(fsum(loglik for loglik, _ in found))
        assert mvp(table, "y", parents).loglik == near(fsum(loglik for loglik, _ in found))
        assert cg(table, "y", parents).df == sum(parameters for _, parameters in found)


def test_two_clusters():
    """Distance d, standard deviation 1: log(1 + d^2/4)/2 - log 2 per row under the one Gaussian, 0 at d = 2 sqrt(3)."""
    half = [norm.ppf((i + 0.5) / 200) for i in range(200)]
    deviation = sqrt(fsum(value * value for value in half) / 200)
    for d in (1.0, 2 * sqrt(3), 8.0):
        x = [value / deviation for value in half] + [value / deviation + d for value in half]
        table = {"v": discrete("categorical", [0] * 200 + [1] * 200, 2), "x": numbers(x)}
        assert cg(table, "v", ["x"]).loglik == near(400 * (log(1 + d * d / 4) / 2 - log(2)))
        assert cg(table, "v", ["x"], exact=True).loglik < 0
    assert cg(table, "v", ["x"]).loglik > 0


def test_exact_shares_sum_to_one():
    """The exact log-likelihood is that of Bayes' rule over the joint Gaussians; here by hand for one parent."""
    table = mixed_table(10, 80)
    x, c = table["x"].values, table["c"].values
    parts = {}
    for level in (0, 1):
        inside = [value for value, code in zip(x, c, strict=True) if code == level]
        parts[level] = (len(inside) / 80, norm(np.mean(inside), np.std(inside)))
    total = fsum(
        log(parts[code][0] * parts[code][1].pdf(value) / sum(share * part.pdf(value) for share, part in parts.values()))
        for value, code in zip(x, c, strict=True)
    )
    assert cg(table, "c", ["x"], exact=True).loglik == near(total)
    assert cg(table, "x", ["c"], exact=True) == cg(table, "x", ["c"])


def test_tiny_cells_under_cg():
    """Where the parents' cells, or all cells of the child in them, are tiny, x says nothing above the table of c."""
    rng = random.Random(11)
    n = 24
    a, c = list(range(12)) * 2, [rng.randrange(2) for _ in range(n)]
    table = {
        "a": discrete("categorical", a, 12),
        "c": discrete("categorical", c, 2),
        "x": numbers([rng.gauss(0, 1) * (100 if code == 3 else 1) for code in a]),
    }
    of_table = cg(table, "c", ["a"]).loglik
    assert cg(table, "c", ["a", "x"]).loglik == near(of_table)  # two rows in every cell of a
    wide = {**table, "c": discrete("categorical", list(range(n)), n)}
    assert cg(wide, "c", ["x"]).loglik == near(
        -n * log(n)
    )  # one row in every cell of c; x alone is the Gaussian of all
    halves = {**wide, "a": discrete("categorical", [code < 6 for code in a], 2)}
    assert cg(halves, "c", ["a", "x"]).loglik < cg(halves, "c", ["a"]).loglik


def test_a_tiny_cell_in_a_very_wide_one_can_be_above_zero():
    """The limit that slow/gaussian.py states: two rows near the mean of all, in a cell thirty times as wide."""
    rng = random.Random(28)
    wide = [-160.0, -110.0, -90.0, -60.0, 60.0, 90.0, 110.0, 160.0, 0.5, -0.5]
    table = {
        "a": discrete("categorical", [0] * 9990 + [1] * 10, 2),
        "v": discrete("categorical", [0] * 9998 + [1] * 2, 2),
        "x": numbers([rng.gauss(0, 1) for _ in range(9990)] + wide),
    }
    assert 0 < cg(table, "v", ["a", "x"]).loglik < 3
    assert cg(table, "v", ["a", "x"], exact=True).loglik < 0


def test_a_tiny_cell_has_the_gaussian_of_all_rows():
    rng = random.Random(27)
    a = [0] * 10 + [1] * 3
    points = np.array([[rng.gauss(code, 1), rng.gauss(0, 2)] for code in a])
    table = {"a": discrete("categorical", a, 3), "x": numbers(points[:, 0]), "y": numbers(points[:, 1])}
    own, every = points[:10], points
    by_hand = 10 * log(10 / 13) + 3 * log(3 / 13)
    for rows, fitted in ((own, own), (points[10:], every)):
        by_hand += multivariate_normal(fitted.mean(axis=0), np.cov(fitted.T, bias=True)).logpdf(rows).sum()
    assert cg_set(table, ["a", "x", "y"]) == near(by_hand)
    assert cg_set(table, ["a", "x", "y"], tiny="k") > by_hand  # 3 = k + 1 rows: the paper fits them


def test_copies_constants_and_sums_under_cg():
    table = degenerate_table(6, 40)
    n, gain = 40, 40 / 2 * log(1e10)
    assert cg(table, "same", ["a", "x"]).loglik == near(0.0)
    assert cg(table, "copy", ["x"]).loglik == near(cg(table, "copy", []).loglik + gain)
    assert cg(table, "a", ["x", "copy", "same"]).loglik == near(cg(table, "a", ["x"]).loglik)
    residual = cg(table, "x", ["sum", "y"]).loglik
    assert residual > cg(table, "x", ["sum"]).loglik + n  # far better than any noise would allow
    noisy = {**table, "copy": numbers([v + 1e-3 * random.Random(r).random() for r, v in enumerate(table["x"].values)])}
    assert cg(noisy, "x", ["copy"]).loglik < cg(table, "x", ["copy"]).loglik


# cgd and mn


def test_three_bins():
    assert three_bins(list(range(200)))[0].count(0) == 66
    assert [three_bins(list(range(200)))[0].count(b) for b in range(3)] == [66, 66, 68]
    assert three_bins([1.0] * 9) == ([0] * 9, 1)
    assert three_bins([0.0] * 8 + [5.0, 6.0]) == ([0] * 8 + [1, 1], 2)
    assert three_bins([0.0, 1.0] + [5.0] * 8) == ([0, 0] + [1] * 8, 2)
    assert three_bins([2.0, 1.0]) == ([1, 0], 2)
    assert three_bins([2.0]) == ([0], 1)
    for values in product(range(3), repeat=5):
        codes, levels = three_bins([float(value) for value in values])
        assert levels == len(set(codes)) and (levels > 1) == (len(set(values)) > 1)
        assert all((codes[i] <= codes[j]) or values[i] > values[j] for i in range(5) for j in range(5))


def test_cgd_is_cg_for_continuous_children():
    table = mixed_table(12)
    assert cgd(table, "x", ["a", "y"]) == cg(table, "x", ["a", "y"])
    assert cgd(table, "a", ["x", "b"]) == mn(table, "a", ["x", "b"])


# dg and bf


def test_dg_of_continuous_columns_is_the_gaussian_bic():
    table = {name: column for name, column in mixed_table(13).items() if column.kind == "continuous"}
    for child, parents in every_family(table):
        sd = np.std(table[child].values)
        assert dg(table, child, parents).score == near(cg(table, child, parents).score + 60 * log(sd))


def test_dg_of_two_binary_columns():
    """Indicators with correlation r: log(1 - r^2) is all that the parent adds; one parameter."""
    case = dependent_case({"a": 2, "b": 2}, 50, seed=14)
    table = as_table(case)
    r = np.corrcoef(case.columns["a"], case.columns["b"])[0, 1]
    with_b, alone = dg(table, "a", ["b"]), dg(table, "a", [])
    assert with_b.loglik - alone.loglik == near(-25 * log(1 - r * r))
    assert with_b.df - alone.df == 1
    assert alone.loglik == near(-25 * (log(2 * pi) + 1))


def test_dg_does_not_read_the_names_of_levels():
    table = mixed_table(15, 90)
    other = {**table, "a": discrete("categorical", [(code + 1) % 3 for code in table["a"].values], 3)}
    for child, parents in (("a", ("x", "b")), ("x", ("a", "c")), ("b", ("a",))):
        assert dg(table, child, parents).score == near(dg(other, child, parents).score)


def test_columns_that_depend_on_others_do_not_count_in_dg():
    table = degenerate_table(16, 40)
    assert dg(table, "copy", ["x"])[:2] == (near(0.0), 0)
    assert dg(table, "same", ["x"])[:2] == (0, 0)
    assert dg(table, "sum", ["x", "y"]).df == 0
    assert dg(table, "a", ["x", "copy", "same"]).score == near(dg(table, "a", ["x"]).score)


def test_bf_of_degree_one_is_dg():
    table = mixed_table(17)
    for child, parents in every_family(table, 1):
        assert bf(table, child, parents, degree=1).score == near(dg(table, child, parents).score)


# bge


def test_bge_of_one_column_by_quadrature():
    """Precision w ~ Gamma((alpha_w - n + 1)/2, rate t/2), mean ~ N(0, 1/(alpha_mu w))."""
    y = (0.3, -1.1, 0.9)
    table, alpha_mu = {"y": numbers(y)}, 1.0
    t = alpha_mu * alpha_mu / (alpha_mu + 1)
    centred = [value - sum(y) / 3 for value in y]

    def density(mean: float, w: float) -> float:
        prior = gamma.pdf(w, 1.5, scale=2 / t) * norm.pdf(mean, 0, 1 / sqrt(alpha_mu * w))
        return float(prior * np.prod(norm.pdf(centred, mean, 1 / sqrt(w))))

    total, _ = dblquad(density, 0, inf, -inf, inf, epsabs=1e-12, epsrel=1e-9)
    assert bge(table, "y", [], columns="centred").score == near(log(total), 1e-6)


def test_bge_of_two_columns_by_quadrature():
    """W ~ Wishart(4, I/t) as (1/t) L L', L11^2 ~ chi2(4), L22^2 ~ chi2(3), L21 ~ N(0, 1): Gauss rules for all three."""
    rng = random.Random(18)
    y = np.array([[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(3)])
    y[:, 1] += 0.7 * y[:, 0]
    y -= y.mean(axis=0)
    table, n, t = {"x": numbers(y[:, 0]), "y": numbers(y[:, 1])}, 3, 0.5
    # Halves of chi-squares: weights u^(4/2 - 1) e^-u and v^(3/2 - 1) e^-v; u^(n/2) v^(n/2) of |W|^(n/2) go into them.
    first, first_weight = roots_genlaguerre(60, 4 / 2 - 1 + n / 2)
    last, last_weight = roots_genlaguerre(60, 3 / 2 - 1 + n / 2)
    cross, cross_weight = roots_hermitenorm(80)
    scatter, total = y.T @ y, 0.0
    for (u, p), (v, q) in product(zip(first, first_weight, strict=True), zip(last, last_weight, strict=True)):
        lower = sqrt(2 * u)
        w11, w12, w22 = lower**2 / t, lower * cross / t, (cross**2 + 2 * v) / t
        trace = w11 * scatter[0, 0] + 2 * w12 * scatter[0, 1] + w22 * scatter[1, 1]
        # The mean ~ N(0, (alpha_mu W)^-1) integrates to 1/(n + 1) in two columns; the data have mean 0.
        density = (2 * pi) ** -n * (4 / t**2) ** (n / 2) * np.exp(-trace / 2) / (n + 1)
        total += p * q * float(cross_weight @ density)
    total /= gamma_function(4 / 2) * gamma_function(3 / 2) * sqrt(2 * pi)
    found = bge_set(table, ["x", "y"], 1.0, 2.0, "centred")
    assert found == near(log(total), 1e-7)
    assert bge(table, "x", ["y"], columns="centred").score + bge(table, "y", [], columns="centred").score == near(found)


def test_bge_is_score_equivalent_and_never_singular():
    table = {name: column for name, column in degenerate_table(19, 12).items() if column.kind == "continuous"}
    names = ("x", "copy", "same", "y")
    totals = [fsum(bge(table, order[i], order[:i]).score for i in range(4)) for order in permutations(names)]
    assert totals == [near(totals[0])] * len(totals)


# mvp and lr


def test_repaired_probabilities():
    for fitted, n_p in (([1.2, -0.3, 0.1], 10), ([0.5, 0.5, 0.0], 10), ([0.2, 0.3, 0.5], 10)):
        probabilities = repaired(fitted, n_p)
        assert sum(probabilities) == near(1.0)
        assert min(probabilities) == near(max(1 / n_p, min(fitted)))


def test_powers_need_no_scaling():
    """Degree 6 on values around 1e6 is the same as around 0."""
    rng = random.Random(20)
    x = [round(rng.uniform(-1, 1), 6) for _ in range(600)]
    child = numbers([value**3 + rng.gauss(0, 0.1) for value in x])
    codes = discrete("categorical", [int(value * value + rng.gauss(0, 0.3) > 0.4) for value in x], 2)
    here, far = ({"x": numbers(x), "y": child, "v": codes} for x in (x, [value + 1e6 for value in x]))
    for name, score in (("y", mvp), ("v", mvp), ("v", lr)):
        assert score(here, name, ["x"], degree="log").loglik == near(score(far, name, ["x"], degree="log").loglik, 1e-6)


def test_parents_with_few_values_and_copies_add_nothing():
    table = mixed_table(21, 100)
    table["w"] = numbers([float(code) for code in table["a"].values])
    table["x2"] = numbers([5 - 3 * value for value in table["x"].values])
    for score in (mvp, lr):
        for child in ("y", "c"):
            three = score(table, child, ["w"], degree=4).loglik  # a polynomial through three values
            assert three == near(score(table, child, ["w"], degree=2).loglik)
            assert score(table, child, ["x", "x2"]).loglik == near(score(table, child, ["x"]).loglik)
    assert mvp(table, "y", ["w"], degree=4).df == 5


def test_perfect_fits_under_mvp():
    table = degenerate_table(22, 60)
    gain = 60 / 2 * log(1e10)
    assert mvp(table, "copy", ["x"]).loglik == near(mvp(table, "copy", []).loglik + gain, 1e-6)
    assert mvp(table, "sum", ["x", "y"]).loglik == near(mvp(table, "sum", []).loglik + gain, 1e-6)
    assert mvp(table, "same", ["x", "a"]).loglik == 0
    # y is 0 where a is 0: that cell has the variance of the family, and gains less than a nat per row.
    alone, with_a = mvp(table, "y", []).loglik, mvp(table, "y", ["a"]).loglik
    assert 0 < with_a - alone < 60


def test_logistic_regression_is_the_maximum():
    table = mixed_table(23, 80)
    x, y = np.array(table["x"].values), np.array(table["y"].values)
    rows = np.column_stack([np.ones(80), x, y])
    codes = np.array(table["a"].values, dtype=int)

    def minus_loglik(flat: np.ndarray) -> float:
        eta = np.column_stack([np.zeros(80), rows @ flat.reshape(2, 3).T])
        return -fsum(eta[i, codes[i]] - np.logaddexp.reduce(eta[i]) for i in range(80))

    found = minimize(minus_loglik, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    assert lr(table, "a", ["x", "y"]).loglik == near(-found.fun, 1e-9)
    assert lr(table, "a", ["x", "y"]).df == 6


def test_separated_levels():
    """The supremum is 0 (one threshold), or the log-likelihood of what is not separated."""
    x = numbers([float(i) for i in range(20)])
    table = {"x": x, "v": discrete("categorical", [int(i >= 9) for i in range(20)], 2)}
    assert -1e-3 < lr(table, "v", ["x"]).loglik < 0
    three = {"x": x, "v": discrete("categorical", [0 if i < 10 else 1 + i % 2 for i in range(20)], 3)}
    upper = {
        "x": numbers([float(i) for i in range(10, 20)]),
        "v": discrete("categorical", [i % 2 for i in range(10)], 2),
    }
    supremum = lr(upper, "v", ["x"]).loglik
    assert supremum - 1e-3 < lr(three, "v", ["x"]).loglik < supremum
    assert lr(three, "v", ["x"], degree=3).loglik < 0


def test_lr_of_a_continuous_child_is_mvp():
    table = mixed_table(24)
    for degree in (1, 2, "log"):
        assert lr(table, "y", ["a", "x"], degree=degree) == mvp(table, "y", ["a", "x"], degree=degree)
