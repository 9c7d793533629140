"""Scores: (child, parents) -> a number.

In:  a Dataset, a chosen score, a chosen prior.
Out: a source of local scores, from the score's own module. Whether a score is defined for the kinds of the columns is
decided here, in one sentence, before any computing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, cast

from spinney.catalog import AUTO, SCORES, Score, choose_prior, choose_score
from spinney.choices import Choice, loaded
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.layout import some_names
from spinney.priors import Prior, prior_for
from spinney.progress import Progress, reporting
from spinney.scores.evidence import by_evidence, left_to_evidence, with_defaults

if TYPE_CHECKING:
    from spinney.scores.source import Source

MOST_CONFIGURATIONS = 10**290  # as in core/table_score.cpp
MOST_REMEMBERED = 1_000_000  # cells of a table whose sources are remembered
REMEMBERED = 8  # sources of a table
# Of a table for which `auto` compares models, which is several times the work of one. The tables on which the
# comparison was measured have fewer columns; over a hundred of them a climb alone took minutes.
MOST_FOR_BEST = 10_000_000  # cells
MOST_COLUMNS_FOR_BEST = 64


def resolved(
    data: Dataset,
    score: str | Choice,
    deadline: Deadline | None = None,
    threads: int = 1,
    progress: Progress = False,
) -> Choice:
    """The score itself, all its options numbers or words: what `auto` stands for with this data, and the values that
    the evidence prefers for options that are `auto`. The data alone decides, unless a time limit ends it early."""
    choice = standing_for(data, score)
    if not left_to_evidence(choice):
        return choice
    key = str(choice)
    known, ended_by = data.tuned.get(key, (choice, None))
    if known is choice or (ended_by is not None and ended_by is not deadline):
        check_kinds(data, cast(Score, choice.entry))
        plain = prior_for(choose_prior("uniform"), len(data.names))
        with reporting(progress, "trying values of the score's options") as report:
            build = partial(_source, data, prior=plain, deadline=deadline)
            known, whole = by_evidence(choice, build, deadline, threads, report)
        data.tuned[key] = known, None if whole else deadline
    return known


def standing_for(data: Dataset, score: str | Choice) -> Choice:
    """What the score `auto` stands for, from the size of the data and the kinds of its columns alone; others as they
    are, also where options of theirs are `auto`."""
    choice = choose_score(score)
    if choice.name != AUTO.name:
        return choice
    if data.words <= set(SCORES["bdeu"].kinds):
        return choose_score("bdeu")
    return choose_score("pcart" if _large(data) else "best")


def _cells(data: Dataset) -> int:
    return data.n_rows * len(data.names)


def _large(data: Dataset) -> bool:
    return _cells(data) > MOST_FOR_BEST or len(data.names) > MOST_COLUMNS_FOR_BEST


def why_resolved(data: Dataset, score: str | Choice, deadline: Deadline | None = None) -> str | None:
    """Why `auto` stands for that score, or for the values of its options; None where the user chose all."""
    if choose_score(score).name != AUTO.name:
        return resolved(data, score, deadline).why or None
    continuous = sum(not kind.discrete for kind in data.kinds.values())
    verb = "column is" if len(data.names) == 1 else "columns is" if continuous == 1 else "columns are"
    kinds = f"{continuous:,} of {len(data.names):,} {verb} continuous" if continuous else "all columns are discrete"
    many_cells = f", and the table has {_cells(data):,} cells" if _cells(data) > MOST_FOR_BEST else ""
    size = (many_cells or ", too many columns to compare models") if continuous and _large(data) else ""
    return f"auto chose {resolved(data, score).name}: {kinds}{size}"


def build_source(
    data: Dataset,
    score: str | Choice,
    prior: str | Choice = "uniform",
    deadline: Deadline | None = None,
    threads: int = 1,
    progress: Progress = False,
) -> Source:
    """The source of local scores for this data. Small tables remember a few: family by family, building one would take
    longer than the score."""
    choice, chosen_prior = standing_for(data, score), choose_prior(prior)
    if left_to_evidence(choice):
        _built(
            data, with_defaults(choice), chosen_prior, deadline
        )  # refuses what cannot be scored, before any computing
        choice = resolved(data, choice, deadline, threads, progress)
    values = choice.values.values()
    small = _cells(data) <= MOST_REMEMBERED and (deadline is None or deadline.seconds is None)
    if not small or any(value.__hash__ is None for value in values):  # a prior network has no hash
        return _built(data, choice, chosen_prior, deadline)
    key = (id(choice.entry), *values, chosen_prior.name, *chosen_prior.values.values())
    found = data.sources.get(key)
    if found is None:
        if len(data.sources) >= REMEMBERED:
            data.sources.clear()
        found = data.sources[key] = _built(data, choice, chosen_prior, None)
    return found


def _built(data: Dataset, choice: Choice, prior: Choice, deadline: Deadline | None) -> Source:
    check_kinds(data, cast(Score, choice.entry))
    return _source(data, choice, prior_for(prior, len(data.names)), deadline)


def _source(data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None) -> Source:
    assert isinstance(choice.entry, Score)
    if not data.rows_are_here:
        from spinney.partitions import Partitions
        from spinney.scores.elsewhere import elsewhere

        return elsewhere(cast(Partitions, data), choice, prior)
    build: type[Source] = loaded(choice.entry.source)
    return build(data, choice, prior, deadline)


def check_kinds(data: Dataset, entry: Score) -> None:
    if data.words <= set(entry.kinds):
        return
    for name in data.names:
        if data.kinds[name].word not in entry.kinds:
            raise ChoiceError(
                f"column {name!r} is {data.kinds[name].word} and score {entry.name} is defined for "
                f"{' and '.join(entry.kinds)} columns",
                way("use {}, which takes any kind", "score", "pcart"),
                way("pass {}", "kinds", {name: "categorical"}),
                "leave the column out",
            )


def check_family(data: Dataset, child: str, parents: Iterable[str]) -> tuple[str, ...]:
    """The parents, sorted; all names known, none twice, the child not among them."""
    if isinstance(parents, str):
        raise ChoiceError(f"parents is a list of columns, not the text {parents!r}; write [{parents!r}]")
    if not isinstance(parents, Iterable):
        raise ChoiceError(f"parents is a list of columns, not {parents!r}; give a list, which may be empty")
    given = tuple(parents)
    for name in (child, *given):
        if not isinstance(name, str) or name not in data.kinds:
            raise ChoiceError(f"there is no column {name!r}; the columns are {some_names(data.names, 8)}")
    if len(set(given)) < len(given):
        raise ChoiceError(f"a parent of {child!r} is named twice in {list(given)}; name it once")
    if child in given:
        raise ChoiceError(f"column {child!r} cannot be its own parent; remove it from the parents")
    if (
        all(data.kinds[p].discrete for p in given)
        and math.prod(len(data.levels(p)) for p in given) > MOST_CONFIGURATIONS
    ):
        raise LimitError(
            f"the {len(given)} parents of {child!r} have more joint levels than a number holds; name fewer"
        )
    return tuple(sorted(given))
