"""The options that say how a table is read, for every command that reads one.

In:  a command with a parameter `reading`.
Out: the command with, in its place, one option per field; `reading` then reads the table.
The fields below are the one list of these options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import typer

from spinney.cli.options import decimal as number
from spinney.cli.options import whole
from spinney.dataset import Dataset
from spinney.kinds import Kind, LeftOut, Unseen
from spinney.reading import Missing, Reading
from spinney.table import RawTable, read_table


@dataclass(frozen=True)
class FileOptions:
    """How the cells of a file are found and read."""

    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            metavar="CHARACTER",
            help=("What separates the cells of a text file ('tab' for a tab); found from the file unless given."),
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help=("How a text file is encoded: utf-8, utf-16, cp1252, ...; found from the bytes unless given."),
        ),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option("--sheet", metavar="NAME", help=("The sheet of an Excel file; the first unless given.")),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            "--decimal",
            metavar="MARK",
            help=("The decimal mark of text, ',' or '.'; found from the file unless given."),
        ),
    ] = None

    def raw(self, file: str) -> RawTable:
        """The named columns of the file, cells as they stand."""
        separator = "\t" if self.delimiter in ("tab", "\\t") else self.delimiter
        return read_table(file, separator, self.encoding, self.sheet)

    def rows(self, file: str, columns: Mapping[str, Kind], missing: str, unseen: Unseen) -> Dataset:
        """Only these columns, of these kinds, every row; one that the file lacks is missed by whoever needs it."""
        reading = Reading(
            declared=columns,
            missing=cast(Missing, missing),
            decimal=self.decimal,
            ignore_absent=True,
            only_named=True,
            unseen=unseen,
            every_row=True,
        )
        return Dataset.from_raw(self.raw(file), reading)


@dataclass(frozen=True)
class TableOptions(FileOptions):
    """How a table is read: the file, the kinds, and what is done about missing cells and rare levels."""

    kinds: Annotated[
        str | None,
        typer.Option(
            "--kinds",
            metavar="FILE",
            help=("What the columns are, in a file that `spinney kinds` wrote and you may have edited."),
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="A,B", help=("Read only these columns; may be repeated.")),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="A,B", help=("Read all columns but these; may be repeated.")),
    ] = None
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            metavar="auto|refuse|drop|level",
            help=(
                "What to do about missing cells. auto: columns that are mostly empty are left out, discrete columns "
                "with many holes get the level 'missing', the other rows with holes are dropped."
            ),
        ),
    ] = "auto"
    drop_missing_above: Annotated[
        float,
        typer.Option(
            "--drop-missing-above",
            metavar="SHARE",
            parser=number("--drop-missing-above", "a share from 0 to 1"),
            help=("Leave out columns with a larger share of missing cells."),
        ),
    ] = 0.5
    min_count: Annotated[
        int,
        typer.Option(
            "--min-count",
            metavar="N",
            parser=whole("--min-count"),
            help=("Merge levels that fewer rows have into the level 'other'."),
        ),
    ] = 1
    keep_all: Annotated[
        bool,
        typer.Option(
            "--keep-all", help=("Leave out no column by itself: identifiers, constant and empty columns stay.")
        ),
    ] = False

    single: Annotated[
        bool,
        typer.Option("--single", help="Keep continuous columns in single precision: half the memory, seven digits."),
    ] = False

    def reading(self, names: tuple[str, ...], declared: Mapping[str, Kind | LeftOut] | None = None) -> Reading:
        """The choices for a table with these columns; `declared` instead of the kinds file, and only those columns."""
        return Reading.of(
            self.kinds if declared is None else declared,
            _names(self.columns, names),
            _names(self.exclude, names),
            missing=self.missing,
            decimal=self.decimal,
            drop_missing_above=self.drop_missing_above,
            min_count=self.min_count,
            keep_all=self.keep_all,
            single=self.single,
            ignore_absent=declared is not None,
            only_named=declared is not None,
        )

    def read(self, file: str, declared: Mapping[str, Kind | LeftOut] | None = None) -> Dataset:
        """The table in the file."""
        raw = self.raw(file)
        return Dataset.from_raw(raw, self.reading(raw.names, declared))


def _names(given: list[str] | None, known: tuple[str, ...]) -> list[str] | None:
    """'a,b' as a and b, unless there is a column 'a,b'."""
    if given is None:
        return None
    names: list[str] = []
    for text in given:
        names += [text] if text in known else [name.strip() for name in text.split(",")]
    return names


FILE, TABLE = FileOptions(), TableOptions()

Command = TypeVar("Command", bound=Callable[..., None])


def reads_table(command: Command) -> Command:
    """The command with the options of its parameter `reading`, where that one stands."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    bundle = hints.pop("reading")
    own = get_type_hints(bundle, include_extras=True)
    names = [field.name for field in fields(bundle)]
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name != "reading":
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        parameters += [
            inspect.Parameter(field.name, parameter.kind, default=field.default, annotation=own[field.name])
            for field in fields(bundle)
        ]

    @functools.wraps(command)
    def run(**options: Any) -> None:
        chosen = {name: options.pop(name) for name in names}
        command(reading=bundle(**chosen), **options)

    del run.__dict__["__wrapped__"]  # typer must see the options, not the parameter they are for
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return cast(Command, run)
