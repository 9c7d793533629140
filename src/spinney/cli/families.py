"""spinney families: Step 1, the scored parent sets.

In:  a table and the choices.
Out: a jkl file, or jkl on standard output; what was counted."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from spinney.catalog import choose_prior
from spinney.cli import options as opt
from spinney.cli.answer import say, say_json, say_notes
from spinney.cli.found import seconds
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.formats import formats_of, jkl
from spinney.layout import counted
from spinney.scores import resolved, why_resolved
from spinney.step1 import score_parent_sets


@reads_table
def families(
    data: opt.TableFile,
    score: opt.ScoreName = "auto",
    prior: opt.PriorName = "uniform",
    max_parents: opt.MaxParents = 3,
    constraints: opt.ConstraintsFile = None,
    required: opt.Required = None,
    forbidden: opt.Forbidden = None,
    tiers: opt.TiersFile = None,
    candidates: opt.CandidateParents = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune/--no-prune",
            help=("Leave out a set that is no better than one of its subsets; it is in no best network."),
        ),
    ] = True,
    bounds: Annotated[
        bool,
        typer.Option(
            "--bounds/--no-bounds",
            help=("Do not score sets for which this can be proven beforehand; the file is the same."),
        ),
    ] = True,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            parser=opt.decimal("--time-limit", "a number of seconds"),
            help=("Stop with an error after this time."),
        ),
    ] = None,
    store: opt.StoreFolder = None,
    cluster: opt.ClusterAddress = None,
    seed: opt.Seed = 0,
    output: Annotated[
        str | None,
        opt.output(
            f"Write the parent sets: {opt.files('parent sets', 'write')}; without it jkl goes to standard output."
        ),
    ] = None,
    reading: TableOptions = TABLE,
    n_jobs: opt.Jobs = -1,
    json: opt.Json = False,
    timing: opt.Timing = False,
) -> None:
    """Score all parent sets up to a size, for `spinney solve` or another solver."""
    opt.check_output(output, formats_of("parent sets", "write"), data, reading.kinds, constraints, tiers, candidates)
    table = reading.read(data)
    limits = opt.constraints(table.names, constraints, required, forbidden, tiers)
    began = time.perf_counter()
    sets = score_parent_sets(
        table,
        score,
        prior,
        max_parents,
        constraints=limits,
        candidates=opt.candidates(candidates),
        prune=prune,
        bounds=bounds,
        n_jobs=n_jobs,
        progress=True,
        time_limit=time_limit,
        seed=seed,
        store=store,
        cluster=cluster,
    )
    taken = {"score": time.perf_counter() - began}
    if output:
        sets.write(output)
    reason = why_resolved(table, score)
    say_notes((*table.notes, *([] if reason is None else [reason]), *sets.notes))
    if json:
        say_json(
            {
                "families": sets.families,
                "kept": len(sets),
                "max_parents": max_parents,
                "notes": table.notes,
                "prior": str(choose_prior(prior)),
                "rows": table.n_rows,
                "score": str(resolved(table, score)),
                "scored": sets.scored,
                **({} if store is None else {"from_store": sets.known}),
                **({"seconds": taken} if timing else {}),
                **({} if output else {"sets": {child: sets.of(child) for child in sets.names}}),
            }
        )
    elif output:
        say(
            [
                f"{output}: {counted(len(sets), 'parent set')} of {counted(len(sets.names), 'variable')}; "
                f"{sets.families:,} were possible, {sets.scored:,} were scored"
                + ("" if store is None else f", {sets.known:,} came from the store"),
                *(seconds(taken) if timing else ()),
            ]
        )
    else:
        print(jkl.text(sets), end="")
        say_notes(seconds(taken) if timing else ())
