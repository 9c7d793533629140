"""Candidate parents that a method chooses.

In:  tables whose network is known, and laws: what may not matter, and what must hold.
Out: screen equals its slow twin; both methods find true parents, respect the constraints, and give the same lists
whatever the threads, the hash seed, the names, the units, and the order of rows and columns."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import spinney as sp
from slow.association import association
from slow.forest import forest_gains
from spinney.candidates import forest, screen
from spinney.catalog import CANDIDATES, choose_candidates
from spinney.cli import main
from spinney.constraints import allowed_by
from spinney.job import Job
from spinney.scores import build_source

METHODS = ["screen(k=3)", "forest(k=3, screen=6, trees=12)"]
EVERY_METHOD = pytest.mark.parametrize("method", METHODS)


def columns(rows: int = 300, seed: int = 1) -> dict[str, Any]:
    """Ten columns of all kinds. f depends on b by its square, which no correlation sees; c on a and b; h on c and d."""
    rng = np.random.default_rng(seed)
    a = rng.choice(["lo", "mid", "hi"], rows, p=[0.5, 0.3, 0.2])
    b = rng.normal(size=rows)
    c = np.select([a == "lo", a == "mid"], [1.0, -1.0], 0.3) + 0.8 * b + 0.5 * rng.normal(size=rows)
    d = rng.choice(["red", "green", "blue", "grey"], rows)
    e = rng.exponential(size=rows)
    f = b**2 + 0.3 * rng.normal(size=rows)
    g = rng.choice(["no", "yes"], rows)
    h = np.where((c > 0) ^ (rng.random(rows) < 0.1), np.where(d == "red", "p", "q"), "r")
    i = rng.normal(size=rows)
    j = np.digitize(e + 0.2 * rng.normal(size=rows), [0.4, 1.0, 2.0])
    return {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j}


KINDS = {"j": sp.Ordinal(("0", "1", "2", "3"))}
PARENTS = {"c": {"a", "b"}, "f": {"b"}, "h": {"c", "d"}, "j": {"e"}}


def made(table: dict[str, Any], kinds: Any = None) -> sp.Dataset:
    return sp.Dataset.from_frame(table, kinds=KINDS if kinds is None else kinds)


def lists(data: sp.Dataset, method: str, **more: Any) -> dict[str, list[str]]:
    plan = sp.learn(data, "pcart", search="hc(restarts=0)", max_parents=1, candidates=method, **more).plan
    assert plan.candidates is not None
    return plan.candidates


def job_of(data: sp.Dataset, constraints: sp.Constraints | None = None, **more: Any) -> Job:
    source = build_source(data, "pcart", "uniform")
    return Job(source.restrict(allowed_by(constraints, data.names, None)), source, **more)


# the screen


def measures(data: sp.Dataset) -> Any:
    """Of every column with every other, block by block."""
    features = screen._features(data)
    return np.vstack([screen._block(features, begin, end, data.n_rows) for begin, end in features.blocks()])


def test_the_screen_equals_its_slow_twin() -> None:
    """Also with rare levels, a constant column, ties, and blocks of one column."""
    table = columns(120)
    table["d"][:3] = ["x", "y", "z"]
    table["k"], table["i"] = np.repeat("same", 120), np.round(table["i"])
    kinds = {**KINDS, "i": "continuous", "k": sp.Categorical(("same",))}
    data = sp.Dataset.from_frame(table, kinds=kinds, keep_all=True)
    cells = {
        name: (kind.word, (data.codes(name) if kind.discrete else data.values(name)).tolist())
        for name, kind in data.kinds.items()
    }
    wanted = [[association(cells[a], cells[b]) for b in data.order] for a in data.order]
    found = measures(data)
    others = ~np.eye(len(found), dtype=bool)
    assert found[others] == pytest.approx(np.array(wanted)[others], rel=1e-9, abs=1e-9)


def test_a_screen_without_time_takes_the_largest_correlations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block of columns is measured as ever; the others by one score per column."""
    data = made(columns())
    job = job_of(data)
    whole = screen.strongest(job, 3)
    assert screen.within(job, 3, 1000.0) == (whole, ())
    monkeypatch.setattr(screen, "CELLS", 1)
    lists, unfinished = screen.within(job, 3, 1e-9)
    assert set(unfinished) == set(data.order[1:]) and lists[data.order[0]] == whole[data.order[0]]
    scores = []
    for name in data.order:
        if data.kinds[name].word == "categorical":
            codes = data.codes(name)
            scores.append((codes == np.bincount(codes).argmax()).astype(float))
        else:
            scores.append(np.clip(np.rint(32 * screen.normal_scores(data, name)), -127, 127))
    sizes = np.round(np.corrcoef(scores) ** 2, 6)
    for child in unfinished:
        place = data.order.index(child)
        others = [i for i in range(len(data.order)) if i != place]
        assert lists[child] == tuple(data.order[i] for i in sorted(others, key=lambda i: -sizes[place, i])[:3])
    picked = screen.run(job, choose_candidates("screen(k=3)"), 1e-9)
    assert picked.stopped == "time limit" and picked.unfinished == unfinished


def test_blocks_and_chunks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = made(columns())
    whole = measures(data)
    monkeypatch.setattr(screen, "CELLS", 200)
    monkeypatch.setattr(screen, "ROWS", 37)
    assert np.array_equal(measures(data), whole)


def test_significance_of_noise_is_about_the_same_for_all_kinds() -> None:
    """Of independent columns no kind, and no number of levels, is preferred: the largest of 40 is a fair race."""
    rng = np.random.default_rng(5)
    winners = []
    for _ in range(40):
        table: dict[str, Any] = {"y": rng.choice(["u", "v", "w"], 400)}
        table |= {f"two{i}": rng.choice(["0", "1"], 400) for i in range(4)}
        table |= {f"ten{i}": rng.choice([str(level) for level in range(10)], 400) for i in range(4)}
        table |= {f"real{i}": rng.normal(size=400) for i in range(4)}
        data = sp.Dataset.from_frame(table, kinds={name: "categorical" for name in table if name[0] == "t"})
        winners.append(screen.strongest(job_of(data), 1)["y"][0][:3])
    assert all(winners.count(kind) >= 3 for kind in ("two", "ten", "rea")), winners


# what is found


@EVERY_METHOD
def test_true_parents_are_among_the_candidates(method: str) -> None:
    found = lists(made(columns(600)), method)
    for child, parents in PARENTS.items():
        assert parents <= set(found[child]), (child, found[child])


@pytest.mark.parametrize("local", ["table", "tree", "linear", "spline"])
def test_forests_find_most_parents_of_simulated_networks(local: str) -> None:
    net = sp.simulate.random_network(30, 2, local=local, max_degree=4, seed=4)
    found = lists(net.sample(1000, seed=1), "forest(k=5)")
    edges = [(parent, child) for child, own in net.dag.parents.items() for parent in own]
    assert np.mean([parent in found[child] for parent, child in edges]) >= 0.75


def many_levels(rows: int) -> dict[str, Any]:
    """The ten columns, a constant one, one with a level in nearly every row, and one with 90 classes."""
    table = columns(rows)
    rng = np.random.default_rng(4)
    table["k"], table["l"] = np.repeat("same", rows), rng.integers(0, 400, rows).astype(str)
    table["m"] = rng.choice([f"class {i}" for i in range(90)], rows, p=np.arange(1, 91) / 4095)
    return table


@pytest.mark.parametrize(("rows", "trees"), [(40, 8), (150, 4), (600, 1)])
def test_forests_equal_their_slow_twin(rows: int, trees: int) -> None:
    table = many_levels(rows)
    kinds = {**KINDS, "k": sp.Categorical(("same",)), **dict.fromkeys("lm", "categorical")}
    data = sp.Dataset.from_frame(table, kinds=kinds, keep_all=True)
    children = {child: tuple(name for name in data.names if name != child) for child in "acdgjkm"}
    method = choose_candidates(f"forest(trees={trees})")
    found, stopped = forest.gains(data, children, method, job_of(data, seed=5, threads=2), 0.0)
    assert list(found) == list(children) and stopped == ""
    for child, own in children.items():
        ordered = [(forest.codes(data, name).tolist(), data.kinds[name].word != "categorical") for name in own]
        discrete = data.kinds[child].discrete
        target = (data.codes(child) if discrete else forest.numbers(data, child)).tolist()
        wanted = forest_gains(target, discrete, ordered, trees, 5)
        assert found[child] == pytest.approx(wanted, rel=1e-9, abs=1e-9 * max(map(abs, wanted), default=0)), child
        assert child == "k" or np.abs(wanted).max() > 0


# what may not matter


@EVERY_METHOD
def test_neither_order_nor_names_nor_units_nor_threads_matter(method: str) -> None:
    table = columns()
    first = lists(made(table), method, n_jobs=1)
    assert lists(made(table), method, n_jobs=3) == first
    assert lists(made(dict(reversed(table.items()))), method) == first
    order = np.random.default_rng(2).permutation(300)
    assert lists(made({name: column[order] for name, column in table.items()}), method) == first
    scaled = {name: 1000 * column - 7 if column.dtype == float else column for name, column in table.items()}
    assert lists(made(scaled), method) == first
    turned = {name: f"n{9 - place}" for place, name in enumerate(table)}
    renamed = made({turned[name]: column for name, column in table.items()}, {turned["j"]: KINDS["j"]})
    assert lists(renamed, method) == {turned[c]: sorted(turned[p] for p in own) for c, own in first.items()}
    levels = {"lo": "z", "mid": "m", "hi": "a", "red": "4", "green": "1", "blue": "2", "grey": "3", "p": "r", "r": "p"}
    other = {n: np.array([levels.get(v, v) for v in c]) if n in "adh" else c for n, c in table.items()}
    assert lists(made(other), method) == first


def test_hash_seeds_do_not_matter() -> None:
    script = "import test_candidates as t; data = t.made(t.columns()); print([t.lists(data, m) for m in t.METHODS])"
    answers = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        )
        answers.add(done.stdout)
    assert len(answers) == 1 and answers.pop().startswith("[{")


def test_the_seed_is_that_of_the_job() -> None:
    data = made(columns(80))
    method = "forest(k=2, trees=1)"
    assert lists(data, method, seed=7) == lists(data, method, seed=7)
    assert len({str(lists(data, method, seed=seed)) for seed in range(4)}) > 1


# constraints


@EVERY_METHOD
def test_only_allowed_columns_are_candidates_and_required_ones_always(method: str) -> None:
    data = made(columns())
    limits = sp.Constraints(
        required=[("i", "c"), ("g", "f")], forbidden=[("b", "c"), ("e", "j")], tiers=[["a", "b", "d"], ["c", "h"]]
    )
    found = lists(data, method, constraints=limits)
    allowed = allowed_by(limits, data.names)
    for child, own in found.items():
        assert set(own) <= set(allowed.candidates[child]) and set(own) >= set(allowed.required[child])
        assert len(own) <= 3 + len(allowed.required[child])
    assert "b" not in found["c"] and "i" in found["c"] and "g" in found["f"] and "c" not in found["a"]


# learn, find, score_parent_sets


@EVERY_METHOD
def test_the_answer_is_that_of_the_chosen_lists(method: str) -> None:
    data = made(columns())
    result = sp.learn(data, "cg", search="exact", max_parents=None, candidates=method, seed=3)
    listed = sp.learn(data, "cg", search="exact", max_parents=None, candidates=result.plan.candidates, seed=3)
    assert result.network.parents == listed.network.parents and result.found.bound == listed.found.bound
    assert result.plan.candidates_by == str(choose_candidates(method)) and listed.plan.candidates_by is None
    assert sp.find(data, "cg", search="exact", max_parents=None, candidates=method, seed=3).score == result.found.score
    sets = sp.score_parent_sets(data, "cg", max_parents=None, candidates=method, seed=3, prune=False)
    assert sets.families == 10 * 2**3
    assert {child: sorted({p for own, _ in sets.of(child) for p in own}) for child in sets.names} == (
        result.plan.candidates
    )
    again = sp.search(sets, "exact")
    assert again.score == pytest.approx(result.found.score, rel=1e-12) and again.over == result.found.over
    assert list(result.seconds) == ["candidates", "score", "search", "fit"]


def test_the_proof_is_over_the_candidate_sets_and_says_so() -> None:
    data = made(columns())
    result = sp.learn(data, "cg", search="exact", candidates="screen(4)")
    assert result.found.closed and not result.found.optimal
    assert result.found.certainty == "the best over the candidate sets of screen(k=4)"
    assert "candidates: screen(k=4) chose 4 of 9 columns for each child" in result.notes
    every = sp.learn(data, "cg", search="exact", candidates="screen(20)")
    whole = sp.learn(data, "cg", search="exact")
    assert every.network.parents == whole.network.parents and whole.found.optimal
    climbed = sp.learn(data, "cg", search="hc", candidates="screen(4)").found
    assert climbed.over == result.found.over and climbed.certainty.startswith("no proof")


def test_a_choice_and_a_text_are_the_same() -> None:
    data = made(columns(100))
    by_text = sp.learn(data, "cg", candidates=" Screen( 2 ) ").plan
    assert by_text == sp.learn(data, "cg", candidates=choose_candidates("screen(k=2)")).plan
    assert list(CANDIDATES) == ["screen", "forest"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("forst(5)", ("forst", "'forest'")),
        ("forest(k=0)", ("forest", "k")),
        ("screen(trees=4)", ("screen", "trees")),
        ("bdeu", ("bdeu", "screen, forest")),
        (["a"], ("dict", "forest(k=5)")),
    ],
)
def test_what_is_wrong_is_said_before_computing(given: Any, words: tuple[str, ...]) -> None:
    data = made(columns(50))
    for call in (sp.learn, sp.find, sp.score_parent_sets):
        with pytest.raises(sp.ChoiceError) as error:
            call(data, candidates=given)
        assert all(word in str(error.value) for word in words)


@EVERY_METHOD
@pytest.mark.parametrize("rows", [1, 2, 3, 8])
def test_tiny_tables(method: str, rows: int) -> None:
    table = {name: column[:rows] for name, column in columns().items()}
    data = sp.Dataset.from_frame(table, keep_all=True, kinds={**KINDS, **dict.fromkeys("bcefi", "continuous")})
    assert all(len(own) == 3 for own in lists(data, method).values())
    pair = data.select(["a", "b"])
    assert lists(pair, method) == {"a": ["b"], "b": ["a"]}


# time and Ctrl-C


def test_the_time_limit_and_ctrl_c_leave_the_screens_candidates() -> None:
    data = made(columns())
    by_screen = {child: set(own) for child, own in lists(data, "screen(k=3)").items()}
    method = "forest(k=3, trees=1000000)"
    result = sp.learn(data, "cg", search="exact", candidates=method, time_limit=1.0)
    assert result.found.stopped == "time limit" and result.plan.candidates is not None
    assert {child: set(own) for child, own in result.plan.candidates.items()} == by_screen
    assert any("10 columns, which have the candidates of screen" in note for note in result.notes)

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "forests":
            raise KeyboardInterrupt

    result = sp.learn(data, "cg", search="exact", candidates=method, progress=interrupt)
    assert result.found.stopped == "interrupted" and result.found.closed
    assert any("before the interrupt" in note for note in result.notes)
    with pytest.raises(KeyboardInterrupt):
        sp.score_parent_sets(data, "cg", candidates=method, progress=interrupt)


def test_what_was_finished_before_ctrl_c_is_kept() -> None:
    data = made(columns(1000))
    job = job_of(data)
    method = choose_candidates("forest(k=3, screen=6, trees=500)")
    whole = forest.run(job, method, None)

    def interrupt(what: str, done: int, total: int) -> None:
        if done >= 2:
            raise KeyboardInterrupt

    part = forest.run(job_of(data, progress=interrupt), method, None)
    finished = [child for child in data.names if child not in part.unfinished]
    assert 2 <= len(finished) < 10 and part.stopped == "interrupted"
    assert all(part.lists[child] == whole.lists[child] for child in finished)
    by_screen = screen.strongest(job, 3)
    assert all(tuple(part.lists[child]) == by_screen[child] for child in part.unfinished)


def test_a_limit_per_child_keeps_the_trees_that_were_grown() -> None:
    data = made(columns())
    picked = forest.run(job_of(data), choose_candidates("forest(k=3, trees=1000000, seconds=0.05)"), None)
    assert not picked.unfinished and not picked.stopped
    assert {"a", "b"} <= set(picked.lists["c"])


# the command line


@pytest.fixture
def folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    made(columns()).write("table.csv")
    return tmp_path


def test_the_command_line_takes_a_method(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    words = ["learn", "table.csv", "--score", "cg", "--search", "exact", "--candidates", "forest(k=3, trees=12)"]
    assert main([*words, "--json", "--seed", "2"]) == 0
    answer = json.loads(capsys.readouterr().out)
    result = sp.learn(sp.Dataset.read("table.csv"), "cg", search="exact", candidates="forest(k=3, trees=12)", seed=2)
    assert answer["plan"] == result.plan.as_dict() and answer["over"] == result.found.over
    assert main(words) == 0
    said = capsys.readouterr()
    assert "the best over the candidate sets of forest(k=3, trees=12)" in said.out
    assert "candidates: forest(k=3, trees=12) chose 3 of 9 columns" in said.err
    assert main(["families", "table.csv", "--score", "cg", "--candidates", "screen(2)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["families"] == 10 * 2**2
    assert main(["list", "candidates"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name}(" in listed for name in CANDIDATES)
    assert main(["learn", "table.csv", "--candidates", "forest(z=3)"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_pair_of_kinds_has_an_association() -> None:
    """A strong dependence is seen between any two kinds, in both directions."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=400)
    table = {
        "real": x,
        "square": (x**2 + 0.1 * rng.normal(size=400)),
        "word": np.where(x > 0.5, "u", np.where(x > -0.5, "v", "w")),
        "step": np.digitize(x, [-1, 0, 1]),
        **{f"noise{i}": rng.normal(size=400) for i in range(6)},
        **{f"coin{i}": rng.choice(["h", "t"], 400) for i in range(6)},
    }
    data = sp.Dataset.from_frame(table, kinds={"step": sp.Ordinal(("0", "1", "2", "3"))})
    found = screen.strongest(job_of(data), 3)
    true = {"real", "square", "word", "step"}
    for one, other in itertools.permutations(true, 2):
        assert other in found[one], (one, found[one])
