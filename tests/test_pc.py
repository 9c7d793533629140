"""pc and cpc: an oracle of independence, a slow twin, constraints, stops; what changes nothing.

In:  random DAGs of which every independence is known; small random tables of all kinds.
Out: the class of the DAG; the same edges, sets and directions as the slow twin; constraints that hold in the class and
in its member."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from slow import pc as slow
from slow.graphs import all_dags, equivalence_class
from slow.oracle import d_separated, random_dags
from spinney.cli import main
from spinney.constraints import allowed_by
from spinney.errors import ChoiceError
from spinney.independence import IndependenceTests

BOTH = ("pc", "cpc")


def columns(names: list[str]) -> sp.Dataset:
    """A table with these columns; what an oracle says of them does not come from it."""
    rng = np.random.default_rng(0)
    return sp.Dataset.from_frame({name: rng.normal(size=12) for name in names})


def table(seed: int, kinds: str, rows: int = 150) -> sp.Dataset:
    """c: continuous, d: discrete. Every column leans on some of those before it, in a random order of names."""
    rng = np.random.default_rng([seed, rows])
    names = [f"v{i}" for i in rng.permutation(len(kinds))]
    latent: list[Any] = []
    frame, declared = {}, {}
    for name, kind in zip(names, kinds, strict=True):
        lean = sum((rng.choice([0.0, 0.8]) * other for other in latent), np.zeros(rows)) + rng.normal(size=rows)
        if kind == "c":
            frame[name], declared[name] = lean, sp.Continuous()
        else:
            lean = np.digitize(lean, [-0.5, 0.5]).astype(float)
            frame[name], declared[name] = [str(int(level)) for level in lean], sp.Categorical(["0", "1", "2"])
        latent.append(lean)
    return sp.Dataset.from_frame(frame, kinds=declared)


def of(found: sp.Found) -> sp.CPDAG:
    assert found.cpdag is not None
    return found.cpdag


# --- an oracle -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", BOTH)
def test_the_class_of_500_random_graphs_is_recovered_from_their_independences(search: str) -> None:
    for parents in random_dags(500, seed=15, most=6):
        known = cache(lambda x, y, given, parents=parents: float(d_separated(parents, x, y, given)))
        found = sp.find(
            columns(list(parents)),
            "bge",
            search=search,
            test=lambda data, x, y, given, known=known: known(x, y, given),
            max_parents=None,
            n_jobs=1,
        )
        assert found.graph == sp.DAG(list(parents), parents).cpdag(), parents
        assert not found.notes
        assert found.separations is not None
        for own in found.separations:
            assert own.given and d_separated(parents, own.x, own.y, own.given)
            assert not d_separated(parents, own.x, own.y)


@pytest.mark.parametrize("search", BOTH)
def test_true_knowledge_narrows_the_class_to_the_members_that_have_it(search: str) -> None:
    """Required edges and forbidden directions of the truth: the answer is what all members of its class agree on that
    have them; forbidden pairs still tell colliders."""
    rng = np.random.default_rng(2)
    graphs = {n: all_dags([chr(ord("a") + i) for i in range(n)]) for n in (2, 3, 4)}
    for parents in random_dags(120, seed=16, most=4):
        edges = [(p, c) for c, own in parents.items() for p in own]
        pairs = [pair for pair in combinations(parents, 2) if pair not in edges and pair[::-1] not in edges]
        required = [edge for edge in edges if rng.random() < 0.2]
        forbidden = [edge[::-1] for edge in edges if rng.random() < 0.2]
        forbidden += [way for pair in pairs if rng.random() < 0.3 for way in (pair, pair[::-1])]
        found = sp.find(
            columns(list(parents)),
            "bge",
            search=search,
            test=lambda data, x, y, given, parents=parents: float(d_separated(parents, x, y, given)),
            constraints=sp.Constraints(required=required, forbidden=forbidden),
            max_parents=None,
            n_jobs=1,
        )
        own = equivalence_class(parents)
        members = [
            {(p, c) for c, of_child in dag.items() for p in of_child}
            for dag in graphs[len(parents)]
            if equivalence_class(dag) == own
        ]
        members = [m for m in members if set(required) <= m and not m & set(forbidden)]
        assert of(found).directed == set.intersection(*members), (parents, required, forbidden)
        assert of(found).skeleton() == own[0]
        assert {(p, c) for c, of_child in found.parents.items() for p in of_child} in members


# --- the slow twin ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "kinds"), [("g2", "dddd"), ("cg", "cdcd"), ("cg", "ccccc"), ("mvp", "cdc"), ("dg", "dcdcc")]
)
@pytest.mark.parametrize("search", BOTH)
def test_equals_the_slow_twin_on_small_tables(search: str, test: str, kinds: str) -> None:
    alpha, agreed = 0.1, 0
    for seed in range(12):
        data = table(seed, kinds)
        tests = IndependenceTests(data, test)
        p = cache(lambda x, y, given, tests=tests: tests(x, y, given).p_value)
        names, most = sorted(data.names), len(kinds)
        joined, parted = slow.skeleton(names, p, alpha, most)
        found = sp.find(data, "pcart", search=search, test=test, alpha=alpha, max_parents=None, n_jobs=1)
        assert of(found).skeleton() == joined
        assert found.separations is not None
        assert {frozenset((own.x, own.y)): own.given for own in found.separations} == {
            k: v for k, v in parted.items() if v
        }
        for own in found.separations:
            assert own.p_value == pytest.approx(p(own.x, own.y, own.given), rel=1e-9, abs=1e-15)
        colliders = (
            slow.colliders_by_one_set(names, joined, parted)
            if search == "pc"
            else slow.colliders_by_all_sets(names, joined, p, alpha, most)
        )
        dags = slow.members(names, joined, colliders)
        if dags:  # else tests contradict each other
            agreed += 1
            assert found.graph == sp.DAG(names, dags[0]).cpdag()
            assert {name: tuple(sorted(own)) for name, own in found.parents.items()} in dags
            assert not any("more" in note for note in found.notes)
        else:
            assert any("contradict" in note or "more" in note for note in found.notes)
        assert found.score == pytest.approx(sp.score(data, found.parents, "pcart"))
    assert agreed >= 6


def test_conditioning_is_limited() -> None:
    data = table(3, "ccccc", 400)
    asked: set[int] = set()

    def test(data: sp.Dataset, x: str, y: str, given: tuple[str, ...]) -> float:
        asked.add(len(given))
        return IndependenceTests(data, "cg")(x, y, given).p_value

    for most in (0, 1, "all"):
        asked.clear()
        found = sp.find(data, "cg", search="cpc", test=test, max_conditioning=most, max_parents=None, alpha=0.2)
        assert max(asked) == most if most != "all" else max(asked) >= 2
        same = sp.find(data, "bge", search=f"cpc(test=cg, max_conditioning={most}, alpha=0.2)", max_parents=None)
        assert same.graph == found.graph
        for one, other in zip(same.separations or (), found.separations or (), strict=True):
            assert (one.x, one.y, one.given) == (other.x, other.y, other.given)
            assert one.p_value == pytest.approx(other.p_value)


# --- contradictions and constraints ----------------------------------------------------------------------------------


def consistent(found: sp.Found) -> bool:
    """The member has the edges and the arrows of the class, and the class has the colliders of the member only."""
    dag = sp.DAG(tuple(found.parents), found.parents)
    return (
        dag.skeleton() == of(found).skeleton()
        and of(found).directed <= set(dag.edges)
        and dag.cpdag() == of(found).extension().cpdag()
        and dag.cpdag().directed <= of(found).directed
    )


@pytest.mark.parametrize("search", BOTH)
def test_every_answer_is_a_class_whatever_the_tests_say(search: str) -> None:
    """p-values that are drawn at random agree with no graph."""
    contradicting = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        names = list("abcdefg"[: rng.integers(2, 8)])
        drawn: dict[Any, float] = {}

        def test(data: Any, x: str, y: str, given: Any, drawn: Any = drawn, rng: Any = rng) -> float:
            return drawn.setdefault((x, y, given), float(rng.random() ** 10))

        found = sp.find(columns(names), "bge", search=search, test=test, alpha=0.2, max_parents=None, n_jobs=1)
        assert consistent(found)
        contradicting += any("contradict" in note or "more" in note for note in found.notes)
    assert contradicting >= 15


@pytest.mark.parametrize("search", BOTH)
def test_a_ring_without_colliders_gets_one_and_says_so(search: str) -> None:
    """a - b - c - d - a, opposite ones independent given the other two: true of no DAG."""
    pairs = {("a", "c"): ("b", "d"), ("b", "d"): ("a", "c")}
    found = sp.find(
        columns(list("abcd")),
        "bge",
        search=search,
        test=lambda data, x, y, given: float(pairs.get((x, y)) == given),
    )
    assert of(found).skeleton() == {frozenset(pair) for pair in ("ab", "bc", "cd", "ad")}
    assert len(of(found).directed) == 2 and consistent(found)
    assert any(note.endswith("this one has 1 more") for note in found.notes)


@pytest.mark.parametrize("search", BOTH)
def test_the_surer_of_two_colliders_holds(search: str) -> None:
    """a - b - c - d in which b and c are both colliders: b - c cannot point both ways."""
    for sure, arrows in (("ac", {("a", "b"), ("c", "b")}), ("bd", {("b", "c"), ("d", "c")})):
        p = {("a", "c"): 0.5, ("b", "d"): 0.5, ("a", "d"): 0.9, tuple(sure): 0.8}

        def test(data: Any, x: str, y: str, given: tuple[str, ...], p: Any = p) -> float:
            return p.get((x, y), 0.0) if not given else 0.0

        found = sp.find(columns(list("abcd")), "bge", search=search, test=test, alpha=0.1)
        assert arrows <= of(found).directed
        assert any(note.startswith("1 collider ") for note in found.notes)


@pytest.mark.parametrize("search", BOTH)
def test_constraints_hold_in_random_cases(search: str) -> None:
    dropped = 0
    for seed in range(250):
        rng = np.random.default_rng([7, seed])
        names = [f"v{i}" for i in range(5)]
        data = table(seed % 10, "ccccc", 120)
        order = list(rng.permutation(names))
        pairs = [(a, b) for a, b in combinations(order, 2)]
        required = [pair for pair in pairs if rng.random() < 0.1]
        forbidden = [(a, b) for a in names for b in names if a != b and (a, b) not in required and rng.random() < 0.25]
        tiers = [] if rng.random() < 0.5 else [order[:2], order[2:4]]
        limit = int(rng.integers(max(1, max(sum(c == n for _, c in required) for n in names)), 5))
        constraints = sp.Constraints(required, forbidden, tiers, {names[0]: 4, names[1]: limit})
        found = sp.find(data, "dg", search=search, alpha=0.3, constraints=constraints, max_parents=limit, n_jobs=1)
        allowed = allowed_by(constraints, names, limit)
        for child, own in found.parents.items():
            assert allowed.permits(child, own)
        assert consistent(found)
        for parent, child in sp.DAG(names, found.parents).edges:
            only = child not in allowed.candidates[parent] or parent in allowed.required[child]
            assert not only or (parent, child) in of(found).directed
        dropped += any("left out" in note for note in found.notes)
    assert dropped


def test_edges_beyond_max_parents_are_left_out_weakest_first_and_said() -> None:
    rng = np.random.default_rng(1)
    causes = {name: rng.normal(size=500) for name in "abcd"}
    frame = {
        **causes,
        "z": sum(w * causes[n] for n, w in zip("abcd", (2, 1.5, 1, 0.3), strict=True)) + rng.normal(size=500),
    }
    data = sp.Dataset.from_frame(frame)
    free = sp.find(data, "bge", search="pc", max_parents=None)
    assert free.parents["z"] == ("a", "b", "c", "d") and not free.notes
    constraints = sp.Constraints(tiers=[list("abcd"), ["z"]])
    found = sp.find(data, "bge", search="pc", constraints=constraints, max_parents=3)
    assert found.parents["z"] == ("a", "b", "c")
    assert any("left out 1 edge" in note for note in found.notes)


# --- what changes nothing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", BOTH)
def test_threads_columns_rows_and_names_change_nothing(search: str) -> None:
    for seed in range(6):
        data = table(seed, "cdcdcdc", 300)
        first = sp.find(data, "cg", search=search, alpha=0.1, n_jobs=1)
        frame = data.to_pandas()
        rng = np.random.default_rng(seed)
        other = frame.sample(frac=1, random_state=seed)[list(rng.permutation(frame.columns))]
        kinds = dict(data.kinds)
        again = sp.find(sp.Dataset.from_frame(other, kinds=kinds), "cg", search=search, alpha=0.1, n_jobs=2)
        assert again.as_dict() == {**first.as_dict(), "parents": again.as_dict()["parents"]}
        assert again.parents == first.parents
        # Other names: the same class. Ties go by name, and p-values have none.
        new = dict(zip(data.names, rng.permutation([f"w{i}" for i in range(7)]), strict=True))
        renamed = sp.Dataset.from_frame(frame.rename(columns=new), kinds={new[n]: kind for n, kind in kinds.items()})
        found = sp.find(renamed, "cg", search=search, alpha=0.1, max_parents=None)
        plain = sp.find(data, "cg", search=search, alpha=0.1, max_parents=None)
        assert of(found).directed == {(new[a], new[b]) for a, b in of(plain).directed}
        assert of(found).undirected == {frozenset(new[n] for n in pair) for pair in of(plain).undirected}


def test_hash_seeds_change_nothing(tmp_path: Path) -> None:
    table(4, "cdcdc", 200).write(tmp_path / "t.csv")
    outputs = set()
    for seed in ("0", "1", "77"):
        code = "import sys; from spinney.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", code, "learn", str(tmp_path / "t.csv"), "--search", "cpc(alpha=0.1)", "--json"]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        outputs.add(subprocess.run(command, env=env, capture_output=True, check=True, text=True).stdout)
    assert len(outputs) == 1 and '"returns": "class"' in outputs.pop()


# --- ends, files, words ----------------------------------------------------------------------------------------------


def slow_test(data: sp.Dataset, x: str, y: str, given: tuple[str, ...]) -> float:
    time.sleep(0.004)
    return 0.0 if len(given) == 0 else 0.5 * (x < "c")


@pytest.mark.parametrize("search", BOTH)
def test_the_time_limit_keeps_what_is_there(search: str) -> None:
    data = columns([f"v{i:02}" for i in range(24)])
    found = sp.find(data, "bge", search=search, test=slow_test, time_limit=0.5, n_jobs=1)
    assert found.stopped == "time limit" and consistent(found)
    assert any("no time to test" in note for note in found.notes)
    everything = sp.find(columns(list("abcde")), "bge", search=search, test=slow_test, time_limit=60)
    assert not everything.stopped and consistent(everything)


def test_ctrl_c_keeps_what_is_there() -> None:
    asked = 0

    def test(data: sp.Dataset, x: str, y: str, given: tuple[str, ...]) -> float:
        nonlocal asked
        asked += 1
        if asked == 30:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.003)
        return 0.0

    result = sp.learn(columns(list("abcdefgh")), "bge", search="pc", test=test, n_jobs=1)
    assert result.found.stopped == "interrupted" and consistent(result.found)
    assert set(result.network.names) == set("abcdefgh")


def test_learn_fits_a_member_and_files_keep_the_class_and_the_sets(tmp_path: Path, capsys: Any) -> None:
    data = table(5, "cdcdc", 300)
    result = sp.learn(data, "cg", search="pc", alpha=0.05)
    assert result.plan.search == "pc(alpha=0.05, test=auto, max_conditioning=all)"
    assert result.network.score == pytest.approx(result.found.score)
    assert dict(result.network.parents) == result.found.parents
    assert result.found.bound == float("inf") and "tests of independence" in result.found.certainty
    result.found.write(tmp_path / "found.json")
    again = sp.Found.read(tmp_path / "found.json")
    assert again.graph == result.found.graph and again.separations == result.found.separations
    data.write(tmp_path / "t.parquet")
    assert main(["learn", str(tmp_path / "t.parquet"), "--score", "cg", "--search", "pc(alpha=0.05)", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["returns"] == "class" and record["separations"] == result.found.as_dict()["separations"]


@pytest.mark.parametrize(
    ("score", "test", "same"),
    [("mvp", "auto", "mvp"), ("bdeu", "auto", "g2"), ("bic", "auto", "g2"), ("pcart", "auto", "cg")],
)
def test_the_test_follows_the_score_unless_told(score: str, test: str, same: str) -> None:
    data = table(6, "dddd" if same == "g2" else "cdcd", 200)
    one = sp.find(data, score, search="pc", test=test, alpha=0.1)
    other = sp.find(data, score, search="pc", test=same, alpha=0.1)
    assert one.graph == other.graph and one.separations == other.separations


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"test": "bdeu"}, "not a test of independence; use one of g2"),
        ({"test": "nothing"}, "there is no score 'nothing'"),
        ({"test": "g2"}, "column '.*' is continuous"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1}, "alpha"),
        ({"max_conditioning": -1}, "max_conditioning"),
        ({"start": {"v1": ["v0"]}}, "does not use a start"),
        ({"test": lambda data, x, y, given: "yes"}, "a p-value is a number from 0 to 1"),
        ({"test": lambda data, x, y, given: 1.5}, "returned 1.5"),
    ],
)
def test_wrong_questions_get_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ChoiceError, match=sentence):
        sp.find(table(1, "cd", 20), search="pc", **change)


def test_parent_sets_are_refused() -> None:
    sets = sp.score_parent_sets(table(1, "cd", 20))
    with pytest.raises(ChoiceError, match="needs the data"):
        sp.search(sets, method="cpc")


def test_columns_that_say_nothing_are_alone() -> None:
    frame = {"one": ["a"] * 40, "same": np.full(40, 2.0), "x": np.arange(40.0), "y": np.arange(40.0) ** 2}
    kinds = {"one": "categorical", "same": "continuous", "x": "continuous", "y": "continuous"}
    data = sp.Dataset.from_frame(frame, kinds=kinds, keep_all=True)
    for search in BOTH:
        assert of(sp.find(data, "cg", search=search)).skeleton() == {frozenset("xy")}


# --- knowledge in graphs ---------------------------------------------------------------------------------------------


def test_arrows_that_follow_from_knowledge_are_those_of_all_members() -> None:
    """Meek's rules against all members of every class of four nodes, with one or two arrows known."""
    classes: dict[Any, list[set[tuple[str, str]]]] = {}
    graphs = {}
    for dag in all_dags(list("abcd")):
        key = equivalence_class(dag)
        classes.setdefault(key, []).append({(p, c) for c, own in dag.items() for p in own})
        graphs[key] = dag
    for key, members in classes.items():
        cpdag = sp.DAG(tuple("abcd"), graphs[key]).cpdag()
        for known in (c for m in members for size in (0, 1, 2) for c in combinations(sorted(m - cpdag.directed), size)):
            have = [member for member in members if set(known) <= member]
            found = cpdag.with_arrows(known)
            assert found.directed == set.intersection(*have)
            assert found.skeleton() == cpdag.skeleton()
