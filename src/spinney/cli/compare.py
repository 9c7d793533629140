"""spinney compare: how far a learned graph is from the true one.

In:  two networks, or graphs that spinney solve wrote.
Out: counts of edges and the usual ratios; exit 0 when both are of one equivalence class, else 1."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import aligned, number, say, say_json
from spinney.cli.graphs import read_graph
from spinney.compare import Comparison
from spinney.compare import compare as run


def compare(
    truth: Annotated[
        str,
        typer.Argument(
            metavar="TRUTH",
            show_default=False,
            help=("The true network: .json .bif, also with .gz; or the .json of `spinney solve`."),
        ),
    ],
    learned: Annotated[str, typer.Argument(metavar="LEARNED", show_default=False, help="The learned one.")],
    json: opt.Json = False,
) -> None:
    """Compare two networks by their graphs; exit 0 if they are equivalent, 1 if they differ."""
    found = run(read_graph(truth)[0], read_graph(learned)[0])
    if json:
        say_json({**found.as_dict(), "equivalent": found.shd == 0})
    else:
        say(_lines(found))
    if found.shd:
        raise typer.Exit(1)


def _lines(found: Comparison) -> list[str]:
    answer = "the graphs are equivalent" if found.shd == 0 else f"the graphs differ, at distance {found.shd}"
    return [
        answer,
        *aligned(
            [
                ("shd", str(found.shd), "structural Hamming distance of the equivalence classes"),
                ("shd_dag", str(found.shd_dag), "the same between the graphs as they are"),
                ("tp", str(found.tp), "edges in both, alike"),
                ("wd", str(found.wd), "edges in both, with another direction"),
                ("fp", str(found.fp), "edges in the learned one only"),
                ("fn", str(found.fn), "edges in the true one only"),
                ("precision", number(found.precision), "right among the learned adjacencies"),
                ("recall", number(found.recall), "found among the true adjacencies"),
                ("f1", number(found.f1), "harmonic mean of the two"),
                ("ahp", number(found.ahp), "right among the learned arrowheads"),
                ("ahr", number(found.ahr), "found among the true arrowheads"),
                ("ahr_common", number(found.ahr_common), "the same where the adjacency was found"),
            ]
        ),
    ]
