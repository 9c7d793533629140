"""Graphs from files.

In:  a network in any format that can be read, or the JSON that `spinney solve` and `spinney learn --json` give.
Out: the graph, and the network where the file holds one."""

from __future__ import annotations

from spinney.errors import FileFormatError, SpinneyError
from spinney.formats import suffix
from spinney.formats.plain import json_value
from spinney.formats.text import read_text
from spinney.graph import DAG
from spinney.network import Network


def read_graph(file: str) -> tuple[DAG, Network | None]:
    parents = _listed_parents(file) if suffix(file) == ".json" else None
    if parents is None:
        network = Network.read(file)
        return network.dag, network
    try:
        return DAG(tuple(parents), parents), None
    except SpinneyError as error:
        raise FileFormatError(f"{file}: {error}") from None


def _listed_parents(file: str) -> dict[str, list[str]] | None:
    """The parents that an answer of ours lists; None for all other JSON, of which Network.read knows what to say."""
    record = json_value(file, read_text(file))
    if not isinstance(record, dict) or "format" in record or not isinstance(record.get("parents"), dict):
        return None
    parents: dict[str, list[str]] = record["parents"]
    for child, own in parents.items():
        if not isinstance(own, list) or not all(isinstance(parent, str) for parent in own):
            raise FileFormatError(f"{file}: the parents of {child!r} are not a list of names; write the file again")
    return parents
