"""The accuracy of a classifier on rows that it was not fitted to.

In:  an estimator, or the score of a TAN; a table with the class among its columns.
Out: Accuracy, by stratified folds or on rows that are held out, with a 95 % interval.
The interval is Wilson's (1927), from the number of test rows and how many of them were right; each row is tested once.
It holds for the rows of one test set. With folds the classifiers share most of their rows, so it is a little too narrow
there, as is every interval from folds (Bengio and Grandvalet 2004)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spinney.choices import Choice
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, DataError, way
from spinney.kinds import Continuous
from spinney.limits import check_limits, whole
from spinney.table import read_frame

Rows = npt.NDArray[np.int64]

_Z = 1.959963984540054  # the normal quantile that leaves 2.5 % above


@dataclass(frozen=True)
class Accuracy:
    """The share of test rows whose class was predicted."""

    correct: int
    rows: int  # that were tested, each once
    folds: tuple[float, ...]  # the share within each fold; held-out rows are one fold

    @property
    def mean(self) -> float:
        return self.correct / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for a share."""
        share, weight = self.mean, _Z**2 / self.rows
        centre = (share + weight / 2) / (1 + weight)
        half = _Z / (1 + weight) * math.sqrt(share * (1 - share) / self.rows + weight / (4 * self.rows))
        return max(0.0, centre - half), min(1.0, centre + half)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "mean": self.mean, "interval": list(self.interval)}

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.mean:.4f} ({self.correct:,} of {self.rows:,} rows; 95 % interval {low:.4f} to {high:.4f})"


def accuracy(
    model: Any,
    data: Any,
    target: str,
    *,
    folds: int = 10,
    holdout: float | npt.ArrayLike | None = None,
    seed: int = 0,
) -> Accuracy:
    """The accuracy of a classifier on rows that it has not seen.

    model: any scikit-learn classifier, or a score, which stands for TANClassifier(score).
    data: a Dataset, whose kinds and ranges our own classifiers keep, or a frame; target: its column with the classes.
    folds: every row is tested once, by a classifier fitted to the other folds; classes are spread evenly.
    holdout: instead of folds, the share of the rows to test on (drawn evenly from each class), or their positions."""
    from sklearn.base import clone  # a second to import

    check_limits(None, seed)
    attributes: nw.DataFrame[Any] | Dataset
    attributes, classes = _split(data, target)
    if isinstance(model, (str, Choice)):
        from spinney.classify import TANClassifier

        model = TANClassifier(model)
    elif isinstance(model, type) or not hasattr(model, "get_params"):
        raise ChoiceError(f"model is {model!r}; give a scikit-learn classifier such as TANClassifier(), or a score")
    if isinstance(data, Dataset) and hasattr(model, "fit_dataset"):  # it knows what a frame cannot say
        attributes = data.select(name for name in data.names if name != target)
    correct, shares, tested = 0, [], 0
    for test in _tests(classes, folds, holdout, seed):
        known = np.ones(len(classes), dtype=bool)
        known[test] = False
        fitted = clone(model).fit(_rows(attributes, np.flatnonzero(known)), classes[known])
        right = int((fitted.predict(_rows(attributes, test)) == classes[test]).sum())
        correct, tested = correct + right, tested + len(test)
        shares.append(right / len(test))
    return Accuracy(correct, tested, tuple(shares))


def numbered(classes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The classes in order, and the number of each row's class."""
    try:
        levels, numbers = np.unique(classes, return_inverse=True)
    except TypeError:
        raise DataError(
            "the classes have several types, or some are missing; make all of them text, or drop such rows"
        ) from None
    return levels, numbers.astype(np.int64)


def check_classes(data: Dataset, target: str) -> None:
    """Refuse a table in which `target` cannot be a class that the other columns predict."""
    if isinstance(data.kinds.get(target), Continuous):
        raise DataError(
            f"column {target!r} is continuous and cannot be a class",
            way("pass {} if its numbers are classes", "kinds", {target: "categorical"}),
            "name a column of levels",
        )
    data.levels(target)  # says so if there is no such column
    _check_attributes(data.names, target)


def _check_attributes(names: Sequence[str], target: str) -> None:
    if len(names) == 1:
        raise DataError(f"the table has no column besides the class {target!r}; give at least one attribute")


def _split(data: Any, target: str) -> tuple[nw.DataFrame[Any], npt.NDArray[Any]]:
    """The attributes, and the class of each row."""
    if isinstance(data, Dataset):
        check_classes(data, target)
        data = data.to_arrow()
    elif isinstance(data, Mapping):
        table = read_frame(data)
        data = pa.table(dict(zip(table.names, table.columns, strict=True)))
    try:
        frame = nw.from_native(data, eager_only=True)
    except (TypeError, nw.exceptions.NarwhalsError):
        read_frame(data)  # says why, in a sentence
        raise
    if target not in frame.columns:
        raise DataError(
            f"there is no column {target!r} to predict; the columns are {', '.join(map(repr, frame.columns[:8]))}"
        )
    _check_attributes(frame.columns, target)
    missing = np.flatnonzero(frame[target].is_null().to_numpy())
    if len(missing):
        raise DataError(f"column {target!r}, row {missing[0] + 1}: the class is missing; fill it in, or drop the row")
    return frame.drop(target), frame[target].to_numpy()


def _rows(attributes: nw.DataFrame[Any] | Dataset, rows: Rows) -> Any:
    return attributes.take(rows) if isinstance(attributes, Dataset) else attributes[rows].to_native()


def _tests(classes: npt.NDArray[Any], folds: int, holdout: float | npt.ArrayLike | None, seed: int) -> Iterator[Rows]:
    """The rows to test on, once or per fold: at least one, and not all."""
    n = len(classes)
    if holdout is not None and not isinstance(holdout, Real):
        given = np.asarray(holdout)
        test = (
            np.unique(given.astype(np.int64)) if given.ndim == 1 and given.dtype.kind in "iu" else np.empty(0, np.int64)
        )
        if not 0 < len(test) < n or test[0] < 0 or test[-1] >= n:
            raise ChoiceError(
                f"holdout must be a share between 0 and 1, or positions of test rows, whole numbers between 0 and "
                f"{n - 1}, some but not all of them"
            )
        yield test
        return
    # In order of class, and by chance within one: distributed from there, every class is spread evenly.
    order = np.random.default_rng(seed % 2**64).permutation(n)
    order = order[np.argsort(numbered(classes)[1][order], kind="stable")]
    if holdout is None:
        if not whole(folds) or not 2 <= folds <= n:
            raise ChoiceError(f"folds must be a whole number from 2 to the number of rows, {n:,}, not {folds!r}")
        for fold in range(folds):
            yield np.sort(order[fold::folds])
        return
    share = float(holdout)
    steps = np.floor(np.arange(n + 1) * share)
    test = np.sort(order[steps[1:] > steps[:-1]])
    if not 0 < share < 1 or len(test) == 0:
        raise ChoiceError(f"holdout must be a share between 0 and 1 that leaves rows to test on, not {holdout!r}")
    yield test
