"""The formats of networks: one file per format, and the one table that finds it.

In:  a path; its suffix names the format, a further .gz compresses.
Out: the network read, or the file written."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from spinney.errors import ChoiceError
from spinney.files import as_path

if TYPE_CHECKING:
    from spinney.fitted.model import LocalModel
    from spinney.network import Network

# The module of each suffix. One that can read has read(path) -> Network, one that can write has write(network, path).
# They know networks, which know data, whose kinds are read from files: so they are imported when they are asked for.
NETWORKS = {".json": "json", ".bif": "bif", ".dot": "dot"}


def suffix(path: str | PathLike[str]) -> str:
    """The suffix that names the format, in small letters; net.bif.gz has .bif."""
    plain = Path(as_path(path))
    return (plain.with_suffix("") if plain.suffix.lower() == ".gz" else plain).suffix.lower()


def need_suffix(path: str | PathLike[str], wanted: str, sentence: str) -> None:
    if suffix(path) != wanted:
        raise ChoiceError(f"{as_path(path)}: {sentence}")


def read_network(path: str | PathLike[str]) -> Network:
    network: Network = _module(path, "read").read(path)
    return network


def write_network(network: Network, path: str | PathLike[str], **options: Any) -> None:
    """Options are those of the format: exact_names of BIF."""
    _module(path, "write").write(network, path, **options)


def write_partition(model: LocalModel, path: str | PathLike[str]) -> None:
    from spinney.fitted.partition import Partition
    from spinney.formats import dot

    need_suffix(path, ".dot", "the tree or graph of one node is written as .dot (and .gz)")
    if not isinstance(model, Partition):
        raise ChoiceError(
            "this node has a table, and only trees and decision graphs are drawn; fit the network with score pcart or "
            "graph"
        )
    dot.write(model, path)


def modules() -> dict[str, ModuleType]:
    return {ending: import_module(f"{__name__}.{module}") for ending, module in NETWORKS.items()}


def _module(path: str | PathLike[str], verb: str) -> ModuleType:
    known = modules()
    able = [ending for ending, module in known.items() if hasattr(module, verb)]
    if suffix(path) not in able:
        raise ChoiceError(
            f"{as_path(path)}: cannot {verb} a network in a file of this suffix: use one of {', '.join(able)} (and .gz)"
        )
    return known[suffix(path)]
