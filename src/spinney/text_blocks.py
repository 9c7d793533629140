"""Large text tables, block by block.

In:  the path of a text file that is too large to be read at once.
Out: a RawTable of packed columns, the same as text_table.py would make of the whole file; or None, where it takes the
whole file to say what its cells are: text that is not UTF-8, cells over several lines, quotes that are not closed, rows
of several lengths, cells between spaces."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.csv

from spinney.packed import Packing
from spinney.quotes import lines_are_whole
from spinney.raw_table import RawTable, from_cells
from spinney.text_bytes import known_encoding
from spinney.text_table import BLOCK, LARGEST_SAMPLE, SPACE, as_text_cells, beginning, found_delimiter, head_of

LARGE = 1 << 26  # bytes; a smaller file is read at once
_PIECE = 1 << 24  # bytes that are looked through at a time, before anything is parsed

Room = Callable[[int, float], None]  # bytes taken for this share of the file; raises where the memory cannot hold it


def read_blocks(path: str, label: str, room: Room, delimiter: str | None, encoding: str | None) -> RawTable | None:
    size = os.path.getsize(path)
    if size < LARGE or (encoding is not None and known_encoding(encoding) != "utf-8"):
        return None
    with open(path, "rb") as file:
        first = file.read(LARGEST_SAMPLE)
    mark = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0
    data = first[mark:]
    head = head_of(data)
    delimiter = delimiter or found_delimiter(head, os.path.splitext(path)[1].lower())
    if delimiter == SPACE or not _plain(path, mark, delimiter):
        return None
    begun = beginning(data, head, delimiter, label, whole=len(first) == size)
    width, start = len(begun.header.names), mark + begun.start
    if start >= size:
        return None
    columns = [Packing(pa.string()) for _ in range(width)]
    parsing, converting = as_text_cells(delimiter, width, long_cells=False)
    reading = pyarrow.csv.ReadOptions(column_names=[str(place) for place in range(width)], block_size=BLOCK)
    try:
        with pa.OSFile(path) as file:
            file.seek(start)
            for batch in pyarrow.csv.open_csv(file, reading, parsing, converting):
                for column, cells in zip(columns, batch.columns, strict=True):
                    column.add(cells)
                done = max(1, min(file.tell(), size) - start) if not file.closed else size - start
                room(sum(column.nbytes for column in columns), done / (size - start))
    except pa.ArrowInvalid:  # rows of several lengths, or one that is longer than a block
        return None
    packed = [column.finish() for column in columns]
    pa.default_memory_pool().release_unused()
    return from_cells(begun.header.names, packed, begun.notes)


def _plain(path: str, mark: int, delimiter: str) -> bool:
    """Whether the file is UTF-8, and each of its lines by itself as many whole cells."""
    for piece in _lines(path, mark):
        if piece.find(b"\0") >= 0:
            return False
        try:
            if not piece.isascii():
                piece.decode("utf-8")
        except UnicodeDecodeError:
            return False
        if not lines_are_whole(piece, delimiter):
            return False
    return True


def _lines(path: str, mark: int) -> Iterator[bytes]:
    """The file in pieces of whole lines."""
    with open(path, "rb") as file:
        file.seek(mark)
        rest = b""
        while read := file.read(_PIECE):
            piece = rest + read
            end = 1 + piece.rfind(b"\n")
            if end:
                yield piece[:end]
            rest = piece[end:]  # all of it, where lines end with a carriage return only
        if rest:
            yield rest
