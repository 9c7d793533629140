"""Laws that no formula may break, whatever its numbers are.

In:  small random tables.
Out: probabilities that sum to one, equivalent graphs that score the same, answers that do not depend on the order of
rows, columns or levels, on threads or on the hash seed; fit and score as one path."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import defaultdict
from itertools import product
from math import exp, fsum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.case import Case, cases, dependent_case
from slow.graphs import all_dags, equivalence_class
from slow.scores import (
    BAYESIAN,
    BDE,
    EQUIVALENT,
    NOT_EQUIVALENT,
    ONE_OF_EACH,
    PRIORS,
    TWINS,
    WITH_GRAPHS,
    choice,
    configurations,
)

INFORMATION = [name for name in ONE_OF_EACH if name not in BAYESIAN]
EQUIVALENT_PRIORS = ["binomial(r=0.5)", "ebic(gamma=0.5)", "kappa(k=0.1)"]  # `sizes` looks at each node's own number


# Probabilities


@pytest.mark.parametrize("score", BAYESIAN)
@settings(max_examples=8)
@given(case=cases(columns=(1, 3), rows=(1, 5), top_size=3))
def test_a_bayesian_score_sums_to_one_over_all_child_columns(score, case):
    child, *parents = case.names
    asked = choice(score, case)
    total = fsum(
        exp(sp.local_score(case.with_column(child, list(column)).data(), child, parents, score=asked))
        for column in product(range(case.sizes[child]), repeat=case.n_rows)
    )
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("score", ["ll", "aic", "mit(alpha=0.99)"])
def test_the_sum_to_one_can_fail(score):
    case = Case({"a": 2, "b": 2}, {"a": [0, 0, 0], "b": [0, 1, 1]})
    columns = product(range(2), repeat=3)
    total = sum(exp(sp.local_score(case.with_column("a", list(c)).data(), "a", ["b"], score=score)) for c in columns)
    assert abs(total - 1) > 0.01


@pytest.mark.parametrize("score", BAYESIAN)
@settings(max_examples=10)
@given(case=cases(columns=(1, 4), rows=(1, 12)), draw=st.data())
def test_the_fitted_network_predicts_the_next_row(score, case, draw):
    """The posterior predictive of a row is the factor by which the marginal likelihood changes when it comes."""
    parents = draw.draw(st.sampled_from(all_dags(case.names)))
    row = {name: draw.draw(st.integers(0, case.sizes[name] - 1)) for name in case.names}
    longer = case.with_row(row)
    if score.startswith("bds"):  # a new configuration would spread bds's prior anew
        assume(all(configurations(longer, of)[-1] in configurations(case, of) for of in parents.values()))
    asked = choice(score, case)
    network = sp.fit(case.data(), parents, score=asked)
    step = sp.score(longer.data(), parents, score=asked) - sp.score(case.data(), parents, score=asked)
    assert float(network.log_prob(longer.data())[-1]) == pytest.approx(step, abs=1e-9)


@pytest.mark.parametrize("score", INFORMATION)
@settings(max_examples=8)
@given(case=cases(columns=(1, 4), rows=(1, 12)), draw=st.data())
def test_an_information_score_fits_by_maximum_likelihood(score, case, draw):
    parents = draw.draw(st.sampled_from(all_dags(case.names)))
    network = sp.fit(case.data(), parents, score=score)
    likelihood = fsum(float(value) for value in network.log_prob(case.data()))
    assert likelihood == pytest.approx(sp.score(case.data(), parents, score="ll"), abs=1e-9)


@pytest.mark.parametrize("score", WITH_GRAPHS)
def test_a_configuration_never_seen_is_predicted_without_nan(score):
    case = Case({"a": 2, "b": 3}, {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]})
    network = sp.fit(case.data(), {"a": ("b",), "b": ()}, score=choice(score, case))
    every = Case(case.sizes, {"a": [0, 1] * 3, "b": [0, 0, 1, 1, 2, 2]})
    given_b = np.exp(network.models["a"].log_prob(every.data()))
    assert not np.isnan(given_b).any()
    assert given_b[0::2] + given_b[1::2] == pytest.approx(1.0)


# Equivalent graphs


def class_spread(case: Case, score: str, prior: str = "uniform") -> float:
    """The largest difference, relative to the size of the scores, between two equivalent DAGs."""
    data, asked = case.data(), choice(score, case)
    local, totals = {}, defaultdict(list)
    for parents in all_dags(case.names):
        for family in parents.items():
            if family not in local:
                local[family] = sp.local_score(data, *family, score=asked, prior=prior)
        totals[equivalence_class(parents)].append(fsum(local[family] for family in parents.items()))
    assert len(totals) == 185, "there are 185 classes of DAGs on 4 nodes"
    return max((max(same) - min(same)) / max(1.0, abs(same[0])) for same in totals.values())


@pytest.mark.parametrize("score", EQUIVALENT)
@settings(max_examples=5)
@given(case=cases(columns=(4, 4), rows=(1, 20)))
def test_score_equivalence(score, case):
    assert class_spread(case, score) < 1e-9


@pytest.mark.parametrize("prior", EQUIVALENT_PRIORS)
@pytest.mark.parametrize("score", ["bic", "bdeu(ess=1)"])
def test_score_equivalence_with_a_prior(score, prior):
    assert class_spread(dependent_case({"a": 2, "b": 3, "c": 4, "d": 2}, n_rows=20, seed=1), score, prior) < 1e-9


@pytest.mark.parametrize("score", NOT_EQUIVALENT)
def test_score_equivalence_can_fail(score):
    case = dependent_case({"a": 2, "b": 3, "c": 4, "d": 2}, n_rows=20, seed=1, unseen=True)
    assert class_spread(case, score) > 1e-6


# Order and names


def renamed_levels(case: Case, seed: int) -> Case:
    """The levels of every column in another order."""
    rng = random.Random(seed)
    columns = {}
    for name, column in case.columns.items():
        order = rng.sample(range(case.sizes[name]), case.sizes[name])
        columns[name] = [order[code] for code in column]
    return Case(case.sizes, columns)


def shuffled(case: Case, seed: int) -> dict[str, Case]:
    rng = random.Random(seed)
    return {
        "rows": case.with_rows_in_order(rng.sample(range(case.n_rows), case.n_rows)),
        "columns": case.with_columns_in_order(rng.sample(case.names, len(case.names))),
        "levels": renamed_levels(case, seed),
    }


@pytest.mark.parametrize("score", [name for name in TWINS if name != BDE])
@settings(max_examples=12)
@given(case=cases(columns=(2, 5), rows=(1, 15)), seed=st.integers(0, 99))
def test_no_order_changes_a_score(score, case, seed):
    child, *parents = case.names
    expected = sp.local_score(case.data(), child, parents, score=score)
    for what, other in shuffled(case, seed).items():
        again = sp.local_score(other.data(), child, parents[::-1], score=score)
        assert again == pytest.approx(expected, rel=1e-9, abs=1e-9), what


@settings(max_examples=12)
@given(case=cases(columns=(2, 4), rows=(1, 15)), seed=st.integers(0, 99))
def test_no_order_of_rows_or_columns_changes_bde(case, seed):
    child, *parents = case.names
    asked = choice(BDE, case)  # the prior network names the levels, so these stay
    expected = sp.local_score(case.data(), child, parents, score=asked)
    for what in ("rows", "columns"):
        again = sp.local_score(shuffled(case, seed)[what].data(), child, parents[::-1], score=asked)
        assert again == pytest.approx(expected, rel=1e-9, abs=1e-9), what


@pytest.mark.parametrize("search", ["dp", "ilp", "hc", "tabu"])
@pytest.mark.parametrize("score", ["bic", "bdeu(ess=1)", "bds(ess=1)", "k2", "fnml", "qnml", "mit(alpha=0.99)", "aic"])
def test_no_order_changes_the_learned_network(score, search):
    for seed in range(4):
        sizes = {"a": 3, "b": 2, "c": 3, "d": 2, "e": 4}
        case = dependent_case(sizes, n_rows=40, seed=seed, noise=0.5, unseen=seed % 2 == 1)
        expected = sp.learn(case.data(), score=score, search=search, max_parents=3)
        for what, other in shuffled(case, seed).items():
            again = sp.learn(other.data(), score=score, search=search, max_parents=3)
            assert again.network.parents == expected.network.parents, (what, seed)
            assert again.found.score == pytest.approx(expected.found.score, rel=1e-9), (what, seed)


@pytest.mark.parametrize("search", ["dp", "ilp", "hc", "tabu"])
def test_equal_columns_are_told_apart_by_their_names_only(search):
    """Three equal columns: every tree over them scores the same, so only the tie rule can decide."""
    column = [0, 1, 1, 0, 2, 2, 0, 1, 2, 0] * 3
    answers = []
    for order in (["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]):
        case = Case(dict.fromkeys(order, 3), dict.fromkeys(order, column))
        answers.append(sp.learn(case.data(), score="bdeu(ess=1)", search=search).network.parents)
    assert answers[0] == answers[1] == answers[2]


# Fit and score are one path


@pytest.mark.parametrize("prior", PRIORS)
def test_learn_reports_the_score_of_its_network(prior):
    case = dependent_case({"a": 3, "b": 2, "c": 3, "d": 2}, n_rows=50, seed=3)
    data = case.data()
    result = sp.learn(data, score="bdeu(ess=1)", prior=prior, search="dp")
    assert result.found.score == pytest.approx(
        sp.score(data, result.network.parents, score="bdeu(ess=1)", prior=prior), rel=1e-12
    )


@pytest.mark.parametrize("score", WITH_GRAPHS)
@settings(max_examples=8)
@given(case=cases(columns=(1, 4), rows=(1, 15)), draw=st.data())
def test_fit_and_score_are_one_path(score, case, draw):
    parents = draw.draw(st.sampled_from(all_dags(case.names)))
    data, asked = case.data(), choice(score, case)
    network = sp.fit(data, parents, score=asked)
    assert network.score == sp.score(data, parents, score=asked)
    for child, of_child in parents.items():
        assert network.models[child].score == sp.local_score(data, child, of_child, score=asked)
    assert {child: set(of_child) for child, of_child in network.parents.items()} == {
        child: set(of_child) for child, of_child in parents.items()
    }


# Threads and hash seeds


def spinney_command() -> str:
    command = Path(sys.executable).with_name("spinney.exe" if os.name == "nt" else "spinney")
    if not command.is_file():
        pytest.skip("the spinney command is not installed beside this Python")
    return str(command)


def test_the_command_gives_the_same_bytes_whatever_the_hash_seed_and_the_threads(tmp_path):
    case = dependent_case({name: 2 + position % 3 for position, name in enumerate("abcdefg")}, n_rows=200, seed=4)
    lines = [",".join(case.names)]
    for row in range(case.n_rows):
        lines.append(",".join(case.levels(name)[code] for name, code in case.row(row).items()))
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines) + "\n")
    answers = []
    for hash_seed, jobs in (("0", "1"), ("1", "2"), ("1", "1")):
        done = subprocess.run(
            [spinney_command(), "learn", str(table), "--score", "bdeu", "--json", "--n-jobs", jobs],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr.decode()
        answers.append(done.stdout)
    assert isinstance(json.loads(answers[0]), dict)
    assert answers[0] == answers[1] == answers[2]
