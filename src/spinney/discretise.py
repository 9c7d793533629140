"""Discretisation: numbers cut into intervals, as a scikit-learn transformer.

In:  a table of numbers (numpy, pandas, polars), and for the method mdl the class of every row.
Out: per column the number of its interval, 0, 1, ...; the thresholds between them in the user's units. A value at a
threshold belongs to the interval above it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from spinney.cuts import quantile_cuts
from spinney.errors import ChoiceError, named
from spinney.limits import whole

if TYPE_CHECKING:
    from spinney.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_METHOD = re.compile(r"\s*(?P<name>[A-Za-z-]+)\s*(?:\((?P<given>.*)\))?\s*", re.DOTALL)
TIE = 1e-12  # of the rows' n log n: sums of the same numbers in another order differ by less


class Discretiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cuts continuous columns into intervals.

    method   "mdl": where the class changes, as long as the description gets shorter (Fayyad and Irani 1993);
             "quantile": about equally many rows in each interval; "width": intervals of equal width
    bins     how many intervals, for quantile and width; equal quantiles make fewer
    columns  the columns to cut, by name or by position; the others stay as they are; None: all

    After fit(X, y), thresholds_ holds the thresholds of every cut column by its name (x0, x1, ... in an array)."""

    def __init__(self, method: str = "mdl", bins: int = 5, columns: Sequence[str | int] | None = None) -> None:
        self.method = method
        self.bins = bins
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Discretiser:
        """Find the thresholds from these rows; y, the classes, is needed by the method mdl."""
        cut = self._way()
        _, values = self._read(X, reset=True)
        classes = self._classes(y, len(values))
        names = [str(name) for name in self.get_feature_names_out()]
        self.thresholds_ = {
            names[at]: cut(np.ascontiguousarray(values[:, i]), classes) for i, at in enumerate(self._places())
        }
        return self

    def transform(self, X: Any) -> Any:
        """The intervals' numbers: an array, or a frame where some columns stay as they are."""
        check_is_fitted(self)
        whole, values = self._read(X, reset=False)
        cuts = list(self.thresholds_.values())
        codes = np.empty(values.shape, np.int64)
        for i, thresholds in enumerate(cuts):
            codes[:, i] = np.searchsorted(thresholds, values[:, i], side="right")
        if self.columns is None:
            return codes
        if isinstance(whole, nw.DataFrame):
            new = [
                nw.new_series(whole.columns[at], codes[:, i], nw.Int64, backend=whole.implementation)
                for i, at in enumerate(self._places())
            ]
            return whole.with_columns(*new).to_native()
        # A narrow type may not hold the numbers of many intervals.
        most = np.min_scalar_type(max(map(len, cuts)))
        out = whole.astype(np.promote_types(whole.dtype, most))
        out[:, self._places()] = codes
        return out

    def _way(self) -> Callable[[Floats, Ints], Floats]:
        ways: dict[str, Callable[[Floats, Ints], Floats]] = {
            "mdl": mdl_thresholds,
            "quantile": lambda values, _: quantile_thresholds(values, self.bins),
            "width": lambda values, _: width_thresholds(values, self.bins),
        }
        if not isinstance(self.method, str) or self.method not in ways:
            raise ChoiceError(f"there is no method {self.method!r}; choose one of {', '.join(ways)}")
        if not whole(self.bins) or self.bins < 1:
            raise ChoiceError(f"bins must be a whole number of at least 1, not {self.bins!r}")
        return ways[self.method]

    def _read(self, X: Any, reset: bool) -> tuple[Any, Floats]:
        """The table as it came, a frame or an array, and the numbers to be cut."""
        if self.columns is None:
            return X, validate_data(self, X, reset=reset, dtype=np.float64)
        whole = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(whole, nw.DataFrame):
            whole = X = check_array(X, dtype=None)
        if isinstance(whole, nw.DataFrame) and not whole.implementation.is_pandas_like():
            self._check_names(whole.columns, reset)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)
        places = self._places()
        chosen = whole[:, places].to_native() if isinstance(whole, nw.DataFrame) else whole[:, places]
        return whole, check_array(chosen, dtype=np.float64, input_name="X", estimator=self)

    def _check_names(self, names: list[str], reset: bool) -> None:
        """scikit-learn before 1.9 reads no names from frames of today's polars and Arrow."""
        if reset:
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        elif names != list(getattr(self, "feature_names_in_", names)) or len(names) != self.n_features_in_:
            raise ChoiceError(
                f"the feature names should match those that were passed during fit; the table has {names[:8]}, and was "
                f"fitted with {list(getattr(self, 'feature_names_in_', ()))[:8]}"
            )

    def named(self) -> list[Any]:
        """What `columns` names, one by one."""
        one = isinstance(self.columns, str) or not isinstance(self.columns, Iterable)
        return [self.columns] if one else list(self.columns or ())

    def _places(self) -> list[int]:
        """Which columns are cut."""
        if self.columns is None:
            return list(range(self.n_features_in_))
        names = list(getattr(self, "feature_names_in_", ()))
        places = []
        for column in self.named():
            if isinstance(column, str) and column in names:
                places.append(names.index(column))
            elif whole(column) and 0 <= column < self.n_features_in_:
                places.append(int(column))
            else:
                known = ", ".join(map(repr, names[:8])) if names else f"0 to {self.n_features_in_ - 1}"
                raise ChoiceError(f"columns names {column!r}, which the table does not have; its columns are {known}")
        if not places or len(set(places)) < len(places):
            raise ChoiceError(f"columns is {self.columns!r}; name at least one column, and none twice")
        return places

    def _classes(self, y: Any, rows: int) -> Ints:
        """Numbers of the classes, where they are read."""
        if self.method != "mdl":
            return np.zeros(rows, np.int64)
        if y is None:
            raise ChoiceError(
                "the method mdl requires y to be passed, but the target y is None; pass y, or use quantile or width"
            )
        given = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_consistent_length(np.empty(rows), given)
        check_classification_targets(given)
        return np.unique(given, return_inverse=True)[1].astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.method == "mdl"
        tags.transformer_tags.preserves_dtype = []
        return tags


def thresholds(data: Dataset, method: str, columns: Iterable[str] | None = None) -> dict[str, tuple[float, ...]]:
    """Where to cut the continuous columns of a Dataset: method is 'quantile(5)', 'width(5)' or 'mdl(target)'."""
    found = _METHOD.fullmatch(method) if isinstance(method, str) else None
    name, given = (found["name"].lower(), found["given"]) if found else ("", None)
    if name not in ("mdl", "fayyad-irani", "quantile", "width"):
        raise ChoiceError(
            f"{named('discretise')} is {method!r}; write 'quantile(5)', 'width(5)' or 'fayyad-irani(target)'"
        )
    continuous = [own for own in data.names if not data.kinds[own].discrete]
    chosen = continuous if columns is None else list(columns)
    for own in chosen:
        data.values(own)  # says what is wrong with a name
    if name in ("quantile", "width"):
        bins = int(given) if given and given.strip().isdigit() else 5 if given is None else 0
        if bins < 1:
            raise ChoiceError(f"{method!r} has no number of intervals; write '{name}(5)'")
        way = quantile_thresholds if name == "quantile" else width_thresholds
        return {own: tuple(way(data.values(own), bins).tolist()) for own in chosen}
    if not given:
        raise ChoiceError(f"{method!r} names no target; write '{name}(target)' with the column that holds the classes")
    target = given if given in data.kinds else given.strip().strip("'\"")
    classes = data.codes(target).astype(np.int64)
    return {own: tuple(mdl_thresholds(data.values(own), classes).tolist()) for own in chosen}


def width_thresholds(values: Floats, bins: int) -> Floats:
    """Equal widths between the smallest and the largest value; none in a constant column."""
    low, high = values.min(), values.max()
    shares = np.arange(1, bins) / bins
    return np.unique(low * (1 - shares) + high * shares) if low < high else np.empty(0)


def quantile_thresholds(values: Floats, bins: int) -> Floats:
    """The quantiles of score ft; one for each way to separate the rows."""
    ordered = np.sort(values)
    cuts = quantile_cuts(ordered, bins)
    below = np.searchsorted(ordered, cuts, side="left")
    parting = (below > 0) & (below < len(ordered))
    return cuts[parting][np.unique(below[parting], return_index=True)[1]]


def mdl_thresholds(values: Floats, classes: Ints) -> Floats:
    """Fayyad and Irani (1993): the cut of least class entropy, if it gains more than it takes to describe; then each
    side again. Rows of equal value are never separated, and a cut between values of one and the same class is never the
    best (their theorem 1)."""
    order = np.argsort(values)
    ordered, own = values[order], classes[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] > ordered[:-1]])  # row of every value
    lowest, highest = np.minimum.reduceat(own, first), np.maximum.reduceat(own, first)
    pure = np.where(lowest == highest, lowest, -1)
    places = first[1:][(pure[1:] != pure[:-1]) | (pure[1:] < 0)]
    n_log_n = np.arange(len(own) + 1, dtype=np.float64)
    n_log_n[1:] *= np.log2(n_log_n[1:])
    found = []
    ranges = [(0, own, _earlier(own), places)]
    while ranges:
        begin, own, earlier, places = ranges.pop()
        cut = _best_cut(own, earlier, places, n_log_n)
        if cut is None:
            continue
        found.append(begin + cut)
        ranges.append((begin, own[:cut], earlier[:cut], places[places < cut]))
        before = np.bincount(own[:cut], minlength=int(own.max()) + 1)
        right = own[cut:]
        ranges.append((begin + cut, right, earlier[cut:] - before[right], places[places > cut] - cut))
    rows = np.sort(np.array(found, np.int64))
    return _between(ordered[rows - 1], ordered[rows])


def _earlier(classes: Ints) -> Ints:
    """How many rows of its own class come before each row."""
    order = np.argsort(classes, kind="stable")
    counts = np.bincount(classes)
    result = np.empty_like(classes)
    result[order] = np.arange(len(classes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return result


def _best_cut(classes: Ints, earlier: Ints, places: Ints, n_log_n: Floats) -> int | None:
    """The row of `places` before which to cut; None where no cut gains.

    Rows times entropy is n log n less the same of every class. Along the rows these grow by one class a time, so a
    running sum does for all cuts, however many classes there are."""
    if len(places) == 0:
        return None
    rows, counts = len(classes), np.bincount(classes)
    growth = np.diff(n_log_n[: rows + 1])
    below = np.cumsum(growth[earlier])[places - 1]
    above = np.cumsum(growth[counts[classes] - 1 - earlier][::-1])[::-1][places]
    after = n_log_n[places] - below + n_log_n[rows - places] - above
    cut = int(places[np.flatnonzero(after <= after.min() + TIE * n_log_n[rows])[0]])
    left = np.bincount(classes[:cut], minlength=len(counts))
    sides = [counts, left, counts - left]
    bits = [float(n_log_n[side.sum()] - n_log_n[side].sum()) for side in sides]
    of_classes = [np.count_nonzero(side) * own / int(side.sum()) for side, own in zip(sides, bits, strict=True)]
    present = int(np.count_nonzero(counts))
    delta = math.log2(3) * present + math.log2(1 - 2 * 3.0**-present) - (of_classes[0] - of_classes[1] - of_classes[2])
    return cut if bits[0] - bits[1] - bits[2] > math.log2(rows - 1) + delta else None


def _between(left: Floats, right: Floats) -> Floats:
    """The middle; where no number lies between them, the right one."""
    middle = left / 2 + right / 2
    return np.where((middle > left) & (middle <= right), middle, right)
