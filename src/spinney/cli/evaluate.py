"""spinney evaluate: how good is what is learned from a table, where nobody knows the truth?

In:  a table and ways of learning; or networks and rows that they were not learned from.
Out: log loss on held-out rows, stability on fewer rows, confidence of edges; each with its error. JSON and pictures."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from spinney import evaluate
from spinney.bootstrap import bootstrap as resampled
from spinney.cli import options as opt
from spinney.cli.answer import say, say_aside, say_json, say_notes
from spinney.cli.tables import FILE, TABLE, FileOptions, TableOptions, reads_table
from spinney.errors import ChoiceError
from spinney.evaluate.answers import Answer
from spinney.formats import formats_of
from spinney.learn import fit
from spinney.network import Network
from spinney.progress import Progress

PICTURES = (".pdf", ".png", ".svg")

Scores = Annotated[
    str,
    typer.Option(
        "--scores",
        "--score",
        metavar="SCORES",
        help="The scores to compare, with commas between them: 'pcart,ft,best'; see `spinney list scores`.",
    ),
]
Priors = Annotated[
    str,
    typer.Option(
        "--prior",
        metavar="PRIORS",
        help="The prior on parent sets, or several: 'uniform,sizes'; each is tried with each score.",
    ),
]
Searches = Annotated[
    str,
    typer.Option(
        "--search", metavar="SEARCHES", help="The search, or several: 'exact,hc'; each is tried with each score."
    ),
]
Folds = Annotated[
    int, typer.Option("--folds", metavar="N", parser=opt.whole("--folds"), help="Into how many parts rows are divided.")
]
Repeats = Annotated[
    int, typer.Option("--repeats", metavar="N", parser=opt.whole("--repeats"), help="How often that is done anew.")
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        parser=opt.decimal("--time-limit", "a number of seconds"),
        help="Stop after this time; what is done by then counts.",
    ),
]
Output = Annotated[str | None, opt.output("Write everything as .json, also with .gz.")]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Draw it: .pdf .svg .png (needs the package matplotlib)."),
]


@reads_table
def log_loss(
    data: opt.TableFile,
    scores: Scores = "auto",
    prior: Priors = "uniform",
    search: Searches = "auto",
    max_parents: opt.MaxParents = 3,
    folds: Folds = 10,
    repeats: Repeats = 5,
    seed: opt.Seed = 0,
    time_limit: Limit = None,
    n_jobs: opt.Jobs = -1,
    output: Output = None,
    plot: Plot = None,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """How well are rows predicted that were held out: minus the mean log of their probability, smaller is better."""
    _check_files(output, plot, data, reading.kinds)
    table = reading.read(data)
    found = evaluate.log_loss(
        table,
        _listed(scores),
        prior=_listed(prior),
        search=_listed(search),
        max_parents=max_parents,
        folds=folds,
        repeats=repeats,
        seed=seed,
        n_jobs=n_jobs,
        time_limit=time_limit,
        progress=milestones(),
    )
    _answer(found, table.notes, output, plot, json)


@reads_table
def stability(
    data: opt.TableFile,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores", "--score", metavar="SCORES", help="The scores to compare, with commas between them: 'pcart,ft'."
        ),
    ] = None,
    prior: Priors = "uniform",
    search: Searches = "auto",
    max_parents: opt.MaxParents = 3,
    networks: Annotated[
        list[str] | None,
        typer.Option(
            "--networks",
            metavar="NAME=FOLDER",
            help="A method of another program: the folder of the networks that it learned from the files of "
            "--write-subsamples; may be repeated.",
        ),
    ] = None,
    parts: Annotated[
        str,
        typer.Option("--parts", metavar="N,N", help="The subsamples: 64 is 1/64 of the rows."),
    ] = "64,32,16,8,4,2",
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", parser=opt.whole("--repeats"), help="Subsamples of each size.")
    ] = 10,
    seed: opt.Seed = 0,
    time_limit: Limit = None,
    n_jobs: opt.Jobs = -1,
    output: Output = None,
    plot: Plot = None,
    write_subsamples: Annotated[
        str | None,
        typer.Option(
            "--write-subsamples",
            metavar="FOLDER",
            help="Learn nothing: write the subsamples as CSV, for other programs to learn from.",
        ),
    ] = None,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """Which method finds, from fewer rows, the structure that all of them find from all rows? (Intersection-validation:
    partial Hamming distances, smaller is better.)"""
    _check_files(output, plot, data, reading.kinds)
    sizes = [opt.whole("--parts")(own) for own in _listed(parts)]
    outside = dict(map(_named_folder, networks or ()))
    table = reading.read(data)
    if write_subsamples is not None:
        files = evaluate.write_subsamples(table, write_subsamples, parts=sizes, repeats=repeats, seed=seed)
        say_notes(table.notes)
        say_json({"files": files}) if json else say(files)
        return
    found = evaluate.stability(
        table,
        [] if scores is None else _listed(scores),
        prior=_listed(prior),
        search=_listed(search),
        max_parents=max_parents,
        networks=outside,
        parts=sizes,
        repeats=repeats,
        seed=seed,
        n_jobs=n_jobs,
        time_limit=time_limit,
        progress=milestones(),
    )
    _answer(found, table.notes, output, plot, json)


@reads_table
def bootstrap(
    data: opt.TableFile,
    score: opt.ScoreName = "auto",
    prior: opt.PriorName = "uniform",
    search: Annotated[
        str,
        typer.Option("--search", metavar="SEARCH", help="The search, with its options; see `spinney list searches`."),
    ] = "auto",
    max_parents: opt.MaxParents = 3,
    constraints: opt.ConstraintsFile = None,
    required: opt.Required = None,
    forbidden: opt.Forbidden = None,
    tiers: opt.TiersFile = None,
    replicates: Annotated[
        int,
        typer.Option(
            "--replicates", metavar="N", parser=opt.whole("--replicates"), help="How often rows are drawn anew."
        ),
    ] = 200,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="SHARE",
            parser=opt.decimal("--threshold", "a share from 0 to below 1"),
            help="The averaged network has the edges above it; without it, it is found from the confidences.",
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option("--network", metavar="FILE", help=f"Write the averaged network: {opt.files('network', 'write')}."),
    ] = None,
    seed: opt.Seed = 0,
    time_limit: Limit = None,
    n_jobs: opt.Jobs = -1,
    output: Output = None,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """How sure is every edge: learn from rows that are drawn anew, count, and average."""
    inputs = (data, reading.kinds, constraints, tiers)
    opt.check_output(output, [".json"], *inputs)
    opt.check_output(network, formats_of("network", "write"), *inputs)
    table = reading.read(data)
    found = resampled(
        table,
        score,
        prior,
        search,
        max_parents,
        opt.constraints(table.names, constraints, required, forbidden, tiers),
        replicates=replicates,
        seed=seed,
        n_jobs=n_jobs,
        time_limit=time_limit,
        progress=milestones(),
    )
    averaged = found.averaged(threshold)
    if output:
        found.save(output)
    if network:
        fit(table, averaged, score, prior).export(network)
    notes = list(table.notes)
    if found.stopped:
        notes.append(f"ended early ({found.stopped}): {found.replicates:,} of {found.wanted:,} replicates are done")
    say_notes(notes)
    if json:
        say_json({**found.as_dict(), "averaged": averaged.edges, "notes": notes})
    else:
        say([found.text(None)])


@reads_table
def compare(
    one: Annotated[
        str, typer.Argument(metavar="A", show_default=False, help=f"A network: {opt.files('network', 'read')}.")
    ],
    other: Annotated[str, typer.Argument(metavar="B", show_default=False, help="Another one, over the same columns.")],
    data: Annotated[
        str,
        typer.Option(
            "--data", metavar="FILE", show_default=False, help="The rows, which neither network was learned from."
        ),
    ],
    output: Output = None,
    reading: FileOptions = FILE,
    json: opt.Json = False,
) -> None:
    """The log loss of two networks on rows that they were not learned from, and the difference with its error."""
    if one == other:
        raise ChoiceError(f"{one} is named twice; name two networks")
    _check_files(output, None, one, other, data)
    networks = {name: Network.read(name) for name in (one, other)}
    first = networks[one]
    found = evaluate.compare(networks, reading.rows(data, first.accepts, "auto", "allow"))
    _answer(found, (), output, None, json)


def _check_files(output: str | None, plot: str | None, *inputs: str | None) -> None:
    opt.check_output(output, [".json"], *inputs)
    opt.check_output(plot, PICTURES, *inputs)
    if plot:
        from spinney.evaluate.answers import new_figure

        new_figure(1.0, 1.0)  # says at once where the package is not installed


def _answer(found: Answer, notes: tuple[str, ...], output: str | None, plot: str | None, json: bool) -> None:
    if output:
        found.save(output)
    if plot:
        found.plot().savefig(plot)
    say_notes(notes)
    if json:
        say_json({**found.as_dict(), "notes": [*notes, *found.notes()]})
    else:
        say([str(found)])


def _listed(text: str) -> list[str]:
    """'pcart,best(pcart, ft)' as its two parts: commas within brackets do not separate."""
    found = [part.strip() for part in re.findall(r"(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^,])+", text)]
    return [part for part in found if part]


def _named_folder(text: str) -> tuple[str, str]:
    name, equals, folder = text.partition("=")
    if not equals or not name or not folder:
        raise ChoiceError(f"--networks {text!r} is not a method and its folder; write 'name=folder'")
    return name, folder


def milestones() -> Progress:
    """A bar on a terminal; elsewhere a line after 1, 2, 5, 10, 20, 50, ... pieces of work, and after the last."""
    if sys.stderr.isatty():
        return True
    following = 1

    def tell(what: str, done: int, total: int) -> None:
        nonlocal following
        if done < min(following, total):
            return
        say_aside(f"{done:,} of {total:,} {what}")
        while following <= done:
            following = following * 5 // 2 if str(following)[0] == "2" else following * 2

    return tell
