"""Priors on parent sets, as the two shapes that every score can add: by number of parents, by number of parameters.

In:  a chosen prior and the number of variables.
Out: a Prior."""

from __future__ import annotations

import math
from dataclasses import dataclass

from spinney.choices import Choice
from spinney.errors import ChoiceError


@dataclass(frozen=True)
class Prior:
    """log prior = by_size[number of parents] + per_parameter * (free parameters of the family)."""

    by_size: tuple[float, ...] = ()  # empty: 0 for every size
    per_parameter: float = 0.0

    def of_size(self, parents: int) -> float:
        return self.by_size[min(parents, len(self.by_size) - 1)] if self.by_size else 0.0


def prior_for(choice: Choice, variables: int) -> Prior:
    others = variables - 1
    if choice.name == "sizes":
        return Prior(tuple(-math.log(math.comb(others, size)) for size in range(variables)))
    if choice.name == "binomial":
        return Prior(_binomial(choice["r"], others))
    if choice.name == "ebic":
        return Prior(per_parameter=-choice["gamma"] * math.log(variables))
    if choice.name == "kappa":
        if choice["k"] == 0:
            raise ChoiceError("prior kappa: k must be above 0 and at most 1; 1 is the uniform prior")
        return Prior(per_parameter=math.log(choice["k"]))
    return _UNIFORM


_UNIFORM = Prior()


def _binomial(expected: float, others: int) -> tuple[float, ...]:
    if others == 0:
        return (0.0,)
    if expected >= others:
        raise ChoiceError(
            f"prior binomial: r={expected:g} expected parents is not below the {others} other columns; lower r"
        )
    share = expected / others
    return tuple(k * math.log(share) + (others - k) * math.log1p(-share) for k in range(others + 1))
