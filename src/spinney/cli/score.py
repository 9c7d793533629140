"""spinney score: the score of a network, or of one family.

In:  a table, and a network or a child with its parents.
Out: natural logs, larger is better: per node and in total."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Annotated

import typer

from spinney.catalog import choose_prior
from spinney.cli import options as opt
from spinney.cli.answer import number, say, say_json, say_notes
from spinney.cli.found import choices, families, why_score
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.formats import formats_of, read_graph, suffix
from spinney.graph import DAG
from spinney.kinds import Continuous
from spinney.kinds_file import read as read_kinds
from spinney.learn import local_scores
from spinney.network import Network
from spinney.scores import resolved, why_resolved


@reads_table
def score(
    data: opt.TableFile,
    network: Annotated[
        str | None,
        typer.Argument(
            metavar="[NETWORK]",
            show_default=False,
            help=f"The network whose graph is scored: {opt.files('network', 'read')}; the columns get its levels.",
        ),
    ] = None,
    child: Annotated[
        str | None,
        typer.Option("--child", metavar="NAME", help=("Instead of a network: score one family, that of this child.")),
    ] = None,
    parents: Annotated[str | None, typer.Option("--parents", metavar="A,B", help="The parents of the child.")] = None,
    parent: Annotated[
        list[str] | None,
        typer.Option(
            "--parent",
            metavar="NAME",
            help=("One parent of the child, its name as it is, with any commas; may be repeated."),
        ),
    ] = None,
    score: opt.ScoreName = "auto",
    prior: opt.PriorName = "uniform",
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """Score a network, node by node, or one family."""
    if (network is None) == (child is None):
        raise ChoiceError("name either a NETWORK to score, or one family by --child and --parents")
    if network is not None:
        networks = formats_of("network", "read")
        if suffix(data) in networks and suffix(network) not in networks:
            raise ChoiceError(f"the table comes first: spinney score {network} {data}")
        table, graph = _with_network(data, network, reading)
        asked = [(name, graph.parents[name]) for name in table.names]
    else:
        table = reading.read(data)
        asked = [(child or "", (*_listed(parents, table.names), *(parent or ())))]
    values = local_scores(table, asked, score, prior)
    total = math.fsum(values)
    names = {"prior": str(choose_prior(prior)), "score_name": str(resolved(table, score))}
    say_notes(table.notes)
    if json:
        each = {name: {"parents": own, "score": value} for (name, own), value in zip(asked, values, strict=True)}
        say_json({"families": each, "notes": table.notes, "rows": table.n_rows, "score": total, **names})
    else:
        lines = families((name, own, value) for (name, own), value in zip(asked, values, strict=True))
        short = choices(resolved(table, score), choose_prior(prior))
        say([*lines, f"score   {number(total)}  ({short})", *why_score(why_resolved(table, score))])


def _with_network(data: str, network: str, reading: TableOptions) -> tuple[Dataset, DAG]:
    """The columns of the network in the table, with the network's kinds unless the user names others, and its graph."""
    known = read_graph(network)
    if not isinstance(known, Network):
        table = replace(reading, keep_all=True).read(data)  # the graph may name any column
        return table, DAG(table.names, known.parents)
    graph = known.dag
    declared = {**known.kinds, **(read_kinds(reading.kinds) if reading.kinds else {})}
    columns = {name: Continuous() if name in known.cuts else declared[name] for name in graph.names}
    table = reading.read(data, columns)
    table = table.cut({name: own for name, own in known.cuts.items() if name in table.kinds})
    for name in graph.names:
        if name not in table.kinds:
            raise ChoiceError(
                f"{network} has the variable {name!r}, and {data} no column of that name; "
                "score a network over columns of the table"
            )
    return table, graph


def _listed(text: str | None, names: Collection[str]) -> list[str]:
    if not text:
        return []
    return [text] if text in names else [name.strip() for name in text.split(",")]
