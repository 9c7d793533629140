"""The page of a network as large as alarm, in a real browser: quick, searchable, and right about evidence.

In:  alarm itself where there is the shared folder, else a network of the same size with the same numbers of levels.
Out: answers of the page beside sums of products by numpy, which share nothing with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from report_pages import Opened, started
from spinney.fitted.model import Columns

ALARM = Path("data") / "networks" / "alarm.bif.gz"


def alarm() -> sp.Network:
    """37 columns of two to four levels."""
    folder = Path(os.environ.get("SPINNEY_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if (folder / ALARM).is_file():
        return sp.Network.read(folder / ALARM)
    drawn = sp.simulate.random_network(37, 2.4, seed=8, levels=(2, 4))
    assert isinstance(drawn, sp.Network)
    return drawn


@pytest.fixture(scope="module")
def net() -> sp.Network:
    """Learned from rows of alarm, as a user's would be."""
    data = alarm().sample(1000, seed=1)
    return sp.learn(data, score="bdeu", search="hc(restarts=1)", max_parents=3).network


@pytest.fixture(scope="module")
def opened(net: sp.Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    path = tmp_path_factory.mktemp("alarm") / "alarm.html"
    net.report(path, data=alarm().sample(1000, seed=1))
    assert path.stat().st_size < 1e6
    with started() as browser:
        page = Opened(browser, path)
        yield page
        page.close()


def posteriors(net: sp.Network, evidence: dict[str, int], by_hand: dict[str, int]) -> dict[str, np.ndarray]:
    """P(column | evidence) of every column, each by one sum of products over all tables."""
    number = {name: i for i, name in enumerate(net.names)}
    operands: list[Any] = []
    for name, table in net.tables("a test").items():
        family = [*table.parents, name]
        sizes = [len(net.levels(member)) for member in family]
        shares = np.ones(sizes) if name in by_hand else _full(net, name, sizes)
        operands += [shares, [number[member] for member in family]]
    for name, code in {**evidence, **by_hand}.items():
        operands += [np.eye(len(net.levels(name)))[code], [number[name]]]
    found = {}
    for name in net.names:
        path, _ = np.einsum_path(*operands, [number[name]], optimize="greedy")
        shares = np.einsum(*operands, [number[name]], optimize=path)
        found[name] = shares / shares.sum()
    return found


def _full(net: sp.Network, name: str, sizes: list[int]) -> np.ndarray:
    """P(name | parents), one axis per member of the family."""
    model = net.models[name]
    codes = np.indices(sizes[:-1]).reshape(len(sizes) - 1, -1) if len(sizes) > 1 else np.zeros((0, 1), dtype=int)
    columns = Columns(codes.shape[1], dict(zip(model.parents, codes, strict=True)))
    return model.conditional(columns).reshape(sizes)


def test_it_is_drawn_and_searched_and_a_click_shows_the_table(opened: Opened, net: sp.Network) -> None:
    page = opened.page
    assert opened.seconds < 2
    assert page.locator(".graph .node").count() == 37
    assert page.locator(".graph .edge").count() == len(net.edges)
    child = max(net.names, key=lambda name: len(net.parents[name]))
    page.fill("#find-node", child)
    page.press("#find-node", "Enter")
    assert page.inner_text(".panel h3") == child
    # the search has brought it to the middle, where it can be clicked
    page.click(f"[data-node='{net.names.index(child)}']")
    page.click(".panel >> text=See its model")
    heads = page.locator("#node .heat-table thead").inner_text().split()
    assert set(net.levels(child)) <= set(heads)
    configurations = int(np.prod([len(net.levels(parent)) for parent in net.parents[child]]))
    assert page.locator("#node .heat-table tbody tr").count() == min(configurations, 60)


def test_evidence_moves_all_posteriors_as_it_should(opened: Opened, net: sp.Network) -> None:
    """Ten questions, each exactly and every second by sampling as well."""
    opened.answered()
    before = posteriors(net, {}, {})
    levels = beyond = 0
    for question, (given, by_hand) in enumerate(questions(net)):
        expected = posteriors(net, given, by_hand)
        moved = max(np.abs(expected[name] - before[name]).max() for name in set(net.names) - set(given) - set(by_hand))
        assert moved > 0.02
        for sample in (False, True) if question % 2 else (False,):
            shown = ask(opened, net, given, by_hand, sample)
            assert len(shown) == 37
            pairs = [(abs(p - expected[name][level]), e) for name, own in shown.items() for level, p, e in own]
            if not sample:
                assert max(away for away, _ in pairs) < 1e-9 and not any(error for _, error in pairs)
                continue
            levels += len(pairs)
            beyond += sum(away > error + 1e-9 for away, error in pairs)
            assert max(error for _, error in pairs) < 0.02
    assert levels > 400 and beyond <= most_beyond(levels)


def questions(net: sp.Network) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Ten: what is known, and what is set by hand; four columns each."""
    rng = np.random.default_rng(3)
    rows = net.sample(10, seed=2)
    found = []
    for question in range(10):
        chosen = sorted(map(str, rng.choice(net.names, 4, replace=False)))
        given = {name: int(rows.codes(name)[question]) for name in chosen}
        found.append((given, {name: given.pop(name) for name in chosen[: question % 3]}))
    return found


def most_beyond(levels: int) -> float:
    """How many levels lie beyond an error that holds in 999 of 1,000 cases: the expected number, and 3.29 standard
    errors. Levels of one question depend on each other: their number varies twice as much as that of as many coins."""
    expected = levels / 1000
    return float(expected + 3.29 * np.sqrt(2 * expected))


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("rows", [2000, 20_000])
def test_the_shown_error_holds_as_often_as_it_says(opened: Opened, net: sp.Network, rows: int, rare: bool) -> None:
    """Ten questions, 20 samples each, and the same with answers so rare that few rows count: how many levels lie beyond
    their error. Of the usual ones the errors are no larger than they need be, either."""
    asked = _rare(net) if rare else [given for given, _ in questions(net)]
    exact = [posteriors(net, given, {}) for given in asked]
    expected = np.array([np.concatenate([own[name] for name in net.names]) for own in exact])
    free = np.array(
        [np.concatenate([[name not in own] * len(net.levels(name)) for name in net.names]) for own in asked]
    )
    evidence = [[[net.names.index(name), code] for name, code in own.items()] for own in asked]
    found = np.array(opened.run(SAMPLES, [evidence, 20, rows]))  # question, sample, share or error or effective, level
    share, error, effective = found[:, :, 0], found[:, :, 1], found[:, :, 2]
    away = np.abs(share - expected[:, None])
    counts = free[:, None] & (effective >= 200)  # below the page says that the answer is rough
    levels, beyond = counts.sum(), (counts & (away > error + 1e-9)).sum()
    assert levels > 4000 and beyond <= most_beyond(levels)
    often = counts & (np.minimum(share, 1 - share) * effective > 50)
    scaled = (away[often] / error[often] * 3.29) ** 2  # about 1 on average where the error is not too large
    assert often.sum() > 1000 and (rare or 0.6 < scaled.mean() < 1.2)


def _rare(net: sp.Network) -> list[dict[str, int]]:
    """Ten times one to three columns at their rarest level."""
    rng = np.random.default_rng(4)
    before, found = posteriors(net, {}, {}), []
    names = [name for name in net.names if net.parents[name]]
    while len(found) < 10:
        own = {str(name): int(np.argmin(before[name])) for name in rng.choice(names, 1 + len(found) % 3, replace=False)}
        if all(np.isfinite(shares).all() for shares in posteriors(net, own, {}).values()):  # else it cannot happen
            found.append(own)
    return found


SAMPLES = """([questions, samples, rows]) => questions.map((evidence) => [...Array(samples).keys()].map((seed) => {
  const sampler = new Sampler(page.net, new Map(evidence), new Map(), seed + 1);
  sampler.draw(rows);
  const own = sampler.results(), join = (part) => own.flatMap((node) => Array.from(part(node)));
  const effective = (node) => node.shares.map(() => sampler.effective);
  return [join((node) => node.shares), join((node) => node.errors), join(effective)];
}))"""
ASK = """([evidence, hand, sample]) => {
  const ask = page.ask;
  ask.shown = 100;
  ask.layout();
  page.sampleOnly = sample;
  ask.evidence.clear();
  ask.set.clear();
  delete ask.status.dataset.done;
  for (const [i, value] of evidence) ask.evidence.set(i, value);
  for (const [i, value] of hand) ask.set.set(i, value);
  ask.chipsNow();
  ask.question();
}"""
SHOWN = """() => page.ask.cards.map((card) => [card.i, [...card.rows].map(([level, row]) =>
  [level, Number(row.value.dataset.share), Number(row.value.dataset.error)])])"""


def ask(
    opened: Opened, net: sp.Network, evidence: dict[str, int], by_hand: dict[str, int], sample: bool
) -> dict[str, list[tuple[int, float, float]]]:
    """What the cards show: per column (level, share, error)."""
    pairs = [[[net.names.index(name), code] for name, code in given.items()] for given in (evidence, by_hand)]
    opened.run(ASK, [*pairs, sample])
    opened.answered()
    return {net.names[i]: levels for i, levels in opened.run(SHOWN)}
