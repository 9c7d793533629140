"""Rows that live on several machines: the answer of one machine, from sums over files.

In:  small tables cut into Parquet files; a LocalCluster of processes.
Out: parent sets byte for byte (tables), scores to their last digits (moments), the same networks; one sentence for what
cannot be had from sums."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney.formats import jkl

distributed = pytest.importorskip("distributed", reason="the package distributed is not installed: spinney[dask]")


@pytest.fixture(scope="module", params=[1, 3])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=request.param, threads_per_worker=1, dashboard_address=None, processes=True
        ) as workers,
        distributed.Client(workers, set_as_default=False) as connected,
    ):
        yield connected


def table(continuous: int = 0, columns: int = 7, rows: int = 900, seed: int = 1) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    last = rng.normal(size=rows)
    found: dict[str, Any] = {}
    for i in range(columns):
        last = 0.7 * last + rng.normal(size=rows)
        numbers = np.clip(np.rint(last), -1 - i % 2, 1)
        # Texts, and whole numbers that are levels; every file has its own share of the levels.
        found[f"x{i}"] = 1e3 * (i + 1) + last if i < continuous else [f"l{int(v)}" for v in numbers]
    found["rare"] = ["often"] * (rows - 3) + ["b", "a", "c"]
    return sp.Dataset.from_frame(found)


def folder_of(data: sp.Dataset, folder: Path, files: int = 4) -> Path:
    """Files of several sizes, which do not know of the levels of the others."""
    import pyarrow as pa
    import pyarrow.parquet

    whole = data.to_arrow()
    plain = pa.table(
        {
            n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c
            for n, c in zip(whole.column_names, whole.columns, strict=True)
        }
    )
    ends = np.unique([0, *np.random.default_rng(3).integers(1, len(data), files - 1), len(data)])
    for i, (begin, end) in enumerate(itertools.pairwise(ends)):
        pyarrow.parquet.write_table(plain.slice(begin, end - begin), folder / f"part{i}.parquet")
    return folder


@pytest.mark.parametrize("score", ["bdeu", "bic", "bds", "k2", "fnml", "qnml"])
def test_table_scores_are_those_of_one_machine(client: Any, tmp_path: Path, score: str) -> None:
    data = table()
    parts = sp.Partitions.open(folder_of(data, tmp_path), client)
    assert parts.n_rows == data.n_rows and parts.kinds == data.kinds
    for words in ({}, {"prune": False}, {"prior": "sizes"}, {"candidates": {"x1": ["x0", "x3"]}}):
        plain = sp.score_parent_sets(data, score, **words)
        shared = sp.score_parent_sets(parts, score, **words)
        assert jkl.text(shared) == jkl.text(plain)
    assert shared.scored == shared.families


@pytest.mark.parametrize("search", ["hc", "tabu", "dp", "ges"])
def test_networks_are_those_of_one_machine(client: Any, tmp_path: Path, search: str) -> None:
    data = table()
    parts = sp.Partitions.open(folder_of(data, tmp_path), client)
    plain, shared = (sp.learn(own, "bdeu", search=search) for own in (data, parts))
    assert shared.network.parents == plain.network.parents
    assert shared.found.score == pytest.approx(plain.found.score, rel=1e-12)
    assert shared.network.data == plain.network.data  # the fingerprint too
    for child in data.names:
        ours, theirs = shared.network.model(child).as_dict(), plain.network.model(child).as_dict()
        assert {**ours, "score": 0} == {**theirs, "score": 0}


def test_constraints_hold(client: Any, tmp_path: Path) -> None:
    data = table()
    parts = sp.Partitions.open(folder_of(data, tmp_path), client)
    limits = sp.Constraints(required=[("x1", "x0")], forbidden=[("x2", "x3")])
    for search in ("hc", "dp"):
        plain, shared = (sp.find(own, "bic", search=search, constraints=limits) for own in (data, parts))
        assert shared.parents == plain.parents and "x1" in shared.parents["x0"]


@pytest.mark.parametrize("score, continuous", [("dg", 0), ("dg", 4), ("dg", 7), ("bge", 7)])
def test_gaussian_scores_are_those_of_one_machine(client: Any, tmp_path: Path, score: str, continuous: int) -> None:
    data = table(continuous)
    if score == "bge":
        data = data.select([name for name in data.names if name != "rare"])
    parts = sp.Partitions.open(folder_of(data, tmp_path), client)
    families = [(child, [p for p in data.names if p != child][:k]) for child in data.names for k in range(4)]
    assert sp.local_scores(parts, families, score) == pytest.approx(sp.local_scores(data, families, score), rel=1e-9)
    for search in ("hc", "ges", "dp"):
        plain, shared = (sp.find(own, score, search=search) for own in (data, parts))
        assert sp.DAG(data.names, dict(shared.parents)).cpdag() == sp.DAG(data.names, dict(plain.parents)).cpdag()
        assert shared.score == pytest.approx(plain.score, rel=1e-9)


def test_the_order_of_workers_does_not_matter(client: Any, tmp_path: Path) -> None:
    parts = sp.Partitions.open(folder_of(table(4), tmp_path, files=9), client)
    mean, matrix = parts.moments()
    again = sp.Partitions.open(tmp_path, client).moments()
    assert mean.tolist() == again[0].tolist() and matrix.tolist() == again[1].tolist()
    whole = table(4)
    values = np.column_stack(
        [(whole.values(n) - whole.values(n).mean()) / whole.values(n).std() for n in whole.order[1:5]]
    )
    places = [len(whole.levels("rare")) + i for i in range(4)]
    assert matrix[np.ix_(places, places)] == pytest.approx(np.cov(values.T, bias=True), abs=1e-12)


def test_what_needs_rows_says_so(client: Any, tmp_path: Path) -> None:
    parts = sp.Partitions.open(folder_of(table(4), tmp_path), client)
    for call in (
        lambda: sp.learn(parts, "pcart", search="hc"),
        lambda: sp.learn(parts, "dg", search="hc"),
        lambda: sp.find(parts, "cg", search="hc"),
        lambda: sp.find(parts, "dg", search="hc", candidates="screen(k=2)"),
        lambda: sp.find(parts, "dg", search="dp", store=tmp_path / "s"),
        lambda: parts.to_pandas(),
    ):
        with pytest.raises((sp.ChoiceError, sp.DataError), match=r"several machines|files that workers read"):
            call()


def test_folders_that_cannot_be_read(client: Any, tmp_path: Path) -> None:
    with pytest.raises(sp.DataError, match="cannot be opened"):
        sp.Partitions.open(tmp_path / "absent", client)
    with pytest.raises(sp.DataError, match=r"no \.parquet file"):
        sp.Partitions.open(tmp_path, client)
    folder_of(table(), tmp_path)
    table(columns=3).write(tmp_path / "other.parquet")
    with pytest.raises(sp.DataError, match="must have the same columns"):
        sp.Partitions.open(tmp_path, client)
    table(3).write(tmp_path / "other.parquet")
    with pytest.raises(sp.DataError, match=r"looks (continuous|categorical) in"):
        sp.Partitions.open(tmp_path, client)
