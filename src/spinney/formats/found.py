"""The result of a search as JSON: the graph, its score and what is known about the best.

In:  Found; or a file that we wrote.
Out: the file; or Found, without the timings, which are not written so that equal runs give equal bytes.
Files without a format and a version, as they were written before, hold the parents too and can still be read."""

from __future__ import annotations

import math
from os import PathLike, fspath
from typing import Any

from spinney.errors import FileFormatError, SpinneyError
from spinney.formats.plain import json_line, json_value
from spinney.formats.text import read_text, write_text
from spinney.graph import CPDAG, DAG
from spinney.search.found import FORMAT, VERSION, Alternative, Found, Separation


def write(found: Found, path: str | PathLike[str]) -> None:
    write_text(json_line(found.as_dict()) + "\n", path)


def holds_found(path: str | PathLike[str]) -> bool:
    """Whether this JSON is the result of a search, and not a network."""
    record = json_value(fspath(path), read_text(path))
    if not isinstance(record, dict):
        return False
    return record["format"] == FORMAT if "format" in record else isinstance(record.get("parents"), dict)


def read(path: str | PathLike[str]) -> Found:
    name = fspath(path)
    record = json_value(name, read_text(path))
    if not isinstance(record, dict) or not isinstance(record.get("parents"), dict):
        raise FileFormatError(f"{name}: this JSON is not the result of a search; expected an object with parents")
    _check_version(name, record)
    try:
        return _found(name, record)
    except FileFormatError:
        raise
    except SpinneyError as error:
        raise FileFormatError(f"{name}: {error}") from None
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise FileFormatError(
            f"{name}: an entry is missing or not of its kind ({error}): the file was changed, write it again"
        ) from None


def _check_version(name: str, record: dict[str, Any]) -> None:
    version = record.get("version")
    if "format" not in record:
        return
    if record["format"] != FORMAT or not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(
            f"{name}: the format {record['format']!r}, version {version!r}, is not a search result; write it again"
        )
    if version > VERSION:
        raise FileFormatError(
            f"{name}: format version {version} is newer than {VERSION}, the last this spinney knows: upgrade spinney"
        )


def _found(name: str, record: dict[str, Any]) -> Found:
    parents = _parents(name, record["parents"])
    local, parted = record.get("local_scores"), record.get("separations")
    return Found(
        parents,
        _number(record.get("score"), math.nan),
        _number(record.get("bound"), math.inf),
        str(record.get("method", "")),
        seconds=0.0,
        stopped=str(record.get("stopped", "")),
        alternatives=tuple(
            Alternative(_parents(name, other["parents"]), _number(other["score"], math.nan))
            for other in record.get("alternatives", ())
        ),
        notes=tuple(map(str, record.get("notes", ()))),
        local=None if local is None else {child: _number(score, math.nan) for child, score in local.items()},
        over=str(record.get("over", "")),
        cpdag=_cpdag(tuple(parents), record) if record.get("returns") == "class" else None,
        separations=None if parted is None else tuple(map(_separation, parted)),
    )


def _parents(name: str, given: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    for child, own in given.items():
        if not isinstance(own, list) or not all(isinstance(parent, str) for parent in own):
            raise FileFormatError(f"{name}: the parents of {child!r} are not a list of names; write the file again")
    return dict(DAG(tuple(given), given).parents)


def _cpdag(names: tuple[str, ...], record: dict[str, Any]) -> CPDAG:
    return CPDAG(names, [(a, b) for a, b in record["edges"]], [(a, b) for a, b in record["undirected"]])


def _separation(given: dict[str, Any]) -> Separation:
    x, y = map(str, given["pair"])
    return Separation(x, y, tuple(map(str, given["given"])), _number(given["p_value"], math.nan))


def _number(value: Any, unknown: float) -> float:
    if value is None:
        return unknown
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is not a number")
    return float(value)
