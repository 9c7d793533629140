"""Random graphs, kinds and seeds: what all simulators begin with.

In:  numbers that the user chose: variables, degrees, shares of kinds, a seed.
Out: a DAG whose names say nothing about its order; a kind for each variable; generators; or one sentence.
Andrews, Ramsey and Cooper (2018), section 6: pairs of variables are joined at random, from the earlier to the later in
a random order, until the average degree is reached; no variable gets more than max_degree neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from spinney.errors import ChoiceError, LimitError, way
from spinney.graph import DAG
from spinney.kinds import KINDS, Categorical, Continuous, Kind, Ordinal
from spinney.limits import whole

# Every part of a simulation draws from its own generator, so that, say, missing cells change no other cell.
GRAPH, KINDS_OF, PARAMETERS, AGAIN, ROWS, PILOT, HOLES = range(7)

_ATTEMPTS = 200  # of filling a graph edge by edge, before one that is regular by construction is taken
_MOST_LEVELS = 1000
_MOST_VARIABLES = 100_000


def generator(seed: int, *part: int) -> np.random.Generator:
    """Of one part of the simulation with this seed; parts are independent of one another."""
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=part))


def check_whole(value: Any, what: str, low: int) -> int:
    if not whole(value) or value < low:
        raise ChoiceError(f"{what} must be a whole number of at least {low}, not {value!r}")
    return int(value)


def check_share(value: Any, what: str) -> float:
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 <= number <= 1:  # without float(): an integer may be too large for one
        raise ChoiceError(f"{what} must be a number from 0 to 1, not {value!r}")
    return float(value)


def check_truth(value: Any, what: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ChoiceError(f"{what} must be True or False, not {value!r}")
    return bool(value)


def check_range(value: Any, what: str, low: int) -> tuple[int, int]:
    """A pair of whole numbers, the fewest and the most."""
    pair = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if len(pair) != 2 or not all(map(whole, pair)) or not low <= pair[0] <= pair[1] <= _MOST_LEVELS:
        raise ChoiceError(
            f"{what} must be the fewest and the most, two whole numbers from {low} to {_MOST_LEVELS}, not {value!r}"
        )
    return int(pair[0]), int(pair[1])


def names_of(n_variables: int) -> tuple[str, ...]:
    """X01, X02, ...: sorted as they are numbered."""
    width = len(str(n_variables))
    return tuple(f"X{number:0{width}}" for number in range(1, n_variables + 1))


def random_dag(n_variables: int, avg_degree: float, max_degree: int, seed: int) -> DAG:
    """A graph of this average degree. The causal order is a random order of the names."""
    edges = _edges_wanted(n_variables, avg_degree, max_degree)
    rng = generator(seed, GRAPH)
    place = rng.permutation(n_variables)
    names = names_of(n_variables)
    parents: dict[str, list[str]] = {name: [] for name in names}
    for one, other in _pairs(n_variables, edges, min(max_degree, n_variables - 1), rng):
        first, last = (one, other) if place[one] < place[other] else (other, one)
        parents[names[last]].append(names[first])
    return DAG(names, {name: sorted(own) for name, own in parents.items()})


def _edges_wanted(n_variables: int, avg_degree: float, max_degree: int) -> int:
    """The fewest edges that reach the average degree, 2 edges / variables."""
    n = check_whole(n_variables, "the number of variables", 1)
    if n > _MOST_VARIABLES:
        raise LimitError(f"{n:,} variables are too many to simulate; ask for at most {_MOST_VARIABLES:,}")
    most = check_whole(max_degree, "the largest degree of a variable", 0)
    if isinstance(avg_degree, bool) or not isinstance(avg_degree, Real) or not 0 <= avg_degree < math.inf:
        raise ChoiceError(f"the average degree must be a number of at least 0, not {avg_degree!r}")
    if avg_degree > n - 1:
        raise ChoiceError(
            f"a graph of {n} variables has an average degree of at most {n - 1}, not {avg_degree}; ask for a lower "
            f"average, or for more variables"
        )
    degree = float(avg_degree)
    if degree > most:
        raise ChoiceError(
            f"the average degree, {degree:g}, is above the largest degree that a variable may have, {most}",
            "ask for a lower average",
            way("raise {}", "max_degree"),
        )
    edges = math.ceil(n * degree / 2 - 1e-9)
    if edges > n * min(most, n - 1) // 2:
        raise ChoiceError(
            f"{n} variables with at most {most} neighbours each cannot have {edges} edges; ask for a lower average "
            f"degree, or for an even number of variables"
        )
    return edges


def _pairs(n: int, edges: int, most: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """So many different pairs, no number in more than `most` of them. REQUIRES: there are such pairs."""
    for _ in range(_ATTEMPTS):
        found = _filled(n, edges, most, rng)
        if len(found) == edges:
            return found
    # Near the most edges that there can be, filling at random seldom succeeds: neighbours on a circle, in a random
    # order, have degrees that differ by one at most.
    circle = rng.permutation(n)
    steps = [(at, (at + step) % n) for step in range(1, (most + 1) // 2 + 1) for at in range(n)]
    if most % 2:  # the last step would add two to each degree, and n/2 of its pairs add one
        steps = steps[: n * (most // 2)] + [(at, at + n // 2) for at in range(n // 2)]
    kept = rng.permutation(len(steps))[:edges]
    return [(int(circle[steps[at][0]]), int(circle[steps[at][1]])) for at in kept]


def _filled(n: int, edges: int, most: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs added one at a time, each drawn from those that are still possible; fewer if none is left."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    free = list(range(n)) if most else []
    found: list[tuple[int, int]] = []

    def add(one: int, other: int) -> None:
        neighbours[one].add(other)
        neighbours[other].add(one)
        found.append((one, other))
        for end in (one, other):
            if len(neighbours[end]) == most:
                free.remove(end)

    # Where most pairs are wanted, or few are left, drawing would find them slowly: all pairs that are possible, in a
    # random order, are the same process.
    for _ in range(3 * edges + 20 if 4 * edges < n * (n - 1) // 2 else 0):
        if len(found) == edges or len(free) < 2:
            return found
        one, other = (free[at] for at in rng.choice(len(free), 2, replace=False))
        if other not in neighbours[one]:
            add(one, other)
    rest = [(one, other) for at, one in enumerate(free) for other in free[at + 1 :] if other not in neighbours[one]]
    for at in rng.permutation(len(rest)).tolist():
        one, other = rest[at]
        if len(found) < edges and len(neighbours[one]) < most and len(neighbours[other]) < most:
            add(one, other)
    return found


def random_kinds(
    names: Sequence[str], shares: Mapping[str, float] | Sequence[str], levels: tuple[int, int], seed: int
) -> dict[str, Kind]:
    """A kind for each name, drawn independently with these shares, or as listed; levels are a to e, or 1 to 5."""
    rng = generator(seed, KINDS_OF)
    uniform, numbers = rng.random(len(names)), rng.integers(levels[0], levels[1] + 1, len(names))
    if isinstance(shares, Mapping):
        words = list(shares)
        ends = np.cumsum([shares[word] for word in words])
        # Divided so that the last share that is not 0 ends at exactly 1, above every uniform number.
        chosen = [words[int(np.searchsorted(ends / ends[-1], drawn, side="right"))] for drawn in uniform]
    else:
        chosen = list(shares)
    return {name: _kind(word, int(k)) for name, word, k in zip(names, chosen, numbers, strict=True)}


def _kind(word: str, k: int) -> Kind:
    if word == Continuous.word:
        return Continuous()
    if word == Ordinal.word:
        return Ordinal([str(level) for level in range(1, k + 1)])
    width = len(str(k))
    return Categorical([chr(97 + code) if k <= 26 else f"l{code + 1:0{width}}" for code in range(k)])


def check_kinds(
    kinds: str | Mapping[str, float] | Iterable[str] | None, n_variables: int, usual: Mapping[str, float]
) -> Mapping[str, float] | list[str]:
    """What the user wrote: one word for all, shares by word, or a word for each variable."""
    if kinds is None:
        return usual
    if isinstance(kinds, str):
        kinds = {kinds: 1.0}
    if isinstance(kinds, Mapping):
        shares = {word: check_share(share, f"the share of {word!r}") for word, share in kinds.items()}
        _check_words(shares)
        if abs(sum(shares.values()) - 1) > 1e-9:
            raise ChoiceError(f"the shares of the kinds are {shares}, which is not 1 in all; correct them")
        return shares
    words = list(kinds) if isinstance(kinds, Iterable) else [kinds]
    _check_words(words)
    if len(words) != n_variables:
        raise ChoiceError(f"{len(words)} kinds are listed for {n_variables} variables; list one for each, or shares")
    return words


def _check_words(words: Iterable[Any]) -> None:
    for word in words:
        if word not in KINDS:
            raise ChoiceError(f"{word!r} is not a kind; use {', '.join(KINDS)}")


def level_counts(kinds: Mapping[str, Kind], names: Iterable[str]) -> list[int]:
    """How many levels each of these discrete variables has."""
    return [len(getattr(kinds[name], "levels", None) or ()) for name in names]


def check_cells(child: str, cells: int) -> None:
    """Of a table with a row of parameters for every configuration of the parents."""
    if cells > 1_000_000:
        raise LimitError(
            f"the parents of {child} have {cells:,} configurations, more than a million",
            way("lower {}", "max_degree"),
            "use fewer levels",
        )


def ordered_rows(rng: np.random.Generator, rows: int, k: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Probabilities of ordered levels, one row each: a logistic variable around a random location, cut into k pieces
    that would be equal around 0. Neighbouring levels are likely together, as levels without an order are not."""
    from scipy.special import expit, logit

    location = rng.normal(0.0, 1.5, (rows, 1))
    below = np.hstack([np.zeros((rows, 1)), expit(logit(np.arange(1, k) / k) - location), np.ones((rows, 1))])
    return np.diff(below, axis=1)
