"""YAML and JSON: every file of these formats is read here, so that what one refuses all refuse.

In:  the name of a file and its text.
Out: words, numbers, lists and dicts. Refused in one sentence: a key that is there twice (one of the two would be lost),
nesting beyond any file of ours (parsers that call themselves would use up the stack), YAML aliases (a small file of
them stands for a huge one), texts that no file can hold.
Every scalar of YAML is a text, so that `yes`, `null` and `1` are names and not a truth value, nothing and a number."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import yaml

from spinney.errors import FileFormatError

DEEPEST = 40  # levels of nesting; our own files have at most 8
_MOST_YAML = 50_000_000  # characters; the parser makes objects of some hundred times that
# A text that is not closed goes to the end: looking for its end in every other way would take for ever.
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def json_line(record: Mapping[str, Any]) -> str:
    """One object on one line, keys sorted; null stands for what is not a finite number."""
    return json.dumps(_finite(record), sort_keys=True, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def yaml_node(name: str, text: str, what: str) -> yaml.Node | None:
    """The one document of a YAML file, with the places of its parts; None if there is none. `what` it should be."""
    if len(text) > _MOST_YAML:
        raise FileFormatError(f"{name}: {len(text):,} characters are too long for {what}; is it the right file?")
    try:
        return _composed(name, text)
    except (yaml.YAMLError, ValueError) as error:  # a character that YAML does not allow is a ValueError of its own
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "unreadable"
        raise FileFormatError(
            f"{name}{where}: cannot be read as {what}, it is not YAML ({problem}); correct the line"
        ) from None


def yaml_value(name: str, text: str, what: str) -> Any:
    """The same as texts, lists and dicts; a key stands once."""
    node = yaml_node(name, text, what)
    return None if node is None else _value(name, node)


def entries(name: str, node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
    """The keys, each a text that stands there once, and what they hold."""
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        where = f"{name}, line {key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise FileFormatError(f"{where}: a name must be text; put it in double quotes")
        if key.value in found:
            raise FileFormatError(f"{where}: {key.value!r} is there twice; keep one of the two")
        found[key.value] = value
    return list(found.items())


def _value(name: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {key: _value(name, value) for key, value in entries(name, node)}
    if isinstance(node, yaml.SequenceNode):
        return [_value(name, value) for value in node.value]
    return str(node.value)


def _composed(name: str, text: str) -> yaml.Node | None:
    """By the parser's events, one after the other: its own way of making nodes calls itself and has no limit."""
    root: yaml.Node | None = None
    open_nodes: list[yaml.CollectionNode] = []
    keys: list[yaml.Node | None] = []  # of each open node: the key that waits for its value
    for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            open_nodes.pop()
            keys.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        node, where = _node(name, event), f"{name}, line {_line(event)}"
        if not open_nodes:
            if root is not None:
                raise FileFormatError(f"{where}: a second document; keep one")
            root = node
        elif isinstance(open_nodes[-1], yaml.SequenceNode):
            open_nodes[-1].value.append(node)
        elif (key := keys[-1]) is None:
            keys[-1] = node
        else:
            open_nodes[-1].value.append((key, node))
            keys[-1] = None
        if isinstance(node, yaml.CollectionNode):
            open_nodes.append(node)
            keys.append(None)
            if len(open_nodes) > DEEPEST:
                raise _too_deep(where)
    return root


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _node(name: str, given: yaml.NodeEvent) -> yaml.Node:
    event: Any = given  # the marks of the parser in C are of another class
    start, end = event.start_mark, event.end_mark
    if isinstance(event, yaml.AliasEvent):
        where = f"{name}, line {_line(event)}"
        raise FileFormatError(f"{where}: *{event.anchor} stands for another part of the file; write that part out")
    if isinstance(event, yaml.ScalarEvent):
        return yaml.ScalarNode(str(event.tag), event.value, start, end)
    kind = yaml.SequenceNode if isinstance(event, yaml.SequenceStartEvent) else yaml.MappingNode
    return kind(str(event.tag), [], start, end)


def json_value(name: str, text: str) -> Any:
    """What a JSON file holds. NaN and Infinity are refused, as JSON has it."""
    if _depth(text) > DEEPEST:
        raise _too_deep(name)
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FileFormatError(
            f"{name}: a text holds half a character (\\ud800 to \\udfff alone), which no file can hold; correct it"
        ) from None
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{name}, line {error.lineno}: {error.msg}: the file is cut short or was changed, write it again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{name}: {error}: the file was changed, write it again") from None
    return value


def _depth(text: str) -> int:
    if text.count("[") + text.count("{") <= DEEPEST:
        return 0
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        mark = found.group()
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} is there twice")
    return found


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} stands where a number should be")


def _too_deep(where: str) -> FileFormatError:
    return FileFormatError(
        f"{where}: nested more than {DEEPEST} deep, as no file of this kind is; is it the right file?"
    )
