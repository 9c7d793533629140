"""Text for people: counts with their noun, columns of text, tables that are cut when they are long.

In:  names, numbers, rows of cells.
Out: lines of text, or an HTML table for notebooks. Nothing here computes."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from itertools import islice

ROWS = 50  # that a table shows before it is cut
LEVELS = 10  # levels that stand side by side


def counted(count: int, noun: str, plural: str = "") -> str:
    """1 edge, 2 edges, 1,000 edges."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def number(value: float) -> str:
    return f"{value:.4f}"


def shown_number(value: float, difference: float) -> str:
    """Six digits, or as many as show a difference of this size: years and seconds since 1970 are large and close."""
    if abs(value) < 1e-6 * difference < math.inf:
        return "0"
    digits, size = 6, math.log10(abs(value)) if value else 0.0
    if 0 < difference < math.inf > abs(value):
        digits = min(17, max(6, math.ceil(size - math.log10(difference)) + 1))
    if size < 15:
        digits = max(digits, math.floor(size) + 1)  # no exponent
    return f"{value:.{digits}g}"


def probability(value: float) -> str:
    """Four decimals; more where they would all be 0."""
    return f"{value:.4f}" if value >= 5e-5 or value == 0 else f"{value:.1e}"


def word(name: str) -> str:
    """A name as it is, or quoted where it could be misread."""
    plain = name.isprintable() and name == name.strip() and name and not set(name) & set(",'\"<>")
    return name if plain else repr(name)


def words(names: Iterable[str]) -> str:
    return ", ".join(word(name) for name in names)


def some_names(names: Iterable[object], most: int = 6) -> str:
    """The first few, as they are written in Python, and dots if there are more."""
    first = list(islice(names, most + 1))
    return ", ".join(map(repr, first[:most])) + (", ..." if len(first) > most else "")


def aligned(rows: Sequence[Sequence[str]], indent: str = "  ", head: bool = False) -> list[str]:
    """Rows as columns of text, each as wide as its widest cell; numbers are aligned to the right. With `head` the first
    row holds titles."""
    columns = []
    for cells in zip(*rows, strict=True):
        width = max(map(len, cells))
        numbers = all(cell[:1] in "-0123456789" for cell in cells[head:]) and len(cells) > head
        columns.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in cells])
    return [(indent + "  ".join(row)).rstrip() for row in zip(*columns, strict=True)]


def family_rows(families: Iterable[tuple[str, Iterable[str], float | None]]) -> list[tuple[str, str, str]]:
    """Child, parents and local score, one row of cells each."""
    return [
        (word(child), f"<- {words(parents)}" if parents else "", "" if score is None else number(score))
        for child, parents, score in families
    ]


def cut(lines: Sequence[str], most: int | None, noun: str, indent: str = "  ") -> list[str]:
    """The first lines, and how many more there are; None: all."""
    if most is None or len(lines) <= most:
        return list(lines)
    return [*lines[:most], f"{indent}... and {counted(len(lines) - most, f'more {noun}')}"]


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], after: str = "") -> str:
    """A table for notebooks; all text is escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    caption = f'<caption style="text-align:left">{html.escape(title)}</caption>'
    more = f"<p>{html.escape(after)}</p>" if after else ""
    return f"<table>{caption}<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{more}"
