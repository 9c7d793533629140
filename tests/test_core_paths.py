"""The paths of the core that small random cases do not reach: wide columns, many variables, threads, interruptions.

In:  tables made here.
Out: agreement with plain Python, and the promises about time limits, Ctrl-C and callbacks."""

from __future__ import annotations

import copy
import gc
import itertools
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import spinney as sp
from spinney import _core
from spinney.catalog import choose_score


def table(rows: int, levels: list[int], seed: int = 0) -> sp.Dataset:
    """Columns c00, c01, ... each leaning on the one before."""
    rng = np.random.default_rng(seed)
    codes, before = [], np.zeros(rows, int)
    for size in levels:
        before = (before * 7 + rng.integers(0, max(2, size // 2), rows)) % size
        codes.append(before.copy())
    names = [f"c{i:02d}" for i in range(len(levels))]
    return sp.Dataset.from_codes(names, codes, [tuple(f"l{k}" for k in range(size)) for size in levels])


def plain_log_likelihood(data: sp.Dataset, child: str, parents: list[str]) -> float:
    counts: dict[tuple[int, ...], dict[int, int]] = {}
    for row in range(data.n_rows):
        own = counts.setdefault(tuple(int(data.codes(p)[row]) for p in parents), {})
        own[int(data.codes(child)[row])] = own.get(int(data.codes(child)[row]), 0) + 1
    return math.fsum(n * math.log(n / sum(row.values())) for row in counts.values() for n in row.values())


@pytest.mark.parametrize("levels", [[2, 30, 3], [300, 4, 25], [25, 1000, 2]])
def test_columns_with_many_levels(levels):
    data = table(2000, levels)
    for child in data.names:
        others = [n for n in data.names if n != child]
        for parents in ([], others[:1], others):
            expected = plain_log_likelihood(data, child, parents)
            assert sp.local_score(data, child, parents, score="ll") == pytest.approx(expected, rel=1e-10, abs=1e-8)
        listed = dict(sp.score_parent_sets(data, "ll", max_parents=2, prune=False, bounds=False).of(child))
        assert listed[tuple(sorted(others))] == pytest.approx(plain_log_likelihood(data, child, others), abs=1e-7)


@pytest.mark.parametrize("ess", [1e3, 1e6, 1e12, 1e50])
@pytest.mark.parametrize("rows", [50, 3000])
def test_large_pseudo_counts(ess, rows):
    data = table(rows, [3, 2])
    a = ess / 6
    expected = 0.0
    for j in range(2):
        mask = data.codes("c01") == j
        counts = np.bincount(data.codes("c00")[mask], minlength=3)
        expected += math.fsum(math.log1p(i / a) for n in counts for i in range(int(n)))
        expected -= math.fsum(math.log1p(i / (3 * a)) for i in range(int(counts.sum()))) + counts.sum() * math.log(3)
    assert sp.local_score(data, "c00", ["c01"], score=sp.BDeu(ess=ess)) == pytest.approx(expected, rel=1e-11)


def plain_dp(sets: sp.ParentSets) -> float:
    """Silander and Myllymaki without any cleverness."""
    n = len(sets.order)
    listed = [[(sum(1 << sets.order.index(p) for p in ps), s) for ps, s in sets.of(child)] for child in sets.order]
    best = [0.0] + [-math.inf] * (2**n - 1)
    for w in range(1, 2**n):
        for v in range(n):
            if w >> v & 1:
                rest = w & ~(1 << v)
                best[w] = max(best[w], best[rest] + next(s for mask, s in listed[v] if not mask & ~rest))
    return best[-1]


@pytest.mark.parametrize("threads", [1, 2])
def test_dp_beyond_one_block(threads):
    data = table(200, [2, 3] * 6 + [2, 2], seed=3)  # 14 variables: the high bits of the subsets come into play
    sets = sp.score_parent_sets(data, "bic", max_parents=2)
    found = sp.search(sets, "dp", n_jobs=threads)
    assert found.score == pytest.approx(plain_dp(sets), rel=1e-12)
    assert found.score == pytest.approx(sp.score(data, found.parents, "bic"), rel=1e-12)


@pytest.mark.parametrize("method", ["hc", "tabu"])
def test_greedy_is_the_same_on_any_number_of_threads(method):
    data = table(500, [2, 3, 4, 2, 3, 2, 2, 3], seed=5)
    one, two = (sp.find(data, "bdeu", search=method, n_jobs=n) for n in (1, 2))
    assert one.parents == two.parents
    assert one.score == two.score


def test_no_restarts_is_one_plain_climb():
    data = table(300, [2, 3, 4, 2, 3, 2], seed=7)
    assert len({sp.find(data, "bic", search="hc", restarts=0, seed=s).score for s in range(5)}) == 1


def test_no_rows():
    data = sp.Dataset.from_codes(["a", "b"], [np.zeros(0, int)] * 2, [("x", "y")] * 2)
    for score in ("bic", "bdeu", "bds", "fnml", "qnml", "mit"):
        assert sp.local_score(data, "a", ["b"], score=score) <= 0
        assert sp.find(data, score, search="hc").parents == {"a": (), "b": ()}


def test_more_joint_levels_than_a_number_holds():
    data = table(20, [2] * 1100)
    with pytest.raises(sp.LimitError, match="name fewer"):
        sp.local_score(data, "c00", data.names[1:], score="bic")


def test_more_levels_than_codes_are_refused():
    with pytest.raises(sp.DataError, match="65,536"):
        sp.Dataset.from_codes(["a"], [np.array([69_999])], [tuple(map(str, range(70_000)))])


def test_required_edges_on_sets_pruned_without_them(tmp_path):
    data = table(60, [2, 2, 2, 2], seed=1)
    edges = [(a, b) for a, b in itertools.permutations(data.names, 2)]
    for pair in edges:
        known = sp.Constraints(required=[pair])
        best = sp.find(data, "bic", search="dp", constraints=known)
        whole = sp.score_parent_sets(data, "bic", prune=False)
        assert sp.search(whole, "dp", known).score == pytest.approx(best.score, rel=1e-12)
        pruned = sp.score_parent_sets(data, "bic")
        pruned.write(tmp_path / "pruned.jkl")
        for sets in (pruned, sp.ParentSets.read(tmp_path / "pruned.jkl")):
            with pytest.raises(sp.ChoiceError, match="pruned without it"):
                sp.search(sets, "dp", known)
        scored = sp.score_parent_sets(data, "bic", constraints=known)
        scored.write(tmp_path / "required.jkl")
        for sets in (scored, sp.ParentSets.read(tmp_path / "required.jkl")):
            assert sp.search(sets, "dp", known).score == pytest.approx(best.score, rel=1e-12)


def test_candidates_may_come_from_an_iterator_but_not_as_text():
    data = table(100, [2, 2, 2])
    sets = sp.score_parent_sets(data, candidates={"c00": iter(["c01", "c02"])}, prune=False)
    assert len(sets.of("c00")) == 4
    with pytest.raises(sp.ChoiceError, match="must be a list"):
        sp.score_parent_sets(data, candidates={"c00": "c01"})
    with pytest.raises(sp.ChoiceError, match="write a list"):
        sp.fit(data, {"c00": "c01"})


@pytest.mark.parametrize(
    ("sets", "word"),
    [
        ({"a": [(["z"], 1.0)]}, "'z'"),
        ({"a": [(["a"], 1.0)]}, "'a'"),
        ({"a": [([], math.nan)]}, "between -1e15"),
        ({"a": []}, "no parent set"),
        ({}, "no variable"),
    ],
)
def test_lists_of_sets_are_checked(sets, word):
    with pytest.raises(sp.ChoiceError, match=word):
        sp.ParentSets.from_lists(sets)


def big() -> sp.Dataset:
    return table(20_000, [4] * 40, seed=9)


def test_the_time_limit_of_a_search_is_kept():
    found = sp.find(big(), "bdeu", search="tabu", time_limit=0.2, max_parents=None, restarts=10**6)
    assert found.stopped == "time limit"
    assert found.seconds < 5
    assert found.score == pytest.approx(sp.score(big(), found.parents), rel=1e-9)
    sets = sp.score_parent_sets(big(), max_parents=4, time_limit=0.2)
    assert 0 < sets.unscored < sets.families


def test_dp_that_is_stopped_gives_a_network_and_a_true_bound():
    data = table(100, [2] * 24, seed=2)
    sets = sp.score_parent_sets(data, "bic", max_parents=1)
    found = sp.search(sets, "dp", time_limit=1e-3)
    assert found.stopped == "time limit"
    assert found.bound >= found.score
    assert found.score == pytest.approx(sp.score(data, found.parents, "bic"), rel=1e-9)


def interrupt_soon() -> threading.Timer:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_returns_the_best_so_far():
    timer = interrupt_soon()
    found = sp.find(big(), "bdeu", search="tabu", max_parents=None, restarts=10**6)
    timer.join()
    assert found.stopped == "interrupted"
    assert found.score == pytest.approx(sp.score(big(), found.parents), rel=1e-9)


def test_ctrl_c_ends_the_scoring():
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        sp.score_parent_sets(big(), max_parents=5)
    timer.join()


def test_an_error_of_the_progress_function_comes_back():
    def failing(what: str, done: int, total: int) -> None:
        raise RuntimeError("the display is gone")

    with pytest.raises(RuntimeError, match="the display is gone"):
        sp.score_parent_sets(big(), max_parents=5, progress=failing)


def test_an_error_of_somebody_elses_signal_comes_back():
    def ring(*_: object) -> None:
        raise TimeoutError("the alarm rang")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(TimeoutError, match="the alarm rang"):
            sp.find(big(), search="tabu", max_parents=None, restarts=10**6)
    finally:
        signal.signal(signal.SIGALRM, before)


ASKED: dict[str, Callable[[sp.Dataset], object]] = {
    "few columns": lambda data: sp.local_score(data, "c03", ["c01"], score="mit"),
    "others": lambda data: sp.local_score(data, "c00", ["c03", "c05"], score="bic"),
    "sets": lambda data: list(sp.score_parent_sets(data, "bdeu", max_parents=2, n_jobs=2)),
    "climb": lambda data: sp.find(data, "fnml", search="hc").parents,
    "columns of many levels": lambda data: sp.local_score(data, "c04", ["c02", "c00"], score="qnml"),
}


@pytest.mark.parametrize("order", list(itertools.permutations(ASKED))[::11])
def test_what_a_table_was_asked_before_changes_nothing(order):
    """A table keeps the bitmaps of the columns that were asked for."""
    data = table(700, [3, 2, 4, 2, 30, 5], seed=3)
    for asked in order:
        assert ASKED[asked](data) == ASKED[asked](table(700, [3, 2, 4, 2, 30, 5], seed=3)), asked


def test_threads_of_python_may_ask_the_same_table():
    expected = {asked: ask(table(700, [3, 2, 4, 2, 30, 5], seed=3)) for asked, ask in ASKED.items()}
    for _ in range(10):
        data = table(700, [3, 2, 4, 2, 30, 5], seed=3)
        with ThreadPoolExecutor(len(ASKED)) as pool:
            jobs = {asked: pool.submit(ask, data) for asked, ask in ASKED.items()}
            assert {asked: job.result() for asked, job in jobs.items()} == expected


def test_tables_and_scored_sets_can_be_copied_and_pickled():
    data = table(100, [3, 2, 4])
    sets = sp.score_parent_sets(data)
    for copied in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data), copy.copy(data)):
        assert copied.fingerprint == data.fingerprint
        assert not any(copied.codes(name).flags.writeable for name in copied.names)  # the core looks them over once
        assert sp.score_parent_sets(copied) == sets
    for again in (pickle.loads(pickle.dumps(sets)), copy.deepcopy(sets), copy.copy(sets)):
        assert again == sets and list(again) == list(sets)


@pytest.mark.parametrize(
    ("candidates", "required", "most", "word"),
    [
        ([[1], [0]], [[], []], [-1, 1], "limit"),
        ([[1], [0]], [[], []], [2, 1], "limit"),
        ([[], [0]], [[1], []], [0, 1], "required"),
        ([[0], [0]], [[], []], [1, 1], "in range"),
        ([[1]], [[], []], [1, 1], "every child"),
    ],
)
def test_the_core_checks_what_it_is_allowed(candidates, required, most, word):
    with pytest.raises(ValueError, match=word):
        _core.Allowed(candidates, required, most)


def test_the_core_checks_tables():
    with pytest.raises(ValueError, match="per column"):
        _core.Table([], [], [])
    with pytest.raises(ValueError, match="equal length"):
        _core.Table([np.zeros(3, np.uint8), np.zeros(2, np.uint8)], [2, 2], [0.0, 0.0])
    bad = _core.Table([np.zeros(3, np.uint8), np.full(3, 2, np.uint8)], [2, 2], [0.0, 0.0])
    scores = _core.table_scores(bad, _core.Spec("bic", 1.0, [], 0.0, [], []))
    assert _core.families(scores, [(0, [])])[0] == 0 - math.log(3) / 2
    for _ in range(2):
        with pytest.raises(ValueError, match="not below"):
            _core.families(scores, [(0, [1])])


def test_a_choice_that_is_written_to_is_nobody_elses():
    choose_score("bdeu(ess=2)").values["ess"] = 50.0
    assert choose_score("bdeu(ess=2)")["ess"] == 2


FROZEN = """
import gc
import spinney as sp

data = sp.Dataset.from_frame({"a": list("xyxyxxyx"), "b": list("uuvvuvvu")})
ring = [data, sp.score_parent_sets(data)]
ring.append(ring)
gc.freeze()  # as servers do before they fork
"""


def test_a_table_may_live_to_the_very_end():
    ended = subprocess.run([sys.executable, "-c", FROZEN], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_arrays_of_sets_outlive_the_sets():
    data = table(300, [3, 2, 4, 5])
    arrays = sp.score_parent_sets(data, prune=False).arrays
    before = [[part.tolist() for part in own] for own in arrays]
    gc.collect()
    sp.score_parent_sets(data, "bic", prune=False)  # writes where freed memory would be
    assert [[part.tolist() for part in own] for own in arrays] == before


FORKED = """
import os, signal, sys
import spinney as sp

data = sp.Dataset.from_frame({"a": list("xyxyxxyx") * 9, "b": list("uuvvuvvu") * 9, "c": list("pqppqpqq") * 9})


def scores():
    return [s.tolist() for s, _, _ in sp.score_parent_sets(data, n_jobs=3, prune=False).arrays]


before = scores()  # threads now sleep
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if scores() == before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_has_threads_of_its_own():
    """Threads that sleep between calls are not there after a fork: whoever waited for them would wait for ever."""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
