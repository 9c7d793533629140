"""Graphviz DOT, for pictures; written only.

In:  a Network, the result of a search, a DAG or a CPDAG; or the diagram of one node's tree or decision graph.
Out: a .dot file: every node on a line, then every edge; undirected edges of a CPDAG have no arrowhead, those of a tree
say yes or no."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from spinney.fitted.model import Diagram
from spinney.formats.text import write_text
from spinney.graph import CPDAG, DAG
from spinney.search.found import Found

if TYPE_CHECKING:
    from spinney.network import Network


def write(graph: Network | Found | DAG | CPDAG | Diagram, path: str | PathLike[str]) -> None:
    write_text(text(graph.graph if isinstance(graph, Found) else graph), path)


def text(graph: Network | DAG | CPDAG | Diagram) -> str:
    """The DOT text; names may hold anything."""
    if isinstance(graph, Diagram):
        return _drawn(_of_diagram(graph))
    lines = [f"  {_quoted(name)};" for name in graph.names]
    if isinstance(graph, CPDAG):
        lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in sorted(graph.directed)]
        pairs = sorted(sorted(pair) for pair in graph.undirected)
        lines += [f"  {_quoted(a)} -> {_quoted(b)} [dir=none];" for a, b in pairs]
    else:
        lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in graph.edges]
    return _drawn(lines)


def _of_diagram(graph: Diagram) -> list[str]:
    lines = []
    for box, (words, end) in enumerate(graph.boxes):
        lines.append(f"  {box} [label={_quoted(words)}, shape={'box' if end else 'ellipse'}];")
    return lines + [f"  {box} -> {other} [label={_quoted(words)}];" for box, other, words in graph.arrows]


def _drawn(lines: list[str]) -> str:
    return "digraph {\n" + "".join(line + "\n" for line in lines) + "}\n"


def _quoted(name: str) -> str:
    # Layout programs show an escaped backslash as one, and \n as a new line; a bare backslash would start an escape.
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'
