"""Files: which format a suffix names, by the rows of the catalog.

In:  a path, and what its file holds: a network, a graph, parent sets or a table. A further .gz compresses.
Out: what was read, or the file written."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from spinney.catalog import FORMATS, Format
from spinney.choices import loaded
from spinney.errors import ChoiceError
from spinney.files import as_path, split_suffix

if TYPE_CHECKING:
    from spinney.fitted.model import LocalModel
    from spinney.network import Network
    from spinney.search.found import Found


def suffix(path: str | PathLike[str]) -> str:
    """The suffix that names the format, in small letters; net.bif.gz has .bif."""
    return split_suffix(as_path(path))[0]


def need_suffix(path: str | PathLike[str], wanted: str, sentence: str) -> None:
    if suffix(path) != wanted:
        raise ChoiceError(f"{as_path(path)}: {sentence}")


def formats_of(holds: str, verb: str) -> dict[str, Format]:
    """By suffix, the formats that can read (or write) such a thing."""
    able = (row for row in FORMATS.values() if holds in row.holds and getattr(row, verb))
    return {suffix: row for row in able for suffix in row.suffixes}


def read(path: str | PathLike[str], holds: str, *, usual: str | None = None) -> Any:
    """What the file holds, read by the format that its suffix names; `usual` is the format for any other suffix."""
    return loaded(_format(path, holds, "read", usual).read)(path)


def write(
    thing: Any,
    path: str | PathLike[str],
    holds: str,
    *,
    usual: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Options are those of the format: exact_names of BIF."""
    loaded(_format(path, holds, "write", usual).write)(thing, path, **(options or {}))


def read_graph(path: str | PathLike[str]) -> Network | Found:
    """A network, or the result of a search: in a suffix that may be either, the content says which."""
    from spinney.formats.found import holds_found

    ending, networks = suffix(path), formats_of("network", "read")
    if ending in formats_of("graph", "read") and (ending not in networks or holds_found(path)):
        found: Found = read(path, "graph")
        return found
    network: Network = read(path, "network")
    return network


def _format(path: str | PathLike[str], holds: str, verb: str, usual: str | None) -> Format:
    able = formats_of(holds, verb)
    if suffix(path) in able:
        return able[suffix(path)]
    if usual is not None:
        return FORMATS[usual]
    raise ChoiceError(
        f"{as_path(path)}: cannot {verb} a {holds} in a file of this suffix: use one of {', '.join(able)} (and .gz)"
    )


def write_diagram(model: LocalModel, path: str | PathLike[str]) -> None:
    from spinney.formats import dot

    need_suffix(path, ".dot", "the tree or graph of one node is written as .dot (and .gz)")
    diagram = model.diagram()
    if diagram is None:
        raise ChoiceError(
            f"node {model.child!r} has a {model.word}, and only trees and decision graphs are drawn; fit the network "
            f"with score pcart or graph"
        )
    dot.write(diagram, path)
