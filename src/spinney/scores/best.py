"""The best of several local models in every node: score="best(pcart, ft)".

In:  scores that are all logs of a probability, or density, of the child's standardised column.
Out: a Source: the score of a family is the highest of theirs less log of their number, a uniform prior over the models;
so the probabilities of all columns sum to at most 1. A score that is not defined for the kinds of a family is passed
over there. The comparison is in core/scores.cpp."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.catalog import Score
from spinney.choices import Choice, loaded
from spinney.constraints import Allowed
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import LocalModel
from spinney.layout import counted
from spinney.priors import Prior
from spinney.scores.source import Source


def _source(data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None) -> Source:
    assert isinstance(choice.entry, Score)
    source: Source = loaded(choice.entry.source)(data, choice, prior, deadline)
    return source


class Best(Source):
    """One data set under the best of several scores."""

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        super().__init__(data, choice, prior, deadline)
        named: tuple[Choice, ...] = choice["scores"]
        if not named:
            raise ChoiceError("score best has nothing to choose from; name scores, as in best(pcart, ft)")
        own = []
        for one in named:
            assert isinstance(one.entry, Score)
            if one.entry.source == self.entry.source:
                raise ChoiceError(f"{choice.short} names best within best; name the scores themselves")
            compared = one.entry.as_evidence(one)
            if compared is None:
                raise ChoiceError(
                    f"score best compares logs of probabilities of the child, and {one.name} is no such; leave it out"
                )
            own.append(compared)
        if len({str(one) for one in own}) < len(own):
            raise ChoiceError(f"{choice.short} names a score twice; name it once")
        self._sources = [_source(data, one, prior, deadline) for one in own]
        self.fit_grows = any(source.fit_grows for source in self._sources)
        self._took: dict[str, str] = {}  # child -> the score whose model it has
        for name in self.names:
            if not any(data.kinds[name].word in source.entry.parents for source in self._sources):
                raise ChoiceError(
                    f"column {name!r} is {data.kinds[name].word}, and none of the scores of {choice.short} takes such "
                    f"a child; add pcart, which takes any kind"
                )

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for source in self._sources for note in source.notes))

    @property
    def uncut(self) -> Sequence[str]:  # type: ignore[override]
        return sorted({name for source in self._sources for name in source.uncut})

    def prepare(self, names: Sequence[str]) -> None:
        for source in self._sources:
            source.prepare([name for name in names if name in source.uncut])

    @cached_property
    def _admits(self) -> list[list[NDArray[np.bool_]]]:
        """Per score and child: with which parents, and, in the child's own place, whether as a child at all. What
        scores such a child as one before it does is passed over there: pcart(leaf=linear) after pcart, if discrete."""
        words = [self.data.kinds[name].word for name in self.names]
        found = []
        for place, source in enumerate(self._sources):
            rows = []
            for child, word in enumerate(words):
                parents = source.entry.parents.get(word)
                before = [other.choice_for(word) for other in self._sources[:place]]
                row = np.array([word in (parents or ()) for word in words], np.bool_)
                row[child] = parents is not None and source.choice_for(word) not in before
                rows.append(row)
            found.append(rows)
        return found

    def _build(self) -> _core.Scores:
        pairs = zip(self._sources, self._admits, strict=True)
        return _core.best_scores([(source.scores, rows) for source, rows in pairs])

    def _for_family(self, child: str, parents: Sequence[str]) -> list[Source]:
        number, numbers = self.family(child, parents)
        pairs = zip(self._sources, self._admits, strict=True)
        return [source for source, rows in pairs if rows[number][[number, *numbers]].all()]

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> LocalModel:
        """The model of the score that is highest; of equal ones, that of the first."""
        admitted = self._for_family(child, parents)
        values = [_value(source, child, parents) for source in admitted]
        best = admitted[values.index(max(values))]
        self._took[child] = best.choice.short
        return best.fit(child, parents, score, stop)

    def after_fit(self, models: Mapping[str, LocalModel]) -> tuple[str, ...]:
        took = Counter(self._took[child] for child in models if child in self._took)
        parts = [f"{name} for {counted(count, 'node')}" for name, count in took.most_common()]
        return (f"the score best chose {', '.join(parts)}",) if parts else ()

    def family_cost(self, parents: int) -> float:
        pairs = zip(self._sources, self._admits, strict=True)
        shares = [(source, np.mean([row[child] for child, row in enumerate(rows)])) for source, rows in pairs]
        return math.fsum(float(share) * source.family_cost(parents) for source, share in shares)

    def check_family(self, child: str, parents: Sequence[str]) -> None:
        admitted = self._for_family(child, parents)
        if not admitted:
            raise ChoiceError(
                f"none of the scores of {self.choice.short} is defined for {child!r} with the parents {list(parents)}; "
                f"add pcart, which takes any kind"
            )
        for source in admitted:
            source.check_family(child, parents)

    def check_sets(self, allowed: Allowed, prune: bool) -> None:
        for source in self._sources:
            source.check_sets(source.restrict(allowed), prune)

    def check_search(self, allowed: Allowed) -> None:
        for source in self._sources:
            source.check_search(source.restrict(allowed))

    def restrict(self, allowed: Allowed) -> Allowed:
        """Parents that at least one of the scores admits."""
        kinds = self.data.kinds
        parents = {
            word: tuple({p for source in self._sources for p in source.entry.parents.get(word, ())})
            for word in {kind.word for kind in kinds.values()}
        }
        return self.restricted(allowed, parents)

    @contextmanager
    def limits(self) -> Iterator[None]:
        with ExitStack() as stack:
            for source in self._sources:
                stack.enter_context(source.limits())
            yield


def _value(source: Source, child: str, parents: Sequence[str]) -> float:
    """The score of a family; minus infinity, as searches have it, where it would need too much."""
    try:
        return float(source.local_scores([(child, tuple(parents))])[0])
    except LimitError:
        return -math.inf
