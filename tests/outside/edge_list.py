"""A format from outside the package, in one file: a graph as lines of text, `a -> b`, `a -- b`, or a name alone.

In:  the result of a search; or a file.
Out: the file; or the graph."""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path

import spinney as sp
from spinney.catalog import Format
from spinney.search.found import Found


def write(found: Found, path: str | PathLike[str]) -> None:
    graph = found.graph
    directed, undirected = (graph.edges, ()) if isinstance(graph, sp.DAG) else (graph.directed, graph.undirected)
    lines = [*graph.names, *(f"{a} -> {b}" for a, b in sorted(directed)), *(" -- ".join(sorted(p)) for p in undirected)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: str | PathLike[str]) -> Found:
    lines = Path(path).read_text("utf-8").splitlines()
    pairs = {mark: [tuple(line.split(mark)) for line in lines if mark in line] for mark in (" -> ", " -- ")}
    names = [line for line in lines if " -> " not in line and " -- " not in line]
    graph = sp.CPDAG(names, pairs[" -> "], pairs[" -- "])  # type: ignore[arg-type]
    if pairs[" -- "]:
        return Found.of_class(graph, math.nan, math.inf, "read", 0.0)
    parents = {name: tuple(sorted(a for a, b in graph.directed if b == name)) for name in names}
    return Found(parents, math.nan, math.inf, "read", 0.0)


sp.register(Format("edges", "one edge a line", suffixes=(".edges",), holds=("graph",), read=read, write=write))
