"""spinney classify: train a classifier, cross-validate it, apply it.

In:  a table with the class among its columns; or a trained classifier and a table.
Out: the classifier, which is a network with its class in the plan; accuracies; or the classes of rows."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from spinney.cli import options as opt
from spinney.cli.answer import aligned, number, say, say_json, say_notes, word, words
from spinney.cli.predict import MissingHere, Predictions, answer_rows
from spinney.cli.tables import FILE, TABLE, FileOptions, TableOptions, reads_table
from spinney.errors import ChoiceError
from spinney.evaluate import Accuracy, accuracy
from spinney.layout import counted
from spinney.network import Network

Target = Annotated[
    str, typer.Option("--target", metavar="NAME", show_default=False, help="The column that holds the class.")
]
Model = Annotated[str, typer.Option("--model", metavar="naive-bayes|tan|network", help="The kind of classifier.")]
ScoreName = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="SCORE",
        help=("The score, with its options; without it, the default of the model; see `spinney list scores`."),
    ),
]
Parameters = Annotated[
    str | None,
    typer.Option(
        "--parameters",
        metavar="SCORE",
        help=("The score of the tables; without it, that of --score if it is Bayesian, else bd."),
    ),
]
Forest = Annotated[bool | None, typer.Option("--forest", help="tan: leave out edges that lower the score.")]
Discretise = Annotated[
    str | None,
    typer.Option(
        "--discretise",
        metavar="mdl|quantile|width|none",
        help=(
            "How continuous columns are cut into intervals; without it by mdl if the score is for discrete columns "
            "only, else not at all."
        ),
    ),
]
Search = Annotated[
    str | None,
    typer.Option("--search", metavar="SEARCH", help=("network: the search; see `spinney list searches`.")),
]
MaxParents = Annotated[
    int | None,
    typer.Option(
        "--max-parents", metavar="N", parser=opt.whole("--max-parents"), help="network: the most parents of a node."
    ),
]


@reads_table
def train(
    data: opt.TableFile,
    target: Target,
    model: Model = "tan",
    score: ScoreName = None,
    parameters: Parameters = None,
    forest: Forest = None,
    discretise: Discretise = None,
    search: Search = None,
    max_parents: MaxParents = None,
    n_jobs: opt.Jobs = -1,
    output: Annotated[str | None, opt.output("Write the classifier: .json, also with .gz.")] = None,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """Train a classifier on a table, and write it as a network that also `spinney predict` takes."""
    opt.check_output(output, [".json"], data, reading.kinds)
    table = reading.read(data)
    made = _classifier(model, score, parameters, forest, discretise, search, max_parents, n_jobs)
    network = made.fit_dataset(table, target).network_
    if output:
        network.save(output)
    say_notes(table.notes)
    if json:
        say_json(
            {
                "classes": made.classes_.tolist(),
                "cuts": network.cuts,
                "data": network.data,
                "edges": network.edges,
                "notes": table.notes,
                "plan": network.plan,
                "target": target,
            }
        )
    else:
        say(_lines(network, target, made.classes_.tolist()))


@reads_table
def cross_validate(
    data: opt.TableFile,
    target: Target,
    model: Model = "tan",
    score: ScoreName = None,
    parameters: Parameters = None,
    forest: Forest = None,
    discretise: Discretise = None,
    search: Search = None,
    max_parents: MaxParents = None,
    n_jobs: opt.Jobs = -1,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", parser=opt.whole("--folds"), help="Folds, stratified by class.")
    ] = 10,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout",
            metavar="SHARE",
            parser=opt.decimal("--holdout", "a share between 0 and 1"),
            help=("Instead of folds: test once, on this share of the rows."),
        ),
    ] = None,
    seed: opt.Seed = 0,
    reading: TableOptions = TABLE,
    json: opt.Json = False,
) -> None:
    """Cross-validate a classifier: its accuracy on rows it has not seen, with a 95 % interval."""
    table = reading.read(data)
    made = _classifier(model, score, parameters, forest, discretise, search, max_parents, n_jobs)
    found = accuracy(made, table, target, folds=folds, holdout=holdout, seed=seed)
    say_notes(table.notes)
    if json:
        say_json({**found.as_dict(), "notes": table.notes, "target": target})
    else:
        say(_accuracies(found, holdout is not None))


@reads_table
def predict(
    model: Annotated[
        str,
        typer.Argument(
            metavar="CLASSIFIER", show_default=False, help=("The .json that `spinney classify train` wrote.")
        ),
    ],
    data: opt.TableFile,
    output: Predictions = None,
    missing: MissingHere = "auto",
    reading: FileOptions = FILE,
    json: opt.Json = False,
) -> None:
    """Predict the class of every row, and the probability of each class. Levels that were not there in training say
    nothing about the class: their factor is left out."""
    opt.check_output(output, [".csv"], model, data)
    network = Network.read(model)
    target = (network.plan or {}).get("target")
    if not isinstance(target, str) or target not in network.kinds:
        raise ChoiceError(
            f"{model}: this network is not a classifier (its plan has no target); use `spinney predict --target NAME`"
        )
    answer_rows(network, data, target, output, missing, reading, json, "allow")


def _classifier(
    model: str,
    score: str | None,
    parameters: str | None,
    forest: bool | None,
    discretise: str | None,
    search: str | None,
    max_parents: int | None,
    n_jobs: int,
) -> Any:
    """The estimator; an option that this kind of classifier does not have is refused."""
    from spinney.classify import MODELS  # a second to import

    if model not in MODELS:
        raise ChoiceError(f"--model {model!r} is not a kind of classifier; choose one of {', '.join(MODELS)}")
    given = {
        "score": score,
        "parameters": parameters,
        "forest": forest,
        "search": search,
        "max_parents": max_parents,
    }
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    known = inspect.signature(MODELS[model]).parameters.keys()
    for name in options.keys() - known:
        raise ChoiceError(f"--{name.replace('_', '-')} is not for --model {model}; leave it out")
    options["n_jobs"] = n_jobs
    if discretise is not None:
        options["discretise"] = None if discretise == "none" else discretise
    return MODELS[model](**options)


def _lines(network: Network, target: str, classes: list[str]) -> list[str]:
    rows = network.data["rows"] if network.data else 0
    cuts = [f"  {word(name)} at {', '.join(map(repr, cuts)) or 'no place'}" for name, cuts in network.cuts.items()]
    plan = network.plan or {}
    return [
        f"{plan['classifier']} of {word(target)} ({words(classes)}) from {counted(rows, 'row')}; "
        "each node with its parents",
        *aligned(
            [(word(name), f"<- {words(model.parents)}") for name, model in network.models.items() if model.parents]
        ),
        *(["continuous columns are cut", *cuts] if cuts else ()),
        *([f"graph   {plan['graph']['score']}, {plan['graph']['search']}"] if "graph" in plan else ()),
        f"tables  {plan['score']}",
    ]


def _accuracies(found: Accuracy, held_out: bool) -> list[str]:
    low, high = found.interval
    lines = [
        f"accuracy  {number(found.mean)}  ({found.correct:,} of {found.rows:,} rows)",
        f"95 %      {number(low)} to {number(high)}",
    ]
    return lines if held_out else [*lines, f"folds     {', '.join(map(number, found.folds))}"]
