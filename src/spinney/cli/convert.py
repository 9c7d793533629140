"""spinney convert: a file in another format.

In:  a network, the result of a search, or scored parent sets.
Out: the same, in the format that the second suffix names."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import say, say_json
from spinney.errors import ChoiceError
from spinney.formats import formats_of, read_graph, suffix
from spinney.layout import counted
from spinney.network import Network
from spinney.parent_sets import ParentSets
from spinney.search import Found


def _suffixes(holds: str, verb: str) -> str:
    return " ".join(formats_of(holds, verb))


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            show_default=False,
            help=f"A network ({_suffixes('network', 'read')}) or parent sets ({_suffixes('parent sets', 'read')}), "
            "also with .gz.",
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            show_default=False,
            help=f"The file to write: {_suffixes('network', 'write')} for a network, "
            f"{_suffixes('parent sets', 'write')} for parent sets, also with .gz.",
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
    if suffix(source) in formats_of("parent sets", "read") and node is None:
        opt.check_output(target, formats_of("parent sets", "write"), source)
        sets = ParentSets.read(source)
        sets.write(target)
        what = {"variable": len(sets.names), "set": len(sets)}
    else:
        opt.check_output(target, {**formats_of("network", "write"), **formats_of("graph", "write")}, source)
        graph = read_graph(source)
        _write(graph, target, node, exact_names)
        what = {"node": len(graph.parents), "edge": sum(map(len, graph.parents.values()))}
    if json:
        say_json({f"{thing}s": count for thing, count in what.items()})
    else:
        say([f"{target}: {', '.join(counted(count, thing) for thing, count in what.items())}"])


def _write(graph: Network | Found, target: str, node: str | None, exact_names: bool) -> None:
    if isinstance(graph, Network):
        graph.export(target, node, exact_names=exact_names)
        return
    if node is not None or exact_names:
        raise ChoiceError("the result of a search has no local models and is not written as BIF; give a network")
    graph.write(target)
