"""The command `spinney posterior`.

In:  examples/clinic.csv, a mixed table, scored parent sets in files.
Out: what sp.posterior finds, as text and as JSON, exact or by chains; the same for the same seed; refusals in one
sentence."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney.cli import main

CLINIC = Path(__file__).resolve().parent.parent / "examples" / "clinic.csv"


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command on a copy of the example; its standard output."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(CLINIC, "clinic.csv")

    def run(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(["posterior", *arguments]) == code, capsys.readouterr().err
        read = capsys.readouterr()
        return read.out if code == 0 else read.err

    return run


def test_exact_sums_are_those_of_the_function(said: Any) -> None:
    found = sp.posterior(sp.Dataset.read("clinic.csv"), max_parents=2)
    out = said("clinic.csv", "--max-parents", "2", "--least", "0.5", "-o", "edges.json")
    rows = [line for line in out.splitlines() if " -> " in line]
    assert len(rows) == len(found.table(0.5)) > 0
    for line, (parent, child, share, _) in zip(rows, found.table(0.5), strict=True):
        assert line.split("  ")[1].startswith(f"{parent} -> {child}") and f"{share:.4f}" in line
    assert "method  exact, chosen by auto" in out and "score   bdeu\n" in out
    assert f"{found.log_sum:.4f}" in out
    assert json.loads(Path("edges.json").read_text()) == json.loads(json.dumps(found.as_dict()))
    record = json.loads(said("clinic.csv", "--max-parents", "2", "--least", "0.5", "--json", "-o", "edges.json.gz"))
    assert [tuple(row[k] for k in ("parent", "child", "probability", "error")) for row in record["table"]] == (
        found.table(0.5)
    )
    assert record["edges"] == found.edges.tolist()
    assert json.loads(gzip.decompress(Path("edges.json.gz").read_bytes()))["edges"] == found.edges.tolist()


def test_chains_say_what_is_known_of_them_and_seeds_make_them(said: Any) -> None:
    words = ("clinic.csv", "--method", "mcmc", "--max-parents", "1", "--samples", "60", "--burn-in", "20")
    out = said(*words, "--seed", "3")
    assert "method  mcmc\n" in out and "60 + 60 samples after 20 each" in out and "independent samples" in out
    assert said(*words, "--seed", "3", "--n-jobs", "1") == out
    assert said(*words, "--seed", "4") != out
    record = json.loads(said(*words, "--seed", "3", "--chains", "3", "--networks", "5", "--json"))
    assert record["chains"]["chains"] == 3 and record["method"] == "mcmc" and "agree" in record["chains"]
    assert "over orders" not in out and "of turned edges accepted" in out
    by_order = said(*words, "--over", "order")
    assert "every order counts" in by_order and "turned" not in by_order


def test_scored_parent_sets_are_summed_too(said: Any, capsys: pytest.CaptureFixture[str]) -> None:
    data = sp.Dataset.read("clinic.csv")
    sp.score_parent_sets(data, "bdeu", max_parents=2, prune=False).write("clinic.jkl")
    sp.score_parent_sets(data, "bdeu", max_parents=2).write("pruned.jkl")
    ours = json.loads(said("clinic.jkl", "--json"))
    theirs = sp.posterior(data, "bdeu", max_parents=2)
    assert ours["names"] == list(theirs.names)
    assert np.allclose(ours["edges"], theirs.edges, atol=1e-9)
    assert "were pruned" in said("pruned.jkl", code=2)
    assert "--score cannot change" in said("clinic.jkl", "--score", "bdeu", code=2)


def test_constraints_hold_and_values_by_evidence_are_said(said: Any, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("clinic.csv", "--max-parents", "1", "--required", "smoker->heart", "--forbidden", "age->smoker")
    capsys.readouterr()
    assert main(["posterior", *words, "--score", "bdeu(ess=auto)", "--json"]) == 0
    read = capsys.readouterr()
    record = json.loads(read.out)
    place = record["names"].index
    assert record["edges"][place("smoker")][place("heart")] == pytest.approx(1.0)
    assert record["edges"][place("age")][place("smoker")] == 0.0
    assert "note: by evidence bdeu has ess=" in read.err
    assert record["score"] != "bdeu(ess=auto)" and record["score"].startswith("bdeu(ess=")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--score", "bic"), "not the log of a probability"),
        (("--score", "pcart"), "best local model"),
        (("--method", "slow"), "--method is one of auto, exact, mcmc"),
        (("--over", "graphs"), "--over is one of modular, order"),
        (("--chains", "1"), "--chains must be a whole number of at least 2"),
        (("--least", "2"), "--least must be a share from 0 to 1"),
        (("--samples", "many"), "--samples must be a whole number"),
        (("-o", "edges.csv"), "this suffix names nothing"),
    ],
)
def test_refusals_are_one_sentence(said: Any, words: tuple[str, ...], sentence: str) -> None:
    err = said("clinic.csv", *words, code=2)
    assert sentence in err and err.count("\n") == 1
