"""How to make the same network again.

In:  a network with its plan, and the command that made it, if there was one.
Out: the command, the lines of Python, and the choices behind both."""

from __future__ import annotations

import platform
import shlex
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.catalog import choose_prior, choose_score, choose_search
from spinney.errors import SpinneyError
from spinney.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from spinney.choices import Choice
    from spinney.network import Network

FILE = "your-table.csv"  # where the name of the file is not known


def again(network: Network, command: str | None, source: str | None) -> dict[str, Any]:
    """The choices of the plan as a command and as Python; a network from elsewhere has none."""
    plan = network.plan or {}
    facts = network.data or {}
    chosen = {
        "score": _short(plan.get("score"), choose_score),
        "prior": _short(plan.get("prior"), choose_prior),
        "search": _short(plan.get("search"), choose_search),
    }
    learned = plan.get("search") is not None
    return {
        **chosen,
        "score_help": _help(plan.get("score"), choose_score),
        "search_help": _help(plan.get("search"), choose_search),
        "max_parents": plan.get("max_parents"),
        "seed": plan.get("seed"),
        "why_score": plan.get("why_score"),
        "fingerprint": facts.get("fingerprint"),
        "learned_with": plan.get("version"),
        "versions": {"spinney": __version__, "Python": platform.python_version(), "numpy": np.__version__},
        "machine": f"{platform.system()} {platform.machine()}".strip(),
        "command": command or (_command(plan, chosen, source or FILE) if learned else None),
        "lines": _lines(plan, chosen, source or FILE) if learned else None,
        "constraints": plan.get("constraints"),
    }


def command_line() -> str:
    """The command that is running, as it could be typed."""
    return shlex.join(["spinney", *sys.argv[1:]])


def _short(text: object, choose: Callable[..., Choice]) -> str | None:
    """Only the options that are not the default; what is not in the catalog stays as it is."""
    if text is None:
        return None
    try:
        return choose(str(text)).short
    except SpinneyError:
        return str(text)


def _help(text: object, choose: Callable[..., Choice]) -> str | None:
    """What the catalog says about it."""
    try:
        return choose(str(text)).entry.help if text is not None else None
    except SpinneyError:
        return None


def _command(plan: dict[str, Any], chosen: dict[str, str | None], file: str) -> str:
    words = ["spinney", "learn", file]
    for option, value in chosen.items():
        if value is not None and value != "uniform":
            words += [f"--{option}", value]
    most = plan.get("max_parents")
    words += ["--max-parents", "none" if most is None else str(most)]
    if plan.get("constraints"):
        words += ["--constraints", "constraints.json"]
    if plan.get("candidates"):
        words += ["--candidates", plan.get("candidates_by") or "candidates.json"]
    words += ["--seed", str(plan.get("seed", 0)), "--report", "report.html"]
    return shlex.join(words)


def _lines(plan: dict[str, Any], chosen: dict[str, str | None], file: str) -> list[str]:
    given = [f"{name}={value!r}" for name, value in chosen.items() if value is not None and value != "uniform"]
    given.append(f"max_parents={plan.get('max_parents')!r}")
    constraints = plan.get("constraints")
    if isinstance(constraints, dict):
        own = ", ".join(f"{name}={value!r}" for name, value in constraints.items() if value)
        given.append(f"constraints=sp.Constraints({own})")
    if plan.get("candidates"):
        given.append(f"candidates={plan.get('candidates_by') or plan['candidates']!r}")
    given.append(f"seed={plan.get('seed', 0)!r}")
    return [
        "import spinney as sp",
        f"data = sp.Dataset.read({file!r})",
        f"result = sp.learn(data, {', '.join(given)})",
        'result.report("report.html")',
    ]
