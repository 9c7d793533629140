"""Local models from outside the package, and means of continuous targets whose children change smoothly.

In:  LinearGaussian, one file of its own (outside/linear_gaussian.py); partitions; models that leave something out.
Out: what a network answers equals closed forms and grids; files, pictures and texts work; the rest is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import spinney as sp
from outside.linear_gaussian import LinearGaussian
from slow.means import mean_of
from spinney.cli import app
from spinney.fitted import model_class
from spinney.fitted.model import Columns, Floats, LocalModel
from spinney.fitted.partition import Partition
from spinney.fitted.table import Table

NUMBER = sp.Continuous()
YES_NO = sp.Categorical(["no", "yes"])


def line(child: str, intercept: float = 0.0, sd: float = 1.0, **slopes: float) -> LinearGaussian:
    return LinearGaussian(child, slopes, intercept, sd, {})


def continuous(*models: LocalModel) -> sp.Network:
    return sp.Network({model.child: NUMBER for model in models}, {model.child: model for model in models})


def tree(child: str, kind: sp.Continuous | sp.Categorical, cuts: list[float], sums: list[list[float]]) -> Partition:
    """A chain of splits on x: leaf 0 is below the first cut, the last leaf from the last cut on. No cuts: no parent."""
    n = len(cuts)
    return Partition(
        child=child,
        parents=("x",) if cuts else (),
        kind=kind,
        parent_kinds=(NUMBER,) if cuts else (),
        feature=np.array([0] * n + [-1] * (n + 1)),
        left=np.array([n + place for place in range(n)] + [-1] * (n + 1)),
        right=np.array([*range(1, n), 2 * n][:n] + [-1] * (n + 1)),
        threshold=np.array(cuts + [np.nan] * (n + 1)),
        goes_left=(None,) * (2 * n + 1),
        leaf=np.array([-1] * n + list(range(n + 1))),
        sums=np.array(sums),
    )


# --- means of continuous targets ------------------------------------------------------------------------------------


def test_a_linear_child_is_not_ignored() -> None:
    """E[x | y = 5] is 5 / (1 + 1.5) = 2, and was 0: the mean of x alone."""
    network = continuous(line("x"), line("y", sd=math.sqrt(1.5), x=1.0))
    assert network.predict({"y": [5.0]}, "x") == pytest.approx([2.0], abs=1e-12)


@pytest.mark.parametrize("noise", [3.0, 1e-2, 1e-4, 1e-6])
def test_chain_of_lines(noise: float) -> None:
    """a -> x -> y, a thousand rows at once: the posterior of x is normal, its mean weighs a and y by precision."""
    network = continuous(line("a", 2, 3), line("x", 1, 2.0, a=0.5), line("y", -4, 2 * noise, x=-1.5))
    rows = network.sample(1000, seed=3)
    a, y = rows.values("a"), rows.values("y")
    y = np.where(np.arange(1000) % 10 == 0, y + 20, y)  # some far from what is expected
    precision = 1 / 4 + 1.5**2 / (2 * noise) ** 2
    wanted = ((1 + 0.5 * a) / 4 - 1.5 * (y + 4) / (2 * noise) ** 2) / precision
    found = network.predict({"a": a, "y": y}, "x")
    assert np.abs(np.asarray(found) - wanted).max() <= 1e-7 / math.sqrt(precision)
    assert np.allclose(network.predict({"x": rows.values("x"), "a": a}, "y"), -4 - 1.5 * rows.values("x"))


def test_two_parents_of_one_line() -> None:
    """x -> y <- z and x -> w: the other parent of a child is known, and enters."""
    network = continuous(line("x", 1, 2), line("z", 0, 5), line("y", 3, 0.5, x=2.0, z=-1.0), line("w", 0, 1.5, x=1.0))
    rows = network.sample(500, seed=1)
    y, z, w = (rows.values(name) for name in "yzw")
    precision = 1 / 4 + 4 / 0.25 + 1 / 2.25
    wanted = (1 / 4 + 2 * (y - 3 + z) / 0.25 + w / 2.25) / precision
    found = network.predict({"y": y, "z": z, "w": w}, "x")
    assert np.abs(np.asarray(found) - wanted).max() <= 1e-9


def test_cuts_and_a_line_together() -> None:
    """y is a line in x and c a tree on x: x given y is normal, cut into pieces that c weighs."""
    cuts = [-0.7, 0.4, 3.0]
    c = tree("c", YES_NO, cuts, [[9.0, 1], [1, 9], [7, 3], [0, 5]])
    kinds = {"x": NUMBER, "y": NUMBER, "c": YES_NO}
    network = sp.Network(kinds, {"x": line("x", 1, 2), "y": line("y", 0, 1.5, x=1.0), "c": c})
    rows = network.sample(300, seed=5)
    y, code = rows.values("y"), rows.codes("c")
    precision = 1 / 4 + 1 / 2.25
    centre, sd = (1 / 4 + y / 2.25) / precision, 1 / math.sqrt(precision)
    ends = (np.array([-np.inf, *cuts, np.inf]) - centre[:, None]) / sd
    weight = c.probabilities[:, code].T
    mass = (weight * np.diff(norm.cdf(ends), axis=1)).sum(axis=1)
    wanted = centre - sd * (weight * np.diff(norm.pdf(ends), axis=1)).sum(axis=1) / mass
    found = np.asarray(network.predict({"y": y, "c": np.array(["no", "yes"])[code]}, "x"))
    assert np.abs(found - wanted).max() <= 1e-9


@pytest.mark.parametrize("noise", [1.0, 1e-4])
@pytest.mark.parametrize("rows", [0.0, 1.0, 2.0, 40.0])
def test_student_leaf_with_a_line(noise: float, rows: float) -> None:
    """x is a leaf of so many rows (a Student t of rows + 1 degrees of freedom), y a line in it: against the slow twin;
    without rows x alone has no mean, and has one once y is known."""
    x = tree("x", NUMBER, [], [[rows, 2 * rows, 5 * rows]])
    network = sp.Network({"x": NUMBER, "y": NUMBER}, {"x": x, "y": line("y", 1, noise, x=0.5)})
    y = np.array([0.9, 2.0, 7.0, -30.0, 1000.0])
    found = np.asarray(network.predict({"y": y}, "x"))
    student = x.student.at(np.zeros(1, dtype=int))
    location, scale = float(student.location[0]), float(student.scale[0])
    for place, value in enumerate(y):

        def log_density(v: Floats, value: float = value) -> Floats:
            return student.log_density(v) - ((value - 1 - 0.5 * v) / noise) ** 2 / 2

        with np.errstate(over="ignore"):
            wanted, distance, _ = mean_of(log_density, [location, (value - 1) / 0.5], scale)
        assert abs(found[place] - wanted) <= 1e-7 * distance


@pytest.mark.parametrize("rows", [0.0, 1.0, 3.0, 40.0])
def test_quadrature_equals_closed_pieces(rows: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees over a Student t, with tails of all weights: both ways, the same means."""
    x = tree("x", NUMBER, [], [[rows, 2 * rows, 5 * rows]])
    y = tree("y", NUMBER, [-4.0, 0.0, 1.5], [[8.0, -40, 210], [5, 0, 4], [20, 30, 60], [2, 12, 80]])
    c = tree("c", YES_NO, [0.3, 9.0], [[9.0, 1], [1, 9], [3, 3]])
    network = sp.Network({"x": NUMBER, "y": NUMBER, "c": YES_NO}, {"x": x, "y": y, "c": c})
    data = {"y": np.linspace(-8, 8, 60), "c": ["no", "yes", "yes"] * 20}
    closed = np.asarray(network.predict(data, "x"))
    monkeypatch.setattr(Partition, "pieces", lambda *_: None)
    assert np.asarray(network.predict(data, "x")) == pytest.approx(closed, abs=1e-7)
    assert np.ptp(closed) > 1


def test_a_smooth_discrete_child() -> None:
    """A logistic child: its levels tell of x smoothly. A level that cannot be leaves x its own mean."""
    network = sp.Network({"x": NUMBER, "c": YES_NO}, {"x": line("x", 0, 2), "c": Logistic("c", 3.0)})

    def log_density(v: Floats) -> Floats:
        return -(v**2) / 8 - np.logaddexp(0, -3.0 * v)

    wanted = mean_of(log_density, [0.0], 2.0)[0]
    assert np.asarray(network.predict({"c": ["yes", "no"]}, "x")) == pytest.approx([wanted, -wanted], abs=1e-8)
    never = sp.Network({"x": NUMBER, "c": YES_NO}, {"x": line("x", 7, 2), "c": Logistic("c", 3.0, never=True)})
    assert np.asarray(never.predict({"c": ["yes"]}, "x")).tolist() == [7.0]


class Logistic(LocalModel):
    """P(c = yes | x), as small as a model can be."""

    word = "logistic"
    score = None

    def __init__(self, child: str, slope: float, never: bool = False) -> None:
        self.child, self.parents, self.slope, self.never = child, ("x",), slope, never

    @property
    def family(self) -> dict[str, tuple[str, ...] | None]:
        return {self.child: ("no", "yes"), "x": None}

    def log_prob(self, data: Any) -> Floats:
        sign = np.where(data.codes(self.child) == 1, 1.0, -1.0)
        logs = -np.logaddexp(0, -self.slope * sign * data.values("x"))
        return np.where((sign > 0) & self.never, -np.inf, logs)

    def cuts(self, parent: str) -> None:
        return None

    def _not_asked(self, *_: Any) -> Any:
        raise AssertionError

    sample = text = as_dict = attributes = to_plain = _not_asked
    from_plain = classmethod(_not_asked)  # type: ignore[assignment]


# --- refusals -------------------------------------------------------------------------------------------------------


class Uniform(LinearGaussian):
    """Noise between -sd and sd: its density is 0 nearly everywhere."""

    def log_prob(self, data: Any) -> Floats:
        away = np.abs(data.values(self.child) - self.mean(data))
        return np.where(away < self.sd, -math.log(2 * self.sd), -np.inf)


class Wrong(LinearGaussian):
    def log_prob(self, data: Any) -> Floats:
        return super().log_prob(data) * np.nan


class Scaleless(LinearGaussian):
    def spread(self, data: Any) -> tuple[Floats, Floats]:
        centre = self.mean(data)
        return centre, np.zeros(len(centre))


class Spreadless(LinearGaussian):
    spread = LocalModel.spread


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (line("x"), Uniform("y", {"x": 1.0}, 0.0, 1e-9, {}), "row 1: the density of 'x' given the other columns is 0"),
        (
            line("x"),
            Wrong("y", {"x": 1.0}, 0.0, 1.0, {}),
            r"the model of 'y' \(linear-gaussian\) gave the log-probability nan",
        ),
        (
            Scaleless("x", {}, 0.0, 1.0, {}),
            line("y", x=1.0),
            r"'x' \(linear-gaussian\) has a spread\(\) that is not finite",
        ),
        (Spreadless("x", {}, 0.0, 1.0, {}), line("y", x=1.0), r"'x' \(linear-gaussian\) has no spread\(\)"),
    ],
)
def test_refused_means(x: LinearGaussian, y: LinearGaussian, words: str) -> None:
    with pytest.raises(sp.SpinneyError, match=words):
        continuous(x, y).predict({"y": [0.0, 1.2345]}, "x")


def test_a_model_that_gives_nan_is_refused_everywhere() -> None:
    wrong = Wrong("y", {}, 0.0, 1.0, {"c": {"no": 0.0, "yes": 1.0}})
    table = Table.full("c", (), ("no", "yes"), (), np.array([[0.3, 0.7]]))
    network = sp.Network({"c": YES_NO, "y": NUMBER}, {"c": table, "y": wrong})
    for ask in (network.log_prob, lambda rows: network.predict_proba(rows, "c")):
        with pytest.raises(sp.ChoiceError, match=r"'y' \(linear-gaussian\) gave the log-probability nan"):
            ask({"c": ["no"], "y": [1.0]})


@pytest.mark.parametrize("drawn", [np.full(3, np.nan), np.zeros(2), np.zeros((3, 1))])
def test_a_model_that_draws_nonsense_is_refused(drawn: Floats) -> None:
    other: Callable[..., LinearGaussian] = type("Other", (LinearGaussian,), {"sample": lambda *_: drawn})
    with pytest.raises(sp.ChoiceError, match=r"'x' \(linear-gaussian\) drew something else than 3 values"):
        continuous(other("x", {}, 0.0, 1.0, {})).sample(3)


def test_a_density_too_irregular() -> None:
    class Wave(LinearGaussian):
        def log_prob(self, data: Any) -> Floats:
            return -(((data.values(self.child) - np.sin(1000 * data.values("x"))) / 1e-3) ** 2)

    with pytest.raises(sp.LimitError, match=r"row 1: the density of 'x' .* too irregular"):
        continuous(line("x"), Wave("y", {"x": 1.0}, 0.0, 1.0, {})).predict({"y": [0.3]}, "x")


def test_methods_for_the_other_kind_of_child() -> None:
    x, c = tree("x", NUMBER, [], [[0.0, 0, 0]]), tree("c", YES_NO, [0.0], [[1.0, 2], [3, 4]])
    rows = Columns(1, {"x": np.zeros(1)})
    with pytest.raises(sp.ChoiceError, match=r"'x' is continuous and has no levels: use mean"):
        x.conditional(rows)
    for method in (c.mean, c.spread):
        with pytest.raises(sp.ChoiceError, match=r"'c' is discrete and has no mean: use conditional"):
            method(rows)


def test_register_takes_whole_models_under_new_words() -> None:
    assert model_class("linear-gaussian") is LinearGaussian and model_class("table") is Table
    assert model_class("nothing") is None
    sp.register(LinearGaussian)  # the same once more changes nothing

    class Half(LocalModel):
        word = "half"

    def named(word: object) -> type[LocalModel]:
        return type("Named", (LinearGaussian,), {"word": word})

    for wrong, words in (
        (int, "int is no class of models"),
        (Half, "the model Half has no as_dict, attributes, cuts, family, from_plain, log_prob, sample, text, to_plain"),
        (named("Two Words"), "Named has the word 'Two Words'"),
        (named(None), "Named has the word None"),
        (named("table"), "there is a model 'table' already"),
        (named("linear-gaussian"), "there is a model 'linear-gaussian' already"),
        (3, "register takes a Score, Search, Candidates or Format of spinney.catalog, or a class of models, not 3"),
    ):
        with pytest.raises(sp.ChoiceError, match=words):
            sp.register(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"word": "not-registered"},
            r"'y' is a 'not-registered', a type that is not registered .* sp\.register\(Other\)",
        ),
        ({"word": "table"}, r"'y' is a 'table', a type that is not registered"),
        ({"to_plain": lambda _: {"parents": 3}}, r"'y' \(linear-gaussian\) writes 'parents' too"),
        ({"to_plain": lambda _: {"sd": math.nan}}, "what JSON cannot"),
    ],
)
def test_models_that_cannot_be_saved(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    other: Callable[..., LinearGaussian] = type("Other", (LinearGaussian,), change)
    network = continuous(line("x"), other("y", {"x": 1.0}, 0.0, 1.0, {}))
    with pytest.raises(sp.ChoiceError, match=words):
        network.save(tmp_path / "net.json")
    assert not (tmp_path / "net.json").exists()


def test_a_file_with_a_model_that_nobody_registered(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    continuous(line("x")).save(path)
    path.write_text(path.read_text().replace("linear-gaussian", "spline"))
    with pytest.raises(sp.FileFormatError, match="'x' is a 'spline', which this spinney does not know: upgrade"):
        sp.Network.load(path)


def test_a_file_that_a_model_from_outside_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    continuous(line("x")).save(path)
    text = path.read_text()
    for old, new in (('"sd": 1.0, ', ""), ('"score": null', '"score": "big"')):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(sp.FileFormatError, match=r"net\.json: .*(missing|not of its kind)"):
            sp.Network.load(path)


# --- all that a network does ----------------------------------------------------------------------------------------

KINDS = {"c": YES_NO, "x": NUMBER, "y": NUMBER, "k": YES_NO}


def mixed() -> sp.Network:
    """c -> x -> y, c -> y, x -> k: a table, two lines, one with a level's shift, and a tree."""
    table = Table.full("c", (), ("no", "yes"), (), np.array([[0.3, 0.7]]))
    x = LinearGaussian("x", {}, 1.0, 2.0, {"c": {"no": 0.0, "yes": 3.0}}, score=-1.5)
    y = LinearGaussian("y", {"x": 0.5}, -1.0, 0.7, {"c": {"no": 2.0, "yes": -2.0}})
    return sp.Network(KINDS, {"c": table, "x": x, "y": y, "k": tree("k", YES_NO, [1.0], [[9.0, 1], [1, 9]])})


def test_log_prob_and_sample() -> None:
    network = mixed()
    rows = network.sample(20_000, seed=2)
    c, x, y, k = rows.codes("c"), rows.values("x"), rows.values("y"), rows.codes("k")
    wanted = (
        np.log(np.array([0.3, 0.7])[c])
        + norm.logpdf(x, 1 + 3 * c, 2)
        + norm.logpdf(y, -1 + 0.5 * x + 2 - 4 * c, 0.7)
        + np.log(network.models["k"].conditional(rows)[np.arange(len(k)), k])
    )
    assert np.allclose(network.log_prob(rows), wanted, rtol=1e-12)
    assert c.mean() == pytest.approx(0.7, abs=0.02)
    assert x[c == 1].mean() == pytest.approx(4, abs=0.1) and (y - 0.5 * x)[c == 0].std() == pytest.approx(0.7, abs=0.03)
    assert np.array_equal(network.sample(50, seed=2).values("y"), network.sample(50, seed=2).values("y"))


def test_predict_every_target() -> None:
    network = mixed()
    rows = network.sample(200, seed=4)
    c, x, y = rows.codes("c"), rows.values("x"), rows.values("y")
    # c: Bayes' rule with two normal densities.
    joint = np.column_stack(
        [(0.3, 0.7)[v] * norm.pdf(x, 1 + 3 * v, 2) * norm.pdf(y, 1 - 4 * v + 0.5 * x, 0.7) for v in (0, 1)]
    )
    found = network.predict_proba(rows, "c")
    assert found == pytest.approx(joint / joint.sum(axis=1, keepdims=True), rel=1e-9)
    assert network.predict(rows, "c") == [("no", "yes")[v] for v in joint.argmax(axis=1)]
    # x: a normal in two pieces, weighed by the tree of k.
    precision = 1 / 4 + 0.25 / 0.49
    centre, sd = ((1 + 3 * c) / 4 + 0.5 * (y - 1 + 4 * c) / 0.49) / precision, 1 / math.sqrt(precision)
    cut = (1.0 - centre) / sd
    k = network.models["k"]
    assert isinstance(k, Partition)
    low, high = k.probabilities[:, rows.codes("k")]
    wanted = centre + sd * (high - low) * norm.pdf(cut) / (low * norm.cdf(cut) + high * norm.sf(cut))
    assert np.asarray(network.predict(rows, "x")) == pytest.approx(wanted, abs=1e-8)
    assert np.asarray(network.predict(rows, "y")) == pytest.approx(-1 + 0.5 * x + 2 - 4 * c, abs=1e-12)


def test_save_load_show_draw(tmp_path: Path) -> None:
    network = mixed()
    path = tmp_path / "net.json.gz"
    network.save(path)
    again = sp.Network.load(path)
    assert again == network and again.models["x"].score == -1.5 and type(again.models["y"]) is LinearGaussian
    assert again != replace_model(network, replace(network.models["y"], sd=0.8))  # type: ignore[type-var]
    again.save(tmp_path / "again.json")
    network.save(tmp_path / "net.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "net.json").read_bytes()
    rows = network.sample(100, seed=0)
    assert np.array_equal(again.log_prob(rows), network.log_prob(rows))

    assert "P(y | x, c): y = -1 +0.5 x, sd 0.7" in str(again.model("y")) and "y" in str(again)
    runner = CliRunner()
    shown = runner.invoke(app, ["show", str(path), "y"])
    assert shown.exit_code == 0 and shown.stdout.strip() == str(again.model("y"))
    plain = runner.invoke(app, ["show", str(path), "y", "--json"])
    assert json.loads(plain.stdout)["slopes"] == {"x": 0.5}
    drawn = runner.invoke(app, ["convert", str(path), str(tmp_path / "net.dot")])
    assert drawn.exit_code == 0 and '"x" -> "y";' in (tmp_path / "net.dot").read_text()

    graph = again.to_networkx()
    assert set(graph.edges) == set(network.edges)
    assert graph.nodes["y"]["slopes"] == {"x": 0.5} and graph.nodes["y"]["kind"] == "continuous"
    assert again.cpdag().names == network.names and "<pre>" in again.model("y")._repr_html_()


def replace_model(network: sp.Network, model: LocalModel) -> sp.Network:
    return sp.Network(network.kinds, {**network.models, model.child: model})


def test_what_is_for_other_models_is_refused_by_name(tmp_path: Path) -> None:
    network = mixed()
    with pytest.raises(sp.ChoiceError, match=r"BIF needs tables .* 'x' is continuous and has a linear-gaussian"):
        network.export(tmp_path / "net.bif")
    with pytest.raises(sp.ChoiceError, match="node 'y' has a linear-gaussian, and only trees and decision graphs"):
        network.export(tmp_path / "y.dot", node="y")
    with pytest.raises(sp.ChoiceError, match="node 'c' has a table, and only trees"):
        network.export(tmp_path / "c.dot", node="c")
    network.export(tmp_path / "k.dot", node="k")
    assert "x < 1" in (tmp_path / "k.dot").read_text()


def test_what_a_model_must_say() -> None:
    """A model that leaves out how it changes along a parent cannot be built: the answer was silently 'not at all'."""
    assert "cuts" in LocalModel.__abstractmethods__
    assert tree("c", YES_NO, [1.0, 4.0], [[1.0, 1]] * 3).cuts("x").tolist() == [1.0, 4.0]
