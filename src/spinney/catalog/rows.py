"""What a row of the catalog says: of a score, a search, a method that chooses candidates, a file format.

Rows name the code that they run as "package.module:name"; it is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from spinney.choices import Choice, Code, Entry, build_choice


def any_of(*kinds: str) -> dict[str, tuple[str, ...]]:
    """Children of these kinds, each with parents of these kinds."""
    return dict.fromkeys(kinds, kinds)


@dataclass(frozen=True)
class Score(Entry):
    """A local score. `source` is the class that scores families of one data set (scores/source.py)."""

    source: Code = "spinney.scores.tabular:Tabular"
    parameter: str | float = 1.0  # of a table score: the option that its formula reads, or a number
    label: str = ""  # the name of its class in the public API
    # Per kind of child that it is defined for, the kinds that the parents may have.
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: any_of("categorical", "ordinal"))
    equivalent: bool = False  # equal on Markov equivalent DAGs
    bayesian: bool = False  # exp(score) is a probability of the child's column, and fits are posterior means
    # Whether it is the log of a probability, or density, of the child's (standardised) column; or the option that must
    # be on for that.
    evidence: bool | str = False
    # Whether it is that of the best of many local models, and not their sum; or the option that makes it the sum.
    best_of: bool | str = False
    same_as: str = ""  # the formula is that of this row

    def as_evidence(self, choice: Choice) -> Choice | None:
        """The choice with what `evidence` asks for; None if it is no log of a probability or density at all."""
        if isinstance(self.evidence, str):
            return build_choice(self, {**choice.values, self.evidence: True})
        return choice if self.evidence else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of columns that it is defined for: every column is a child, if only one without parents."""
        return tuple(self.parents)


@dataclass(frozen=True)
class Search(Entry):
    """A search method. `run` is the function Problem -> Found."""

    run: Code = ""
    # What it reads: scored parent sets; scores of families, listed or asked for as it goes; tests; the data itself.
    reads: Literal["sets", "scores", "tests", "data"] = "scores"
    returns: Literal["dag", "class"] = "dag"  # class: a CPDAG, the graph of a Markov equivalence class
    exact: bool = False  # proves that its answer is the best


@dataclass(frozen=True)
class Candidates(Entry):
    """A method that chooses candidate parents from the data. `run` is the function (Job, Choice, seconds) -> Picked
    (candidates/__init__.py)."""

    run: Code = ""


HELD = ("network", "graph", "parent sets", "table")  # what files hold; a graph is the result of a search


@dataclass(frozen=True)
class Format(Entry):
    """A file format. `read` takes a path and returns what the file holds, `write` takes that and a
    path. Tables are told by their content too: there `read` takes the bytes and the name of the file, with options by
    name, and returns columns (a RawTable, or any data frame); `read_large` takes the path of a large file, its name,
    and a function that is told what has been taken so far (text_blocks.Room), and returns a RawTable, or None where the
    file has to be read at once; `write` takes a Dataset and the suffix, and returns
    bytes."""

    suffixes: tuple[str, ...] = ()  # with the dot; .gz may follow everywhere
    holds: tuple[str, ...] = ("network",)  # what its files may hold, of HELD
    read: Code = ""
    write: Code = ""
    read_large: Code = ""  # of a table: batch by batch
    starts: tuple[bytes, ...] = ()  # of a table: how its files begin
