"""Networks averaged.

In:  networks of one table, with weights.
Out: the mixture is the mean of probabilities and its sum is 1; graphs are fitted once per family; what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import spinney as sp


def table(rows: int = 200) -> sp.Dataset:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.7, a, 1 - a)
    c = rng.integers(0, 2, rows)
    return sp.Dataset.from_frame({name: v.astype(str) for name, v in zip("abc", (a, b, c), strict=True)})


def test_the_mixture_is_the_mean_of_probabilities() -> None:
    data = table()
    nets = [sp.fit(data, graph, "bdeu") for graph in ({}, {"b": ["a"]}, {"a": ["b", "c"]})]
    both = sp.average(nets, weights=[2, 1, 1])
    every = sp.Dataset.from_frame({n: [row[i] for row in product("01", repeat=3)] for i, n in enumerate("abc")})
    wanted = sum(w * np.exp(net.log_prob(every)) for w, net in zip((0.5, 0.25, 0.25), nets, strict=True))
    assert np.exp(both.log_prob(every)) == pytest.approx(wanted) and wanted.sum() == pytest.approx(1.0)
    shares = both.predict_proba(data, "b")
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert both.predict(data, "b") == [str(code) for code in shares.argmax(axis=1)]
    assert sp.average([nets[1]]).log_prob(data) == pytest.approx(nets[1].log_prob(data))


def test_graphs_of_a_posterior_and_the_k_best_are_fitted() -> None:
    data = table()
    walked = sp.average(sp.posterior(data, method="mcmc", samples=200, networks=20), data)
    assert len(walked.networks) == 20
    found = sp.find(data, "bdeu", search="dp", k=4)
    best = sp.average(found, data, "bdeu")
    assert best.weights[0] == max(best.weights) and sum(best.weights) == pytest.approx(1.0)
    assert np.log(best.weights[1] / best.weights[0]) == pytest.approx(found.alternatives[0].score - found.score)
    assert best.networks[0].score == pytest.approx(found.score)
    # The mixture loses at the most the log of a member's weight.
    assert (best.log_prob(data) >= best.networks[0].log_prob(data) + np.log(best.weights[0]) - 1e-12).all()


def test_a_continuous_target_is_averaged() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    data = sp.Dataset.from_frame({"x": x, "y": 2 * x + rng.normal(size=100)})
    nets = [sp.fit(data, graph, "pcart") for graph in ({}, {"y": ["x"]})]
    mean = (np.asarray(nets[0].predict(data, "y")) + np.asarray(nets[1].predict(data, "y"))) / 2
    assert np.asarray(sp.average(nets).predict(data, "y")) == pytest.approx(mean)


def test_what_cannot_be_averaged_is_refused() -> None:
    data = table()
    net = sp.fit(data, {}, "bdeu")
    other = sp.fit(data.select(["a", "b"]), {}, "bdeu")
    for given, weights in (([], None), ([net, other], None), ([net], [-1.0]), ([net], [0.0]), ([net, net], [1.0])):
        with pytest.raises(sp.ChoiceError):
            sp.average(given, weights=weights)
    with pytest.raises(sp.ChoiceError, match="mcmc"):
        sp.average(sp.posterior(data), data)
    with pytest.raises(sp.ChoiceError, match="give the rows as data"):
        sp.average(sp.find(data, "bdeu", search="dp"))
