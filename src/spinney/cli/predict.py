"""spinney predict: one column from the others.

In:  a network, a table and a target.
Out: per row the most probable level and the probability of each, or the mean of a continuous target, as CSV or JSON."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any

import pyarrow as pa
import typer

from spinney.cli import options as opt
from spinney.cli.answer import say_json, say_notes
from spinney.cli.tables import FILE, FileOptions, reads_table
from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.formats.text import write_text
from spinney.kinds import Unseen
from spinney.network import Network
from spinney.predict import markov_blanket

Predictions = Annotated[
    str | None, opt.output("Write the predictions: .csv, also with .gz; without it they go to standard output.")
]
MissingHere = Annotated[
    str,
    typer.Option(
        "--missing",
        metavar="auto|refuse|level",
        help=("What to do about missing cells: take them for the level 'missing' where the network has it, or refuse."),
    ),
]


@reads_table
def predict(
    network: opt.NetworkFile,
    data: opt.TableFile,
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="NAME", show_default=False, help=("The column to predict; the table need not have it.")
        ),
    ],
    output: Predictions = None,
    missing: MissingHere = "auto",
    reading: FileOptions = FILE,
    json: opt.Json = False,
) -> None:
    """Predict one column from the others: the most probable level of each row, and the probability of every level; of a
    continuous column the mean."""
    opt.check_output(output, [".csv"], network, data)
    answer_rows(Network.read(network), data, target, output, missing, reading, json, "refuse")


def answer_rows(
    learned: Network,
    data: str,
    target: str,
    output: str | None,
    missing: str,
    reading: FileOptions,
    json: bool,
    unseen: Unseen,
) -> None:
    """Predict the target in every row of a table, and say or write it. REQUIRES: the output can be written."""
    if missing == "drop":
        raise ChoiceError("predict answers every row, so --missing drop is not for it; fill the cells or drop the rows")
    blanket = markov_blanket(learned.dag, target)
    table = _table(learned, blanket, data, missing, reading, unseen)
    if learned.kinds[target].discrete:
        answer, lines = _levels(learned, table, target, unseen)
    else:
        answer, lines = _means(learned, table, target)
    if isinstance(table, Dataset):
        say_notes(table.notes)
    if output or not json:
        _write(lines, output)
    if json:
        say_json({**answer, "target": target, "uses": blanket})


def _levels(learned: Network, table: Any, target: str, unseen: Unseen) -> tuple[dict[str, Any], list[list[str]]]:
    levels, shares = learned.levels(target), learned.predict_proba(table, target, unseen=unseen)
    best = [levels[i] for i in shares.argmax(axis=1)]
    head = [target, *(f"P({target}={level})" for level in levels)]
    lines = [[level, *map(repr, row)] for level, row in zip(best, shares.tolist(), strict=True)]
    return {"levels": levels, "predicted": best, "probabilities": shares.tolist()}, [head, *lines]


def _means(learned: Network, table: Any, target: str) -> tuple[dict[str, Any], list[list[str]]]:
    means = [float(mean) for mean in learned.predict(table, target)]
    return {"predicted": means}, [[target], *([repr(mean)] for mean in means)]


def _table(
    learned: Network,
    blanket: tuple[str, ...],
    data: str,
    missing: str,
    reading: FileOptions,
    unseen: Unseen,
) -> Any:
    """The columns that matter; if none does, only the number of rows counts."""
    if blanket:
        kinds = {name: learned.accepts[name] for name in blanket}
        return reading.rows(data, kinds, missing, unseen)
    return pa.table({"row": range(len(reading.raw(data).columns[0]))})


def _write(rows: list[list[str]], output: str | None) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    if output:
        write_text(text.getvalue(), output)
    else:
        print(text.getvalue(), end="")
