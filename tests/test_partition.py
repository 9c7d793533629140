"""Partitions against a plain walk and plain leaf likelihoods; densities integrate to 1; networks of mixed columns."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, trapezoid

from slow.drawn_partitions import SCALE, SHIFT, random_mixed_network, random_partition, walk
from slow.leaves import Hyper, leaf, ordinal
from spinney.cli import main
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, DataError, FileFormatError, SpinneyError
from spinney.fitted import leaves
from spinney.fitted.partition import Partition
from spinney.fitted.table import Table
from spinney.kinds import Categorical, Continuous, Kind, Ordinal
from spinney.network import Network

KINDS: dict[str, Kind] = {
    "x": Continuous(30.0, 50.0),
    "y": Continuous(35.0, 45.0),
    "c": Categorical(["red", "green", "blue", "grey"]),
    "o": Ordinal(["low", "mid", "high"]),
    "p": Ordinal([str(i) for i in range(7)]),
}
OTHER = Hyper(alpha=1.25, mu0=0.5, a=0.75, nu=2.5, lam=0.4, kappa=1.5)


def rows_for(rng: np.random.Generator, n: int, kinds: dict[str, Kind] = KINDS) -> dict[str, list]:
    """Rows within the ranges and up to twice as far outside."""
    return {
        name: rng.uniform(2 * kind.lo - kind.hi, 2 * kind.hi - kind.lo, n).tolist()
        if isinstance(kind, Continuous)
        else [kind.levels[i] for i in rng.integers(0, len(kind.levels), n)]
        for name, kind in kinds.items()
    }


def dataset(rows: dict[str, list], kinds: dict[str, Kind] = KINDS) -> Dataset:
    given_kinds = {name: Continuous() if isinstance(kind, Continuous) else kind for name, kind in kinds.items()}
    return Dataset.from_frame(rows, kinds=given_kinds, ignore_absent=True)


def row(rows: dict[str, list], i: int) -> dict:
    return {name: column[i] for name, column in rows.items()}


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_leaf_of_is_the_plain_walk(seed: int, graph: bool) -> None:
    rng = np.random.default_rng(seed)
    made, _ = random_partition(rng, "y", ("x", "c", "o", "p"), KINDS, splits=9, graph=graph)
    rows = rows_for(rng, 200)
    cuts = made.cuts("x").tolist()
    rows["x"][: len(cuts)] = cuts  # a value on a threshold goes right
    expected = [walk(made, row(rows, i)) for i in range(200)]
    assert made.leaf_of(dataset(rows)).tolist() == expected


def test_a_drawn_graph_shares_nodes() -> None:
    made, _ = random_partition(np.random.default_rng(0), "y", ("x", "c", "o"), KINDS, splits=9, graph=True)
    assert len(made.feature) < 2 * 9 + 1, "no node has two splits above it: the tests of graphs test trees"


@pytest.mark.parametrize("hyper", [Hyper(), OTHER])
@pytest.mark.parametrize("child", ["c", "o", "p", "y"])
def test_predictive_is_the_ratio_of_marginal_likelihoods(child: str, hyper: Hyper) -> None:
    rng = np.random.default_rng(3)
    parents = tuple(name for name in ("x", "c", "o") if name != child)
    made, held = random_partition(rng, child, parents, KINDS, hyper=hyper)
    kind, rows = KINDS[child], rows_for(rng, 60)
    found = made.log_prob(dataset(rows))
    for i in range(60):
        before = held[walk(made, row(rows, i))]
        value = rows[child][i]
        new = (value - SHIFT) / SCALE if isinstance(kind, Continuous) else kind.levels.index(value)
        k = 0 if isinstance(kind, Continuous) else len(kind.levels)
        expected = leaf(kind.word, [*before, new], k, hyper) - leaf(kind.word, before, k, hyper)
        if isinstance(kind, Continuous):
            expected -= math.log(SCALE)
        assert found[i] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("child", ["c", "o", "p"])
def test_probabilities_sum_to_one(child: str) -> None:
    rng = np.random.default_rng(5)
    made, _ = random_partition(rng, child, ("x",), KINDS)
    rows = rows_for(rng, 20)
    shares = made.conditional(dataset({"x": rows["x"]}))
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-14) and (shares > 0).all()
    levels = KINDS[child].levels
    by_level = [np.exp(made.log_prob(dataset({"x": rows["x"], child: [level] * 20}))) for level in levels]
    assert np.stack(by_level, axis=1) == pytest.approx(shares, rel=1e-13)
    with pytest.raises(ChoiceError, match="no mean"):
        made.mean(dataset(rows))


@pytest.mark.parametrize("hyper", [Hyper(), OTHER])
def test_density_integrates_to_one_in_the_users_units(hyper: Hyper) -> None:
    rng = np.random.default_rng(7)
    made, _ = random_partition(rng, "y", ("o",), KINDS, hyper=hyper)
    for level in KINDS["o"].levels:
        at = made.student.at(made.leaf_of(dataset({"o": [level]})))

        def density(z: float, level: str = level) -> float:
            return math.exp(made.log_prob(dataset({"o": [level], "y": [z]}))[0])

        middle = float(at.location[0])
        total = quad(density, -np.inf, middle)[0] + quad(density, middle, np.inf)[0]
        assert total == pytest.approx(1, abs=1e-6)
        assert made.mean(dataset({"o": [level]})).tolist() == [middle]
    with pytest.raises(ChoiceError, match="no levels"):
        made.conditional(dataset({"o": ["low"]}))


@pytest.mark.parametrize("counts", [[900_000, 0, 0, 3, 0], [0, 0, 0, 0, 0], [0, 0, 5000, 0, 1]])
def test_ordinal_predictive_of_lopsided_leaves(counts: list[int]) -> None:
    found = leaves.ordinal(np.array([counts], dtype=float), 0.5, 0.25)[0]
    if sum(counts) < 10_000:  # the twin multiplies one factor per row
        codes = [code for code, n in enumerate(counts) for _ in range(n)]
        expected = [math.exp(ordinal([*codes, y], 5) - ordinal(codes, 5)) for y in range(5)]
        assert found == pytest.approx(expected, rel=1e-8)
    assert found.sum() == pytest.approx(1, abs=1e-14) and (found > 0).all()


def test_ordinal_of_one_level_and_of_many() -> None:
    assert leaves.ordinal(np.array([[3.0]]), 0.5, 0.25).tolist() == [[1.0]]
    many = leaves.ordinal(np.random.default_rng(0).integers(0, 50, (3, 300)).astype(float), 0.5, 0.25)
    assert many.sum(axis=1) == pytest.approx(1, abs=1e-12)


def test_values_outside_the_range_fall_to_the_end_leaves() -> None:
    rng = np.random.default_rng(2)
    made, _ = random_partition(rng, "y", ("x",), KINDS, splits=6)
    cuts = made.cuts("x")
    data = dataset({"x": [-1e300, cuts[0] - 1e-9, cuts[-1], 1e300], "y": [1e300, -1e308, 40.0, 40.0]})
    at = made.leaf_of(data)
    assert at[0] == at[1] and at[2] == at[3]
    assert np.isfinite(made.log_prob(data)).all()
    network = Network({name: KINDS[name] for name in "xy"}, {"y": made, "x": random_partition(rng, "x", (), KINDS)[0]})
    assert np.isfinite(network.log_prob({"x": [-1e6], "y": [1e6]})).all()
    assert np.isfinite(network.predict({"y": [1e6]}, "x")).all()


def test_sampling_agrees_with_log_prob() -> None:
    n, rng = 40_000, np.random.default_rng(11)
    for child in ("c", "p", "y"):
        made, _ = random_partition(rng, child, ("o",), KINDS, hyper=OTHER)
        for level in KINDS["o"].levels:
            data = dataset({"o": [level] * n})
            drawn = made.sample(data, np.random.default_rng(1))
            if child == "y":
                cuts = np.array([30.0, 37.0, 40.0, 41.0, 45.0])
                seen = np.bincount(np.searchsorted(cuts, drawn, side="right"), minlength=6)

                def density(z: float, level: str = level, made: Partition = made) -> float:
                    return math.exp(made.log_prob(dataset({"o": [level], "y": [z]}))[0])

                ends = [-np.inf, *cuts, np.inf]
                expected = [quad(density, a, b)[0] for a, b in pairwise(ends)]
            else:
                seen = np.bincount(drawn, minlength=len(KINDS[child].levels))
                expected = made.conditional(dataset({"o": [level]}))[0]
            for count, p in zip(seen, expected, strict=True):
                assert abs(count - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1e-3


@pytest.mark.parametrize("hyper", [Hyper(), replace(OTHER, nu=1.5), OTHER])
def test_pieces_are_integrals(hyper: Hyper) -> None:
    made, _ = random_partition(np.random.default_rng(4), "y", ("o",), KINDS, hyper=hyper, splits=3)
    cuts = np.array([20.0, 38.0, 38.001, 41.0, 70.0])
    log_mass, means = made.student.pieces(cuts)
    for number, freedom in enumerate(made.student.freedom):
        one = made.student.at(np.array([number]))
        reach = (leaves.REACH if freedom <= 1 else np.inf) * one.scale[0]
        ends = np.clip([-np.inf, *cuts, np.inf], one.location[0] - reach, one.location[0] + reach)
        for piece, (a, b) in enumerate(pairwise(ends)):
            if a == b:
                assert log_mass[number, piece] == -math.inf
                continue

            def density(z: float, one: leaves.Student = one) -> float:
                return math.exp(one.log_density(np.array([z]))[0])

            mass, _ = quad(density, a, b, epsabs=0, epsrel=1e-10, limit=200)
            assert math.exp(log_mass[number, piece]) == pytest.approx(mass, rel=1e-6)
            assert a <= means[number, piece] <= b
            if freedom > 2:  # otherwise quad does not reach the end of the tail
                moment = quad(lambda z: (z - 40) * density(z), a, b, epsabs=1e-12, limit=200)[0]
                assert means[number, piece] == pytest.approx(40 + moment / mass, rel=1e-6)


def test_pieces_far_out_are_finite() -> None:
    one = leaves.Student(np.array([0.0]), np.array([1.0]), np.array([5000.0]))
    log_mass, means = one.pieces(np.array([-1e4, 1e4, 2e4]))
    assert np.isfinite(log_mass).all() and np.isfinite(means).all()
    assert log_mass[0, 1] == pytest.approx(0, abs=1e-12) and 1e4 <= means[0, 2] <= 2e4 <= means[0, 3]


# Networks


@pytest.mark.parametrize("seed", range(4))
def test_log_prob_of_a_mixed_network_is_the_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_mixed_network(rng, KINDS, graph=True)
    rows = rows_for(rng, 30)
    data = dataset(rows)
    expected = sum(model.log_prob(data) for model in network.models.values())
    assert network.log_prob(rows) == pytest.approx(expected, rel=1e-14)
    turned = {**KINDS, "c": Categorical(["blue", "grey", "red", "green"]), "o": Ordinal(["mid", "low", "high"])}
    assert network.log_prob(dataset(rows, turned)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_prediction_is_the_conditional_of_the_joint(seed: int) -> None:
    rng = np.random.default_rng(seed + 20)
    network = random_mixed_network(rng, KINDS)
    rows = rows_for(rng, 6)
    for target in ("c", "o"):
        levels = network.levels(target)
        joint = np.exp(np.stack([network.log_prob({**rows, target: [level] * 6}) for level in levels], axis=1))
        assert network.predict_proba(rows, target) == pytest.approx(joint / joint.sum(axis=1, keepdims=True), rel=1e-9)
    for target in ("x", "y"):
        with pytest.raises(ChoiceError, match=f"{target!r} is continuous"):
            network.predict_proba(rows, target)
        with pytest.raises(ChoiceError, match="has no levels"):
            network.levels(target)
        found = network.predict({name: column for name, column in rows.items() if name != target}, target)
        student = network.models[target].student.at(network.models[target].leaf_of(dataset(rows)))
        for i in range(6):
            # Within 8 scales of the centre if the tails are too heavy for a mean; slow tails are beyond this grid.
            if 1 < student.freedom[i] <= 3:
                continue
            reach = 8 if student.freedom[i] <= 1 else 400
            centre, scale = student.location[i], student.scale[i]
            grid = centre + scale * np.sinh(np.linspace(-1, 1, 400_001) * np.arcsinh(reach))
            each = {name: [column[i]] * len(grid) for name, column in rows.items() if name != target}
            logs = network.log_prob(dataset({**each, target: grid}))
            weights = np.exp(logs - logs.max())
            mean = trapezoid(weights * grid, grid) / trapezoid(weights, grid)
            assert abs(found[i] - mean) <= 2e-3 * scale


def test_mean_of_a_target_with_children() -> None:
    """x is uncertain, y and c tell where it is: against a fine grid, and against x's own mean where nothing tells."""
    rng = np.random.default_rng(9)
    kinds = {name: KINDS[name] for name in ("x", "y", "c")}
    x, _ = random_partition(rng, "x", (), kinds, most=40)
    y, _ = random_partition(rng, "y", ("x",), kinds, splits=7, most=40)
    c, _ = random_partition(rng, "c", ("y", "x"), kinds, splits=7, most=40)
    assert len(y.cuts("x")) == 7 and len(c.cuts("x")) > 0 and x.student.freedom[0] > 5
    network = Network(kinds, {"x": x, "y": y, "c": c})
    rows = {name: column for name, column in rows_for(rng, 8, kinds).items() if name != "x"}
    found = network.predict(rows, "x")
    grid = x.student.location[0] + x.student.scale[0] * np.sinh(np.linspace(-1, 1, 400_001) * np.arcsinh(300))
    for i in range(8):
        every = {name: [column[i]] * len(grid) for name, column in rows.items()}
        logs = network.log_prob(dataset({**every, "x": grid}))
        weights = np.exp(logs - logs.max())
        assert found[i] == pytest.approx(trapezoid(weights * grid, grid) / trapezoid(weights, grid), abs=1e-3)
    assert np.ptp(found) > 0.5
    alone = Network({"x": kinds["x"], "y": kinds["y"]}, {"x": x, "y": y})
    assert np.array_equal(alone.predict({"x": rows["y"]}, "y"), y.mean(dataset({"x": rows["y"]})))


def test_sample_of_a_mixed_network() -> None:
    network = random_mixed_network(np.random.default_rng(1), KINDS)
    drawn = network.sample(3000, seed=4)
    assert drawn.names == network.names and np.isfinite(network.log_prob(drawn)).all()
    for name in ("x", "y"):
        values, kind = drawn.values(name), drawn.kinds[name]
        inside = KINDS[name].lo <= values.min() and values.max() <= KINDS[name].hi
        assert kind == (KINDS[name] if inside else Continuous(values.min(), values.max()))
    again = Network(dict(reversed(network.kinds.items())), network.models).sample(3000, seed=4)
    assert again.fingerprint == drawn.fingerprint
    assert network.sample(0).kinds == network.kinds
    assert all(drawn.kinds[name] == KINDS[name] for name in "cop")


def test_a_table_and_a_partition_in_one_network() -> None:
    yes_no = ("n", "y")
    table = Table.full("a", ("b",), yes_no, (yes_no,), np.array([[0.25, 0.75], [0.5, 0.5]]))
    kinds: dict[str, Kind] = {"a": Categorical(yes_no), "b": Categorical(yes_no), "x": Continuous(0.0, 1.0)}
    b, _ = random_partition(np.random.default_rng(0), "b", ("x",), kinds)
    x, _ = random_partition(np.random.default_rng(0), "x", (), kinds)
    network = Network(kinds, {"a": table, "b": b, "x": x})
    assert network.predict_proba({"b": ["n", "y"]}, "a") == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5]]))
    graph = pytest.importorskip("networkx") and network.to_networkx()
    assert graph.nodes["a"]["cpt"].shape == (2, 2) and graph.nodes["x"]["kind"] == "continuous"
    assert graph.nodes["b"]["partition"] == b.describe()
    for name, kind in [("x", Continuous(0.0, 2.0)), ("b", Ordinal(yes_no)), ("x", Categorical(yes_no))]:
        with pytest.raises(ChoiceError, match="another kind"):
            Network({**kinds, name: kind}, network.models)
    with pytest.raises(DataError, match=r"'x' is categorical .* is continuous in the network"):
        network.log_prob(Dataset.from_frame({"a": ["n"], "b": ["n"], "x": [1]}))


# Files


def test_json_keeps_everything(tmp_path: Path) -> None:
    network = random_mixed_network(np.random.default_rng(6), KINDS, graph=True)
    network.save(tmp_path / "net.json")
    again = Network.load(tmp_path / "net.json")
    assert again == network
    rows = rows_for(np.random.default_rng(0), 20)
    assert np.array_equal(again.log_prob(rows), network.log_prob(rows))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "net.json").read_bytes()
    assert "NaN" not in (tmp_path / "net.json").read_text()


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_json_with_any_names(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True))
    levels = st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True)
    ends = st.floats(-1e300, 1e300)
    kind = st.one_of(
        st.builds(Categorical, levels),
        st.builds(Ordinal, levels),
        st.builds(lambda a, b: Continuous(min(a, b), max(a, b)), ends, ends),
    )
    kinds = {name: data.draw(kind) for name in names}
    network = random_mixed_network(np.random.default_rng(data.draw(st.integers(0, 999))), kinds)
    path = tmp_path_factory.mktemp("json") / "net.json"
    network.save(path)
    assert Network.load(path) == network
    for model in network.models.values():
        assert isinstance(model, Partition) and model.describe()


def test_damaged_json_is_refused(tmp_path: Path) -> None:
    kinds = {name: KINDS[name] for name in ("c", "y", "o")}
    models = {name: random_partition(np.random.default_rng(1), name, (), kinds)[0] for name in ("c", "o")}
    models["y"] = random_partition(np.random.default_rng(1), "y", ("c", "o"), kinds)[0]
    path = tmp_path / "net.json"
    Network(kinds, models).save(path)
    whole = json.loads(path.read_text())
    node = next(node for node in whole["nodes"] if node["child"] == "y")
    for changes in [
        {"feature": [9] * len(node["feature"])},
        {"feature": node["feature"][:-1]},
        {"feature": [0.5] * len(node["feature"])},
        {"left": [0] * len(node["left"])},
        {"goes_left": [[99]] * len(node["goes_left"])},
        {"goes_left": [None] * len(node["goes_left"])},
        {"goes_left": []},
        {"threshold": [1.0] * len(node["threshold"])},
        {"sums": node["sums"][:-1]},
        {"sums": "many"},
        {"prior": {}},
        {"scale": 0},
        {"scale": None},
        {"parents": ["c", "z"]},
        {"model": "forest"},
    ]:
        nodes = [{**each, **changes} if each is node else each for each in whole["nodes"]]
        path.write_text(json.dumps({**whole, "nodes": nodes}))
        with pytest.raises(FileFormatError, match=r"net\.json") as caught:
            Network.load(path)
        assert "\n" not in str(caught.value)


def test_bif_is_for_tables(tmp_path: Path) -> None:
    network = random_mixed_network(np.random.default_rng(6), KINDS)
    with pytest.raises(ChoiceError, match=r"net\.bif: BIF needs tables of discrete columns, and 'x' is continuous"):
        network.export(tmp_path / "net.bif")
    discrete = random_mixed_network(np.random.default_rng(6), {name: KINDS[name] for name in "co"})
    with pytest.raises(ChoiceError, match="'c' is discrete but has a partition"):
        discrete.export(tmp_path / "net.bif")
    assert list(tmp_path.iterdir()) == []
    network.export(tmp_path / "net.dot")


def test_the_command_samples_and_predicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    network = random_mixed_network(np.random.default_rng(8), KINDS)
    network.save("net.json")
    assert main(["sample", "net.json", "-n", "20", "--seed", "3"]) == 0
    text = capsys.readouterr().out
    (tmp_path / "drawn.csv").write_text(text)
    drawn = Dataset.read("drawn.csv", kinds=network.accepts)
    sample = network.sample(20, seed=3)
    assert drawn.values("x").tolist() == sample.values("x").tolist()
    for target in KINDS:
        assert main(["predict", "net.json", "drawn.csv", "--target", target]) == 0
        lines = capsys.readouterr().out.splitlines()
        expected = network.predict(sample, target)
        found = [line.split(",")[0] for line in lines[1:]]
        assert found == [repr(float(x)) if target in "xy" else x for x in expected]
        assert main(["predict", "net.json", "drawn.csv", "--target", target, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["predicted"] == list(expected)
    assert main(["convert", "net.json", "net.bif"]) == 2
    assert "tables" in capsys.readouterr().err


# Words and checks


def stump(**changes: object) -> Partition:
    fields: dict = {
        "child": "o",
        "parents": ("x", "c"),
        "kind": KINDS["o"],
        "parent_kinds": (KINDS["x"], KINDS["c"]),
        "feature": [0, 1, -1, -1],
        "left": [1, 2, -1, -1],
        "right": [2, 3, -1, -1],  # node 2 is below both splits
        "threshold": [40.5, math.nan, math.nan, math.nan],
        "goes_left": (None, [True, False, True, False], None, None),
        "leaf": [-1, -1, 0, 1],
        "sums": [[1, 0, 3], [0, 0, 0]],
    }
    return Partition(**{**fields, **changes})


def test_describe_names_columns_levels_and_thresholds() -> None:
    continuous = replace(
        stump(), child="y", kind=KINDS["y"], sums=np.array([[2.0, 1.0, 5.0], [0, 0, 0]]), shift=40, scale=2
    )
    lines = stump().describe().split("\n")
    shares = [f"{level} {p:.4g}" for level, p in zip(("low", "mid", "high"), stump().probabilities[0], strict=True)]
    assert lines == [
        "if x < 40.5:",
        "  if c is red or blue:",
        "    node 2:",
        f"    o: 4 rows, {', '.join(shares)}",
        "  else:",
        "    o: 0 rows, low 0.3333, mid 0.3333, high 0.3333",
        "else:",
        "  as node 2",
    ]
    # mu' = 1/3, nu' = 3, S + t + nu lambda = 4.5 + 1/6 + 1, scale^2 = (17/3)/3 * 4/3; twice as wide for the user.
    scale = 2 * math.sqrt(17 / 9 * 4 / 3)
    assert f"y: 2 rows, mean {40 + 2 / 3:.6g}, scale {scale:.6g}, 3 degrees of freedom" in continuous.describe()


def test_describe_shows_enough_digits_of_large_numbers() -> None:
    seconds = Continuous(1.7e9, 1.7e9 + 86_400)
    made = stump(parent_kinds=(seconds, KINDS["c"]), threshold=[1_700_043_200.0, math.nan, math.nan, math.nan])
    assert made.describe().startswith("if x < 1700043200:")


def test_describe_leaves_out_levels_that_cannot_come() -> None:
    made = Partition(
        "o", ("c",), KINDS["o"], (KINDS["c"],), [0, -1, 0, -1, -1], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1],
        [math.nan] * 5, ([1, 0, 0, 0], None, [1, 1, 0, 0], None, None), [-1, 0, -1, 1, 2], np.ones((3, 3)),
    )  # fmt: skip
    assert "  if c is green:" in made.describe().split("\n")


def test_every_leaf_of_a_drawn_partition_is_described_once() -> None:
    for seed, graph in product(range(5), [False, True]):
        made, _ = random_partition(np.random.default_rng(seed), "y", ("x", "c", "o"), KINDS, splits=8, graph=graph)
        assert made.describe().count("degrees of freedom") == len(made.sums)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"parent_kinds": (KINDS["x"],)}, "kinds of 1"),
        ({"parents": ("x", "o")}, "twice"),
        ({"kind": Ordinal()}, "without levels"),
        ({"alpha": 0}, "the alpha 0.0"),
        ({"scale": math.inf}, "the scale inf"),
        ({"shift": math.nan}, "the shift nan"),
        ({"left": [1, 2, -1]}, "left of shape"),
        ({"goes_left": (None, None)}, "goes_left of shape"),
        ({"feature": [0, 2, -1, -1]}, "does not have"),
        ({"left": [1, 4, -1, -1]}, "left must name a node"),
        ({"right": [2, 3, 3, -1]}, "right must name a node"),
        ({"left": [1, 0, -1, -1]}, "cycle"),
        ({"left": [1, 1, -1, -1]}, "cycle"),
        ({"right": [2, 2, -1, -1]}, "cannot be reached"),
        ({"leaf": [-1, 0, 0, 1]}, "a split and a leaf"),
        ({"leaf": [-1, -1, 0, -1]}, "a split and a leaf"),
        ({"leaf": [-1, -1, 1, 1]}, "without gaps"),
        ({"goes_left": (None, [True, False], None, None)}, "node 1: goes_left"),
        ({"goes_left": (None, None, None, None)}, "node 1: goes_left"),
        ({"threshold": [math.nan] * 4}, "node 0: the threshold nan"),
        ({"threshold": [math.inf, math.nan, math.nan, math.nan]}, "node 0: the threshold inf"),
        ({"threshold": [1.0, 1.0, math.nan, math.nan]}, "node 1: the threshold"),
        ({"sums": [[1, 0, 3]]}, "sums of shape"),
        ({"sums": [[1, 0, 3], [0, -1, 0]]}, "no rows can have"),
    ],
)
def test_bad_partitions_are_refused_in_one_sentence(changes: dict, word: str) -> None:
    with pytest.raises(SpinneyError, match=word) as caught:
        stump(**changes)
    assert "\n" not in str(caught.value)


def test_equality_and_no_shared_arrays() -> None:
    assert stump() == stump(score=3.0) and stump() != stump(alpha=0.75) and stump() != "stump"
    assert stump() != stump(goes_left=(None, [True, True, True, False], None, None))
    assert stump() != stump(threshold=[41.0, math.nan, math.nan, math.nan])
    sums = np.array([[1.0, 0, 3], [0, 0, 0]])
    made = stump(sums=sums)
    sums[0] = 7
    assert made == stump()
    with pytest.raises(ValueError, match="read-only"):
        made.sums[0, 0] = 1
