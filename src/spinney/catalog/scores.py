"""The scores: what each is called, where it comes from, its options, the kinds that it is defined for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from spinney.catalog.rows import Score, any_of
from spinney.choices import Option, Rows
from spinney.kinds import KIND_WORDS

_MIXED = KIND_WORDS

_ESS = Option("ess", 1.0, "equivalent sample size; larger is smoother and denser", low=0)


def _by_evidence(option: Option, low: int, high: int, *children: str) -> Option:
    """The same, which may be left to the data: the powers of two from 2^low to 2^high are tried (scores/evidence.py).
    `children`: the kinds of child that the option concerns."""
    grid = tuple(2.0**power for power in range(low, high + 1))
    assert option.default in grid
    help_text = f"{option.help}; auto: by evidence, {_power(grid[0])} to {_power(grid[-1])}"
    return replace(option, help=help_text, words={"auto": ()}, grid=grid, children=children)


def _power(value: float) -> str:
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"


_DISCRETE = ("categorical", "ordinal")
_SHARED_OUT = _by_evidence(_ESS, -2, 7, *_DISCRETE)

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
        (_by_evidence(Option("alpha", 0.5, "pseudo-count of every cell", low=0), -6, 3, *_DISCRETE),),
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
        (_SHARED_OUT,),
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
        (_SHARED_OUT,),
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
_ENDS = {"a": (-6, 2), "nu": (-2, 6), "lam": (-6, 2)}
_NORMAL_AUTO = tuple(
    _by_evidence(option, *_ENDS[option.name], "continuous") if option.name in _ENDS else option for option in _NORMAL
)
_LEAF = (
    _by_evidence(
        Option("alpha", 0.5, "pseudo-count of every level of a categorical or ordinal child", low=0), -6, 3, *_DISCRETE
    ),
    *_NORMAL_AUTO,
    _by_evidence(
        Option("kappa", 0.25, "prior odds of a cut between neighbouring levels of an ordinal child", low=0),
        -6,
        2,
        "ordinal",
    ),
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
            _by_evidence(
                Option(
                    "tau", 1.0, "of leaf linear: prior weight of every slope, in rows (of standardised values)", low=0
                ),
                -6,
                6,
                "continuous",
            ),
            Option(
                "average",
                False,
                "the sum over all trees, each with its prior, instead of the best tree: a probability of the child by "
                "itself, as sums over graphs need it. Networks are still fitted with the best tree",
                kind="truth",
            ),
        ),
        source="spinney.scores.tree:Trees",
        label="PCART",
        parents=any_of(*_MIXED),
        bayesian=True,
        evidence="structure_prior",
        best_of="average",
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
        best_of=True,
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
        best_of=True,
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


def all_scores() -> Rows[Any]:
    return cast(Rows[Any], SCORES)


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
            of=all_scores,
        ),
    ),
    source="spinney.scores.best:Best",
    label="Best",
    parents=any_of(*_MIXED),
    evidence=True,
    best_of=True,
)

AUTO = Score(
    "auto",
    "decided from the kinds of the columns: bdeu where all are discrete, else best; of tables of more than 64 columns "
    "or 10 million cells, pcart. Said with the reason. Classifiers have their own: bd (naive-bayes), fnml (tan), bdeu "
    "(network)",
    source="",
    parents=any_of(*_MIXED),
)
SCORES: Rows[Score] = Rows("score", (*_SCORES, *_TREES, *_GRAPHS, *_POLYNOMIALS, *_MARS, *_GAUSSIAN, _BEST), AUTO)
