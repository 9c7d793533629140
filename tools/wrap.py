"""Pages written by hand, with lines of normal length.

In:  the text of a Markdown page.
Out: the same text; paragraphs and list items with a line that is too long are wrapped. Tables and code stay as is."""

from __future__ import annotations

import re
import textwrap

WIDTH = 120

_BLOCK = re.compile(r"^(\s*)((?:[-*]|\d+\.) +)?")
_MARK = re.compile(r" ([-+*#>|]|\d+\.) ")  # would begin a list, a heading or a table at the start of a line


def wrapped(text: str) -> str:
    lines: list[str] = []
    paragraph: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        alone = fenced or fence or not line.strip() or line.lstrip()[0] in "|#<"
        block = _BLOCK.match(line)
        new_item = block is not None and block[2] is not None
        if alone or new_item:
            lines += _filled(paragraph)
            paragraph = []
        if alone:
            lines.append(line)
        else:
            paragraph.append(line)
        fenced ^= fence
    return "\n".join([*lines, *_filled(paragraph)]) + "\n"


def _filled(paragraph: list[str]) -> list[str]:
    if not any(len(line) > WIDTH for line in paragraph):
        return paragraph
    found = _BLOCK.match(paragraph[0])
    assert found is not None  # it matches the empty text
    rest = " " * len(found[0])
    body = " ".join(line.strip() for line in [paragraph[0][len(found[0]) :], *paragraph[1:]])
    glued = _MARK.sub("\0\\1 ", body)  # a mark stays with the word before it
    filled = textwrap.fill(
        glued, WIDTH, initial_indent=found[0], subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return filled.replace("\0", " ").splitlines()
