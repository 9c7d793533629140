"""spinney classify: what it prints is what the estimators say.

In:  one small table with a text, an integer and a continuous column, and commands in this process.
Out: answers equal to the API's, classifiers that read back, and rows of unseen levels that have an answer."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney.cli import main

TARGET = ["--target", "ill"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = random.Random(3)
    lines = ["dose,smoker,visits,ill"]
    for _ in range(200):
        ill = draw.random() < 0.4
        smoker = "yes" if draw.random() < (0.7 if ill else 0.3) else "no"
        lines.append(f"{draw.gauss(2.0 * ill, 1.0):.3f},{smoker},{draw.randrange(3) + ill},{'ill' if ill else 'well'}")
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def said(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture
def data(folder: Path) -> sp.Dataset:
    return sp.Dataset.read("table.csv")


def test_train_writes_the_network_of_the_estimator(said: Any, data: sp.Dataset, folder: Path) -> None:
    answer = json.loads(
        said("classify", "train", "table.csv", *TARGET, "--score", "fnml", "-o", "model.json", "--json")
    )
    made = sp.TANClassifier("fnml").fit_dataset(data, "ill")
    assert sp.Network.load("model.json") == made.network_
    assert answer["classes"] == ["ill", "well"] and answer["target"] == "ill"
    assert answer["edges"] == [list(edge) for edge in made.network_.edges]
    assert answer["cuts"] == {name: list(cuts) for name, cuts in made.network_.cuts.items()}
    assert answer["plan"] == made.network_.plan
    text = said("classify", "train", "table.csv", *TARGET, "--score", "fnml")
    assert "TANClassifier of ill (ill, well) from 200 rows" in text and "fnml" in text and "dose at" in text
    assert "cut" not in said("classify", "train", "table.csv", *TARGET, "--score", "pcart")


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["--model", "naive-bayes", "--score", "k2"], sp.NaiveBayesClassifier("k2")),
        (["--score", "bic", "--parameters", "ll", "--forest"], sp.TANClassifier("bic", parameters="ll", forest=True)),
        (
            ["--model", "network", "--score", "pcart", "--search", "hc", "--max-parents", "2", "-j", "1"],
            sp.NetworkClassifier("pcart", "hc", max_parents=2),
        ),
        (["--discretise", "quantile"], sp.TANClassifier(discretise="quantile")),
        (["--score", "ft", "--discretise", "none"], sp.TANClassifier("ft", discretise=None)),
    ],
)
def test_options_are_those_of_the_estimators(words: list[str], made: Any, said: Any, data: sp.Dataset) -> None:
    said("classify", "train", "table.csv", *TARGET, *words, "-o", "model.json.gz")
    assert sp.Network.load("model.json.gz") == made.fit_dataset(data, "ill").network_
    answer = json.loads(said("classify", "cv", "table.csv", *TARGET, *words, "--folds", "3", "--seed", "4", "--json"))
    found = sp.evaluate.accuracy(made, data, "ill", folds=3, seed=4)
    assert answer["mean"] == found.mean and answer["folds"] == list(found.folds)


def test_cv_says_accuracy_interval_and_folds(said: Any, data: sp.Dataset) -> None:
    text = said("classify", "cv", "table.csv", *TARGET)
    found = sp.evaluate.accuracy("fnml", data, "ill")
    assert f"{found.mean:.4f}  ({found.correct} of 200 rows)" in text
    assert f"{found.interval[0]:.4f} to {found.interval[1]:.4f}" in text and text.count(",") == 9
    held = said("classify", "cv", "table.csv", *TARGET, "--holdout", "0.3")
    assert "of 60 rows" in held and "folds" not in held


def test_predict_says_what_the_estimator_says(said: Any, data: sp.Dataset, folder: Path) -> None:
    said("classify", "train", "table.csv", *TARGET, "-o", "model.json")
    made = sp.TANClassifier().fit_dataset(data, "ill")
    (folder / "new.csv").write_text("visits,ill,smoker,dose\n0,,sometimes,1e6\n9,,no,-3\n2,,yes,0.5\n")
    columns = {"dose": [1e6, -3.0, 0.5], "smoker": ["sometimes", "no", "yes"], "visits": [0, 9, 2]}
    shares = made.predict_proba(columns)
    rows = list(csv.reader(io.StringIO(said("classify", "predict", "model.json", "new.csv"))))
    assert rows[0] == ["ill", "P(ill=ill)", "P(ill=well)"]
    assert [[float(cell) for cell in row[1:]] for row in rows[1:]] == shares.tolist()
    assert [row[0] for row in rows[1:]] == made.predict(columns).tolist()
    answer = json.loads(said("classify", "predict", "model.json", "new.csv", "--json", "-o", "out.csv"))
    assert answer["probabilities"] == shares.tolist() and answer["target"] == "ill"
    assert len((folder / "out.csv").read_text().splitlines()) == 4
    assert np.isfinite(shares).all()


def test_spinney_predict_takes_the_classifier_too(said: Any) -> None:
    said("classify", "train", "table.csv", *TARGET, "-o", "model.json")
    by_class = said("classify", "predict", "model.json", "table.csv")
    assert by_class == said("predict", "model.json", "table.csv", *TARGET)
    assert said("predict", "model.json", "table.csv", "--target", "smoker").startswith("smoker,")


def test_any_whole_number_seeds_the_folds(said: Any, data: sp.Dataset) -> None:
    found = sp.evaluate.accuracy("fnml", data, "ill", seed=-1)
    assert f"({found.correct} of 200 rows)" in said("classify", "cv", "table.csv", *TARGET, "--seed", "-1")


def test_a_file_whose_target_is_no_name_is_no_classifier(
    said: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said("classify", "train", "table.csv", *TARGET, "-o", "model.json")
    written = json.loads((folder / "model.json").read_text())
    for target in (["ill"], {"ill": 1}, 3, None, "age"):
        written["plan"]["target"] = target
        (folder / "other.json").write_text(json.dumps(written))
        assert main(["classify", "predict", "other.json", "table.csv"]) == 2
        assert "not a classifier" in capsys.readouterr().err
