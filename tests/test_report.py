"""Reports without a browser: what they hold, how they are written; strengths of edges; pictures."""

from __future__ import annotations

import itertools
import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from spinney.errors import ChoiceError, DataError
from spinney.fitted.model import Diagram
from spinney.report.drawing import Drawing, draw, smooth
from spinney.report.facts import collect
from spinney.report.page import as_json, page
from spinney.report.svg import graph_svg, tree_svg
from spinney.report.tree_places import tree_places

ROOT = Path(__file__).resolve().parent.parent
CLINIC = ROOT / "examples" / "clinic.csv"


@pytest.fixture(scope="module")
def clinic() -> sp.Dataset:
    return sp.Dataset.read(CLINIC)


@pytest.fixture(scope="module")
def learned(clinic: sp.Dataset) -> sp.Result:
    return sp.learn(clinic)


def mixed(seed: int = 1, rows: int = 300) -> sp.Dataset:
    return sp.simulate.mixed(6, 2, rows, seed=seed).data


# --- strengths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "prior"), [("bdeu", "uniform"), ("bic", "sizes"), ("pcart", "uniform")])
def test_a_strength_is_what_the_score_of_the_family_loses(clinic: sp.Dataset, score: str, prior: str) -> None:
    net = sp.learn(clinic, score=score, prior=prior).network
    strengths = net.edge_strengths(clinic)
    assert set(strengths) == set(net.edges)
    assert list(strengths.values()) == sorted(strengths.values(), reverse=True)
    for (parent, child), value in strengths.items():
        less = [p for p in net.parents[child] if p != parent]
        lost = net.models[child].score - sp.local_score(clinic, child, less, score, prior)
        assert value == pytest.approx(lost / clinic.n_rows, rel=1e-9, abs=1e-12)


def test_no_edge_of_the_best_network_can_be_spared(clinic: sp.Dataset, learned: sp.Result) -> None:
    """Without an edge the graph is a network that was allowed, so it scores less or the same."""
    assert min(learned.network.edge_strengths(clinic).values()) >= 0


def test_strengths_of_frames_rows_in_another_order_and_other_levels(clinic: sp.Dataset, learned: sp.Result) -> None:
    net, frame = learned.network, clinic.to_pandas()
    expected = net.edge_strengths(clinic)
    turned = frame.iloc[::-1, ::-1].astype(str)
    assert net.edge_strengths(turned) == pytest.approx(expected)
    with_holes = turned.copy()
    with_holes.iloc[3, 2] = None
    assert net.edge_strengths(with_holes) != expected
    with pytest.raises(DataError, match="'heart' is missing"):
        net.edge_strengths(frame.drop(columns="heart"))


def test_strengths_of_a_network_that_was_cut_and_of_one_without_a_plan(tmp_path: Path) -> None:
    data = mixed().discretised("quantile(3)")
    net = sp.learn(data).network
    assert net.edge_strengths(mixed()) == pytest.approx(net.edge_strengths(data))
    discrete = sp.simulate.random_network(5, 2.0, seed=1)
    rows = discrete.sample(500, seed=1)
    assert discrete.edge_strengths(rows) == discrete.edge_strengths(rows, score="bdeu", prior="uniform")


def test_a_score_that_is_not_known_here_is_said(clinic: sp.Dataset) -> None:
    net = sp.fit(clinic, {"heart": ["smoker"]})
    foreign = sp.Network(net.kinds, net.models, plan={"score": "ours(x=1)"})
    with pytest.raises(ChoiceError, match="which is not known here"):
        foreign.edge_strengths(clinic)
    facts = collect(foreign, clinic)
    assert "which is not known here" in facts["strengths_missing"] and facts["edges"][0]["strength"] is None
    assert foreign.edge_strengths(clinic, score="bic")


# --- the file ---------------------------------------------------------------------------------------------------------


def facts_of(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', text, re.DOTALL)
    assert found
    own: dict[str, Any] = json.loads(found[1])
    return own


def test_a_report_holds_no_row_and_no_address(learned: sp.Result, tmp_path: Path) -> None:
    learned.report(tmp_path / "a.html", target="heart", command="spinney learn examples/clinic.csv")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nothing asks for
    assert "@@" not in text and "default-src 'none'" in text and "unsafe" not in text
    facts = facts_of(tmp_path / "a.html")
    assert facts["target"] == 5 and facts["rows"] == 1000 and facts["search"]["optimal"]
    assert facts["again"]["command"] == "spinney learn examples/clinic.csv"
    assert all(sum(column["counts"]) == 1000 for column in facts["columns"])
    assert (tmp_path / "a.html").stat().st_size < 200_000


def test_the_commands_of_a_report_make_the_same_network(learned: sp.Result, tmp_path: Path) -> None:
    lines = collect(learned.network, result=learned)["again"]["lines"]
    scope: dict[str, Any] = {}
    source = (
        "\n".join(lines).replace("your-table.csv", CLINIC.as_posix()).replace("report.html", str(tmp_path / "r.html"))
    )
    exec(source, scope)
    assert scope["result"].network == learned.network and (tmp_path / "r.html").exists()


def test_equal_networks_give_equal_pages_whatever_the_order_of_columns(clinic: sp.Dataset) -> None:
    one = collect(sp.fit(clinic, {"heart": ["smoker"]}), clinic)
    other = collect(sp.fit(clinic.select(clinic.names[::-1]), {"heart": ["smoker"]}), clinic)
    assert page(one) == page(collect(sp.fit(clinic, {"heart": ["smoker"]}), clinic))
    places = [
        {c["name"]: p for c, p in zip(own["columns"], own["picture"]["places"], strict=True)} for own in (one, other)
    ]
    assert places[0] == places[1]


@given(st.text(), st.text())
def test_no_text_leaves_its_block(one: str, other: str) -> None:
    written = as_json({one: [other, "</script>", 2**60, math.inf]})
    assert "<" not in written and written.isascii()
    assert json.loads(written) == {one: [other, "</script>", str(2**60), None]}


def test_a_skewed_column_is_drawn_where_its_rows_are() -> None:
    rng = np.random.default_rng(2)
    far, flat = rng.lognormal(0, 3, 1000), rng.uniform(0, 1, 1000)
    net = sp.fit(data := sp.Dataset.from_frame({"far": far, "flat": flat}), {}, score="pcart")
    skewed, even = collect(net, data)["columns"]
    low, high = skewed["view"]
    assert skewed["bins"] == [low, high] and low == far.min() and high < far.max() / 3
    assert skewed["beyond"] == (far > high).sum() <= 20 and sum(skewed["histogram"]) + skewed["beyond"] == 1000
    assert "view" not in even and even["beyond"] == 0


def test_rows_of_one_value_are_counted() -> None:
    values = np.where(np.arange(200) < 190, 0.5, np.arange(200) / 7)
    net = sp.fit(data := sp.Dataset.from_frame({"x": values}), {}, score="pcart")
    assert collect(net, data)["columns"][0]["same"] == 190


def test_what_cannot_be_written_is_refused(learned: sp.Result, tmp_path: Path) -> None:
    with pytest.raises(ChoiceError, match=r"written as \.html"):
        learned.report(tmp_path / "a.pdf")
    with pytest.raises(ChoiceError, match="'nobody' is not a variable"):
        learned.report(tmp_path / "a.html", target="nobody")
    assert not list(tmp_path.iterdir())


def spinney(*arguments: object) -> subprocess.CompletedProcess[str]:
    start = "import sys; from spinney_start import main; sys.exit(main())"
    command = [sys.executable, "-c", start, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, encoding="utf-8")


def test_the_commands(tmp_path: Path) -> None:
    net, page_file, again = tmp_path / "net.json", tmp_path / "a.html", tmp_path / "b.html"
    done = spinney("learn", CLINIC, "-o", net, "--report", page_file, "--show", "heart")
    assert done.returncode == 0 and "P(heart | pressure, smoker)" in done.stdout, done.stderr
    facts = facts_of(page_file)
    assert facts["target"] == 5 and facts["again"]["command"].startswith("spinney learn ")
    done = spinney("report", net, CLINIC, "-o", again, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["bytes"] == again.stat().st_size
    assert {(e["from"], e["to"]): e["strength"] for e in told["edges"]} == pytest.approx(
        sp.Network.load(net).edge_strengths(sp.Dataset.read(CLINIC))
    )
    done = spinney("learn", CLINIC, "--show", "nobody")
    assert done.returncode == 2 and "'nobody'" in done.stderr and done.stderr.count("\n") == 1
    done = spinney("learn", CLINIC, "--report", tmp_path / "a.pdf")
    assert done.returncode == 2 and ".html" in done.stderr


# --- pictures ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.floats(0.5, 4.0), st.integers(0, 10**6))
def test_boxes_do_not_overlap_and_edges_end_at_their_boxes(n: int, degree: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"{'long ' * int(rng.integers(0, 9))}{i}" for i in range(n)]
    chance = min(1.0, degree / max(n - 1, 1))
    dag = sp.DAG(names, {names[i]: [names[j] for j in range(i) if rng.random() < chance] for i in range(n)})
    drawing = draw(dag)
    w, h = drawing.box
    assert set(drawing.places) == set(names) and set(drawing.routes) == set(dag.edges)
    places = list(drawing.places.values())
    for i, (x, y) in enumerate(places):
        assert w / 2 <= x <= drawing.width - w / 2 + 1e-6 and h / 2 <= y <= drawing.height - h / 2 + 1e-6
        for u, v in places[:i]:
            assert abs(x - u) >= w - 1e-6 or abs(y - v) >= h - 1e-6
    for (a, b), points in drawing.routes.items():
        for name, point in ((a, points[0]), (b, points[-1])):
            x, y = drawing.places[name]
            assert abs(point[0] - x) <= w / 2 + 1e-6 and abs(point[1] - y) <= h / 2 + 1e-6
        assert _runs(drawing, points)


def _runs(drawing: Drawing, points: tuple[tuple[float, float], ...]) -> bool:
    """All points lie one behind the other in the direction of the picture."""
    along = [y if drawing.down else x for x, y in points]
    return all(a < b for a, b in itertools.pairwise(along))


@given(n=st.integers(4, 40), degree=st.floats(0.5, 4.0), seed=st.integers(0, 1000))
def test_what_edges_pass_on_their_way_leaves_room_for_boxes(n: int, degree: float, seed: int) -> None:
    """Between its ends an edge keeps clear of every box, at the points and on the curves between them."""
    drawing = draw(sp.simulate.random_network(n, min(degree, n - 1), seed=seed).dag)
    w, h = drawing.box
    for points in drawing.routes.values():
        start = points[0]
        for bend in smooth(points, drawing.down):
            ways = [_on_curve((start, *bend), t) for t in np.linspace(0, 1, 21)]
            start = bend[-1]
            for x, y in ways:
                inside = [1 for u, v in drawing.places.values() if abs(x - u) < w / 2 - 2 and abs(y - v) < h / 2 - 2]
                assert not inside
            sideways = [way[0] if drawing.down else way[1] for way in ways]
            assert sideways in (sorted(sideways), sorted(sideways, reverse=True))  # never out and back


def _on_curve(points: tuple[Any, ...], t: float) -> tuple[float, float]:
    powers = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
    x, y = (round(sum(p * point[i] for p, point in zip(powers, points, strict=True)), 6) for i in (0, 1))
    return x, y


def test_long_edges_do_not_make_a_picture_wide() -> None:
    """A chain, and edges from its first to its last columns: all stay near the chain."""
    names = [f"c{i}" for i in range(12)]
    parents = {
        name: list(dict.fromkeys([*names[max(i - 1, 0) : i], *names[: min(i, 2)]])) for i, name in enumerate(names)
    }
    drawing = draw(sp.DAG(tuple(names), {name: tuple(own) for name, own in parents.items()}))
    assert drawing.width < 700 * 12 / 4 and drawing.width / drawing.height < 3 and drawing.height / drawing.width < 3


def test_a_shared_box_of_a_tree_is_below_all_that_lead_to_it() -> None:
    boxes = (("q", False), ("r", False), ("a", True), ("b", True))
    places = tree_places(Diagram(boxes, ((0, 1, "yes"), (0, 3, "no"), (1, 2, "yes"), (1, 3, "no"))))
    assert [depth for _, depth in places] == [0, 1, 2, 2]
    assert places[2][0] < places[3][0]


def test_notebooks_get_pictures_of_escaped_text(clinic: sp.Dataset, learned: sp.Result) -> None:
    data = sp.Dataset.from_frame({"<b>&": ["<i>", "x"] * 50, "y": [i * 1.5 for i in range(100)], "z": ["u", "v"] * 50})
    net = sp.fit(data, {"y": ["<b>&"], "z": ["<b>&"]}, score="pcart")
    shown = [
        net._repr_html_(),
        net.models["y"]._repr_html_(),
        data._repr_html_(),
        learned._repr_html_(),
        learned.found._repr_html_(),
        clinic._repr_html_(),
    ]
    for text in shown:
        assert "<i>" not in text and "<b>" not in text and "<script" not in text
        drawn = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        assert drawn
        for own in drawn:
            ElementTree.fromstring(own)
    assert "&lt;b&gt;" in shown[0] and shown[0].count("stroke-dasharray") == 2 and len(shown[0]) < 20_000


def test_a_picture_that_is_too_large_is_left_out() -> None:
    names = [f"v{i}" for i in range(61)]
    assert graph_svg(sp.DAG(names, {})) == ""
    assert graph_svg(sp.DAG(names[:60], {})) != ""
    many = Diagram(tuple((str(i), True) for i in range(17)), ())
    assert tree_svg(many) == ""


@pytest.mark.parametrize("score", ["pcart", "pcart(leaf=linear)", "cg", "cgd", "lr(degree=2)", "dg", "mvp", "mars"])
def test_papers_get_figures_with_labelled_axes(score: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    data = mixed()
    net = sp.fit(data, {"X2": ["X1"], "X3": ["X1", "X2"], "X5": ["X3", "X4"]}, score=score)
    figure = net.plot()
    figure.savefig(tmp_path / "net.svg")
    assert {text.get_text() for text in figure.axes[0].texts} == set(net.names)
    for name, model in net.models.items():
        figure = model.plot()
        figure.savefig(tmp_path / "model.pdf")
        if model.diagram() is None and model.parents:
            assert all(axes.get_ylabel() for axes in figure.axes), name
    assert (tmp_path / "model.pdf").read_bytes().startswith(b"%PDF")
