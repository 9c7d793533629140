"""Typed data sets.

In:  a RawTable as it was read, and the kinds the user named.
Out: a Dataset; every column continuous, categorical or ordinal, and checked.
Data is checked here and not again later."""

from __future__ import annotations

import gzip
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spinney import _core
from spinney.choices import Choice, loaded
from spinney.columns import Column
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, DataError
from spinney.files import as_path, split_suffix, write_bytes
from spinney.fingerprint import fingerprint
from spinney.formats import formats_of
from spinney.kinds import Categorical, Continuous, Kind, Ordinal, Unseen, code_type, interval_codes, intervals, to_plain
from spinney.layout import counted, html_table
from spinney.prepare import prepare
from spinney.reading import Kinds, Missing, Names, Reading, shown
from spinney.standard import Standard, standard
from spinney.table import RawTable, read_frame, read_table, refuse_duplicates

Array = npt.NDArray[np.generic]
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])
Data = Any  # what as_dataset() takes: a Dataset, a pandas, polars or Arrow table, or a dict of columns
_SHOWN_COLUMNS = 20  # of a Dataset's repr


class Dataset:
    """A table whose columns all have a kind. It does not change; select() and take() give new ones."""

    rows_are_here = True  # else other machines have them (partitions.py)

    def __init__(
        self,
        columns: Mapping[str, Column],
        n_rows: int,
        *,
        notes: Sequence[str] = (),
        left_out: Mapping[str, str] | None = None,
        cuts: Mapping[str, tuple[float, ...]] | None = None,
        rows_dropped: int = 0,
        standardise: bool = True,
    ) -> None:
        """From columns that are checked already; others use read(), from_frame(), from_codes() or from_columns()."""
        self.names: tuple[str, ...] = tuple(columns)
        self.order = tuple(sorted(self.names))  # the core numbers columns by it
        self.kinds: dict[str, Kind] = {name: column.kind for name, column in columns.items()}
        self.reasons: dict[str, str] = {name: column.reason for name, column in columns.items()}
        self.notes: tuple[str, ...] = tuple(notes)
        self.left_out: dict[str, str] = dict(left_out or {})  # columns of the table that are not here, and why
        self.cuts: dict[str, tuple[float, ...]] = dict(cuts or {})  # where columns were cut into their intervals
        self.n_rows = n_rows
        self.rows_dropped = rows_dropped  # rows of the table that are not here, because they had missing cells
        self.standardise = standardise
        self._data: dict[str, Array] = {name: aligned(column.data) for name, column in columns.items()}
        self._standard: dict[str, Standard] = {}
        self.sources: dict[Any, Any] = {}  # of local scores, remembered by scores.build_source
        # Scores whose options the evidence chose, and the deadline that ended that early; kept by scores.resolved.
        self.tuned: dict[str, tuple[Choice, Deadline | None]] = {}
        self.column_keys: dict[str, str] = {}  # what a store knows columns by
        self._protect()
        self._fingerprint: str | None = None

    def _protect(self) -> None:
        """The core looks a column over once and relies on it from then on."""
        for array in self._data.values():
            array.flags.writeable = False

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        kinds: Kinds = None,
        missing: Missing = "auto",
        columns: Names = None,
        exclude: Names = None,
        decimal: str | None = None,
        drop_missing_above: float = 0.5,
        min_count: int = 1,
        keep_all: bool = False,
        standardise: bool = True,
        delimiter: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        ignore_absent: bool = False,
        only_named: bool = False,
        unseen: Unseen = "refuse",
    ) -> Dataset:
        """The table in a file: .csv .tsv .txt .parquet .feather .arrow, or .gz of it, .xlsx .xls; '-': standard input.

        kinds: column -> kind (or its word, or 'left out'), for some or all columns, or the path of a kinds file.
        missing: 'auto' (columns that are mostly empty are left out, discrete columns with many holes get the level
            'missing', the other rows with holes are dropped), 'refuse', 'drop' (the rows) or 'level'.
        columns, exclude: read only these columns; read all but these.
        decimal: the decimal mark of text, ',' or '.'; without it, found from the file.
        drop_missing_above: a column with a larger share of missing cells is left out.
        min_count: levels that fewer rows have are merged into the level 'other'.
        keep_all: leave out no column (identifiers, constant and empty ones) and merge no levels by yourself.
        delimiter, encoding: of a text file; found from the file unless given.
        sheet: of an Excel file; the first unless given.
        ignore_absent: kinds may name columns that the table does not have.
        only_named: take only the columns that kinds names.
        unseen: levels that kinds does not name are refused, or, with 'allow', added after those that it names."""
        reading = Reading.of(
            kinds,
            columns,
            exclude,
            missing=missing,
            decimal=decimal,
            drop_missing_above=drop_missing_above,
            min_count=min_count,
            keep_all=keep_all,
            ignore_absent=ignore_absent,
            only_named=only_named,
            unseen=unseen,
        )
        return cls.from_raw(read_table(path, delimiter, encoding, sheet), reading, standardise=standardise)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        kinds: Kinds = None,
        missing: Missing = "auto",
        columns: Names = None,
        exclude: Names = None,
        decimal: str | None = None,
        drop_missing_above: float = 0.5,
        min_count: int = 1,
        keep_all: bool = False,
        standardise: bool = True,
        ignore_absent: bool = False,
        only_named: bool = False,
        unseen: Unseen = "refuse",
    ) -> Dataset:
        """The table in a pandas, polars or Arrow frame, or a dict of columns; options as in read()."""
        reading = Reading.of(
            kinds,
            columns,
            exclude,
            missing=missing,
            decimal=decimal,
            drop_missing_above=drop_missing_above,
            min_count=min_count,
            keep_all=keep_all,
            ignore_absent=ignore_absent,
            only_named=only_named,
            unseen=unseen,
        )
        return cls.from_raw(read_frame(frame), reading, standardise=standardise)

    @classmethod
    def from_raw(cls, table: RawTable, reading: Reading, *, standardise: bool = True) -> Dataset:
        """From a table as table.py reads it, under choices that are checked."""
        made = prepare(table, reading)
        pa.default_memory_pool().release_unused()
        return cls(
            made.columns,
            made.n_rows,
            notes=made.all_notes(),
            left_out=made.left_out,
            rows_dropped=len(table.columns[0]) - made.n_rows,
            standardise=standardise,
        )

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        codes: Sequence[npt.NDArray[Any]],
        levels: Sequence[Sequence[str]],
        *,
        ordinal: Collection[str] = frozenset(),
    ) -> Dataset:
        """From codes of our own making, such as a sample. REQUIRES: columns of one length, every code has a level."""
        assert len(names) == len(codes) == len(levels)
        kinds = {
            name: Ordinal(texts) if name in ordinal else Categorical(texts)
            for name, texts in zip(names, levels, strict=True)
        }
        return cls.from_columns(kinds, dict(zip(names, codes, strict=True)))

    @classmethod
    def from_columns(
        cls, kinds: Mapping[str, Kind], columns: Mapping[str, npt.NDArray[Any]], *, standardise: bool = True
    ) -> Dataset:
        """From codes and values of our own making, such as a sample of mixed columns.

        REQUIRES: columns of one length; every code has a level; values are finite and within the range of the kind."""
        assert set(kinds) == set(columns) and len({len(column) for column in columns.values()}) == 1
        settled = {}
        for name, kind in kinds.items():
            column = columns[name]
            if isinstance(kind, Continuous):
                assert kind.lo is not None and kind.hi is not None
                assert len(column) == 0 or (kind.lo <= column.min() and column.max() <= kind.hi)
                settled[name] = Column(kind, "values", np.array(column, dtype=np.float64) + 0.0)
            else:
                assert kind.levels is not None
                assert len(column) == 0 or (int(column.min()) >= 0 and int(column.max()) < len(kind.levels))
                settled[name] = Column(kind, "codes", np.array(column, dtype=code_type(kind.levels)))
        return cls(settled, len(next(iter(columns.values()))), standardise=standardise)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        words = [kind.word for kind in self.kinds.values()]
        each = ", ".join(f"{words.count(word):,} {word}" for word in dict.fromkeys(words))
        head = f"Dataset({self.n_rows:,} rows, {len(words):,} columns: {each})"
        rows = [(name, kind.word, _summary(kind)) for name, kind in list(self.kinds.items())[:_SHOWN_COLUMNS]]
        widths = [max(len(row[at]) for row in rows) for at in range(2)]
        lines = [f"  {name:<{widths[0]}}  {word:<{widths[1]}}  {text}".rstrip() for name, word, text in rows]
        more = len(words) - len(rows)
        return "\n".join([head, *lines, *([f"  and {more:,} more columns"] if more else ())])

    def _repr_html_(self) -> str:
        """For notebooks: every column with its kind, its counts as bars, and why it is of this kind."""
        from spinney.report.svg import bars_svg

        shown = self.names[:_SHOWN_COLUMNS]
        rows = [(name, self.kinds[name].word, _summary(self.kinds[name]), self.reasons[name]) for name in shown]
        bars = [bars_svg(self._counts(name)) for name in shown]
        more = len(self.names) - len(shown)
        title = f"{counted(self.n_rows, 'row')}, {counted(len(self.names), 'column')}"
        after = f"and {counted(more, 'more column')}" if more else ""
        return html_table(title, ("column", "kind", "levels or range", "why", ""), rows, after, bars)

    def _counts(self, name: str, most: int = 24) -> list[int]:
        """How often each level, or values in each of some intervals, occur; of many levels the first."""
        if self.kinds[name].discrete:
            counted_levels: list[int] = np.bincount(self.codes(name), minlength=len(self.levels(name))).tolist()
            return counted_levels[:most]
        values = self.values(name)
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        if not 0 < high / 2 - low / 2 < np.inf:
            return [len(values)]
        place = np.minimum(((values / 2 - low / 2) / (high / 2 - low / 2) * most).astype(np.int64), most - 1)
        counts: list[int] = np.bincount(place, minlength=most).tolist()
        return counts

    def levels(self, name: str) -> tuple[str, ...]:
        """The levels of a discrete column, in the order of its codes."""
        kind = self.kinds[self._known(name)]
        if isinstance(kind, Continuous):
            raise DataError(f"column {name!r} is continuous and has no levels; ask for its values()")
        assert kind.levels is not None
        return kind.levels

    def codes(self, name: str) -> npt.NDArray[Any]:
        """The codes of a discrete column: uint8, or uint16 if it has more than 256 levels."""
        self.levels(name)
        return self._data[name]

    def values(self, name: str) -> npt.NDArray[np.float64]:
        """The values of a continuous column, in the user's units."""
        if self.kinds[self._known(name)].discrete:
            raise DataError(f"column {name!r} is {self.kinds[name].word} and has no numbers; ask for its codes()")
        return self._data[name].view(np.float64)

    def column(self, name: str) -> Array:
        """Codes or values, as they are kept."""
        return self._data[self._known(name)]

    def bytes_per_row(self, name: str) -> int:
        """Of a column, as it is kept."""
        return self._data[self._known(name)].itemsize

    @cached_property
    def words(self) -> set[str]:
        """The kinds that occur, by their words."""
        return {kind.word for kind in self.kinds.values()}

    def standard(self, name: str) -> Standard:
        """A continuous column in standard units, made once. REQUIRES: the column is continuous."""
        if name not in self._standard:
            self._standard[name] = standard(name, self.values(name), self.standardise)
        return self._standard[name]

    @cached_property
    def for_core(self) -> _core.Table:
        """All columns in the core's hands, in sorted order of names; every score reads this one.

        Bitmaps are added to it when they are first needed: a bit per row and level."""
        columns, levels, centres = [], [], []
        for name in self.order:
            discrete = self.kinds[name].discrete
            columns.append(self.codes(name) if discrete else self.standard(name).values)
            levels.append(len(self.levels(name)) if discrete else 0)
            centres.append(0.0 if discrete else self.standard(name).centre)
        return _core.Table(columns, levels, centres)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle, which make the core's table anew."""
        state = self.__dict__.copy()
        state.pop("for_core", None)
        state["_standard"], state["sources"], state["tuned"] = {}, {}, {}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._data = {name: aligned(array) for name, array in self._data.items()}
        self._protect()

    @property
    def fingerprint(self) -> str:
        """sha256 of names, kinds and cells, whatever the order of the columns and of the rows."""
        if self._fingerprint is None:
            described = {name: to_plain(self.kinds[name]) for name in self.names}
            self._fingerprint = fingerprint(self._data, described, self.order)
        return self._fingerprint

    def select(self, names: Iterable[str]) -> Dataset:
        """Some of the columns, in the order given."""
        if not isinstance(names, Iterable):
            raise DataError(f"the columns to select are a list of names, not {names!r}; give a list")
        chosen = tuple(names)
        for name in chosen:
            self._known(name)
        refuse_duplicates(chosen, "name every column once")
        if not chosen:
            raise DataError("no column is selected; name at least one")
        columns = {self._known(name): Column(self.kinds[name], self.reasons[name], self._data[name]) for name in chosen}
        return self._alike(columns, self.n_rows, self.cuts)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """Some of the rows, by position from 0 or by a mask of True and False; kinds and levels are kept."""
        try:
            chosen = np.asarray(rows)
        except ValueError:  # lists of several lengths
            chosen = np.empty((0, 0))
        if chosen.dtype == bool and chosen.shape == (self.n_rows,):
            chosen = np.flatnonzero(chosen)
        whole = np.issubdtype(chosen.dtype, np.integer)
        if chosen.ndim != 1 or len(chosen) == 0 or not whole or chosen.min() < 0 or chosen.max() >= self.n_rows:
            raise DataError(f"rows to take are one or more positions from 0 to {self.n_rows - 1}, or one truth per row")
        columns = {name: Column(self.kinds[name], self.reasons[name], self._data[name][chosen]) for name in self.names}
        return self._alike(columns, len(chosen), self.cuts)

    def _alike(
        self,
        columns: Mapping[str, Column],
        n_rows: int,
        cuts: Mapping[str, tuple[float, ...]],
        notes: Sequence[str] = (),
    ) -> Dataset:
        """A Dataset of other columns or rows that were read as these were."""
        own = {name: cuts[name] for name in columns if name in cuts}
        return Dataset(
            columns,
            n_rows,
            notes=notes,
            left_out=self.left_out,
            cuts=own,
            rows_dropped=self.rows_dropped if n_rows == self.n_rows else 0,
            standardise=self.standardise,
        )

    def discretised(self, method: str, columns: Iterable[str] | None = None) -> Dataset:
        """Continuous columns cut into intervals, as ordinal columns: 'quantile(5)', 'width(5)' or 'mdl(target)'.

        mdl, also called fayyad-irani, cuts where the levels of the column `target` differ (Fayyad and Irani 1993).
        columns: cut only these. A network that is learned from the result takes numbers and cuts them itself."""
        from spinney.discretise import thresholds  # scikit-learn takes a second to import

        return self.cut(thresholds(self, method, columns))

    def cut(self, cuts: Mapping[str, Sequence[float]]) -> Dataset:
        """Continuous columns cut at these rising thresholds; a value on a threshold is above it."""
        settled = {}
        for name in self.names:
            column = Column(self.kinds[name], self.reasons[name], self._data[name])
            if name in cuts:
                own = intervals(cuts[name])
                codes = interval_codes(self.values(name), cuts[name])
                column = Column(own, f"cut at {len(cuts[name])} places", codes.astype(code_type(own.levels or ())))
            settled[name] = column
        done = {name: tuple(float(place) for place in places) for name, places in cuts.items()}
        return self._alike(settled, self.n_rows, {**self.cuts, **done}, self.notes)

    def __getitem__(self, names: str | Iterable[str]) -> Dataset:
        """data["a"], data[["a", "b"]]: some of the columns, as a Dataset."""
        return self.select([names] if isinstance(names, str) else names)

    def head(self, n: int = 5) -> Dataset:
        """The first rows."""
        if n < 1:
            raise DataError(f"head({n!r}) has no rows; ask for at least one")
        return self.take(np.arange(min(n, self.n_rows)))

    def to_pandas(self) -> Any:
        """A pandas frame: discrete columns as categories (ordered if ordinal), continuous ones as float64."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise ChoiceError("to_pandas() needs the package pandas; install it with pip install pandas") from None
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars frame: discrete columns as Enum, continuous ones as Float64."""
        try:
            import polars
        except ImportError:
            raise ChoiceError("to_polars() needs the package polars; install it with pip install polars") from None
        columns = {}
        for name in self.names:
            if self.kinds[name].discrete:
                texts = self._arrow_column(name).cast(pa.string())
                columns[name] = polars.Series(texts.to_pylist(), dtype=polars.Enum(self.levels(name)))
            else:
                columns[name] = polars.Series(self.values(name))
        return polars.DataFrame(columns)

    def to_arrow(self) -> pa.Table:
        """Discrete columns as dictionaries with all their levels, continuous ones as float64."""
        return pa.table({name: self._arrow_column(name) for name in self.names})

    def write(self, path: str | os.PathLike[str]) -> None:
        """The table as .csv .tsv .txt .parquet .feather or .arrow, gzipped if .gz follows.

        Parquet and Feather keep kinds and levels; of text files only a kinds file does."""
        label = as_path(path)
        suffix, zipped = split_suffix(label)
        able = formats_of("table", "write")
        if suffix not in able:
            raise ChoiceError(f"{label}: {suffix!r} is no table's suffix; choose one of {', '.join(able)}")
        content: bytes | memoryview = loaded(able[suffix].write)(self, suffix)
        if zipped:
            content = gzip.compress(content, mtime=0)  # no time inside: the same table gives the same file
        write_bytes(content, label)

    def _known(self, name: str) -> str:
        if isinstance(name, str) and name in self.left_out:
            raise DataError(f"column {name!r} was left out: {self.left_out[name]}; declare its kind to keep it")
        if not isinstance(name, str) or name not in self._data:
            raise DataError(f"there is no column {name!r}; the columns are {shown(self.names)}")
        return name

    def _arrow_column(self, name: str) -> pa.Array:
        kind = self.kinds[name]
        if isinstance(kind, Continuous):
            return pa.array(self.values(name))
        indices = pa.array(self._data[name].astype(np.int32))
        levels = pa.array(self.levels(name), pa.string())
        return pa.DictionaryArray.from_arrays(indices, levels, ordered=isinstance(kind, Ordinal))


def as_dataset(data: Data, reading: Reading | None = None) -> Dataset:
    """The Dataset itself, or the one that from_frame() makes of a frame or a dict of columns, under these choices.

    Every function that takes data begins here, so that all of them take the same."""
    if isinstance(data, Dataset):
        return data
    if isinstance(data, (str, os.PathLike)):
        raise ChoiceError("data is a path; read the file first, with sp.Dataset.read(path)")
    return Dataset.from_raw(read_frame(data), reading or Reading())


def aligned(array: AnyArray) -> AnyArray:
    """As the core reads it: in one piece, numbers at multiples of their size. What came by wire may lie anywhere."""
    moved: AnyArray = np.require(array, requirements=("C", "A"))
    return moved


def _summary(kind: Kind) -> str:
    """The range or the levels of a column, for one line."""
    if isinstance(kind, Continuous):
        return f"{kind.lo:.6g} to {kind.hi:.6g}"
    levels = [level if len(level) <= 20 else level[:17] + "..." for level in (kind.levels or ())]
    more = f", ... ({len(levels):,} levels)" if len(levels) > 4 else ""
    return (" < " if isinstance(kind, Ordinal) else ", ").join(levels[:4]).replace("\n", "\\n") + more
