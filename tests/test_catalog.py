"""The catalog and the public names: one table, and every facet of a row works.

In:  catalog/, the package, the commands, the documentation.
Out: rows without help, names that come or go unnoticed, or commands that nobody documents fail here."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import spinney as sp
from spinney.catalog import CANDIDATES, PRIORS, SCORES, SEARCHES, choose_prior, choose_score, choose_search
from spinney.choices import Entry
from spinney.cli import COMMANDS

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS = [*SCORES.values(), *PRIORS.values(), *CANDIDATES.values(), *SEARCHES.values()]
OUR_OWN = {"uniform", "auto", "exact", "best", "screen"}  # no publication stands behind these

# What other people's scripts rely on. A name that goes, or changes its meaning, is a new major version.
PUBLIC = [
    "AIC",
    "BD",
    "BDe",
    "BDeu",
    "BDs",
    "BF",
    "BGe",
    "BIC",
    "Best",
    "Bootstrap",
    "CG",
    "CGD",
    "CPDAG",
    "Categorical",
    "ChoiceError",
    "Comparison",
    "Constraints",
    "Continuous",
    "CustomScore",
    "DAG",
    "DG",
    "DataError",
    "Dataset",
    "Discretiser",
    "Ensemble",
    "FNML",
    "FT",
    "FileFormatError",
    "Forecast",
    "Found",
    "Graph",
    "Independence",
    "K2",
    "LL",
    "LR",
    "LimitError",
    "MARS",
    "MARSClassifier",
    "MARSRegressor",
    "MDL",
    "MIT",
    "MN",
    "MVP",
    "NaiveBayesClassifier",
    "Network",
    "NetworkClassifier",
    "Ordinal",
    "PCART",
    "ParentSets",
    "Partitions",
    "Plan",
    "Posterior",
    "QNML",
    "Result",
    "SpinneyError",
    "TANClassifier",
    "__version__",
    "average",
    "bootstrap",
    "compare",
    "evaluate",
    "find",
    "fit",
    "fit_structure",
    "independence",
    "learn",
    "local_score",
    "local_scores",
    "plan",
    "posterior",
    "register",
    "score",
    "score_parent_sets",
    "search",
    "simulate",
]


@pytest.fixture(scope="module")
def data() -> sp.Dataset:
    return sp.Dataset.from_frame({"a": list("xyxyxxyx"), "b": list("uuvvuvvu"), "c": list("pqppqpqq")})


@pytest.fixture(scope="module")
def prior(tmp_path_factory: pytest.TempPathFactory, data: sp.Dataset) -> str:
    file = tmp_path_factory.mktemp("prior") / "prior.json"
    sp.fit(data, {"b": ["a"]}).save(file)
    return str(file)


def test_the_public_names_are_these() -> None:
    assert sorted(sp.__all__) == PUBLIC
    for name in PUBLIC:
        assert name == "__version__" or getattr(sp, name).__doc__, f"sp.{name} has no docstring"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_is_described(row: Entry) -> None:
    assert row.help and "\n" not in row.help and not row.help.endswith(".")
    assert bool(row.reference) == (row.name not in OUR_OWN)
    for option in row.options:
        assert option.help and option.name.isidentifier()
        assert option.kind in ("network", "choices") or option.checked(option.default, row.name) == option.default
    page = (DOCS / ("scores.md" if row.name in SCORES else "searches.md")).read_text(encoding="utf-8")
    assert f"### {row.name}\n" in page


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_same_as_text_and_as_an_object(name: str, data: sp.Dataset, prior: str) -> None:
    row = SCORES[name]
    make = getattr(sp, row.label)
    other = {"network": lambda _: prior, "truth": lambda value: not value, "integer": lambda value: value + 1}
    if row.kinds == ("continuous",):
        rng = np.random.default_rng(1)
        data = sp.Dataset.from_frame({column: rng.normal(size=30) for column in "abc"})
    if name == "best":  # a list of scores, not options by name
        text, built = "best(bdeu, pcart)", make("bdeu", sp.PCART())
        assert built == choose_score(text) == choose_score(str(built)) == make(scores=("bdeu", "pcart"))
        assert sp.local_score(data, "c", ["a", "b"], text) == sp.local_score(data, "c", ["a", "b"], built)
        return
    given = {
        o.name: list(o.words)[-1] if o.words else other.get(o.kind, lambda value: value * 0.5)(o.default)
        for o in row.options
    }
    if name == "graph":
        given["structure_prior"] = False  # it and optimal exclude each other
    if name == "pcart":
        given["average"] = False  # it and ess exclude each other
    text = f"{name}({', '.join(f'{option}={value}' for option, value in given.items())})" if given else name
    assert make(**given) == make(*given.values()) == choose_score(text) == choose_score(str(make(**given)))
    assert list(inspect.signature(make).parameters) == list(given)
    assert sp.local_score(data, "c", ["a", "b"], text) == sp.local_score(data, "c", ["a", "b"], make(**given))
    learned = [sp.learn(data, score=score).network for score in (text, make(**given))]
    assert learned[0] == learned[1] and learned[0].plan == learned[1].plan


@pytest.mark.parametrize("name", PRIORS)
def test_a_prior_is_the_same_as_text_and_as_a_choice(name: str, data: sp.Dataset) -> None:
    alike = (name, choose_prior(name), str(choose_prior(name)))
    scores = {sp.local_score(data, "c", ["a"], prior=given) for given in alike}
    assert len(scores) == 1


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_the_same_as_text_as_a_choice_and_with_keywords(name: str, data: sp.Dataset) -> None:
    columns = {"target": "c", "root": "a"}
    score = "graph" if name == "local-global" else "bdeu"
    options = {o.name: columns[o.name] if o.kind == "name" else o.default for o in SEARCHES[name].options}
    text = f"{name}({', '.join(f'{option}={value}' for option, value in options.items())})" if options else name
    found = [
        sp.learn(data, score, search=text).found,
        sp.learn(data, score, search=choose_search(name, **options)).found,
        sp.learn(data, score, search=name, **options).found,
    ]
    assert found[0].parents == found[1].parents == found[2].parents
    assert found[0].method == found[1].method == found[2].method


@pytest.mark.parametrize(
    "column", ["a", "two words", "a,b", "a=b", 'say "x"', "it's", "a(b)", "", ",", '"', " a ", "Größe"]
)
def test_a_column_name_goes_through_text_and_back(column: str) -> None:
    chosen = choose_search("tan", target=column)
    assert chosen["target"] == column and choose_search(str(chosen)) == chosen


def test_a_case_and_spaces_do_not_matter() -> None:
    assert choose_score(" BDeu ( ess = 10 ) ") == choose_score("bdeu(10)") == sp.BDeu(ess=10)


def test_every_public_score_is_a_row() -> None:
    labels = [row.label for row in SCORES.values()]
    assert set(labels) <= set(PUBLIC) <= set(dir(sp)) and len(set(labels)) == len(labels)
    for label in labels:
        assert pickle.loads(pickle.dumps(getattr(sp, label))) is getattr(sp, label)


def test_every_command_and_every_option_is_documented() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name, function in COMMANDS.items():
        assert f"## spinney {name}\n" in page
        assert function.__doc__
        section = page.split(f"## spinney {name}\n")[1].split("\n## ")[0]
        assert section.count("\n| ") == len(inspect.signature(function).parameters) + 2  # the head and its line
