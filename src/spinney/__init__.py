"""spinney: Bayesian networks from real tables.

The public API is the list below; everything else may move."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spinney import catalog, evaluate
from spinney.compare import Comparison, compare
from spinney.constraints import Constraints
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, DataError, FileFormatError, LimitError, SpinneyError
from spinney.graph import CPDAG, DAG
from spinney.kinds import Categorical, Continuous, Ordinal
from spinney.learn import Result, find, fit, fit_structure, learn, local_score, local_scores, score
from spinney.network import Network
from spinney.parent_sets import ParentSets, score_parent_sets
from spinney.plan import Plan
from spinney.search import Found, search
from spinney.version import __version__

if TYPE_CHECKING:
    from spinney.classify import NaiveBayesClassifier, NetworkClassifier, TANClassifier
    from spinney.discretise import Discretiser
else:
    # scikit-learn takes a second to import: only for those who ask
    _LATER = {
        "Discretiser": "spinney.discretise",
        **dict.fromkeys(["NaiveBayesClassifier", "NetworkClassifier", "TANClassifier"], "spinney.classify"),
    }

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module 'spinney' has no attribute {name!r}")
        return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    """The public names, those that are imported later too: what an interactive shell completes."""
    return sorted(__all__)


LL = catalog.maker(catalog.SCORES["ll"])
AIC = catalog.maker(catalog.SCORES["aic"])
BIC = catalog.maker(catalog.SCORES["bic"])
MDL = catalog.maker(catalog.SCORES["mdl"])
K2 = catalog.maker(catalog.SCORES["k2"])
BD = catalog.maker(catalog.SCORES["bd"])
BDe = catalog.maker(catalog.SCORES["bde"])
BDeu = catalog.maker(catalog.SCORES["bdeu"])
BDs = catalog.maker(catalog.SCORES["bds"])
FNML = catalog.maker(catalog.SCORES["fnml"])
QNML = catalog.maker(catalog.SCORES["qnml"])
MIT = catalog.maker(catalog.SCORES["mit"])
PCART = catalog.maker(catalog.SCORES["pcart"])
FT = catalog.maker(catalog.SCORES["ft"])
Graph = catalog.maker(catalog.SCORES["graph"])

__all__ = [
    "AIC",
    "BD",
    "BIC",
    "CPDAG",
    "DAG",
    "FNML",
    "FT",
    "K2",
    "LL",
    "MDL",
    "MIT",
    "PCART",
    "QNML",
    "BDe",
    "BDeu",
    "BDs",
    "Categorical",
    "ChoiceError",
    "Comparison",
    "Constraints",
    "Continuous",
    "DataError",
    "Dataset",
    "Discretiser",
    "FileFormatError",
    "Found",
    "Graph",
    "LimitError",
    "NaiveBayesClassifier",
    "Network",
    "NetworkClassifier",
    "Ordinal",
    "ParentSets",
    "Plan",
    "Result",
    "SpinneyError",
    "TANClassifier",
    "__version__",
    "compare",
    "evaluate",
    "find",
    "fit",
    "fit_structure",
    "learn",
    "local_score",
    "local_scores",
    "score",
    "score_parent_sets",
    "search",
]
