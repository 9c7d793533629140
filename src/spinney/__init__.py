"""spinney: Bayesian networks from real tables.

The public API is the list below; everything else may move."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from spinney import catalog, evaluate, simulate
from spinney.bootstrap import Bootstrap, bootstrap
from spinney.catalog import register
from spinney.choices import Choice, constructor
from spinney.compare import Comparison, compare
from spinney.constraints import Constraints
from spinney.dataset import Dataset
from spinney.ensemble import Ensemble, average
from spinney.errors import ChoiceError, DataError, FileFormatError, LimitError, SpinneyError
from spinney.graph import CPDAG, DAG
from spinney.independence import Independence, independence
from spinney.kinds import Categorical, Continuous, Ordinal
from spinney.learn import Result, find, fit, fit_structure, learn, local_score, local_scores, score
from spinney.network import Network
from spinney.parent_sets import ParentSets
from spinney.partitions import Partitions
from spinney.plan import Forecast, plan
from spinney.posterior import Posterior, posterior
from spinney.record import Plan
from spinney.scores.custom import CustomScore
from spinney.search import Found, search
from spinney.step1 import score_parent_sets
from spinney.version import __version__

if TYPE_CHECKING:
    from spinney.classify import NaiveBayesClassifier, NetworkClassifier, TANClassifier
    from spinney.discretise import Discretiser
    from spinney.regress import MARSClassifier, MARSRegressor

# scikit-learn takes a second to import: only for those who ask
_LATER = {
    "Discretiser": "spinney.discretise",
    **dict.fromkeys(["NaiveBayesClassifier", "NetworkClassifier", "TANClassifier"], "spinney.classify"),
    **dict.fromkeys(["MARSClassifier", "MARSRegressor"], "spinney.regress"),
}


def __getattr__(name: str) -> Callable[..., Choice]:
    """What is imported or built when it is first asked for: estimators, and the scores of the catalog."""
    found: Callable[..., Choice] | None = None
    if name in _LATER:
        found = getattr(import_module(_LATER[name]), name)
    elif not name.startswith("_"):
        found = next((constructor(row, name) for row in catalog.SCORES.values() if row.label == name), None)
    if found is None:
        raise AttributeError(f"module 'spinney' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names, those that come later too: what an interactive shell completes."""
    return sorted({*__all__, *(row.label for row in catalog.SCORES.values() if row.label)})


__all__ = [
    "CPDAG",
    "DAG",
    "Bootstrap",
    "Categorical",
    "ChoiceError",
    "Comparison",
    "Constraints",
    "Continuous",
    "CustomScore",
    "DataError",
    "Dataset",
    "Discretiser",
    "Ensemble",
    "FileFormatError",
    "Forecast",
    "Found",
    "Independence",
    "LimitError",
    "MARSClassifier",
    "MARSRegressor",
    "NaiveBayesClassifier",
    "Network",
    "NetworkClassifier",
    "Ordinal",
    "ParentSets",
    "Partitions",
    "Plan",
    "Posterior",
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
__all__ += [row.label for row in catalog.SCORES.own]
