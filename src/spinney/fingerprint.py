"""A fingerprint of a table: equal tables have equal ones, other tables have others.

In:  columns of codes or values, and a description of each.
Out: a sha256 that depends neither on the order of the columns nor on that of the rows, since no score does.
Every row gets a hash of 64 bits, made column by column with the mixing steps of splitmix64 (Steele, Lea, Flood 2014);
the sorted hashes and the descriptions go into the sha256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_ROWS = 1 << 14  # at a time: what is worked on then stays in the cache
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

Words = npt.NDArray[np.uint64]


def fingerprint(columns: Mapping[str, npt.NDArray[Any]], described: Mapping[str, Any], order: Sequence[str]) -> str:
    """`order`: the names, sorted; `described`: what else tells a column from others, as JSON can hold it."""
    return fingerprint_of(row_hashes(columns, order), described, order)


def fingerprint_of(hashes: Words, described: Mapping[str, Any], order: Sequence[str]) -> str:
    """From the hashes of the rows, which are sorted in place."""
    hashes.sort()
    digest = hashlib.sha256()
    for name in order:
        digest.update(json.dumps([name, described[name], len(hashes)]).encode())
    digest.update(hashes.astype("<u8", copy=False).data)
    return digest.hexdigest()


def row_hashes(columns: Mapping[str, npt.NDArray[Any]], order: Sequence[str]) -> Words:
    """64 bits per row, from its cells alone."""
    n_rows = len(columns[order[0]])
    hashes = np.zeros(n_rows, np.uint64)
    for begin in range(0, n_rows, _ROWS):
        part = hashes[begin : begin + _ROWS]
        for name in order:
            part += _words(columns[name][begin : begin + _ROWS])
            _mix(part)
    return hashes


def _words(column: npt.NDArray[Any]) -> Words:
    """Every value as 64 bits: a code as a number, a float by its bits."""
    return column.view(np.uint64) if column.dtype == np.float64 else column.astype(np.uint64)


def _mix(words: Words) -> None:
    """In place: every bit of a word changes about half of its bits."""
    words += _STEP
    words ^= words >> np.uint64(30)
    words *= _FIRST
    words ^= words >> np.uint64(27)
    words *= _SECOND
    words ^= words >> np.uint64(31)
