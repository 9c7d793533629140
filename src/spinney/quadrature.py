"""Means of one-dimensional densities that are known up to a factor, many at once.

In:  a function that gives log-densities at values of rows; per row a centre and a scale; breaks, where densities jump.
Out: the mean of every row, and which rows have no density anywhere or did not converge.

A value is centre + scale sinh(u), so that tails that fall like a power fall like an exponential in u, and the whole
line is a short interval. The interval is cut into panels, at the breaks too, with Gauss-Legendre nodes on each. A panel
is cut into four as long as one of these holds:
- the last Legendre coefficients of the density, which bound the error, are too large for the mean;
- a node is a local maximum of the log-density that falls by more than 1 to the next node: a peak may be narrower than
  the nodes are apart, and between them higher than everything seen so far;
- the log-density is not yet a polynomial on the panel, and the panel could hold a peak that matters;
- the density jumps to the panel beside it, where no break is, or falls at a break although that panel is narrower:
  something may lie between the last node of the one and the first node of the other.
So a narrow peak is found from its slopes, however far it is from the centre, and all peaks are found that the slopes of
others do not hide entirely. Panels of all rows are arrays, and one round cuts the panels of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from spinney.fitted.leaves import REACH
from spinney.fitted.model import Floats, Ints

Bools = NDArray[np.bool_]
LogDensity = Callable[[Ints, Floats], Floats]  # numbers of rows, and a value for each -> log-densities

_TOLERANCE = 1e-9  # of a panel's error, in shares of the mean distance from the mean
_NOISE = 1e-3  # log-densities of size 1e12 are known to 1e-4 only; with more rounding than this there is no answer
_DIGITS = 64  # units in the last place of a value: less is not told apart
_NODES, _PARTS = 15, 4
_ROUNDS, _MOST_PANELS = 60, 5000  # of a row; a width of 1 becomes 4^-60
_EVALUATIONS = 1_000_000  # at a time, for the memory
_LOW, _LARGEST = -1e300, float(np.finfo(np.float64).max)

_X, _W = np.polynomial.legendre.leggauss(_NODES)
_FIRST = (1 + _X[0]) / 2  # the first node's distance from the end, in widths
# The Legendre coefficients of the polynomial through the nodes, the last three, and its values at both ends.
_COEFFICIENTS = np.polynomial.legendre.legvander(_X, _NODES - 1) * _W[:, None] * (np.arange(_NODES) + 0.5)
_LAST = _COEFFICIENTS[:, -3:]
_AT_ENDS = _COEFFICIENTS @ np.polynomial.legendre.legvander(np.array([-1.0, 1.0]), _NODES - 1).T

# Ends of the panels in u. To 32 first, which is 4e13 scales; to 230, 1e100 scales, where the tails matter even there.
_NEAR = np.concatenate([np.arange(0, 4, 0.5), np.arange(4, 8, 1), np.arange(8, 16, 2), np.arange(16, 33, 4)])
_FAR = np.concatenate([_NEAR, [40, 48, 64, 80, 96, 128, 160, 192, 230]])
_WITHIN = np.append(np.arange(0, 2.75, 0.5), np.arcsinh(REACH))


@dataclass
class Means:
    """One entry per row. REQUIRES of a reader: the mean is used only where neither `empty` nor `failed`."""

    mean: Floats
    empty: Bools  # the density is 0 wherever it was asked
    failed: Bools  # did not converge


def means(log_density: LogDensity, centre: Floats, scale: Floats, breaks: Floats) -> Means:
    """The mean of every row, to 1e-6 of its mean distance from the mean; or to the last digits of its values, and to
    those of its log-densities: the digits of one below -1e10, far from all that was expected, allow less.

    A density whose tails are so heavy that it has no mean, or that 1e-7 of it lies beyond 1e100 scales, is taken within
    REACH scales of the centre. REQUIRES: finite centres, finite scales above 0, rising finite breaks."""
    centre, scale = np.asarray(centre, dtype=np.float64), np.asarray(scale, dtype=np.float64)
    answer = Means(centre.copy(), np.zeros(len(centre), dtype=bool), np.zeros(len(centre), dtype=bool))
    at_a_time = max(1, _EVALUATIONS // (_NODES * (2 * len(_NEAR) + len(breaks))))
    for start in range(0, len(centre), at_a_time):
        rows = np.arange(start, min(start + at_a_time, len(centre)))
        for ends, checks_tails in ((_NEAR, True), (_FAR, True), (_WITHIN, False)):
            if len(rows):
                work = _Work(log_density, centre, scale, rows, *_ends(ends, breaks, centre[rows], scale[rows]))
                rows = rows[work.run(answer, checks_tails)]
    return answer


def _ends(ends: Floats, breaks: Floats, centre: Floats, scale: Floats) -> tuple[Floats, Bools]:
    """Per row the ends of its panels in u, and which of them are breaks; a break that lies outside is moved to the end,
    as a panel of no width."""
    with np.errstate(over="ignore"):
        cuts = np.arcsinh((breaks / 2 - centre[:, None] / 2) / scale[:, None] * 2)
    both = np.concatenate([-ends[:0:-1], ends])
    found = np.concatenate([np.tile(both, (len(centre), 1)), np.clip(cuts, both[0], both[-1])], axis=1)
    order = np.argsort(found, axis=1, kind="stable")  # of two that are equal the break comes last, and begins a panel
    return np.take_along_axis(found, order, axis=1), order >= len(both)


def _times(values: Floats, weights: Floats) -> Floats:
    """The product of two matrices, every row alike: that of BLAS may depend on the number of rows and threads."""
    found: Floats = np.einsum("ij,jk->ik", values, weights)
    return found


@dataclass
class _Panels:
    """One entry per panel, in order of rows and places. Densities are in units of the panel's largest."""

    row: Ints
    low: Floats
    high: Floats
    middle: Floats  # sinh of the middle
    top: Floats  # the largest log-density at a node, with that of the transform
    first: Floats  # at the first node, and at the last
    last: Floats
    low_end: Floats  # the density at the ends, by the polynomial through the nodes
    high_end: Floats
    broken: Bools  # the low end is a break
    falls: Bools  # from the first node on, and
    rises: Bools  # up to the last node, by more than 1 to the next node
    peak: Bools  # a node within is a local maximum, and not resolved
    mass: Floats  # the integrals of the density, and of it times the distance from the middle and its square
    moment: Floats
    square: Floats
    rough: Floats  # the last coefficients of the density, in units of its largest
    mass_error: Floats
    moment_error: Floats
    log_error: Floats  # the last coefficients of the log-density
    final: Bools  # no gain from cutting it: at the last digits of values
    noise: Bools  # the same, of log-densities

    def where(self, chosen: Bools | Ints) -> _Panels:
        return _Panels(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def put(self, chosen: Bools, others: _Panels) -> None:
        for field in fields(self):
            getattr(self, field.name)[chosen] = getattr(others, field.name)


@dataclass
class _Sums:
    """Of rows: what their panels add up to. `starts` is where each row's panels begin, `number` the row of a panel."""

    starts: Ints
    number: Ints
    log_top: Floats
    weight: Floats  # of a panel: its largest density in units of the row's
    mass: Floats
    mean: Floats  # in scales from the centre
    distance: Floats  # the mean distance from the mean, within a factor of 2
    off: Floats  # of a panel: its middle less the mean


class _Work:
    """Some rows, from their first panels on."""

    def __init__(
        self, log_density: LogDensity, centre: Floats, scale: Floats, rows: Ints, ends: Floats, breaks: Bools
    ) -> None:
        self.log_density, self.centre, self.scale, self.rows = log_density, centre, scale, rows
        wide = ends[:, 1:] > ends[:, :-1]
        row = np.broadcast_to(rows[:, None], wide.shape)[wide]
        self.panels = self._evaluated(row, ends[:, :-1][wide], ends[:, 1:][wide])
        self.panels.broken = breaks[:, :-1][wide]

    def run(self, answer: Means, checks_tails: bool) -> Bools:
        """Fill in the answers; true for the rows whose tails reach beyond the panels."""
        open_tails = np.zeros(len(self.rows), dtype=bool)
        for number in range(_ROUNDS + 1):
            sums = self._sums()
            cut = self._to_cut(sums)
            pending = np.logical_or.reduceat(cut, sums.starts)
            many = np.diff(np.append(sums.starts, len(cut))) > _MOST_PANELS
            stopped = pending & (many | (number == _ROUNDS))
            done = ~pending | stopped
            if done.any():
                rows = self.panels.row[sums.starts]
                tails = done & ~stopped & np.isfinite(sums.log_top) & checks_tails
                tails &= self._tails(sums)
                open_tails[np.searchsorted(self.rows, rows[tails])] = True
                self._answer(answer, sums, rows, done & ~tails, stopped | self._noisy(sums))
                cut = cut[~done[sums.number]]
                self.panels = self.panels.where(~done[sums.number])
            if not len(cut):
                break
            self._cut(cut)
        return open_tails

    def _answer(self, answer: Means, sums: _Sums, rows: Ints, done: Bools, failed: Bools) -> None:
        with np.errstate(over="ignore"):
            found = self.centre[rows] + self.scale[rows] * sums.mean
        answer.mean[rows[done]] = np.clip(found, -_LARGEST, _LARGEST)[done]
        answer.empty[rows[done]] = ~np.isfinite(sums.log_top[done])
        answer.failed[rows[done]] = failed[done]

    def _evaluated(self, row: Ints, low: Floats, high: Floats) -> _Panels:
        half, middle = (high - low)[:, None] / 2, (low / 2 + high / 2)[:, None]
        u = middle + half * _X
        centre, scale = self.centre[row, None], self.scale[row, None]
        with np.errstate(over="ignore"):
            values = np.clip(centre + scale * np.sinh(u), -_LARGEST, _LARGEST)
            ends = np.abs(centre) + scale * np.sinh(np.maximum(np.abs(low), np.abs(high)))[:, None]
            width = scale * 2 * np.cosh(middle) * np.sinh(half)
        found = self.log_density(np.repeat(row, _NODES), values.ravel()).reshape(values.shape)
        size = np.abs(u)
        logs = np.maximum(found + size + np.log1p(np.exp(-2 * size)), _LOW)
        top = logs.max(axis=1)
        possible = logs > _LOW
        with np.errstate(under="ignore"):
            density = np.where(possible, np.exp(logs - top[:, None]), 0.0)
        distance = 2 * np.cosh((u + middle) / 2) * np.sinh((u - middle) / 2)
        times_distance = density * distance
        rough = np.abs(_times(density, _LAST)).max(axis=1)
        log_error = np.where(possible.all(axis=1), np.abs(_times(logs, _LAST)).max(axis=1), np.inf)
        low_end, high_end = _times(density, _AT_ENDS).T
        step = np.diff(logs, axis=1)
        large = 1 + 1e-10 * np.abs(logs)  # smaller ones are resolved, or rounding
        up, down = step[:, :-1], -step[:, 1:]
        peak = (up >= 0) & (down >= 0) & (np.maximum(up, down) > large[:, 1:-1])
        half, middle = half[:, 0], middle[:, 0]
        return _Panels(
            row=row,
            low=low,
            high=high,
            middle=np.sinh(middle),
            top=np.where(possible.any(axis=1), top, -np.inf),
            first=logs[:, 0],
            last=logs[:, -1],
            low_end=low_end,
            high_end=high_end,
            broken=np.zeros(len(row), dtype=bool),
            falls=-step[:, 0] > large[:, 0],
            rises=step[:, -1] > large[:, -1],
            peak=peak.any(axis=1),
            mass=half * (density * _W).sum(axis=1),
            moment=half * (times_distance * _W).sum(axis=1),
            square=half * (times_distance * distance * _W).sum(axis=1),
            rough=rough,
            mass_error=half * rough,
            moment_error=half * np.abs(_times(times_distance, _LAST)).max(axis=1),
            log_error=np.where(possible.any(axis=1), log_error, 0.0),
            final=~(width[:, 0] > _DIGITS * np.spacing(np.minimum(ends[:, 0], _LARGEST / 4))),
            noise=np.zeros(len(row), dtype=bool),
        )

    def _sums(self) -> _Sums:
        panels = self.panels
        starts = np.flatnonzero(np.diff(panels.row, prepend=-1))
        number = np.cumsum(np.diff(panels.row, prepend=-1) != 0) - 1
        log_top = np.maximum.reduceat(panels.top, starts)
        highest = np.where(np.isfinite(log_top), log_top, 0.0)
        with np.errstate(under="ignore"):
            weight = np.exp(panels.top - highest[number])
        mass = np.add.reduceat(weight * panels.mass, starts)
        mass = np.where(mass > 0, mass, 1.0)
        # Distances from the middle of the highest panel: digits are kept where all the mass is far from the centre.
        is_top = panels.top == log_top[number]
        near = np.full(len(starts), -np.inf)
        np.maximum.at(near, number[is_top], panels.middle[is_top])
        near = np.where(np.isfinite(log_top), near, 0.0)
        moved = panels.middle - near[number]
        with np.errstate(under="ignore"):
            mean = np.add.reduceat(weight * (panels.moment + moved * panels.mass), starts) / mass
            off = moved - mean[number]
            square = np.maximum(panels.square + 2 * off * panels.moment + off**2 * panels.mass, 0.0)
            distance = np.add.reduceat(weight * np.sqrt(panels.mass * square), starts) / mass
        return _Sums(starts, number, log_top, weight, mass, near + mean, distance, off)

    def _errors(self, sums: _Sums) -> Floats:
        """What a panel may add to the error of the mean, in shares of the mean distance from the mean."""
        panels = self.panels
        with np.errstate(all="ignore"):
            error = sums.weight * (panels.moment_error + np.abs(sums.off) * panels.mass_error)
            share: Floats = np.nan_to_num(error / (sums.distance * sums.mass)[sums.number], nan=0.0)
        return share

    def _to_cut(self, sums: _Sums) -> Bools:
        panels, number = self.panels, sums.number
        same = number[1:] == number[:-1]
        before, after = np.full(len(number), -np.inf), np.full(len(number), -np.inf)
        before[1:][same], after[:-1][same] = panels.last[:-1][same], panels.first[1:][same]
        peak = panels.peak | (panels.falls & (panels.first >= before)) | (panels.rises & (panels.last >= after))
        # A peak like -p log|u| has coefficients of about p / _NODES; it rises by p log(width / its own width), which is
        # below 28 p for all widths that doubles can tell.
        unclear = panels.log_error > 0.02 + 1e-10 * np.abs(panels.top)
        hopeful = panels.top + np.minimum(500 * panels.log_error, 1e4) > sums.log_top[number] - 30
        can: Bools = ~panels.final & np.isfinite(panels.top)
        inexact = (self._errors(sums) > _TOLERANCE) & ~panels.noise
        cut: Bools = can & (inexact | peak | (unclear & hopeful))
        settled = ~np.logical_or.reduceat(cut, sums.starts)  # before, the distance from the mean is not known
        if settled.any():
            cut |= can & settled[number] & self._beside(sums, same)
        return cut

    def _beside(self, sums: _Sums, same: Bools) -> Bools:
        """Panels between whose nearest nodes something may hide that neither sees: the density jumps at an end that is
        no break; or the end is a break, where it may jump, and a narrow peak may end before the first node of the wider
        panel. `same`: the next panel is of this row."""
        panels, number = self.panels, sums.number[1:]
        width = panels.high - panels.low
        left, right = width[:-1], width[1:]
        end, begin = panels.last[:-1], panels.first[1:]
        with np.errstate(all="ignore"):
            highest = np.exp(np.maximum(end, begin) - sums.log_top[number])
            jump = np.abs(sums.weight[:-1] * panels.high_end[:-1] - sums.weight[1:] * panels.low_end[1:])
            rough = sums.weight * panels.rough
            jump = np.where(jump > 100 * (rough[:-1] + rough[1:]), jump, 0.0)  # less is the polynomials' own error
            off = np.abs(np.sinh(panels.low[1:]) - sums.mean[number])
            moves = _FIRST * np.maximum(left, right) * off / (sums.distance * sums.mass)[number]
            falls = same & panels.broken[1:] & (np.abs(end - begin) > 1) & ~(highest * moves <= _TOLERANCE)
            jumps = same & ~panels.broken[1:] & ~(jump * moves <= _TOLERANCE)
        cut = np.zeros(len(width), dtype=bool)
        cut[:-1] |= jumps | (falls & (left > 2 * right))
        cut[1:] |= jumps | (falls & (right > 2 * left))
        return cut

    def _tails(self, sums: _Sums) -> Bools:
        """Rows in which the outermost panels still move the mean, or rise outwards."""
        panels = self.panels
        with np.errstate(all="ignore"):
            share = sums.weight * np.abs(panels.moment + sums.off * panels.mass)
            share = np.nan_to_num(share / (sums.distance * sums.mass)[sums.number], nan=0.0)
        ends = np.append(sums.starts[1:], len(panels.row)) - 1
        left, right = (share[edge] > 100 * _TOLERANCE for edge in (sums.starts, ends))
        found: Bools = left | right | panels.falls[sums.starts] | panels.rises[ends]
        return found

    def _noisy(self, sums: _Sums) -> Bools:
        """Rows whose log-densities are rounded too much, and more than the digits of their values explain."""
        error = np.sqrt(np.add.reduceat(np.where(self.panels.noise, self._errors(sums), 0.0) ** 2, sums.starts))
        rows = self.panels.row[sums.starts]
        with np.errstate(all="ignore"):
            value = np.minimum(np.abs(self.centre[rows]) + self.scale[rows] * np.abs(sums.mean), _LARGEST / 4)
            digits = _DIGITS * np.spacing(value) / (self.scale[rows] * sums.distance)
        found: Bools = error > np.fmax(_NOISE, digits)
        return found

    def _cut(self, cut: Bools) -> None:
        """Put four panels in the place of each that is to be cut."""
        times = np.where(cut, _PARTS, 1)
        old = np.repeat(np.arange(len(cut)), times)
        parent = self.panels.where(cut)
        ends = parent.low[:, None] + (parent.high - parent.low)[:, None] * (np.arange(_PARTS + 1) / _PARTS)
        ends[:, -1] = parent.high
        made = self._evaluated(np.repeat(parent.row, _PARTS), ends[:, :-1].ravel(), ends[:, 1:].ravel())
        # A smooth density has far smaller last coefficients on a quarter of the panel. If all four quarters keep them,
        # and they are small, they are rounding in the log-densities.
        least = made.rough.reshape(-1, _PARTS).min(axis=1)
        noise = ((least > 0.3 * parent.rough) & (parent.rough > 1e-12)) | parent.noise
        made.noise = np.repeat(noise & (parent.rough < 1e-3), _PARTS) & (made.rough < 1e-3)
        made.broken[::_PARTS] = parent.broken
        self.panels = self.panels.where(old)
        self.panels.put(np.repeat(cut, times), made)
