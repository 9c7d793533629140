"""jkl: scored parent sets, one line each, as exact solvers exchange them.

In:  n; then per variable "name count" and count lines "score k parent ... parent"; larger scores are better.
Out: ParentSets; and back. Names are words there: white space and % in a name are written as %20 and the like."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from urllib.parse import unquote

from spinney.errors import FileFormatError
from spinney.formats.text import read_text, write_text
from spinney.parent_sets import MOST_SCORE, ParentSets


def write(sets: ParentSets, path: str | PathLike[str]) -> None:
    write_text(text(sets), path)


def text(sets: ParentSets) -> str:
    lines = [str(len(sets.names))]
    for child in sets.names:
        rows = sets.of(child)
        lines.append(f"{_word(child)} {len(rows)}")
        lines += [" ".join([repr(score), str(len(parents)), *map(_word, parents)]) for parents, score in rows]
    if sets.pruned_for is not None:  # at the end, where other readers have stopped reading
        lines.append(_PRUNED)
        lines += [" ".join([_REQUIRED, *map(_word, (child, *own))]) for child, own in sets.pruned_for.items() if own]
    return "\n".join(lines) + "\n"


def read(path: str | PathLike[str]) -> ParentSets:
    reader = _Reader(fspath(path))
    number, where = reader.fields("the number of variables", 1)
    n = reader.integer(number[0], where, "the number of variables")
    if n == 0:
        reader.refuse(where, "the number of variables is 0; list at least one")
    listed: dict[str, list[tuple[list[str], float]]] = {}
    places: dict[str, int] = {}
    for _ in range(n):
        (name, count), where = reader.fields("a variable and its number of parent sets (a space in a name is %20)", 2)
        child = unquote(name)
        if child in listed:
            reader.refuse(where, f"variable {child!r} stands there twice; keep one")
        listed[child] = []
        for _ in range(reader.integer(count, where, "the number of parent sets")):
            parts, where = reader.fields(f"a parent set of {child!r}: score, size, parents", None)
            listed[child].append(_one_set(reader, parts, where, places))
        if not listed[child]:
            reader.refuse(where, f"variable {child!r} has no parent set; it needs at least one")
    reader.end()
    for parent, where in places.items():
        if parent not in listed:
            reader.refuse(where, f"parent {parent!r} is no variable of this file")
    for child, rows in listed.items():
        for parents, _ in rows:
            if child in parents or len(set(parents)) < len(parents):
                reader.refuse(places[parents[0]], f"a parent set of {child!r} holds {child!r} itself or a name twice")
    return ParentSets.from_lists(listed, reader.pruned_for(listed))


def _one_set(reader: _Reader, parts: list[str], where: int, places: dict[str, int]) -> tuple[list[str], float]:
    try:
        score = math.nan if "_" in parts[0] else float(parts[0])  # Python would read 1_0 as 10
    except ValueError:
        score = math.nan
    if not abs(score) < MOST_SCORE:
        reader.refuse(where, f"{parts[0]!r} is not a score between -1e15 and 1e15")
    size = reader.integer(parts[1] if len(parts) > 1 else "", where, "the size of the parent set")
    if len(parts) != size + 2:
        reader.refuse(where, f"the parent set says {size} parents and lists {len(parts) - 2}")
    parents = [unquote(p) for p in parts[2:]]
    for parent in parents:
        places.setdefault(parent, where)
    return parents, score


class _Reader:
    """Lines that say something, with their numbers; and what our own remarks say of pruning."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._remarks: list[list[str]] = []
        self._lines = self._speaking(read_text(path))

    def _speaking(self, content: str) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(content.splitlines(), 1):
            if line.lstrip().startswith("#"):
                self._remarks.append(line.split())
            elif line.strip():
                yield number, line

    def pruned_for(self, names: Iterable[str]) -> dict[str, tuple[str, ...]] | None:
        if [_PRUNED] not in self._remarks:
            return None
        said = {unquote(words[1]): words[2:] for words in self._remarks if words[0] == _REQUIRED and len(words) > 1}
        return {name: tuple(map(unquote, said.get(name, ()))) for name in names}

    def refuse(self, line: int, what: str) -> None:
        raise FileFormatError(f"{self.path}, line {line}: {what}")

    def fields(self, what: str, n: int | None) -> tuple[list[str], int]:
        where, line = next(self._lines, (0, ""))
        if not where:
            raise FileFormatError(
                f"{self.path}: the file ends where {what} should follow; it is cut short, write it again"
            )
        parts = line.split()
        if n is not None and len(parts) != n:
            self.refuse(where, f"{line.strip()!r} should be {what}")
        return parts, where

    def integer(self, text: str, where: int, what: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text):
            self.refuse(where, f"{text!r} is not a whole number; it should be {what}")
        return int(text)

    def end(self) -> None:
        for where, line in self._lines:
            self.refuse(where, f"{line.strip()[:40]!r} stands after the last variable; the counts above do not add up")


_PRUNED, _REQUIRED = "#spinney-pruned", "#spinney-required"


def _word(name: str) -> str:
    """A name as one word: percent signs, white space and a leading # are escaped."""
    return re.sub(r"[\s%\x00-\x1f]|^#", lambda m: "".join(f"%{byte:02X}" for byte in m.group().encode()), name)
