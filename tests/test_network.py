"""Network against the joint distribution multiplied out row by row, and the checks at its doors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slow.drawn_networks import joint, networks, probability, random_network
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, DataError, LimitError, SpinneyError
from spinney.fitted.model import align
from spinney.fitted.table import Table
from spinney.kinds import Categorical, Continuous, Ordinal
from spinney.learn import fit
from spinney.network import Network

plain = st.text(alphabet="abcdefgh", min_size=1, max_size=3)
LOW_HIGH = Ordinal(["low", "high"])
LEVELS = {"a": ("n", "y"), "b": ("lo", "mid", "hi"), "c": ("0", "1"), "d": ("p", "q", "r"), "e": ("no", "yes")}


def dataset(network: Network, rows: list[tuple[str, ...]]) -> Dataset:
    levels = [network.models[name].levels for name in network.names]
    codes = [
        np.array([found.index(row[i]) for row in rows], dtype=np.uint8 if len(found) <= 256 else np.uint16)
        for i, found in enumerate(levels)
    ]
    return Dataset.from_codes(list(network.names), codes, levels)


@settings(deadline=None)
@given(networks(plain))
def test_log_prob_is_the_joint_and_sums_to_one(network: Network) -> None:
    expected = joint(network)
    logs = network.log_prob(dataset(network, list(expected)))
    assert not np.isnan(logs).any()
    assert np.exp(logs) == pytest.approx(list(expected.values()), rel=1e-12, abs=0)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)


@settings(deadline=None)
@given(networks(plain), st.data())
def test_predict_proba_is_the_conditional(network: Network, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(network.names))
    levels, place, rows = network.levels(target), network.names.index(target), list(joint(network))
    found = network.predict_proba(dataset(network, rows), target)
    assert found.shape == (len(rows), len(levels)) and not np.isnan(found).any()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    for row, answer in zip(rows, found, strict=True):
        by_level = [
            probability(network, dict(zip(network.names, (*row[:place], x, *row[place + 1 :]), strict=True)))
            for x in levels
        ]
        if sum(by_level) > 0:
            assert answer == pytest.approx(np.array(by_level) / sum(by_level), rel=1e-9, abs=1e-300)
    assert network.predict(dataset(network, rows), target) == [levels[i] for i in found.argmax(axis=1)]


def test_impossible_blanket_falls_back_to_the_parents() -> None:
    yes_no = ("n", "y")
    a = Table.full("a", (), yes_no, (), np.array([[0.25, 0.75]]))
    b = Table.full("b", ("a",), yes_no, (yes_no,), np.array([[1.0, 0.0], [1.0, 0.0]]))  # b is never y
    network = Network({"a": Categorical(yes_no), "b": Categorical(yes_no)}, {"a": a, "b": b})
    data = Dataset.from_codes(["b"], [np.array([1, 0], dtype=np.uint8)], [yes_no])
    assert network.predict_proba(data, "a") == pytest.approx(np.array([[0.25, 0.75], [0.25, 0.75]]), abs=1e-15)
    assert network.log_prob(dataset(network, [("n", "y")])).tolist() == [-math.inf]


def test_sample_follows_the_joint() -> None:
    network = random_network(np.random.default_rng(5), LEVELS, zeros=0.2)
    n = 40_000
    sample = network.sample(n, seed=11)
    columns = [[network.levels(name)[code] for code in sample.codes(name)] for name in network.names]
    seen: dict[tuple[str, ...], int] = {}
    for row in zip(*columns, strict=True):
        seen[row] = seen.get(row, 0) + 1
    expected = joint(network)
    assert all(expected[row] > 0 for row in seen), "a row of probability 0 was drawn"
    # Every cell within 5 standard deviations of its binomial.
    for row, p in expected.items():
        assert abs(seen.get(row, 0) - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1e-9


def test_sample_keeps_kinds_levels_and_order() -> None:
    network = random_network(np.random.default_rng(1), LEVELS, ordinal=2)
    sample = network.sample(7, seed=3)
    assert sample.names == network.names and len(sample) == 7
    assert sample.kinds == network.kinds
    assert isinstance(sample.kinds["a"], Ordinal) and isinstance(sample.kinds["c"], Categorical)
    assert len(network.sample(0)) == 0


def test_same_seed_same_sample_whatever_the_order_of_columns() -> None:
    network = random_network(np.random.default_rng(8), LEVELS)
    turned = Network(dict(reversed(network.kinds.items())), network.models)
    one, other = network.sample(500, seed=4), turned.sample(500, seed=4)
    assert other.names == network.names[::-1]
    for name in network.names:
        assert np.array_equal(one.codes(name), other.codes(name))
    assert any(not np.array_equal(one.codes(x), network.sample(500, seed=5).codes(x)) for x in network.names)


def test_many_levels_are_sampled_and_looked_up() -> None:
    levels = {"a": tuple(f"s{i}" for i in range(300)), "b": ("n", "y")}
    network = random_network(np.random.default_rng(2), levels)
    sample = network.sample(2000, seed=0)
    assert sample.codes("a").dtype == np.uint16 and sample.codes("a").max() > 255
    assert np.isfinite(network.log_prob(sample)).all()


def test_rare_levels_at_the_ends_are_drawn_when_they_must_be() -> None:
    table = Table.full("a", (), ("p", "q", "r", "s"), (), np.array([[0.0, 1.0, 0.0, 0.0]]))
    network = Network({"a": Categorical(("p", "q", "r", "s"))}, {"a": table})
    assert set(network.sample(1000, seed=0).codes("a").tolist()) == {1}


def test_levels_are_matched_by_name() -> None:
    network = random_network(np.random.default_rng(3), LEVELS, sparse=True)
    sample = network.sample(200, seed=1)
    turned = Dataset.from_codes(
        ["extra", *reversed(network.names)],
        [
            np.zeros(200, dtype=np.uint8),
            *((len(LEVELS[name]) - 1 - sample.codes(name)).astype(np.uint8) for name in reversed(network.names)),
        ],
        [("x",), *(LEVELS[name][::-1] for name in reversed(network.names))],
    )
    assert np.array_equal(network.log_prob(turned), network.log_prob(sample))
    assert network.predict(turned, "b") == network.predict(sample, "b")
    assert np.array_equal(network.models["b"].log_prob(turned), network.models["b"].log_prob(sample))


def test_frames_are_taken_as_they_come() -> None:
    pandas = pytest.importorskip("pandas")
    network = random_network(np.random.default_rng(3), LEVELS)
    sample = network.sample(50, seed=1)
    columns = {name: [LEVELS[name][code] for code in sample.codes(name)] for name in network.names}
    expected = network.log_prob(sample)
    assert np.array_equal(network.log_prob(columns), expected)
    assert np.array_equal(network.log_prob(pandas.DataFrame({"z": [None] * 50, **columns})), expected)
    without = {name: column for name, column in columns.items() if name != "c"}
    assert network.predict(without, "c") == network.predict(sample, "c")
    with pytest.raises(DataError, match="int"):
        network.log_prob(3)


def test_target_without_neighbours_needs_no_columns() -> None:
    table = Table.full("a", (), ("n", "y"), (), np.array([[0.25, 0.75]]))
    other = Table.full("b", (), ("n", "y"), (), np.array([[0.5, 0.5]]))
    network = Network({"a": Categorical(("n", "y")), "b": Categorical(("n", "y"))}, {"a": table, "b": other})
    assert network.predict({"b": ["n", "y", "n"]}, "a") == ["y", "y", "y"]


def test_data_errors_name_column_row_and_value() -> None:
    network = random_network(np.random.default_rng(3), {"a": ("n", "y"), "b": ("n", "y")})
    zeros = np.zeros(3, dtype=np.uint8)
    with pytest.raises(DataError, match="column 'b' is missing from the data"):
        network.log_prob(Dataset.from_codes(["a"], [zeros], [("n", "y")]))
    with pytest.raises(DataError, match="column 'b' is missing from the data"):
        network.log_prob({"a": ["n"]})
    strange = Dataset.from_codes(
        ["a", "b"], [zeros, np.array([0, 0, 2], dtype=np.uint8)], [("n", "y"), ("n", "y", "maybe")]
    )
    with pytest.raises(DataError, match="column 'b', row 3: 'maybe'"):
        network.log_prob(strange)
    with pytest.raises(DataError, match=r"'b', row 2: 'maybe'"):
        network.log_prob({"a": ["n", "n"], "b": ["y", "maybe"]})
    # A level that is declared and does not occur does no harm.
    declared = Dataset.from_codes(["a", "b"], [zeros, zeros], [("n", "y"), ("n", "y", "maybe")])
    assert np.isfinite(network.log_prob(declared)).all()
    numbers = Dataset.from_frame({"a": [0.5, 1.5, 2.25], "b": ["n", "y", "n"]})
    with pytest.raises(DataError, match="'a' is continuous"):
        network.log_prob(numbers)


def test_unknown_target_is_refused() -> None:
    network = random_network(np.random.default_rng(3), {"a": ("n", "y")})
    with pytest.raises(ChoiceError, match="'z' is not a variable"):
        network.predict({"a": ["n"]}, "z")
    with pytest.raises(ChoiceError, match="at least 0"):
        network.sample(-1)


def table(**changes: object) -> Table:
    fields: dict = {
        "child": "b",
        "parents": ("a",),
        "levels": ("n", "y"),
        "parent_levels": (("n", "y"),),
        "codes": np.arange(2),
        "probabilities": np.array([[0.5, 0.5], [0.25, 0.75]]),
        "default": np.array([0.5, 0.5]),
    }
    return Table(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"probabilities": np.array([[0.5, 0.5]])}, "do not fit"),
        ({"probabilities": np.array([[0.5, 0.4], [0.5, 0.5]])}, r"row \(n\)"),
        ({"probabilities": np.array([[0.5, 0.5], [np.nan, 0.5]])}, r"row \(y\)"),
        ({"probabilities": np.array([[0.5, 0.5], [-0.5, 1.5]])}, r"row \(y\)"),
        ({"default": np.array([0.5, 0.6])}, "default row"),
        ({"codes": np.array([1, 0])}, "rising"),
        ({"codes": np.array([0, 2])}, "rising"),
        ({"levels": ("n", "n")}, "twice"),
        ({"parents": ("a", "c")}, "levels of 1"),
        ({"counts": np.zeros((1, 2))}, "counts"),
        ({"parents": tuple(f"p{i}" for i in range(70)), "parent_levels": (("n", "y"),) * 70}, "fewer parents"),
    ],
)
def test_bad_tables_are_refused(changes: dict, word: str) -> None:
    with pytest.raises(SpinneyError, match=word):
        table(**changes)


def test_bad_networks_are_refused() -> None:
    kinds = {"a": Categorical(("n", "y")), "b": Categorical(("n", "y"))}
    a, b = table(child="a", parents=("b",)), table()
    root = Table.full("a", (), ("n", "y"), (), np.array([[0.5, 0.5]]))
    assert Network(kinds, {"a": root, "b": b}).edges == [("a", "b")]
    with pytest.raises(ChoiceError, match="cycle"):
        Network(kinds, {"a": a, "b": b})
    with pytest.raises(ChoiceError, match="not both"):
        Network(kinds, {"b": b})
    with pytest.raises(ChoiceError, match="belongs to"):
        Network(kinds, {"a": b, "b": b})
    with pytest.raises(ChoiceError, match="not in the network"):
        Network({"b": kinds["b"]}, {"b": b})
    for kind in (Categorical(("y", "n")), Continuous(0.0, 1.0)):
        with pytest.raises(ChoiceError, match="other levels"):
            Network({**kinds, "a": kind}, {"a": root, "b": b})


def test_table_does_not_share_arrays_with_its_maker() -> None:
    rows = np.array([[0.5, 0.5], [0.25, 0.75]])
    made = table(probabilities=rows)
    rows[0] = 7
    assert made.probabilities[0].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        made.probabilities[0, 0] = 1


def test_sparse_table_over_a_huge_space() -> None:
    levels = tuple(f"s{i}" for i in range(50))
    parents = tuple(f"p{i}" for i in range(10))  # 50^10 configurations
    last = 50**10 - 1
    model = Table(
        "c",
        parents,
        ("n", "y"),
        (levels,) * 10,
        np.array([0, last]),
        np.array([[1.0, 0.0], [0.0, 1.0]]),
        np.array([0.5, 0.5]),
    )
    codes = np.array([0, 49, 7], dtype=np.uint8)
    data = Dataset.from_codes(
        ["c", *parents], [np.array([0, 0, 0], dtype=np.uint8), *[codes] * 10], [("n", "y"), *[levels] * 10]
    )
    assert model.rows(data).tolist() == [0, 1, -1]
    assert model.conditional(data).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    assert model.log_prob(data).tolist() == [0.0, -math.inf, math.log(0.5)]
    with pytest.raises(LimitError, match="too many to write out"):
        model.expanded()
    along = model.log_prob_at_each(align(data, model.family), "p3")  # no table is laid out for it
    assert along.shape == (3, 50) and along[0, 0] == 0.0 and along[1, 49] == -math.inf
    assert (np.delete(along.ravel(), [0, 50 + 49]) == math.log(0.5)).all()


def test_a_sparse_table_predicts_as_the_full_one_does() -> None:
    rng = np.random.default_rng(6)
    levels = {"a": ("n", "y"), "b": ("lo", "mid", "hi"), "c": ("0", "1")}
    stored, rows = np.array([1, 2, 5]), rng.dirichlet([1.0, 1.0], 3)
    c = Table("c", ("a", "b"), levels["c"], (levels["a"], levels["b"]), stored, rows, np.array([0.3, 0.7]))
    full = Table.full("c", ("a", "b"), levels["c"], (levels["a"], levels["b"]), c.expanded())
    a = Table.full("a", (), levels["a"], (), np.array([[0.4, 0.6]]))
    b = Table.full("b", (), levels["b"], (), np.array([[0.2, 0.3, 0.5]]))
    kinds = {name: Categorical(own) for name, own in levels.items()}
    sparse, dense = (Network(kinds, {"a": a, "b": b, "c": model}) for model in (c, full))
    data = dataset(dense, list(joint(dense)))
    for target in levels:
        assert sparse.predict_proba(data, target) == pytest.approx(dense.predict_proba(data, target), rel=1e-12)


def test_families_with_levels_it_does_not_know_are_left_out() -> None:
    rng = np.random.default_rng(7)
    levels = {"a": ("n", "y"), "b": ("lo", "mid", "hi"), "c": ("0", "1")}
    a = Table.full("a", ("b",), levels["a"], (levels["b"],), rng.dirichlet([1.0, 1.0], 3))
    b = Table.full("b", (), levels["b"], (), np.array([[0.2, 0.3, 0.5]]))
    c = Table.full("c", ("a",), levels["c"], (levels["a"],), rng.dirichlet([1.0, 1.0], 2))
    network = Network({name: Categorical(own) for name, own in levels.items()}, {"a": a, "b": b, "c": c})
    rows = {"b": ["lo", "new", "lo", "new"], "c": ["1", "1", "new", "new"]}
    found = network.predict_proba(rows, "a", unseen="allow")
    own, child = a.probabilities[0], c.probabilities[:, 1]
    wanted = [own * child, child, own, np.ones(2)]
    assert found == pytest.approx(np.array([row / row.sum() for row in wanted]), rel=1e-12)
    read = Dataset.from_frame(rows, kinds={name: network.kinds[name] for name in rows}, unseen="allow")
    assert (network.predict_proba(read, "a", unseen="allow") == found).all()
    with pytest.raises(DataError, match="row 2: 'new'"):
        network.predict_proba(rows, "a")
    with pytest.raises(DataError, match="row 2: 'new'"):
        network.predict_proba(read, "a")


def test_a_column_that_was_cut_comes_as_numbers_or_as_intervals() -> None:
    data = Dataset.from_frame({"x": ["low", "low", "high", "high"], "y": list("nnny")}, kinds={"x": LOW_HIGH})
    plain = fit(data, {"y": ["x"]})
    network = Network(plain.kinds, plain.models, cuts={"x": [1.5]})
    assert network != plain and isinstance(network.accepts["x"], Continuous) and plain.accepts["x"] == LOW_HIGH
    wanted = plain.predict_proba({"x": ["low", "high", "high"]}, "y")
    assert (network.predict_proba({"x": [-9.0, 1.5, 1e9]}, "y") == wanted).all()  # on the threshold is above it
    assert (network.predict_proba(Dataset.from_frame({"x": ["low", "high", "high"]}), "y") == wanted).all()
    for cuts in ([], [1.0, 2.0], [math.inf]):
        with pytest.raises(ChoiceError, match="rising thresholds"):
            Network(plain.kinds, plain.models, cuts={"x": cuts})
    with pytest.raises(ChoiceError, match="rising thresholds"):
        Network(plain.kinds, plain.models, cuts={"z": [1.0]})


def test_networkx_carries_levels_and_tables() -> None:
    networkx = pytest.importorskip("networkx")
    network = random_network(np.random.default_rng(9), LEVELS, sparse=True)
    graph = network.to_networkx()
    assert sorted(graph.edges) == network.edges and list(graph.nodes) == list(network.names)
    assert networkx.is_directed_acyclic_graph(graph)
    for name, model in network.models.items():
        node = graph.nodes[name]
        assert (node["levels"], node["parents"]) == (model.levels, model.parents)
        assert node["cpt"].shape == (model.configurations, len(model.levels))
        assert np.array_equal(node["cpt"][model.codes], model.probabilities)


def test_missing_networkx_gives_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ChoiceError, match="install"):
        random_network(np.random.default_rng(9), {"a": ("n", "y")}).to_networkx()
