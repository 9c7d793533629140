"""Columns of few different values, held small.

In:  the cells of an Arrow column, batch by batch, as a large file is read.
Out: a Packed column: every different value once, in the order in which they come up, and a code of one or two bytes per
cell. Columns of too many values stay as they are, whole numbers in the smallest type that holds them.
What a column means is decided on its different values (cells.py, messy.py), so the same is decided as for a column that
was read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MOST_VALUES = 65_536  # as many as two bytes number; a column of more is no column of levels
PIECE = 1 << 20  # rows that are worked on together, where a step takes more bytes per row than it leaves

Codes = npt.NDArray[np.unsignedinteger[Any]]
Counts = npt.NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Packed:
    """`values` may hold a value twice, and null, after each of them has been changed in the same way."""

    type: pa.DataType  # of the column as it was read
    values: pa.Array
    codes: Codes
    counts: Counts  # how often each value occurs
    in_order: bool = True  # of ordered categories: no batch had them in another order

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def null_count(self) -> int:
        return int(self.counts[is_null(self.values)].sum())

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes)

    def distinct(self) -> pa.ChunkedArray:
        return pa.chunked_array([self.values])

    def with_values(self, values: pa.ChunkedArray | pa.Array) -> Packed:
        """The same cells, each value changed into the one in its place."""
        whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.chunk(0)
        return Packed(whole.type, whole, self.codes, self.counts)

    def slice(self, begin: int, length: int) -> pa.ChunkedArray:
        """Some of the cells, as they are."""
        return pa.chunked_array([self.values.take(pa.array(self.codes[begin : begin + length]))])

    def expanded(self) -> pa.ChunkedArray:
        """All cells, as they are; whole numbers in the smallest type."""
        if narrows(self.values.type):
            return pa.chunked_array([narrowed(self.values).take(pa.array(self.codes))])
        pieces = [self.slice(begin, PIECE).chunk(0) for begin in range(0, len(self), PIECE)]
        return pa.chunked_array(pieces, self.values.type)

    def take(self, rows: pa.Array) -> pa.ChunkedArray:
        return pa.chunked_array([self.values.take(pa.array(self.codes[rows.to_numpy()]))])

    def filter(self, kept: pa.Array) -> pa.ChunkedArray | Packed:
        """Values that no row has any more are gone, and the others in the order in which they come up now."""
        packing, mask = Packing(self.type), np.asarray(kept.to_numpy(zero_copy_only=False))
        for begin in range(0, len(self), PIECE):
            end = begin + PIECE
            packing.add(self.values.take(pa.array(self.codes[begin:end][mask[begin:end]])))
        return packing.finish()

    def row_of(self, place: int) -> int:
        """The first row that has the value in this place."""
        return int((self.codes == place).argmax())


Cells = Any  # a pa.ChunkedArray, or a Packed column: both have type, len(), null_count and slice()


def distinct(column: Cells) -> pa.ChunkedArray:
    """The values of a packed column, or all cells: what 'any' and 'all' need to see."""
    return column.distinct() if isinstance(column, Packed) else column


def per_value(function: Function) -> Function:
    """For functions that change each cell by itself, whatever the others are: of a packed column, the values."""

    @wraps(function)
    def asked(column: Cells, *arguments: Any) -> Any:
        if not isinstance(column, Packed):
            return function(column, *arguments)
        answer = function(column.distinct(), *arguments)
        return None if answer is None else column.with_values(answer)

    return cast(Function, asked)


def how_many(column: Cells, of_values: pa.ChunkedArray) -> int:
    """The number of cells for which this holds, told for each of distinct(column)."""
    if not isinstance(column, Packed):
        return int(pc.sum(of_values).as_py() or 0)
    return int(column.counts[truths(of_values)].sum())


def truths(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    if isinstance(values, pa.ChunkedArray):
        return np.asarray(pc.fill_null(values, False).to_numpy(), dtype=bool)
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), dtype=bool)


def is_null(values: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False), dtype=bool)


# --- by pieces ------------------------------------------------------------------------------------------------------


def pieces(rows: int, size: int = PIECE) -> Iterator[slice]:
    return (slice(begin, min(begin + size, rows)) for begin in range(0, rows, size))


def spread(per_code: npt.NDArray[Any], codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """per_code[codes]; numpy would turn all codes into eight bytes first."""
    found = np.empty(len(codes), per_code.dtype)
    for piece in pieces(len(codes)):
        found[piece] = per_code[codes[piece]]
    return found


def counted(codes: npt.NDArray[Any], levels: int, missing: npt.NDArray[np.bool_] | None = None) -> Counts:
    """How often each code occurs, missing cells apart."""
    counts = np.zeros(levels, np.int64)
    for piece in pieces(len(codes)):
        here = codes[piece] if missing is None else codes[piece][~missing[piece]]
        counts += np.bincount(here, minlength=levels)
    return counts


def small_codes(levels: int) -> type[np.int8] | type[np.int16] | type[np.int32]:
    """The smallest integers that number so many, and -1."""
    return np.int8 if levels <= 128 else np.int16 if levels <= 32_768 else np.int32


# --- batch by batch -------------------------------------------------------------------------------------------------


def packs(kind: pa.DataType) -> bool:
    """Texts, categories and truths are packed."""
    is_type = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean, pa.types.is_dictionary)
    return any(is_one(kind) for is_one in is_type)


class Packing:
    """A column that grows batch by batch."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._categories = pa.types.is_dictionary(kind)
        value = kind.value_type if self._categories else kind
        self._values: pa.Array | None = pa.array([], value) if packs(kind) else None
        self._counts = np.zeros(0, np.int64)
        self._in_order = True
        self._parts: list[Codes] = []
        self._plain: list[pa.Array] = []
        self.nbytes = 0

    def add(self, cells: pa.Array) -> None:
        if self._values is not None:
            codes = self._coded(cells)
            if self._values is not None:
                self._parts.append(codes)
                self.nbytes += codes.nbytes
                return
        plain = narrowed(cells) if narrows(self._kind) else cells
        self._plain.append(plain)
        self.nbytes += plain.nbytes

    def finish(self) -> Packed | pa.ChunkedArray:
        """The column; nothing can be added after it."""
        if self._values is None:
            parts, self._plain = self._plain, []
            if narrows(self._kind) and parts:
                return pa.chunked_array([_in_one_piece(parts)])
            return pa.chunked_array(parts, self._kind)
        codes = np.empty(sum(map(len, self._parts)), _unsigned(len(self._values)))
        _move(self._parts, codes)
        return Packed(self._kind, self._values, codes, self._counts, self._in_order)

    def _coded(self, cells: pa.Array) -> Codes:
        own, indices = self._encoded(cells)
        assert self._values is not None
        place = pc.index_in(own, value_set=self._values)
        if place.null_count:
            fresh = pc.unique(own.filter(pc.is_null(place)))
            if len(self._values) + len(fresh) > MOST_VALUES and not self._categories:
                self._unpack()
                return np.empty(0, np.uint8)
            self._values = pa.concat_arrays([self._values, fresh])
            place = pc.index_in(own, value_set=self._values)
        places = np.asarray(place.to_numpy(zero_copy_only=False))
        if self._categories and self._kind.ordered:
            present = places[: len(cells.dictionary)]
            self._in_order &= bool((np.diff(present.astype(np.int64)) >= 0).all())
        codes: Codes = places.astype(_unsigned(len(self._values)))[indices]
        counts = np.bincount(codes, minlength=len(self._values))
        counts[: len(self._counts)] += self._counts
        self._counts = counts.astype(np.int64)
        return codes

    def _encoded(self, cells: pa.Array) -> tuple[pa.Array, npt.NDArray[Any]]:
        """The values of a batch, null among them where cells are, and an index per cell."""
        if not self._categories:
            encoded = pc.dictionary_encode(cells, null_encoding="encode")
            return encoded.dictionary, encoded.indices.to_numpy()
        own, indices = cells.dictionary, cells.indices
        if indices.null_count:
            own = pa.concat_arrays([own, pa.nulls(1, own.type)])
            indices = pc.fill_null(pc.cast(indices, pa.int64()), len(own) - 1)
        return own, indices.to_numpy()

    def _unpack(self) -> None:
        """More values than levels can be: the cells as they are, these and those that come."""
        values, self._values = self._values, None
        assert values is not None
        self._plain = [values.take(pa.array(part)) for part in self._parts]
        self._parts = []
        self.nbytes = sum(int(part.nbytes) for part in self._plain)


def _in_one_piece(parts: list[pa.Array]) -> pa.Array:
    """Whole numbers in the smallest type that holds all of them. The parts are gone afterwards.

    In memory of numpy, which is given back when the numbers are; Arrow keeps what it had for what is to come."""
    widest = max((part.type for part in parts), key=lambda kind: int(kind.bit_width))
    if any(part.null_count for part in parts):
        return pa.concat_arrays([part.cast(widest) for part in parts])
    whole = np.empty(sum(map(len, parts)), widest.to_pandas_dtype())
    _move(parts, whole)
    return pa.array(whole)


def _move(parts: list[Any], whole: npt.NDArray[Any]) -> None:
    """From the end, so that each part is given back when it is copied."""
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)


def _unsigned(values: int) -> type[np.uint8] | type[np.uint16] | type[np.uint32]:
    return np.uint8 if values <= 256 else np.uint16 if values <= 65_536 else np.uint32


def narrows(kind: pa.DataType) -> bool:
    """Whole numbers, but for those that may need all of 64 bits without a sign."""
    return bool(pa.types.is_integer(kind)) and not pa.types.is_uint64(kind)


def narrowed(cells: pa.Array) -> pa.Array:
    """Whole numbers in the smallest type with a sign that holds them. REQUIRES: narrows(their type)."""
    ends = pc.min_max(cells)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None:
        return cells.cast(pa.int8())
    for kind, bits in ((pa.int8(), 7), (pa.int16(), 15), (pa.int32(), 31)):
        if -(1 << bits) <= low and high < 1 << bits:
            return cells.cast(kind)
    return cells.cast(pa.int64())
