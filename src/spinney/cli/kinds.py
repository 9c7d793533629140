"""spinney kinds: what every column is taken for, and why.

In:  a table.
Out: a kinds file on standard output, to be edited and handed to the other commands."""

from __future__ import annotations

from spinney import kinds_file
from spinney.cli import options as opt
from spinney.cli.answer import say_json, say_notes
from spinney.kinds import to_plain


def kinds(
    data: opt.TableFile,
    kinds: opt.KindsFile = None,
    missing: opt.MissingWord = "refuse",
    delimiter: opt.Delimiter = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    json: opt.Json = False,
) -> None:
    """Show what the columns are taken for, and why: `spinney kinds DATA > kinds.yaml`, edit, and pass it as --kinds."""
    table = opt.read_data(data, kinds, missing, delimiter, encoding, sheet)
    say_notes(table.notes)
    if json:
        columns = {name: {**to_plain(table.kinds[name]), "reason": table.reasons[name]} for name in table.names}
        say_json({"columns": columns, "names": table.names, "notes": table.notes, "rows": table.n_rows})
    else:
        print(kinds_file.text(table.kinds, table.reasons), end="")
