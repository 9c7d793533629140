"""What a search is given: starts, required edges, keywords, lists of sets, outputs.

In:  calls that used to be taken in silence.
Out: an answer that uses them, or one sentence."""

from __future__ import annotations

import itertools
import json
import os
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from spinney.cli import main
from spinney.errors import ChoiceError, SpinneyError


def table(rows: int = 80, seed: int = 1) -> sp.Dataset:
    rng = random.Random(seed)
    columns: dict[str, list[str]] = {name: [] for name in "abcd"}
    for _ in range(rows):
        before = 0
        for name in "abcd":
            before = before if rng.random() < 0.7 else rng.randrange(2)
            columns[name].append(str(before))
    return sp.Dataset.from_frame(columns, kinds=dict.fromkeys("abcd", "categorical"))


# scores of any size that is accepted


@pytest.mark.parametrize("method", ["hc", "tabu", "order"])
@pytest.mark.parametrize("level", [0.0, -1e6, -5e12, -9e14, 5e12])
@pytest.mark.parametrize("seed", range(4))
def test_local_searches_equal_dp_whatever_the_level_of_the_scores(method: str, level: float, seed: int) -> None:
    """Without empty sets: a climb starts where no set is listed, and must leave that place."""
    rng, unit = random.Random(seed), max(1.0, 1e-6 * abs(level))  # what differs by 1e-11 of the scores is equal
    names = "abcd"
    lists = {
        child: [
            (own, level - unit * rng.randint(1, 1000))
            for size in range(0 if child == "a" else 1, 3)
            for own in itertools.combinations([p for p in names if p != child], size)
        ]
        for child in names
    }
    sets = sp.ParentSets.from_lists(lists)
    best = sp.search(sets, method="dp")
    found = sp.search(sets, method=method)
    assert found.score == pytest.approx(best.score, rel=1e-12)


# starts


@pytest.mark.parametrize("search", ["chow-liu", "tan(target=a)"])
def test_a_tree_search_takes_no_start(search: str) -> None:
    with pytest.raises(ChoiceError, match="does not use a start; leave out start"):
        sp.learn(table(), "bdeu", search=search, start={"b": ["a"]})


def test_dp_that_is_stopped_gives_back_no_less_than_its_start() -> None:
    rng = random.Random(3)
    names = [f"v{i:02}" for i in range(24)]
    lists = {
        child: [((), -30.0), *((tuple(sorted(rng.sample([p for p in names if p != child], 2))), -20 * rng.random())
                               for _ in range(30))]
        for child in names
    }  # fmt: skip
    sets = sp.ParentSets.from_lists({child: list(dict(own).items()) for child, own in lists.items()})
    start = sp.search(sets, method="order")
    found = sp.search(sets, method="dp", start=start.parents, time_limit=0.01)
    assert found.stopped == "time limit" and found.score >= start.score - 1e-9


# how many families there are


@settings(max_examples=60)
@given(draw=st.data())
def test_families_are_counted_with_their_required_parents(draw: st.DataObject) -> None:
    names = list("abcde")
    order = draw.draw(st.permutations(names))
    edges = st.lists(st.sampled_from([(order[i], order[j]) for i in range(5) for j in range(i + 1, 5)]), max_size=4)
    required = sorted(set(draw.draw(edges)))
    most = draw.draw(st.integers(max([sum(c == child for _, c in required) for child in names]), 4))
    forbidden = [edge for edge in draw.draw(edges) if edge not in required]
    allowed = sp.Constraints(required=required, forbidden=forbidden).allowed(names, most)
    listed = [
        (child, own)
        for child in names
        for size in range(5)
        for own in itertools.combinations([name for name in names if name != child], size)
        if allowed.permits(child, own)
    ]
    assert allowed.families == len(listed)
    assert allowed.largest == sum(len(own) == allowed.most[child] for child, own in listed)


# keywords and lists


@pytest.mark.parametrize("word", ["required", "forbidden", "tiers"])
def test_a_keyword_of_constraints_names_its_place(word: str) -> None:
    data = table()
    for call in (
        lambda: sp.learn(data, "bdeu", **{word: [("a", "b")]}),
        lambda: sp.find(data, "bdeu", **{word: [("a", "b")]}),
        lambda: sp.search(sp.score_parent_sets(data, "bdeu"), **{word: [("a", "b")]}),
    ):
        with pytest.raises(ChoiceError, match=rf"sp\.Constraints\({word}="):
            call()


def test_a_text_is_no_parent_set() -> None:
    with pytest.raises(ChoiceError, match=r"one text, 'bc'; write a list, \['bc'\]"):
        sp.ParentSets.from_lists({"a": [((), 0.0), ("bc", 1.0)], "b": [((), 0.0)], "c": [((), 0.0)]})


def test_unseen_is_checked_for_a_dataset_too() -> None:
    data = table()
    network = sp.learn(data, "bdeu").network
    for rows in (data, data.to_arrow()):
        with pytest.raises(ChoiceError, match="unseen is 'drop'; choose 'refuse' or 'allow'"):
            network.predict_proba(rows, "a", unseen="drop")


# files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    data = table()
    data.write("table.csv")
    data.write("table.parquet")
    sp.learn(data, "bdeu").network.save("net.json")
    sp.score_parent_sets(data, "bdeu").write("sets.jkl")
    os.symlink("net.json", "link.json")
    os.link("net.json", "hard.json")
    (tmp_path / "rules.json").write_text('{"forbidden": [["a", "b"]]}')
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["families", "table.csv", "--constraints", "sets.jkl", "-o", "sets.jkl"],
        ["learn", "table.csv", "--constraints", "rules.json", "-o", "rules.json"],
        ["learn", "table.csv", "--constraints", "rules.json", "-o", "./rules.json"],
        ["solve", "sets.jkl", "--start", "net.json", "-o", "net.json"],
        ["solve", "sets.jkl", "--start", "net.json", "-o", "link.json"],
        ["solve", "sets.jkl", "--start", "net.json", "-o", "hard.json"],
        ["predict", "net.json", "table.csv", "--target", "a", "-o", "table.csv"],
        ["convert", "net.json", "net.json"],
        ["convert", "sets.jkl", "sets.jkl"],
        ["classify", "train", "table.csv", "--target", "a", "--kinds", "rules.json", "-o", "rules.json"],
        ["classify", "predict", "net.json", "table.csv", "-o", "table.csv"],
    ],
)
def test_a_command_does_not_write_over_what_it_reads(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert main(command) == 2
    assert "is also what this command reads; give another name" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_classifier_without_its_cuts_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=200), "y": np.where(x > 0.3, "high", "low")})
    made = sp.TANClassifier(score="bdeu").fit(frame[["x", "z"]], frame["y"])
    made.network_.save(tmp_path / "whole.json")
    assert sp.Network.read(tmp_path / "whole.json").cuts
    record = json.loads((tmp_path / "whole.json").read_text())
    del record["cuts"]
    (tmp_path / "cut.json").write_text(json.dumps(record))
    with pytest.raises(SpinneyError, match=r"thresholds \(cuts\) are missing"):
        sp.Network.read(tmp_path / "cut.json")


# evaluation keeps what a Dataset knows


@pytest.mark.parametrize("standardise", [True, False])
def test_accuracy_keeps_ranges_and_standardise(standardise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.choice(["u", "v"], 60)})
    data = sp.Dataset.from_frame(frame, kinds={"x": sp.Continuous(-50, 50)}, standardise=standardise)
    seen: list[sp.Dataset] = []
    fit = sp.classify._Classifier._fit

    def noted(self, attributes, target, labels):
        seen.append(attributes)
        return fit(self, attributes, target, labels)

    monkeypatch.setattr(sp.classify._Classifier, "_fit", noted)
    sp.evaluate.accuracy(sp.TANClassifier(score="pcart"), data, "y", folds=3)
    assert len(seen) == 3
    for attributes in seen:
        assert (attributes.kinds["x"].lo, attributes.kinds["x"].hi) == (-50, 50)
        assert attributes.standardise is standardise
