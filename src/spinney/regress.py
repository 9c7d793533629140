"""MARS for scikit-learn: regression and classification by sums of products of hinges.

In:  X (a frame with named columns, categorical ones among them, or an array of numbers) and y.
Out: estimators with fit, predict and score; the basis functions, their coefficients, GCV, importances, a summary and
plots of effects. The fits are those of R's earth, whose rules core/mars.hpp lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.dependencies import is_into_dataframe
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from spinney import _core
from spinney.errors import ChoiceError, DataError
from spinney.hinges import Factor, Floats, Term, importances, repaired, term_text, values_of
from spinney.layout import aligned, shown_number
from spinney.limits import whole
from spinney.table import read_frame

Array = npt.NDArray[Any]
_MOST_DEGREE = 10


class _MARS(BaseEstimator):
    """The base class: from X to columns of numbers, and from a fit of the core to basis functions in the user's
    units."""

    def __init__(
        self,
        degree: int = 1,
        *,
        max_terms: int | None = None,
        penalty: float | None = None,
        threshold: float = 0.001,
        minspan: int = 0,
        endspan: int = 0,
        fast_k: int = 20,
        fast_beta: float = 1.0,
        lines: bool = True,
        prune: bool = True,
        standardise: bool = False,
    ) -> None:
        self.degree = degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.threshold = threshold
        self.minspan = minspan
        self.endspan = endspan
        self.fast_k = fast_k
        self.fast_beta = fast_beta
        self.lines = lines
        self.prune = prune
        self.standardise = standardise

    # --- the way in -------------------------------------------------------------------------------------------------

    def _spec(self) -> _core.MarsSpec:
        for name, least, most in (
            ("degree", 1, _MOST_DEGREE),
            ("minspan", 0, 2**31 - 1),
            ("endspan", 0, 2**31 - 1),
            ("fast_k", 0, 2**31 - 1),
        ):
            value = getattr(self, name)
            if not whole(value) or not least <= value <= most:
                raise ChoiceError(f"{name} is {value!r}; give a whole number from {least} to {most}")
        if self.max_terms is not None and (not whole(self.max_terms) or not 1 <= self.max_terms <= 10_000):
            raise ChoiceError(f"max_terms is {self.max_terms!r}; give a whole number from 1 to 10000, or None")
        if self.penalty is not None and not (self.penalty >= 0 or self.penalty == -1):
            raise ChoiceError(f"penalty is {self.penalty!r}; give a number of at least 0, -1 for none, or None")
        if not 0 <= self.threshold < 1 or not 0 <= self.fast_beta < math.inf:
            raise ChoiceError("threshold must be at least 0 and below 1, and fast_beta a number of at least 0")
        return _core.MarsSpec(
            int(self.degree),
            int(self.max_terms or 0),
            float((3 if self.degree > 1 else 2) if self.penalty is None else self.penalty),
            float(self.threshold),
            int(self.minspan),
            int(self.endspan),
            int(self.fast_k),
            float(self.fast_beta),
            bool(self.lines),
            bool(self.prune),
        )

    def _columns(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Floats:
        """The predictors, one column each: numbers as they are, indicators of all levels but the first."""
        if not (is_into_dataframe(X) or hasattr(X, "collect")):
            values: Floats = check_array(X, dtype=np.float64, input_name="X", estimator=self)
            validate_data(self, X, y, reset=reset, skip_check_array=True)
            if reset:
                self._coding: list[tuple[str, ...] | None] = [None] * values.shape[1]
            elif any(levels is not None for levels in self._coding):
                raise DataError("X is an array of numbers, and was a frame with categorical columns at fit: give one")
            return values
        table = read_frame(X)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        if not hasattr(self, "n_features_in_") or (reset and not hasattr(self, "feature_names_in_")):
            self.feature_names_in_, self.n_features_in_ = np.array(table.names, dtype=object), len(table.names)
        elif not reset and list(table.names) != list(getattr(self, "feature_names_in_", table.names)):
            raise DataError(
                f"the feature names should match those that were passed during fit; the table has {table.names[:8]}"
            )
        if reset:
            self._coding = [_levels(column) for column in table.columns]
        parts = [
            _coded(name, column, levels)
            for name, column, levels in zip(table.names, table.columns, self._coding, strict=True)
        ]
        values = np.column_stack(parts) if parts else np.empty((0, 0))
        checked: Floats = check_array(values, dtype=np.float64, input_name="X", estimator=self)
        return checked

    def _named(self) -> None:
        """The names of the predictors, and the column of X that each comes from."""
        names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(self._coding))]))
        self.predictor_names_: list[str] = []
        self._feature: list[int] = []
        for place, (name, levels) in enumerate(zip(names, self._coding, strict=True)):
            own = [str(name)] if levels is None else [f"[{name} = {level}]" for level in levels[1:]]
            self.predictor_names_ += own
            self._feature += [place] * len(own)

    # --- the fit ----------------------------------------------------------------------------------------------------

    def _fit(self, values: Floats, responses: Floats) -> None:
        """`responses`: one row each."""
        spec = self._spec()
        self._named()
        with np.errstate(over="ignore"):
            half = values / 2
            middle = half.mean(axis=0) if len(values) else np.zeros(values.shape[1])
            spread = np.abs(half - middle).max(axis=0)  # a first unit, so that no square overflows
            spread[spread == 0] = 1.0
            deviation = spread * np.sqrt((((half - middle) / spread) ** 2).mean(axis=0))
        deviation[deviation == 0] = 1.0
        mean, scale = 2 * middle, 2 * deviation
        standard = (half - middle) / deviation
        size = float(np.abs(responses).max()) or 1.0
        origins = np.zeros_like(mean) if self.standardise else -middle / deviation
        units = np.ones_like(scale) if self.standardise else scale
        terms, selected, coefficients, subsets, rss, gcv, total, ended = _core.fit_mars(
            spec,
            np.ascontiguousarray(standard.T),
            np.ascontiguousarray(responses / size),
            origins.tolist(),
            units.tolist(),
        )
        self._mean, self._scale, self._rows = mean, scale, len(values)
        line = mean if self.standardise else np.zeros_like(mean)
        own: list[Term] = [
            tuple(Factor(c, d, float(line[c] if d == 0 else values[row, c])) for c, d, row in term) for term in terms
        ]
        self.forward_basis_ = tuple(own)
        self.basis_ = tuple(own[place] for place in selected)
        per_unit = np.array([math.prod((scale[factor.column] for factor in term), start=1.0) for term in self.basis_])
        with np.errstate(over="ignore", invalid="ignore"):
            self.coef_ = np.array(coefficients).T / per_unit[:, None] * size
            self.rss_ = float(rss[len(selected) - 1] * size**2)
            self.gcv_ = float(gcv[len(selected) - 1] * size**2)
        alone = gcv[0]
        self.rsq_ = 1 - rss[len(selected) - 1] / total if total > 0 else 0.0
        self.grsq_ = 1 - gcv[len(selected) - 1] / alone if 0 < alone < math.inf else 0.0
        self.ended_ = ended
        found = importances(own, subsets, gcv, len(selected))
        by_feature = np.zeros(len(self._coding))
        for column, gain in enumerate(found):
            by_feature[self._feature[column]] += gain
        whole_gain = by_feature.sum()
        self.feature_importances_ = by_feature / whole_gain if whole_gain > 0 else by_feature

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "basis_")

    def _fitted(self, X: Any) -> Floats:
        check_is_fitted(self)
        values = self._columns(X, reset=False)
        basis = values_of(self.basis_, list(values.T), len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            fitted: Floats = np.nan_to_num(basis @ self.coef_)
        return fitted

    # --- words and pictures -----------------------------------------------------------------------------------------

    def _responses(self) -> list[str]:
        return [f"y{i}" for i in range(self.coef_.shape[1])] if self.coef_.shape[1] > 1 else ["y"]

    def summary(self) -> str:
        """The basis functions with their coefficients, the figures of the fit, and what matters."""
        check_is_fitted(self)
        texts = [term_text(term, self.predictor_names_, self._scale) for term in self.basis_]
        rows = [["", *self._responses()]]
        for text, own in zip(texts, self.coef_, strict=True):
            rows.append([text, *(shown_number(float(value), 0.0) for value in own)])
        names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(self._coding))]))
        ranked = sorted(range(len(names)), key=lambda i: -self.feature_importances_[i])
        matter = [f"{names[i]} {self.feature_importances_[i]:.2f}" for i in ranked if self.feature_importances_[i] > 0]
        return "\n".join(
            [
                *aligned(rows, head=True),
                "",
                f"{len(self.basis_)} of {len(self.forward_basis_)} terms, {self._rows:,} rows; GCV {self.gcv_:.6g}, "
                f"RSS {self.rss_:.6g}, R2 {self.rsq_:.4f}, GR2 {self.grsq_:.4f}",
                f"forward pass: {self.ended_}",
                f"importances: {', '.join(matter) or 'none'}",
            ]
        )

    def plot(self, response: int = 0) -> Any:
        """A matplotlib figure: the effect of every predictor alone, then of every two that interact. Others are not
        held at a value: an effect is the sum of the terms in exactly these predictors."""
        check_is_fitted(self)
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ChoiceError("plot() needs matplotlib: install spinney[plot]") from None
        if not whole(response) or not 0 <= response < self.coef_.shape[1]:
            raise ChoiceError(f"there is no response {response!r}; give a number from 0 to {self.coef_.shape[1] - 1}")
        alone = sorted({term[0].column for term in self.basis_ if len(term) == 1})
        pairs = sorted({pair for term in self.basis_ for pair in combinations(sorted(f.column for f in term), 2)})
        panels = len(alone) + len(pairs) or 1
        across = min(3, panels)
        down = -(-panels // across)
        figure = Figure(figsize=(4 * across, 3 * down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for axis in axes[len(alone) + len(pairs) :]:
            axis.set_axis_off()
        for axis, column in zip(axes, alone, strict=False):
            line = self._grid(column, 200)
            axis.plot(line, self._effect({column}, {column: line}, response))
            axis.set_xlabel(self.predictor_names_[column])
            axis.set_ylabel("effect")
        for axis, (first, second) in zip(axes[len(alone) :], pairs, strict=False):
            x, y = np.meshgrid(self._grid(first, 60), self._grid(second, 60))
            effect = self._effect({first, second}, {first: x.ravel(), second: y.ravel()}, response)
            drawn = axis.pcolormesh(x, y, effect.reshape(x.shape), shading="gouraud")
            figure.colorbar(drawn, ax=axis)
            axis.set_xlabel(self.predictor_names_[first])
            axis.set_ylabel(self.predictor_names_[second])
        return figure

    def _grid(self, column: int, points: int) -> Floats:
        middle, spread = self._mean[column], self._scale[column]
        return np.linspace(middle - 2.5 * spread, middle + 2.5 * spread, points)

    def _effect(self, columns: set[int], at: dict[int, Floats], response: int) -> Floats:
        chosen = [i for i, term in enumerate(self.basis_) if {factor.column for factor in term} == columns]
        n_rows = len(next(iter(at.values())))
        given = [at.get(column, np.empty(0)) for column in range(len(self.predictor_names_))]
        effect: Floats = values_of([self.basis_[i] for i in chosen], given, n_rows) @ self.coef_[chosen, response]
        return effect


class MARSRegressor(MultiOutputMixin, RegressorMixin, _MARS):
    """Multivariate adaptive regression splines (Friedman 1991), fitted as R's earth fits them.

    degree: most hinges in a product; 1 for an additive model.
    max_terms: of the forward pass; None: min(200, max(20, twice the predictors)) + 1.
    penalty: of a knot in GCV; None: 3, or 2 for degree 1; 0 counts terms only; -1: GCV is the mean square.
    threshold: the forward pass ends where R2 gains less, or is above 1 less this; 0: neither ends it.
    minspan, endspan: rows between knots, and beyond the outer ones; 0: by Friedman's formulas.
    fast_k, fast_beta: how many parent terms are searched in a step (0: all), and how fast others come back.
    lines: a predictor in which no knot helps enters as it is; False: as a hinge at its smallest value.
    prune: False: keep all terms of the forward pass.
    standardise: earth's rules for lines look at the units and the origin of a column; True: at standard units instead,
        so that shifting or scaling columns changes nothing.

    y may have several columns; they share their basis functions. Of a frame, text, truth values and categories are
    taken by indicators of all levels but the first, ordered categories by their number.

    After fit: basis_ (terms as tuples of Factor), coef_ (per term and response), gcv_, rss_, rsq_, grsq_,
    feature_importances_, forward_basis_, predictor_names_; summary() and plot()."""

    def fit(self, X: Any, y: Any) -> MARSRegressor:
        """Fit the model of y given X."""
        if y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        values = self._columns(X, y, reset=True)
        target = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", estimator=self)
        check_consistent_length(values, target)
        self._flat = target.ndim == 1 or target.shape[1] == 1
        if target.ndim == 2 and self._flat:
            target = column_or_1d(target, warn=True)
        self._fit(values, np.atleast_2d(target.T))
        return self

    def predict(self, X: Any) -> Floats:
        """The fitted value of every row; with several responses, a column each."""
        fitted = self._fitted(X)
        return fitted[:, 0] if self._flat else fitted


class MARSClassifier(ClassifierMixin, _MARS):
    """Classes by regression of their indicators on common basis functions, as MARSRegressor does it.

    Two classes have one indicator. Fitted values become probabilities: those below 1/rows are raised to it, and all are
    divided by their sum. The parameters and attributes are those of MARSRegressor, and classes_."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    def fit(self, X: Any, y: Any) -> MARSClassifier:
        """Fit the model of the classes y given X."""
        if y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        values = self._columns(X, y, reset=True)
        labels = column_or_1d(check_array(y, input_name="y", ensure_2d=False, dtype=None), warn=True)
        check_consistent_length(values, labels)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        asked = range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))
        self._fit(values, np.array([codes == level for level in asked], dtype=np.float64))
        return self

    def _responses(self) -> list[str]:
        named = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [str(label) for label in named]

    def predict_proba(self, X: Any) -> Floats:
        """The probability of every class, one column per entry of classes_; positive, with sum 1."""
        fitted = self._fitted(X)
        if len(self.classes_) == 2:
            fitted = np.column_stack([1 - fitted[:, 0], fitted[:, 0]])
        return repaired(fitted, self._rows)

    def predict(self, X: Any) -> Array:
        """The most probable class of every row, among equals the first of classes_."""
        best = self.predict_proba(X).argmax(axis=1)
        chosen: Array = self.classes_[best]
        return chosen


# --- columns of frames ----------------------------------------------------------------------------------------------


def _levels(column: pa.ChunkedArray) -> tuple[str, ...] | None:
    """Of a column that is taken by its levels; None: it is taken as numbers."""
    kind = column.type
    if pa.types.is_dictionary(kind) and not kind.ordered:
        known = column.unify_dictionaries().chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())
        return tuple(map(str, known.to_pylist()))
    if pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return tuple(sorted(map(str, pc.unique(column.drop_null()).to_pylist())))
    return None


def _coded(name: str, column: pa.ChunkedArray, levels: Sequence[str] | None) -> Floats:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise DataError(
            f"column {name!r}, row {row + 1}: the value is missing (NaN); fill it in, or leave the row out of the table"
        )
    if levels is None:
        if pa.types.is_dictionary(column.type):
            codes = column.unify_dictionaries().chunk(0).indices if column.num_chunks else pa.array([], pa.int32())
            numbers: Floats = codes.to_numpy(zero_copy_only=False).astype(np.float64)[:, None]
            return numbers
        try:
            numbers = column.cast(pa.float64()).to_numpy().astype(np.float64)[:, None]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            what = f"column {name!r} is of type {column.type}, which is no number; convert it, or leave it out"
            raise DataError(what) from None
        return numbers
    texts = np.array([str(value) for value in column.to_pylist()], dtype=object)
    unknown = np.flatnonzero(~np.isin(texts, np.array(levels, dtype=object)))
    if len(unknown):
        row = int(unknown[0])
        raise DataError(f"column {name!r}, row {row + 1}: {texts[row]!r} was not there at fit; correct it or fit again")
    indicators: Floats = np.array([texts == level for level in levels[1:]], dtype=np.float64).reshape(-1, len(texts)).T
    return indicators
