"""The mixed scores themselves, not their twins, against numbers from outside.

In:  tests/golden/mixed-200.andrews-paper.json: the equations of Andrews, Ramsey and Cooper (2018), computed by others;
     all of tetrad_shared.json and bnlearn_shared.json where the shared folder is there.
Out: agreement to 1e-8 of cg, cgd and mvp, likelihoods and free parameters."""

from __future__ import annotations

import csv
import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney.scores import build_source

SCORES = {  # our choice -> the names of the likelihood and of the free parameters there
    "cg(df=paper)": ("CG_loglik", "CG_dof"),
    "cgd(df=paper)": ("CGd_loglik", "CGd_dof"),
    "mvp": ("MVP1_loglik", "MVP1_dof"),
    "mvp(degree=log)": ("MVPlogn_loglik", "MVPlogn_dof"),
}


def dataset(record: dict[str, Any], rows: list[list[float]]) -> sp.Dataset:
    columns = list(zip(*rows, strict=True))
    frame, kinds = {}, {}
    for name, levels, values in zip(record["columns"], record["categories"], columns, strict=True):
        frame[name] = [str(int(value)) for value in values] if levels else [float(value) for value in values]
        kinds[name] = sp.Categorical([str(level) for level in range(levels)]) if levels else sp.Continuous()
    return sp.Dataset.from_frame(frame, kinds=kinds)


def check(data: sp.Dataset, families: list[dict[str, Any]]) -> int:
    compared = 0
    for text, (likelihood, freedom) in SCORES.items():
        source: Any = build_source(data, text)
        for family in families:
            if family.get(likelihood) is None:
                continue
            ours, parameters = source.likelihood(family["child"], tuple(family["parents"]))
            assert ours == pytest.approx(family[likelihood], rel=1e-8), (text, family["child"], family["parents"])
            assert parameters == family[freedom], (text, family["child"], family["parents"])
            score = sp.local_score(data, family["child"], family["parents"], text)
            assert score == pytest.approx(ours - parameters / 2 * math.log(data.n_rows), rel=1e-9)
            compared += 1
    return compared


def test_the_equations_of_the_paper() -> None:
    record = json.loads((Path(__file__).parent / "golden" / "mixed-200.andrews-paper.json").read_text())
    assert check(dataset(record, record["rows"]), record["families"]) == 60


def test_all_families_by_the_equations_of_the_paper(shared: Path) -> None:
    path = shared / "golden" / "tetrad_shared.json"
    if not path.is_file():
        pytest.skip(f"the family scores by the paper's equations are not at {path}")
    compared = 0
    for record in json.loads(path.read_text())["datasets"]:
        names = record["columns"]
        families = [
            {"child": names[own["child"]], "parents": [names[p] for p in own["parents"]], **own["paper"]}
            for own in record["families"]
        ]
        compared += check(dataset(record, record["rows"]), families)
    assert compared > 100


@pytest.mark.parametrize("index", range(6))
def test_discrete_children_of_cg_and_all_of_bge_are_those_of_bnlearn(shared: Path, index: int) -> None:
    """bnlearn takes another variance for continuous children under cg; see slow/gaussian.py."""
    case = json.loads((Path(__file__).parent / "golden" / "gaussians.bnlearn-5.2.1.json").read_text())["cases"][index]
    path = shared / "golden" / "data" / f"{case['data']}.csv.gz"
    if not path.is_file():
        pytest.skip(f"bnlearn's {case['data']} is not at {path}")
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    frame, kinds = {}, {}
    for name, levels in case["levels"].items():
        values = np.array([row[name] if levels else float(row[name]) for row in rows])
        frame[name] = values if levels else values - values.mean()  # its bge has the mean of the data as the prior's
        kinds[name] = sp.Categorical(levels) if levels else sp.Continuous()
    data = sp.Dataset.from_frame(frame, kinds=kinds, standardise=False)
    for child, parents in case["parents"].items():
        for score, by_node in case["scores"].items():
            if score == "bge":
                assert sp.local_score(data, child, parents, "bge") == pytest.approx(by_node[child], rel=1e-9)
            elif score == "bic-cg" and case["levels"][child]:
                assert sp.local_score(data, child, parents, "cg") == pytest.approx(by_node[child], rel=1e-9)
