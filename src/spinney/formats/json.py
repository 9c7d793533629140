"""Our own format: everything a network holds, exactly.

In:  a Network, or a .json file that we wrote.
Out: the file, or the Network. Numbers are written so that they read back to the last bit; probabilities are stored as
they are, not as logarithms, so that no infinity occurs; sparse tables stay sparse. One node is one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError, FileFormatError, SpinneyError
from spinney.fitted.table import Table
from spinney.formats.text import read_text, write_text
from spinney.kinds import Continuous, Kind, from_plain, to_plain
from spinney.network import Network

FORMAT = "spinney-network"
VERSION = 1


def write(network: Network, path: str | PathLike[str]) -> None:
    try:
        head = [f'"format": {_dump(FORMAT)}', f'"version": {VERSION}']
        columns = ",\n".join(_dump({"name": name, **to_plain(kind)}) for name, kind in network.kinds.items())
        nodes = ",\n".join(_dump(_node(model)) for model in network.models.values())
        tail = [f'"plan": {_dump(network.plan)}', f'"data": {_dump(network.data)}', f'"score": {_dump(network.score)}']
    except (TypeError, ValueError) as error:
        # REQUIRES of a plan: texts, finite numbers, lists and dicts of them.
        raise ChoiceError(
            f"{fspath(path)}: the plan, data or score holds what JSON cannot ({error}): use texts and finite numbers"
        ) from None
    parts = [*head, f'"columns": [\n{columns}\n]', f'"nodes": [\n{nodes}\n]', *tail]
    write_text("{" + ",\n".join(parts) + "}\n", path)


def read(path: str | PathLike[str]) -> Network:
    name = fspath(path)
    record = _parsed(name, read_text(path))
    try:
        kinds = dict(map(_column, record["columns"]))
        if len(kinds) < len(record["columns"]):
            raise FileFormatError(f"{name}: a column occurs twice: remove or rename one")
        models = {node["child"]: _table(node, kinds) for node in record["nodes"]}
        return Network(kinds, models, plan=record.get("plan"), score=record.get("score"), data=record.get("data"))
    except FileFormatError:
        raise
    except SpinneyError as error:
        raise FileFormatError(f"{name}: {error}") from None
    except KeyError as error:
        raise FileFormatError(
            f"{name}: the entry {error} is missing: the file was changed or cut, write it again"
        ) from None
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(
            f"{name}: an entry is not of its kind ({error}): the file was changed, write it again"
        ) from None


def _parsed(name: str, text: str) -> dict[str, Any]:
    try:
        record = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{name}, line {error.lineno}: {error.msg}: the file is cut short or was changed, write it again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{name}: {error}: the file was changed, write it again") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise FileFormatError(f"{name}: this JSON is not a spinney network: expected an object with format {FORMAT!r}")
    version = record.get("version")
    if not isinstance(version, int) or version < 1:
        raise FileFormatError(f"{name}: the version {version!r} is not a number from 1 on: write the file again")
    if version > VERSION:
        raise FileFormatError(
            f"{name}: format version {version} is newer than {VERSION}, the last this spinney knows: upgrade spinney"
        )
    return record


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} stands where a number should be")


def _dump(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    """What numpy numbers, arrays and mappings are in JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__}")


def _column(record: dict[str, Any]) -> tuple[str, Kind]:
    name = record["name"]
    return name, from_plain(name, {key: value for key, value in record.items() if key != "name"})


def _node(model: Table) -> dict[str, object]:
    return {
        "child": model.child,
        "model": "table",
        "parents": model.parents,
        "score": model.score,
        "configurations": None if model.dense else model.codes.tolist(),  # null: all, in order
        "probabilities": model.probabilities.tolist(),
        "default": model.default.tolist(),
        "counts": None if model.counts is None else model.counts.tolist(),
    }


def _table(node: dict[str, Any], kinds: dict[str, Kind]) -> Table:
    child, parents = node["child"], tuple(node["parents"])
    if node["model"] != "table":
        raise ChoiceError(
            f"the model of {child!r} is a {node['model']!r}, which this spinney does not know: upgrade spinney"
        )
    for name in (child, *parents):
        if not getattr(kinds.get(name), "levels", None):
            raise ChoiceError(f"the table of {child!r} names {name!r}, which is no column with levels: add the column")
    levels = _levels(kinds[child])
    probabilities = _matrix(node["probabilities"], len(levels))
    stored = node["configurations"]
    table = Table(
        child=child,
        parents=parents,
        levels=levels,
        parent_levels=tuple(_levels(kinds[parent]) for parent in parents),
        codes=np.arange(len(probabilities)) if stored is None else np.array(stored, dtype=np.int64),
        probabilities=probabilities.astype(np.float64),
        default=np.array(node["default"], dtype=np.float64),
        counts=None if node["counts"] is None else _matrix(node["counts"], len(levels)),
        score=node["score"],
    )
    if stored is None and not table.dense:
        raise ChoiceError(
            f"the table of {child!r} has {len(probabilities)} rows for {table.configurations} configurations: add rows"
        )
    return table


def _matrix(rows: list[list[float]], width: int) -> NDArray[Any]:
    return np.array(rows) if rows else np.empty((0, width))


def _levels(kind: Kind) -> tuple[str, ...]:
    assert not isinstance(kind, Continuous) and kind.levels is not None
    return kind.levels
