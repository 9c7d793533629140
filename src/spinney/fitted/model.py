"""The base class of fitted local models.

In:  rows of data, or rows that a network has drawn so far.
Out: LocalModel, all that a network asks of a model; Columns, rows in the codes and units of a model."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError, DataError
from spinney.kinds import Kind, Unseen
from spinney.layout import ROWS

if TYPE_CHECKING:
    from spinney.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.integer] | Floats  # a column: codes if it is discrete, values in the user's units if not
Levels = tuple[str, ...] | None  # of a column; None: it is continuous


class Columns:
    """Columns of level codes or values that follow the kinds of a model. REQUIRES: all columns have n_rows entries."""

    def __init__(self, n_rows: int, columns: Mapping[str, Numbers]) -> None:
        self.n_rows = n_rows
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Numbers:
        return self._columns[name]

    def codes(self, name: str) -> NDArray[np.integer]:
        """REQUIRES: the column is discrete."""
        return cast(NDArray[np.integer], self._columns[name])

    def values(self, name: str) -> Floats:
        """REQUIRES: the column is continuous."""
        return cast(Floats, self._columns[name])

    def put(self, name: str, column: Numbers) -> None:
        self._columns[name] = column

    def known(self, names: Iterable[str]) -> Ints | slice:
        """The rows in which none of these discrete columns has the code -1, a level that the model does not know."""
        unknown = [codes < 0 for codes in map(self.codes, names) if codes.dtype.kind == "i" and (codes < 0).any()]
        return np.flatnonzero(~np.logical_or.reduce(unknown)) if unknown else slice(None)

    def take(self, rows: Ints | slice, names: Iterable[str]) -> Columns:
        """Some rows of some columns."""
        columns = {name: self._columns[name][rows] for name in names}
        return Columns(self.n_rows if isinstance(rows, slice) else len(rows), columns)

    def replaced(self, name: str, value: int | float) -> Columns:
        """The same columns, with `name` at one code or value in every row."""
        return Columns(self.n_rows, {**self._columns, name: np.broadcast_to(np.asarray(value), (self.n_rows,))})


def align(data: Dataset | Columns, levels: Mapping[str, Levels], *, unseen: Unseen = "refuse") -> Columns:
    """The columns named in `levels`; codes are translated BY NAME into these levels, continuous values stay.

    unseen: levels of the data that are not among these are refused, or have the code -1."""
    if isinstance(data, Columns):
        return data
    return Columns(data.n_rows, {name: _translated(data, name, wanted, unseen) for name, wanted in levels.items()})


def _translated(data: Dataset, name: str, wanted: Levels, unseen: Unseen) -> Numbers:
    if name not in data.kinds:
        raise DataError(f"column {name!r} is missing from the data; the network needs it: add the column")
    if data.kinds[name].discrete != (wanted is not None):
        known = "is continuous" if wanted is None else f"has {len(wanted)} levels"
        raise DataError(
            f"column {name!r} is {data.kinds[name].word} in the data and {known} in the network: "
            f"read it with Dataset.read(path, kinds=network.accepts)"
        )
    if wanted is None:
        return data.values(name)
    levels, codes = data.levels(name), data.codes(name)
    if levels == wanted:
        return codes
    place = {level: code for code, level in enumerate(wanted)}
    translation = np.array([place.get(level, -1) for level in levels], dtype=np.int64)
    translated: NDArray[np.integer] = translation[codes]
    unknown = np.flatnonzero(translated < 0)
    if len(unknown) and unseen == "refuse":
        row = int(unknown[0])
        raise DataError(
            f"column {name!r}, row {row + 1}: {levels[int(codes[row])]!r} is not a level the network knows "
            f"({some(wanted)}): correct the value, leave the row out, or learn the network with this level"
        )
    return translated


def some(names: tuple[object, ...]) -> str:
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")


@dataclass(frozen=True)
class Diagram:
    """A picture of a model: boxes in order, each with its words and whether it is an end; and arrows between them."""

    boxes: tuple[tuple[str, bool], ...]
    arrows: tuple[tuple[int, int, str], ...]  # from, to, words


class LocalModel(ABC):
    """P(child | parents), fitted: all that a network asks of a model.

    A subclass sets `word`, holds child, parents and score, and defines the abstract methods and __eq__ (two networks
    are equal if their models are). In addition, a child with levels needs conditional(), and a continuous one mean()
    and spread(). The rest has a default that is right for every model. sp.register(cls) makes a model from outside the
    package known to files."""

    word: ClassVar[str]  # the type of the model, in files and messages

    # What a subclass holds; declared as properties because no model changes.
    if TYPE_CHECKING:

        @property
        def child(self) -> str: ...

        @property
        def parents(self) -> tuple[str, ...]: ...

        @property
        def score(self) -> float | None: ...

    @property
    @abstractmethod
    def family(self) -> dict[str, Levels]:
        """The child, then the parents, with their levels."""

    def fits(self, name: str, kind: Kind) -> bool:
        """Whether a member of the family is of this kind here too."""
        return getattr(kind, "levels", None) == self.family[name]

    # --- probabilities ----------------------------------------------------------------------------------------------

    @abstractmethod
    def log_prob(self, data: Dataset | Columns) -> Floats:
        """The natural log of the child's probability, or density in the user's units, given the parents, per row.

        -inf where it is 0, never NaN; a continuous child or parent may have any finite value."""

    def log_prob_at_each(self, columns: Columns, parent: str) -> Floats:
        """log_prob with a discrete parent at each of its levels in turn, one column per level."""
        levels = self.family[parent]
        assert levels is not None
        return np.column_stack([self.log_prob(columns.replaced(parent, code)) for code in range(len(levels))])

    @abstractmethod
    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Numbers:
        """A code or a finite value per row, drawn given the parents of the row."""

    def conditional(self, data: Dataset | Columns) -> Floats:
        """P(level | parents of the row), one column per level."""
        raise ChoiceError(self._cannot("conditional()", discrete=True, other="mean()"))

    def mean(self, data: Dataset | Columns) -> Floats:
        """The mean of the child given the parents of the row, in the user's units; its centre, where it has no mean."""
        raise ChoiceError(self._cannot("mean()", discrete=False, other="conditional()"))

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        """Where a continuous child lies given the parents of the row: a centre, and a scale above 0; in the user's
        units.

        For a Student t its location and scale, for a normal its mean and standard deviation. The posterior of the child
        is integrated in these units, from the centre outwards, wherever its mass may be; a posterior without a mean is
        taken within 8 scales of the centre."""
        raise ChoiceError(self._cannot("spread()", discrete=False, other="conditional()"))

    def pieces(self, data: Dataset | Columns, cuts: Floats) -> tuple[Floats, Floats] | None:
        """The log-probability that the child falls between two neighbouring cuts, and its mean there.

        One row per row of data, one column per piece: below the first cut, between cuts, from the last cut on. None:
        there is no closed form, and the network integrates instead. REQUIRES: the child is continuous; one cut or more,
        rising, in the user's units."""
        return None

    @abstractmethod
    def cuts(self, parent: str) -> Floats | None:
        """How log_prob changes along a continuous parent: the rising values at which it jumps, where it is constant
        between two of them (a value at a cut belongs above it); None if it changes smoothly, so that the network must
        integrate. A model that jumps and also changes in between says None. REQUIRES: the parent is continuous."""

    def _cannot(self, method: str, discrete: bool, other: str) -> str:
        """Why this model has no such method: the child is of another kind, or the class has left it out."""
        if (self.family[self.child] is not None) == discrete:
            return f"the model of {self.child!r} ({self.word}) has no {method}, which is needed here: add the method"
        what = "continuous and has no levels" if discrete else "discrete and has no mean"
        return f"{self.child!r} is {what}: use {other}"

    # --- files ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def to_plain(self) -> dict[str, object]:
        """What a file holds of the model besides its child, word, parents and score: texts, whole and finite numbers,
        true, false, None, and lists and dicts of them."""

    @classmethod
    @abstractmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> LocalModel:
        """The model that to_plain() wrote. `node` has its entries and child, parents and score; `kinds` has the kinds
        of all columns, those of the family among them.

        Raises ChoiceError for what no model can be; KeyError, TypeError and ValueError are said as a damaged file."""

    # --- words ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def text(self, rows: int | None = ROWS) -> str:
        """The model as people read it, in the user's names and units; longer ones are cut after so many rows."""

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"

    @abstractmethod
    def as_dict(self) -> dict[str, object]:
        """The same for JSON, complete."""

    @property
    def title(self) -> str:
        """P(child | parents)."""
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"P({self.child}{given})"

    @abstractmethod
    def attributes(self) -> dict[str, object]:
        """The model as attributes of a node, for networkx."""

    def plot(self, ranges: Mapping[str, tuple[float, float]] | None = None) -> Any:
        """The model as a matplotlib Figure (extra `plot`): a heat map, a tree, or a chart per parent.

        ranges: of continuous parents, where others are wanted than the model knows."""
        from spinney.plot import plot_model

        return plot_model(self, ranges)

    def for_page(self) -> dict[str, object]:
        """What the page of a report computes with and draws, under the rules of to_plain(); `text` is shown where the
        page has no function for models of this word (report/assets/model_*.js)."""
        return {**self.to_plain(), "text": self.text()}

    def diagram(self) -> Diagram | None:
        """The model as a picture, where it is a tree or a graph of questions; else None."""
        return None


def checked_logs(model: LocalModel, logs: Floats) -> Floats:
    """What a model gave as logs of probabilities or densities; NaN and infinity, which a model from outside may give by
    mistake, are refused."""
    if (logs < np.inf).all():
        return logs
    wrong = float(logs.ravel()[np.flatnonzero(~(logs < np.inf))[0]])
    raise ChoiceError(
        f"the model of {model.child!r} ({model.word}) gave the log-probability {wrong!r}: its log_prob() must give "
        f"finite numbers or -inf; correct it"
    )


def draw_codes(probabilities: Floats, rows: Ints, rng: np.random.Generator) -> Ints:
    """A code per entry of `rows`, drawn from that row of probabilities; one uniform number is used per entry."""
    uniform = rng.random(len(rows))
    cumulated = np.cumsum(probabilities, axis=1)
    # Divided so that the last level that can occur ends at exactly 1, above every uniform number.
    cumulated /= cumulated[:, -1:]
    # The first level whose cumulated probability exceeds the uniform number, by halving; it is never a level of
    # probability 0, which ends where the one before it ends.
    most = probabilities.shape[1] - 1
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), most, dtype=np.int64)
    for _ in range(most.bit_length()):
        middle = (low + high) >> 1
        beyond = cumulated[rows, middle] > uniform
        high = np.where(beyond, middle, high)
        low = np.where(beyond, low, middle + 1)
    return low
