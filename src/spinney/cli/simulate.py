"""spinney simulate: tables whose network is known.

In:  how many variables, edges and rows, kinds, and a seed.
Out: a table, as CSV on standard output or as a file; the true graph as a file, for `spinney compare`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from spinney import simulate
from spinney.cli import options as opt
from spinney.cli.answer import say, say_json
from spinney.formats import formats_of
from spinney.formats.delimited import write as as_text
from spinney.layout import counted


def _number(flag: str, help_text: str, *more: str) -> Any:
    return typer.Option(flag, *more, metavar="N", parser=opt.whole(flag), help=help_text)


Variables = Annotated[int, _number("--variables", "How many variables.")]
Degree = Annotated[
    float,
    typer.Option("--degree", metavar="D", parser=opt.decimal("--degree"), help="Neighbours of a variable, on average."),
]
MaxDegree = Annotated[int, _number("--max-degree", "The most neighbours of a variable.")]
RowCount = Annotated[int, _number("--rows", "How many rows.", "-n")]
Missing = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="WAY",
        help="Empty cells: 'mcar(0.1)' completely at random, 'mar(0.1)' depending on another column, 'mnar(0.1)' "
        "depending on the value itself, with the share of cells.",
    ),
]
Output = Annotated[
    str | None, opt.output(f"Write the table: {opt.files('table', 'write')}; without it CSV goes to standard output.")
]
Truth = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        help="Write the true graph: .json (which `spinney compare` reads) or .dot; tables and trees with all their "
        "numbers, tables also as .bif.",
    ),
]


def _share(flag: str, help_text: str) -> Any:
    return typer.Option(flag, metavar="SHARE", parser=opt.decimal(flag), help=help_text)


def mixed(
    variables: Variables = 20,
    degree: Degree = 2.0,
    rows: RowCount = 1000,
    max_degree: MaxDegree = 5,
    nonlinear: Annotated[
        bool, typer.Option("--nonlinear", help="Squares and cubes of continuous parents too.")
    ] = False,
    discrete_share: Annotated[float, _share("--discrete-share", "The probability that a variable is discrete.")] = 0.5,
    ordinal_share: Annotated[float, _share("--ordinal-share", "The probability that a discrete one is ordinal.")] = 0.0,
    missing: Missing = None,
    seed: opt.Seed = 0,
    output: Output = None,
    truth: Truth = None,
    json: opt.Json = False,
) -> None:
    """Simulate mixed data as in Andrews, Ramsey and Cooper (2018), from regressions and tables."""
    _check_files(output, truth, formats_of("graph", "write"))
    drawn = simulate.mixed(
        variables, degree, rows, max_degree, nonlinear, discrete_share, seed, missing, ordinal_share=ordinal_share
    )
    _answer(drawn, seed, output, truth, json)


def network(
    variables: Variables = 20,
    degree: Degree = 2.0,
    rows: RowCount = 1000,
    local: Annotated[
        str, typer.Option("--local", metavar="table|tree|linear|spline", help="How a node depends on its parents.")
    ] = "table",
    kinds: Annotated[
        str | None,
        typer.Option(
            "--kinds",
            metavar="SHARES",
            help="The shares of the kinds: 'continuous=0.5,ordinal=0.5', or one kind for all; without it, tables have "
            "categorical variables, and of the others half are continuous.",
        ),
    ] = None,
    max_degree: MaxDegree = 5,
    missing: Missing = None,
    seed: opt.Seed = 0,
    output: Output = None,
    truth: Truth = None,
    json: opt.Json = False,
) -> None:
    """Draw rows from a random network: of tables, trees, linear functions or splines."""
    graphs = formats_of("graph", "write")  # a tree's JSON is that of a network, and has the same suffix
    _check_files(output, truth, formats_of("network", "write") if local == "table" else graphs)
    net = simulate.random_network(variables, degree, _shares(kinds), local, max_degree, seed)
    _answer(simulate.from_network(net, rows, seed, missing), seed, output, truth, json)


def _check_files(output: str | None, truth: str | None, graphs: Any) -> None:
    opt.check_output(output, formats_of("table", "write"))
    opt.check_output(truth, graphs)


def _shares(text: str | None) -> str | dict[str, float] | None:
    """'continuous=0.5,ordinal=0.5' as shares; one word is that kind for all."""
    if text is None or "=" not in text:
        return text
    found = {}
    for part in text.split(","):
        word, _, share = part.partition("=")
        found[word.strip()] = opt.decimal("--kinds", "kinds with shares, as in 'continuous=0.5,ordinal=0.5'")(share)
    return found


def _answer(drawn: simulate.Simulated, seed: int, output: str | None, truth: str | None, json: bool) -> None:
    if output:
        drawn.write(output)
    if truth:
        drawn.write_truth(truth)
    empty = sum(int(mask.sum()) for mask in drawn.missing.values())
    rows, edges = drawn.complete.n_rows, drawn.truth.edges
    if json:
        columns = {} if output else {"columns": drawn.frame.to_pydict()}
        kinds = {name: kind.word for name, kind in drawn.complete.kinds.items()}
        record = {"names": drawn.complete.names, "rows": rows, "seed": seed, "missing": empty, "kinds": kinds}
        say_json({**record, "edges": [list(edge) for edge in edges], **columns})
    elif output:
        size = f"{counted(rows, 'row')} of {counted(len(drawn.truth.names), 'column')}"
        holes = f", {counted(empty, 'cell')} empty" if empty else ""
        say([f"{output}: {size}{holes}", *([f"{truth}: {counted(len(edges), 'edge')}"] if truth else [])])
    else:
        sys.stdout.buffer.write(as_text(drawn, ".csv"))
