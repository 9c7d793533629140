"""Rows that live on several machines: a folder of Parquet files, which the workers of a Dask cluster read.

In:  a folder that workers can see, and a Client or the address of a scheduler.
Out: Partitions, a Dataset without cells here: kinds, levels and the number of rows. What a score needs of the rows are
sums over the files: counts of sets of columns (tables), or moments (Gaussians). Counts are whole numbers, and the exact
sum of the moments of all files is rounded once: the answer depends neither on the workers nor on who is done first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from spinney import _core
from spinney.cluster import Cluster, as_done, client_of, held, staying
from spinney.columns import Column
from spinney.dataset import Dataset
from spinney.errors import DataError, way
from spinney.files import as_path
from spinney.fingerprint import fingerprint_of, row_hashes
from spinney.kinds import Categorical, Continuous, Kind, Ordinal, code_type, to_plain
from spinney.packed import pieces
from spinney.reading import Kinds, Names, Reading

Counts = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]  # joint levels that occur, rising; rows that have each
MOST_KEPT = 50_000_000  # joint levels whose counts are kept here
SETS = 5000  # whose counts are asked for at a time


class Partitions(Dataset):
    """The table that all files of a folder make together. Its rows stay where they are read."""

    rows_are_here = False

    def __init__(self, kinds: dict[str, Kind], facts: Sequence[_Facts], files: list[Any], client: Any) -> None:
        empty = {
            name: np.empty(0, np.float64 if isinstance(kind, Continuous) else code_type(kind.levels or ()))
            for name, kind in kinds.items()
        }
        reason = f"read from {len(files):,} files"
        columns = {name: Column(kind, reason, empty[name]) for name, kind in kinds.items()}
        super().__init__(columns, sum(own.rows for own in facts))
        self.client = client
        self._files = files  # futures of Datasets
        self._means = {
            name: math.fsum(own.sums[name] for own in facts) / max(1, self.n_rows)
            for name, kind in kinds.items()
            if not kind.discrete
        }
        self._joint_counts: dict[tuple[int, ...], Counts] = {}
        self._kept = 0
        self._moments: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None

    @classmethod
    def open(
        cls,
        folder: str | PathLike[str],
        cluster: Cluster,
        *,
        kinds: Kinds = None,
        columns: Names = None,
        exclude: Names = None,
    ) -> Partitions:
        """All Parquet files of a folder, read by the workers of a cluster.

        kinds, columns, exclude: as in Dataset.read(). Missing cells are refused; no column is left out, and no level
        merged, unless you say so. Every worker must see the folder under this name. See docs/large.md."""
        paths = _paths(folder)
        client = client_of(cluster)  # closed with the process: the workers hold the rows as long as it lives
        with staying():
            words: dict[str, Any] = {"columns": columns, "exclude": exclude, "keep_all": True, "missing": "refuse"}
            Reading.of(kinds, **words)  # refused before any reading
            seen = _in_order(client, _looked, [(path, kinds, words) for path in paths])
            settled = _settled(paths, [own.kinds for own in seen])
            words = {"keep_all": True, "missing": "refuse", "columns": tuple(settled)}
            files = [client.submit(_read, path, settled, words, pure=False) for path in paths]
            return cls(settled, seen, files, client)

    def _of_all(self, function: Any, *arguments: Any) -> list[Any]:
        """function(data, *arguments) of every file, in their order."""
        with staying():
            at_workers = [held(self.client, argument) for argument in arguments]
            return _in_order(self.client, function, [(file, *at_workers) for file in self._files])

    def counts(self, sets: Iterable[tuple[int, ...]]) -> list[Counts]:
        """Of sets of columns, by their numbers in sorted order of names: joint levels and how many rows have them."""
        wanted = list(sets)
        missing = sorted({own for own in wanted if own not in self._joint_counts})
        if self._kept > MOST_KEPT:
            self._joint_counts, self._kept = (
                {own: self._joint_counts[own] for own in wanted if own in self._joint_counts},
                0,
            )
        for begin in range(0, len(missing), SETS):
            asked = missing[begin : begin + SETS]
            found = self._of_all(_counted, [list(own) for own in asked])
            for own, parts in zip(asked, zip(*found, strict=True), strict=True):
                self._joint_counts[own] = _added(parts)
                self._kept += len(self._joint_counts[own][0])
        return [self._joint_counts[own] for own in wanted]

    def moments(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Means and covariances (divisor N), of continuous columns in standard units and of the indicators of all
        levels of the others, in sorted order of names."""
        if self._moments is None:
            parts = self._of_all(_summed, self._means)
            sums = np.array([math.fsum(own) for own in zip(*(part[0].tolist() for part in parts), strict=True)])
            size = len(sums)
            flat = zip(*(part[1].ravel().tolist() for part in parts), strict=True)
            squares = np.array([math.fsum(own) for own in flat]).reshape(size, size)
            mean = sums / self.n_rows
            covariance = squares / self.n_rows - np.outer(mean, mean)
            scale = np.ones(size)
            place = 0
            for name in self.order:
                kind = self.kinds[name]
                if isinstance(kind, Continuous):
                    constant = kind.lo == kind.hi or covariance[place, place] <= 0
                    scale[place] = 1.0 if constant else math.sqrt(covariance[place, place])
                    if constant:
                        covariance[place], covariance[:, place] = 0.0, 0.0
                    mean[place] = 0.0
                    place += 1
                else:
                    place += len(kind.levels or ())
            self._moments = mean, covariance / np.outer(scale, scale)
        return self._moments

    @property
    def fingerprint(self) -> str:
        """That of all rows in one table."""
        if self._fingerprint is None:
            hashes = np.concatenate(self._of_all(_hashed))
            self._fingerprint = fingerprint_of(hashes, {n: to_plain(k) for n, k in self.kinds.items()}, self.order)
        return self._fingerprint

    def _elsewhere(self) -> NoReturn:
        raise DataError(
            "the rows of this table are in files that workers read; what needs the rows themselves needs "
            "Dataset.read() of one file"
        )

    def codes(self, name: str) -> npt.NDArray[Any]:
        self._elsewhere()

    def values(self, name: str) -> npt.NDArray[np.float64]:
        self._elsewhere()

    def take(self, rows: npt.ArrayLike) -> Dataset:
        self._elsewhere()

    def select(self, names: Iterable[str]) -> Dataset:
        self._elsewhere()


class _Facts:
    """What a worker says of a file that it has looked at."""

    def __init__(self, data: Dataset) -> None:
        self.rows = data.n_rows
        self.kinds = data.kinds
        self.sums = {name: float(data.values(name).sum()) for name, kind in data.kinds.items() if not kind.discrete}


def _paths(folder: str | PathLike[str]) -> list[str]:
    place = Path(as_path(folder))
    try:
        found = sorted(str(path.absolute()) for path in place.iterdir() if path.suffix == ".parquet")
    except OSError as error:
        raise DataError(
            f"{folder}: the folder cannot be opened ({error.strerror}); name a folder of .parquet files"
        ) from None
    if not found:
        raise DataError(f"{folder}: there is no .parquet file in this folder; name the folder that has them")
    return found


def _in_order(client: Any, function: Any, tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
    found: list[Any] = [None] * len(tasks)
    for place, result in as_done(client, tasks, function):
        if place >= 0:
            found[place] = result
    return found


def _settled(paths: Sequence[str], seen: Sequence[dict[str, Kind]]) -> dict[str, Kind]:
    """One kind per column, with the levels and the range of all files."""
    settled: dict[str, Kind] = {}
    for name, kind in seen[0].items():
        own = []
        for path, kinds in zip(paths, seen, strict=True):
            if set(kinds) != set(seen[0]):
                odd = sorted(set(kinds) ^ set(seen[0]))[0]
                raise DataError(f"{path} and {paths[0]} differ in column {odd!r}; all files must have the same columns")
            if kinds[name].word != kind.word:
                raise DataError(
                    f"column {name!r} looks {kinds[name].word} in {path} and {kind.word} in {paths[0]}",
                    way("pass {}", "kinds", {name: "categorical"}),
                )
            own.append(kinds[name])
        settled[name] = _joined(own)
    return settled


def _joined(kinds: Sequence[Any]) -> Kind:
    if isinstance(kinds[0], Continuous):
        return Continuous(min(kind.lo for kind in kinds), max(kind.hi for kind in kinds))
    levels = list(dict.fromkeys(level for kind in kinds for level in kind.levels))
    if any(kind.levels != kinds[0].levels for kind in kinds):
        levels.sort()
        with suppress(ValueError):
            levels.sort(key=float)
    return (Ordinal if isinstance(kinds[0], Ordinal) else Categorical)(levels)


def _added(parts: Sequence[Counts]) -> Counts:
    """The counts of all files."""
    codes, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    total = np.zeros(len(codes), np.int64)
    np.add.at(total, place, np.concatenate([part[1] for part in parts]).astype(np.int64))
    return codes, total.astype(np.uint32)


# At a worker


def _looked(path: str, kinds: Kinds, words: dict[str, Any]) -> _Facts:
    return _Facts(Dataset.read(path, kinds=kinds, **words))


def _read(path: str, kinds: dict[str, Kind], words: dict[str, Any]) -> Dataset:
    return Dataset.read(path, kinds=kinds, **words)


def _counted(data: Dataset, sets: list[list[int]]) -> list[Counts]:
    return _core.set_counts(data.for_core, sets)


def _hashed(data: Dataset) -> npt.NDArray[np.uint64]:
    return row_hashes({name: data.column(name) for name in data.order}, data.order)


def _summed(data: Dataset, means: dict[str, float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sums and sums of products, of continuous columns less the mean over all files, and of indicators."""
    sizes = [len(data.levels(name)) if data.kinds[name].discrete else 1 for name in data.order]
    sums, products = np.zeros(sum(sizes)), np.zeros((sum(sizes), sum(sizes)))
    for piece in pieces(data.n_rows, 1 << 16):
        rows = np.zeros((piece.stop - piece.start, sum(sizes)))
        place = 0
        for name, size in zip(data.order, sizes, strict=True):
            if data.kinds[name].discrete:
                rows[np.arange(len(rows)), place + data.codes(name)[piece].astype(np.int64)] = 1.0
            else:
                rows[:, place] = data.values(name)[piece] - means[name]
            place += size
        sums += rows.sum(axis=0)
        with threadpool_limits(1, "blas"):  # so that the sums do not depend on the cores of the worker
            products += rows.T @ rows
    return sums, products
