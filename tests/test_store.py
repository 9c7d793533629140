"""Stores of family scores: nothing is scored twice, nothing that was written is lost, and the answer is the same.

In:  small tables; processes that are killed.
Out: the sets of a run without a store, byte for byte."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney.cli import main
from spinney.formats import jkl
from spinney.scores.source import Portion
from spinney.store import Store
from spinney.store_files import STREAM, growing

SCORES = ["bdeu", "bic", "bds", "pcart", "ft", "graph", "best(pcart, ft)"]
MIXED = ["pcart", "cg", "dg", "mvp", "mars", "best(pcart, ft)"]


def discrete(columns: int = 7, rows: int = 120, seed: int = 1) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    table: dict[str, Any] = {}
    last = rng.integers(0, 3, rows)
    for i in range(columns):
        last = np.where(rng.random(rows) < 0.6, last, rng.integers(0, 3, rows))
        table[f"x{i}"] = [f"l{value}" for value in last]
    return sp.Dataset.from_frame(table)


def mixed(rows: int = 80, seed: int = 1) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=rows)
    return sp.Dataset.from_frame(
        {
            "a": first,
            "b": first + rng.normal(size=rows),
            "c": [f"l{int(value > 0)}" for value in first + rng.normal(size=rows)],
            "d": rng.normal(size=rows),
            "e": [f"l{value}" for value in rng.integers(0, 3, rows)],
        }
    )


def same(one: sp.ParentSets, other: sp.ParentSets) -> bool:
    return jkl.text(one) == jkl.text(other)


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("score", SCORES)
def test_the_second_run_scores_nothing(tmp_path: Path, score: str, prune: bool) -> None:
    data = discrete()
    plain = sp.score_parent_sets(data, score, max_parents=3, prune=prune)
    first = sp.score_parent_sets(data, score, max_parents=3, prune=prune, store=tmp_path / "s")
    second = sp.score_parent_sets(data, score, max_parents=3, prune=prune, store=tmp_path / "s")
    assert same(plain, first) and same(plain, second)
    assert first.scored == plain.scored and first.known == 0
    assert second.scored == 0 and second.known == first.scored


@pytest.mark.parametrize("score", MIXED)
def test_mixed_tables_too(tmp_path: Path, score: str) -> None:
    data = mixed()
    plain = sp.score_parent_sets(data, score)
    for _ in range(2):
        kept = sp.score_parent_sets(data, score, store=tmp_path)
        assert same(plain, kept)
    assert kept.scored == 0 and kept.known == plain.scored


def test_learn_and_find_are_those_without(tmp_path: Path) -> None:
    data = discrete()
    plain = sp.learn(data, search="exact")
    for _ in range(2):
        kept = sp.learn(data, search="exact", store=tmp_path)
        assert kept.network == plain.network or kept.network.parents == plain.network.parents
        assert kept.found.score == plain.found.score and kept.found.bound == plain.found.bound
    assert sp.find(data, search="exact", store=tmp_path).parents == plain.found.parents
    climbed = sp.learn(data, search="hc", store=tmp_path)
    assert any("the store was not used" in note for note in climbed.found.notes)


@pytest.mark.parametrize("threads", [1, 3])
def test_part_of_the_work_is_taken_up(tmp_path: Path, threads: int) -> None:
    """More parents, other candidates, other constraints: what is there is taken, the rest is scored."""
    data = discrete()
    sp.score_parent_sets(data, "bdeu", max_parents=2, store=tmp_path, bounds=False)
    more = sp.score_parent_sets(data, "bdeu", max_parents=3, store=tmp_path, bounds=False, n_jobs=threads)
    assert same(more, sp.score_parent_sets(data, "bdeu", max_parents=3, bounds=False))
    assert more.known == 7 * (1 + 6 + 15) and more.scored == 7 * 20
    fewer = {"candidates": {"x0": ["x1", "x3"], "x4": ["x0", "x5", "x6"]}, "bounds": False}
    some = sp.score_parent_sets(data, "bdeu", max_parents=3, store=tmp_path, **fewer)
    assert some.scored == 0 and same(some, sp.score_parent_sets(data, "bdeu", max_parents=3, **fewer))
    limits = sp.Constraints(required=[("x1", "x2")], forbidden=[("x0", "x1")])
    bound = sp.score_parent_sets(data, "bdeu", constraints=limits, store=tmp_path)
    assert bound.scored == 0 and same(bound, sp.score_parent_sets(data, "bdeu", constraints=limits))


def test_a_changed_column_costs_its_own_families(tmp_path: Path) -> None:
    data = discrete()
    sp.score_parent_sets(data, "bdeu", max_parents=2, store=tmp_path, bounds=False)
    frame = data.to_pandas().astype(str)
    frame.loc[3, "x2"] = "l0" if frame.loc[3, "x2"] != "l0" else "l1"
    changed = sp.Dataset.from_frame(frame)
    again = sp.score_parent_sets(changed, "bdeu", max_parents=2, store=tmp_path, bounds=False)
    assert same(again, sp.score_parent_sets(changed, "bdeu", max_parents=2, bounds=False))
    assert again.known == 6 * (1 + 5 + 10)  # the families without x2
    assert again.scored == 7 * (1 + 6 + 15) - again.known


@pytest.mark.parametrize(
    "other",
    [
        {"score": "bdeu(ess=2)"},
        {"score": "bic"},
        {"score": "bdeu", "prior": "sizes"},
        {"score": "bdeu", "data": discrete(seed=2)},
        {"score": "bdeu", "data": discrete().take(np.arange(100))},
    ],
)
def test_other_scores_and_data_are_others(tmp_path: Path, other: dict[str, Any]) -> None:
    sp.score_parent_sets(discrete(), "bdeu", store=tmp_path)
    choices = {"data": discrete(), **other}
    sets = sp.score_parent_sets(**choices, store=tmp_path)
    assert sets.known == 0 and same(sets, sp.score_parent_sets(**choices))


def test_the_order_of_columns_does_not_matter(tmp_path: Path) -> None:
    data = discrete()
    sp.score_parent_sets(data, "bdeu", store=tmp_path)
    turned = data.select(data.names[::-1])
    assert sp.score_parent_sets(turned, "bdeu", store=tmp_path).scored == 0


def test_prior_networks_are_known_by_what_they_say(tmp_path: Path) -> None:
    data = discrete(4)
    nets = [sp.fit(data, {"x1": ["x0"]}, "k2"), sp.fit(data, {"x2": ["x0"]}, "k2")]
    runs = [sp.score_parent_sets(data, sp.BDe(network=net), store=tmp_path) for net in (*nets, nets[0])]
    assert [run.known == 0 for run in runs] == [True, True, False]


def test_a_score_of_ones_own_needs_a_name(tmp_path: Path) -> None:
    calls = []

    def score(data: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
        calls.append((child, parents))
        return -len(parents) * 0.5 - (child == "x0")

    data = discrete(4)
    with pytest.raises(sp.ChoiceError, match="name="):
        sp.score_parent_sets(data, sp.CustomScore(score), store=tmp_path)
    for _ in range(2):
        sp.score_parent_sets(data, sp.CustomScore(score, name="mine"), store=tmp_path)
    assert len(calls) == len(set(calls)) == 4 * 8


def test_stores_are_merged_by_copying(tmp_path: Path) -> None:
    data = discrete()
    halves = [{"x0": data.names[1:4]}, {"x0": data.names[4:]}]
    for i, candidates in enumerate(halves):
        sp.score_parent_sets(data, "bdeu", candidates=candidates, store=tmp_path / str(i), bounds=False)
    together = tmp_path / "together"
    together.mkdir()
    for i in range(2):
        for file in (tmp_path / str(i)).iterdir():
            shutil.copy(file, together)
    sets = sp.score_parent_sets(data, "bdeu", store=together, bounds=False)
    assert same(sets, sp.score_parent_sets(data, "bdeu", bounds=False))
    mixed_halves = sum(math.comb(3, i) * math.comb(3, k) for i in (1, 2) for k in (1, 2) if i + k <= 3)
    assert sets.scored == mixed_halves


def stream_of(folder: Path) -> Path:
    (file,) = [path for path in folder.iterdir() if path.suffix == STREAM]
    return file


def batches(folder: Path, data: sp.Dataset, score: str = "bdeu") -> Path:
    """A stream of several batches, made by several limits of size."""
    from spinney.constraints import allowed_by
    from spinney.scores import build_source
    from spinney.store_files import Families

    own = build_source(data, score)
    allowed = own.restrict(allowed_by(None, data.names, 3))
    store = Store(folder, make=True)
    with store.session(own, allowed, 1) as session:
        own.parent_sets(allowed, bounds=False, portion=Portion(log=session.log))
        everything = Families(*session.log.drain())
        for begin in range(0, len(everything), 40):
            session.writer.write(everything.of(np.arange(begin, min(begin + 40, len(everything)))))
    return stream_of(folder)


def test_a_torn_end_is_cut_off_without_a_word(tmp_path: Path) -> None:
    data = discrete()
    whole = batches(tmp_path / "whole", data).read_bytes()
    plain = sp.score_parent_sets(data, "bdeu", bounds=False)
    rng = random.Random(3)
    known = []
    for number, cut in enumerate([0, 3, 7, 100, *(rng.randrange(len(whole)) for _ in range(20)), len(whole) - 3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / f"a{STREAM}").write_bytes(whole[:cut])
        sets = sp.score_parent_sets(data, "bdeu", bounds=False, store=folder)
        assert same(sets, plain) and sets.notes == ()
        assert sets.known + sets.scored == plain.scored
        known.append((cut, sets.known))
    assert [count for _, count in sorted(known)] == sorted(count for _, count in known)
    assert sorted(known)[-1][1] > 0.8 * plain.scored


def test_a_damaged_batch_is_said_and_left_out(tmp_path: Path) -> None:
    data = discrete()
    whole = batches(tmp_path / "whole", data).read_bytes()
    plain = sp.score_parent_sets(data, "bdeu", bounds=False)
    rng = random.Random(4)
    said = 0
    for number in range(25):
        folder = tmp_path / str(number)
        folder.mkdir()
        broken = bytearray(whole)
        place = rng.randrange(3000, len(whole) - 200)
        broken[place] ^= 1 << rng.randrange(8)
        (folder / f"a{STREAM}").write_bytes(broken)
        sets = sp.score_parent_sets(data, "bdeu", bounds=False, store=folder)
        assert same(sets, plain)
        if sets.scored:
            said += 1
            assert len(sets.notes) == 1 and "damaged" in sets.notes[0]
            assert sets.scored <= 80  # of this batch, or of two where the end of one was hit
    assert said > 12  # other places hold nothing but padding


def test_what_is_no_store_is_refused_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(sp.FileFormatError, match="a store is a folder"):
        sp.score_parent_sets(discrete(3), "bdeu", store=file)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / f"other{STREAM}").write_text("this is a long text and no stream of anything")
    sets = sp.score_parent_sets(discrete(3), "bdeu", store=tmp_path / "s")
    assert len(sets.notes) == 1 and "no file of a store" in sets.notes[0]


def test_merging_keeps_every_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = discrete()
    plain = sp.score_parent_sets(data, "bdeu", max_parents=3)
    for limit in (1, 2, 3):
        sp.score_parent_sets(data, "bdeu", max_parents=limit, store=tmp_path, bounds=False)
    sp.score_parent_sets(data, "bdeu", max_parents=3, store=tmp_path, prune=False)
    before = len(list(tmp_path.iterdir()))
    assert before >= 3
    assert main(["store", str(tmp_path), "--merge", "--json"]) == 0
    assert all(path.suffix == ".parquet" for path in tmp_path.iterdir())
    again = sp.score_parent_sets(data, "bdeu", max_parents=3, store=tmp_path)
    assert same(again, plain) and again.scored == 0
    assert main(["store", str(tmp_path), "--check"]) == 0
    capsys.readouterr()


def test_damage_is_found_by_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = batches(tmp_path, discrete())
    broken = bytearray(file.read_bytes())
    at = len(broken) // 2
    broken[at : at + 64] = bytes(64 * [7])
    file.write_bytes(broken)
    assert main(["store", str(tmp_path), "--check"]) == 1
    assert "damaged" in capsys.readouterr().out
    assert main(["store", str(tmp_path), "--merge"]) == 0
    assert file.exists()  # the damaged file stays


def test_a_jkl_file_of_the_store_is_that_of_families(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = discrete()
    for score in ("bdeu", "pcart"):
        folder = tmp_path / score
        sets = sp.score_parent_sets(data, score, max_parents=3, store=folder)
        assert main(["store", str(folder), "-o", str(tmp_path / "out.jkl")]) == 0
        assert (tmp_path / "out.jkl").read_text() == jkl.text(sets)
        assert main(["store", str(folder)]) == 0
    assert "families" in capsys.readouterr().out


def test_prune_removes_what_no_run_can_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spinney.store.SCORING", 0)
    sp.score_parent_sets(discrete(), "bdeu", store=tmp_path)
    monkeypatch.undo()
    sp.score_parent_sets(discrete(), "bic", store=tmp_path)
    assert sp.score_parent_sets(discrete(), "bdeu", store=tmp_path / "new").known == 0
    assert main(["store", str(tmp_path), "--prune"]) == 0
    assert "removed 1 file" in capsys.readouterr().out
    assert [run.head["name"] for run in Store(tmp_path).runs()] == ["bic"]
    old = time.time() - 10 * 86400
    for path in tmp_path.glob(f"*{STREAM}"):
        os.utime(path, (old, old))
    assert main(["store", str(tmp_path), "--prune", "--days", "5"]) == 0
    assert Store(tmp_path).runs() == []
    assert main(["store", str(tmp_path), "--days", "5"]) == 2
    assert main(["store", str(tmp_path / "absent")]) == 2
    assert main(["store", str(tmp_path), "-o", str(tmp_path / "x.jkl")]) == 2
    assert "no scores" in capsys.readouterr().err


CHILD = """
import sys, spinney as sp
data = sp.Dataset.read(sys.argv[1])
print("begun", flush=True)
sp.score_parent_sets(data, sys.argv[3], max_parents=3, n_jobs=2, store=sys.argv[2], bounds=sys.argv[4] == "bounds")
print("done", flush=True)
"""


def run_until(words: list[str], seconds: float | None) -> bool:
    """Kill the process so long after it has begun; whether it ended before."""
    own = subprocess.Popen([sys.executable, "-c", CHILD, *words], stdout=subprocess.PIPE, text=True)
    assert own.stdout is not None
    assert own.stdout.readline() == "begun\n"
    if seconds is not None:
        time.sleep(seconds)
        own.kill()
    rest = own.stdout.read()
    own.wait()
    return "done" in rest


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="kill -9 is of POSIX systems")
@pytest.mark.parametrize("score, columns, rows", [("pcart", 8, 2000), ("bdeu", 20, 2000)])
def test_killed_at_any_moment_and_taken_up(tmp_path: Path, score: str, columns: int, rows: int) -> None:
    file = tmp_path / "table.csv"
    discrete(columns, rows).write(file)
    data = sp.Dataset.read(file)
    store = tmp_path / "store"
    began = time.perf_counter()
    plain = sp.score_parent_sets(data, score, max_parents=3, n_jobs=2)
    takes = time.perf_counter() - began
    rng = random.Random(columns)
    known = 0
    for _ in range(3):
        ended = run_until([str(file), str(store), score, "bounds"], rng.uniform(0.1, 0.6) * takes)
        now = sum(len(Store(store).read(run)) for run in Store(store).runs()) if store.exists() else 0
        assert now >= known  # what was written stays
        known = now
        if ended:
            break
    last = sp.score_parent_sets(data, score, max_parents=3, n_jobs=2, store=store)
    assert same(last, plain) and last.notes == ()
    assert last.known == min(known, plain.scored or 0)  # everything that was written is taken, and nothing scored twice
    assert last.scored == (plain.scored or 0) - last.known


def test_a_file_that_grows_is_left_alone(tmp_path: Path) -> None:
    from spinney.constraints import allowed_by
    from spinney.scores import build_source

    data = discrete()
    own = build_source(data, "bdeu")
    allowed = own.restrict(allowed_by(None, data.names, 2))
    store = Store(tmp_path, make=True)
    with store.session(own, allowed, 1) as session:
        own.parent_sets(allowed, portion=Portion(log=session.log))
        session.write()
        file = stream_of(tmp_path)
        code = f"from pathlib import Path; from spinney.store_files import growing; print(growing(Path({str(file)!r})))"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"
        assert store.merge() == (0, 0)
    assert not growing(file)


def slow() -> Any:
    def score(data: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
        time.sleep(0.002)
        return -float(len(parents))

    return sp.CustomScore(score, name="slow")


def test_a_time_limit_keeps_what_was_scored(tmp_path: Path) -> None:
    data = discrete(9)
    sets = sp.score_parent_sets(data, slow(), max_parents=3, time_limit=0.5, store=tmp_path)
    assert sets.unscored > 0
    after = Store(tmp_path)
    assert sum(len(after.read(run)) for run in after.runs()) == sets.scored


def test_ctrl_c_keeps_what_was_scored(tmp_path: Path) -> None:
    data = discrete(9)
    count = 0

    def interrupt(what: str, done: int, total: int) -> None:
        nonlocal count
        count = done
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sp.score_parent_sets(data, slow(), max_parents=3, store=tmp_path, progress=interrupt)
    store = Store(tmp_path)
    assert sum(len(store.read(run)) for run in store.runs()) >= count > 100


@pytest.mark.parametrize("make", [discrete, mixed])
def test_logged_scores_are_those_of_the_families(make: Callable[[], sp.Dataset]) -> None:
    """A rank names the family that its score belongs to."""
    from spinney import _core
    from spinney.constraints import allowed_by
    from spinney.scores import build_source

    data = make()
    own = build_source(data, "pcart")
    allowed = own.restrict(allowed_by(None, data.names, 3))
    log = _core.FamilyLog(1)
    own.parent_sets(allowed, portion=Portion(log=log))
    children, sizes, ranks, scores, _ = log.drain()
    families = []
    for child, size, rank in zip(children.tolist(), sizes.tolist(), ranks, strict=True):
        name = allowed.names[child]
        places = _core.places_of_ranks(np.array([rank]), size, len(allowed.candidates[name]))
        families.append((name, [allowed.candidates[name][place] for place in places]))
    assert sp.local_scores(data, families, "pcart") == scores.tolist()
