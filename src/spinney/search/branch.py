"""Branch and cut: the last stage of exact search.

In:  a part that the linear program has not settled, with its clusters.
Out: its best DAG, proven, or the bound at the time it was stopped.
SCIP branches; the core finds violated clusters and cycles."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pyscipopt as scip
from numpy.typing import NDArray

from spinney import _core
from spinney.search.parts import Clock, Cluster, Node, Stopped, topological

VIOLATION = 1e-3
CUTS = 50  # per round


def settle(node: Node, clock: Clock, report: Callable[[], None], nodes: int) -> None:
    """Settles the part, or leaves it open after so many nodes of the tree where that is not 0."""
    tree = _Tree(node, clock, report, nodes)
    why = tree.run()
    if why:
        raise Stopped(why)


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """SCIP prints and forgets what a callback raises; the tree keeps it, stops, and raises it afterwards."""

    @functools.wraps(method)
    def call(self: Any, *args: Any) -> Any:
        try:
            return method(self, *args)
        except BaseException as problem:
            self.tree.fail(problem)
            return {"result": scip.SCIP_RESULT.INFEASIBLE}

    return call


class _Tree:
    def __init__(self, node: Node, clock: Clock, report: Callable[[], None], nodes: int) -> None:
        self.node, self.clock = node, clock
        self._parents = [own.tolist() for own in node.part.parents]
        # SCIP's tolerances are absolute: what is left of the gap is a thousand.
        largest = float(node.cost.max()) or 1.0
        self.scale = min(1e3 / max(node.gap(), 1e-300), 1e7 / largest)
        self.model = model = scip.Model()
        model.hideOutput()
        self.x = [model.addVar(vtype="B", obj=self.scale * float(cost)) for cost in node.cost]
        first = node.part.first.tolist()
        for begin, end in pairwise(first):
            model.addCons(scip.quicksum(self.x[begin:end]) == 1)
        self.failure: BaseException | None = None
        model.includeConshdlr(
            _Acyclic(self),
            "acyclic",
            "no cycles among the chosen families",
            sepapriority=100,
            enfopriority=-10,  # after integrality: what is enforced is a choice of families
            chckpriority=-10,
            sepafreq=1,
            propfreq=1,
            eagerfreq=-1,
            maxprerounds=0,
            needscons=False,
        )
        model.includeHeur(
            _Climb(self),
            "climb",
            "climbs over orders from the linear program's weights",
            "O",
            freq=5,
            freqofs=1,
            timingmask=scip.SCIP_HEURTIMING.AFTERLPNODE,
        )
        model.includeEventhdlr(_Watch(self, report), "watch", "news of the bound")
        model.setObjlimit(self.scale * node.upper)
        model.setPresolve(scip.SCIP_PARAMSETTING.OFF)
        model.setHeuristics(scip.SCIP_PARAMSETTING.OFF)  # climbs over orders do better
        for name, value in (
            ("misc/usesymmetry", 0),
            ("misc/catchctrlc", False),
            ("numerics/feastol", 1e-8),
            ("numerics/dualfeastol", 1e-9),
            # Dense lists take hundreds of iterations for every strong branching, which costs more than it saves.
            ("branching/relpscost/inititer", 100),
        ):
            model.setParam(name, value)
        left = clock.left()
        if left:
            model.setParam("limits/time", left)
        if nodes:
            model.setParam("limits/nodes", nodes)

    def run(self) -> str:
        """Why it was stopped, or nothing."""
        interrupted = False

        def interrupt(*_: Any) -> None:
            nonlocal interrupted
            interrupted = True
            self.model.interruptSolve()

        ours = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, interrupt) if ours else None
        try:
            self.model.optimize()
        finally:
            if ours:
                signal.signal(signal.SIGINT, before or signal.SIG_DFL)
        if self.failure is not None:
            raise self.failure
        if self.model.getNSols():
            self.take(self.model.getBestSol())
        if self.model.getStatus() in ("optimal", "infeasible", "inforunbd"):
            self.node.settle()
            return ""
        self.update_bound()
        if self.model.getStatus() == "nodelimit":
            return ""
        return "interrupted" if interrupted else "time limit"

    def fail(self, problem: BaseException) -> None:
        self.failure = self.failure or problem
        self.model.interruptSolve()

    def take(self, solution: scip.scip.Solution) -> None:
        chosen = [i for i, x in enumerate(self.x) if self.model.getSolVal(solution, x) > 0.5]
        self.node.propose(topological([self._parents[i] for i in chosen]))

    def update_bound(self) -> None:
        """SCIP's bound holds up to its tolerances; it is lowered by them, so that it stays valid."""
        bound = self.model.getDualbound()
        if abs(bound) < 1e15:  # beyond, it is SCIP's infinity
            bound /= self.scale
            self.node.lower = max(self.node.lower, min(bound - 1e-9 * abs(bound), self.node.upper))


class _Watch(scip.Eventhdlr):  # type: ignore[misc]
    def __init__(self, tree: _Tree, report: Callable[[], None]) -> None:
        self.tree, self._report = tree, report

    def eventinit(self) -> None:
        self.model.catchEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)
        self.model.catchEvent(scip.SCIP_EVENTTYPE.BESTSOLFOUND, self)

    def eventexit(self) -> None:
        self.model.dropEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)
        self.model.dropEvent(scip.SCIP_EVENTTYPE.BESTSOLFOUND, self)

    @_guarded
    def eventexec(self, event: scip.scip.Event) -> None:
        if event.getType() == scip.SCIP_EVENTTYPE.BESTSOLFOUND:
            self.tree.take(self.model.getBestSol())
        self.tree.update_bound()
        self._report()


class _Climb(scip.Heur):  # type: ignore[misc]
    def __init__(self, tree: _Tree) -> None:
        self.tree = tree

    @_guarded
    def heurexec(self, timing: int, infeasible: bool) -> dict[str, Any]:
        if infeasible:
            return {"result": scip.SCIP_RESULT.DIDNOTRUN}
        node, before = self.tree.node, self.tree.node.upper
        weights = [self.model.getSolVal(None, x) for x in self.tree.x]
        node.propose(node.part.climb([], weights, 0, 1, 0, 1, 0.0)["order"])
        if node.upper >= before:
            return {"result": scip.SCIP_RESULT.DIDNOTFIND}
        solution = self.model.createSol(self)
        for i in node.chosen:
            self.model.setSolVal(solution, self.tree.x[i], 1.0)
        accepted = self.model.trySol(solution)
        return {"result": scip.SCIP_RESULT.FOUNDSOL if accepted else scip.SCIP_RESULT.DIDNOTFIND}


class _Acyclic(scip.Conshdlr):  # type: ignore[misc]
    def __init__(self, tree: _Tree) -> None:
        self.tree = tree
        self._part: _core.Part = tree.node.part
        self._columns: list[scip.Variable] = []

    @_guarded
    def consinitlp(self, constraints: list[Any]) -> dict[str, Any]:
        if not self._columns:  # it is called again at every jump in the tree; the pool remembers
            self._columns = [self.model.getTransformedVar(x) for x in self.tree.x]
            self._add(self.tree.node.clusters, force=True)
        return {}

    @_guarded
    def conssepalp(self, constraints: list[Any], useful: int) -> dict[str, Any]:
        return self._cut(self._part.violated(self._shares(), VIOLATION, CUTS), scip.SCIP_RESULT.DIDNOTFIND)

    @_guarded
    def consprop(self, constraints: list[Any], useful: int, marked: int, timing: int) -> dict[str, Any]:
        if not self._columns:
            return {"result": scip.SCIP_RESULT.DIDNOTRUN}
        alive = np.array([column.getUbLocal() > 0.5 for column in self._columns])
        closing = self._part.closing(alive)
        for i in closing:
            dead, _ = self.model.tightenVarUb(self._columns[i], 0.0)
            if dead:
                return {"result": scip.SCIP_RESULT.CUTOFF}
        return {"result": scip.SCIP_RESULT.REDUCEDDOM if closing else scip.SCIP_RESULT.DIDNOTFIND}

    @_guarded
    def consenfolp(self, constraints: list[Any], useful: int, infeasible: bool) -> dict[str, Any]:
        return self._cut(self._part.violated(np.round(self._shares()), 0.5, CUTS), scip.SCIP_RESULT.FEASIBLE)

    @_guarded
    def consenfops(self, constraints: list[Any], useful: int, infeasible: bool, worse: bool) -> dict[str, Any]:
        return {"result": scip.SCIP_RESULT.SOLVELP}

    @_guarded
    def conscheck(self, constraints: list[Any], solution: Any, *_: Any) -> dict[str, Any]:
        shares = np.array([self.model.getSolVal(solution, x) for x in self.tree.x])
        cyclic = self._part.violated(np.round(shares), 0.5, 1)
        return {"result": scip.SCIP_RESULT.INFEASIBLE if cyclic else scip.SCIP_RESULT.FEASIBLE}

    @_guarded
    def conslock(self, constraint: Any, kind: int, up: int, down: int) -> None:
        for x in self.tree.x:
            self.model.addVarLocksType(x, kind, up + down, up + down)

    def _shares(self) -> NDArray[np.float64]:
        return np.array([column.getLPSol() for column in self._columns])

    def _cut(self, clusters: list[Cluster], otherwise: int) -> dict[str, Any]:
        if not clusters:
            return {"result": otherwise}
        dead = self._add(clusters)
        return {"result": scip.SCIP_RESULT.CUTOFF if dead else scip.SCIP_RESULT.SEPARATED}

    def _add(self, clusters: list[Cluster], force: bool = False) -> bool:
        """As rows of the linear program. True: the node has no solution."""
        model, dead = self.model, False
        for families, lower, upper in self._part.rows(clusters):
            row = model.createEmptyRowUnspec(
                "cluster", lower if np.isfinite(lower) else None, upper if np.isfinite(upper) else None, local=False
            )
            model.cacheRowExtensions(row)
            for i in families.tolist():
                model.addVarToRow(row, self._columns[i], 1.0)
            model.flushRowExtensions(row)
            dead = model.addCut(row, forcecut=force) or dead
            model.addPoolCut(row)
            model.releaseRow(row)
        return dead
