"""The file of a report.

In:  the facts of a page, and the assets.
Out: one HTML file. The facts are a block of JSON in which '<' is escaped: a name cannot end the block, and the page
shows names as text only. The policy in its head lets the page run its own programs, known by their hashes, and lets it
load nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from os import PathLike
from typing import TYPE_CHECKING, Any

from spinney.errors import ChoiceError
from spinney.files import as_path, split_suffix
from spinney.formats.text import write_text
from spinney.report.facts import collect

if TYPE_CHECKING:
    from spinney.dataset import Data
    from spinney.learn import Result
    from spinney.network import Network

# What computes runs in the page and in its worker; what shows runs in the page.
COMPUTING = (
    "numbers.js",
    "models.js",
    "model_table.js",
    "model_partition.js",
    "model_gaussian.js",
    "model_polynomial.js",
    "model_basis.js",
    "exact.js",
    "sampled.js",
    "worker.js",
)
SHOWING = ("elements.js", "charts.js", "trees.js", "picture.js", "node.js", "ask.js", "sections.js", "page.js")
LARGEST_EXACT = 2**53  # whole numbers beyond are no numbers in JavaScript, and written as text


def write_report(
    path: str | PathLike[str],
    network: Network,
    data: Data | None = None,
    *,
    result: Result | None = None,
    target: str | None = None,
    command: str | None = None,
    source: str | None = None,
) -> int:
    """Write the report; the number of bytes. `command` and `source` are the line that made the network and the
    file that it was learned from, where there were such."""
    name = as_path(path)
    if split_suffix(name) != (".html", False):
        raise ChoiceError(f"{name}: a report is written as .html; choose such a name")
    return write_page(name, collect(network, data, result=result, target=target, command=command, source=source))


def write_page(path: str, facts: dict[str, Any]) -> int:
    """Write the page of these facts; the number of bytes."""
    text = page(facts)
    write_text(text, path)
    return len(text.encode())


def page(facts: dict[str, Any]) -> str:
    """The whole page as text."""
    style, computing, showing = _asset("page.css"), _joined(COMPUTING), _joined(SHOWING)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(computing)} {_hash(showing)}",
            f"style-src {_hash(style)}",
            "worker-src blob:",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    parts = {
        "POLICY": policy,
        "TITLE": html.escape(facts["title"]),
        "STYLE": style,
        "COMPUTING": computing,
        "SHOWING": showing,
        "FACTS": as_json(facts),
    }
    pieces = _asset("page.html").split("@@")  # text, name, text, name, ...
    return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))


def as_json(facts: object) -> str:
    """JSON that can stand in a page: all in ASCII, and no '<', so that no name ends the block that it stands in."""
    return json.dumps(_exact(facts), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _exact(value: Any) -> Any:
    """Whole numbers that JavaScript cannot hold as texts; null for what is not a finite number."""
    if isinstance(value, dict):
        return {key: _exact(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(own) for own in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return str(value)
    return value


def _asset(name: str) -> str:
    return resources.files("spinney.report").joinpath("assets").joinpath(name).read_text(encoding="utf-8")


def _joined(names: tuple[str, ...]) -> str:
    return "\n" + "\n".join(map(_asset, names))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
