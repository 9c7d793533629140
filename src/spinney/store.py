"""A store of family scores: a folder in which Step 1 keeps what it has scored, as it goes.

In:  a source of scores and the parent sets that are to be scored; batches of what has been scored.
Out: what is known of them already; files (store_files.py) that any later run, and any copy of the folder, can use.
A family is known by what its score depends on: its columns (names, kinds, cells), the score with its options, the prior
on parent sets, and the version of the scoring. Several processes may write to one folder, each to a file of its own."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney import _core
from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.errors import ChoiceError, FileFormatError
from spinney.files import as_path
from spinney.kinds import to_plain
from spinney.layout import some_names
from spinney.parent_sets import ParentSets
from spinney.progress import Report
from spinney.store_files import (
    PARQUET,
    Families,
    Head,
    Writer,
    begun,
    by_layer,
    files,
    growing,
    joined,
    read_families,
    read_head,
    write_parquet,
)
from spinney.version import __version__

if TYPE_CHECKING:
    from spinney.dataset import Dataset
    from spinney.scores.source import Source

SCORING = 2  # raised when the score of any family changes, be it in its last digit
EVERY = 0.5  # seconds between batches

StoreAt = str | PathLike[str] | None


@dataclass(frozen=True)
class Run:
    """The files of a folder that hold scores of the same families: the same data, score and candidates."""

    head: Head
    files: tuple[Path, ...]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.head["columns"]]

    @property
    def stale(self) -> bool:
        """Were they scored by another version of the scoring?"""
        return bool(self.head["scoring"] != SCORING)

    @property
    def written(self) -> float:
        return max(path.stat().st_mtime for path in self.files)

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files)


class Store:
    """A folder of family scores."""

    def __init__(self, folder: str | PathLike[str], *, make: bool = False) -> None:
        self.folder = Path(as_path(folder))
        self.damages: list[str] = []  # what was found damaged, one sentence each
        self.used = False  # by a Step 1 of this process
        try:
            if make:
                self.folder.mkdir(parents=True, exist_ok=True)
            self._paths()
        except NotADirectoryError:
            raise FileFormatError(f"{fspath(folder)} is a file; a store is a folder, name another place") from None
        except FileExistsError:
            raise FileFormatError(f"{fspath(folder)} is a file; a store is a folder, name another place") from None
        except FileNotFoundError:
            raise FileFormatError(f"{fspath(folder)}: there is no such folder; name the folder of a store") from None
        except OSError as error:
            raise FileFormatError(
                f"{fspath(folder)}: the store cannot be opened ({error.strerror}); choose another folder"
            ) from None

    def _paths(self) -> list[Path]:
        return files(self.folder)

    def _heads(self) -> Iterator[tuple[Path, Head]]:
        for path in self._paths():
            head = read_head(path)
            if head is not None:
                yield path, head
            else:
                with suppress(FileNotFoundError):  # merged in the meantime, by another process
                    if not begun(path):
                        self.damages.append(
                            f"{path}: this is no file of a store, or its beginning is damaged; left out"
                        )

    def runs(self) -> list[Run]:
        """What is in the folder, in the order of its first files."""
        found: dict[str, tuple[Head, list[Path]]] = {}
        for path, head in self._heads():
            found.setdefault(_identity(head), (head, []))[1].append(path)
        return [Run(head, tuple(paths)) for head, paths in found.values()]

    def read(self, run: Run) -> Families:
        """All families of a run, each once."""
        parts = []
        for path in run.files:
            with suppress(FileNotFoundError):  # merged in the meantime
                parts.append(read_families(path, self.damages))
        all_of_them = joined(parts)
        order = np.lexsort((all_of_them.rank, all_of_them.size, all_of_them.child))
        families = all_of_them.of(order)
        if len(families) == 0:
            return families
        changed = [np.diff(column) != 0 for column in (families.child, families.size, families.rank)]
        return families.of(np.flatnonzero(np.concatenate([[True], changed[0] | changed[1] | changed[2]])))

    def known(self, source: Source, allowed: Allowed) -> _core.KnownScores | None:
        """The scores that the folder has of these sets; None if it has none."""
        own = head_of(source, allowed)
        found = _core.KnownScores(allowed.for_core)
        for path, head in self._heads():
            if head["scoring"] == SCORING and head["score"] == own["score"]:
                with suppress(FileNotFoundError):
                    self._add(found, own, head, path)
        return found if found.families else None

    def _add(self, found: _core.KnownScores, own: Head, head: Head, path: Path) -> None:
        """The families of a file whose columns are ours."""
        place = {tuple(column): i for i, column in enumerate(own["columns"])}
        ours = [place.get(tuple(column), -1) for column in head["columns"]]  # their column -> ours
        if max(ours, default=-1) < 0:
            return
        families = read_families(path, self.damages)
        moves: dict[int, tuple[int, Any, bool]] = {}
        for theirs, size, part in by_layer(families):
            child = ours[theirs]
            if child < 0:
                continue
            if theirs not in moves:
                moves[theirs] = _moved(own, head, child, theirs, ours)
            count, moved, same = moves[theirs]
            found.add(child, size, part.rank, part.score, part.closed if same else None, count, moved)

    @contextmanager
    def session(self, source: Source, allowed: Allowed, threads: int) -> Iterator[Session]:
        """What is known, and a log of what is scored that is written as it grows."""
        self.used = True
        session = Session(self, source, allowed, threads)
        try:
            yield session
        finally:
            session.write()
            session.writer.close()

    def check(self) -> list[str]:
        """Read everything; a sentence for each thing that is damaged."""
        for run in self.runs():
            self.read(run)
        return list(dict.fromkeys(self.damages))

    def merge(self) -> tuple[int, int]:
        """Every run into one Parquet file, of files that nobody writes to; how many files became how many."""
        before = after = 0
        for run in self.runs():
            own = tuple(path for path in run.files if not growing(path))
            if len(own) < 1 or (len(own) == 1 and own[0].suffix == PARQUET):
                continue
            damaged = len(self.damages)
            families = self.read(Run(run.head, own))
            if len(self.damages) > damaged:
                continue  # the damaged file stays, for whoever wants to look at it
            if len(families):
                write_parquet(self.folder, run.head, families)
                after += 1
            before += len(own)
            for path in own:
                path.unlink(missing_ok=True)
        return before, after

    def prune(self, days: float | None = None) -> int:
        """Remove what no run can use: scores of another version; files that are damaged at the beginning; with `days`,
        runs that nobody has written to for so long. How many files were removed."""
        removed = 0
        useful: set[Path] = set()
        for run in self.runs():
            old = days is not None and time.time() - run.written > days * 86400
            if not (run.stale or old):
                useful.update(run.files)
        for path in self._paths():
            if path not in useful and not growing(path):
                path.unlink(missing_ok=True)
                removed += 1
        self.damages.clear()
        return removed

    def sets(self, run: Run) -> tuple[ParentSets, int]:
        """The parent sets of a run, pruned as Step 1 prunes them; and how many families were scored."""
        head, names = run.head, run.names
        allowed = _allowed(head)
        families = self.read(run)
        known = _core.KnownScores(allowed.for_core)
        for child, size, part in by_layer(families):
            count = len(allowed.candidates[names[child]])
            known.add(child, size, part.rank, part.score, part.closed, count, None)
        missing = [
            name for child, name in enumerate(names) if not len(known.layer(child, len(allowed.required[name]))[0])
        ]
        if missing:
            raise ChoiceError(
                f"{self.folder}: the smallest parent sets of {some_names(missing, 3)} are not scored yet; let the run "
                f"go on for longer"
            )
        nothing = _core.called_scores(lambda child, parents: math.nan, len(names), head["rows"])
        found = _core.parent_sets(
            nothing, allowed.for_core, True, False, 1, None, 0.0, True, 0.0, known, only_known=True
        )
        return ParentSets(names, found, pruned_for=dict(allowed.required)), known.families


class Session:
    """One run of Step 1 with a store."""

    def __init__(self, store: Store, source: Source, allowed: Allowed, threads: int) -> None:
        self.store = store
        self.known = store.known(source, allowed)
        self.log = _core.FamilyLog(threads)
        self.writer = Writer(store.folder, head_of(source, allowed))
        self._written = time.perf_counter()

    def write(self) -> None:
        """What has been scored since the last time."""
        self.writer.write(Families(*self.log.drain()))
        self._written = time.perf_counter()

    def take(self, families: Families) -> None:
        """What was scored elsewhere."""
        self.writer.write(families)

    def reporting(self, report: Report | None) -> Report:
        """The core calls this every now and then while it works."""

        def tell(done: int, total: int) -> None:
            if time.perf_counter() - self._written > EVERY:
                self.write()
            if report is not None:
                report(done, total)

        return tell


def head_of(source: Source, allowed: Allowed) -> Head:
    """What scores depend on, and which sets there are."""
    data, names = source.given, allowed.names
    words = {name: i for i, name in enumerate(names)}
    others = len(names) - 1
    lists = [
        None if len(own) == others else [words[p] for p in own] for own in map(allowed.candidates.__getitem__, names)
    ]
    return {
        "format": 1,
        "scoring": SCORING,
        "score": _score_key(source),
        "name": source.choice.short,
        "prior": [list(source.prior.by_size[:2]), source.prior.per_parameter],
        "rows": data.n_rows,
        "columns": [[name, _column_key(data, name, name in source.uncut)] for name in names],
        "candidates": None if all(own is None for own in lists) else lists,
        "required": {str(words[child]): [words[p] for p in own] for child, own in allowed.required.items() if own},
        "most": [allowed.most[name] for name in names],
        "version": __version__,
    }


def _identity(head: Head) -> str:
    return json.dumps({word: value for word, value in head.items() if word not in ("version", "name")}, sort_keys=True)


def _allowed(head: Head) -> Allowed:
    names = tuple(name for name, _ in head["columns"])
    lists = head["candidates"] or [None] * len(names)
    everybody = range(len(names))
    candidates = {
        name: tuple(names[p] for p in (own if own is not None else [p for p in everybody if p != i]))
        for i, (name, own) in enumerate(zip(names, lists, strict=True))
    }
    required = {name: tuple(names[p] for p in head["required"].get(str(i), ())) for i, name in enumerate(names)}
    return Allowed(names, candidates, required, dict(zip(names, head["most"], strict=True)))


def _moved(own: Head, head: Head, child: int, theirs: int, ours: Sequence[int]) -> tuple[int, Any, bool]:
    """Of a child: how many candidates it has there; the place of each among our candidates, -1 for none, or None where
    they are the same; and whether all else that bounds depend on is the same too."""
    there = _candidates(head, theirs)
    here = {number: place for place, number in enumerate(_candidates(own, child))}
    moved = [here.get(ours[number], -1) for number in there]
    same = moved == list(range(len(here)))
    required = {ours[p] for p in head["required"].get(str(theirs), ())}
    alike = required == set(own["required"].get(str(child), ())) and head["most"][theirs] == own["most"][child]
    return len(there), None if same else np.array(moved, np.int32), same and alike


def _candidates(head: Head, child: int) -> list[int]:
    listed = head["candidates"]
    if listed is not None and listed[child] is not None:
        own: list[int] = listed[child]
        return own
    return [p for p in range(len(head["columns"])) if p != child]


def _score_key(source: Source) -> str:
    """Of everything but the columns that a score depends on."""
    prior = source.prior
    facts = [
        _plain(source.choice),
        prior.by_size,
        prior.per_parameter,
        source.given.standardise,
        source.data is source.given,  # else rows were sorted, and sums of numbers may differ in their last digits
    ]
    return _digest(json.dumps(facts, sort_keys=True).encode())


def _plain(value: Any) -> Any:
    from spinney.network import Network
    from spinney.scores.custom import Custom

    if isinstance(value, Choice):
        if getattr(value.entry.source, "func", None) is Custom and value.name == "custom":  # type: ignore[attr-defined]
            raise ChoiceError(
                "a score of your own can be stored under a name that stands for its function: give CustomScore a "
                "name=, and another one when the function changes"
            )
        return [value.name, {name: _plain(own) for name, own in value.values.items()}]
    if isinstance(value, Network):
        return {name: model.as_dict() for name, model in sorted(value.models.items())}
    if isinstance(value, (str, PathLike)) and Path(value).is_file():  # a prior network
        return _plain(Network.read(value))
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    return [_plain(own) for own in value] if isinstance(value, (tuple, list)) else value


def _column_key(data: Dataset, name: str, uncut: bool) -> str:
    """Of a column: its name, its kind, its cells in the order of the rows; and whether there was time to cut it."""
    kind = data.kinds[name]
    cells = data.codes(name) if kind.discrete else data.values(name)
    key = data.column_keys.get(name)
    if key is None:
        described = json.dumps([name, to_plain(kind), data.n_rows]).encode()
        key = data.column_keys[name] = _digest(described, np.ascontiguousarray(cells).view(np.uint8).data)
    return f"{key}-uncut" if uncut else key


def _digest(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def described(store: Store, run: Run) -> dict[str, Any]:
    """A run in words and numbers."""
    families = store.read(run)
    sizes, counts = np.unique(families.size, return_counts=True)
    return {
        "score": run.head["name"],
        "columns": len(run.names),
        "rows": run.head["rows"],
        "families": len(families),
        "of": _allowed(run.head).families,
        "by_size": {str(size): int(count) for size, count in zip(sizes, counts, strict=True)},
        "files": len(run.files),
        "bytes": run.bytes,
        "stale": run.stale,
        "growing": any(map(growing, run.files)),
    }
