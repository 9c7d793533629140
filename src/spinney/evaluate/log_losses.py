"""How well are rows predicted that were held out?

In:  a table, ways of learning, folds and repeats.
Out: LogLoss: minus the mean log posterior predictive density of a held-out row, with its standard error over the folds;
who wins against whom; the same per column. Smaller is better (papers print the mean log density, with the other sign,
as log loss too). Densities are in the units of the table: of columns that stay as they are, losses of different scores
can be compared, those of different tables cannot.

Every row is held out once per repeat. Kinds and levels are those of the whole table; ranges and standard units those of
the rows that are learned from. All methods have the same folds, and the standard error is that of the mean over them:
as folds share rows to learn from, it is a little too small (Bengio and Grandvalet 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spinney.candidates import CandidateParents
from spinney.constraints import Constraints
from spinney.dataset import Data, Dataset, as_dataset
from spinney.deadline import Deadline
from spinney.draws import Rows, by_content, others, own_seed, part
from spinney.draws import folds as drawn_folds
from spinney.errors import ChoiceError, named
from spinney.evaluate.answers import Answer, Shown, cell, new_figure
from spinney.evaluate.held_out import column_losses, impossible, mean_of, pair_table, total
from spinney.evaluate.pairs import Floats, Pair, mean_and_error, pairs_of
from spinney.layout import counted
from spinney.limits import check_limits, whole
from spinney.methods import Method, Scores, Several, methods, shared_by, side_by_prior
from spinney.progress import Progress
from spinney.tasks import Worker, nothing_done, side_by_side

WORST = 12  # columns that are shown


@dataclass(frozen=True)
class _Tested:
    """One method on the rows of one fold."""

    loss: float
    columns: dict[str, float]
    impossible: int


@dataclass(frozen=True, eq=False)
class LogLoss(Answer):
    """The log loss of every method, in nats per row; smaller is better. One value per test set: a fold of a repeat."""

    rows: int  # of the table
    folds: int
    repeats: int
    seed: int
    tested: Floats = field(repr=False)  # rows of each test set
    losses: dict[str, Floats] = field(repr=False)  # per method, the mean over the rows of each test set
    columns: dict[str, dict[str, Floats]] = field(repr=False)  # the same per column; their sum is the loss
    impossible: dict[str, int]  # per method, rows of probability 0
    choices: dict[str, dict[str, Any]] = field(repr=False)  # per method, what it learned with
    stopped: str = ""  # why not all test sets are there: "time limit" or "interrupted"

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of what is compared."""
        return tuple(self.losses)

    def mean(self, method: str, column: str | None = None) -> float:
        """The mean over all held-out rows, of the whole row or of one column."""
        return mean_of(self._values(method, column), self.tested)

    def error(self, method: str, column: str | None = None) -> float:
        """The standard error of the mean, over the test sets."""
        return mean_and_error(self._values(method, column))[1]

    def _values(self, method: str, column: str | None) -> Floats:
        if method not in self.losses:
            raise ChoiceError(f"there is no method {method!r}; choose one of {', '.join(map(repr, self.methods))}")
        if column is None:
            return self.losses[method]
        if column not in self.columns[method]:
            raise ChoiceError(f"there is no column {column!r}; name one of the table")
        return self.columns[method][column]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two methods; "win" means that the first has the smaller loss."""
        return pairs_of(self.losses)

    def column_pairs(self, column: str) -> list[Pair]:
        """Every two methods by the loss of one column."""
        return pairs_of({method: self._values(method, column) for method in self.methods})

    def tables(self) -> list[Shown]:
        """For people: the methods, every two of them, and the columns."""
        own = [(name, cell(self.mean(name)), cell(self.error(name))) for name in self.methods]
        sets = f"{counted(len(self.tested), 'test set')} of {counted(self.rows, 'row')} in {self.folds} folds"
        title = f"log loss in nats per row, {sets} (smaller is better)"
        names = list(self.columns[self.methods[0]])
        names.sort(key=lambda column: -self.mean(self.methods[0], column))
        per_column = [(name, *(cell(self.mean(m, name)) for m in self.methods)) for name in names[:WORST]]
        more = f", the {WORST} largest of {len(names)}" if len(names) > WORST else ""
        return [
            Shown(title, ("method", "log loss", "s.e."), own),
            pair_table(self.pairs),
            Shown(f"log loss per column{more}", ("column", *self.methods), per_column),
        ]

    def notes(self) -> list[str]:
        """What a reader should know."""
        early = f"ended early ({self.stopped}): {len(self.tested)} of {self.folds * self.repeats} test sets are there"
        return [*impossible(self.impossible), *([early] if self.stopped else [])]

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name; null for what is not known or infinite."""
        found = {
            name: {
                "log_loss": self.mean(name),
                "error": self.error(name),
                "impossible_rows": self.impossible[name],
                "test_sets": self.losses[name].tolist(),
                "columns": {
                    column: {"log_loss": self.mean(name, column), "error": self.error(name, column)}
                    for column in self.columns[name]
                },
                "learned_with": self.choices[name],
            }
            for name in self.methods
        }
        return {
            "rows": self.rows,
            "folds": self.folds,
            "repeats": self.repeats,
            "seed": self.seed,
            "stopped": self.stopped,
            "test_rows": [int(rows) for rows in self.tested],
            "methods": found,
            "pairs": [pair.as_dict() for pair in self.pairs],
        }

    def plot(self) -> Any:
        """The means with their error bars, as a matplotlib Figure (extra `plot`)."""
        figure = new_figure(5.0, 1.0 + 0.4 * len(self.methods))
        axes = figure.add_subplot()
        places = range(len(self.methods))
        means, errors = ([f(name) for name in self.methods] for f in (self.mean, self.error))
        axes.errorbar(means, places, xerr=np.nan_to_num(errors), fmt="o", capsize=3, color="#0b5cad")
        axes.set_yticks(places, [name.replace("$", r"\$") for name in self.methods])
        axes.invert_yaxis()
        axes.set_xlabel("log loss (nats per row)")
        return figure


def log_loss(
    data: Data,
    scores: Scores = "auto",
    *,
    prior: Several = "uniform",
    search: Several = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    folds: int | Sequence[npt.ArrayLike] = 10,
    repeats: int = 5,
    seed: int = 0,
    n_jobs: int = -1,
    time_limit: float | None = None,
    progress: Progress = False,
) -> LogLoss:
    """How well each way of learning predicts rows that were held out.

    scores: one or several; or a dict from names to scores, to dicts of choices as {"score": "pcart", "prior": "sizes"},
        or to Networks, which are judged as they are.
    prior, search: one or several: each is tried with each score. max_parents, constraints, candidates: as in learn().
    folds: into how many parts the rows are divided; or the positions of the test rows of each fold (with repeats=1).
    repeats: how often they are divided anew.
    n_jobs: how many networks are learned at a time; the answer does not depend on it.
    time_limit: seconds; at the limit, and at Ctrl-C, the test sets that are done for all methods count.

    >>> found = sp.evaluate.log_loss(data, ["bdeu", "bic"], folds=3, repeats=1)
    >>> print(found)
    >>> found.mean("bdeu"), found.error("bdeu"), found.pairs[0].by_test
    """
    deadline = Deadline(time_limit)
    check_limits(time_limit, seed)
    data = as_dataset(data)
    limits = {"max_parents": max_parents, "constraints": constraints, "candidates": candidates}
    ways = methods(data, scores, prior, search, **limits)
    tests = _tests(data, folds, repeats, seed)
    groups = side_by_prior(ways.values())
    tasks = [(number, test, group) for number, test in enumerate(tests) for group in groups]

    def work(task: tuple[int, Rows, tuple[Method, ...]], worker: Worker) -> dict[str, _Tested]:
        number, test, group = task
        return _tested(data, number, test, group, seed, worker)

    done = side_by_side(tasks, work, n_jobs=n_jobs, deadline=deadline, progress=progress, what="test sets x scores")
    by_set: dict[int, dict[str, _Tested]] = {}
    for at, answer in done.answers.items():
        by_set.setdefault(at // len(groups), {}).update(answer)
    whole_sets = [number for number, own in by_set.items() if len(own) == len(ways)]
    if not whole_sets:
        raise nothing_done(done.stopped, "the first test set")
    found = {name: [by_set[number][name] for number in whole_sets] for name in ways}
    return LogLoss(
        data.n_rows,
        len(tests) // repeats,
        repeats,
        seed,
        np.array([len(tests[number]) for number in whole_sets], dtype=np.float64),
        {name: np.array([own.loss for own in tested]) for name, tested in found.items()},
        {
            name: {column: np.array([own.columns[column] for own in tested]) for column in data.names}
            for name, tested in found.items()
        },
        {name: sum(own.impossible for own in tested) for name, tested in found.items()},
        {name: method.as_dict() for name, method in ways.items()},
        done.stopped,
    )


def _tests(data: Dataset, folds: int | Sequence[npt.ArrayLike], repeats: int, seed: int) -> list[Rows]:
    """The rows of every test set, repeat after repeat."""
    if not whole(repeats) or repeats < 1:
        raise ChoiceError(f"repeats must be a whole number from 1 on, not {repeats!r}")
    if isinstance(folds, (list, tuple)):
        if repeats != 1:
            given = f"the folds are given, so there is one repeat of them; {named('repeats')} must be 1"
            raise ChoiceError(f"{given}, not {repeats!r}")
        return [_given(own, data.n_rows) for own in folds]
    if not whole(folds) or not 2 <= (count := int(folds)) <= data.n_rows:  # type: ignore[arg-type]
        raise ChoiceError(f"folds must be a whole number from 2 to the number of rows, {data.n_rows:,}, not {folds!r}")
    order = by_content(data)
    return [test for repeat in range(repeats) for test in drawn_folds(order, count, seed, repeat)]


def _given(rows: npt.ArrayLike, n_rows: int) -> Rows:
    test = np.asarray(rows)
    right = test.ndim == 1 and 0 < len(test) < n_rows and test.dtype.kind in "iu"
    if not right or test.min() < 0 or test.max() >= n_rows or len(np.unique(test)) < len(test):
        raise ChoiceError(
            f"folds must be a number, or a list of positions of test rows: whole numbers from 0 to {n_rows - 1}, each "
            f"once, some but not all"
        )
    return test.astype(np.int64)


def _tested(
    data: Dataset, number: int, test: Rows, group: tuple[Method, ...], seed: int, worker: Worker
) -> dict[str, _Tested]:
    """Of methods that differ by the prior alone."""
    train, held_out, shared, found = part(data, others(data.n_rows, test)), data.take(test), shared_by(group), {}
    for method in group:
        network = method.learn(train, own_seed(seed, number), worker, shared)
        losses = column_losses(network, held_out)
        rows = total(losses)
        columns = {column: float(own.mean()) for column, own in losses.items()}
        found[method.name] = _Tested(float(rows.mean()), columns, int(np.isinf(rows).sum()))
    return found
