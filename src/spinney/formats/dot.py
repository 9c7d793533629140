"""Graphviz DOT, for pictures; written only.

In:  a Network, the result of a search, a DAG or a CPDAG; or one node's tree or decision graph.
Out: a .dot file: every node on a line, then every edge; undirected edges of a CPDAG have no arrowhead, those of a tree
say yes or no."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from spinney.fitted.partition import Partition
from spinney.formats.text import write_text
from spinney.graph import CPDAG, DAG
from spinney.search.found import Found

if TYPE_CHECKING:
    from spinney.network import Network


def write(graph: Network | Found | DAG | CPDAG | Partition, path: str | PathLike[str]) -> None:
    write_text(text(graph.graph if isinstance(graph, Found) else graph), path)


def text(graph: Network | DAG | CPDAG | Partition) -> str:
    """The DOT text; names may hold anything."""
    if isinstance(graph, Partition):
        return _drawn(_of_partition(graph))
    lines = [f"  {_quoted(name)};" for name in graph.names]
    if isinstance(graph, CPDAG):
        lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in sorted(graph.directed)]
        pairs = sorted(sorted(pair) for pair in graph.undirected)
        lines += [f"  {_quoted(a)} -> {_quoted(b)} [dir=none];" for a, b in pairs]
    else:
        lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in graph.edges]
    return _drawn(lines)


def _of_partition(graph: Partition) -> list[str]:
    lines = []
    for node, words in enumerate(graph.words()):
        shape = "ellipse" if graph.feature[node] >= 0 else "box"
        lines.append(f"  {node} [label={_quoted(words)}, shape={shape}];")
    for node in np.flatnonzero(graph.feature >= 0).tolist():
        lines.append(f'  {node} -> {graph.left[node]} [label="yes"];')
        lines.append(f'  {node} -> {graph.right[node]} [label="no"];')
    return lines


def _drawn(lines: list[str]) -> str:
    return "digraph {\n" + "".join(line + "\n" for line in lines) + "}\n"


def _quoted(name: str) -> str:
    # Layout programs show an escaped backslash as one, and \n as a new line; a bare backslash would start an escape.
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'
