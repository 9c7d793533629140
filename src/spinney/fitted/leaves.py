"""The predictive distributions of leaves.

In:  the sums of leaves, one row each, and the prior options of leaves.
Out: the posterior predictive distribution of each leaf: probabilities of levels, or a Student t.
Talvitie, Eggeling and Koivisto (2019), with the corrections in docs/how-it-works.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtr

from spinney.fitted.model import Floats

_LARGEST, _SMALLEST = float(np.finfo(np.float64).max), float(np.nextafter(0.0, 1.0))
REACH = 8.0  # scales on either side of the location, where a mean is asked of a Student t that has none


def categorical(counts: Floats, alpha: float | Floats) -> Floats:
    """Dirichlet: (N_y + alpha) / (N + r alpha). An array has one alpha per leaf, in a column."""
    weights = counts + alpha
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def ordinal(counts: Floats, alpha: float, kappa: float) -> Floats:
    """Bayesian histogram: levels are cut into runs, a run shares its probability evenly among its levels.

    Of every run: its posterior probability, by sums over all cuttings to the left and to the right of it, times what
    it predicts for each of its levels, (N_run + A_run) / (N + A) / |run|. So all levels of a leaf take O(k^2)."""
    leaves, k = counts.shape
    total = np.zeros((leaves, k + 1))
    np.cumsum(counts, axis=1, out=total[:, 1:])

    def runs_to(end: int) -> tuple[Floats, Floats, Floats]:
        """Of the runs that start at 0..end-1 and stop before `end`: log-likelihood with one cut, rows, length."""
        length = end - np.arange(end, dtype=np.float64)
        rows = total[:, end, None] - total[:, :end]
        likelihood = gammaln(rows + alpha * length) - gammaln(alpha * length) - rows * np.log(length)
        return likelihood + np.log(kappa), rows, length

    before = np.zeros((leaves, k + 1))  # log-weight of all cuttings of the levels before
    for end in range(1, k + 1):
        before[:, end] = np.logaddexp.reduce(before[:, :end] + runs_to(end)[0], axis=1)
    after = np.full((leaves, k + 1), -np.inf)
    after[:, k] = 0.0
    result = np.zeros((leaves, k))
    for end in range(k, 0, -1):
        likelihood, rows, length = runs_to(end)
        there = likelihood + after[:, end, None]
        after[:, :end] = np.logaddexp(after[:, :end], there)
        posterior = np.exp(before[:, :end] + there - before[:, k, None])
        share = posterior * (rows + alpha * length) / (total[:, k, None] + alpha * k) / length
        result[:, :end] += np.cumsum(share, axis=1)  # a level is in all runs to here that start at it or before
    result /= result.sum(axis=1, keepdims=True)  # 1 but for rounding
    return result


@dataclass(frozen=True)
class Student:
    """One Student t per leaf: location, scale, degrees of freedom."""

    location: Floats
    scale: Floats
    freedom: Floats

    @classmethod
    def predicted(cls, sums: Floats, mu0: float, a: float, nu: float, lam: float) -> Student:
        """Normal with unknown mean and variance; sums are (rows, sum, sum of squares) of each leaf."""
        rows, total, squares = sums.T
        mean = np.divide(total, rows, out=np.zeros_like(total), where=rows > 0)
        within = np.maximum(squares - rows * mean**2, 0.0)  # below 0 by rounding only
        between = rows * a * (mean - mu0) ** 2 / (rows + a)
        freedom, weight = nu + rows, a + rows
        spread = (within + between + nu * lam) / freedom
        return cls((a * mu0 + rows * mean) / weight, np.sqrt(spread * (weight + 1) / weight), freedom)

    def moved(self, shift: float, scale: float) -> Student:
        """In the user's units. The Jacobian -log(scale) is in the scale."""
        with np.errstate(over="ignore"):
            location, wide = shift + scale * self.location, scale * self.scale
        return Student(np.clip(location, -_LARGEST, _LARGEST), np.clip(wide, _SMALLEST, _LARGEST), self.freedom)

    def at(self, leaf: NDArray[np.integer]) -> Student:
        return Student(self.location[leaf], self.scale[leaf], self.freedom[leaf])

    def log_density(self, values: Floats) -> Floats:
        """Of one value per entry."""
        with np.errstate(over="ignore"):
            z = (values / 2 - self.location / 2) / self.scale * 2  # the difference itself may overflow
        return self._log_standard(np.clip(z, -_LARGEST, _LARGEST)) - np.log(self.scale)

    def _log_standard(self, z: Floats) -> Floats:
        nu = self.freedom
        # Beyond 1e150 the square overflows, and log(1 + z^2/nu) is 2 log z - log nu to the last bit.
        size = np.abs(z)
        with np.errstate(over="ignore", divide="ignore"):
            tail = np.where(size < 1e150, np.log1p(np.square(size) / nu), 2 * np.log(size) - np.log(nu))
        density: Floats = self._log_height() - (nu + 1) / 2 * tail
        return density

    def _log_height(self) -> Floats:
        nu = self.freedom
        height: Floats = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(np.pi * nu) / 2
        return height

    def draw(self, rng: np.random.Generator) -> Floats:
        """One value per entry; finite, however heavy the tails."""
        with np.errstate(over="ignore"):
            drawn = self.location + self.scale * rng.standard_t(self.freedom)
        return np.clip(drawn, -_LARGEST, _LARGEST)

    def pieces(self, cuts: Floats) -> tuple[Floats, Floats]:
        """Per entry the log-probability between neighbouring cuts and the mean there, one column per piece.

        With one degree of freedom or fewer (a leaf without rows) the mean of an outer piece is infinite; such a Student
        t is taken within REACH scales of its location."""
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        reach = np.where(self.freedom > 1, np.inf, REACH)[:, None]
        with np.errstate(over="ignore"):
            z = np.clip((ends / 2 - self.location[:, None] / 2) / self.scale[:, None] * 2, -reach, reach)
        lower, upper = z[:, :-1], z[:, 1:]
        column = Student(self.location[:, None], self.scale[:, None], self.freedom[:, None])
        log_mass = column._log_mass(lower, upper)
        moment = column._first_moment(lower, upper)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            mean = moment / np.exp(log_mass)
        near = np.clip(0.0, lower, upper)  # the end of the piece next to the location: where a far piece has its mass
        mean = np.clip(np.where(np.isfinite(mean), mean, near), lower, upper)
        with np.errstate(over="ignore"):
            mean = np.clip(column.location + column.scale * mean, -_LARGEST, _LARGEST)
        return log_mass, mean

    def _log_mass(self, lower: Floats, upper: Floats) -> Floats:
        """log P(lower <= z < upper), from the tail on the piece's own side, so that small ones keep their digits."""
        nu = self.freedom
        mirrored = lower > 0
        low, high = np.where(mirrored, -upper, lower), np.where(mirrored, -lower, upper)
        mass = np.maximum(stdtr(nu, high) - stdtr(nu, low), 0.0)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(mass)
        # A piece so far out that its mass is below the smallest number: the density at its near end over its decay.
        far = (mass < 1e-290) & (high < 0) & (low < high)
        if far.any():
            end = np.where(far, high, -1.0)
            with np.errstate(divide="ignore", over="ignore"):
                decay = np.log(nu / -end - end) - np.log(nu + 1)
                width = np.minimum(np.log(np.where(far, high - low, 1.0)), decay)
            logs = np.where(far, self._log_standard(end) + width, logs)
        return logs

    def _first_moment(self, lower: Floats, upper: Floats) -> Floats:
        """The integral of z times the density: c nu (1 + z^2/nu)^p / 2p between the ends, p = (1 - nu)/2."""
        nu = self.freedom
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            one, other = np.log1p(lower**2 / nu), np.log1p(upper**2 / nu)
            small, large = np.minimum(one, other), np.maximum(one, other)
            p = np.broadcast_to((1 - nu) / 2, small.shape)
            grown = np.where(p == 0, (large - small) / 2, np.expm1(p * (large - small)) / np.where(p == 0, 1, 2 * p))
            moment: Floats = np.sign(other - one) * nu * np.exp(self._log_height() + p * small) * grown
        return moment
