"""BIF, the interchange format of discrete networks, as JavaBayes, bnlearn and others write it.

In:  a .bif file, or a network of tables.
Out: a Network, or the file; what we write we read back equal, to the last bit.
Reading is generous where programs differ: commas and bars only separate, names may be quoted, comments and properties
are skipped, a row may be rounded (it is normalised). It is strict where a number could be lost: every configuration
needs its row or a default, once. In `table` lines with parents the child varies slowest and the last parent fastest, as
in JavaBayes.
Other programs take fewer names than we do, so names are written with letters, digits and underscores only, and the true
ones stand in properties that we read and others skip, as the mark of an ordinal variable does."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike, fspath
from typing import NoReturn
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from spinney.errors import FileFormatError, SpinneyError
from spinney.fitted.table import Table, scale_to_one
from spinney.formats.text import read_text, write_text
from spinney.graph import find_cycle
from spinney.kinds import Categorical, Kind, Ordinal
from spinney.network import Network

# A word is anything without spaces, separators, brackets and quotes: <5, 12+, Asy/Patch, >=7.5 are words. What follows
# a slash is written so that every text can be read in one way only: else long names take for ever.
_LETTER, _SLASH = r'[^\s,;|{}()\[\]"/]', r"/(?![/*])"
_WORD = rf"(?:{_LETTER}|{_SLASH}){_LETTER}*(?:{_SLASH}{_LETTER}*)*"
_QUOTED = r'"(?:[^"\\]|\\[\s\S])*"'
# A comment or quote that is not closed is one token to the end of the file.
_TOKEN = re.compile(rf'//[^\n]*|/\*[\s\S]*?\*/|({_WORD}|{_QUOTED}|[;{{}}()\[\]]|/\*[\s\S]*|"[\s\S]*|/)')
_PLAIN = re.compile(_WORD)
_CLOSED = re.compile(_QUOTED)
_ESCAPED = re.compile(r'\\(["\\])')
_NAME, _LEVELS, _KIND = "spinney_name", "spinney_levels", "kind"  # our properties
ROUNDING = 1e-3  # rows of published networks are off by 1e-6; more than this is a mistake


def read(path: str | PathLike[str]) -> Network:
    return _Reader(fspath(path), read_text(path)).network()


def write(network: Network, path: str | PathLike[str], exact_names: bool = False) -> None:
    """exact_names: names as they are, in quotes where need be, which few other programs can read."""
    tables = network.tables(f"{fspath(path)}: BIF")
    names = _Names(tables, exact_names)
    lines = ["network unknown {", "}"]
    for name, kind in network.kinds.items():
        levels = tables[name].levels
        lines.append(f"variable {names.variables[name]} {{")
        lines.append(f"  type discrete [ {len(levels)} ] {{ {', '.join(names.levels[name])} }};")
        lines += [f'  property {key} = "{value}" ;' for key, value in names.properties(name, kind).items()]
        lines.append("}")
    for model in tables.values():
        lines += _table_lines(model, names)
    write_text("\n".join(lines) + "\n", path)


class _Names:
    """How the variables and their levels are written."""

    def __init__(self, tables: Mapping[str, Table], exact: bool) -> None:
        self.true = {name: table.levels for name, table in tables.items()}
        self.exact = exact
        self.variables = {name: _word(name) for name in tables} if exact else _safe(tables, may_be_number=False)
        self.levels = {
            name: [_word(level) for level in levels] if exact else [*_safe(levels, may_be_number=True).values()]
            for name, levels in self.true.items()
        }

    def properties(self, name: str, kind: Kind) -> dict[str, str]:
        """What is to be read back beside the names as they are written."""
        said = {}
        if not self.exact and self.variables[name] != name:
            said[_NAME] = _percent(name)
        if not self.exact and self.levels[name] != list(self.true[name]):
            said[_LEVELS] = " ".join(map(_percent, self.true[name]))
        if isinstance(kind, Ordinal):
            said[_KIND] = kind.word
        return said


_SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE = re.compile(r"[0-9]+")
_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "table", "default"}
_SPELLED = {"<=": "le_", ">=": "ge_", "<": "lt_", ">": "gt_", "+": "_plus", "%": "_percent", "&": "_and_"}


def _safe(names: Iterable[str], may_be_number: bool) -> dict[str, str]:
    """Names with letters, digits and underscores, none twice; those that are so by themselves stay as they are."""
    listed = list(names)
    safe = {name: name for name in listed if _is_safe(name) or (may_be_number and _WHOLE.fullmatch(name))}
    used, tries = set(safe), Counter[str]()
    for name in listed:
        if name in safe:
            continue
        base = candidate = _cleaned(name)
        while candidate in used or candidate.lower() in _KEYWORDS:
            tries[base] += 1
            candidate = f"{base}_{tries[base] + 1}"
        used.add(candidate)
        safe[name] = candidate
    return {name: safe[name] for name in listed}


def _is_safe(name: str) -> bool:
    return _SAFE.fullmatch(name) is not None and name.lower() not in _KEYWORDS


def _cleaned(name: str) -> str:
    text = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    for sign, spelled in _SPELLED.items():
        text = text.replace(sign, spelled)
    text = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[:_LONGEST]
    return text if _SAFE.fullmatch(text) else f"_{text}"


_LONGEST = 100  # characters of a name that we make up


def _percent(name: str) -> str:
    return quote(name, safe="", errors="surrogatepass")


def _unpercent(text: str) -> str:
    return unquote(text, errors="surrogatepass")


def _table_lines(model: Table, names: _Names) -> list[str]:
    parents = [names.variables[parent] for parent in model.parents]
    given = f" | {', '.join(parents)}" if parents else ""
    lines = [f"probability ( {names.variables[model.child]}{given} ) {{"]
    if not model.dense:
        lines.append(f"  default {_numbers(model.default)};")
    if not model.parents:
        lines += [f"  table {_numbers(row)};" for row in model.probabilities]
    else:
        shape = tuple(len(levels) for levels in model.parent_levels)
        words = [names.levels[parent] for parent in model.parents]
        places = np.stack(np.unravel_index(model.codes, shape), axis=1)
        for place, row in zip(places.tolist(), model.probabilities, strict=True):
            configuration = ", ".join(levels[code] for levels, code in zip(words, place, strict=True))
            lines.append(f"  ({configuration}) {_numbers(row)};")
    return [*lines, "}"]


def _numbers(row: NDArray[np.float64]) -> str:
    return ", ".join(map(repr, row.tolist()))


def _word(name: str) -> str:
    if name.isascii() and name.isprintable() and _PLAIN.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _plain(token: str) -> str:
    return _ESCAPED.sub(r"\1", token[1:-1]) if token[0] == '"' else token


@dataclass
class _Block:
    """A probability block as it was read; `at` are places of tokens, for messages."""

    child: str
    parents: tuple[str, ...]
    at: int
    codes: list[int] = field(default_factory=list)
    rows_at: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)  # row after row
    default: list[float] | None = None
    default_at: int = 0


class _Reader:
    """Walks over the tokens once; the line of a token is looked up only when something is wrong with it."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.tokens: list[str] = [token for token in _TOKEN.findall(text) if token]
        self.at = 0
        self.true: dict[str, str] = {}  # the names of variables, by how they are written
        self.levels: dict[str, tuple[str, ...]] = {}
        self.kinds: dict[str, Kind] = {}
        self.codes: dict[str, dict[str, int]] = {}
        self.blocks: dict[str, _Block] = {}

    def network(self) -> Network:
        last = self.tokens[-1] if self.tokens else ""
        if last[:1] == '"' and not _CLOSED.fullmatch(last):
            self.fail("a quoted name is not closed: add the closing quote", len(self.tokens) - 1)
        if last[:2] == "/*":
            self.fail("a comment is not closed: add its */", len(self.tokens) - 1)
        pending: list[int] = []
        while self.at < len(self.tokens):
            word = self.take("a block")
            if word == "network":
                self.network_block()
            elif word == "variable":
                self.variable_block()
            elif word == "probability":
                pending.append(self.at)  # a parent may be declared later: read when all variables are known
                self.at = self.find("}", "a probability block") + 1
            else:
                self.fail(
                    f"{word} is not the start of a network, variable or probability block: remove or correct it",
                    self.at - 1,
                )
        for start in pending:
            self.at = start
            self.probability_block()
        self.check_structure()
        models = {child: self.table(self.blocks[child]) for child in self.kinds}
        try:
            return Network(self.kinds, models)
        except SpinneyError as error:
            raise FileFormatError(f"{self.name}: {error}") from None

    # Blocks

    def network_block(self) -> None:
        while self.take("the network block") != "{":
            pass
        while self.peek("the network block") != "}":
            self.skip_statement("the network block")
        self.at += 1

    def variable_block(self) -> None:
        start = self.at
        written = _plain(self.take("a variable block"))
        where = f"the block of variable {written!r}"
        self.expect("{", where)
        levels: tuple[str, ...] | None = None
        said: dict[str, str] = {}
        while (word := self.take(where)) != "}":
            if word == "type":
                levels = self.type_statement(written, where)
            elif word == "property":
                said |= self.property_statement(where)
            else:
                self.fail(f"{word} is neither type nor property in {where}: remove or correct it", self.at - 1)
        if levels is None:
            self.fail(f"the variable {written!r} has no type line: add its levels", start)
        name = _unpercent(said[_NAME]) if _NAME in said else written
        if written in self.true or name in self.kinds:
            self.fail(f"the variable {name!r} is declared twice: rename or remove one", start)
        true = tuple(map(_unpercent, said[_LEVELS].split(" "))) if _LEVELS in said else levels
        if len(true) != len(levels) or len(set(true)) < len(true):
            self.fail(f"the property {_LEVELS} of {name!r} does not name its {len(levels)} levels: remove it", start)
        self.true[written] = name
        self.levels[name] = true
        self.kinds[name] = Ordinal(true) if said.get(_KIND) == Ordinal.word else Categorical(true)
        self.codes[name] = {level: code for code, level in enumerate(levels)}

    def property_statement(self, where: str) -> dict[str, str]:
        """Ours, which are written key = "value"; all others say nothing to us."""
        start = self.at
        self.skip_statement(where)
        parts = self.tokens[start : self.at - 1]
        if len(parts) == 1:  # "kind = ordinal", as we wrote it at first
            parts = _plain(parts[0]).split(" ", 2)
        return {parts[0]: _plain(parts[2])} if len(parts) == 3 and parts[1] == "=" else {}

    def type_statement(self, name: str, where: str) -> tuple[str, ...]:
        start = self.at
        if self.take(where) != "discrete":
            self.fail(f"the variable {name!r} is not discrete: only discrete networks can be read from BIF", start)
        self.expect("[", where)
        declared = self.take(where)
        self.expect("]", where)
        self.expect("{", where)
        end = self.find("}", where)
        levels = tuple(map(_plain, self.tokens[self.at : end]))
        self.at = end + 1
        if declared != str(len(levels)):
            self.fail(
                f"the variable {name!r} declares {declared} levels but lists {len(levels)}: correct one of them",
                start,
            )
        if not levels or len(set(levels)) < len(levels):
            self.fail(
                f"the variable {name!r} has no levels or names one twice: give each level a name of its own", start
            )
        self.expect(";", where)
        return levels

    def probability_block(self) -> None:
        start = self.at
        self.expect("(", "a probability block")
        end = self.find(")", "a probability block")
        family = []
        for place, token in enumerate(self.tokens[self.at : end]):
            if _plain(token) not in self.true:
                self.fail(f"{_plain(token)!r} has no variable block: declare it or correct the name", self.at + place)
            family.append(self.true[_plain(token)])
        self.at = end + 1
        if len(set(family)) < len(family) or not family:
            self.fail(
                f"the block of ({', '.join(family)}) names a variable twice or none: name a child, then its parents",
                start,
            )
        child = family[0]
        if child in self.blocks:
            self.fail(f"the variable {child!r} has two probability blocks: remove one", start)
        if math.prod(len(self.levels[parent]) for parent in family[1:]) >= 2**62:
            self.fail(f"the parents of {child!r} have more than 2^62 joint levels: give it fewer parents", start)
        block = self.blocks[child] = _Block(child, tuple(family[1:]), start)
        where = f"the probability block of {child!r}"
        self.expect("{", where)
        while (word := self.take(where)) != "}":
            if word == "(":
                self.row(block, where)
            elif word == "table":
                self.whole_table(block, where)
            elif word == "default":
                if block.default is not None:
                    self.fail(f"{where} has two default rows: remove one", self.at - 1)
                block.default_at = self.at
                block.default = self.numbers(len(self.levels[child]), where)
            elif word == "property":
                self.skip_statement(where)
            else:
                self.fail(
                    f"{word} starts no row of {where}: rows start with table, default or a configuration in brackets",
                    self.at - 1,
                )

    def row(self, block: _Block, where: str) -> None:
        start = self.at
        end = self.find(")", where)
        if end - start != len(block.parents):
            self.fail(
                f"{where}: a row names {end - start} levels for {len(block.parents)} parents: name one per parent",
                start,
            )
        code = 0
        for parent, token in zip(block.parents, self.tokens[start:end], strict=True):
            codes = self.codes[parent]
            level = codes.get(_plain(token))
            if level is None:
                self.fail(
                    f"{where}: {_plain(token)!r} is not a level of {parent!r}: correct the level or the variable block",
                    start,
                )
            code = code * len(codes) + level
        self.at = end + 1
        block.codes.append(code)
        block.rows_at.append(start)
        block.values += self.numbers(len(self.levels[block.child]), where)

    def whole_table(self, block: _Block, where: str) -> None:
        start = self.at
        r = len(self.levels[block.child])
        q = 1
        for parent in block.parents:
            q *= len(self.levels[parent])
        values = self.numbers(r * q, where)
        block.codes += range(q)
        block.rows_at += [start] * q
        block.values += np.array(values).reshape(r, q).T.ravel().tolist()

    # From blocks to tables

    def check_structure(self) -> None:
        if not self.kinds:
            self.fail(
                "the file declares no variables: it is empty or cut short, fetch or write it again", len(self.tokens)
            )
        for name in self.kinds:
            if name not in self.blocks:
                self.fail(
                    f"the variable {name!r} has no probability block: add one (is the file cut short?)",
                    len(self.tokens),
                )
        cycle = find_cycle({child: block.parents for child, block in self.blocks.items()})
        if cycle:
            self.fail(f"the edges form a cycle: {' -> '.join(cycle)}; remove one of them", self.blocks[cycle[0]].at)

    def table(self, block: _Block) -> Table:
        child, r = block.child, len(self.levels[block.child])
        values = np.array(block.values, dtype=np.float64).reshape(-1, r)
        codes = np.array(block.codes, dtype=np.int64)
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        repeated = np.flatnonzero(codes[1:] == codes[:-1])
        if len(repeated):
            place = int(order[repeated[0] + 1])
            self.fail(f"the variable {child!r} has two rows for one configuration: remove one", block.rows_at[place])
        default = np.full(r, 1 / r) if block.default is None else np.array(block.default)
        parent_levels = tuple(self.levels[parent] for parent in block.parents)
        rows = np.vstack([values[order], default])
        rows_at = [*(block.rows_at[place] for place in order.tolist()), block.default_at]
        self.normalise(rows, rows_at, child)
        try:
            table = Table(child, block.parents, self.levels[child], parent_levels, codes, rows[:-1], rows[-1])
        except SpinneyError as error:
            self.fail(str(error), block.at)
        if block.default is None and not table.dense:
            absent = next(code for code in range(len(codes) + 1) if code == len(codes) or codes[code] != code)
            self.fail(
                f"the variable {child!r} has rows for {len(codes)} of {table.configurations} configurations, "
                f"{table.describe(absent)} is missing: add the rows or a default row",
                block.at,
            )
        return table

    def normalise(self, rows: NDArray[np.float64], rows_at: list[int], child: str) -> None:
        """Scale rounded rows to sum to 1, in place."""
        bad = ~(rows >= 0).all(axis=1)
        if bad.any():
            place = int(np.argmax(bad))
            value = rows[place][~(rows[place] >= 0)][0]
            self.fail(
                f"{self.row_name(child, rows_at[place])}: {value} is not a probability: correct the number",
                rows_at[place],
            )
        sums = rows.sum(axis=1)
        bad = ~(np.abs(sums - 1) <= ROUNDING)
        if bad.any():
            place = int(np.argmax(bad))
            self.fail(
                f"{self.row_name(child, rows_at[place])}: the probabilities sum to {sums[place]:.6g}: correct the row",
                rows_at[place],
            )
        scale_to_one(rows)

    def row_name(self, child: str, at: int) -> str:
        word = self.tokens[at - 1]
        if word == "(":
            word = f"({', '.join(map(_plain, self.tokens[at : self.tokens.index(')', at)]))})"
        return f"the variable {child!r}, row {word}"

    # Tokens

    def peek(self, where: str) -> str:
        if self.at >= len(self.tokens):
            self.fail(f"the file ends inside {where}: it is cut short, fetch or write it again", len(self.tokens))
        return self.tokens[self.at]

    def take(self, where: str) -> str:
        token = self.peek(where)
        self.at += 1
        return token

    def expect(self, wanted: str, where: str) -> None:
        token = self.take(where)
        if token != wanted:
            self.fail(f"{token} stands where {wanted} should be in {where}: correct the line", self.at - 1)

    def find(self, wanted: str, where: str) -> int:
        try:
            return self.tokens.index(wanted, self.at)
        except ValueError:
            self.fail(f"the file ends inside {where}: it is cut short, fetch or write it again", len(self.tokens))

    def skip_statement(self, where: str) -> None:
        self.at = self.find(";", where) + 1

    def numbers(self, count: int, where: str) -> list[float]:
        start, end = self.at, self.find(";", where)
        self.at = end + 1
        try:
            values = list(map(float, self.tokens[start:end]))
        except ValueError:
            place = next(place for place in range(start, end) if not _is_number(self.tokens[place]))
            self.fail(
                f"{where}: {self.tokens[place]} is not a number: correct it (or the line lacks its semicolon)", place
            )
        if len(values) != count:
            self.fail(f"{where}: {len(values)} numbers where {count} are needed: correct the row", start)
        return values

    def fail(self, sentence: str, at: int) -> NoReturn:
        """Raise with the line of a token; past the last token it is the last line."""
        found = next(islice((match for match in _TOKEN.finditer(self.text) if match.group(1)), at, None), None)
        line = self.text.count("\n", 0, found.start() if found else len(self.text.rstrip())) + 1
        raise FileFormatError(f"{self.name}, line {line}: {sentence}")


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
