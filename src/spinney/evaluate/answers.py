"""What all answers of an evaluation share: a table for people, JSON, a file.

In:  a head, rows of cells, lines below.
Out: text, HTML for notebooks, JSON with null for what is not a finite number."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from spinney.errors import ChoiceError
from spinney.formats.plain import json_line
from spinney.formats.text import write_text
from spinney.layout import aligned, html_table


@dataclass(frozen=True)
class Shown:
    """A table for people."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        return [self.title, *aligned([self.head, *self.rows], head=True)] if self.rows else []


class Answer(ABC):
    """The answer of an evaluation."""

    @abstractmethod
    def tables(self) -> list[Shown]:
        """What people are shown."""

    @abstractmethod
    def notes(self) -> list[str]:
        """What a reader should know."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""

    def plot(self) -> Any:
        """A picture, as a matplotlib Figure (extra `plot`)."""
        raise ChoiceError(f"there is no picture of {type(self).__name__}; print() shows its tables")

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything as JSON: .json or .json.gz."""
        write_text(json_line(self.as_dict()) + "\n", path)

    def __str__(self) -> str:
        return "\n".join([line for table in self.tables() for line in table.lines()] + self.notes())

    def _repr_html_(self) -> str:
        """For notebooks."""
        after = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes())
        return "".join(html_table(table.title, table.head, table.rows) for table in self.tables()) + after


def cell(value: float, digits: int = 4) -> str:
    """A number, or - where there is none."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def new_figure(width: float, height: float) -> Any:
    """A figure of matplotlib: no window, no global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ChoiceError("plot() needs the package matplotlib: install it with pip install matplotlib") from None
    return Figure(figsize=(width, height), layout="constrained")
