"""The searches, and the methods that choose candidate parents before them."""

from __future__ import annotations

from spinney.catalog.rows import Candidates, Search
from spinney.catalog.scores import all_scores
from spinney.choices import Option, Rows

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
        1,
        "perturbations per variable without improvement before a run ends; 0 is a plain climb",
        kind="integer",
        low=0,
        open=False,
    ),
    Option(
        "polish",
        "auto",
        "whether ges goes on from the climb and from the perturbations, kept if better; auto: where the score is equal "
        "on Markov equivalent DAGs",
        kind="truth",
        words={"auto": ()},
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
        "over scored sets exact (dp or ilp); from data the better of tabu and boss, and exact from there where all "
        "parent sets can be scored in about half a minute",
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
        "greedy search over classes of Markov equivalent DAGs: edges are inserted, deleted and turned; at the end they "
        "are deleted by force",
        "Chickering (2002); Hauser and Bühlmann (2012); Nazaret and Blei (2024)",
        (
            Option(
                "extended",
                True,
                "whether edges (one, two of a triangle, all of a variable) are deleted by force at the end, kept out "
                "and the search continued; kept if better",
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

_TEST = Option(
    "test",
    "auto",
    "the test of independence: g2 (tables), or the likelihood ratio of a score that counts parameters, such as cg, dg "
    "or lr(degree=2); auto: that of the score where it has one, else g2 where all columns are discrete and cg where "
    "not; or a function(data, x, y, given) that returns a p-value",
    kind="choice",
    of=all_scores,
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

SEARCHES = Rows("search", (*_SEARCHES, *_BY_TESTS))
CANDIDATES = Rows("candidate method", _CANDIDATES)
