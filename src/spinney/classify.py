"""Classifiers for scikit-learn: naive Bayes, TAN, and the class as one more variable of any network.

In:  X (a pandas, polars or Arrow frame, a Dataset, or an array) and the classes y.
Out: estimators with fit, predict, predict_proba and score. The fitted Network is network_, the class in it target_.
A row is classified by the posterior of the class given all attributes (predict.py). A level that was not there at fit
has no probabilities: the families that hold it are left out, so there is always an answer, never a NaN."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from narwhals.dependencies import is_into_dataframe
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from spinney.catalog import AUTO, Score, choose_score
from spinney.choices import Choice
from spinney.constraints import Constraints
from spinney.dataset import Data, Dataset, as_dataset
from spinney.discretise import Discretiser
from spinney.errors import ChoiceError
from spinney.evaluate.accuracies import check_classes, numbered
from spinney.kinds import KINDS, Categorical, Kind, interval_codes, intervals, level_text
from spinney.learn import find, fit, fit_found
from spinney.limits import whole
from spinney.network import Network
from spinney.reading import Kinds, Reading
from spinney.scores import resolved
from spinney.search import Found
from spinney.table import read_frame

Array = npt.NDArray[Any]
Cuts = dict[str, tuple[float, ...]]
Plan = dict[str, Any]


class _ScoreOrMethod:
    """Two things are called score: spinney's parameter, and scikit-learn's method for the mean accuracy. Setting it
    sets the parameter, which get_params() and vars() show; reading it gives the method."""

    def __get__(self, estimator: Any, owner: type) -> Any:
        return ClassifierMixin.score if estimator is None else ClassifierMixin.score.__get__(estimator)

    def __set__(self, estimator: Any, value: str | Choice) -> None:
        vars(estimator)["score"] = value


class _Classifier(ClassifierMixin, BaseEstimator):
    """The base class: from X and y to a fitted network, and from rows to classes."""

    score = _ScoreOrMethod()
    usual_score: ClassVar[str]  # what 'auto' stands for
    discretise: str | Discretiser | None
    kinds: Kinds

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {**super().get_params(deep), "score": vars(self)["score"]}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any) -> _Classifier:
        """Learn the network of the attributes X and the classes y."""
        columns, labels = self._checked(X, y)
        kinds = self.kinds
        if isinstance(kinds, str) and kinds in KINDS:  # one word for all
            kinds = dict.fromkeys(columns, kinds)
        # A kinds file may be that of the whole table, the class included.
        named = isinstance(X, Dataset) and kinds is None
        absent = not isinstance(kinds, Mapping)
        # Columns are known by their position later, and rows belong to y: all stay.
        reading = Reading.of(kinds, ignore_absent=absent, keep_all=True, missing="refuse")
        data = X if named else as_dataset(columns, reading)
        return self._fit(data, _target_name(y, data.names), labels)

    def fit_dataset(self, data: Data, target: str) -> _Classifier:
        """The same from one table, in which the class is the column `target`. A Dataset keeps its kinds."""
        data = as_dataset(data)
        check_classes(data, target)
        labels = np.array(data.levels(target), dtype=object)[data.codes(target)]
        attributes = data.select(name for name in data.names if name != target)
        self._columns(attributes, labels, reset=True)
        return self._fit(attributes, target, labels)

    def _fit(self, data: Dataset, target: str, labels: Array) -> _Classifier:
        self.target_ = target
        self.classes_, codes = numbered(labels)
        cuts = self._cuts(data, codes)
        levels = Categorical([level_text(label) for label in self.classes_.tolist()])
        joined = _joined(data, cuts, self.target_, levels, codes)
        network, graph = self._learned(joined)
        self.network_ = Network(
            network.kinds,
            network.models,
            plan={
                **(network.plan or {}),
                **graph,
                "classifier": type(self).__name__,
                "target": self.target_,
                **({"cut_columns": sorted(cuts)} if cuts else {}),
            },
            score=network.score,
            data=network.data,
            cuts=cuts,
        )
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """P(class | attributes) per row, one column per entry of classes_."""
        check_is_fitted(self)
        names = [name for name in self.network_.names if name != self.target_]
        # By position, as everywhere in scikit-learn: an array has no names, and of a frame they have been compared.
        columns = dict(zip(names, self._columns(X, reset=False).values(), strict=True))
        return self.network_.predict_proba(columns, self.target_, unseen="allow")

    def predict(self, X: Any) -> Array:
        """The most probable class of each row, among equals the first of classes_."""
        best = self.predict_proba(X).argmax(axis=1)
        chosen: Array = self.classes_[best]
        return chosen

    @abstractmethod
    def _learned(self, data: Dataset) -> tuple[Network, Plan]:
        """The network over the attributes and, called target_, the class; and what its plan is to say of the graph."""

    @property
    def _score(self) -> str | Choice:
        """The score, where it is left to 'auto' the usual one of the model."""
        given: str | Choice = vars(self)["score"]
        return self.usual_score if isinstance(given, str) and given.strip().lower() == AUTO.name else given

    def _scores(self) -> list[str | Choice]:
        """The scores that read the table."""
        given = (self._score, getattr(self, "parameters", None))
        return [score for score in given if score is not None]

    def _checked(self, X: Any, y: Any) -> tuple[dict[str, Any], Array]:
        """The columns of X, and the classes, one per row, none missing."""
        columns = self._columns(X, y, reset=True)
        labels = column_or_1d(check_array(y, input_name="y", ensure_2d=False, dtype=None), warn=True)
        check_consistent_length(*columns.values(), labels)
        numbered(labels)  # scikit-learn sorts them too, but has no clear message for classes that cannot be sorted
        check_classification_targets(labels)
        return columns, labels

    def _columns(self, X: Any, y: Any = "no_validation", *, reset: bool) -> dict[str, Any]:
        """The columns of X by name; names and number are checked as everywhere in scikit-learn."""
        if isinstance(X, Dataset):
            X = X.to_arrow()
        elif isinstance(X, Mapping):
            X = pa.table(_by_name(X))
        if is_into_dataframe(X) or hasattr(X, "collect"):  # a lazy frame is refused with a message of our own
            columns = _by_name(X)
        else:
            values = check_array(X, input_name="X", dtype=None, estimator=self)
            columns = {f"x{place}": column for place, column in enumerate(values.T)}
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        return columns

    def _cuts(self, data: Dataset, codes: Array) -> Cuts:
        """The thresholds of the continuous columns, if they are to be cut."""
        continuous = [name for name in data.names if not data.kinds[name].discrete]
        method = self.discretise
        if isinstance(method, str) and method == "auto":
            scores = [choose_score(given).entry for given in self._scores()]
            method = None if all("continuous" in cast(Score, entry).kinds for entry in scores) else "mdl"
        if method is None or not continuous:
            return {}
        if not isinstance(method, (str, Discretiser)):
            raise ChoiceError(
                f"discretise is {method!r}; name a method such as 'mdl', give a Discretiser, or give None for no cuts"
            )
        cutter = Discretiser(method) if isinstance(method, str) else clone(method)
        if cutter.columns is not None:  # positions are those of X, not those of its continuous columns
            places = dict(enumerate(data.names))
            cutter.columns = [places.get(given, given) if whole(given) else given for given in cutter.named()]
        cutter.fit(data.select(continuous).to_arrow(), codes)
        return {name: tuple(map(float, cuts)) for name, cuts in cutter.thresholds_.items()}


class NaiveBayesClassifier(_Classifier):
    """Attributes that are independent given the class; in the network the class is the only parent of all others.

    score: the score of the tables (Bayesian scores: posterior means); 'auto' is bd. With pcart or ft columns of any
        kind stay as they are; a continuous one has a Student t in each class.
    discretise: how continuous columns are cut into intervals, on the rows of fit: a method of Discretiser or one of
        your own; None: not at all; 'auto': by 'mdl' where the score is for discrete columns only.
    kinds: what the columns of X are, as in Dataset.from_frame, or one word for all of them.
    n_jobs, random_state: no effect; there so that all estimators take the same parameters."""

    usual_score = "bd"

    def __init__(
        self,
        score: str | Choice = "auto",
        *,
        discretise: str | Discretiser | None = "auto",
        kinds: Kinds = None,
        n_jobs: int | None = -1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.score = score
        self.discretise = discretise
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned(self, data: Dataset) -> tuple[Network, Plan]:
        attributes = [name for name in data.names if name != self.target_]
        return fit(data, dict.fromkeys(attributes, (self.target_,)), self._score), {}


class TANClassifier(_Classifier):
    """Naive Bayes with a tree among the attributes: the best one by the score (Friedman, Geiger and Goldszmidt 1997).

    score: decides the tree; 'auto' is fnml.
    parameters: the score of the tables; None: the same if it is Bayesian, else bd (alpha 0.5), since relative
        frequencies ('ll') give probability 0 to everything that the rows of fit do not contain.
    forest: leave out edges that lower the score.
    discretise, kinds: as in NaiveBayesClassifier.
    n_jobs: threads; the answer is the same.
    random_state: no effect, since a TAN uses no random numbers; there so that both take the same parameters."""

    usual_score = "fnml"

    def __init__(
        self,
        score: str | Choice = "auto",
        *,
        parameters: str | Choice | None = None,
        forest: bool = False,
        discretise: str | Discretiser | None = "auto",
        kinds: Kinds = None,
        n_jobs: int | None = -1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.score = score
        self.parameters = parameters
        self.forest = forest
        self.discretise = discretise
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned(self, data: Dataset) -> tuple[Network, Plan]:
        score = self._score
        self.found_: Found = find(
            data, score, search="tan", n_jobs=_threads(self.n_jobs), target=self.target_, forest=self.forest
        )
        return _fitted(data, self.found_, score, self.parameters)


class NetworkClassifier(_Classifier):
    """The class as one more variable of a network that is learned as any other.

    score, search, prior, max_parents, constraints, time_limit: as in learn(), but that the score 'auto' is bdeu, with
        continuous columns cut; the class has the name of y, or 'class'.
    parameters, discretise, kinds, n_jobs: as in TANClassifier.
    random_state: the seed of the search, or a generator to draw it from."""

    usual_score = "bdeu"

    def __init__(
        self,
        score: str | Choice = "auto",
        search: str | Choice = "auto",
        *,
        prior: str | Choice = "uniform",
        max_parents: int | None = 3,
        constraints: Constraints | None = None,
        time_limit: float | None = None,
        parameters: str | Choice | None = None,
        discretise: str | Discretiser | None = "auto",
        kinds: Kinds = None,
        n_jobs: int | None = -1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.score = score
        self.search = search
        self.prior = prior
        self.max_parents = max_parents
        self.constraints = constraints
        self.time_limit = time_limit
        self.parameters = parameters
        self.discretise = discretise
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned(self, data: Dataset) -> tuple[Network, Plan]:
        score = self._score
        self.found_: Found = find(
            data,
            score,
            self.prior,
            self.search,
            self.max_parents,
            self.constraints,
            time_limit=self.time_limit,
            n_jobs=_threads(self.n_jobs),
            seed=_seed(self.random_state),
        )
        return _fitted(data, self.found_, score, self.parameters, self.prior)


MODELS = {"naive-bayes": NaiveBayesClassifier, "tan": TANClassifier, "network": NetworkClassifier}


def _fitted(
    data: Dataset,
    found: Found,
    score: str | Choice,
    parameters: str | Choice | None,
    prior: str | Choice = "uniform",
) -> tuple[Network, Plan]:
    """The graph with its tables; the plan names the score of the graph and the score of the tables."""
    chosen = resolved(data, score)
    graph = {"score": str(chosen), "search": found.method, "value": found.score}
    if parameters is None and cast(Score, chosen.entry).bayesian:
        return fit_found(data, found, chosen, prior), {"graph": graph}
    return fit(data, found.parents, "bd" if parameters is None else parameters), {"graph": graph}


def _by_name(frame: Any) -> dict[str, pa.ChunkedArray]:
    table = read_frame(frame)
    return dict(zip(table.names, table.columns, strict=True))


def _target_name(y: Any, names: tuple[str, ...]) -> str:
    """The name of the class in the network: that of y, if it has one that is free."""
    own = getattr(y, "name", None)
    name = own if isinstance(own, str) and own.strip() and own not in names else "class"
    while name in names:
        name += "_"
    return name


def _joined(data: Dataset, cuts: Cuts, target: str, levels: Kind, codes: Array) -> Dataset:
    """The attributes, continuous ones cut where there are cuts, and the class."""
    kinds: dict[str, Kind] = {target: levels}
    columns: dict[str, Array] = {target: codes}
    for name in data.names:
        if name in cuts:
            kinds[name], columns[name] = intervals(cuts[name]), interval_codes(data.values(name), cuts[name])
        else:
            kinds[name] = data.kinds[name]
            columns[name] = data.codes(name) if kinds[name].discrete else data.values(name)
    return Dataset.from_columns(kinds, columns, standardise=data.standardise)


def _threads(n_jobs: int | None) -> int:
    return 1 if n_jobs is None else n_jobs  # None is one in scikit-learn


def _seed(random_state: int | np.random.RandomState | None) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
