"""spinney learn: a table in, a network out.

In:  a table and the choices.
Out: the network, its score and how far it can be from the best; a file with -o."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spinney.catalog import choose_prior, choose_score, choose_search
from spinney.cli import options as opt
from spinney.cli.answer import number, say, say_json, say_notes
from spinney.cli.found import choices, families, of_class, others, proof, seconds, stopped, why_auto, why_score
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.formats import formats_of
from spinney.layout import counted
from spinney.learn import Result
from spinney.learn import learn as run


@reads_table
def learn(
    data: opt.TableFile,
    score: opt.ScoreName = "auto",
    prior: opt.PriorName = "uniform",
    search: Annotated[
        str,
        typer.Option(
            "--search",
            metavar="SEARCH",
            help=("The search, with its options: 'tabu(restarts=10)'; see `spinney list searches`."),
        ),
    ] = "auto",
    max_parents: opt.MaxParents = 3,
    constraints: opt.ConstraintsFile = None,
    required: opt.Required = None,
    forbidden: opt.Forbidden = None,
    tiers: opt.TiersFile = None,
    candidates: opt.CandidateParents = None,
    time_limit: opt.TimeLimit = None,
    seed: opt.Seed = 0,
    output: Annotated[
        str | None,
        opt.output(f"Write the network: {opt.files('network', 'write')}; .json holds all of it, .dot the graph only."),
    ] = None,
    discretise: Annotated[
        str | None,
        typer.Option(
            "--discretise",
            metavar="METHOD",
            help=(
                "Cut continuous columns into intervals: 'quantile(5)', 'width(5)' or 'fayyad-irani(target)'; the "
                "network keeps the thresholds."
            ),
        ),
    ] = None,
    reading: TableOptions = TABLE,
    n_jobs: opt.Jobs = -1,
    json: opt.Json = False,
    timing: opt.Timing = False,
) -> None:
    """Learn a network from a table, and prove it the best where that can be done."""
    opt.check_output(output, formats_of("network", "write"), data, reading.kinds, constraints, tiers, candidates)
    table = reading.read(data)
    if discretise is not None:
        table = table.discretised(discretise)
    result = run(
        table,
        score,
        prior,
        search,
        max_parents,
        opt.constraints(table.names, constraints, required, forbidden, tiers),
        candidates=opt.candidates(candidates),
        time_limit=time_limit,
        n_jobs=n_jobs,
        seed=seed,
        progress=True,
    )
    if output:
        result.network.export(output)
    say_notes((*result.notes, *stopped(result.found), *result.found.notes))
    if json:
        say_json(_record(result, result.notes, timing))
    else:
        say(_lines(result, search.strip().lower() == "auto", timing))


def _record(result: Result, notes: tuple[str, ...], timing: bool) -> dict[str, Any]:
    network = result.network
    return {
        **result.found.as_dict(),
        "data": network.data,
        "local_scores": {name: model.score for name, model in network.models.items()},
        "notes": (*notes, *result.found.notes),
        "plan": result.plan.as_dict(),
        **({"seconds": result.seconds} if timing else {}),
    }


def _lines(result: Result, by_auto: bool, timing: bool) -> list[str]:
    network, plan = result.network, result.plan
    facts = network.data or {"rows": 0}
    rows, dropped = facts["rows"], facts.get("rows_dropped", 0)
    over = f"parent sets of {'any size' if plan.max_parents is None else f'up to {plan.max_parents}'}"
    over += ", within the constraints" if plan.constraints else ""
    over += f", for {rows:,} of {rows + dropped:,} rows" if dropped else ""
    return [
        f"{counted(len(network.names), 'node')} and {counted(len(network.edges), 'edge')} from {counted(rows, 'row')}; "
        "each node with its parents and its local score",
        *families((name, model.parents, model.score or 0.0) for name, model in network.models.items()),
        *of_class(result.found),
        f"score   {number(result.found.score)}  ({choices(choose_score(plan.score), choose_prior(plan.prior))})",
        *why_score(plan.why_score),
        *proof(result.found, over),
        *others(result.found),
        f"search  {choose_search(plan.search).short}{why_auto(plan.search, result.why) if by_auto else ''}",
        *(seconds(result.seconds) if timing else ()),
    ]
