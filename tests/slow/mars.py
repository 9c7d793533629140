"""MARS in plain numpy: the rules of core/mars.hpp, each candidate fitted by least squares on its own.

In:  a matrix of predictors, one of responses (a column each), the options of MARSRegressor.
Out: `forward`: the terms, as tuples of (column, direction, knot), and their values; `backward`: per number of terms the
     best subset with its RSS and GCV.
Nothing is updated from knot to knot or from step to step: every hinge is projected on an orthonormal basis anew."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Terms = list[tuple[tuple[int, int, float], ...]]
EQUAL = 1 + 1e-9


class Options(NamedTuple):
    degree: int = 1
    max_terms: int | None = None
    penalty: float | None = None
    threshold: float = 0.001
    minspan: int = 0
    endspan: int = 0
    fast_k: int = 20
    fast_beta: float = 1.0
    lines: bool = True

    @property
    def knot_penalty(self) -> float:
        return (3.0 if self.degree > 1 else 2.0) if self.penalty is None else self.penalty


def gcv(rss: float, rows: int, terms: int, penalty: float) -> float:
    """Friedman's (30) with C = terms + penalty (terms - 1) / 2."""
    if penalty == -1:
        return rss / rows
    parameters = terms + penalty * (terms - 1) / 2
    return math.inf if parameters >= rows else rss / rows / (1 - parameters / rows) ** 2


def knots(x: Matrix, parent: Matrix, columns: int, options: Options, product: bool) -> list[float]:
    """From the largest down: below every m-th row in which the parent is positive, the outer ones left out."""
    n, used = len(x), int((parent > 0).sum())
    if used == 0:
        return []
    end = options.endspan or int(3 - math.log(0.05 / columns) / math.log(2))
    end += int(2 * end + 0.5) if product else 0
    end = max(1, min(end, n // 2 - 1))
    step = max(1, options.minspan or int((math.log(columns * used) - math.log(-math.log(0.95))) / (2.5 * math.log(2))))
    if n <= 2 * end:
        return []
    first = end + ((n - 2 * end - 1) % step + 1) // 2
    order = np.argsort(x, kind="stable")
    found, count = [], 0
    for i in range(n - 2, end - 1, -1):
        hinge = parent * np.maximum(0, x - x[order[i]])
        if parent[order[i + 1]] > 0 and hinge.any():
            count += 1
            if count >= first and (count - first) % step == 0:
                found.append(float(x[order[i]]))
    return found


def rest(basis: Matrix, columns: Matrix) -> Matrix:
    left: Matrix = columns - basis @ (basis.T @ columns)
    return left - basis @ (basis.T @ left)


def squares(columns: Matrix) -> Any:
    return (columns**2).sum(axis=0)


def searched(terms: list[dict[str, Any]], places: int, options: Options) -> list[int]:
    """The parents of this step; Fast MARS where there are more functions than fast_k. Those that were not searched yet
    are before all others, the earliest first, also those that cannot be parents."""
    ranked = sorted(range(len(terms)), key=lambda i: -terms[i]["gain"])
    if options.fast_k and len(terms) > max(3, options.fast_k):
        aged = sorted(
            enumerate(ranked), key=lambda own: own[0] + options.fast_beta * (places - terms[own[1]]["searched"])
        )
        ranked = [i for _, i in aged[: max(3, options.fast_k)]]
    ranked = sorted(i for i in ranked if len(terms[i]["factors"]) < options.degree)
    for i in ranked:
        terms[i]["searched"] = places  # also if its place comes too late
    return [i for i in ranked if terms[i]["place"] <= len(terms)]


def forward(x: Matrix, y: Matrix, options: Options) -> tuple[Terms, Matrix]:
    n, p = x.shape
    most_terms = options.max_terms or min(200, max(20, 2 * p)) + 1
    terms: list[dict[str, Any]] = [{"factors": (), "values": np.ones(n), "place": 1, "gain": math.inf, "searched": 0}]
    basis = np.full((n, 1), 1 / math.sqrt(n))
    left = y - y.mean(axis=0)
    total = float(squares(left).sum())
    rss, before, last, places = total, 0.0, math.inf, 1
    while places + 2 <= most_terms and total > 0:
        best: tuple[float, Any] = (0.0, None)
        most = min(1.01 * rss, 10 * last)
        for t in searched(terms, places, options):
            own = terms[t]
            own["gain"] = 0.0
            for c in range(p):
                if any(c == factor[0] for factor in own["factors"]):
                    continue
                line = own["values"] * x[:, c]
                off = rest(basis, line[:, None])
                counts = squares(off)[0] > max(0.01, 1e-9 * squares(line - line.mean()))
                by_line = float(squares(left.T @ off).sum() / squares(off)[0]) if counts else 0.0
                wide = np.column_stack([basis, off / np.sqrt(squares(off))]) if counts else basis
                offers = [(by_line, None)] if counts else []
                for knot in knots(x[:, c], own["values"], p, options, bool(own["factors"])):
                    if counts and len(np.unique(x[:, c])) <= 2:
                        continue  # the hinge is made of the line and the parent
                    hinge = own["values"] * np.maximum(0, x[:, c] - knot)
                    new = rest(wide, hinge[:, None])
                    if squares(new)[0] > (0.01 if places < 15 else 1e-5) * squares(hinge - hinge.mean()):
                        offers.append((by_line + float(squares(left.T @ new).sum() / squares(new)[0]), knot))
                for reduction, knot in offers:
                    if knot is None or reduction < most:
                        own["gain"] = max(own["gain"], reduction)
                        if reduction > best[0] * EQUAL:
                            best = (reduction, (t, c, knot, counts))
        if best[1] is None:
            break
        t, c, knot, counts = best[1]
        low = float(x[:, c].min())
        if knot is None:
            factors = [(c, 0, 0.0) if options.lines else (c, 1, low)]
        else:
            factors = [(c, 1, knot), (c, -1, knot)][: 2 if counts else 1]
        kept = (len(terms), basis, left, rss)
        for place, factor in enumerate(factors):
            values = terms[t]["values"] * hinge_values(factor, x)
            new = rest(basis, values[:, None])
            if squares(new)[0] <= 1e-12 * squares(values):
                continue
            q = new / np.sqrt(squares(new))
            basis, left = np.column_stack([basis, q]), left - q @ (q.T @ left)
            terms.append(
                {
                    "factors": (*terms[t]["factors"], factor),
                    "values": values,
                    "place": places + 1 + place,
                    "gain": math.inf,
                    "searched": places,
                }
            )
        places += 2
        rss = float(squares(left).sum())
        now = 1 - rss / total
        last = kept[3] - rss
        grsq = 1 - gcv(rss, n, len(terms), options.knot_penalty) / gcv(total, n, 1, options.knot_penalty)
        if options.threshold > 0 and (now - before < options.threshold or grsq < -10):
            del terms[kept[0] :]
            break
        before = now
        if options.threshold > 0 and now > 1 - options.threshold:
            break
    return [t["factors"] for t in terms], np.column_stack([t["values"] for t in terms])


def hinge_values(factor: tuple[int, int, float], x: Matrix) -> Matrix:
    column, direction, knot = factor
    away: Matrix = knot - x[:, column] if direction < 0 else x[:, column] - knot
    return away if direction == 0 else np.maximum(0, away)


def left_over(values: Matrix, y: Matrix) -> float:
    fitted = values @ np.linalg.lstsq(values, y, rcond=None)[0]
    return float(squares(y - fitted).sum())


def backward(values: Matrix, y: Matrix, penalty: float) -> list[tuple[float, float, tuple[int, ...]]]:
    """Per number of terms: GCV, RSS and the subset. With one response the terms that came first, among those that are
    left, are looked at too."""
    n, m = values.shape
    found: dict[int, tuple[float, tuple[int, ...]]] = {}
    members = tuple(range(m))
    while True:
        for size in range(len(members), 0, -1) if y.shape[1] == 1 else [len(members)]:
            rss = left_over(values[:, members[:size]], y)
            if size not in found or rss * EQUAL < found[size][0]:
                found[size] = (rss, members[:size])
        if len(members) == 1:
            break
        without = [(left_over(values[:, [k for k in members if k != j]], y), j) for j in members[1:]]
        least = min(rss for rss, _ in without)
        now = left_over(values[:, members], y)
        drop = max(j for rss, j in without if rss - now <= (least - now) * EQUAL)
        members = tuple(k for k in members if k != drop)
    return [(gcv(rss, n, size, penalty), rss, own) for size, (rss, own) in sorted(found.items())]
