"""The best tree: Chow-Liu, and tree-augmented naive Bayes.

In:  a Problem; scores come from its parent sets, or all families that a tree can have are scored in one call.
Out: Found. No tree scores more; the bound is over all listed sets, trees or not, as that of every search. Ctrl-C and
the time limit end the scoring, before which there is no tree to give back."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.constraints import Allowed
from spinney.errors import ChoiceError, LimitError, named, way
from spinney.progress import reporting
from spinney.search.found import Found, NoNetwork, Problem

Floats = NDArray[np.float64]

TIE = 1e-12  # of the largest local score: weights that differ by less are equal, so that rounding decides nothing


@dataclass(frozen=True)
class _Shape:
    """The trees that there may be: every node has the stem as parents and one more node, or no more."""

    allowed: Allowed  # narrowed to them
    stem: tuple[str, ...]  # none, or the class
    nodes: tuple[str, ...]  # all columns but the stem

    def may_be_alone(self, child: str) -> bool:
        return len(self.allowed.required[child]) == len(self.stem)

    def extras(self, child: str) -> tuple[str, ...]:
        """Who may be the one more parent."""
        if self.allowed.most[child] == len(self.stem):
            return ()
        names = self.allowed.candidates[child] if self.may_be_alone(child) else self.allowed.required[child]
        return tuple(name for name in names if name not in self.stem)


@dataclass(frozen=True)
class _Scores:
    """alone[i]: node i with the stem; joint[i, j]: with node j too; -inf where that may not be."""

    stem: float  # of the class itself
    alone: Floats
    joint: Floats
    listed: NDArray[np.bool_]  # False: the list has no such set any more, the stem alone stands for it

    def weights(self) -> Floats:
        """What the one more parent adds; for a node that must have one, what is lost against its best."""
        best = self.joint.max(axis=1, initial=-math.inf)
        against = np.where(np.isfinite(self.alone), self.alone, np.where(np.isfinite(best), best, 0.0))
        return np.ascontiguousarray((self.joint - against[:, None]).ravel())

    def tie(self) -> float:
        return TIE * max(float(np.abs(s[np.isfinite(s)]).max(initial=0.0)) for s in (self.alone, self.joint))


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    if problem.start is not None:
        raise ChoiceError(
            f"search {problem.method.name} computes the best of all trees and does not use a start",
            way("leave out {}", "start"),
        )
    shape, forest = _shape(problem), problem.method["forest"]
    scores = _listed(problem, shape) if problem.sets is not None else _counted(problem, shape)
    chosen = _core.branching(scores.weights(), np.isfinite(scores.alone).tolist(), forest, scores.tie())
    if shape.nodes and not chosen:
        raise NoNetwork() if forest else _no_tree(problem)
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(shape.allowed.names, ())
    local = [scores.stem]
    for i, (child, parent) in enumerate(zip(shape.nodes, chosen, strict=True)):
        extra = (shape.nodes[parent],) if parent >= 0 and scores.listed[i, parent] else ()
        parents[child] = tuple(sorted((*shape.stem, *extra)))
        local.append(float(scores.joint[i, parent] if parent >= 0 else scores.alone[i]))
    score = math.fsum(local)
    bound, seconds = max(problem.bound(), score), time.perf_counter() - began
    return Found(parents, score, bound, str(problem.method), seconds, ((seconds, score, bound),))


def _shape(problem: Problem) -> _Shape:
    """The constraints with the shape of a tree added to them, where both can hold."""
    allowed, method = problem.allowed, problem.method
    target, root = method.values.get("target"), method["root"]
    if method.name == "tan" and target is None:
        example = allowed.names[-1]
        raise ChoiceError("search tan needs the class column", f"name it in the search as in 'tan(target={example})'")
    for option, name in (("target", target), ("root", root)):
        if name is not None and name not in allowed.index:
            known = ", ".join(map(repr, allowed.names[:8])) + (", ..." if len(allowed.names) > 8 else "")
            raise ChoiceError(f"{method.name}: {option} is {name!r}, which is no column; the columns are {known}")
    if root is not None and root == target:
        raise ChoiceError(f"tan: {root!r} is the class and cannot be the root; name an attribute")
    stem = () if target is None else (target,)
    candidates, required, most = dict(allowed.candidates), dict(allowed.required), dict(allowed.most)
    for child in allowed.names:
        if child != target:
            required[child] = tuple(sorted({*required[child], *stem}))
        if child in (target, root):
            candidates[child] = stem if child == root else ()
        most[child] = min(most[child], 0 if child == target else len(stem) + 1, len(candidates[child]))
    shape = _Shape(
        Allowed(allowed.names, candidates, required, most), stem, tuple(n for n in allowed.names if n not in stem)
    )
    _check(problem, shape)
    return shape


def _check(problem: Problem, shape: _Shape) -> None:
    given, method = problem.allowed, problem.method
    for child in shape.stem:
        for parent in given.required[child]:
            raise ChoiceError(
                f"edge {parent!r} -> {child!r} is required, but the class of tan has no parents; drop the edge"
            )
    for child in shape.nodes:
        for parent in shape.stem:
            if parent not in given.candidates[child] or given.most[child] == 0:
                raise ChoiceError(
                    f"tan has the class as a parent of every attribute, but the constraints, the candidates or "
                    f"{named('max_parents')} forbid {parent!r} -> {child!r}; allow it, or leave the column out"
                )
        wanted = shape.allowed.required[child]
        if len(wanted) > len(shape.stem) and child == method["root"]:
            raise ChoiceError(
                f"{method.name}: the root is to be {child!r}, but parents of it are required; drop one of the two"
            )
        if len(wanted) > shape.allowed.most[child]:
            raise ChoiceError(
                f"column {child!r} cannot have the parents {', '.join(map(repr, wanted))} in {method.name}, which "
                f"allows {len(shape.stem) + 1} at the most",
                "drop a required edge",
                way("raise {}", "max_parents"),
                "use another search",
            )


def _counted(problem: Problem, shape: _Shape) -> _Scores:
    """From the data: all families in one list."""
    assert problem.source is not None
    place = {name: i for i, name in enumerate(shape.nodes)}
    families: list[tuple[str, tuple[str, ...]]] = [(name, ()) for name in shape.stem]
    alone = [i for i, child in enumerate(shape.nodes) if shape.may_be_alone(child)]
    families += [(shape.nodes[i], shape.stem) for i in alone]
    joint = [(i, place[extra]) for i, child in enumerate(shape.nodes) for extra in shape.extras(child)]
    families += [(shape.nodes[i], (*shape.stem, shape.nodes[j])) for i, j in joint]
    with reporting(problem.progress, "scoring families") as report:
        try:
            values = problem.source.local_scores(families, problem.threads, report, problem.time_limit)
        except TimeoutError:
            raise LimitError(
                f"scoring the {len(families):,} families that {problem.method.name} chooses from took longer than the "
                f"time limit",
                way("raise {}", "time_limit"),
                way("give {}", "candidates"),
                "take fewer columns or rows",
            ) from None
    scores = _nothing(float(values[0]) if shape.stem else 0.0, len(shape.nodes))
    first = len(shape.stem)
    scores.alone[alone] = values[first : first + len(alone)]
    rows, columns = np.array(joint, np.intp).reshape(-1, 2).T
    scores.joint[rows, columns] = values[first + len(alone) :]
    scores.listed[rows, columns] = True
    return scores


def _listed(problem: Problem, shape: _Shape) -> _Scores:
    """From parent sets; a set that is not listed is no better than the stem alone, and stands for it."""
    assert problem.sets is not None
    sets, index = problem.sets.within(shape.allowed), shape.allowed.index
    place = np.full(len(index), -1, np.intp)
    place[[index[name] for name in shape.nodes]] = np.arange(len(shape.nodes))
    scores = _nothing(sum(float(sets.arrays[index[name]][0][0]) for name in shape.stem), len(shape.nodes))
    more = len(shape.stem) + 1
    for i, child in enumerate(shape.nodes):
        values, sizes, members = sets.arrays[index[child]]
        if (sizes < more).any():
            scores.alone[i] = values[sizes < more][0]
            scores.joint[i, [place[index[name]] for name in shape.extras(child)]] = scores.alone[i]
        whole = members[np.repeat(sizes == more, sizes)].reshape(-1, more)
        others = place[whole].max(axis=1)  # the stem has no place
        scores.joint[i, others] = values[sizes == more]
        scores.listed[i, others] = True
    return scores


def _nothing(stem: float, nodes: int) -> _Scores:
    pairs = (nodes, nodes)
    return _Scores(stem, np.full(nodes, -math.inf), np.full(pairs, -math.inf), np.zeros(pairs, np.bool_))


def _no_tree(problem: Problem) -> ChoiceError:
    return ChoiceError(
        f"{problem.method.name}: the constraints, max_parents or the listed parent sets leave no tree that holds all "
        f"columns; loosen them, or write {problem.method.name}(forest=True)"
    )
