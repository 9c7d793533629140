"""Options that the data chooses: pcart(alpha="auto") and others.

In:  drawn tables of all kinds, and examples/clinic.csv.
Out: the values of a plain search over all of them; the same score wherever it is asked for, whatever the names, order
and threads; only rows that are learned from choose; the network keeps the values and says why."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from slow import evidence as slow
from spinney.catalog import SCORES
from spinney.cli import main
from spinney.evaluate import log_loss
from spinney.methods import one_method
from spinney.report.again import again
from spinney.scores import resolved
from spinney.tasks import Worker

CLINIC = Path(__file__).resolve().parent.parent / "examples" / "clinic.csv"


def drawn(rows: int = 120, seed: int = 0, names: str = "abcxyz") -> dict[str, Any]:
    """Three discrete columns and three continuous ones, which depend on each other; x and y much, with little noise."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    b = np.where(rng.random(rows) < 0.9, a, rng.integers(0, 3, rows))
    c = rng.integers(0, 2, rows)
    x = rng.normal(size=rows) + 2 * c
    y = x + 0.1 * rng.normal(size=rows)
    z = np.where(c == 1, 5.0, -5.0) + rng.normal(size=rows)
    texts = [np.array(["p", "q", "r"])[a], np.array(["k", "l", "m"])[b], np.array(["no", "yes"])[c]]
    return dict(zip(names, [*texts, x, y, z], strict=True))


def mixed(rows: int = 120, seed: int = 0) -> sp.Dataset:
    return sp.Dataset.from_frame(drawn(rows, seed))


def ordered(rows: int = 90, seed: int = 0) -> sp.Dataset:
    """An ordinal column among others."""
    rng = np.random.default_rng([seed, 5])
    level = rng.integers(1, 6, rows)
    other = np.where(level + rng.normal(size=rows) > 3, "high", "low")
    kinds = {"level": sp.Ordinal(["1", "2", "3", "4", "5"])}
    return sp.Dataset.from_frame({"level": level.astype(str), "other": other, "x": rng.normal(size=rows)}, kinds=kinds)


CASES = [
    ("pcart", ("alpha",), "", mixed),
    ("pcart", ("lam",), "", mixed),
    ("pcart", ("alpha", "nu", "lam"), "", mixed),
    ("pcart", ("a",), "average=True", mixed),
    ("pcart", ("tau",), "leaf=linear", mixed),
    ("pcart", ("alpha", "kappa"), "", ordered),
    ("ft", ("alpha", "lam"), "max_bins=3", mixed),
    ("bdeu", ("ess",), "", lambda: sp.Dataset.read(CLINIC)),
    ("bd", ("alpha",), "", lambda: sp.Dataset.read(CLINIC)),
    ("bds", ("ess",), "", lambda: sp.Dataset.read(CLINIC)),
]


@pytest.mark.parametrize(("score", "free", "fixed", "made"), CASES)
def test_the_values_are_those_of_a_plain_search(score: str, free: tuple[str, ...], fixed: str, made: Any) -> None:
    data = made()
    options = {option.name: option for option in SCORES[score].options}
    grids = {name: options[name].grid for name in free}
    usual = {name: float(options[name].default) for name in free}
    values, best = slow.chosen(data, score, grids, usual, fixed)
    words = ", ".join([*(f"{name}=auto" for name in free), *([fixed] if fixed else [])])
    found = resolved(data, f"{score}({words})")
    assert {name: found[name] for name in free} == values
    assert f" {best:.4f}" in found.why
    assert values != usual, "this case would not notice that nothing is done"


def test_score_fit_and_learn_agree_and_the_plan_has_the_values() -> None:
    data, score = mixed(), "pcart(alpha=auto, lam=auto)"
    result = sp.learn(data, score, max_parents=2, search="exact")
    total = sp.score(data, result.network, score)
    fitted = sp.fit(data, result.network, score)
    assert fitted.score == pytest.approx(total, rel=1e-12)
    assert fitted.plan is not None and fitted.plan["score"] == result.plan.score
    assert fitted.plan["why_score"] == result.plan.why_score
    assert result.found.score == pytest.approx(total, rel=1e-12)
    assert sp.score(data, result.network, result.plan.score) == pytest.approx(total, rel=1e-12)
    assert sp.find(data, score, max_parents=2, search="exact").score == pytest.approx(total, rel=1e-12)
    assert sp.local_score(data, "b", ["a"], score) == sp.local_score(data, "b", ["a"], result.plan.score)
    sets = sp.score_parent_sets(data, score, max_parents=1)
    assert sets == sp.score_parent_sets(data, result.plan.score, max_parents=1)
    assert "auto" not in result.plan.score and "lam=" in (result.plan.why_score or "")


def test_every_value_is_told_to_the_progress_and_a_task_can_end_there() -> None:
    seen: list[tuple[str, int, int]] = []
    data = mixed()
    found = sp.learn(data, "pcart(alpha=auto, lam=auto)", max_parents=1, progress=lambda *own: seen.append(own))
    values = [own[1:] for own in seen if own[0].startswith("trying values")]
    in_a_pass = sum(len(option.grid) for option in SCORES["pcart"].options if option.name in ("alpha", "lam"))
    assert [done for done, _ in values] == list(range(1, len(values) + 1))
    assert values[-1][0] == values[-1][1] and values[-1][1] % in_a_pass == 0 and values[0][1] == in_a_pass
    assert seen[0][0].startswith("trying values")
    assert found.found.score == sp.find(mixed(), "pcart(alpha=auto, lam=auto)", max_parents=1).score

    class Enough(Exception):
        pass

    def end(what: str, done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        sp.score_parent_sets(mixed(1), "pcart(alpha=auto)", max_parents=1, progress=end)


def test_names_order_rows_and_threads_decide_nothing() -> None:
    score = "pcart(alpha=auto, a=auto, nu=auto)"
    columns = drawn()
    found = resolved(mixed(), score)
    rows = np.random.default_rng(1).permutation(120)
    moved = {f"column {9 - i}": own[rows] for i, own in reversed(list(enumerate(columns.values())))}
    other = resolved(sp.Dataset.from_frame(moved), score)
    assert (str(other), other.why) == (str(found), found.why)
    threads = sp.learn(mixed(), score, search="hc", n_jobs=3).plan
    assert (threads.score, threads.why_score) == (str(found), found.why)


def test_rows_that_were_held_out_choose_nothing() -> None:
    """Else the log loss of a tuned score would be too good."""
    data, score = mixed(200, seed=3), "pcart(alpha=auto, lam=auto)"
    few = data.take(np.arange(25))
    method = one_method(data, score, "uniform", "hc")
    network = method.learn(few, 0, Worker(1, lambda *_: None))
    assert network.plan is not None
    assert network.plan["score"] == str(resolved(few, score)) != str(resolved(data, score))
    shown = log_loss(data, [score, "pcart"], search="hc", folds=2, repeats=1).as_dict()
    assert "alpha=auto" in json.dumps(shown)


def test_each_score_of_best_has_its_own_values() -> None:
    data = mixed()
    found = resolved(data, "best(pcart(lam=auto), ft(alpha=auto, max_bins=3), pcart(leaf=linear))")
    inner = found["scores"]
    assert inner[0] == resolved(data, "pcart(lam=auto)")
    assert inner[1] == resolved(data, "ft(alpha=auto, max_bins=3)")
    assert inner[2]["lam"] == 1.0
    assert "pcart has lam" in found.why and "ft has alpha" in found.why


def test_an_option_that_concerns_no_column_keeps_its_default() -> None:
    data = mixed().select(["x", "y", "z"])
    found = resolved(data, "pcart(alpha=auto, kappa=auto)")
    assert (found["alpha"], found["kappa"]) == (0.5, 0.25)
    assert found.why == "alpha, kappa of pcart concern no column here and keep their defaults"


def test_a_value_at_an_end_is_said() -> None:
    """A continuous column of few different values is more probable without end as its variance falls."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 3, 200)
    few = {"x": x.astype(float), "y": np.array([0.0, 7.0, 31.0])[x]}
    data = sp.Dataset.from_frame(few, kinds={"x": "continuous", "y": "continuous"})
    found = resolved(data, "pcart(lam=auto)")
    assert found["lam"] == min(next(option.grid for option in SCORES["pcart"].options if option.name == "lam"))
    assert found.why.endswith("lam is at an end of the values that are tried")
    assert "at an end" not in resolved(sp.Dataset.read(CLINIC), "bdeu(ess=auto)").why


def test_many_columns_are_joined_to_the_associated_ones_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from spinney.scores import evidence

    data = mixed()
    all_pairs = resolved(data, "pcart(lam=auto)")
    monkeypatch.setattr(evidence, "MOST_COLUMNS", 2)
    monkeypatch.setattr(evidence, "ASSOCIATED", 5)  # all that there are
    assert str(resolved(mixed(), "pcart(lam=auto)")) == str(all_pairs)
    monkeypatch.setattr(evidence, "ASSOCIATED", 2)
    few = resolved(mixed(), "pcart(lam=auto)")
    assert few["lam"] < 1.0


def test_the_time_limit_keeps_the_defaults_and_says_so() -> None:
    data = mixed()
    result = sp.learn(data, "pcart(lam=auto)", search="hc", time_limit=1e-9)
    assert "lam=1.0" in result.plan.score
    assert "no time to try values of lam of pcart" in (result.plan.why_score or "")
    assert resolved(data, "pcart(lam=auto)")["lam"] < 1.0  # what a limit ended early is not remembered


@pytest.mark.parametrize("score", ["pcart(alpha=automatic)", "pcart(lam=0)", "ft(nu=often)", "bdeu(ess=best)"])
def test_other_words_are_refused(score: str) -> None:
    with pytest.raises(sp.ChoiceError, match="must be auto or a number above 0"):
        sp.learn(mixed(), score)


def test_what_cannot_be_scored_is_refused_before_values_are_tried() -> None:
    with pytest.raises(sp.ChoiceError, match="ebic and kappa"):
        sp.learn(mixed(), "pcart(alpha=auto)", prior="ebic")
    with pytest.raises(sp.ChoiceError, match="is continuous and score bdeu"):
        sp.learn(mixed(), "bdeu(ess=auto)")
    with pytest.raises(sp.ChoiceError, match="mu0 must be a number"):
        sp.learn(mixed(), "pcart(mu0=auto)")


def test_the_command_says_it_and_what_it_records_makes_the_same_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(CLINIC, "clinic.csv")
    assert main(["learn", "clinic.csv", "--score", "bdeu(ess=auto)", "-o", "net.json", "--max-parents", "2"]) == 0
    assert "by evidence bdeu has ess=" in capsys.readouterr().out
    net = sp.Network.load("net.json")
    words = again(net, None, "clinic.csv")
    assert "by evidence" in words["why_score"]
    line = shlex.split(words["command"])
    assert "auto" not in " ".join(line) and line[:3] == ["spinney", "learn", "clinic.csv"]
    assert main([*line[1:], "-o", "again.json"]) == 0
    twin = sp.Network.load("again.json")
    assert (twin.parents, twin.score) == (net.parents, net.score)
    assert (twin.plan or {})["score"] == (net.plan or {})["score"]
    capsys.readouterr()
    assert main(["score", "clinic.csv", "net.json", "--score", "bdeu(ess=auto)", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["score"] == pytest.approx(net.score) and found["score_name"] == (net.plan or {})["score"]
