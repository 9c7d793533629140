"""spinney posterior: how probable is every edge, summed over all graphs?

In:  a table and a score; or scored parent sets.
Out: the edges by falling probability, each with its error, and how they were found; all of it as JSON."""

from __future__ import annotations

from typing import Annotated

import typer

from spinney.catalog import choose_score
from spinney.cli import options as opt
from spinney.cli.answer import number, say, say_json, say_notes
from spinney.cli.tables import TABLE, TableOptions, reads_table
from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.formats import formats_of, suffix
from spinney.layout import word
from spinney.parent_sets import ParentSets
from spinney.posterior import METHODS, OVER, Chains, Posterior
from spinney.posterior import posterior as summed

_SETS = formats_of("parent sets", "read")


@reads_table
def posterior(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            show_default=False,
            help=f"The table: {opt.files('table', 'read')}; - is standard input. Or scored parent sets, unpruned: "
            f"{opt.files('parent sets', 'read')}.",
        ),
    ],
    score: Annotated[
        str,
        typer.Option(
            "--score",
            metavar="SCORE",
            help="The score: 'bdeu(ess=10)', 'pcart(average=True)'; it must be the log of a probability.",
        ),
    ] = "auto",
    prior: opt.PriorName = "uniform",
    over: Annotated[
        str,
        typer.Option(
            "--over",
            metavar="|".join(OVER),
            help="modular: every graph counts once. order: every order of the columns, with all graphs it allows.",
        ),
    ] = "modular",
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="|".join(METHODS), help="Exact sums, or Markov chains; auto: chains for many columns."
        ),
    ] = "auto",
    max_parents: opt.MaxParents = 3,
    constraints: opt.ConstraintsFile = None,
    required: opt.Required = None,
    forbidden: opt.Forbidden = None,
    tiers: opt.TiersFile = None,
    candidates: opt.CandidateParents = None,
    samples: Annotated[
        int,
        typer.Option(
            "--samples", metavar="N", parser=opt.whole("--samples"), help="Of chains: sweeps that are recorded."
        ),
    ] = 1000,
    burn_in: Annotated[
        int | None,
        typer.Option(
            "--burn-in",
            metavar="N",
            parser=opt.whole("--burn-in"),
            help="Of chains: sweeps before that; half as many unless given.",
        ),
    ] = None,
    chains: Annotated[
        int, typer.Option("--chains", metavar="N", parser=opt.whole("--chains"), help="Chains, two at least.")
    ] = 2,
    networks: Annotated[
        int,
        typer.Option(
            "--networks", metavar="N", parser=opt.whole("--networks"), help="Of chains: graphs that are kept, in -o."
        ),
    ] = 100,
    least: Annotated[
        float,
        typer.Option(
            "--least",
            metavar="SHARE",
            parser=opt.decimal("--least", "a share from 0 to 1"),
            help="Show the edges of at least this probability.",
        ),
    ] = 0.05,
    seed: opt.Seed = 0,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            parser=opt.decimal("--time-limit", "a number of seconds"),
            help="Stop after this time; chains give what they have.",
        ),
    ] = None,
    n_jobs: opt.Jobs = -1,
    output: Annotated[str | None, opt.output("Write everything as .json, also with .gz.")] = None,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """How probable is every edge: the sum over all graphs, by exact sums or by Markov chains."""
    opt.check_output(output, [".json"], data, reading.kinds, constraints, tiers, candidates)
    if not 0 <= least <= 1:
        raise ChoiceError(f"--least must be a share from 0 to 1, not {least:g}")
    given: Dataset | ParentSets
    if suffix(data) in _SETS:
        _check_sets(data, score, prior, candidates)
        given = ParentSets.read(data)
    else:
        given = reading.read(data)
    found = summed(
        given,
        score,
        prior,
        over=over,
        method=method,
        max_parents=max_parents,
        constraints=opt.constraints(given.names, constraints, required, forbidden, tiers),
        candidates=opt.candidates(candidates),
        samples=samples,
        burn_in=burn_in,
        chains=chains,
        networks=networks,
        time_limit=time_limit,
        n_jobs=n_jobs,
        seed=seed,
        progress=True,
    )
    if output:
        found.write(output)
    notes = list(found.notes)
    if found.stopped:
        notes.append(f"the chains ended early ({found.stopped}); this is what they have")
    say_notes(notes)
    if json:
        edges = [dict(zip(("parent", "child", "probability", "error"), row, strict=True)) for row in found.table(least)]
        say_json({**found.as_dict(), "notes": notes, "table": edges})
    else:
        say([found.text(least), *_how(found, method)])


def _check_sets(data: str, score: str, prior: str, candidates: str | None) -> None:
    """Scored sets have a score, with its prior, and candidates already."""
    for option, changed in (
        ("--score", score != "auto"),
        ("--prior", prior != "uniform"),
        ("--candidates", candidates is not None),
    ):
        if changed:
            raise ChoiceError(f"{data} holds scored parent sets, which {option} cannot change; leave it out")


def _how(found: Posterior, asked: str) -> list[str]:
    by_auto = ", chosen by auto from the number of columns" if asked == "auto" else ""
    lines = [f"method  {found.method}{by_auto}"]
    if found.score:
        lines.append(f"score   {choose_score(found.score).short}")
    if found.log_sum is not None:
        lines.append(f"sum     {number(found.log_sum)}, the log of the sum of e^score")
    return lines if found.chains is None else [*lines, *_of_chains(found.chains)]


def _of_chains(chains: Chains) -> list[str]:
    where = "" if chains.edge is None else f", at {word(chains.edge[0])} -> {word(chains.edge[1])}"
    turned = "" if chains.reversed is None else f", {100 * chains.reversed:.0f} % of turned edges accepted"
    samples = " + ".join(f"{own:,}" for own in chains.samples)
    return [
        f"chains  {samples} samples after {chains.burn_in:,} each; the largest difference is "
        f"{chains.difference:.3f}{where}: they {'agree' if chains.agree else 'DISAGREE'}",
        f"worth   {chains.effective:,.0f} independent samples, {chains.least_effective:,.0f} for the least sure edge",
        f"moves   {100 * chains.moved:.0f} % of columns went to another place{turned}",
    ]
