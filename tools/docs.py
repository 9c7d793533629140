"""The pages that are generated: docs/scores.md, docs/searches.md, docs/cli.md, docs/api.md.

In:  the catalog, the commands and the docstrings, as installed.
Out: the pages, and those written by hand with their lines wrapped. With --check nothing is written, and the exit code
is 1, with a sentence, when a page is not what it should be."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for api.py, when a test loads this file

import api
import wrap
from spinney.catalog import AUTO, CANDIDATES, PRIORS, SCORES, SEARCHES
from spinney.choices import Entry
from spinney.cli import COMMANDS, app
from spinney.kinds import KINDS

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = "<!-- Written by tools/docs.py from {}; change it there and run `python tools/docs.py`. -->\n"

READS = {"sets": "parent sets", "scores": "parent sets, or the data", "tests": "the data", "data": "the data"}

SCORES_TEXT = """\
# Scores

Without a choice the score is `auto`: `bdeu` where all columns are discrete; where a column is continuous `best`, which
compares `pcart`, `pcart(leaf=linear)` and `ft` in every node, or `pcart` alone if the table has more than 64 columns or
10 million cells. `learn` says which, and why; the plan of the network has the score itself and the reason. [Which score
for a mixed table](mixed.md) says what was measured, and when to take another. What the search `auto` then does stands
in [searches](searches.md).

A categorical parent may have any number of levels. Trees (`pcart`) split its 13 most frequent ones and treat the others
as one level, `ft` tells the 63 most frequent ones; equal counts go by the texts of the levels. Where several discrete
parents meet, or continuous ones are among them, those with the most levels are grouped further, and ordered levels with
their neighbours, until a family has at most 2^16 joint level sets, an eighth of that for every continuous parent. The
rule reads the parents' columns only, so that scores stay probabilities of the child's column; the prior of trees counts
groups. `graph` takes parents of at most 64 levels.

A score is chosen by text or by an object, which are the same choice: `score="bdeu(ess=10)"`, `score=sp.BDeu(ess=10)`,
on the command line `--score 'bdeu(ess=10)'`. All scores are natural logs, larger is better; a network's score is the
sum over its families, the log of the [prior](searches.md#priors) on parent sets included.

*Score equivalent*: equal on networks of one Markov equivalence class. *Bayesian*: the exponential of a family's score
is the probability of the child's column given those of the parents (of a tree or a graph: given the one that was
found), and the fitted tables are posterior means; for the others they are relative frequencies. A tick under a kind
says that the score is defined for columns of that kind.
"""

EVIDENCE_TEXT = """\
## Options by evidence

Some options may be left to the data: `score="pcart(lam=auto)"`, `"pcart(alpha=auto, lam=auto)"`, `"bdeu(ess=auto)"`.
Powers of two between the ends that stand beside the option are tried, and the one under which the data is most
probable is taken (empirical Bayes). The measure is the score of the best network with at most one parent per node, as
`search="chow-liu(forest=True)"` finds it under the uniform prior on parent sets; beyond 64 columns only the 8 most
associated parents of a column are tried. Where several options are `auto`, they are tried one after another, the others
as they are, until none changes. All columns share the values. A value must be better than the default, or than one
nearer to it, to be taken.

The rows alone decide, so `score`, `fit`, `learn` and all others have the same values on the same rows, whatever the
constraints, the search and the prior. `learn` says them, and what they gain. The network keeps the numbers, not the
word `auto`: the command in its report gives the same again. Comparisons (`sp.evaluate`) choose anew on the rows that
are learned from, so held-out rows have no say. Within a time limit, three tenths of it may be spent on this; where that
does not suffice, the best values so far are taken, and it is said.

A value that was chosen by the rows fits these rows too well by a little. With one or two options and hundreds of rows
that is nothing. A continuous column of few different values is another matter: the narrower the leaves, the more
probable such a column, without end. So the ends are part of the choice, and it is said where a value is at one. If
`lam` has its lowest value, call such columns ordinal, or keep the default. `sp.evaluate.log_loss(data, ["pcart",
"pcart(lam=auto)"])` says whether it helps; [mixed.md](mixed.md) has what was measured.
"""

SEARCHES_TEXT = """\
# Searches, priors and candidates

## Searches

Chosen by text, `search="tabu(restarts=10)"`, or by text and keywords, `sp.learn(data, search="tabu", restarts=10)`;
on the command line `--search 'tabu(restarts=10)'`. Every search honours the constraints and `max_parents`, ends at
the time limit or at Ctrl-C with the best network so far, and gives the same answer for the same data and seed. A
search that *proves* returns a network together with a bound that no other network over the scored parent sets can
exceed. It needs all parent sets scored first, and if that alone takes longer than the time limit, says so.

`chow-liu` and `tan` return the best of all trees, for every score. They score all families that a tree can have,
and have no network before that: past the time limit they say so. Their bound is that of the other searches, over all
networks, not over trees. A tree contains all columns, also where that lowers the score; with `forest=True` it
need not. On the command line: `--search 'tan(target=diagnosis)'`; a name with commas or quotes is written in
double quotes.

`pc` and `cpc` ask no score which edges there are: tests of independence decide (see `sp.independence`). They return
a class, `found.cpdag`; the network is a member of it, fitted with the score. `found.separations` has the pairs that
are not joined and independent only given others, with these and the p-value. Where tests contradict each other the
surer one holds: colliders are directed by falling p-value of what parts their two ends, as long as they close no cycle
and turn no earlier arrow. So there is always a network, and `found.notes` say what gave way. Required edges are not
tested, pairs that may not be joined are not, and a direction that the constraints leave alone is taken. Edges beyond
`max_parents` (3 unless told) are left out, weakest first, and said: for the answer of the tests alone set
`max_parents=None`.
"""

PRIORS_TEXT = """\
## Priors

A prior on parent sets adds its log to every local score: `prior="sizes"`, on the command line `--prior sizes`.
"""

CANDIDATES_TEXT = """\
## Candidates

A method that chooses, from the data, the columns that may be parents of each child: `candidates="forest(k=5)"`, on the
command line `--candidates 'forest(k=5)'`. [candidates.md](candidates.md) says when to use it, and what a proof means
then.
"""

CLI_TEXT = """\
Results go to standard output, notes and progress to standard error. `--json` gives one JSON object on one line, without
timings unless `--timing` asks for them, so that equal runs give equal bytes. `spinney --version` prints the version,
`spinney COMMAND --help` what is written here.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | done, and the answer is "no" (compare: they differ) |
| 2 | something must be changed; one sentence on standard error says where, what, and what to do |
| 70 | an error in spinney; `SPINNEY_TRACEBACK=1` in the environment shows where |
| 130 | stopped by Ctrl-C before there was a result; a search that is stopped gives its best so far and exits 0 |
| 141 | the program that reads standard output has ended |
"""


def scores() -> str:
    """Every score: what it is, its options, its properties."""
    rows = [("score", "class", *KINDS, "score equivalent", "Bayesian")]
    for s in SCORES.values():
        kinds = [_tick(kind in s.kinds) for kind in KINDS]
        rows.append((f"`{s.name}`", f"`sp.{s.label}`", *kinds, _tick(s.equivalent), _tick(s.bayesian)))
    return "\n".join(
        [
            HEAD.format("src/spinney/catalog"),
            SCORES_TEXT,
            _table(rows),
            "",
            *map(_section, (AUTO, *SCORES.values())),
            EVIDENCE_TEXT,
        ]
    )


def searches() -> str:
    """Every search, every prior and every candidate method."""
    rows = [("search", "proves", "works on")]
    for s in SEARCHES.values():
        if s.name != "auto":
            works_on = READS[s.reads]
            rows.append((f"`{s.name}`", _tick(s.exact), works_on))
    return "\n".join(
        [
            HEAD.format("src/spinney/catalog"),
            SEARCHES_TEXT,
            _table(rows),
            "",
            *(_section(s) for s in SEARCHES.values()),
            PRIORS_TEXT,
            *(_section(p) for p in PRIORS.values()),
            CANDIDATES_TEXT,
            *(_section(c) for c in CANDIDATES.values()),
        ]
    )


def cli() -> str:
    """Every command with its arguments and options."""
    group: Any = typer.main.get_command(app)
    commands = {name: _found(group, name) for name in COMMANDS}
    rows = [
        (f"[`spinney {name}`](#spinney-{name.replace(' ', '-')})", _sentence(command.help))
        for name, command in commands.items()
    ]
    lines = [
        HEAD.format("the help texts in src/spinney/cli"),
        "# The command line\n",
        f"{group.help}\n",
        _table([("command", "does"), *rows]),
        "",
        CLI_TEXT,
    ]
    for name, command in commands.items():
        lines += _command(name, command)
    return "\n".join(lines)


def _found(group: Any, name: str) -> Any:
    """The command of this name, which may be in a group of its own."""
    for own in name.split():
        group = group.commands[own]
    return group


def _command(name: str, command: Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["spinney", name, "[OPTIONS]", *(p.metavar for p in arguments)])
    rows = [
        ("argument or option", "meaning", "default"),
        *((f"`{p.metavar.strip('[]')}`", p.help, "") for p in arguments),
        *((_names(p), p.help, _default(p)) for p in options),
    ]
    return [f"## spinney {name}\n", f"{_sentence(command.help)}\n", f"    {usage}\n", _table(rows), ""]


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
    lines = [f"### {entry.name}\n", f"{entry.help}." + (f" Source: {entry.reference}." if entry.reference else "")]
    if entry.options:
        rows = [(f"`{o.name}`", "" if o.default is None else f"`{o.default}`", o.help) for o in entry.options]
        lines += ["", _table([("option", "default", "meaning"), *rows])]
    return "\n".join([*lines, ""])


def _tick(yes: bool) -> str:
    return "✓" if yes else ""


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body])


def reference() -> str:
    """Every public name of the Python package."""
    return HEAD.format("the docstrings in src/spinney") + "\n" + api.page()


PAGES = {"scores.md": scores, "searches.md": searches, "cli.md": cli, "api.md": reference}


def main(arguments: list[str]) -> int:
    stale = []
    pages = {name: page().rstrip("\n") + "\n" for name, page in PAGES.items()}
    by_hand = [file for file in DOCS.glob("*.md") if file.name not in PAGES]
    pages |= {file.name: wrap.wrapped(file.read_text(encoding="utf-8")) for file in by_hand}
    for name, text in pages.items():
        file = DOCS / name
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if arguments != ["--check"]:
            DOCS.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if arguments == ["--check"] and stale:
        print(
            f"docs: {', '.join(stale)} in docs/ are out of date or have lines of more than {wrap.WIDTH} columns; "
            "run python tools/docs.py and commit",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
