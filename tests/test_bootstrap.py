"""The bootstrap of edges: counts, threshold, averaged network, files, stops.

In:  tables with a known structure, confidences written by hand.
Out: frequencies that a plain loop gives, whatever the threads; the threshold of Scutari and Nagarajan's example and of
a search over all step functions; Ctrl-C and limits keep what is done."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from slow import intersection as slow
from spinney.bootstrap import Bootstrap, significant_above
from spinney.cli import main
from spinney.deadline import Deadline
from spinney.draws import by_content, own_seed, part, resample

CLINIC = Path(__file__).resolve().parent.parent / "examples" / "clinic.bif"


@pytest.fixture(scope="module")
def data() -> sp.Dataset:
    return sp.Network.read(CLINIC).sample(200, seed=1)


def test_frequencies_are_those_of_a_plain_loop(data: sp.Dataset) -> None:
    found = sp.bootstrap(data, score="bdeu", search="exact", replicates=12, seed=9)
    order = by_content(data)
    graphs = []
    for number in range(12):
        rows = part(data, resample(order, 9, number))
        graphs.append(sp.find(rows, "bdeu", search="exact", seed=own_seed(9, number)).graph.cpdag())  # type: ignore[union-attr]
    for a in data.names:
        for b in set(data.names) - {a}:
            joined = np.mean([frozenset((a, b)) in graph.skeleton() for graph in graphs])
            directed = np.mean([(a, b) in g.directed or (frozenset((a, b)) in g.undirected) / 2 for g in graphs])
            assert found.adjacency(a, b) == found.adjacency(b, a) == pytest.approx(joined)
            assert found.edge(a, b) == pytest.approx(directed)
            assert found.edge(a, b) + found.edge(b, a) == pytest.approx(joined)
            assert found.direction(a, b) + found.direction(b, a) == pytest.approx(1.0)
    assert [own.adjacency for own in found.edges] == sorted((own.adjacency for own in found.edges), reverse=True)


def test_threads_and_order_change_nothing_and_seeds_do(data: sp.Dataset) -> None:
    options: dict[str, Any] = {"score": "bdeu", "search": "hc(restarts=2)", "replicates": 15}
    found = sp.bootstrap(data, n_jobs=1, **options)
    assert sp.bootstrap(data, n_jobs=4, **options) == found
    shuffled = data.take(np.random.default_rng(3).permutation(200)).select(sorted(data.names, reverse=True))
    again = sp.bootstrap(shuffled, **options)
    assert (again.directed, again.undirected) == (found.directed, found.undirected)
    other = sp.bootstrap(data, seed=1, **options)
    assert (other.directed, other.undirected) != (found.directed, found.undirected)
    more = sp.bootstrap(data, **{**options, "replicates": 16})  # the first fifteen are the same
    assert sum(more.directed.values()) >= sum(found.directed.values())
    assert all(more.directed.get(edge, 0) - count in (0, 1) for edge, count in found.directed.items())


def test_the_threshold_is_that_of_the_nearest_step_function() -> None:
    # The example of Scutari and Nagarajan (2013), section 2: 0.3921 is the threshold, three arcs are significant.
    assert significant_above([0.2242, 0.0460, 0.8935, 0.3921, 0.7689, 0.9439]) == 0.3921
    draw = random.Random(5)
    for _ in range(300):
        confidences = [draw.randrange(101) / 100 for _ in range(draw.randrange(1, 12))]
        assert significant_above(confidences) == slow.nearest_step(confidences), confidences


def made(directed: dict[tuple[str, str], int], undirected: dict[tuple[str, str], int] | None = None) -> Bootstrap:
    return Bootstrap(("a", "b", "c", "d"), 50, 100, 100, 0, directed, undirected or {}, {})


def test_the_averaged_network_has_the_edges_above_the_threshold() -> None:
    boot = made({("a", "b"): 70, ("b", "a"): 20, ("c", "d"): 30, ("d", "c"): 15}, {("a", "d"): 60, ("b", "c"): 40})
    assert boot.adjacency("b", "a") == 0.9 and boot.edge("a", "d") == 0.3 and boot.direction("d", "c") == 15 / 45
    assert boot.threshold == 0.45
    assert boot.averaged().edges == [("a", "b"), ("a", "d")]
    assert boot.averaged(0.42).edges == [("a", "b"), ("a", "d"), ("c", "d")]
    assert boot.averaged(0.95).edges == []
    with pytest.raises(sp.ChoiceError, match="threshold"):
        boot.averaged(1.0)


def test_a_cycle_is_broken_at_its_least_sure_edge() -> None:
    boot = made({("a", "b"): 90, ("b", "c"): 80, ("c", "a"): 60, ("a", "c"): 10})
    assert boot.averaged().edges == [("a", "b"), ("a", "c"), ("b", "c")]


def test_random_counts_always_give_a_dag() -> None:
    draw = random.Random(1)
    for _ in range(100):
        counts = {(a, b): draw.randrange(60) for a in "abcd" for b in "abcd" if a != b}
        boot = made({edge: count for edge, count in counts.items() if count})
        above = {frozenset((own.parent, own.child)) for own in boot.edges if own.adjacency > boot.threshold}
        assert boot.averaged().skeleton() == above


def test_the_directions_of_constraints_count() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    table = {"a": a.astype(str), "b": np.where(rng.random(200) < 0.9, a, 1 - a).astype(str)}
    assert sp.bootstrap(table, "bdeu", replicates=5).edge("a", "b") == 0.5
    tiers = sp.Constraints(tiers=[["a"], ["b"]])
    assert sp.bootstrap(table, "bdeu", constraints=tiers, replicates=5).edge("a", "b") == 1.0
    required = sp.Constraints(required=[("b", "a")])
    assert sp.bootstrap(table, "bdeu", constraints=required, replicates=5).edge("b", "a") == 1.0


def test_mixed_columns_and_what_people_see(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    table = {"x": x, "y": x + 0.3 * rng.normal(size=80), "c": np.where(x > 0, "hi", "lo")}
    boot = sp.bootstrap(table, replicates=6)
    assert repr(boot) == f"Bootstrap(6 replicates, {len(boot.edges)} pairs joined)"
    assert "threshold" in str(boot) and "<table>" in boot._repr_html_()
    assert sp.fit(table, boot.averaged()).names == ("x", "y", "c")
    boot.save(tmp_path / "boot.json.gz")
    assert sp.Bootstrap.load(tmp_path / "boot.json.gz") == boot
    for text in ("{}", '{"format": "spinney-bootstrap", "version": 1}', "[1]"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(sp.FileFormatError):
            sp.Bootstrap.load(tmp_path / "bad.json")


def test_the_time_limit_keeps_what_is_done(data: sp.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [0]

    class Counting(Deadline):
        """Its time is up after so many families: no clock decides the test."""

        def over(self) -> bool:
            return calls[0] > 600

    def slow_score(own: sp.Dataset, child: str, parents: tuple[str, ...]) -> float:
        calls[0] += 1
        time.sleep(0.01 if calls[0] > 600 else 0.0)
        return -1.0 - len(parents)

    monkeypatch.setattr(sys.modules["spinney.bootstrap"], "Deadline", Counting)
    score = sp.CustomScore(slow_score)
    boot = sp.bootstrap(data, score, search="exact", max_parents=1, replicates=10_000, n_jobs=1)
    assert boot.stopped == "time limit" and 1 <= boot.replicates < 10_000 and boot.wanted == 10_000
    assert f"{boot.replicates:,} of 10,000 (time limit)" in str(boot)
    calls[0] = 601
    with pytest.raises(sp.LimitError, match="first replicate"):
        sp.bootstrap(data, score, replicates=5, search="exact", max_parents=7)


STARTED = "import sys; print('started', flush=True); from spinney_start import main; sys.exit(main())"


def test_ctrl_c_keeps_what_is_done(data: sp.Dataset, tmp_path: Path) -> None:
    import signal

    data.write(tmp_path / "table.csv")
    words = ["evaluate", "bootstrap", str(tmp_path / "table.csv"), "--score", "bdeu", "--replicates", "1000000"]
    running = subprocess.Popen(
        [sys.executable, "-c", STARTED, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    running.stderr.readline()  # the first replicates are done
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert "(interrupted) replicates" in out and "ended early (interrupted)" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replicates": 0}, "replicates must be"),
        ({"replicates": 2.5}, "replicates must be"),
        ({"score": "bge"}, "bge is defined for"),
        ({"seed": None}, "seed must be"),
        ({"constraints": sp.Constraints(required=[("age", "nobody")])}, "nobody"),
    ],
)
def test_what_cannot_be_is_refused_before_computing(data: sp.Dataset, options: dict[str, Any], words: str) -> None:
    with pytest.raises(sp.SpinneyError, match=words):
        sp.bootstrap(data, **options)


def test_the_commands_say_what_the_library_says(
    data: sp.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    data.write("table.csv")
    table = sp.Dataset.read("table.csv")

    def said(words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*words.split(), "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    boot = said("evaluate bootstrap table.csv --score bdeu --replicates 4 --seed 2 --network net.json -o boot.json")
    assert boot["directed"] == sp.bootstrap(table, "bdeu", replicates=4, seed=2).as_dict()["directed"]
    assert sp.Network.load("net.json").edges == [tuple(edge) for edge in boot["averaged"]]
    assert sp.Bootstrap.load("boot.json").replicates == 4
    loss = said("evaluate log-loss table.csv --scores bdeu,bdeu(ess=10) --folds 3 --repeats 1 -o loss.json")
    wanted = sp.evaluate.log_loss(table, ["bdeu", "bdeu(ess=10)"], folds=3, repeats=1)
    assert loss["methods"]["bdeu(ess=10)"]["log_loss"] == wanted.mean("bdeu(ess=10)")
    curves = said("evaluate stability table.csv --scores bdeu,bic --parts 4,2 --repeats 2 --plot curves.svg")
    assert curves["curves"]["bic"][0]["part"] == 4 and Path("curves.svg").stat().st_size > 1000
    assert (
        said("evaluate stability table.csv --parts 2 --repeats 1 --write-subsamples .")["files"][1] == "part2-rep1.csv"
    )
    both = said(f"evaluate compare net.json {CLINIC} --data table.csv -o both.json")
    assert json.loads(Path("both.json").read_text())["pairs"] == both["pairs"]
    net = sp.Network.load("net.json")
    assert both["networks"]["net.json"]["log_loss"] == pytest.approx(-float(net.log_prob(table).mean()), rel=1e-12)
    for words in (
        "compare net.json net.json --data table.csv",
        "stability table.csv --networks here",
        "log-loss table.csv --plot loss.txt",
    ):
        assert main(["evaluate", *words.split()]) == 2
    Path("other.csv").write_text("p,q\n1,2\n2,1\n")
    capsys.readouterr()
    assert main(["evaluate", "compare", "net.json", str(CLINIC), "--data", "other.csv"]) == 2
    assert "the table has none of the columns" in capsys.readouterr().err
