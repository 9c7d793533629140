"""Kinds, and the kinds file that people edit.

In:  kinds of any text, and files as people write them.
Out: the same kinds back; one sentence for what is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spinney import kinds_file
from spinney.errors import DataError, FileFormatError
from spinney.kinds import Categorical, Continuous, Kind, Ordinal, as_kind, from_plain, level_text, to_plain

# Anything that can stand in a UTF-8 table: no lone surrogates. The awkward ones are named, so that they surely come up.
AWKWARD = ["yes", "no", "null", "~", "1", "1.0", "0x1F", ": ", "#", "- a", "[", "{", "'", '"', "a\nb", "\r", "\t", "\\"]
AWKWARD += ["", " ", " a ", "é", "日本", "😀", "\x00", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe", "&a"]
AWKWARD += ["*a", "!b", "%", "@", "<<", "=", "?", "| a", "> a", "2020-01-01", "True", "1_0", "1:30", ".inf", "..."]
TEXTS = st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(exclude_categories=["Cs"])))
LEVELS = st.none() | st.lists(TEXTS, min_size=1, max_size=5, unique=True)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def any_kind(draw: st.DrawFn) -> Kind:
    if draw(st.booleans()):
        levels = draw(LEVELS)
        return Categorical(levels) if draw(st.booleans()) else Ordinal(levels)
    lo, hi = sorted([draw(NUMBERS), draw(NUMBERS)])
    return Continuous(draw(st.sampled_from([None, lo])), draw(st.sampled_from([None, hi])))


KINDS = st.dictionaries(TEXTS, any_kind(), max_size=5)


@given(KINDS, TEXTS)
def test_kinds_survive_the_file(tmp_path_factory, kinds, reason):
    path = tmp_path_factory.mktemp("kinds") / "kinds.yaml"
    kinds_file.write(path, kinds, dict.fromkeys(kinds, reason))
    assert kinds_file.read(path) == kinds
    assert list(kinds_file.read(path)) == list(kinds)


@given(KINDS)
def test_any_yaml_reader_sees_the_same_names_and_levels(kinds):
    """PyYAML's own safe_load, which takes an unquoted yes for True, is the outside reader."""
    seen = yaml.safe_load(kinds_file.text(kinds, {})) or {}
    assert {name: entry.get("levels") for name, entry in seen.items()} == {
        name: to_plain(kind).get("levels") for name, kind in kinds.items()
    }


@given(TEXTS, any_kind())
def test_plain_form_goes_back(name, kind):
    assert from_plain(name, to_plain(kind)) == kind


def test_long_names_survive_the_file(tmp_path):
    kinds = {"x" * 5000: Categorical(["y" * 5000]), "é" * 1010: Continuous(0, 1)}
    kinds_file.write(tmp_path / "k.yaml", kinds, dict.fromkeys(kinds, "text"))
    assert kinds_file.read(tmp_path / "k.yaml") == kinds


def test_reason_is_a_comment_after_the_column():
    text = kinds_file.text({"grade": Ordinal(["low", "high"])}, {"grade": "ordered\ncategories"})
    assert '"grade":  # ordered categories\n  kind: ordinal\n  levels: ["low", "high"]\n' in text


def read(tmp_path, text: str | bytes):
    path = tmp_path / "kinds.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return kinds_file.read(path)


def test_hand_written_file(tmp_path):
    text = """
age: continuous
weight: {kind: continuous, lo: 0, hi: 300.5}
smoker:          # what people write without quotes stays text
  kind: categorical
  levels: [yes, no, null, 1, 1.0, on, ~]
grade:
  kind: ordinal
  levels:
    - low
    - "mid: ok"
"""
    assert read(tmp_path, text) == {
        "age": Continuous(),
        "weight": Continuous(0, 300.5),
        "smoker": Categorical(["yes", "no", "null", "1", "1.0", "on", "~"]),
        "grade": Ordinal(["low", "mid: ok"]),
    }
    assert read(tmp_path, b"\xef\xbb\xbfage: continuous\r\n") == {"age": Continuous()}
    assert read(tmp_path, "# nothing yet\n") == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "line"),
        ("a: continuous\na: ordinal\n", "line 2: 'a' is there twice"),
        ("- a\n", "not a kinds file"),
        ("a: nominal\n", "'nominal' is not a kind; write one of categorical, ordinal, continuous"),
        ("a: {levels: [x]}\n", "None is not a kind"),
        ("a: {kind: continuous, levels: [x]}\n", "a continuous column has no 'levels'; it takes lo and hi"),
        ("a: {kind: categorical, levels: x}\n", "the levels of a kind are a list, not 'x'"),
        ("a: {kind: categorical, levels: [x, x]}\n", "'x' of a categorical column is named twice"),
        ("a: {kind: categorical, levels: []}\n", "at least one level"),
        ("a: {kind: continuous, lo: low}\n", "lo='low' of a continuous column is not a number"),
        ("a: {kind: continuous, lo: 2, hi: 1}\n", "exchange the two"),
        ("a: [x, y]\n", "line 1: a list is no kind"),
        ("a:\n  kind: ordinal\n  levels: [[x]]\n", "line 3: one value is wanted"),
        ("? [a]\n: continuous\n", "a name must be text"),
        (b"a: continuous\nb: \xff\n", "line 2: the text is not UTF-8"),
    ],
)
def test_wrong_file_gets_one_sentence(tmp_path, text, says):
    with pytest.raises(FileFormatError) as caught:
        read(tmp_path, text)
    assert says in str(caught.value) and "kinds.yaml" in str(caught.value) and "\n" not in str(caught.value)


def test_absent_file_gets_one_sentence(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read"):
        kinds_file.read(tmp_path / "none.yaml")
    with pytest.raises(FileFormatError, match="cannot be written"):
        kinds_file.write(tmp_path / "no" / "k.yaml", {}, {})


def test_levels_are_text():
    assert Categorical([1, 2.5, True, "x", np.int8(3), np.float32(0.1), -0.0]).levels == (
        "1", "2.5", "True", "x", "3", "0.1", "0.0",
    )  # fmt: skip
    assert Ordinal(str(i) for i in range(2)).levels == ("0", "1")


@given(st.floats(allow_nan=False))
def test_level_of_a_float_is_its_shortest_text(value):
    assert float(level_text(value)) == value


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Categorical("abc"),
        lambda: Categorical(3),
        lambda: Categorical(["a", None]),
        lambda: Ordinal(["a", math.nan]),
        lambda: Ordinal([1, "1"]),
        lambda: Continuous("x"),
        lambda: Continuous(math.inf),
        lambda: Continuous(1, 0),
        lambda: as_kind("a", "nominal"),
        lambda: as_kind("a", Categorical),
        lambda: from_plain("a", ["x"]),
    ],
)
def test_wrong_kind_gets_one_sentence(wrong):
    with pytest.raises(DataError) as caught:
        wrong()
    assert "\n" not in str(caught.value) and ";" in str(caught.value)


def test_kinds_do_not_change_and_can_be_keys():
    assert {Categorical(["a"]): 1}[Categorical(("a",))] == 1
    assert Categorical(["a"]) != Ordinal(["a"])
    with pytest.raises(AttributeError):
        Continuous(0, 1).lo = 2  # type: ignore[misc]
