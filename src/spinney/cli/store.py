"""spinney store: a folder of family scores.

In:  the folder that --store named.
Out: what is in it; with options, what is damaged, fewer files, the parent sets of a run as a jkl file."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import say, say_json, say_notes
from spinney.errors import ChoiceError
from spinney.formats import formats_of
from spinney.layout import counted
from spinney.store import Run, Store, described


def store(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", show_default=False, help="The folder that --store names in other commands.")
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Read everything, and say what is damaged; exit 1 if anything is.")
    ] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Make one Parquet file of all files of a run that nobody writes to.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove what no run can use: scores of other versions, unreadable files."),
    ] = False,
    days: Annotated[
        float | None,
        typer.Option(
            "--days",
            metavar="N",
            parser=opt.decimal("--days", "a number of days"),
            help="With --prune: and runs that nobody has written to for so long.",
        ),
    ] = None,
    run: Annotated[
        int | None,
        typer.Option("--run", metavar="N", parser=opt.whole("--run"), help="The run that -o writes, by its number."),
    ] = None,
    output: Annotated[
        str | None, opt.output(f"Write the parent sets of a run: {opt.files('parent sets', 'write')}.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Show what a folder of family scores holds; check it, tidy it, write the parent sets of a run."""
    opt.check_output(output, formats_of("parent sets", "write"))
    if days is not None and not prune:
        raise ChoiceError("--days says which runs --prune removes; add --prune, or leave it out")
    own = Store(folder)
    damages = own.check() if check else []
    if damages:
        say(damages)
        raise typer.Exit(1)
    lines = []
    if prune:
        lines.append(f"removed {counted(own.prune(days), 'file')}")
    if merge:
        before, after = own.merge()
        lines.append(f"merged {counted(before, 'file')} into {counted(after, 'file')}")
    runs = own.runs()
    if output:
        lines.append(_written(own, _chosen(runs, run), output))
    shown = [described(own, one) for one in runs]
    say_notes(dict.fromkeys(own.damages))
    if json:
        say_json({"folder": str(own.folder), "runs": shown, **({"done": lines} if lines else {})})
        return
    for number, one in enumerate(shown, 1):
        sizes = ", ".join(f"{count:,} of {counted(int(size), 'parent')}" for size, count in one["by_size"].items())
        words = ["of another version, of no use any more"] * one["stale"] + ["being written"] * one["growing"]
        lines.append(
            f"{number}  {one['score']}, {one['rows']:,} rows, {counted(one['columns'], 'column')}: "
            f"{one['families']:,} of {one['of']:,} families ({sizes}); {counted(one['files'], 'file')}, "
            f"{one['bytes'] / 2**20:,.1f} MiB" + "".join(f"; {word}" for word in words)
        )
    say(lines or ["no scores yet"])


def _chosen(runs: list[Run], number: int | None) -> Run:
    if not runs:
        raise ChoiceError("there are no scores in this store")
    if number is None and len(runs) > 1:
        raise ChoiceError(f"the store has {len(runs)} runs; choose one with --run")
    if not 1 <= (number or 1) <= len(runs):
        raise ChoiceError(f"--run {number}: the runs are 1 to {len(runs)}")
    return runs[(number or 1) - 1]


def _written(own: Store, run: Run, output: str) -> str:
    sets, families = own.sets(run)
    sets.write(output)
    what = f"{counted(len(sets), 'parent set')} of {counted(len(sets.names), 'variable')}"
    return f"{output}: {what}, from {families:,} scores"
