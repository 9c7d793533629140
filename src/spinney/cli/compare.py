"""spinney compare: the distance between a learned graph and the true one.

In:  two networks, or results of searches, which hold a DAG or a class.
Out: counts of edges and the usual ratios; exit 0 when they are Markov equivalent, else 1."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import aligned, number, say, say_json
from spinney.compare import Comparison
from spinney.compare import compare as run
from spinney.formats import read_graph


def compare(
    truth: Annotated[
        str,
        typer.Argument(
            metavar="TRUTH",
            show_default=False,
            help=f"The true network: {opt.files('network', 'read')}; or the .json of `spinney solve`.",
        ),
    ],
    learned: Annotated[str, typer.Argument(metavar="LEARNED", show_default=False, help="The learned one.")],
    interventions: Annotated[
        bool,
        typer.Option(
            "--interventions",
            help="Also count the effects of interventions that the learned one gives wrongly (needs gadjid).",
        ),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Compare two networks by their graphs; exit 0 if they are equivalent, 1 if they differ."""
    found = run(read_graph(truth), read_graph(learned), interventions)
    if json:
        say_json({**found.as_dict(), "equivalent": found.shd == 0})
    else:
        say(_lines(found))
    if found.shd:
        raise typer.Exit(1)


def _lines(found: Comparison) -> list[str]:
    answer = "the graphs are equivalent" if found.shd == 0 else f"the graphs differ: distance {found.shd}"
    return [
        answer,
        *aligned(
            [
                ("shd", str(found.shd), "structural Hamming distance of the equivalence classes"),
                ("shd_dag", str(found.shd_dag), "the same for the DAGs"),
                ("tp", str(found.tp), "edges in both, with the same direction"),
                ("wd", str(found.wd), "edges in both, with another direction"),
                ("fp", str(found.fp), "edges in the learned one only"),
                ("fn", str(found.fn), "edges in the true one only"),
                ("precision", number(found.precision), "share of the learned adjacencies that are true (AP)"),
                ("recall", number(found.recall), "share of the true adjacencies that were found (AR)"),
                ("f1", number(found.f1), "harmonic mean of the two"),
                ("ahp", number(found.ahp), "share of the learned arrowheads that are true"),
                ("ahr", number(found.ahr), "share of the true arrowheads that were found"),
                ("ahr_common", number(found.ahr_common), "share of the true arrowheads at found adjacencies"),
                *((name, str(value), text) for name, value, text in _effects(found) if value is not None),
            ]
        ),
    ]


def _effects(found: Comparison) -> list[tuple[str, int | None, str]]:
    return [
        ("sid", found.sid, "pairs whose effect is wrong, adjusting for the parents of the cause (DAGs)"),
        ("parent_aid", found.parent_aid, "the same, of DAGs and classes"),
        ("ancestor_aid", found.ancestor_aid, "the same, adjusting for its ancestors"),
        ("oset_aid", found.oset_aid, "the same, adjusting for the set of the least variance"),
    ]
