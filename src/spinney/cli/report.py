"""spinney report: a network as a page.

In:  a network, and the table that it is about.
Out: one HTML file; as JSON, the strengths of the edges."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import say, say_json, say_notes
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.kinds_file import read as read_kinds
from spinney.layout import counted
from spinney.network import Network
from spinney.report.facts import collect
from spinney.report.page import write_page


@reads_table
def report(
    network: opt.NetworkFile,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            show_default=False,
            help=f"The table that it was learned from, or another: {opt.files('table', 'read')}.",
        ),
    ] = None,
    output: Annotated[str, opt.output("The page to write: .html.")] = "report.html",
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help=("The column that the page opens with."))
    ] = None,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """Write one page that shows a network, explains it and answers questions; it works offline."""
    opt.check_output(output, [".html"], network, data, reading.kinds)
    learned = Network.read(network)
    table = None
    if data is not None:
        named = read_kinds(reading.kinds) if reading.kinds else {}
        kinds = {**learned.accepts, **{name: kind for name, kind in named.items() if name in learned.kinds}}
        table = reading.read(data, kinds)
        say_notes(table.notes)
    facts = collect(learned, table, target=target, source=data)
    size = write_page(output, facts)
    if json:
        names = learned.names
        edges = [
            {"from": names[edge["from"]], "to": names[edge["to"]], "strength": edge["strength"]}
            for edge in facts["edges"]
        ]
        say_json({"bytes": size, "file": output, "edges": edges, "why_no_strengths": facts["strengths_missing"]})
    else:
        say([f"{output}: {counted(len(learned.names), 'node')}, {counted(len(learned.edges), 'edge')}, {size:,} bytes"])
