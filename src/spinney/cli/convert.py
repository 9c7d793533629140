"""spinney convert: a file in another format.

In:  a network or scored parent sets.
Out: the same, in the format that the second suffix names."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import say, say_json
from spinney.formats import NETWORKS, suffix
from spinney.layout import counted
from spinney.network import Network
from spinney.parent_sets import ParentSets


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN", show_default=False, help=("A network (.json .bif) or parent sets (.jkl), also with .gz.")
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            show_default=False,
            help=("The file to write: .json .bif .dot for a network, .jkl for parent sets, also with .gz."),
        ),
    ],
    node: Annotated[
        str | None,
        typer.Option(show_default=False, help="Draw the tree or decision graph of this node, as .dot."),
    ] = None,
    exact_names: Annotated[
        bool,
        typer.Option(
            "--exact-names",
            help=("BIF: write the names as they are, in quotes; without it in letters that other programs read."),
        ),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Write a network, or parent sets, in another format."""
    if suffix(source) == ".jkl" and node is None:
        opt.check_output(target, [".jkl"], source)
        sets = ParentSets.read(source)
        sets.write(target)
        what = {"variable": len(sets.names), "set": len(sets)}
    else:
        opt.check_output(target, NETWORKS, source)
        network = Network.read(source)
        network.export(target, node, exact_names=exact_names)
        what = {"node": len(network.names), "edge": len(network.edges)}
    if json:
        say_json({f"{thing}s": count for thing, count in what.items()})
    else:
        say([f"{target}: {', '.join(counted(count, thing) for thing, count in what.items())}"])
