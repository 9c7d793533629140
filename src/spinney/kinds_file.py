"""kinds.yaml: what every column is, in a file that people edit.

In:  kinds and the reasons for them; or the file, perhaps edited.
Out: the file, the reason a comment after each column; or kinds.
Every scalar is read as text, so that `yes`, `null` and `1` are levels and not a truth value, nothing and a number."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence

import yaml

from spinney.errors import DataError, FileFormatError
from spinney.formats.plain import entries, yaml_node
from spinney.formats.text import read_text, write_text
from spinney.kinds import Kind, LeftOut, as_declared, from_plain, to_plain

_HEADING = """\
# The kinds of the columns. Edit, and pass this file as kinds.
# kind: categorical | ordinal (levels from low to high) | continuous (lo, hi: its range) | left out.
# Without levels, or without lo and hi, those of the data are taken. Columns not named here are decided from the data.
"""

# What may not stand in a YAML file as it is (YAML 1.1, section 5.1), or would be taken for the end of a line.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")

# A key on the line of its colon may have 1,024 characters at most (YAML 1.1, section 9.1.1).
_LONGEST_KEY = 1000

Plain = str | dict[str, str | list[str]]


def text(
    kinds: Mapping[str, Kind | LeftOut], reasons: Mapping[str, str], remarks: Mapping[str, Sequence[str]] | None = None
) -> str:
    """The kinds as the text of a kinds file; remarks stand as comments above their column."""
    lines = [_HEADING]
    for name, kind in kinds.items():
        key = _quoted(name)
        lines += [f"# {_comment(remark)}\n" for remark in (remarks or {}).get(name, ())]
        comment = f"  # {_comment(reasons[name])}" if name in reasons else ""
        lines.append(f"{key}:{comment}\n" if len(key) < _LONGEST_KEY else f"? {key}{comment}\n:\n")
        plain = {"kind": kind.word} if isinstance(kind, LeftOut) else to_plain(kind)
        for option, value in plain.items():
            if isinstance(value, list):
                value = "[" + ", ".join(_quoted(level) for level in value) + "]"
            lines.append(f"  {option}: {value}\n")
    return "".join(lines)


def write(
    path: str | os.PathLike[str],
    kinds: Mapping[str, Kind | LeftOut],
    reasons: Mapping[str, str],
    remarks: Mapping[str, Sequence[str]] | None = None,
) -> None:
    write_text(text(kinds, reasons, remarks), path)


def read(path: str | os.PathLike[str]) -> dict[str, Kind | LeftOut]:
    """The kinds of a kinds file, in the order of the file."""
    name = os.fspath(path)
    root = yaml_node(name, read_text(path), "kinds of columns")
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise FileFormatError(f"{name}: not a kinds file; every entry is a column, as in 'age: continuous'")
    try:
        return {column: _entry(column, _plain(name, node)) for column, node in entries(name, root)}
    except DataError as error:
        raise FileFormatError(f"{name}: {error}") from None


def _entry(name: str, plain: Plain) -> Kind | LeftOut:
    """A column's entry: a word, or a mapping."""
    if isinstance(plain, dict) and len(plain) > 1:
        return from_plain(name, plain)
    return as_declared(name, plain.get("kind") if isinstance(plain, dict) else plain)


def _plain(name: str, node: yaml.Node) -> Plain:
    """A word, or a mapping from options to a word or a list of words."""
    if isinstance(node, yaml.ScalarNode):
        return _word(node)
    if isinstance(node, yaml.MappingNode):
        return {
            key: [_word(item) for item in value.value] if isinstance(value, yaml.SequenceNode) else _word(value)
            for key, value in entries(name, node)
        }
    raise DataError(f"line {node.start_mark.line + 1}: a list is no kind; write the levels after 'levels:'")


def _word(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    raise DataError(f"line {node.start_mark.line + 1}: one value is wanted here; put [ or {{ in double quotes")


def _quoted(name: str) -> str:
    return _escaped(json.dumps(name, ensure_ascii=False))


def _comment(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
