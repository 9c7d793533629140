"""Ways of learning that are compared with each other, by name.

In:  scores, priors and searches; or a dict from names to choices of learn().
Out: Method, checked against the data before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from spinney.candidates import listed_or_chosen
from spinney.catalog import choose_prior, choose_score, choose_search
from spinney.choices import Choice
from spinney.constraints import Allowed, allowed_by
from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.graph import CPDAG, DAG
from spinney.learn import Result, find, learn
from spinney.network import Network
from spinney.scores import build_source, standing_for
from spinney.scores.evidence import with_defaults
from spinney.search import Found
from spinney.shared_scores import SharedScores
from spinney.tasks import Worker

One = str | Choice
Several = One | Iterable[One]
Scores = Several | Mapping[str, One | Mapping[str, Any] | Network]  # what the functions of spinney.evaluate take

CHOICES = ("score", "prior", "search", "max_parents", "constraints", "candidates")


@dataclass(frozen=True)
class Method:
    """A way of learning, or a network that is there already and learns nothing."""

    name: str
    choices: Mapping[str, Any] = field(default_factory=dict)  # of learn()
    network: Network | None = None

    def learn(self, data: Dataset, seed: int, worker: Worker, shared: SharedScores | None = None) -> Network:
        """The network from these rows."""
        if self.network is not None:
            return self.network
        limits: dict[str, Any] = {"n_jobs": worker.threads, "progress": worker.progress, "store": shared}
        result: Result = learn(data, **self.choices, seed=seed, **limits)
        return result.network

    def find(self, data: Dataset, seed: int, worker: Worker, shared: SharedScores | None = None) -> CPDAG:
        """The class that the graph from these rows belongs to."""
        if self.network is not None:
            return self.network.cpdag()
        limits: dict[str, Any] = {"n_jobs": worker.threads, "progress": worker.progress, "store": shared}
        found = find(data, **self.choices, seed=seed, **limits)
        return class_of(found, allowed_by(self.choices.get("constraints"), data.names))

    def check(self, data: Dataset) -> None:
        """Refuse what learn() would refuse, before anything is computed."""
        listed, _ = listed_or_chosen(self.choices.get("candidates"))
        allowed_by(self.choices.get("constraints"), data.names, self.choices.get("max_parents"), listed)
        build_source(data, with_defaults(standing_for(data, self.choices["score"])), self.choices["prior"])

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = {name: value for name, value in self.choices.items() if value is not None}
        if "constraints" in plain:
            plain["constraints"] = plain["constraints"].as_dict()
        if isinstance(plain.get("candidates"), Mapping):
            plain["candidates"] = {child: list(own) for child, own in plain["candidates"].items()}
        named = {name: str(value) if isinstance(value, Choice) else value for name, value in plain.items()}
        return named if self.network is None else {"network": repr(self.network)}


def class_of(found: Found, allowed: Allowed) -> CPDAG:
    """The equivalence class, with the directions that only the constraints give."""
    if found.cpdag is not None:
        return found.cpdag
    dag = DAG(tuple(found.parents), found.parents)
    graph = dag.cpdag()
    given = allowed.one_way(dag.edges)
    return graph.with_arrows(given) if given else graph


def side_by_prior(ways: Iterable[Method]) -> list[tuple[Method, ...]]:
    """Those that differ by the prior on parent sets alone are together, the uniform prior first: they share scores."""
    groups: dict[str, list[Method]] = {}
    for method in ways:
        rest = {word: own for word, own in method.choices.items() if word != "prior"}
        groups.setdefault(repr(rest) if method.network is None else method.name, []).append(method)
    return [tuple(sorted(own, key=_is_not_uniform)) for own in groups.values()]


def shared_by(group: tuple[Method, ...]) -> SharedScores | None:
    """What the methods of a group share, where there is something."""
    return SharedScores() if len(group) > 1 and not _is_not_uniform(group[0]) else None


def _is_not_uniform(method: Method) -> bool:
    return method.network is None and method.choices["prior"].name != "uniform"


def one_method(data: Dataset, score: One, prior: One, search: One, **limits: Any) -> Method:
    """The one way of learning of a function that compares nothing."""
    return next(iter(methods(data, score, prior, search, **limits).values()))


def methods(
    data: Dataset, scores: Scores, prior: Several = "uniform", search: Several = "auto", **limits: Any
) -> dict[str, Method]:
    """Every score under every prior with every search; or those that a dict names.

    limits: what all of them share of max_parents, constraints and candidates."""
    if isinstance(scores, Mapping):
        given = [_named(name, own, prior, search, limits) for name, own in scores.items()]
    else:
        given = _products(data, scores, prior, search, limits)
    if not given:
        raise ChoiceError("there is nothing to evaluate: name at least one score")
    found = {method.name: method for method in given}
    if len(found) < len(given):
        names = [method.name for method in given]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ChoiceError(f"{twice!r} is there twice: name every score once")
    return {name: _checked(data, method) for name, method in found.items()}


def _products(
    data: Dataset, scores: Several, prior: Several, search: Several, limits: Mapping[str, Any]
) -> list[Method]:
    lists = [
        [(_written(one, choice := choose(one)), choice) for one in _several(given, word)]
        for choose, given, word in (
            (choose_score, scores, "scores"),
            (choose_prior, prior, "prior"),
            (choose_search, search, "search"),
        )
    ]
    made = []
    for own in product(*lists):
        words = [own[0][0]]
        words += [f"prior {own[1][0]}"] if len(lists[1]) > 1 else []
        words += [own[2][0]] if len(lists[2]) > 1 else []
        choices = dict(zip(("score", "prior", "search"), (choice for _, choice in own), strict=True))
        made.append(Method(", ".join(words), {**choices, **limits}))
    return made


def _written(given: One, choice: Choice) -> str:
    """The name of a method is what the user wrote."""
    return given.strip() if isinstance(given, str) else choice.short


def _several(given: Several, word: str) -> list[One]:
    if isinstance(given, (str, Choice)):
        return [given]
    if not isinstance(given, Iterable):
        raise ChoiceError(f"{word} is {given!r}; give a text such as 'pcart', or a list of them")
    return list(given)


def _named(name: Any, own: Any, prior: Several, search: Several, limits: Mapping[str, Any]) -> Method:
    if not isinstance(name, str) or not name:
        raise ChoiceError(f"the name of a method is text, not {name!r}: write {{'PCARTp': {{'score': 'pcart', ...}}}}")
    if isinstance(own, Network):
        return Method(name, network=own)
    if isinstance(own, (str, Choice)):
        own = {"score": own}
    if not isinstance(own, Mapping):
        raise ChoiceError(
            f"the method {name!r} is a {type(own).__name__}; give a score, a dict of choices or a Network"
        )
    for word in own:
        if word not in CHOICES:
            raise ChoiceError(f"the method {name!r} has no choice {word!r}; it may have {', '.join(CHOICES)}")
    choices = {"score": "auto", "prior": prior, "search": search, **limits, **own}
    for word in ("prior", "search"):
        if not isinstance(choices[word], (str, Choice)):
            raise ChoiceError(f"{word} is a list, and the methods have names; give each of them its own {word}")
    choices["score"] = choose_score(choices["score"])
    choices["prior"], choices["search"] = choose_prior(choices["prior"]), choose_search(choices["search"])
    return Method(name, choices)


def _checked(data: Dataset, method: Method) -> Method:
    """What cannot be learned is refused here; `auto` stands for the same score on every part of the table. Options that
    are left to the evidence stay so: the rows that a network is learned from choose them, and no others."""
    if method.network is not None:
        missing = [name for name in data.names if name not in method.network.kinds]
        missing += [name for name in method.network.names if name not in data.kinds]
        if missing:
            raise ChoiceError(
                f"the network {method.name!r} and the data have not the same columns ({missing[0]!r} is in one only); "
                f"give networks over all columns of the data"
            )
        return method
    choices = {**method.choices, "score": standing_for(data, method.choices["score"])}
    made = Method(method.name, choices)
    made.check(data)
    return made
