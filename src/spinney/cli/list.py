"""spinney list: the available scores, priors, candidate methods, searches and formats.

In:  nothing, or one of five words.
Out: the rows of the catalog, and the formats."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from spinney.catalog import CANDIDATES, FORMATS, PRIORS, SCORES, SEARCHES, Format, Score
from spinney.choices import Entry
from spinney.cli import options as opt
from spinney.cli.answer import say, say_json
from spinney.errors import ChoiceError


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[scores|priors|candidates|searches|formats]",
            show_default=False,
            help=("One of the five; without it, all."),
        ),
    ] = None,
    json: opt.Json = False,
) -> None:
    """List the available scores, priors, candidate methods, searches and file formats."""
    every = {
        "scores": _entries(SCORES.choices),
        "priors": _entries(PRIORS),
        "candidates": _entries(CANDIDATES),
        "searches": _entries(SEARCHES),
        "formats": _formats(),
    }
    if what is not None and what not in every:
        raise ChoiceError(f"there is no list {what!r}; choose one of {', '.join(every)}")
    shown = {word: rows for word, rows in every.items() if what in (None, word)}
    if json:
        say_json(shown)
        return
    width = max(40, min(110, shutil.get_terminal_size().columns))  # of a pipe: 80, or what COLUMNS says
    lines = []
    for word, rows in shown.items():
        lines += [word, *(line for row in rows for line in _lines(row, width))]
    say(lines)


def _entries(table: Mapping[str, Entry]) -> list[dict[str, Any]]:
    return [_entry(entry) for entry in table.values()]


def _entry(entry: Entry) -> dict[str, Any]:
    options = [{"name": o.name, "default": o.default, "help": o.help} for o in entry.options]
    record: dict[str, Any] = {"name": entry.name, "help": entry.help, "source": entry.reference, "options": options}
    if isinstance(entry, Score):
        record |= {"kinds": entry.kinds, "equivalent": entry.equivalent, "bayesian": entry.bayesian}
    return record


def _formats() -> list[dict[str, Any]]:
    return [
        {"name": suffix, "help": f"{' and '.join(row.holds)}, {_able(row)}", "source": row.help}
        for row in FORMATS.values()
        for suffix in row.suffixes
    ]


def _able(row: Format) -> str:
    return " and ".join(verb for verb in ("read", "write") if getattr(row, verb))


def _lines(row: dict[str, Any], width: int) -> list[str]:
    """The name with its options and their defaults, and below it the help; no line is wider than the terminal."""
    options = ", ".join(f"{option['name']}={option['default']}" for option in row.get("options", ()))
    name = row["name"] + (f"({options})" if options else "")
    about = row["help"] + (f" [{row['source']}]" if row["source"] else "")
    return [*_wrapped(name, width, "  ", " " * (3 + len(row["name"]))), *_wrapped(about, width, "      ", "      ")]


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False)
