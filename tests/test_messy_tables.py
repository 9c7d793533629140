"""Every messy file gets in: a network, or one sentence where nothing can be learned.

In:  messy_tables.py.
Out: files that say the same in another way give the same network; columns that say nothing are left out; whatever was
decided is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import messy_tables
import spinney as sp

TABLES = messy_tables.messy()


def learned(name: str, folder: Path) -> tuple[sp.Dataset, sp.Result]:
    file = folder / f"{name}.csv"
    file.write_bytes(TABLES[name].content)
    data = sp.Dataset.read(file)
    return data, sp.learn(data)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> sp.Result:
    return learned("plain", tmp_path_factory.mktemp("plain"))[1]


def test_the_plain_file_has_dependences_that_can_be_lost(plain: sp.Result) -> None:
    assert len(plain.network.edges) >= 4


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if table.same])
def test_the_same_table_written_otherwise_gives_the_same_network(name: str, tmp_path: Path, plain: sp.Result) -> None:
    data, result = learned(name, tmp_path)
    assert set(data.names) == set(messy_tables.NAMES), (data.names, data.notes)
    assert {n: k.word for n, k in data.kinds.items()} == {n: k.word for n, k in plain.network.kinds.items()}
    assert sorted(result.network.edges) == sorted(plain.network.edges)
    assert result.network.score == pytest.approx(plain.network.score, rel=1e-9)
    for column in TABLES[name].left_out:
        assert any(repr(column) in note for note in data.notes), f"{column!r} is left out and nobody said so"


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if not table.same and table.learns])
def test_other_messy_tables_give_a_network(name: str, tmp_path: Path) -> None:
    data, result = learned(name, tmp_path)
    assert len(data) > 0 and result.network.names
    assert not set(TABLES[name].left_out) & set(data.names)
    for column in TABLES[name].continuous:
        assert data.kinds[column].word == "continuous", (data.reasons[column], data.notes)


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if not table.learns])
def test_where_nothing_can_be_learned_one_sentence_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(sp.SpinneyError) as refused:
        learned(name, tmp_path)
    sentence = str(refused.value)
    assert "\n" not in sentence and 20 < len(sentence) <= 500
