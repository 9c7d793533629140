"""The one table of scores, priors on parent sets, methods that choose candidates, searches and file formats.

Documentation, command line and errors read these tables too, so a new score is one file in spinney/scores/ and one row
here: of scores in scores.py, of searches and candidate methods in searches.py, of formats in formats.py."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from spinney.catalog.formats import FORMATS
from spinney.catalog.rows import HELD, Candidates, Format, Score, Search, any_of
from spinney.catalog.scores import AUTO, SCORES
from spinney.catalog.searches import CANDIDATES, SEARCHES
from spinney.choices import Choice, Entry, Option, Rows, build_choice
from spinney.errors import ChoiceError
from spinney.fitted import register_model

if TYPE_CHECKING:
    from spinney.fitted.model import LocalModel

__all__ = [
    "AUTO",
    "CANDIDATES",
    "FORMATS",
    "PRIORS",
    "SCORES",
    "SEARCHES",
    "Candidates",
    "Format",
    "Score",
    "Search",
    "any_of",
    "choose_candidates",
    "choose_prior",
    "choose_score",
    "choose_search",
    "register",
]

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
PRIORS = Rows("prior", _PRIORS)

# Per kind of row: its table, and the fields that name code.
_TABLES: dict[type[Entry], tuple[Rows[Any], tuple[str, ...]]] = {
    Score: (cast(Rows[Any], SCORES), ("source",)),
    Search: (cast(Rows[Any], SEARCHES), ("run",)),
    Candidates: (cast(Rows[Any], CANDIDATES), ("run",)),
    Format: (cast(Rows[Any], FORMATS), ("read", "write")),
}


def register(row: Score | Search | Candidates | Format | type[LocalModel]) -> None:
    """Add a score, a search, a candidate method or a format of your own, a row of spinney.catalog under a new name; or
    a class of fitted local models, under its word. It then works wherever those of spinney do; see docs/extend.md."""
    if isinstance(row, type):
        register_model(row)
        return
    table, fields = _TABLES.get(type(row), (None, ()))
    if table is None:
        raise ChoiceError(
            f"register takes a Score, Search, Candidates or Format of spinney.catalog, or a class of models, not "
            f"{row!r}; build one"
        )
    for code in [code for name in fields if (code := getattr(row, name))] or [""]:
        if not callable(code) and not re.fullmatch(r"[\w.]+:\w+", code):
            raise ChoiceError(
                f"{table.word} {row.name!r} runs {code!r}; give a function or class, or 'package.module:name'"
            )
    if isinstance(row, Format):
        _check_format(row)
    table.add(row)


def _check_format(row: Format) -> None:
    if not row.suffixes or not all(re.fullmatch(r"\.[a-z0-9_]+", suffix) for suffix in row.suffixes):
        raise ChoiceError(f"format {row.name!r} has the suffixes {row.suffixes!r}; name one or more, as in ('.xyz',)")
    if not row.holds or not set(row.holds) <= set(HELD):
        raise ChoiceError(f"format {row.name!r} holds {row.holds!r}; name one or more of {', '.join(HELD)}")
    for other in FORMATS.values():
        if set(other.holds) & set(row.holds) and set(other.suffixes) & set(row.suffixes):
            raise ChoiceError(
                f"format {row.name!r}: {other.name!r} has the suffix {min(set(other.suffixes) & set(row.suffixes))!r} "
                "already; choose another"
            )


def choose_score(given: str | Choice) -> Choice:
    return SCORES.choose(given)


def choose_prior(given: str | Choice) -> Choice:
    return PRIORS.choose(given)


def choose_candidates(given: str | Choice) -> Choice:
    return CANDIDATES.choose(given)


def choose_search(given: str | Choice, **options: Any) -> Choice:
    choice = SEARCHES.choose(given)
    return build_choice(choice.entry, {**choice.values, **options}) if options else choice
