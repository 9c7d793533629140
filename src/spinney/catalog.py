"""The one table of scores, priors on parent sets, methods that choose candidates, searches and file formats.

Documentation, command line and errors read these tables too, so a new score is one file in scores/ and one row here.
Rows name the code that they run as "package.module:name"; it is imported when it is first needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from spinney.choices import Choice, Code, Entry, Option, Rows, build_choice
from spinney.errors import ChoiceError
from spinney.fitted import register_model
from spinney.kinds import KIND_WORDS

if TYPE_CHECKING:
    from spinney.fitted.model import LocalModel

_MIXED = KIND_WORDS


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
    name, and returns columns (a RawTable, or any data frame); `write` takes a Dataset and the suffix, and returns
    bytes."""

    suffixes: tuple[str, ...] = ()  # with the dot; .gz may follow everywhere
    holds: tuple[str, ...] = ("network",)  # what its files may hold, of HELD
    read: Code = ""
    write: Code = ""
    starts: tuple[bytes, ...] = ()  # of a table: how its files begin


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
        "k2",
        "Bayesian Dirichlet with every pseudo-count 1",
        "Cooper and Herskovits (1992)",
        parameter=1.0,
        label="K2",
        bayesian=True,
        evidence=True,
        same_as="bd",
    ),
    Score(
        "bd",
        "Bayesian Dirichlet with one pseudo-count for every cell",
        "Heckerman, Geiger and Chickering (1995)",
        (Option("alpha", 0.5, "pseudo-count of every cell", low=0),),
        parameter="alpha",
        label="BD",
        bayesian=True,
        evidence=True,
    ),
    Score(
        "bde",
        "Bayesian Dirichlet with pseudo-counts from a prior network",
        "Heckerman, Geiger and Chickering (1995)",
        (Option("network", None, "the prior: a discrete Network, or a file that holds one", kind="network"), _ESS),
        parameter="ess",
        label="BDe",
        equivalent=True,
        bayesian=True,
        evidence=True,
    ),
    Score(
        "bdeu",
        "Bayesian Dirichlet, equivalent, uniform",
        "Buntine (1991); Heckerman, Geiger and Chickering (1995)",
        (_ESS,),
        parameter="ess",
        label="BDeu",
        equivalent=True,
        bayesian=True,
        evidence=True,
    ),
    Score(
        "bds",
        "BDeu spread over the parent configurations that occur",
        "Scutari (2016)",
        (_ESS,),
        parameter="ess",
        label="BDs",
        bayesian=True,
        evidence=True,
    ),
    Score(
        "fnml",
        "factorised normalised maximum likelihood",
        "Silander, Roos, Kontkanen and Myllymäki (2008)",
        (_SZPANKOWSKI,),
        parameter="szpankowski",
        label="FNML",
    ),
    Score(
        "qnml",
        "quotient normalised maximum likelihood",
        "Silander, Leppä-aho, Jääsaari and Roos (2018)",
        (_SZPANKOWSKI,),
        parameter="szpankowski",
        label="QNML",
        equivalent=True,
    ),
    Score(
        "mit",
        "mutual information tests: 2 N I(child; parents) less chi-square quantiles",
        "de Campos (2006)",
        (Option("alpha", 0.99, "confidence of each test", low=0, high=1),),
        parameter="alpha",
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
            Option(
                "leaf",
                "constant",
                "what a leaf of a continuous child holds: a mean (constant), or a linear regression on the family's "
                "continuous parents (linear). Children of other kinds ignore it",
                kind="word",
                words={"constant": (), "linear": ("tau",)},
            ),
            Option("tau", 1.0, "of leaf linear: prior weight of every slope, in rows (of standardised values)", low=0),
        ),
        source="spinney.scores.tree:Trees",
        label="PCART",
        parents=any_of(*_MIXED),
        bayesian=True,
        evidence="structure_prior",
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
        source="spinney.scores.tree:Trees",
        label="FT",
        parents=any_of(*_MIXED),
        bayesian=True,
        evidence=True,
    ),
)

_DEGREE = Option(
    "degree",
    1,
    "the highest power of every continuous parent; log: floor(log n) in a cell of n rows",
    kind="integer",
    low=1,
    high=20,
    open=False,
    words={"log": ()},
)
_VARIANCE = Option(
    "count_variance",
    False,
    "whether the variance of a continuous child counts as a parameter of its cell",
    kind="truth",
)
_POLYNOMIALS = (
    Score(
        "mvp",
        "in every cell of the discrete parents a regression on powers of the continuous ones, by BIC; a discrete child "
        "by its indicators; any mix of kinds",
        "Andrews, Ramsey and Cooper (2018)",
        (_DEGREE, _VARIANCE),
        source="spinney.scores.polynomial:Polynomials",
        label="MVP",
        parents=any_of(*_MIXED),
    ),
    Score(
        "lr",
        "as mvp, with multinomial logistic regression of a discrete child",
        "Andrews, Ramsey and Cooper (2018)",
        (_DEGREE, _VARIANCE),
        source="spinney.scores.polynomial:Polynomials",
        label="LR",
        parents=any_of(*_MIXED),
    ),
)

_MARS = (
    Score(
        "mars",
        "multivariate adaptive regression splines of the parents: sums of products of hinges; -N/2 log GCV; a discrete "
        "child by its indicators; any mix of kinds",
        "Sharma and van Beek (2021)",
        (
            Option("degree", 2, "most parents in a product; 1: additive", kind="integer", low=1, high=10, open=False),
            Option(
                "max_terms",
                "auto",
                "most basis functions of the forward pass; auto: 21, or twice the columns and one",
                kind="integer",
                low=1,
                high=1000,
                open=False,
                words={"auto": ()},
            ),
            Option(
                "penalty",
                "auto",
                "of a knot in GCV, in parameters; auto: 3, with degree 1 2",
                low=0,
                high=1000,
                open=False,
                words={"auto": ()},
            ),
            Option(
                "objective",
                "log",
                "log: -N/2 log GCV of the standardised child; gcv: minus GCV in the child's units, as in the paper",
                kind="word",
                words={"log": (), "gcv": ()},
            ),
        ),
        source="spinney.scores.mars:Mars",
        label="MARS",
        parents=any_of(*_MIXED),
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
            Option(
                "structure_prior",
                False,
                "whether graphs have a prior (each step of the growth at the price of choosing it among all), so that "
                "the score is the log of a probability of the child",
                kind="truth",
            ),
            *_NORMAL,
        ),
        source="spinney.scores.graph:Graphs",
        label="Graph",
        parents=any_of(*_MIXED),
        bayesian=True,
        evidence="structure_prior",
    ),
)

_EXACT_MIXTURE = Option(
    "exact",
    False,
    "a discrete child with continuous parents: the density of the parents is the mixture that it is, not one Gaussian "
    "per cell; its log-likelihood is never above 0, but the score is not equivalent",
    kind="truth",
)
_DF = Option(
    "df",
    "full",
    "free parameters of a cell of k continuous columns: k (k + 1)/2 + k + 1 (full), or without the k means, as the "
    "paper prints them (paper)",
    kind="word",
    words={"full": (), "paper": ()},
)
_GAUSSIAN = (
    Score(
        "cg",
        "conditional Gaussians by BIC: one Gaussian in every cell of the discrete columns; any mix of kinds",
        "Andrews, Ramsey and Cooper (2018)",
        (_EXACT_MIXTURE, _DF),
        source="spinney.scores.gaussian:Gaussians",
        label="CG",
        parents=any_of(*_MIXED),
        equivalent=True,
    ),
    Score(
        "cgd",
        "as cg; for a discrete child, continuous parents are cut into three",
        "Andrews, Ramsey and Cooper (2018)",
        (_DF,),
        source="spinney.scores.gaussian:Gaussians",
        label="CGD",
        parents=any_of(*_MIXED),
    ),
    Score(
        "mn",
        "tables by BIC, with every continuous column cut into three",
        "Andrews, Ramsey and Cooper (2018)",
        source="spinney.scores.gaussian:CutTables",
        label="MN",
        parents=any_of(*_MIXED),
        equivalent=True,
    ),
    Score(
        "dg",
        "degenerate Gaussian by BIC: discrete columns as indicators, all from one correlation matrix, so that a family "
        "costs the same for any number of rows",
        "Andrews, Ramsey and Cooper (2019)",
        source="spinney.scores.gaussian:Gaussians",
        label="DG",
        parents=any_of(*_MIXED),
        equivalent=True,
    ),
    Score(
        "bf",
        "as dg, with Legendre polynomials of the continuous columns; not a density of the child",
        "Andrews, Ramsey and Cooper (2019)",
        (Option("degree", 3, "polynomials 1..degree of a column", kind="integer", low=1, high=16, open=False),),
        source="spinney.scores.gaussian:Gaussians",
        label="BF",
        parents=any_of(*_MIXED),
        equivalent=True,
    ),
    Score(
        "bge",
        "Bayesian Gaussian, equivalent; continuous columns",
        "Geiger and Heckerman (2002); Kuipers, Moffa and Heckerman (2014)",
        (Option("alpha_mu", 1.0, "weight of the prior mean, in rows", low=0),),
        source="spinney.scores.gaussian:Gaussians",
        label="BGe",
        parents=any_of("continuous"),
        equivalent=True,
        bayesian=True,
        evidence=True,
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

_K = "candidates of each child, beside the required ones"
_CANDIDATES = (
    Candidates(
        "screen",
        "the columns that are most associated with the child, whatever their kinds: by the most significant of table, "
        "analysis of variance and correlation of each pair",
        options=(Option("k", 20, _K, kind="integer", low=1, open=False),),
        run="spinney.candidates.screen:run",
    ),
    Candidates(
        "forest",
        "the columns that matter most in a random forest that predicts the child from the columns that screen leaves",
        "Sharma and van Beek (2021)",
        (
            Option("k", 5, _K, kind="integer", low=1, open=False),
            Option("screen", 60, "columns that the forest sees", kind="integer", low=1, open=False),
            Option("trees", 50, "trees of each forest", kind="integer", low=1, open=False),
            Option("seconds", 0.0, "the most time for the forest of one child; 0: no limit", low=0, open=False),
        ),
        run="spinney.candidates.forest:run",
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
_BOSS = (
    Option(
        "runs",
        1,
        "independent runs from random orders; a start is the first of them",
        kind="integer",
        low=1,
        open=False,
    ),
    Option(
        "patience",
        2,
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

_ALPHA = Option(
    "alpha", 0.01, "two columns are independent where the p-value is above; smaller is sparser", low=0, high=1
)
_CONDITIONING = Option(
    "max_conditioning",
    "all",
    "the most columns that a test conditions on; all: as many as neighbours there are",
    kind="integer",
    low=0,
    open=False,
    words={"all": ()},
)

_FOREST = (
    Option("forest", False, "leave out edges that do not raise the score; else one tree holds all", kind="truth"),
    Option("root", None, "the column (tan: attribute) that is to be the root; else the best one", kind="name"),
)

_SEARCHES = (
    Search(
        "auto",
        "over scored sets exact (dp or ilp); from data too where scoring takes about a minute at the most, else tabu",
        run="spinney.search.automatic:run",
    ),
    Search(
        "exact",
        "the best DAG over the scored parent sets, proven: by dp where that is quick, else by ilp",
        options=(*_EXACT, *_CLUSTERS),
        run="spinney.search.ilp:run",
        reads="sets",
        exact=True,
    ),
    Search(
        "ilp",
        "exact, by clusters: dual ascent, linear program, branch and cut; for tens to hundreds of variables",
        "Jaakkola, Sontag, Globerson and Meila (2010); Bartlett and Cussens (2017)",
        (*_EXACT, *_CLUSTERS),
        run="spinney.search.ilp:run",
        reads="sets",
        exact=True,
    ),
    Search(
        "dp",
        "exact, by dynamic programming over all subsets of variables (up to about 28)",
        "Silander and Myllymäki (2006)",
        _EXACT,
        run="spinney.search.exact:run",
        reads="sets",
        exact=True,
    ),
    Search(
        "hc",
        "hill climbing: add, remove or reverse one edge at a time; then walks through the equivalence class, and "
        "perturbations",
        "Heckerman, Geiger and Chickering (1995); Castelo and Kočka (2003)",
        _GREEDY,
        run="spinney.search.greedy:run",
    ),
    Search(
        "tabu",
        "as hc; every climb continues over equal and worse DAGs",
        "Glover (1989); Bouckaert (1995)",
        (*_TABU, *_GREEDY),
        run="spinney.search.greedy:run",
    ),
    Search(
        "ges",
        "greedy search over classes of Markov equivalent DAGs: edges are inserted, deleted and turned; at the end each "
        "is deleted by force",
        "Chickering (2002); Hauser and Bühlmann (2012); Nazaret and Blei (2024)",
        (
            Option(
                "extended",
                True,
                "whether edges are deleted by force at the end, kept out and the search continued; kept if better",
                kind="truth",
            ),
        ),
        run="spinney.search.ges:run",
        returns="class",
    ),
    Search(
        "order",
        "local search over orders of the variables: each has its best parent set among the variables before it",
        "Lee and van Beek (2017)",
        _ORDER,
        run="spinney.search.order:run",
        reads="sets",
    ),
    Search(
        "boss",
        "best order score search: as order, with parents grown and shrunk among the variables before; no sets are "
        "scored beforehand",
        "Andrews, Ramsey, Sanchez-Romero, Camchong and Kummerfeld (2023)",
        _BOSS,
        run="spinney.search.boss:run",
    ),
    Search(
        "local-global",
        "one greedy search over the decision graphs of all nodes; an edge is added with its first split and "
        "removed when a merge leaves its parent without effect. With score graph",
        "Chickering, Heckerman and Meek (1997)",
        run="spinney.search.local_global:run",
        reads="data",
    ),
    Search(
        "chow-liu",
        "the best tree: every column except the root has one parent",
        "Chow and Liu (1968); Edmonds (1967) where the score depends on directions",
        _FOREST,
        run="spinney.search.trees:run",
    ),
    Search(
        "tan",
        "the best tree-augmented naive Bayes classifier: the class is a parent of every attribute, and the attributes "
        "form a tree",
        "Friedman, Geiger and Goldszmidt (1997); Carvalho (2009)",
        (Option("target", None, "the class column; it must be named", kind="name"), *_FOREST),
        run="spinney.search.trees:run",
    ),
)


def _all_scores() -> Rows[Any]:
    return cast(Rows[Any], SCORES)


_TEST = Option(
    "test",
    "auto",
    "the test of independence: g2 (tables), or the likelihood ratio of a score that counts parameters, such as cg, dg "
    "or lr(degree=2); auto: that of the score where it has one, else g2 where all columns are discrete and cg where "
    "not; or a function(data, x, y, given) that returns a p-value",
    kind="choice",
    of=_all_scores,
    words={"auto": (), "g2": ()},
)
_PC = (_ALPHA, _TEST, _CONDITIONING)
_BY_TESTS = (
    Search(
        "pc",
        "by tests of independence: pairs that some set of neighbours parts are not joined, and what parts them directs "
        "edges; the order of the columns decides nothing",
        "Spirtes and Glymour (1991); Colombo and Maathuis (2014)",
        _PC,
        run="spinney.search.pc:run",
        reads="tests",
        returns="class",
    ),
    Search(
        "cpc",
        "conservative pc: an edge is directed only where all sets that part two neighbours of a column say so",
        "Ramsey, Spirtes and Zhang (2006)",
        _PC,
        run="spinney.search.pc:run",
        reads="tests",
        returns="class",
    ),
)

_DELIMITER = Option("delimiter", None, "what separates the cells; found from the content unless given", kind="name")
_ENCODING = Option("encoding", None, "how the text is encoded; found from the content unless given", kind="name")
_SHEET = Option("sheet", None, "the name of the sheet; the first unless given", kind="name")

_FORMATS = (
    Format(
        "json",
        "everything a network holds, exactly",
        suffixes=(".json",),
        read="spinney.formats.json:read",
        write="spinney.formats.json:write",
    ),
    Format(
        "bif",
        "the Bayesian Interchange Format, for discrete networks",
        "Cozman (1998)",
        suffixes=(".bif",),
        read="spinney.formats.bif:read",
        write="spinney.formats.bif:write",
    ),
    Format(
        "dot",
        "Graphviz, for pictures",
        suffixes=(".dot",),
        holds=("network", "graph"),
        write="spinney.formats.dot:write",
    ),
    Format(
        "found",
        "the result of a search: its graph, score and bound",
        suffixes=(".json",),
        holds=("graph",),
        read="spinney.formats.found:read",
        write="spinney.formats.found:write",
    ),
    Format(
        "jkl",
        "one line per set, as exact solvers exchange them",
        suffixes=(".jkl",),
        holds=("parent sets",),
        read="spinney.formats.jkl:read",
        write="spinney.formats.jkl:write",
    ),
    Format(
        "text",
        "cells separated by commas or another character, which is found from the content",
        options=(_DELIMITER, _ENCODING),
        suffixes=(".csv", ".tsv", ".txt"),
        holds=("table",),
        read="spinney.formats.delimited:read",
        write="spinney.formats.delimited:write",
    ),
    Format(
        "parquet",
        "Apache Parquet; keeps kinds and levels",
        suffixes=(".parquet",),
        holds=("table",),
        read="spinney.formats.arrow:read_parquet",
        write="spinney.formats.arrow:write_parquet",
        starts=(b"PAR1",),
    ),
    Format(
        "feather",
        "Apache Arrow; keeps kinds and levels",
        suffixes=(".feather", ".arrow"),
        holds=("table",),
        read="spinney.formats.arrow:read_feather",
        write="spinney.formats.arrow:write_feather",
        starts=(b"ARROW1", b"FEA1"),
    ),
    Format(
        "excel",
        "a sheet of a workbook",
        options=(_SHEET,),
        suffixes=(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        holds=("table",),
        read="spinney.excel_table:read_excel",
        starts=(b"\xd0\xcf\x11\xe0",),  # those that are zip archives are told by what is in them
    ),
)


_BEST = Score(
    "best",
    "per node the local model with the highest evidence, among those of the scores that are named",
    "",
    (
        Option(
            "scores",
            ("pcart", "pcart(leaf=linear)", "ft"),
            "the scores to choose from, each the log of a probability or density of the child; where that takes a "
            "prior on structures (graph), it is on",
            kind="choices",
            of=_all_scores,
        ),
    ),
    source="spinney.scores.best:Best",
    label="Best",
    parents=any_of(*_MIXED),
    evidence=True,
)

AUTO = Score(
    "auto",
    "decided from the kinds of the columns: bdeu where all are discrete, else best; of tables of more than 10 million "
    "cells, pcart. Said with the reason. Classifiers have their own: bd (naive-bayes), fnml (tan), bdeu (network)",
    source="",
    parents=any_of(*_MIXED),
)
SCORES: Rows[Score] = Rows("score", (*_SCORES, *_TREES, *_GRAPHS, *_POLYNOMIALS, *_MARS, *_GAUSSIAN, _BEST), AUTO)
PRIORS = Rows("prior", _PRIORS)
SEARCHES = Rows("search", (*_SEARCHES, *_BY_TESTS))
CANDIDATES = Rows("candidate method", _CANDIDATES)
FORMATS = Rows("format", _FORMATS)

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
