"""spinney sample: rows drawn from a network.

In:  a network.
Out: a table, as CSV on standard output or as a file."""

from __future__ import annotations

import sys
from typing import Annotated

import pyarrow as pa
import pyarrow.csv
import typer

from spinney.cli import options as opt
from spinney.cli.answer import say, say_json
from spinney.errors import ChoiceError
from spinney.formats import formats_of
from spinney.layout import counted
from spinney.network import Network


def sample(
    network: opt.NetworkFile,
    rows: Annotated[
        int, typer.Option("--rows", "-n", metavar="N", parser=opt.whole("--rows"), help=("How many rows."))
    ] = 1000,
    seed: opt.Seed = 0,
    output: Annotated[
        str | None,
        opt.output(f"Write the table: {opt.files('table', 'write')}; without it CSV goes to standard output."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Draw rows from a network; the same seed gives the same rows."""
    opt.check_output(output, formats_of("table", "write"), network)
    if rows < 1:
        raise ChoiceError(f"cannot draw {rows} rows; ask for at least 1")
    if seed < 0:
        raise ChoiceError(f"--seed must be a whole number of at least 0, not {seed}")
    learned = Network.read(network)
    drawn = learned.sample(rows, seed)
    if output:
        drawn.write(output)
    if json:
        columns = drawn.to_arrow().to_pydict()
        say_json({"names": drawn.names, "rows": rows, "seed": seed, **({} if output else {"columns": columns})})
    elif output:
        say([f"{output}: {counted(rows, 'row')} of {counted(len(drawn.names), 'column')}"])
    else:
        table = drawn.to_arrow()
        text = pa.table(
            {
                name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        )
        pyarrow.csv.write_csv(text, sys.stdout.buffer)
