"""Log loss of networks that are there already, on rows that they were not learned from.

In:  networks by name, and rows.
Out: Losses: minus the mean log of each row's probability or density, with its standard error over the rows; for every
two networks the difference with that of the pairs. Smaller is better, here and wherever something is called a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from spinney.dataset import Data
from spinney.errors import ChoiceError, DataError
from spinney.evaluate.answers import Answer, Shown, cell, p_value
from spinney.evaluate.pairs import Floats, Pair, mean_and_error, pairs_of
from spinney.fitted.model import checked_logs
from spinney.layout import counted
from spinney.network import Network


def column_losses(network: Network, data: Data) -> dict[str, Floats]:
    """Per column minus the log of its probability, or density in the user's units, given its parents, row by row."""
    columns = network._columns(data, network.names)
    return {name: -checked_logs(model, model.log_prob(columns)) for name, model in network.models.items()}


def total(losses: Mapping[str, Floats]) -> Floats:
    """Of whole rows: the sum over their columns."""
    return np.asarray(sum(losses.values()), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Losses(Answer):
    """The log loss of fixed networks on the same rows, in nats per row; smaller is better."""

    rows: int
    losses: dict[str, Floats] = field(repr=False)  # per network, of every row
    columns: dict[str, dict[str, float]] = field(repr=False)  # per network and column, the mean over the rows

    @property
    def names(self) -> tuple[str, ...]:
        """The networks."""
        return tuple(self.losses)

    def mean(self, name: str) -> float:
        """The log loss of a network: minus the mean of its log_prob."""
        return mean_and_error(self.losses[name])[0]

    def error(self, name: str) -> float:
        """Its standard error, over the rows."""
        return mean_and_error(self.losses[name])[1]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two networks; "win" means that the first has the smaller loss."""
        return pairs_of(self.losses)

    def tables(self) -> list[Shown]:
        """For people: the networks, and every two of them."""
        own = [(name, cell(self.mean(name)), cell(self.error(name))) for name in self.names]
        title = f"log loss in nats per row, {counted(self.rows, 'row')} (smaller is better)"
        return [Shown(title, ("network", "log loss", "s.e."), own), pair_table(self.pairs)]

    def notes(self) -> list[str]:
        """Rows that a network holds for impossible."""
        return impossible({name: int(np.isinf(own).sum()) for name, own in self.losses.items()})

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name; null for what is not known or infinite."""
        networks = {
            name: {
                "log_loss": self.mean(name),
                "error": self.error(name),
                "impossible_rows": int(np.isinf(self.losses[name]).sum()),
                "columns": self.columns[name],
            }
            for name in self.names
        }
        return {"rows": self.rows, "networks": networks, "pairs": [pair.as_dict() for pair in self.pairs]}


def pair_table(pairs: list[Pair], title: str = "the first against the second", after: str = "") -> Shown:
    """Every two methods, for people."""
    rows = [
        (
            pair.first, pair.second, cell(pair.difference), cell(pair.error),
            pair.by_bars, pair.by_test, p_value(pair.p_value),
        )
        for pair in pairs
    ]  # fmt: skip
    return Shown(title + after, ("first", "second", "difference", "s.e.", "by bars", "by Wilcoxon", "p"), rows)


def impossible(counts: Mapping[str, int]) -> list[str]:
    """What stands behind an infinite loss."""
    return [
        f"{name} gives {counted(count, 'row')} the probability 0, so its loss is infinite: take a Bayesian score"
        for name, count in counts.items()
        if count
    ]


def compare(networks: Mapping[str, Network | str | PathLike[str]], data: Data) -> Losses:
    """The log loss of networks on rows that they were not learned from, and the differences with paired errors.

    networks: by name, as objects or as files.
    data: the rows, with all columns of the networks; a level that a network does not know is refused.

    >>> found = sp.evaluate.compare({"learned": net, "by hand": "examples/clinic.bif"}, frame)
    >>> found.mean("learned"), found.error("learned"), found.pairs[0].difference
    """
    if not isinstance(networks, Mapping) or not networks:
        raise ChoiceError("networks are a dict from names to networks or files, as in {'a': net, 'b': 'net.json'}")
    read = {str(name): _network(str(name), own) for name, own in networks.items()}
    first, *others = read
    for name in others:
        apart = set(read[name].names) ^ set(read[first].names)
        if apart:
            raise ChoiceError(
                f"the networks {first!r} and {name!r} are over different columns ({min(apart)!r} is in one only), and "
                f"their losses cannot be compared; compare networks over the same columns"
            )
    losses, columns = {}, {}
    for name, network in read.items():
        own = column_losses(network, data)
        losses[name] = total(own)
        if len(losses[name]) == 0:
            raise DataError("the data has no rows; a loss needs at least one")
        columns[name] = {column: float(of_rows.mean()) for column, of_rows in own.items()}
    rows = {len(of_rows) for of_rows in losses.values()}
    if len(rows) > 1:
        raise DataError("the networks read different numbers of rows from the data; fill its missing cells first")
    return Losses(rows.pop(), losses, columns)


def _network(name: str, given: Any) -> Network:
    if isinstance(given, Network):
        return given
    if isinstance(given, (str, PathLike)):
        return Network.read(given)
    raise ChoiceError(f"{name!r} is a {type(given).__name__}; give a Network, or the file of one")


def mean_of(values: Floats, weights: Floats) -> float:
    """The mean over all rows, from the means of parts of them."""
    return float(np.average(values, weights=weights)) if len(values) else math.nan
