"""A score of the user's own, as a Python function: sp.CustomScore(function).

In:  function(data, child, parents) -> float, larger is better; parents is a sorted tuple of names.
Out: a Choice that works wherever the name of a score does. Every family is asked for once. The nodes of a network are
filled with the local models of a score of the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from spinney import _core
from spinney.catalog import Score, any_of
from spinney.choices import Choice
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError
from spinney.fitted.model import LocalModel
from spinney.kinds import KIND_WORDS
from spinney.priors import Prior
from spinney.scores.source import Source

Function = Callable[[Dataset, str, tuple[str, ...]], float]


def CustomScore(
    function: Function,
    kinds: Sequence[str] | Mapping[str, Sequence[str]] = KIND_WORDS,
    equivalent: bool = False,
    model: str | Choice = "auto",
    name: str = "custom",
) -> Choice:
    """A score of your own: `function(data, child, parents)` returns the score of a family; larger is better.

    kinds: the kinds of columns that it takes, or a dict from the kind of a child to the kinds of its parents.
    equivalent: whether Markov equivalent graphs score the same.
    model: the score of spinney whose local models fill the nodes of the network.

    >>> sp.CustomScore(lambda data, child, parents: -len(parents))
    """
    if not callable(function):
        raise ChoiceError(f"CustomScore takes a function of (data, child, parents), not {function!r}")
    if isinstance(kinds, str):
        kinds = (kinds,)
    parents = {k: tuple(v) for k, v in kinds.items()} if isinstance(kinds, Mapping) else any_of(*kinds)
    for word in {*parents, *(p for own in parents.values() for p in own)}:
        if word not in KIND_WORDS:
            raise ChoiceError(f"CustomScore: {word!r} is no kind of column; the kinds are {', '.join(KIND_WORDS)}")
    source = partial(Custom, function=function, model=model)
    return Choice(Score(name, "a score of the user's own", source=source, parents=parents, equivalent=equivalent))


class Custom(Source):
    """One data set under a function of the user's."""

    def __init__(
        self,
        data: Dataset,
        choice: Choice,
        prior: Prior,
        deadline: Deadline | None = None,
        *,
        function: Function,
        model: str | Choice,
    ) -> None:
        from spinney.scores import build_source  # it builds every group, this one too

        super().__init__(data, choice, prior, deadline)
        self._function = function
        self._models = build_source(data, model)

    def family_score(self, child: str, parents: tuple[str, ...]) -> float:
        return self._function(self.data, child, parents)

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> LocalModel:
        return self._models.fit(child, parents, score, stop)
