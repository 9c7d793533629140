"""How good is what was learned, where nobody knows the truth?

In:  a table, and ways of learning from it.
Out: accuracy of classifiers, log loss on rows that were held out, stability of the structure on fewer rows, log loss
of networks that are there already; each with its error."""

from spinney.evaluate.accuracies import Accuracy, accuracy
from spinney.evaluate.held_out import Losses, compare
from spinney.evaluate.log_losses import LogLoss, log_loss
from spinney.evaluate.pairs import Pair
from spinney.evaluate.structures import Stability, stability, write_subsamples

__all__ = [
    "Accuracy",
    "LogLoss",
    "Losses",
    "Pair",
    "Stability",
    "accuracy",
    "compare",
    "log_loss",
    "stability",
    "write_subsamples",
]
