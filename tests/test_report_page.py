"""The page of a report, in a real browser: it computes as Python does, answers rightly, and shows what it should."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from report_pages import Opened, axe_core, started
from spinney.catalog import SCORES
from spinney.fitted import _MODELS
from spinney.fitted.model import Columns
from spinney.fitted.table import Table
from spinney.report.facts import collect, nodes_of
from spinney.report.page import as_json, page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started() as found:
        yield found


def mixed_rows(n: int = 1000, seed: int = 5) -> sp.Dataset:
    """Columns of all kinds that depend on each other; a cell of parents that never occurs."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, n), rng.integers(0, 2, n)
    b[a == 2] = 0
    x = rng.normal(100, 15, n) + 9 * a
    y = 3 + 0.05 * x - 2.0 * b + rng.normal(0, 1, n)
    z = y**2 / 10 + 0.3 * (x - 100) + rng.standard_t(4, n)
    o = np.clip(np.round(2 + (y - 7) / 1.5 + rng.normal(0, 1, n)), 0, 4).astype(int)
    c = np.where(rng.random(n) < 1 / (1 + np.exp(-(z - 5) / 3 - a)), "ill", "well")
    return sp.Dataset.from_frame(
        {
            "a": [f"a{code}" for code in a],
            "b": [f"b{code}" for code in b],
            "x": x,
            "y": y,
            "z": z,
            "o": [f"step {code}" for code in o],
            "c": c,
        },
        kinds={"o": sp.Ordinal([f"step {code}" for code in range(5)])},
    )


GRAPH = {"x": ["a"], "y": ["x", "b"], "z": ["x", "y", "b"], "o": ["y", "a"], "c": ["z", "a", "x"], "b": ["a"]}
TABLES = {"c": ["o", "a", "b"], "o": ["a", "b"], "b": ["a"]}
# Beside the defaults of every row of the catalog: options that change the model.
MORE = ["pcart(leaf=linear)", "mvp(degree=3)", "lr(degree=2)", "bf(degree=3)", "mars(degree=1)", "bdeu(ess=2)"]
LOGS = """(text) => {
  const [facts, rows] = JSON.parse(text);
  const logs = new Net(facts).models.map((model) => rows.map((row) => String(model.logProb(row))));
  return JSON.stringify(logs);
}"""


def _ours(code: object) -> bool:
    """Whether it comes with the package; other tests register rows and models of their own."""
    return str(getattr(code, "__module__", code)).startswith("spinney.")


def _fitted(data: sp.Dataset, score: str, graph: dict[str, list[str]] = GRAPH) -> sp.Network:
    """The graph as far as the score admits it."""
    admitted = SCORES[score.split("(")[0]].parents
    word = {name: kind.word for name, kind in data.kinds.items()}
    names = [name for name in data.names if word[name] in admitted]
    own = {
        child: [p for p in parents if word[p] in admitted[word[child]]]
        for child, parents in graph.items()
        if child in names
    }
    return sp.fit(data.select(names), own, score=score)


@pytest.fixture(scope="module")
def any_page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    path = tmp_path_factory.mktemp("report") / "net.html"
    _fitted(mixed_rows(), "bic").report(path)
    opened = Opened(browser, path)
    yield opened
    opened.close()


def test_log_prob_is_that_of_python_for_every_type_of_model(any_page: Opened) -> None:
    """Of every score of the catalog: a new score is tested, and a new type of model missed, without a word here."""
    data, seen = mixed_rows(500), set()
    # bde asks for a network of its own, and its models are those of bdeu
    rows_of_catalog = [name for name, row in SCORES.items() if _ours(row.source) and name != "bde"]
    for score in [*rows_of_catalog, *MORE]:
        for graph in (GRAPH, TABLES):
            net = _fitted(data, score, graph)
            seen |= {model.word for model in net.models.values()}
            _compare(any_page, net, data, score)
    ours = {word for word, model in _MODELS.items() if _ours(model)}
    assert seen == ours
    assert ours <= set(any_page.run("[...MODELS.keys()]"))


def _compare(opened: Opened, net: sp.Network, data: sp.Dataset, score: str) -> None:
    rows = _rows_near(net, data)
    kinds = [{"name": name, "levels": getattr(kind, "levels", None)} for name, kind in net.kinds.items()]
    own = json.loads(as_json({"columns": kinds, "nodes": nodes_of(net)}))  # what a page would read
    asked = [[float(rows[name][i]) for name in net.names] for i in range(rows.n_rows)]
    found = json.loads(opened.run(LOGS, json.dumps([own, asked])))  # as a text: the driver is slow with long lists
    for name, logs in zip(net.names, found, strict=True):
        expected = net.models[name].log_prob(rows)
        values = np.array(logs, dtype=float)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9, err_msg=f"{score}: {name}")


def _rows_near(net: sp.Network, data: sp.Dataset) -> Columns:
    """The rows of the data, and as many with every column shuffled and some values far out: rare cells come up."""
    rng = np.random.default_rng(1)
    columns = {}
    for name in net.names:
        own = data.codes(name) if data.kinds[name].discrete else data.values(name)
        other = rng.permutation(own)
        if not data.kinds[name].discrete:
            other = other + rng.choice([0, 0, 0, 50, -1e6, 1e9], len(other))
        columns[name] = np.concatenate([own, other])
    return Columns(2 * data.n_rows, columns)


# --- what the page shows ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    path = tmp_path_factory.mktemp("clinic") / "clinic.html"
    data = sp.Dataset.read(Path(__file__).parent.parent / "examples" / "clinic.csv")
    sp.learn(data).report(path, target="heart")
    assert path.stat().st_size < 1e6
    opened = Opened(browser, path)
    assert opened.seconds < 2
    yield opened
    opened.close()


def test_clicking_a_node_shows_its_links_and_its_table(clinic: Opened) -> None:
    page = clinic.page
    assert "Proven best" in page.inner_text(".seal")
    page.click("[data-node='5']")  # heart
    panel = page.inner_text(".panel")
    assert panel.startswith("heart") and all(word in panel for word in ("pressure", "smoker", "ecg", "pain"))
    assert page.inner_text("#node h2") == "heart in detail"
    cells = page.locator("#node .heat-table tbody tr").first.inner_text().split()
    assert cells[:4] == ["normal", "no", "95", "%"]
    page.click(".panel >> text=See its model")


def test_search_finds_a_column_and_the_keyboard_walks_the_graph(clinic: Opened) -> None:
    page = clinic.page
    page.fill("#find-node", "weig")
    assert page.inner_text(".finder + span") == "1 match"
    page.press("#find-node", "Enter")
    assert page.inner_text(".panel h3") == "weight"
    page.focus(".graph")
    page.keyboard.press("ArrowUp")
    assert page.inner_text(".panel h3") == "exercise"
    page.keyboard.press("Escape")
    assert "Choose a column" in page.inner_text(".panel")


def test_all_of_the_page_is_in_reach_of_the_keyboard(clinic: Opened) -> None:
    """What has the focus is outlined and in view; answers do not take it away; what is found is walked with arrows."""
    page = clinic.page
    page.evaluate("page.choose(null, false); page.ask.reset(); scrollTo(0, 0); document.activeElement.blur()")
    clinic.answered()
    page.locator("body").evaluate("(body) => { body.tabIndex = -1; body.focus(); body.removeAttribute('tabindex'); }")
    reached = []
    while len(reached) < 400:
        page.keyboard.press("Tab")
        own = clinic.run(FOCUSED)
        if own is None:
            break
        reached.append(own)
    assert [own for own in reached if not own["outlined"] or not own["seen"]] == []
    names = [own["name"] for own in reached]
    order = ["Skip to the report", "Headline", "find-node", "Graph of", "node-select", "ask-find", "Copy"]
    places = [next(i for i, name in enumerate(names) if name.startswith(word)) for word in order]
    assert places == sorted(places)

    page.fill("#find-node", "e")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = clinic.run("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert page.inner_text(".panel h3") == second
    page.focus(".graph")
    page.keyboard.press("Enter")
    assert clinic.run("document.activeElement.id") == "node-title"
    page.focus(".panel >> text=Ask about it")
    page.keyboard.press("Enter")
    assert clinic.run("document.activeElement.id") == "ask-title"
    level = page.locator(".ask-card[data-column='5'] button.level >> nth=1")
    level.focus()
    page.keyboard.press("Enter")
    clinic.answered()
    assert level.evaluate("(button) => button === document.activeElement")
    assert level.get_attribute("aria-pressed") == "true"
    page.focus(".chips [aria-label='Forget heart']")
    page.keyboard.press("Enter")
    clinic.answered()
    assert clinic.run("document.activeElement.id") == "ask-title"
    page.locator(".help >> nth=0").focus()
    page.keyboard.press("Enter")
    assert page.locator(".help-text:visible").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".help-text:visible").count() == 0


FOCUSED = """() => {
  const own = document.activeElement;
  if (own === document.body) return null;
  const style = getComputedStyle(own), box = own.getBoundingClientRect(), above = own.closest(".bar, .skip");
  const bar = above ? 0 : document.querySelector(".bar").getBoundingClientRect().bottom;
  const label = own.getAttribute("aria-label") || own.id || own.textContent;
  return { name: label, outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    seen: box.bottom > bar && box.top < innerHeight && box.width > 0 };
}"""


def test_colours_are_not_all_that_tells_things_apart(any_page: Opened) -> None:
    """Kinds differ in the shape of their boxes and signs, directions in dashes and heads, strengths in width; and, to
    eyes without red or green, colours that mean something stand out from the paper and rise in darkness."""
    styles = any_page.run(STYLES)
    kinds, edges = styles["kinds"], styles["edges"]
    assert len(kinds) > 1 and len({shape for shape, _ in kinds}) == len({sign for _, sign in kinds}) == len(kinds)
    assert edges["compelled"][0] == "none" != edges["reversible"][0]
    assert edges["compelled"][1] != edges["reversible"][1]
    for theme in ("light", "dark"):
        colours = any_page.run(COLOURS, theme)
        for matrix in SEEN.values():
            seen = {name: _seen(colour, matrix) for name, colour in colours.items()}
            paper = seen.pop("paper")
            contrasts = {name: _contrast(light, paper) for name, light in seen.items()}
            assert min(contrasts.values()) > 2.7, contrasts  # 3 asks the guideline, for eyes that see all colours
            steps = [contrasts[f"s{i}"] for i in range(1, 5)]
            assert all(b > 1.2 * a for a, b in itertools.pairwise(steps))
            if matrix is SEEN["all"]:
                assert min(contrasts.values()) >= 3


# What linear light becomes in eyes without one kind of cones (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all": np.eye(3),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
COLOURS = """(theme) => {
  document.documentElement.dataset.theme = theme;
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "kind-categorical", "kind-ordinal", "kind-continuous", "s0", "s1", "s2", "s3", "s4",
    "s-unknown", "near", "bar", "mark"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}"""
STYLES = """() => {
  const kinds = new Map(page.net.columns.map((column, i) => [column.kind, i]));
  const of = (cls) => {
    const edge = document.querySelector(`.edge.${cls}`) || page.picture.edges[0];
    edge.classList.remove("compelled", "reversible");
    edge.classList.add(cls);
    const part = (name) => getComputedStyle(edge.querySelector(name));
    return [part(".line").strokeDasharray, part(".head").fill];
  };
  return { kinds: [...kinds.values()].map((i) => [page.picture.nodes[i].querySelector("rect").getAttribute("rx"),
    page.picture.nodes[i].querySelector(".glyph").getAttribute("d")]),
    edges: { compelled: of("compelled"), reversible: of("reversible") } };
}"""


def _seen(colour: str, matrix: np.ndarray) -> float:
    """How bright it is."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(np.array([0.2126, 0.7152, 0.0722]) @ np.clip(matrix @ linear, 0, 1))


def _contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def test_a_row_can_be_typed_in(clinic: Opened) -> None:
    clinic.run("page.choose(5, true)")
    clinic.page.select_option("#try-4", label="raised")
    clinic.page.select_option("#try-1", label="yes")
    words = clinic.page.inner_text("#node .card:has(.fields)")
    assert "63 %" in words and "37 %" in words


def test_a_tree_is_drawn_with_a_plot_in_every_leaf(browser: Any, tmp_path: Path) -> None:
    net = _fitted(mixed_rows(), "pcart")
    net.report(tmp_path / "tree.html", data=mixed_rows(), target="z")
    opened = Opened(browser, tmp_path / "tree.html")
    leaves = len(net.models["z"].sums)
    assert leaves > 3
    assert opened.page.locator("#node .tree .leaf svg").count() == leaves
    assert opened.page.locator("#node .tree .question").count() == leaves - 1
    opened.run("page.choose(page.find('o')[0], true)")
    assert opened.page.locator("#node .tree .leaf .bars").count() == len(net.models["o"].sums)
    assert opened.seconds < 2
    opened.close()


def test_a_spline_is_drawn_with_the_data_behind_and_can_be_asked(browser: Any, tmp_path: Path) -> None:
    """c follows from a product of x and z: a chart of x for each of three values of z."""
    data = mixed_rows()
    net = _fitted(data, "mars")
    shared = [{net.models["c"].columns[factor.column][0] for factor in term} for term in net.models["c"].terms]
    parents = net.parents["c"]
    assert {parents.index("x"), parents.index("z")} in shared
    net.report(tmp_path / "mars.html", data=data, target="c")
    opened = Opened(browser, tmp_path / "mars.html")
    opened.answered()
    captions = opened.page.locator("#node .charts figcaption").all_inner_texts()
    assert sum(words.startswith("c when x changes, where ") for words in captions) == 3
    opened.run("page.choose(page.find('z')[0], true)")
    assert opened.page.locator("#node .charts .behind").count() > 50
    assert "h(" in opened.page.inner_text("#node pre.equations")
    opened.page.click(".ask-card[data-column='6'] .level >> nth=0")
    opened.answered()
    assert "Drawn from" in opened.page.inner_text(".status")
    opened.close()


def test_numbers_have_the_digits_that_their_error_leaves(any_page: Opened) -> None:
    column = {"range": [20, 72], "whole": True}
    told = [(39.5312, 0.3, 1), (39.5312, 0.0123, 1), (1913.7, 12.0, 1), (28.8173, 4.437, 2), (12345.6, 943.2, 2)]
    found = any_page.run("([told, column]) => told.map(([v, s, d]) => withSpread(v, s, column, d))", [told, column])
    assert found == ["39.5 ± 0.3", "39.53 ± 0.01", "1914 ± 12", "28.8 ± 4.4", "12,346 ± 943"]
    assert any_page.run("(column) => rough(20.0713, column)", column) == "20.1"


def test_of_a_large_tree_the_top_is_drawn_and_all_of_it_is_told(browser: Any, tmp_path: Path) -> None:
    data = mixed_rows(3000)
    for score, large in (("ft", True), ("graph", False)):
        net = sp.fit(data.select(["x", "y", "z", "a"]), {"z": ["x", "y", "a"]}, score=score)
        leaves = len(net.models["z"].sums)
        assert (leaves > 20) == large
        net.report(tmp_path / "tree.html", data=data, target="z")
        opened = Opened(browser, tmp_path / "tree.html")
        drawn = opened.page.locator("#node .tree .leaf").count()
        assert 2 <= drawn <= 20 if large else drawn == leaves
        assert opened.page.locator("#node .outline-leaf").count() == leaves
        opened.close()


# --- what the page answers --------------------------------------------------------------------------------------------


def _enumerated(net: sp.Network, evidence: dict[str, float], by_hand: dict[str, float]) -> dict[str, np.ndarray]:
    """The posterior of every discrete column, by adding up all joint levels. REQUIRES: continuous columns are known, or
    have no children."""
    discrete = [name for name in net.names if net.kinds[name].discrete]
    sizes = [len(net.levels(name)) for name in discrete]
    joint = np.array(list(itertools.product(*map(range, sizes))))
    columns = Columns(len(joint), {name: joint[:, i] for i, name in enumerate(discrete)})
    given = {**evidence, **by_hand}
    for name in set(net.names) - set(discrete):
        columns.put(name, np.full(len(joint), given.get(name, math.nan)))
    weights = np.zeros(len(joint))
    for name, model in net.models.items():
        if name not in by_hand and (name in discrete or name in evidence):
            weights += model.log_prob(columns)
    for name, value in given.items():
        if name in discrete:
            weights[columns[name] != value] = -np.inf
    shares = np.exp(weights - weights.max())
    return {
        name: np.bincount(joint[:, i], shares, minlength=sizes[i]) / shares.sum() for i, name in enumerate(discrete)
    }


def test_the_shown_error_is_that_of_sampling(any_page: Opened) -> None:
    """Of 20 samples with 20 seeds: differences from the exact answer, in units of the standard error."""
    net = sp.simulate.random_network(6, 2.0, seed=4, levels=(2, 3))
    facts = json.loads(as_json(collect(net)))
    exact = _enumerated(net, {net.names[2]: 0}, {net.names[1]: 1})
    own = {"columns": facts["columns"], "nodes": facts["nodes"]}
    found = any_page.run(SAMPLES, [own, [[2, 0]], [[1, 1]]])
    away = [
        (share - exact[net.names[i]][level]) / (error / 3.29)
        for sample in found
        for i, (shares, errors) in enumerate(sample)
        for level, (share, error) in enumerate(zip(shares, errors, strict=True))
        if i not in (1, 2)
    ]
    assert abs(np.mean(away)) < 0.3 and 0.6 < np.mean(np.square(away)) < 1.5 and np.max(np.abs(away)) < 3.29


def test_medians_are_right_where_a_few_rows_are_far_out(any_page: Opened) -> None:
    """One leaf, so the middle of its distribution is the median."""
    rng = np.random.default_rng(6)
    data = sp.Dataset.from_frame({"even": rng.normal(50, 9, 400), "far": np.r_[rng.normal(3, 1, 397), [900] * 3]})
    net = sp.fit(data, {}, score="pcart")
    facts = json.loads(as_json(collect(net, data)))
    assert "view" in facts["columns"][1]
    found = np.array(any_page.run(MEDIANS, {"columns": facts["columns"], "nodes": facts["nodes"]}))
    assert found.shape == (40, 2, 2)
    truth = np.array([node["student"][0][0] for node in facts["nodes"]])
    away = np.abs(found[:, :, 0] - truth) / found[:, :, 1]
    assert (away > 1).sum() <= 1 and np.mean((3.29 * away) ** 2) > 0.2


MEDIANS = """(facts) => [...Array(40).keys()].map((seed) => {
  const sampler = new Sampler(new Net(facts), new Map(), new Map(), seed);
  sampler.draw(2000);
  return sampler.results().map((own) => [own.median, own.error]);
})"""
SAMPLES = """([facts, evidence, hand]) => [...Array(20).keys()].map((seed) => {
  const sampler = new Sampler(new Net(facts), new Map(evidence), new Map(hand), seed);
  sampler.draw(5000);
  return sampler.results().map((own) => [Array.from(own.shares), Array.from(own.errors)]);
})"""
ASK = """([evidence, hand, sample]) => {
  const ask = page.ask;
  page.sampleOnly = sample;
  ask.evidence.clear();
  ask.set.clear();
  delete ask.status.dataset.done;
  for (const [i, value] of evidence) ask.evidence.set(i, value);
  for (const [i, value] of hand) ask.set.set(i, value);
  ask.chipsNow();
  ask.question();
}"""
SHOWN = """() => page.ask.cards.filter((card) => card.rows).map((card) => [card.i, [...card.rows].map(([level, row]) =>
  [level, Number(row.value.dataset.share), Number(row.value.dataset.error)])])"""


def _ask(opened: Opened, net: sp.Network, evidence: dict[str, float], by_hand: dict[str, float], sample: bool) -> float:
    """Compare what the cards show with the enumeration; the largest error that was shown."""
    number = {name: i for i, name in enumerate(net.names)}
    pairs = [[[number[name], value] for name, value in given.items()] for given in (evidence, by_hand)]
    opened.run(ASK, [*pairs, sample])
    opened.answered()
    expected, largest = _enumerated(net, evidence, by_hand), 0.0
    for node, levels in opened.run(SHOWN):
        for level, share, error in levels:
            assert abs(share - expected[net.names[node]][level]) <= error + 1e-9, (net.names[node], level, evidence)
            largest = max(largest, error)
    return largest


def test_exact_answers_are_those_of_enumeration(browser: Any, tmp_path: Path) -> None:
    net = sp.simulate.random_network(8, 2.5, seed=4, levels=(2, 4))
    net.report(tmp_path / "net.html")
    opened = Opened(browser, tmp_path / "net.html")
    opened.answered()
    cases = [({}, {}), ({"X3": 1}, {}), ({"X1": 0, "X8": 1}, {}), ({"X5": 0}, {"X2": 1}), ({}, {"X4": 0, "X6": 1})]
    for evidence, by_hand in cases:
        assert _ask(opened, net, evidence, by_hand, sample=False) == 0
        assert "Exact" in opened.page.inner_text(".status")
    before = opened.page.inner_text(".status")
    evidence, by_hand = cases[3]
    error = _ask(opened, net, evidence, by_hand, sample=True)
    assert 0 < error < 0.05 and "Drawn from" in opened.page.inner_text(".status") != before
    opened.close()


def test_sampled_answers_lie_within_the_shown_error(browser: Any, tmp_path: Path) -> None:
    data = mixed_rows()
    graph = {"b": ["a"], "o": ["a", "b"], "c": ["o", "b"], "x": ["o", "a"], "y": ["b", "c"], "z": ["c"]}
    net = sp.fit(data, graph, score="pcart")
    net.report(tmp_path / "net.html", data=data)
    opened = Opened(browser, tmp_path / "net.html")
    opened.answered()
    cases = [
        ({}, {}),
        ({"x": 120.0}, {}),
        ({"y": 5.0, "z": 12.0}, {}),
        ({"x": 90.0}, {"o": 4}),
        ({"c": 1, "z": 3.0}, {}),
    ]
    for evidence, by_hand in cases:
        assert 0 < _ask(opened, net, evidence, by_hand, sample=False) < 0.06
    median = float(opened.page.get_attribute("[data-column='2'] .small", "data-median"))
    assert abs(median - np.median(data.values("x"))) < 5
    opened.close()


def test_a_click_on_a_level_is_evidence_and_set_by_hand_is_something_else(clinic: Opened) -> None:
    page = clinic.page
    value = ".ask-card[data-column='4'] .level:nth-child(1) .bar-value"  # pressure normal
    clinic.answered()
    before = page.inner_text(value)
    page.click(".ask-card[data-column='5'] li:nth-child(2) button.level")  # heart ill
    clinic.answered()
    known = page.inner_text(value)
    assert page.inner_text(".chips").startswith("heart is ill") and known != before
    page.click(".chips >> text=set by hand instead")
    clinic.answered()
    assert page.inner_text(".chips").startswith("heart set to ill") and page.inner_text(value) == before
    page.click("text=Forget all")
    clinic.answered()


def test_what_cannot_happen_is_said(browser: Any, tmp_path: Path) -> None:
    levels = ("no", "yes")
    net = sp.Network(
        {"a": sp.Categorical(levels), "b": sp.Categorical(levels)},
        {"a": Table.full("a", (), levels, (), np.array([[0.5, 0.5]])), "b": _copy(levels)},
    )
    net.report(tmp_path / "net.html")
    opened = Opened(browser, tmp_path / "net.html")
    for sample in (False, True):
        opened.run(ASK, [[[0, 0], [1, 1]], [], sample])
        opened.answered()
        assert "cannot happen" in opened.page.inner_text(".status") or "impossible" in opened.page.inner_text(".status")
    opened.close()


def _copy(levels: tuple[str, ...]) -> Table:
    return Table.full("b", ("a",), levels, (levels,), np.eye(2))


# --- large and hostile ------------------------------------------------------------------------------------------------


def _large(net: sp.Network, browser: Any, path: Path) -> None:
    net.report(path)
    opened = Opened(browser, path)
    assert opened.seconds < 5
    assert opened.page.locator(".graph .node").count() == len(net.names)
    last = net.names[-1]
    opened.page.fill("#find-node", last)
    opened.page.press("#find-node", "Enter")
    assert opened.page.inner_text(".panel h3") == last
    opened.page.wait_for_selector(".ask-card .bar-value", state="attached")
    assert opened.page.locator(".ask-card").count() == 24
    opened.close()


def test_a_thousand_nodes_are_drawn(browser: Any, tmp_path: Path) -> None:
    _large(sp.simulate.random_network(1000, 2.5, seed=2), browser, tmp_path / "large.html")


def test_munin_is_drawn(browser: Any, tmp_path: Path, shared: Path) -> None:
    _large(sp.Network.read(shared / "data" / "networks" / "munin.bif.gz"), browser, tmp_path / "munin.html")


def test_hostile_names_are_shown_and_not_run(browser: Any, tmp_path: Path) -> None:
    bad = "</script><img src=x onerror=\"document.title='run'\">"
    rows = 20_000
    rng = np.random.default_rng(0)
    many = rng.integers(0, 10_000, rows)
    frame = {
        bad: [f"<b>{bad}" if x else "javascript:alert(1)" for x in rng.integers(0, 2, rows)],
        "__proto__": rng.choice(["constructor", "toString", "\u2028", "]]>"], rows),
        "many": [f"level {code} <i>" for code in many],
        "&lt;": rng.normal(size=rows) + (many > 5000),
        "\U0001f600 ünï\u202e": rng.choice(["a", "b"], rows),
    }
    data = sp.Dataset.from_frame(frame, kinds={"many": "categorical"}, keep_all=True)
    net = sp.fit(data, {"&lt;": [bad], bad: ["__proto__"], "many": [bad]}, score="ft")
    assert len(net.levels("many")) > 8_000
    net.report(tmp_path / "bad.html", data=data, target=bad)
    text = (tmp_path / "bad.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 3 and "<img" not in text
    opened = Opened(browser, tmp_path / "bad.html")
    opened.answered()
    assert opened.page.title() == "A network of 5 columns with 3 links"
    assert opened.page.locator("img").count() == opened.page.locator("main b b, main i").count() == 0
    assert opened.page.inner_text("#node h2").startswith("</script><img src=x onerror=")
    for i in range(5):
        opened.run("(i) => { page.choose(i, true); page.ask.about(i); }", i)
    opened.page.fill("#level-2", "level 77 <i>")
    opened.page.press("#level-2", "Tab")
    opened.answered()
    assert "level 77 <i>" in opened.page.inner_text(".chips")
    opened.close()


def test_a_model_that_the_page_does_not_know_is_shown_by_its_text(browser: Any, tmp_path: Path) -> None:
    facts = collect(sp.fit(mixed_rows(100), {"c": ["a"]}, score="pcart"))
    facts["nodes"][2] |= {"model": "from-elsewhere", "text": "P(x)\n  whatever <it> is"}
    (tmp_path / "net.html").write_text(page(facts), encoding="utf-8")
    opened = Opened(browser, tmp_path / "net.html")
    opened.run("page.choose(2, true)")
    assert "whatever <it> is" in opened.page.inner_text("#node pre")
    assert "cannot compute with the models of x" in opened.page.inner_text("#ask")
    opened.run("page.choose(6, true); page.askAbout(6)")
    assert opened.page.locator("#node .card").count() >= 4
    opened.close()


def test_one_column_without_links(browser: Any, tmp_path: Path) -> None:
    for data in (sp.Dataset.from_frame({"": ["a", "b", "a"]}), mixed_rows(50).select(["x"])):
        sp.learn(data).report(tmp_path / "net.html")
        opened = Opened(browser, tmp_path / "net.html")
        opened.answered()
        opened.page.click("[data-node='0']")
        assert "none" in opened.page.inner_text(".panel")
        opened.close()


AXE = """() => axe.run().then((result) => result.violations.map((own) =>
  [own.impact, own.id, own.nodes.map((node) => node.html.slice(0, 200))]))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("score", "target"), [("pcart", "z"), ("mars", "c"), ("ft", "o"), ("bic", "c")])
def test_axe_finds_no_fault(browser: Any, tmp_path: Path, theme: str, score: str, target: str) -> None:
    """Of any degree, with all that can be unfolded open, evidence set, and an explanation shown."""
    axe, data = axe_core(), mixed_rows()
    net = _fitted(data, score, TABLES if score == "bic" else GRAPH)
    net.report(tmp_path / "net.html", data=data.select(net.names), target=target)
    opened = Opened(browser, tmp_path / "net.html", color_scheme=theme)
    opened.answered()
    opened.run("page.choose(page.find('o')[0], false); page.choose(page.opening, false); page.ask.know(0, 1)")
    opened.answered()
    opened.run("document.querySelectorAll('details').forEach((own) => (own.open = true))")
    opened.page.locator(".help >> nth=2").click()
    opened.run(axe)
    assert opened.run(AXE) == []
    opened.close()
