"""spinney learn: a table in, a network out.

In:  a table and the choices.
Out: the network, its score and how far it can be from the best; a file with -o."""

from __future__ import annotations

import shlex
from os import path
from typing import Annotated, Any

import typer

from spinney.catalog import choose_prior, choose_score, choose_search
from spinney.cli import options as opt
from spinney.cli.answer import number, say, say_json, say_next, say_notes
from spinney.cli.found import choices, families, of_class, others, proof, seconds, stopped, why_score
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.errors import ChoiceError
from spinney.formats import formats_of, suffix
from spinney.layout import counted, some_names
from spinney.learn import Result
from spinney.learn import learn as run
from spinney.machine import memory_limited
from spinney.plan import plan as foresee
from spinney.report.again import command_line


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
    store: opt.StoreFolder = None,
    cluster: opt.ClusterAddress = None,
    memory_limit: opt.MemoryLimit = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what this would take, in seconds and memory; nothing is learned.")
    ] = False,
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
    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help=("Write a page that shows the network, explains it and answers questions: .html, works offline."),
        ),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option("--show", metavar="NODE", help=("Print the table, tree or equations of this node, too.")),
    ] = None,
    reading: TableOptions = TABLE,
    n_jobs: opt.Jobs = -1,
    json: opt.Json = False,
    timing: opt.Timing = False,
) -> None:
    """Learn a network from a table, and prove it the best where that can be done."""
    opt.check_output(output, formats_of("network", "write"), data, reading.kinds, constraints, tiers, candidates)
    opt.check_output(report, [".html"], data, reading.kinds, constraints, tiers, candidates)
    if report and output and path.abspath(report) == path.abspath(output):
        raise ChoiceError(f"{report} is named for the network and for the report; give two names")
    with memory_limited(memory_limit):
        table = reading.read(data)
    if show is not None and show not in table.names:
        raise ChoiceError(f"--show names {show!r}, which is no column here; choose one of {some_names(table.names)}")
    if discretise is not None:
        table = table.discretised(discretise)
    if plan:
        own = opt.constraints(table.names, constraints, required, forbidden, tiers)
        found = foresee(
            table,
            score,
            prior,
            search,
            max_parents,
            own,
            opt.candidates(candidates),
            time_limit=time_limit,
            memory_limit=memory_limit,
            n_jobs=n_jobs,
            seed=seed,
        )
        say_notes(table.notes)
        say_json(found.as_dict()) if json else say(found.lines())
        return
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
        store=store,
        cluster=cluster,
        memory_limit=memory_limit,
    )
    if output:
        result.network.export(output)
    if report:
        result.report(report, target=show, command=command_line(), source=data)
    say_notes((*result.notes, *stopped(result.found), *result.found.notes))
    if json:
        shown = {} if show is None else {"show": result.network.model(show).as_dict()}
        say_json(_record(result, result.notes, timing) | shown)
    else:
        say(_lines(result, search.strip().lower() == "auto", timing))
        if show is not None:
            say(["", result.network.model(show).text()])
        say_next(_next(result, output, report))


def _next(result: Result, output: str | None, report: str | None) -> list[str]:
    """What to do with the network now."""
    if report:
        return [f"open {report} in a browser: it shows the network, explains it, and answers questions"]
    if output and suffix(output) == ".json":
        node = max(result.network.names, key=lambda name: len(result.network.parents[name]))
        return [f"spinney show {output} {shlex.quote(node)}   spinney report {output} DATA -o report.html"]
    return ["to see it, add --report report.html; to keep it, -o net.json"]


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
        f"search  {choose_search(plan.search).short}{f', chosen by auto: {result.why}' if by_auto else ''}",
        *(seconds(result.seconds) if timing else ()),
    ]
