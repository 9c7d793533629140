"""spinney kinds: what every column is taken for, and why.

In:  a table.
Out: a table of its columns, on a terminal; else a kinds file, to be edited and handed to the other commands.
Whatever is doubtful or wrong is shown, all at once; nothing is refused but a file that cannot be read."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from spinney import kinds_file
from spinney.cli import options as opt
from spinney.cli.answer import aligned, say, say_json, say_notes, word
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.kinds import Kind, LeftOut, to_plain
from spinney.layout import counted
from spinney.overview import ColumnView, Overview, overview


@reads_table
def kinds(
    data: opt.TableFile,
    output: Annotated[str | None, opt.output("Write the kinds file (.yaml), and show the table.")] = None,
    table: Annotated[
        bool, typer.Option("--table", help=("Show the table also where standard output is no terminal."))
    ] = False,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """Show what the columns are taken for, and why: a table on the terminal, a kinds file elsewhere. `spinney kinds
    DATA > kinds.yaml`, edit, and pass it as --kinds."""
    opt.check_output(output, [".yaml", ".yml"], data, reading.kinds)
    raw = reading.raw(data)
    found = overview(raw, reading.reading(raw.names))
    say_notes(found.notes)
    if output:
        kinds_file.write(output, *_file(found))
    if json:
        columns = {view.name: {**_plain(view), **view.as_dict()} for view in found.columns}
        names = [view.name for view in found.columns]
        say_json({"columns": columns, "names": names, "notes": found.notes, "rows": found.rows, "used": found.used})
    elif table or output or sys.stdout.isatty():
        say(_lines(found))
    else:
        print(kinds_file.text(*_file(found)), end="")


def _plain(view: ColumnView) -> dict[str, object]:
    return {"kind": view.kind.word} if isinstance(view.kind, LeftOut) else to_plain(view.kind)


def _file(
    found: Overview,
) -> tuple[dict[str, Kind | LeftOut], dict[str, str], dict[str, tuple[str, ...]]]:
    return (
        {view.name: view.kind for view in found.columns},
        {view.name: view.reason for view in found.columns},
        {view.name: (_figures(view), *view.doubts) for view in found.columns},
    )


def _figures(view: ColumnView) -> str:
    example = f", for example {view.example!r}" if view.example else ""
    return f"{view.distinct:,} distinct, {view.missing:,} missing{example}"


def _lines(found: Overview) -> list[str]:
    """The table, and under it what is doubtful."""
    head = ("column", "kind", "distinct", "missing", "example", "reason")
    rows = [
        (word(view.name), view.kind.word, f"{view.distinct:,}", f"{view.missing:,}", word(view.example), view.reason)
        for view in found.columns
    ]
    doubts = [f"  {doubt}" for doubt in _doubts(found.columns)]
    used = "" if found.used == found.rows else f", {found.used:,} of them used"
    return [f"{counted(found.rows, 'row')}{used}", *aligned([head, *rows]), *(["doubtful", *doubts] if doubts else ())]


def _doubts(columns: Iterable[ColumnView]) -> list[str]:
    return [
        doubt if repr(view.name) in doubt else f"column {view.name!r}: {doubt}"
        for view in columns
        for doubt in view.doubts
    ]
