"""A law for messages: what they name exists in the place that the caller used, and none is longer than 500 characters.

In:  the messages of the source, and those that the bad inputs of test_boundary.py provoke.
Out: every --option is one of the command that was run, with a word that it takes; every name= is a parameter of the
function or the estimator that was called. Remedies that are options go through errors.way(), the source holds none."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from spinney.cli import COMMANDS, app, main
from spinney.errors import LONGEST, ChoiceError, Command, DataError, SpinneyError, named, shortened, speaking_to, way
from test_boundary import CASES, folder, made  # noqa: F401  (fixtures)

SOURCE = Path(sp.__file__).parent
OPTION = re.compile(r"(?<![\w'-])--([a-z][a-z-]+)(?: ([\w.-]+))?")
PARAMETER = re.compile(r"(?<![\w(.,'\"] )(?<![\w('\"])([a-z_]+)=(?=['\"{\d])")


def click_command(words: list[str]) -> Any:
    found: Any = typer.main.get_command(app)
    for word in words:
        found = getattr(found, "commands", {}).get(word, found)
    return found


def options_of(words: list[str]) -> dict[str, tuple[str, ...]]:
    """Each option of a command, with the words it takes where its help lists them."""
    found = {}
    for option in click_command(words).params:
        listed = tuple((option.metavar or "").split("|"))
        for flag in (*option.opts, *option.secondary_opts):
            found[flag.removeprefix("--")] = listed if len(listed) > 1 else ()
    return {**found, "help": ()}


ALL_OPTIONS = {name for command in COMMANDS for name in options_of(command.split())}

# --- the mechanism --------------------------------------------------------------------------------------------------


@given(st.text(), st.lists(st.text(max_size=40), max_size=4), st.integers(0, 3000))
def test_no_message_is_longer_and_the_end_stays(what: str, ways: list[str], times: int) -> None:
    said = str(SpinneyError(what * times, *ways))
    assert len(said) <= LONGEST and "\n" not in said
    long = shortened("x" * times + " " + "y z " * times, "write it again")
    assert len(long) <= LONGEST and long.endswith("; write it again")


def test_a_long_name_is_cut_in_its_middle() -> None:
    said = str(DataError(f"column {'a' * 5000 + 'b'!r}: 'x' is not a number", "write 1.5"))
    assert said.startswith("column 'aaa") and said.endswith("b': 'x' is not a number; write 1.5") and "..." in said


def test_a_way_is_written_as_the_caller_writes_it() -> None:
    error = DataError(
        "cells are missing", "fill them", way("choose {}", "missing", "drop"), way("pass {}", "kinds", {"a": "ordinal"})
    )
    assert str(error) == "cells are missing; fill them, choose missing='drop', or pass kinds={'a': 'ordinal'}"
    options = {"missing": ("--missing", "", ("refuse", "drop")), "kinds": ("--kinds", "", ())}
    with speaking_to(lambda: Command(options)):
        said = "cells are missing; fill them, choose --missing drop, or pass --kinds FILE with the line 'a': ordinal"
        assert str(error) == said and named("kinds") == "--kinds"
    with speaking_to(lambda: Command({"missing": ("--missing", "", ("refuse", "level"))})):
        assert str(error) == "cells are missing; fill them"
    assert named("kinds") == "kinds"


# --- the source -----------------------------------------------------------------------------------------------------


def raised_texts(path: Path) -> list[tuple[int, str]]:
    """The texts of all errors of ours that a file makes, without those inside way()."""
    found = []
    for call in ast.walk(ast.parse(path.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.endswith("Error"):
            text = " ".join(_text(argument) for argument in call.args)
            found.append((call.lineno, text))
    return found


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return ""  # way(...), named(...) and other functions speak for themselves
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.FormattedValue):
        return "@" if not isinstance(node.value, ast.Call) else ""
    return "".join(_text(child) for child in ast.iter_child_nodes(node))


LIBRARY = sorted(path for path in SOURCE.rglob("*.py") if "cli" not in path.parts)
NAMES = "|".join(sorted(name.replace("-", "_") for name in ALL_OPTIONS if len(name) > 3))
SPELLED = re.compile(
    rf"--[a-z]|(?<!\()\b(?:{NAMES})=['{{@\d]|\b(?:lower|raise|give|choose|use|pass) (?:{NAMES})=?(?![\w ])"
)


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_library_spells_no_option_out(path: Path) -> None:
    for line, text in raised_texts(path):
        assert not SPELLED.search(text), f"{path.name}:{line}: {text}: name the option by way() or named()"


def test_the_check_of_the_source_sees_what_it_should() -> None:
    for text in ("choose missing='drop'", "choose --missing drop", "lower max_parents", "use score='pcart'"):
        assert SPELLED.search(text), text
    for text in ("give candidates of it", "a score must be a number", "bdeu(ess=10)"):
        assert not SPELLED.search(text), text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_names_its_own_options(name: str) -> None:
    function = COMMANDS[name]
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    own = options_of(name.split())
    for constant in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_error(node)):
        for option, _ in OPTION.findall(" ".join(_text(argument) for argument in constant.args)):
            assert option in own, f"{name} names --{option}, which it does not have"


def _is_error(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id.endswith("Error")


# --- what bad inputs provoke ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_messages_of_a_command_name_options_that_it_has(
    case: str,
    folder: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    files, arguments, _ = CASES[case]
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    main(arguments)
    said = capsys.readouterr().err
    own = options_of(arguments)
    assert all(len(line) <= LONGEST + len("spinney: ") for line in said.splitlines())
    for option, value in OPTION.findall(said):
        if f"--{option}" in arguments and option not in own:
            continue  # a wrong word of the user's
        assert option in own or "spinney predict" in said, said
        word = value.rstrip(",;")
        if own.get(option) and word not in ("", "must", "is", "allows", *arguments):
            assert word in own[option], said


HOLES = {"a": ["x", None, "y", "x"], "b": ["u", "v", "u", "u"]}
NUMBERS = {"a": [1.5, 2.5, 0.25, 4.75] * 6, "b": ["u", "v", "u", "u"] * 6}
MANY_LEVELS = sp.Dataset.from_frame(
    {"a": [f"l{i}" for i in range(10_500)], "b": [f"l{i}" for i in range(10_500)]},
    kinds={"a": "categorical", "b": "categorical"},
)
MANY_LOGITS = sp.Dataset.from_frame(
    {"a": [f"l{i % 4000}" for i in range(8000)], "x": np.sin(np.arange(8000)), "y": np.cos(np.arange(8000))},
    kinds={"a": "categorical"},
)
PLACES: dict[str, tuple[Any, Any]] = {
    "read": (sp.Dataset.from_frame, lambda: sp.Dataset.from_frame(HOLES, missing="refuse")),
    "naive Bayes": (sp.NaiveBayesClassifier, lambda: sp.NaiveBayesClassifier().fit(HOLES, [0, 1, 0, 1])),
    "tan": (sp.TANClassifier, lambda: sp.TANClassifier().fit(HOLES, [0, 1, 0, 1])),
    "learn": (sp.learn, lambda: sp.learn(sp.Dataset.from_frame(NUMBERS), score="bdeu")),
    "score": (sp.score, lambda: sp.score(sp.Dataset.from_frame(NUMBERS), {"a": []}, score="bdeu")),
    "local_score": (sp.local_score, lambda: sp.local_score(sp.Dataset.from_frame(NUMBERS), "a", [], score="bdeu")),
    "bge of levels": (sp.learn, lambda: sp.learn(NUMBERS, score="bge")),
    "bge of levels, one family": (sp.local_score, lambda: sp.local_score(NUMBERS, "a", ["b"], score="bge")),
    "dg of too many levels": (sp.local_score, lambda: sp.local_score(MANY_LEVELS, "a", ["b"], score="dg")),
    "dg of too many levels, a test": (sp.independence, lambda: sp.independence(MANY_LEVELS, "a", "b", test="dg")),
    "lr of too many coefficients": (sp.local_score, lambda: sp.local_score(MANY_LOGITS, "a", ["x", "y"], score="lr")),
    "lr of too many coefficients, a test": (
        sp.independence,
        lambda: sp.independence(MANY_LOGITS, "a", "x", ["y"], test="lr"),
    ),
    "best of one that is no probability": (sp.learn, lambda: sp.learn(NUMBERS, score="best(pcart, bic)")),
    "best without one for numbers": (sp.score, lambda: sp.score(NUMBERS, {"a": []}, score="best(bdeu)")),
    "best of trees that are too large": (
        sp.local_score,
        lambda: sp.local_score({f"x{i}": NUMBERS["a"] for i in range(9)}, "x0", [f"x{i}" for i in range(1, 9)], "best"),
    ),
    "a test that is none": (sp.independence, lambda: sp.independence(NUMBERS, "a", "b", test="pcart")),
    "g2 of numbers": (sp.independence, lambda: sp.independence(NUMBERS, "a", "b", test="g2")),
    "given as a text": (sp.independence, lambda: sp.independence(NUMBERS, "a", "b", given="c")),
    "mixed": (sp.simulate.mixed, lambda: sp.simulate.mixed(20, 4, 10, 3)),
    "mixed, missing": (sp.simulate.mixed, lambda: sp.simulate.mixed(5, 1, 10, missing="often(0.1)")),
    "mixed, memory": (sp.simulate.mixed, lambda: sp.simulate.mixed(5, 1, 10**13)),
    "tables of numbers": (sp.simulate.random_network, lambda: sp.simulate.random_network(5, 1, "continuous")),
    "tables too large": (sp.simulate.random_network, lambda: sp.simulate.random_network(20, 19, max_degree=19)),
    "rows of no network": (sp.simulate.from_network, lambda: sp.simulate.from_network(NUMBERS, 5)),
    "a score that is no function": (sp.CustomScore, lambda: sp.CustomScore("bdeu")),
    "dp": (sp.learn, lambda: sp.learn({f"v{i}": list("abaab" * 4) for i in range(40)}, search="dp", max_parents=1)),
    "search": (
        sp.search,
        lambda: sp.search(sp.ParentSets.from_lists({f"v{i}": [([], -1.0)] for i in range(40)}), "dp"),
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_messages_of_a_function_name_parameters_that_it_has(place: str) -> None:
    function, call = PLACES[place]
    with pytest.raises(SpinneyError) as caught:
        call()
    said, own = str(caught.value), set(inspect.signature(function).parameters)
    assert len(said) <= LONGEST
    for name in PARAMETER.findall(said):
        assert name in own, said


def test_the_named_parameter_works() -> None:
    """dp past its limit names ilp, as search= for learn() and as method= for search()."""
    sets = sp.ParentSets.from_lists({f"v{i}": [([], -1.0)] for i in range(40)})
    with pytest.raises(SpinneyError, match="method='ilp'"):
        sp.search(sets, "dp")
    assert sp.search(sets, method="ilp").optimal
    with pytest.raises(SpinneyError, match="search='ilp'"):
        sp.learn({f"v{i}": list("abaab" * 4) for i in range(40)}, "bdeu", search="dp", max_parents=1)


@pytest.mark.parametrize("word", ["required", "forbidden", "tiers"])
def test_a_word_of_constraints_is_not_taken_for_an_option_of_the_search(word: str) -> None:
    with pytest.raises(ChoiceError, match=rf"{word}.*Constraints"):
        sp.learn({"a": ["x", "y"]}, **{word: []})


def test_predict_does_not_name_a_choice_that_it_refuses(
    folder: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "holes.csv").write_text("smoker,cough\nyes,\nno,often\n")
    assert main(["predict", "net.json", "holes.csv", "--target", "lung"]) == 2
    said = capsys.readouterr().err
    assert "missing" in said and "drop" not in said
