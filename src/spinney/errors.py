"""What can go wrong, in the user's words.

In:  what is wrong, and the ways out of it.
Out: one class per kind of remedy. Every message is one sentence of at most 500 characters: where, what, what to do.
What is wrong with an argument is a ValueError too, as Python and scikit-learn have it.
The command line turns any of them into that sentence and exit code 2.

A way out that is an option is never spelled out in the text, because the library says missing='drop', the command line
--missing drop, and some callers have no such option at all:

    raise DataError("column 'age' has missing cells", "fill them", way("choose {}", "missing", "drop"))

is "column 'age' has missing cells; fill them, or choose missing='drop'" in Python, "... or choose --missing drop" for a
command that takes this word, and without the second way elsewhere. The place is the command that runs, or the public
function or the estimator that was called. `named("max_parents")` is the option's name alone, to say what is wrong with
it. Names and values may be of any length: long messages are shortened here, in the middle, and keep their end."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

LONGEST = 500  # characters of a message
_LONG_WORD = 64  # of a name or value, where the message is too long


@dataclass(frozen=True)
class Way:
    """A way out that is an option: the words around it, its name, and its value if one is meant."""

    words: str
    name: str
    value: Any = None


def way(words: str, name: str, value: Any = None) -> Way:
    """`words` with {} where the option stands. A dict as the value of "kinds" is written as a line of a kinds file."""
    return Way(words, name, value)


class Place(Protocol):
    def written(self, name: str, value: Any) -> str | None:
        """How the caller writes this option; None if the caller has none such."""


@dataclass(frozen=True)
class Command:
    """A command of the command line: each option with its flag, the flag that negates it, and the words it takes."""

    options: Mapping[str, tuple[str, str, tuple[str, ...]]]

    def written(self, name: str, value: Any) -> str | None:
        flag, negation, words = self.options.get(name, ("", "", ()))
        if not flag or (words and value is not None and str(value) not in words):
            return None
        if value is None or value is True:
            return flag
        if value is False:
            return negation or None
        if isinstance(value, Mapping):
            return f"{flag} FILE with the line {', '.join(f'{key!r}: {item}' for key, item in value.items())}"
        return f"{flag} {value}"


@dataclass(frozen=True)
class _Function:
    """A function of the library, by the names of its parameters; None if it is not known which was called."""

    names: frozenset[str] | None

    def written(self, name: str, value: Any) -> str | None:
        name = name if self.names is None or name in self.names else _ALSO.get(name, name)
        if self.names is not None and name not in self.names:
            return None
        return name if value is None else f"{name}={value!r}"


_ALSO = {"search": "method"}  # sp.search(sets, method) is itself called search


_command: Callable[[], Command] | None = None  # one command runs in a process, and its threads raise errors too


@contextmanager
def speaking_to(command: Callable[[], Command]) -> Iterator[None]:
    """While this lasts, messages are for the user of a command; it is asked for only if there is something to say."""
    global _command
    before, _command = _command, command
    try:
        yield
    finally:
        _command = before


def named(name: str) -> str:
    """The name of an option as the caller writes it: max_parents, or --max-parents."""
    return (_command and _command().written(name, None)) or name


class SpinneyError(Exception):
    """Something that the user can put right: what is wrong, then the ways out, each a text or way(...)."""

    def __str__(self) -> str:
        if not self.args:
            return ""
        what, *ways = self.args
        place = self._place() if any(isinstance(one, Way) for one in ways) else None
        said = [text for text in (_said(one, place) for one in ways) if text]
        return shortened(str(what), _joined(said))

    def _place(self) -> Place:
        return _command() if _command else _function_called(self)


class DataError(SpinneyError, ValueError):
    """The table: a cell, a column or its kind must change."""


class ChoiceError(SpinneyError, ValueError):
    """A name, an option or a combination of them must change."""


class LimitError(SpinneyError):
    """The job would need more memory or time than there is."""


class FileFormatError(SpinneyError):
    """A file is not what its name says, or is cut short."""


def _said(one: Way | str, place: Place | None) -> str | None:
    if not isinstance(one, Way):
        return str(one)
    written = place.written(one.name, one.value) if place else None
    return None if written is None else one.words.replace("{}", written)


def _joined(ways: list[str]) -> str:
    if len(ways) < 3:
        return ", or ".join(ways)
    return f"{', '.join(ways[:-1])}, or {ways[-1]}"


def shortened(what: str, ways: str = "") -> str:
    """One line of at most 500 characters. Long names and values are cut in their middle; if that is not enough the
    message is, so that its beginning and the ways out at its end stay."""
    text = " ".join(part for part in (what + (";" if ways else ""), ways) if part)
    if len(text) > LONGEST:
        what, ways = (_LONG_RUN.sub(_cut_word, part) for part in (what, ways))
        ways = _cut(ways, LONGEST // 2)
        text = f"{_cut(what, LONGEST - len(ways) - 2)}; {ways}" if ways else _cut(what, LONGEST)
    return " ".join(text.split()) if _BREAK.search(text) else text


_BREAK = re.compile(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_LONG_RUN = re.compile(rf"\S{{{_LONG_WORD + 1},}}")


def _cut_word(found: re.Match[str]) -> str:
    return _cut(found.group(), _LONG_WORD)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = (most - 3) * 3 // 5
    return f"{text[:head]}...{text[len(text) - (most - 3 - head) :]}"


def _function_called(error: BaseException) -> _Function:
    """The outermost function of ours: on the stack if the message is asked for inside the library, else where it went
    through before it is caught."""
    frame: FrameType | None = sys._getframe()
    found = None
    while frame is not None:
        if _is_ours(frame):
            found = frame
        frame = frame.f_back
    step = error.__traceback__
    while found is None and step is not None:
        if _is_ours(step.tb_frame):
            found = step.tb_frame
        step = step.tb_next
    return _Function(None if found is None else _parameters(found))


def _is_ours(frame: FrameType) -> bool:
    module: str = frame.f_globals.get("__name__", "")
    return module.split(".")[0] == "spinney" and module != __name__


def _parameters(frame: FrameType) -> frozenset[str]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if code.co_flags & inspect.CO_VARKEYWORDS:  # learn() and others hand them on to the search
        from spinney.catalog import SEARCHES  # it raises errors itself

        names += tuple(option.name for entry in SEARCHES.values() for option in entry.options)
    owner = frame.f_locals.get("self")
    if hasattr(owner, "get_params"):  # an estimator: its options were given when it was made
        names += tuple(inspect.signature(type(owner)).parameters)
    return frozenset(names)
