"""The pages that are written by machine: docs/scores.md, docs/searches.md, docs/cli.md.

In:  the catalog and the commands, as installed.
Out: the pages; with --check nothing is written, and exit 1 with a sentence when a page is not what it should be."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from spinney.catalog import PRIORS, SCORES, SEARCHES, Entry
from spinney.cli import COMMANDS, app
from spinney.kinds import KINDS

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = "<!-- Written by tools/docs.py from {}; change it there and run `python tools/docs.py`. -->\n"


def scores() -> str:
    """Every score: what it is, its options, its properties."""
    every = [*SCORES.values()]
    properties = [
        ("score", "class", *KINDS, "score equivalent", "Bayesian"),
        *((f"`{s.name}`", f"`sp.{s.label}`", *(_tick(kind in s.kinds) for kind in KINDS), _tick(s.equivalent), _tick(s.bayesian))
          for s in every),
    ]
    return "\n".join([
        HEAD.format("src/spinney/catalog.py"), "# Scores\n",
        "A score is chosen by text or by an object, which are the same choice: `score=\"bdeu(ess=10)\"`, "
        "`score=sp.BDeu(ess=10)`, on the command line `--score 'bdeu(ess=10)'`. All scores are natural logs, larger is "
        "better, and a network's score is the sum over its families, plus the log of the [prior](searches.md#priors) "
        "on parent sets.\n",
        "*Score equivalent*: equal on networks of one Markov equivalence class. *Bayesian*: the exponential of a family's "
        "score is the probability of the child's column given the parents' columns, and the fitted tables are posterior "
        "means; for the others they are relative frequencies. A tick under a kind says that the score is defined for "
        "columns of that kind.\n",
        _table(properties), "", *(_section(s) for s in every)])  # fmt: skip


def searches() -> str:
    """Every search and every prior."""
    properties = [("search", "proves", "works on"),
                  *((f"`{s.name}`", _tick(s.exact), "scored parent sets" if s.needs_sets else "scores as it asks for them")
                    for s in SEARCHES.values() if s.name != "auto")]  # fmt: skip
    return "\n".join([
        HEAD.format("src/spinney/catalog.py"), "# Searches and priors\n",
        "## Searches\n",
        "Chosen by text, `search=\"tabu(restarts=10)\"`, or by text and keywords, `sp.learn(data, search=\"tabu\", "
        "restarts=10)`; on the command line `--search 'tabu(restarts=10)'`. Every search honours the constraints and "
        "`max_parents`, ends at the time limit or at Ctrl-C with the best network so far, and gives the same answer for "
        "the same data and seed. A search that *proves* returns a network together with a bound that no other network "
        "over the scored parent sets can exceed.\n",
        _table(properties), "", *(_section(s) for s in SEARCHES.values()),
        "## Priors\n",
        "A prior on parent sets adds its log to every local score: `prior=\"sizes\"`, on the command line "
        "`--prior sizes`.\n",
        *(_section(p) for p in PRIORS.values())])  # fmt: skip


def cli() -> str:
    """Every command with its arguments and options."""
    group: Any = typer.main.get_command(app)
    lines = [
        HEAD.format("the help texts in src/spinney/cli"), "# The command line\n",
        f"{group.help}\n",
        _table([("command", ""), *((f"[`spinney {name}`](#spinney-{name})", _sentence(group.commands[name].help))
                                   for name in COMMANDS)]), "",
        "Results go to standard output, notes and progress to standard error. `--json` gives one JSON object on one line, "
        "without timings unless `--timing` asks for them, so that equal runs give equal bytes. `spinney --version` prints "
        "the version, `spinney COMMAND --help` what is written here.\n",
        _table([("exit code", "meaning"), ("0", "done"), ("1", "done, and the answer is \"no\" (compare: they differ)"),
                ("2", "something must be changed; one sentence on standard error says where, what, and what to do"),
                ("70", "a fault of spinney; `SPINNEY_TRACEBACK=1` in the environment shows where"),
                ("130", "stopped by Ctrl-C before there was a result; a search stopped by Ctrl-C gives its best so far "
                        "and exits 0"),
                ("141", "whoever read standard output stopped reading")]), "",
    ]  # fmt: skip
    for name in COMMANDS:
        lines += _command(name, group.commands[name])
    return "\n".join(lines)


def _command(name: str, command: Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["spinney", name, "[OPTIONS]", *(p.metavar for p in arguments)])
    return [
        f"## spinney {name}\n", f"{_sentence(command.help)}\n", f"    {usage}\n",
        _table([("", "", "default"), *((f"`{p.metavar.strip('[]')}`", p.help, "") for p in arguments),
                *((_names(p), p.help, _default(p)) for p in options)]), "",
    ]  # fmt: skip


def _names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return f"{names} `{option.metavar}`" if option.metavar else names


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if option.secondary_opts:
        return f"`{(option.opts if option.default else option.secondary_opts)[0]}`"
    return "" if option.default is None or option.default is False else f"`{option.default}`"


def _sentence(help_text: str) -> str:
    return " ".join(help_text.split())


def _section(entry: Entry) -> str:
    lines = [f"### {entry.name}\n", f"{entry.help[:1].upper()}{entry.help[1:]}." + (f" {entry.source}." if entry.source else "")]
    if entry.options:
        rows = [("option", "default", "meaning"),
                *((f"`{o.name}`", "" if o.default is None else f"`{o.default}`", o.help) for o in entry.options)]  # fmt: skip
        lines += ["", _table(rows)]
    return "\n".join([*lines, ""])


def _tick(yes: bool) -> str:
    return "✓" if yes else ""


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body])


PAGES = {"scores.md": scores, "searches.md": searches, "cli.md": cli}


def main(arguments: list[str]) -> int:
    stale = []
    for name, page in PAGES.items():
        text, file = page().rstrip("\n") + "\n", DOCS / name
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if arguments != ["--check"]:
            DOCS.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if arguments == ["--check"] and stale:
        print(f"docs: {', '.join(stale)} in docs/ differ from the catalog or the commands; run python tools/docs.py and commit",
              file=sys.stderr)  # fmt: skip
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
