"""spinney solve: Step 2, the best network over scored parent sets.

In:  a jkl file.
Out: a graph, its score and how far it can be from the best; a file with -o."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import typer

from spinney.cli import options as opt
from spinney.cli.answer import number, say, say_json, say_notes
from spinney.cli.found import families, news, of_class, others, proof, seconds, stopped
from spinney.formats import formats_of, read_graph
from spinney.layout import counted
from spinney.parent_sets import ParentSets
from spinney.search import Found, search


def solve(
    sets: Annotated[
        str,
        typer.Argument(
            metavar="SETS", show_default=False, help=f"Scored parent sets: {opt.files('parent sets', 'read')}."
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "--search",
            metavar="SEARCH",
            help=("The search, with its options: 'tabu(restarts=10)'; see `spinney list searches`."),
        ),
    ] = "auto",
    constraints: opt.ConstraintsFile = None,
    required: opt.Required = None,
    forbidden: opt.Forbidden = None,
    tiers: opt.TiersFile = None,
    time_limit: opt.TimeLimit = None,
    gap: Annotated[
        float | None,
        typer.Option(
            "--gap",
            metavar="SHARE",
            parser=opt.decimal("--gap"),
            help=("Exact search ends at this proven gap: 0.001 is 0.1 %."),
        ),
    ] = None,
    memory_limit: Annotated[
        float | None,
        typer.Option(
            "--memory-limit",
            metavar="GIB",
            parser=opt.decimal("--memory-limit"),
            help=("The most memory for dynamic programming, in GiB."),
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", metavar="K", parser=opt.whole("--k"), help=("The K best networks over the sets, by exact search.")
        ),
    ] = None,
    distinct: Annotated[
        str | None,
        typer.Option(
            "--distinct",
            metavar="WHAT",
            help=("With --k: 'networks' (the default), or 'classes', where Markov equivalent networks count once."),
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="FILE", help=("A network or graph to start from, in any format that can be read.")
        ),
    ] = None,
    seed: opt.Seed = 0,
    output: Annotated[
        str | None,
        opt.output(f"Write the graph: {opt.files('graph', 'write')}; .json holds what --json prints."),
    ] = None,
    n_jobs: opt.Jobs = -1,
    json: opt.Json = False,
    timing: opt.Timing = False,
) -> None:
    """Find the best network over scored parent sets, and prove it where that can be done."""
    opt.check_output(output, formats_of("graph", "write"), sets, constraints, tiers, start)
    listed = ParentSets.read(sets)
    given = {"gap": gap, "memory_limit": memory_limit, "k": k, "distinct": distinct}
    found = search(
        listed,
        method,
        opt.constraints(listed.names, constraints, required, forbidden, tiers),
        time_limit,
        seed,
        n_jobs,
        progress=news(),
        start=read_graph(start).parents if start else None,
        **{name: value for name, value in given.items() if value is not None},
    )
    local = _scores(listed, found)
    found = replace(found, local=local, parents={name: found.parents[name] for name in listed.names})
    if output:
        found.write(output)
    say_notes((*stopped(found), *found.notes))
    by_auto = method.strip().lower() == "auto"
    reason = ", chosen by auto: all parent sets are scored, so optimality may be proven" if by_auto else ""
    if json:
        say_json({**found.as_dict(), **({"seconds": {"search": found.seconds}} if timing else {})})
        return
    say(
        [
            f"{counted(len(listed.names), 'node')} and {counted(sum(map(len, found.parents.values())), 'edge')}; "
            "each node with its parents and its local score",
            *families((name, found.parents[name], local[name]) for name in listed.names),
            *of_class(found),
            f"score   {number(found.score)}",
            *proof(found, "the listed parent sets"),
            *others(found),
            f"search  {found.method}{reason}",
            *(seconds({"search": found.seconds}) if timing else ()),
        ]
    )


def _scores(listed: ParentSets, found: Found) -> dict[str, float]:
    """Of a class: the member may have sets that are not listed."""
    listed_scores = {child: listed.score_of(child, own) for child, own in found.parents.items()}
    return {child: math.nan if score is None else score for child, score in listed_scores.items()}
