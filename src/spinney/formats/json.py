"""Our own format: everything a network holds, exactly.

In:  a Network, or a .json file that we wrote.
Out: the file, or the Network. Numbers are written so that they read back to the last bit; probabilities are stored as
they are, not as logarithms, so that no infinity occurs; sparse tables stay sparse; a threshold that is not one is null.
One node is one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from spinney.errors import ChoiceError, FileFormatError, SpinneyError
from spinney.fitted import model_class
from spinney.fitted.model import LocalModel
from spinney.formats.plain import json_value
from spinney.formats.text import read_text, write_text
from spinney.kinds import Kind, from_plain, to_plain
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
        # REQUIRES of a plan and of LocalModel.to_plain(): texts, finite numbers, lists and dicts of them.
        raise ChoiceError(
            f"{fspath(path)}: the plan, data, score or a model holds what JSON cannot ({error}): use texts and finite "
            f"numbers"
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
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
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
    own = model_class(model.word)
    if own is None or not isinstance(model, own):
        raise ChoiceError(
            f"the model of {model.child!r} is a {model.word!r}, a type that is not registered and could not be read "
            f"again: call sp.register({type(model).__name__}) first"
        )
    head = {"child": model.child, "model": model.word, "parents": model.parents, "score": model.score}
    plain = model.to_plain()
    if taken := sorted(head.keys() & plain.keys()):
        raise ChoiceError(f"the model of {model.child!r} ({model.word}) writes {taken[0]!r} too: rename its own entry")
    return {**head, **plain}


def _model(node: dict[str, Any], kinds: dict[str, Kind]) -> LocalModel:
    child, word = _name(node["child"]), node["model"]
    own = model_class(word)
    if own is None:
        raise ChoiceError(
            f"the model of {child!r} is a {word!r}, which this spinney does not know: upgrade spinney, or import the "
            f"package that registers it"
        )
    for name in (child, *node["parents"]):
        if name not in kinds:
            raise ChoiceError(f"the {word} of {child!r} names {name!r}, which is no column here: add the column")
    return own.from_plain({**node, "score": _number(node["score"])}, kinds)
