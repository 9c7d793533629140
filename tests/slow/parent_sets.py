"""Parent sets by enumeration, pruning by definition, and the jkl format read and written by hand.

In:  a Case and a score's name, or lists of sets with scores.
Out: dictionaries child -> {parents: score}, or jkl text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from math import inf

from slow.case import Case
from slow.scores import local_score

Sets = dict[frozenset[str], float]


def subsets(names: Iterable[str], at_most: int) -> list[frozenset[str]]:
    names = sorted(names)
    return [frozenset(some) for size in range(min(at_most, len(names)) + 1) for some in combinations(names, size)]


def enumerate_sets(case: Case, score: str, max_parents: int, prior: str = "uniform") -> dict[str, Sets]:
    return {
        child: {
            parents: local_score(case, child, parents, score, prior)
            for parents in subsets(set(case.names) - {child}, max_parents)
        }
        for child in case.names
    }


def lead(parents: frozenset[str], sets: Sets) -> float:
    """By how much a set beats the best of its proper subsets; what is not above 0 can never be needed."""
    return sets[parents] - max((score for subset, score in sets.items() if subset < parents), default=-inf)


def write_jkl(sets: Mapping[str, Iterable[tuple[Iterable[str], float]]]) -> str:
    lines = [str(len(sets))]
    for child, of_child in sets.items():
        rows = [(list(parents), score) for parents, score in of_child]
        lines.append(f"{child} {len(rows)}")
        lines += [" ".join([repr(score), str(len(parents)), *parents]) for parents, score in rows]
    return "\n".join(lines) + "\n"


def read_jkl(text: str) -> dict[str, Sets]:
    words = iter(text.split())
    answer: dict[str, Sets] = {}
    for _ in range(int(next(words))):
        child, count = next(words), int(next(words))
        answer[child] = {}
        for _ in range(count):
            score, size = float(next(words)), int(next(words))
            answer[child][frozenset(next(words) for _ in range(size))] = score
    return answer
