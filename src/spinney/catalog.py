"""The one table of choices: scores, priors on parent sets, searches.

In:  a name with options, as text ("bdeu(ess=10)") or as an object (sp.BDeu(ess=10)).
Out: a Choice, checked; the same for both. Documentation, command line and errors read these tables too, so a new score
is one file in scores/ and one row here."""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from spinney.errors import ChoiceError


@dataclass(frozen=True)
class Option:
    """One named number or word that an entry takes. `low` and `high` are themselves not allowed when `open` is set."""

    name: str
    default: Any
    help: str
    kind: str = "number"  # number, integer, truth, network, name (of a column), word, letters (in any order)
    low: float = -math.inf
    high: float = math.inf
    open: bool = True
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what it may be: its own options

    def checked(self, value: Any, where: str) -> Any:
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
            if str(value).lower() not in ("true", "false"):
                raise ChoiceError(f"{where}: option {self.name} must be True or False, not {value!r}")
            return str(value).lower() == "true"
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
    source: str = ""
    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Score(Entry):
    """A local score. `room` is the module of spinney.scores that computes it; kinds are those it is defined for."""

    room: str = "tabular"
    label: str = ""  # the name of its class in the public API
    kinds: tuple[str, ...] = ("categorical", "ordinal")
    equivalent: bool = False  # equal on Markov equivalent DAGs
    bayesian: bool = False  # exp(score) is a probability of the child's column
    same_as: str = ""  # another name for that row


@dataclass(frozen=True)
class Search(Entry):
    """A search method. `room` is the module of spinney.search that runs it."""

    room: str = ""
    needs_sets: bool = False  # reads scored parent sets; else it may ask for scores as it goes
    needs_data: bool = False  # cannot do with scored parent sets
    exact: bool = False


@dataclass(frozen=True)
class Choice:
    """An entry with all its options set. str() gives the text that makes it again."""

    entry: Entry
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.entry.name

    def __getitem__(self, option: str) -> Any:
        return self.values[option]

    def __str__(self) -> str:
        shown = [f"{name}={_shown(value)}" for name, value in self.values.items() if value is not None]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    __repr__ = __str__

    @property
    def short(self) -> str:
        """As str(), without the options that have their default. For people; str() is what is saved."""
        defaults = {option.name: option.default for option in self.entry.options}
        return str(Choice(self.entry, {name: value for name, value in self.values.items() if value != defaults[name]}))

    def __hash__(self) -> int:
        return hash(str(self))


_ESS = Option("ess", 1.0, "equivalent sample size; larger is smoother and denser", low=0)

_SZPANKOWSKI = Option(
    "szpankowski",
    0,
    "use Szpankowski's approximation of the regret from this many rows on (bnlearn: 1000); 0 is never",
    kind="integer",
    low=0,
    open=False,
)

_SCORES = (
    Score("ll", "log-likelihood; always prefers more parents", "Carvalho (2009)", label="LL", equivalent=True),
    Score("aic", "log-likelihood less one per free parameter", "Akaike (1974)", label="AIC", equivalent=True),
    Score("bic", "log-likelihood less (log N)/2 per free parameter", "Schwarz (1978)", label="BIC", equivalent=True),
    Score(
        "mdl",
        "minimum description length: the same number as bic",
        "Lam and Bacchus (1994)",
        label="MDL",
        equivalent=True,
        same_as="bic",
    ),
    Score(
        "k2", "Bayesian Dirichlet with every pseudo-count 1", "Cooper and Herskovits (1992)", label="K2", bayesian=True
    ),
    Score(
        "bd",
        "Bayesian Dirichlet with one pseudo-count for every cell",
        "Heckerman, Geiger and Chickering (1995)",
        (Option("alpha", 0.5, "pseudo-count of every cell", low=0),),
        label="BD",
        bayesian=True,
    ),
    Score(
        "bde",
        "Bayesian Dirichlet with pseudo-counts from a prior network",
        "Heckerman, Geiger and Chickering (1995)",
        (Option("network", None, "the prior: a discrete Network, or a file that holds one", kind="network"), _ESS),
        label="BDe",
        equivalent=True,
        bayesian=True,
    ),
    Score(
        "bdeu",
        "Bayesian Dirichlet, equivalent, uniform",
        "Buntine (1991); Heckerman, Geiger and Chickering (1995)",
        (_ESS,),
        label="BDeu",
        equivalent=True,
        bayesian=True,
    ),
    Score(
        "bds",
        "BDeu spread over the parent configurations that occur",
        "Scutari (2016)",
        (_ESS,),
        label="BDs",
        bayesian=True,
    ),
    Score(
        "fnml",
        "factorised normalised maximum likelihood",
        "Silander, Roos, Kontkanen and Myllymäki (2008)",
        (_SZPANKOWSKI,),
        label="FNML",
    ),
    Score(
        "qnml",
        "quotient normalised maximum likelihood",
        "Silander, Leppä-aho, Jääsaari and Roos (2018)",
        (_SZPANKOWSKI,),
        label="QNML",
        equivalent=True,
    ),
    Score(
        "mit",
        "mutual information tests: 2 N I(child; parents) less chi-square quantiles",
        "de Campos (2006)",
        (Option("alpha", 0.99, "confidence of each test", low=0, high=1),),
        label="MIT",
    ),
)

_NORMAL = (
    Option("mu0", 0.0, "prior mean of a continuous child (of its standardised values)"),
    Option("a", 1.0, "weight of the prior mean, in rows", low=0),
    Option("nu", 1.0, "weight of the prior variance, in rows", low=0),
    Option("lam", 1.0, "prior variance of a continuous child", low=0),
)
_LEAF = (
    Option("alpha", 0.5, "pseudo-count of every level of a categorical or ordinal child", low=0),
    *_NORMAL,
    Option("kappa", 0.25, "prior odds of a cut between neighbouring levels of an ordinal child", low=0),
)
_SHARED = Option(
    "ess",
    0.0,
    "categorical children: the pseudo-count of all leaves together, divided by their share of the parents' "
    "configurations; 0: alpha per level in every leaf. Children of other kinds ignore it",
    low=0,
    open=False,
)
_MIXED = ("categorical", "ordinal", "continuous")

_TREES = (
    Score(
        "pcart",
        "the best decision tree over the parents, found exactly; any mix of kinds",
        "Talvitie, Eggeling and Koivisto (2019)",
        (
            *_LEAF,
            Option(
                "max_splits",
                5,
                "how often a continuous parent may be halved on a path",
                kind="integer",
                low=0,
                high=12,
                open=False,
            ),
            Option("structure_prior", True, "whether trees have a prior (a factor per leaf, normalised)", kind="truth"),
            _SHARED,
        ),
        room="tree",
        label="PCART",
        kinds=_MIXED,
        bayesian=True,
    ),
    Score(
        "ft",
        "a full table over the parents, continuous and ordinal ones cut at quantiles; any mix of kinds",
        "Talvitie, Eggeling and Koivisto (2019)",
        (
            *_LEAF,
            Option("max_bins", 7, "the largest number of quantile bins", kind="integer", low=2, high=64, open=False),
            _SHARED,
        ),
        room="tree",
        label="FT",
        kinds=_MIXED,
        bayesian=True,
    ),
)

_OPERATORS = ("C", "B", "CB", "CM", "BM", "CBM")
_GRAPHS = (
    Score(
        "graph",
        "a decision graph over the parents (a tree whose leaves can be merged), grown greedily; any mix of kinds",
        "Chickering, Heckerman and Meek (1997)",
        (
            Option(
                "operators",
                "CBM",
                "how it grows: complete splits (C), binary splits (B), merges (M)",
                kind="letters",
                words=dict.fromkeys(_OPERATORS, ()),
            ),
            Option(
                "prior",
                "uniform",
                "pseudo-counts of a leaf of a discrete child: 1 per level (uniform); its part of the parents' "
                "configurations, of ess in all (upn); what a prior network says, of ess in all (pn). upn(10) and "
                "pn(prior.bif, 10) name the options with it",
                kind="word",
                words={"uniform": (), "upn": ("ess",), "pn": ("network", "ess")},
            ),
            _ESS,
            Option("network", None, "of pn: a discrete Network, or a file that holds one", kind="network"),
            Option("kappa", 1.0, "factor per free parameter; below 1 graphs are smaller", low=0, high=1.0 + 1e-12),
            Option(
                "bins", 8, "cells of a continuous parent, cut at quantiles", kind="integer", low=2, high=64, open=False
            ),
            Option(
                "steps",
                "best",
                "the best operator at every step (best), or splits as long as one gains, then merges, in turns "
                "(splits-first), which often ends higher",
                kind="word",
                words={"best": (), "splits-first": ()},
            ),
            Option("filled", False, "a split must send rows into at least two leaves", kind="truth"),
            Option("optimal", False, "the best of all partitions of the parents' configurations, if few", kind="truth"),
            *_NORMAL,
        ),
        room="graph",
        label="Graph",
        kinds=_MIXED,
        bayesian=True,
    ),
)

_PRIORS = (
    Entry("uniform", "no preference among parent sets"),
    Entry("sizes", "the same prior mass for every number of parents: 1 / C(n-1, |P|)", "Friedman and Koller (2003)"),
    Entry(
        "binomial",
        "every other variable is a parent with probability r/(n-1)",
        "Andrews, Ramsey and Cooper (2018)",
        (Option("r", 1.0, "expected number of parents", low=0),),
    ),
    Entry(
        "ebic",
        "exp(-gamma log n) per free parameter",
        "Chen and Chen (2008)",
        (Option("gamma", 0.5, "strength", low=0, open=False),),
    ),
    Entry(
        "kappa",
        "k per free parameter",
        "Chickering, Heckerman and Meek (1997)",
        (Option("k", 0.5, "factor per free parameter; 1 is uniform", low=0, high=1, open=False),),
    ),
)

_GREEDY = (
    Option(
        "restarts",
        16,
        "perturbations in a row without improvement before the search ends; 0 is one plain climb",
        kind="integer",
        low=0,
        open=False,
    ),
    Option(
        "shake",
        4,
        "covered edges reversed in each walk through the equivalence class",
        kind="integer",
        low=0,
        open=False,
    ),
)
_TABU = (
    Option("length", 30, "how many past DAGs may not be visited again", kind="integer", low=1, open=False),
    Option("patience", 30, "steps without a new best before a walk ends", kind="integer", low=1, open=False),
)
_ORDER = (
    Option(
        "runs",
        4,
        "independent runs from random orders; a start is the first of them",
        kind="integer",
        low=1,
        open=False,
    ),
    Option(
        "patience",
        200,
        "perturbations per variable without improvement before a run ends; 0 is a plain climb",
        kind="integer",
        low=0,
        open=False,
    ),
)

_EXACT = (
    Option("k", 1, "how many networks: the best, and after it the next best", kind="integer", low=1, open=False),
    Option(
        "distinct",
        "networks",
        "what the k are: different networks, or the best networks of different Markov equivalence classes (classes)",
        kind="word",
        words={"networks": (), "classes": ()},
    ),
    Option(
        "memory_limit", 0.0, "the most memory for dynamic programming, in GiB; 0: all that is free", low=0, open=False
    ),
)
_CLUSTERS = (
    Option("gap", 0.0, "end when the gap is at most this share of the score", low=0, open=False),
    Option("nodes", 0, "the most nodes of branch and cut, per part; 0: no limit", kind="integer", low=0, open=False),
)

_FOREST = (
    Option("forest", False, "leave out edges that do not raise the score; else one tree holds all", kind="truth"),
    Option("root", None, "the column (tan: attribute) that is to be the root; else the best one", kind="name"),
)

_SEARCHES = (
    Search(
        "auto",
        "over scored sets exact (dp or ilp); from data too where scoring takes about a minute at the most, else tabu",
        room="automatic",
    ),
    Search(
        "exact",
        "the best DAG over the scored parent sets, proven: by dp where that is quick, else by ilp",
        options=(*_EXACT, *_CLUSTERS),
        room="ilp",
        needs_sets=True,
        exact=True,
    ),
    Search(
        "ilp",
        "exact, by clusters: dual ascent, linear program, branch and cut; for tens to hundreds of variables",
        "Jaakkola, Sontag, Globerson and Meila (2010); Bartlett and Cussens (2017)",
        (*_EXACT, *_CLUSTERS),
        room="ilp",
        needs_sets=True,
        exact=True,
    ),
    Search(
        "dp",
        "exact, by dynamic programming over all subsets of variables (up to about 28)",
        "Silander and Myllymäki (2006)",
        _EXACT,
        room="exact",
        needs_sets=True,
        exact=True,
    ),
    Search(
        "hc",
        "hill climbing: add, remove or reverse one edge at a time; then walks through the equivalence class, and "
        "perturbations",
        "Heckerman, Geiger and Chickering (1995); Castelo and Kočka (2003)",
        _GREEDY,
        room="greedy",
    ),
    Search(
        "tabu",
        "as hc; every climb continues over equal and worse DAGs",
        "Glover (1989); Bouckaert (1995)",
        (*_TABU, *_GREEDY),
        room="greedy",
    ),
    Search(
        "order",
        "local search over orders of the variables: each has its best parent set among the variables before it",
        "Lee and van Beek (2017)",
        _ORDER,
        room="order",
        needs_sets=True,
    ),
    Search(
        "local-global",
        "one greedy search over the decision graphs of all nodes; an edge is added with its first split and "
        "removed when a merge leaves its parent without effect. With score graph",
        "Chickering, Heckerman and Meek (1997)",
        room="local_global",
        needs_data=True,
    ),
    Search(
        "chow-liu",
        "the best tree: every column except the root has one parent",
        "Chow and Liu (1968); Edmonds (1967) where the score depends on directions",
        _FOREST,
        room="trees",
    ),
    Search(
        "tan",
        "the best tree-augmented naive Bayes classifier: the class is a parent of every attribute, and the attributes "
        "form a tree",
        "Friedman, Geiger and Goldszmidt (1997); Carvalho (2009)",
        (Option("target", None, "the class column; it must be named", kind="name"), *_FOREST),
        room="trees",
    ),
)

AUTO = Score(
    "auto",
    "decided from the kinds of the columns: bdeu where all are discrete, else pcart; said with the reason. Classifiers "
    "have their own: bd (naive-bayes), fnml (tan), bdeu (network)",
    room="",
    kinds=_MIXED,
)
SCORES: dict[str, Score] = {row.name: row for row in (*_SCORES, *_TREES, *_GRAPHS)}
SCORE_CHOICES: dict[str, Score] = {AUTO.name: AUTO, **SCORES}
PRIORS: dict[str, Entry] = {row.name: row for row in _PRIORS}
SEARCHES: dict[str, Search] = {row.name: row for row in _SEARCHES}


_TABLES: dict[str, Mapping[str, Entry]] = {"score": SCORE_CHOICES, "prior": PRIORS, "search": SEARCHES}


def choose_score(given: str | Choice) -> Choice:
    return _choose(given, "score")


def choose_prior(given: str | Choice) -> Choice:
    return _choose(given, "prior")


def choose_search(given: str | Choice, **options: Any) -> Choice:
    choice = _choose(given, "search")
    return made(choice.entry, {**choice.values, **options}) if options else choice


def _choose(given: str | Choice, what: str) -> Choice:
    table = _TABLES[what]
    if isinstance(given, Choice):
        if table.get(given.name) != given.entry:
            raise ChoiceError(f"{given} is not a {what}; choose one of {', '.join(table)}")
        return given
    if not isinstance(given, str):
        raise ChoiceError(f"a {what} is named by text such as {next(iter(table))!r}, not by {given!r}")
    known = _read(given, what)
    return Choice(known.entry, dict(known.values))  # a copy: others read the same text


@lru_cache(maxsize=256)
def _read(given: str, what: str) -> Choice:
    table = _TABLES[what]
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", given, re.DOTALL)
    name = match.group(1).lower() if match else given
    if match is None or name not in table:
        near = difflib.get_close_matches(name, table, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ChoiceError(f"there is no {what} {given!r}; {hint}choose one of {', '.join(table)}")
    entry = table[name]
    return made(entry, _options_in(match.group(2) or "", entry, given))


def _options_in(text: str, entry: Entry, given: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for position, part in enumerate(p.strip() for p in _PARTS.findall(text) if p.strip()):
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
    r"""(?:"(?:[^"]|"")*"|'[^']*'|\([^()]*\)|[^,])+"""
)  # commas within quotes or brackets do not separate options


def _unquoted(text: str) -> str:
    if text[:1] == text[-1:] == '"' and len(text) > 1:
        return text[1:-1].replace('""', '"')
    return text.strip("\"'")


def made(entry: Entry, values: Mapping[str, Any]) -> Choice:
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


def maker(entry: Score) -> Callable[..., Choice]:
    """The public constructor of a score: sp.BDeu(ess=10) is the same choice as "bdeu(ess=10)"."""

    def make(*args: Any, **options: Any) -> Choice:
        if len(args) > len(entry.options):
            raise ChoiceError(f"{entry.name} takes at most {len(entry.options)} options{_known(entry)}")
        named = {option.name: value for option, value in zip(entry.options, args, strict=False)}
        for name in named.keys() & options.keys():
            raise ChoiceError(f"{entry.name} got option {name!r} twice; set it once")
        return made(entry, {**named, **options})

    make.__name__ = make.__qualname__ = entry.label
    make.__doc__ = f"{entry.help} ({entry.source})."
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(o.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=o.default) for o in entry.options]
    )
    return make


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
