"""spinney show: a network, or the table or tree of one node, as text.

In:  a network file, and the name of a node.
Out: nodes with their parents; or a node's labelled table, or its tree in the user's units."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import say, say_json
from spinney.errors import ChoiceError
from spinney.kinds import to_plain
from spinney.layout import ROWS
from spinney.network import Network


def show(
    network: opt.NetworkFile,
    node: Annotated[
        str | None,
        typer.Argument(metavar="[NODE]", show_default=False, help="A node: show its table or tree."),
    ] = None,
    rows: Annotated[
        int,
        typer.Option("--rows", metavar="N", parser=opt.whole("--rows"), help="The most rows to show; 0 shows all."),
    ] = ROWS,
    json: opt.Json = False,
) -> None:
    """Show a network: its nodes with their parents, or the probabilities of one node."""
    if rows < 0:
        raise ChoiceError(f"--rows must be a whole number of at least 0, not {rows}")
    shown = Network.read(network)
    most = rows or None
    if node is None:
        if json:
            say_json(_record(shown))
        else:
            say([shown.text(most)])
        return
    model = shown.model(node)
    if json:
        say_json(model.as_dict())
    else:
        say([model.text(most)])


def _record(network: Network) -> dict[str, object]:
    return {
        "names": network.names,
        "parents": network.parents,
        "edges": network.edges,
        "kinds": {name: to_plain(kind) for name, kind in network.kinds.items()},
        "local_scores": {name: model.score for name, model in network.models.items()},
        "score": network.score,
    }
