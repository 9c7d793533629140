"""Graphviz DOT, for pictures; written only.

In:  a Network, a DAG or a CPDAG.
Out: a .dot file: every node on a line, then every edge; undirected edges of a CPDAG have no arrowhead."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from spinney.formats.text import write_text
from spinney.graph import CPDAG, DAG

if TYPE_CHECKING:
    from spinney.network import Network


def write(graph: Network | DAG | CPDAG, path: str | PathLike[str]) -> None:
    write_text(text(graph), path)


def text(graph: Network | DAG | CPDAG) -> str:
    """The DOT text; names may hold anything."""
    lines = [f"  {_quoted(name)};" for name in graph.names]
    if isinstance(graph, CPDAG):
        lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in sorted(graph.directed)]
        pairs = sorted(sorted(pair) for pair in graph.undirected)
        lines += [f"  {_quoted(a)} -> {_quoted(b)} [dir=none];" for a, b in pairs]
    else:
        lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in graph.edges]
    return "digraph {\n" + "".join(line + "\n" for line in lines) + "}\n"


def _quoted(name: str) -> str:
    # Layout programs show an escaped backslash as one, and \n as a new line; a bare backslash would start an escape.
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'
