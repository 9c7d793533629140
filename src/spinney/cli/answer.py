"""Output: JSON or text on standard output, notes on standard error.

In:  records and names.
Out: lines. Nothing here computes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from spinney.formats.plain import json_line
from spinney.layout import aligned as aligned
from spinney.layout import number as number
from spinney.layout import word as word
from spinney.layout import words as words


def say_json(record: Mapping[str, Any]) -> None:
    """One object on one line, keys sorted; null stands for what is not a finite number."""
    print(json_line(record))


def say(lines: Iterable[str]) -> None:
    print("\n".join(lines))


def say_notes(notes: Iterable[str]) -> None:
    """Notes are printed when the result is there, because an error must be the only line."""
    for note in notes:
        say_aside(f"note: {note}")


def say_next(lines: Iterable[str]) -> None:
    """What to do next, for people at a terminal: on standard error, and not where the output goes on to a program."""
    if sys.stdout.isatty():
        for line in lines:
            say_aside(f"next: {line}")


def say_aside(line: str) -> None:
    """On standard error; if it is closed, the result is printed all the same."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)
