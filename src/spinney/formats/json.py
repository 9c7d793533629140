"""Our own format: everything a network holds, exactly.

In:  a Network, or a .json file that we wrote.
Out: the file, or the Network. Numbers are written so that they read back to the last bit; probabilities are stored as
they are, not as logarithms, so that no infinity occurs; sparse tables stay sparse; a threshold that is not one is null.
One node is one line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError, FileFormatError, SpinneyError
from spinney.fitted.linear_leaves import LinearLeaves
from spinney.fitted.model import LocalModel
from spinney.fitted.partition import Partition
from spinney.fitted.polynomial import Polynomial
from spinney.fitted.table import Table
from spinney.formats.plain import json_value
from spinney.formats.text import read_text, write_text
from spinney.kinds import Continuous, Kind, from_plain, to_plain
from spinney.network import Network
from spinney.parent_sets import MOST_SCORE

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
    if network.cuts:
        tail.append(f'"cuts": {_dump(network.cuts)}')
    parts = [*head, f'"columns": [\n{columns}\n]', f'"nodes": [\n{nodes}\n]', *tail]
    write_text("{" + ",\n".join(parts) + "}\n", path)


def read(path: str | PathLike[str]) -> Network:
    name = fspath(path)
    record = _parsed(name, read_text(path))
    try:
        kinds = dict(map(_column, record["columns"]))
        if len(kinds) < len(record["columns"]):
            raise FileFormatError(f"{name}: a column occurs twice: remove or rename one")
        models = {node["child"]: _model(node, kinds) for node in record["nodes"]}
        extra = {key: record.get(key) for key in ("plan", "data", "cuts")}
        extra["score"] = _number(record.get("score"))
        return Network(kinds, models, **extra)
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
    record = json_value(name, text)
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
    name = _name(record["name"])
    for level in record.get("levels") or ():
        _name(level)
    return name, from_plain(name, {key: value for key, value in record.items() if key != "name"})


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} stands where a name should be, in quotes")
    return value


def _number(value: object) -> float | None:
    """A score; one that is beyond all numbers is none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < MOST_SCORE:
        raise TypeError(f"the score {value!r} is not a number between -1e15 and 1e15")
    return float(value)


def _node(model: LocalModel) -> dict[str, object]:
    plain = _PLAIN_MODELS[model.word](model)
    return {"child": model.child, "model": model.word, "parents": model.parents, "score": model.score, **plain}


def _model(node: dict[str, Any], kinds: dict[str, Kind]) -> LocalModel:
    child, word = _name(node["child"]), node["model"]
    if word not in _MODELS:
        raise ChoiceError(f"the model of {child!r} is a {word!r}, which this spinney does not know: upgrade spinney")
    for name in (child, *node["parents"]):
        if name not in kinds:
            raise ChoiceError(f"the {word} of {child!r} names {name!r}, which is no column here: add the column")
    return _MODELS[word](node, kinds)


def _plain_table(model: Table) -> dict[str, object]:
    return {
        "configurations": None if model.dense else model.codes.tolist(),  # null: all, in order
        "probabilities": model.probabilities.tolist(),
        "default": model.default.tolist(),
        "counts": None if model.counts is None else model.counts.tolist(),
    }


def _table(node: dict[str, Any], kinds: dict[str, Kind]) -> Table:
    child, parents = node["child"], tuple(node["parents"])
    for name in (child, *parents):
        if not getattr(kinds[name], "levels", None):
            raise ChoiceError(f"the table of {child!r} names {name!r}, which is no column with levels: add them")
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
        score=_number(node["score"]),
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


_NODES = ("feature", "left", "right", "leaf")
_PRIOR = ("alpha", "mu0", "a", "nu", "lam", "kappa")


def _plain_partition(model: Partition) -> dict[str, object]:
    return {
        **{name: getattr(model, name).tolist() for name in _NODES},
        "threshold": [None if np.isnan(cut) else cut for cut in model.threshold.tolist()],
        "goes_left": [None if side is None else np.flatnonzero(side).tolist() for side in model.goes_left],  # levels
        "sums": model.sums.tolist(),
        "prior": {name: getattr(model, name) for name in _PRIOR},
        **({} if model.alphas is None else {"alphas": model.alphas.tolist()}),
        "shift": model.shift,
        "scale": model.scale,
    }


def _partition(node: dict[str, Any], kinds: dict[str, Kind]) -> Partition:
    child, parents = node["child"], tuple(node["parents"])
    features = _whole(node["feature"])
    if len(node["goes_left"]) != len(features):
        raise ChoiceError(f"the partition of {child!r} has goes_left for other than all nodes: give one entry per node")
    sides: list[NDArray[np.bool_] | None] = []
    for feature, codes in zip(features.tolist(), node["goes_left"], strict=True):
        if codes is None or not 0 <= feature < len(parents):
            sides.append(None)
            continue
        side = np.zeros(len(getattr(kinds[parents[feature]], "levels", None) or ()), dtype=bool)
        if any(not 0 <= code < len(side) for code in codes):
            raise ChoiceError(
                f"the partition of {child!r} splits {parents[feature]!r} at a level that it does not have"
            )
        side[_whole(codes)] = True
        sides.append(side)
    return Partition(
        child=child,
        parents=parents,
        kind=kinds[child],
        parent_kinds=tuple(kinds[parent] for parent in parents),
        feature=features,
        left=_whole(node["left"]),
        right=_whole(node["right"]),
        threshold=np.array([np.nan if cut is None else cut for cut in node["threshold"]], dtype=np.float64),
        goes_left=tuple(sides),
        leaf=_whole(node["leaf"]),
        sums=np.array(node["sums"], dtype=np.float64),
        shift=node["shift"],
        scale=node["scale"],
        score=_number(node["score"]),
        alphas=None if node.get("alphas") is None else np.array(node["alphas"], dtype=np.float64),
        **{name: node["prior"][name] for name in _PRIOR},
    )


def _whole(numbers: list[int]) -> NDArray[np.int32]:
    if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers):
        raise TypeError("a whole number is expected")
    return np.array(numbers, dtype=np.int32)


# One row per type of model: how it is written, how it is read.
_PLAIN_MODELS: dict[str, Callable[[Any], dict[str, object]]] = {
    Table.word: _plain_table,
    Partition.word: _plain_partition,
    LinearLeaves.word: lambda model: {**_plain_partition(model), "regression": model.regression_plain()},
    Polynomial.word: Polynomial.to_plain,
}
_MODELS: dict[str, Callable[[dict[str, Any], dict[str, Kind]], LocalModel]] = {
    Table.word: _table,
    Partition.word: _partition,
    LinearLeaves.word: lambda node, kinds: LinearLeaves.of(_partition(node, kinds), node["regression"]),
    Polynomial.word: lambda node, kinds: Polynomial.from_plain({**node, "score": _number(node["score"])}, kinds),
}
