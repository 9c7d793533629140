"""What the user sees: JSON or text on standard output, notes on standard error.

In:  records and names.
Out: lines. Nothing here computes."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def say_json(record: Mapping[str, Any]) -> None:
    """One object on one line, keys sorted; null stands for what is not a finite number."""
    print(json.dumps(_finite(record), sort_keys=True, ensure_ascii=False, allow_nan=False))


def say(lines: Iterable[str]) -> None:
    print("\n".join(lines))


def say_notes(notes: Iterable[str]) -> None:
    """Results first would be too late, and an error must stand alone: notes are said when the result is there."""
    for note in notes:
        say_aside(f"note: {note}")


def say_aside(line: str) -> None:
    """On standard error; if nobody listens there the result still counts."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def word(name: str) -> str:
    """A name as it is, or quoted where it could be misread."""
    plain = name.isprintable() and name == name.strip() and name and not set(name) & set(",'\"<>")
    return name if plain else repr(name)


def words(names: Iterable[str]) -> str:
    return ", ".join(word(name) for name in names)


def aligned(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Rows as columns of text, each as wide as its widest cell; columns of numbers stand right."""
    columns = []
    for cells in zip(*rows, strict=True):
        width = max(map(len, cells))
        numbers = all(cell[:1] in "-0123456789" for cell in cells)
        columns.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in cells])
    return [(indent + "  ".join(row)).rstrip() for row in zip(*columns, strict=True)]


def number(value: float) -> str:
    return f"{value:.4f}"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
