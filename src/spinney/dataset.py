"""Typed data sets.

In:  a RawTable as it was read, and the kinds the user named.
Out: a Dataset; every column continuous, categorical or ordinal, and checked.
Nobody checks again after this door."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from spinney import _core, kinds_file
from spinney.cells import MISSING_TEXTS
from spinney.columns import FEW_INTEGERS, Column, Encoded, Rows, encode, settle, shown
from spinney.errors import ChoiceError, DataError, named, way
from spinney.files import write_bytes
from spinney.fingerprint import fingerprint
from spinney.kinds import Categorical, Continuous, Kind, Ordinal, Unseen, as_kind, code_type, to_plain
from spinney.table import FORMATS, RawTable, read_frame, read_table, refuse_duplicates, suffixes

Missing = Literal["refuse", "drop", "level"]
Kinds = Mapping[str, Kind | str] | str | os.PathLike[str] | None
Array = npt.NDArray[np.generic]
Data = Any  # what as_dataset() takes: a Dataset, a pandas, polars or Arrow table, or a dict of columns


class Dataset:
    """A table whose columns all have a kind. It does not change; select() and take() give new ones."""

    def __init__(
        self, columns: Mapping[str, Column], n_rows: int, *, notes: Sequence[str] = (), standardise: bool = True
    ) -> None:
        """From columns already settled; read(), from_frame(), from_codes() and from_columns() are the doors."""
        self.names: tuple[str, ...] = tuple(columns)
        self.order = tuple(sorted(self.names))  # the core numbers columns by it
        self.kinds: dict[str, Kind] = {name: column.kind for name, column in columns.items()}
        self.reasons: dict[str, str] = {name: column.reason for name, column in columns.items()}
        self.notes: tuple[str, ...] = (*notes, *(note for column in columns.values() for note in column.notes))
        self.n_rows = n_rows
        self.standardise = standardise
        self._data: dict[str, Array] = {name: np.ascontiguousarray(column.data) for name, column in columns.items()}
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
        missing: Missing = "refuse",
        standardise: bool = True,
        delimiter: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        ignore_absent: bool = False,
        only_named: bool = False,
        unseen: Unseen = "refuse",
    ) -> Dataset:
        """The table in a file: .csv .tsv .txt .parquet .feather .arrow, or .gz of it, .xlsx .xls; '-': standard input.

        kinds: column -> kind (or its word), for some or all columns, or the path of a kinds file.
        missing: 'refuse', 'drop' (the rows) or 'level' (discrete columns get the level 'missing').
        delimiter, encoding: of a text file; found from the file unless given.
        sheet: of an Excel file; the first unless given.
        ignore_absent: kinds may name columns that the table does not have.
        only_named: take only the columns that kinds names.
        unseen: levels that kinds does not name are refused, or, with 'allow', added after those that it names."""
        declared = _declared(kinds)
        _check_choices(missing, unseen)
        table = read_table(path, delimiter, encoding, sheet)
        return cls._from_raw(table, declared, missing, standardise, ignore_absent, only_named, unseen)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        kinds: Kinds = None,
        missing: Missing = "refuse",
        standardise: bool = True,
        ignore_absent: bool = False,
        only_named: bool = False,
        unseen: Unseen = "refuse",
    ) -> Dataset:
        """The table in a pandas, polars or Arrow frame, or a dict of columns; options as in read()."""
        declared = _declared(kinds)
        _check_choices(missing, unseen)
        table = read_frame(frame)
        return cls._from_raw(table, declared, missing, standardise, ignore_absent, only_named, unseen)

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

    @classmethod
    def _from_raw(
        cls,
        table: RawTable,
        declared: dict[str, Kind],
        missing: Missing,
        standardise: bool,
        ignore_absent: bool,
        only_named: bool,
        unseen: Unseen,
    ) -> Dataset:
        _check_names(table.names)
        if not ignore_absent:
            for name in declared:
                if name not in table.names:
                    raise DataError(
                        f"kinds names column {name!r} which the table does not have; "
                        f"its columns are {shown(table.names)}"
                    )
        chosen = [name for name in table.names if not only_named or name in declared]
        if not chosen:
            raise DataError(f"kinds names none of the columns of the table; they are {shown(table.names)}")
        n_rows = len(table.columns[0])
        if n_rows == 0:
            raise DataError("the table has columns but no rows; give at least one row")
        encoded = _encoded(table, chosen, declared)
        notes = list(table.notes)
        notes += [f"column {name!r} has spaces around its name" for name in chosen if name != name.strip()]
        rows = Rows()
        if missing != "level":
            kept = _complete_rows(encoded, n_rows, missing, table.text)
            if kept is not None:
                notes.append(f"dropped {n_rows - len(kept):,} of {n_rows:,} rows with missing values")
                encoded = {name: column.keep(kept) for name, column in encoded.items()}
                rows, n_rows = Rows(kept), len(kept)
        if n_rows == 1:
            notes.append("the table has one row, from which no dependence can be learned")
        settled = {
            name: settle(name, column, declared.get(name), rows, missing == "level", unseen == "allow")
            for name, column in encoded.items()
        }
        return cls(settled, n_rows, notes=notes, standardise=standardise)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        words = [kind.word for kind in self.kinds.values()]
        counted = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        return f"Dataset({self.n_rows:,} rows, {len(words):,} columns: {counted})"

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

    @cached_property
    def words(self) -> set[str]:
        """The kinds that occur, by their words."""
        return {kind.word for kind in self.kinds.values()}

    @cached_property
    def for_core(self) -> _core.Table:
        """All columns in the core's hands, in sorted order of names. REQUIRES: all are discrete.

        Bitmaps are added to it when they are first needed: a bit per row and level."""
        return _core.Table([self.codes(name) for name in self.order], [len(self.levels(name)) for name in self.order])

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle, which make the core's table anew."""
        state = self.__dict__.copy()
        state.pop("for_core", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
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
        chosen = tuple(names)
        refuse_duplicates(chosen, "name every column once")
        if not chosen:
            raise DataError("no column is selected; name at least one")
        columns = {self._known(name): Column(self.kinds[name], self.reasons[name], self._data[name]) for name in chosen}
        return Dataset(columns, self.n_rows, standardise=self.standardise)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """Some of the rows, by position from 0 or by a mask of True and False; kinds and levels are kept."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool and chosen.shape == (self.n_rows,):
            chosen = np.flatnonzero(chosen)
        whole = np.issubdtype(chosen.dtype, np.integer)
        if chosen.ndim != 1 or len(chosen) == 0 or not whole or chosen.min() < 0 or chosen.max() >= self.n_rows:
            raise DataError(f"rows to take are one or more positions from 0 to {self.n_rows - 1}, or one truth per row")
        columns = {name: Column(self.kinds[name], self.reasons[name], self._data[name][chosen]) for name in self.names}
        return Dataset(columns, len(chosen), standardise=self.standardise)

    def to_arrow(self) -> pa.Table:
        """Discrete columns as dictionaries with all their levels, continuous ones as float64."""
        return pa.table({name: self._arrow_column(name) for name in self.names})

    def write(self, path: str | os.PathLike[str]) -> None:
        """The table as .csv .tsv .txt .parquet .feather or .arrow, gzipped if .gz follows.

        Parquet and Feather keep kinds and levels; of text files only a kinds file does."""
        label = os.fspath(path)
        suffix, zipped = suffixes(label)
        if suffix not in FORMATS:
            raise ChoiceError(f"{label}: {suffix!r} is no table's suffix; choose one of {', '.join(FORMATS)}")
        sink = io.BytesIO()
        if FORMATS[suffix] == "parquet":
            pyarrow.parquet.write_table(self.to_arrow(), sink)
        elif FORMATS[suffix] == "feather":
            pyarrow.feather.write_feather(self.to_arrow(), sink)
        else:
            delimiter = "\t" if suffix == ".tsv" else ","
            table = pa.table({name: self._text_column(name) for name in self.names})
            pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(delimiter=delimiter))
        content: bytes | memoryview = sink.getbuffer()
        if zipped:
            content = gzip.compress(content, mtime=0)  # no time inside: the same table gives the same file
        write_bytes(content, label)

    def _known(self, name: str) -> str:
        if name not in self._data:
            raise DataError(f"there is no column {name!r}; the columns are {shown(self.names)}")
        return name

    def _arrow_column(self, name: str) -> pa.Array:
        kind = self.kinds[name]
        if isinstance(kind, Continuous):
            return pa.array(self.values(name))
        indices = pa.array(self._data[name].astype(np.int32))
        levels = pa.array(self.levels(name), pa.string())
        return pa.DictionaryArray.from_arrays(indices, levels, ordered=isinstance(kind, Ordinal))

    def _text_column(self, name: str) -> pa.Array:
        column = self._arrow_column(name)
        if self.kinds[name].discrete:
            return column.cast(pa.string())
        values = self.values(name)
        distinct = np.unique(values)
        if len(distinct) <= FEW_INTEGERS and (distinct == np.floor(distinct)).all():
            # Written as 1, they would be read back as few integers, that is, categories.
            place = np.searchsorted(distinct, values)
            return pa.array([repr(float(value)) for value in distinct]).take(pa.array(place))
        return column


def as_dataset(data: Data, **options: Any) -> Dataset:
    """The Dataset itself, or the one that from_frame() makes of a frame or a dict of columns with these options.

    Every function that takes data begins here, so that all of them take the same."""
    if isinstance(data, Dataset):
        return data
    if isinstance(data, (str, os.PathLike)):
        raise ChoiceError("data is a path; read the file first, with sp.Dataset.read(path)")
    return Dataset.from_frame(data, **options)


def _declared(kinds: Kinds) -> dict[str, Kind]:
    if kinds is None:
        return {}
    if isinstance(kinds, (str, os.PathLike)):
        return kinds_file.read(kinds)
    if not isinstance(kinds, Mapping):
        raise DataError(f"kinds is a {type(kinds).__name__}; give a dict from columns to kinds, or a kinds file's path")
    return {str(name): as_kind(str(name), kind) for name, kind in kinds.items()}


def _check_choices(missing: str, unseen: str) -> None:
    if missing not in ("refuse", "drop", "level"):
        raise ChoiceError(f"{named('missing')} is {missing!r}; choose 'refuse', 'drop' or 'level'")
    if unseen not in ("refuse", "allow"):
        raise ChoiceError(f"{named('unseen')} is {unseen!r}; choose 'refuse' or 'allow'")


def _check_names(names: tuple[str, ...]) -> None:
    if not names:
        raise DataError("the table has no columns; give at least one")
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(
                f"column {place} has no name; give it one, or leave it out if it is a row index "
                "(pandas: to_csv(..., index=False))"
            )


def _encoded(table: RawTable, chosen: Sequence[str], declared: Mapping[str, Kind]) -> dict[str, Encoded]:
    """Columns side by side in threads: the work is Arrow's, which lets go of the interpreter lock."""
    columns = dict(zip(table.names, table.columns, strict=True))
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        done = pool.map(lambda name: encode(name, columns[name], declared.get(name), table.text), chosen)
        return dict(zip(chosen, done, strict=True))


def _complete_rows(
    encoded: Mapping[str, Encoded], n_rows: int, missing: Missing, text_file: bool
) -> npt.NDArray[np.int64] | None:
    """The rows without missing cells, or None if all are; refused if the user has not chosen to drop the others."""
    lacking = {name: column.missing for name, column in encoded.items() if column.missing is not None}
    if not lacking:
        return None
    counts = [f"{name!r} {int(mask.sum()):,}" for name, mask in lacking.items()]
    listed = ", ".join(counts[:10]) + (f" and {len(counts) - 10:,} more columns" if len(counts) > 10 else "")
    if missing == "refuse":
        first = next(iter(lacking))
        tokens = ", ".join(text for text in MISSING_TEXTS if text)
        as_level = [f"declare it in kinds if {tokens} or nothing is a level"] if text_file else []
        raise DataError(
            f"missing cells, of {n_rows:,} rows: {listed} (the first: column {first!r}, "
            f"row {int(lacking[first].argmax()) + 1})",
            "fill them",
            way("choose {} to leave such rows out", "missing", "drop"),
            way("choose {} to give discrete columns the level 'missing'", "missing", "level"),
            *as_level,
        )
    incomplete = np.logical_or.reduce(list(lacking.values()))
    kept = np.flatnonzero(~incomplete)
    if len(kept) == 0:
        raise DataError(
            f"every row has a missing cell ({listed} of {n_rows:,}), so dropping them would leave none",
            "leave out the columns that are missing most",
        )
    return kept
