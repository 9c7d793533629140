"""Choices by name: an entry of a table, its options, and the text that names both.

In:  a name with options, as text ("bdeu(ess=10)") or as an object (sp.BDeu(ess=10)).
Out: a Choice, checked; the same for both. The tables themselves are in catalog/."""

from __future__ import annotations

import difflib
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from spinney import plugins
from spinney.errors import ChoiceError

Code = (
    str | Callable[..., Any]
)  # what a row runs: "package.module:name", imported when it is needed, or the thing itself


@dataclass(frozen=True)
class Option:
    """One named number or word that an entry takes. `low` and `high` are themselves not allowed when `open` is set."""

    name: str
    default: Any
    help: str
    # number, integer, truth, network, name (of a column), word, letters (in any order), choice (one of a table, one of
    # the words, or a function of the user's), choices (all that is given)
    kind: str = "number"
    low: float = -math.inf
    high: float = math.inf
    open: bool = True
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what it may be: its own options
    of: Callable[[], Rows[Any]] | None = None  # kinds choice and choices: the table that they are of
    # Of a score, where "auto" is one of the words: the values that are tried, and the kinds of child that heed them.
    grid: tuple[float, ...] = ()
    children: tuple[str, ...] = ()

    def checked(self, value: Any, where: str) -> Any:
        if self.kind == "choices":
            assert self.of is not None
            given = (value,) if isinstance(value, (str, Choice)) else tuple(value)
            return tuple(map(self.of().choose, given))
        if self.kind == "choice":
            assert self.of is not None
            return value if callable(value) or value in self.words else self.of().choose(value)
        if self.kind == "network":
            return value
        if self.kind == "letters":
            value = next((word for word in self.words if sorted(word) == sorted(str(value).upper())), value)
        if self.kind in ("word", "letters"):
            if value not in self.words:
                raise ChoiceError(f"{where}: option {self.name} must be one of {', '.join(self.words)}, not {value!r}")
            return value
        if self.kind == "name":
            if value is not None and not isinstance(value, str):
                raise ChoiceError(f"{where}: option {self.name} must be the name of a column, not {value!r}")
            return value
        if self.kind == "truth":
            if isinstance(value, str) and value in self.words:  # neither, but one of these
                return value
            if str(value).lower() not in ("true", "false"):
                wanted = ", ".join((*self.words, "True"))
                raise ChoiceError(f"{where}: option {self.name} must be {wanted} or False, not {value!r}")
            return str(value).lower() == "true"
        if isinstance(value, str) and value in self.words:  # a number, or one of these
            return value
        number = _number(value)
        if number is None or (self.kind == "integer" and number != int(number)):
            raise ChoiceError(f"{where}: option {self.name} must be {self._wanted()}, not {value!r}")
        if not (self.low < number < self.high if self.open else self.low <= number <= self.high):
            raise ChoiceError(f"{where}: option {self.name} must be {self._wanted()}, not {value!r}")
        if number != 0 and not 1e-100 < abs(number) < 1e100:  # beyond, sums of scores are no numbers
            raise ChoiceError(
                f"{where}: option {self.name} is {value!r}, too large or too small; keep it between 1e-100 and 1e100"
            )
        return int(number) if self.kind == "integer" else number

    def _wanted(self) -> str:
        noun = "a whole number" if self.kind == "integer" else "a number"
        if self.words:
            noun = f"{', '.join(self.words)} or {noun}"
        if self.low == -math.inf:
            return noun
        if self.high == math.inf:
            return f"{noun} {'above' if self.open else 'of at least'} {self.low:g}"
        return f"{noun} between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Entry:
    """One row: something that can be chosen by name."""

    name: str
    help: str
    reference: str = ""  # where it was published
    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Choice:
    """An entry with all its options set. str() gives the text that makes it again."""

    entry: Entry
    values: Mapping[str, Any] = field(default_factory=dict)
    why: str = field(default="", compare=False)  # where data decided some of it: what, and by which measure

    @property
    def name(self) -> str:
        return self.entry.name

    def __getitem__(self, option: str) -> Any:
        return self.values[option]

    def __str__(self) -> str:
        return self._text(str)

    def _text(self, one: Callable[[Choice], str]) -> str:
        """`one`: how a choice within this one is written."""
        shown = [
            ", ".join(map(one, value))
            if isinstance(value, tuple)
            else f"{name}={one(value) if isinstance(value, Choice) else _shown(value)}"
            for name, value in self.values.items()
            if value is not None
        ]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    __repr__ = __str__

    @property
    def short(self) -> str:
        """As str(), without the options that have their default. For people; str() is what is saved."""
        defaults = {option.name: option.checked(option.default, self.name) for option in self.entry.options}
        own = Choice(self.entry, {name: value for name, value in self.values.items() if value != defaults[name]})
        return own._text(lambda inner: inner.short)

    def __hash__(self) -> int:
        return hash(str(self))


Row = TypeVar("Row", bound=Entry)


class Rows(Mapping[str, Row], Generic[Row]):
    """A table of entries by name: those of spinney, then those that were registered. `auto` can be chosen and is no
    entry itself."""

    def __init__(self, word: str, rows: Iterable[Row], auto: Row | None = None) -> None:
        self.word = word  # what its entries are: score, prior, search
        self.own = tuple(rows)  # those of spinney itself
        self._rows = {row.name: row for row in self.own}
        self._auto = {} if auto is None else {auto.name: auto}
        self._read = lru_cache(maxsize=256)(self._chosen_by)

    def __getitem__(self, name: str) -> Row:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Row]:
        for sentence in plugins.load():
            warnings.warn(sentence, stacklevel=3)
        return self._rows

    def add(self, row: Row) -> None:
        """One more, from outside. Its name must be new."""
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", row.name):
            raise ChoiceError(
                f"{row.name!r} cannot be the name of a {self.word}; use small letters, digits, '-' and '_'"
            )
        if row.name in self._rows or row.name in self._auto:
            raise ChoiceError(f"there is a {self.word} {row.name!r} already; register it under another name")
        self._rows[row.name] = row

    @property
    def choices(self) -> dict[str, Row]:
        """All that can be chosen, auto included."""
        return {**self._auto, **self}

    def choose(self, given: str | Choice) -> Choice:
        """The choice that a text names; or this one, if it is of this table."""
        if isinstance(given, Choice):
            row = self.choices.get(given.name)
            # A row that was never registered, such as that of a CustomScore, may be chosen too.
            if row != given.entry if row else type(given.entry) is not type(self.own[0]):
                raise ChoiceError(f"{given} is not a {self.word}; choose one of {', '.join(self.choices)}")
            return given
        if not isinstance(given, str):
            raise ChoiceError(f"a {self.word} is named by text such as {next(iter(self.choices))!r}, not by {given!r}")
        known = self._read(given)
        return Choice(known.entry, dict(known.values))  # a copy: others read the same text

    def _chosen_by(self, given: str) -> Choice:
        table = self.choices
        match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", given, re.DOTALL)
        name = match.group(1).lower() if match else given
        if match is None or name not in table:
            near = difflib.get_close_matches(name, table, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ChoiceError(f"there is no {self.word} {given!r}; {hint}choose one of {', '.join(table)}")
        entry = table[name]
        return build_choice(entry, _options_in(match.group(2) or "", entry, given))


def _options_in(text: str, entry: Entry, given: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    parts = [part.strip() for part in _PARTS.findall(text) if part.strip()]
    if entry.options and entry.options[0].kind == "choices":
        return {entry.options[0].name: tuple(parts)} if parts else {}
    for position, part in enumerate(parts):
        name, equals, value = part.partition("=")
        if not equals or "(" in name:  # by position, as in bdeu(10)
            if position >= len(entry.options):
                raise ChoiceError(f"{given!r} has more values than {entry.name} has options{_known(entry)}")
            name, value = entry.options[position].name, part
        name = name.strip()
        if name in values:
            raise ChoiceError(f"{given!r} sets option {name!r} twice; set it once")
        values[name] = _unquoted(value.strip())
    return values


_PARTS = re.compile(
    r"""(?:"(?:[^"]|"")*"|'[^']*'|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^,])+"""
)  # commas within quotes or brackets do not separate options


def _unquoted(text: str) -> str:
    if text[:1] == text[-1:] == '"' and len(text) > 1:
        return text[1:-1].replace('""', '"')
    return text.strip("\"'")


def build_choice(entry: Entry, values: Mapping[str, Any]) -> Choice:
    """A Choice of this entry with these options; the others take their defaults."""
    known = {option.name: option for option in entry.options}
    values = _unfolded(entry, values)
    for name in values:
        if name not in known:
            raise ChoiceError(f"{entry.name} has no option {name!r}{_known(entry)}")
    return Choice(entry, {n: o.checked(values.get(n, o.default), entry.name) for n, o in known.items()})


def _unfolded(entry: Entry, values: Mapping[str, Any]) -> dict[str, Any]:
    """prior=upn(10) is prior=upn, ess=10: a word may bring the options that belong to it."""
    plain = dict(values)
    for option in entry.options:
        given = values.get(option.name)
        match = re.fullmatch(r"([\w-]+)\s*\((.*)\)", given, re.DOTALL) if isinstance(given, str) else None
        if not option.words or match is None or match.group(1) not in option.words:
            continue
        own = option.words[match.group(1)]
        brought = replace(entry, options=tuple(o for name in own for o in entry.options if o.name == name))
        plain[option.name] = match.group(1)
        for name, value in _options_in(match.group(2), brought, f"{entry.name}: {given}").items():
            if name not in own:
                raise ChoiceError(f"{entry.name}: {given!r} has no option {name!r}{_known(brought)}")
            if name in values:
                raise ChoiceError(f"{entry.name} got option {name!r} twice; set it once")
            plain[name] = value
    return plain


def constructor(entry: Entry, name: str) -> Callable[..., Choice]:
    """The function that builds the choice: sp.BDeu(ess=10) is the same choice as "bdeu(ess=10)"."""

    def make(*args: Any, **options: Any) -> Choice:
        if entry.options and entry.options[0].kind == "choices" and args:
            return build_choice(entry, {entry.options[0].name: args, **options})
        if len(args) > len(entry.options):
            raise ChoiceError(f"{entry.name} takes at most {len(entry.options)} options{_known(entry)}")
        named = {option.name: value for option, value in zip(entry.options, args, strict=False)}
        for twice in named.keys() & options.keys():
            raise ChoiceError(f"{entry.name} got option {twice!r} twice; set it once")
        return build_choice(entry, {**named, **options})

    make.__module__, make.__name__, make.__qualname__ = "spinney", name, name
    make.__doc__ = f"{entry.help} ({entry.reference})." if entry.reference else f"{entry.help}."
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(o.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=o.default) for o in entry.options]
    )
    return make


def loaded(code: Code) -> Any:
    """What a row runs, imported if it is named by text."""
    if not isinstance(code, str):
        return code
    module, _, name = code.partition(":")
    return getattr(import_module(module), name)


def _known(entry: Entry) -> str:
    if not entry.options:
        return "; it has none"
    return f"; it has {', '.join(f'{o.name} ({o.help})' for o in entry.options)}"


def _shown(value: Any) -> str:
    """Text that reads back; a prior network that came as an object stands as its name for people."""
    if isinstance(value, str) and not re.fullmatch(r"[\w./:-]+(?: [\w./:-]+)*", value):
        return '"' + value.replace('"', '""') + '"'
    return str(value) if isinstance(value, (int, float, str)) else f"<{type(value).__name__}>"


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
