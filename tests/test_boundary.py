"""Bad inputs, one row each: through the command and through the API.

In:  a small table, its network and its parent sets, and what a user might get wrong.
Out: for the command one sentence on standard error that names the thing, exit code 2, nothing on standard output; for
the API a SpinneyError of one sentence. Never a traceback, a hang or a wrong network."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spinney as sp
from spinney.cli import main

TABLE = "smoker,lung,cough\n" + "".join(
    f"{smoker},{lung},{cough}\n"
    for smoker, lung, cough, times in [
        ("yes", "bad", "often", 9),
        ("yes", "bad", "never", 3),
        ("yes", "good", "often", 4),
        ("yes", "good", "never", 6),
        ("no", "bad", "often", 3),
        ("no", "bad", "never", 1),
        ("no", "good", "often", 3),
        ("no", "good", "never", 15),
    ]
    for _ in range(times)
)
BIF = """network unknown {
}
variable a {
  type discrete [ 2 ] { x, y };
}
variable b {
  type discrete [ 2 ] { u, v };
}
probability ( a ) {
  table 0.4, 0.6;
}
probability ( b | a ) {
  (x) 0.1, 0.9;
  (y) 0.5, 0.5;
}
"""
JKL = "2\na 2\n-3.5 0\n-2.5 1 b\nb 2\n-4.5 0\n-4.0 1 a\n"


def wide(columns: int, rows: int = 8) -> str:
    draw = random.Random(5)
    lines = [",".join(f"v{i}" for i in range(columns))]
    lines += [",".join(draw.choice("ab") for _ in range(columns)) for _ in range(rows)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The good files, made once."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "table.csv").write_text(TABLE)
    data = sp.Dataset.read(folder / "table.csv")
    sp.fit(data, {"lung": ["smoker"], "cough": ["lung"]}).save(folder / "net.json")
    return {path.name: path.read_bytes() for path in folder.iterdir()} | {
        "net.bif": BIF.encode(),
        "sets.jkl": JKL.encode(),
    }


@pytest.fixture
def folder(made: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Files = dict[str, str | bytes]
LEARN = ["learn", "bad.csv"]
SOLVE = ["solve", "bad.jkl"]
CONVERT = ["convert", "bad.bif", "out.json"]
TAKES = ["learn", "table.csv"]
KINDS = [*TAKES, "--kinds", "k.yaml"]
LIMITS = [*TAKES, "--constraints", "c.json"]
PREDICT = ["predict", "net.json", "new.csv", "--target", "lung"]
CLASSIFY = ["classify", "train", "table.csv", "--target", "lung"]


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


# name: (files that are written first, words of the command, texts that the sentence must hold)
CASES: dict[str, tuple[Files, list[str], tuple[str, ...]]] = {
    # the table
    "no such file": ({}, ["learn", "absent.csv"], ("absent.csv",)),
    "a folder": ({}, ["learn", "."], (".", "directory")),
    "empty file": ({"bad.csv": ""}, LEARN, ("bad.csv", "empty")),
    "only empty lines": ({"bad.csv": "\n\n\n"}, LEARN, ("bad.csv",)),
    "header only": ({"bad.csv": "a,b\n"}, LEARN, ("no rows",)),
    "ragged row": ({"bad.csv": "a,b\n1,2\n1,2,3\n"}, LEARN, ("bad.csv", "line 3")),
    "short rows": ({"bad.csv": "a,b,c\n1,2,3\n1\n2,1\n"}, LEARN, ("bad.csv", "line 3")),
    "quote not closed": ({"bad.csv": changed(TABLE, "yes,bad,often", 'yes,bad,"often')}, LEARN, ("bad.csv", "line 2")),
    "no such encoding": ({}, [*TAKES, "--encoding", "latin9000"], ("latin9000", "utf-8")),
    "sheet of a text file": ({}, [*TAKES, "--sheet", "May"], ("table.csv", "--sheet", "May")),
    "NUL in a path": ({}, ["learn", "a\0b.csv"], ("path",)),
    "missing cells": (
        {"bad.csv": "a,b\n1,x\n,y\n2,x\n"},
        [*LEARN, "--missing", "refuse"],
        ("'a' 1", "row 2", "--missing auto"),
    ),
    "all rows missing": ({"bad.csv": "a,b\n1,\n,y\n"}, [*LEARN, "--missing", "drop"], ("every row",)),
    "missing in numbers as a level": (
        {"bad.csv": "a,b\n1.5,x\n,y\n2.5,x\n"},
        [*LEARN, "--missing", "level"],
        ("'a'", "row 2"),
    ),
    "missing: no such word": ({}, [*TAKES, "--missing", "ignore"], ("ignore", "drop")),
    "continuous column": (
        {"bad.csv": "a,b\n1.5,x\n2.25,y\n"},
        [*LEARN, "--score", "bdeu"],
        ("'a'", "continuous", "bdeu", "--kinds"),
    ),
    "not the encoding named": ({"bad.csv": b"a,b\nx,\xe9\n"}, [*LEARN, "--encoding", "utf-8"], ("line 2", "UTF-8")),
    "damaged gzip": ({"bad.csv": gzip.compress(TABLE.encode())[:60]}, LEARN, ("bad.csv", "gzip")),
    "zip archive": ({"bad.csv": b"PK\x03\x04rest"}, LEARN, ("bad.csv", "zip")),
    "not Parquet": ({"bad.parquet": b"PAR1 and no more"}, ["learn", "bad.parquet"], ("bad.parquet", "damaged")),
    "text called Parquet": ({"bad.parquet": TABLE}, ["learn", "bad.parquet"], ("bad.parquet", "suffix")),
    "delimiter of two": ({}, [*TAKES, "--delimiter", ",,"], ("',,'",)),
    # simulation
    "simulate: degree too large": (
        {},
        ["simulate", "mixed", "--variables", "4", "--degree", "4"],
        ("4 variables", "3"),
    ),
    "simulate: degree above the largest": (
        {},
        ["simulate", "mixed", "--degree", "4", "--max-degree", "3"],
        ("average degree", "--max-degree"),
    ),
    "simulate: no rows": ({}, ["simulate", "mixed", "--rows", "0"], ("rows", "at least 1")),
    "simulate: share": ({}, ["simulate", "mixed", "--discrete-share", "-1"], ("share", "0 to 1")),
    "simulate: missing": ({}, ["simulate", "network", "--missing", "often(0.1)"], ("often", "mcar")),
    "simulate: tables of numbers": (
        {},
        ["simulate", "network", "--kinds", "continuous"],
        ("continuous", "--local tree"),
    ),
    "simulate: truth as a table": (
        {},
        ["simulate", "network", "-o", "a.csv", "--truth", "a.csv"],
        ("a.csv", ".json"),
    ),
    "simulate: too many configurations": (
        {},
        ["simulate", "network", "--variables", "30", "--degree", "25", "--max-degree", "29"],
        ("million", "--max-degree"),
    ),
    "simulate: too many variables": (
        {},
        ["simulate", "mixed", "--variables", "9" * 30],
        ("variables", "at most 100,000"),
    ),
    # mixed scores
    "bge of levels": ({}, [*TAKES, "--score", "bge"], ("'smoker'", "categorical", "bge")),
    "mvp of no degree": ({}, [*TAKES, "--score", "mvp(degree=99)"], ("degree", "'99'")),
    "bf of no degree": ({}, ["families", "table.csv", "--score", "bf(degree=0)"], ("degree", "'0'")),
    "cg with an option of another": ({}, [*TAKES, "--score", "cg(ess=1)"], ("cg", "'ess'")),
    "best of one that is no probability": ({}, [*TAKES, "--score", "best(pcart, bic)"], ("best", "bic")),
    "best of one twice": ({}, ["families", "table.csv", "--score", "best(pcart, pcart)"], ("pcart", "twice")),
    "best of best": ({}, [*TAKES, "--score", "best(best(pcart))"], ("best within best",)),
    "best without one for numbers": (
        {"bad.csv": "a,b\n1.5,x\n2.25,y\n"},
        [*LEARN, "--score", "best(bdeu)"],
        ("'a'", "continuous", "pcart"),
    ),
    "best of trees that are too large": (
        {
            "bad.csv": ",".join(f"x{i}" for i in range(9))
            + "\n"
            + "".join(",".join([f"{i}.{i}"] * 9) + "\n" for i in range(30))
        },
        ["score", "bad.csv", "--child", "x0", "--parents", ",".join(f"x{i}" for i in range(1, 9)), "--score", "best"],
        ("'x0'", "continuous parents"),
    ),
    # kinds
    "kinds: no such file": ({}, [*TAKES, "--kinds", "absent.yaml"], ("absent.yaml",)),
    "kinds: absent column": ({"k.yaml": "colour: categorical\n"}, KINDS, ("'colour'",)),
    "kinds: no such kind": ({"k.yaml": "lung: nominal\n"}, KINDS, ("k.yaml", "'lung'", "'nominal'")),
    "kinds: level not declared": (
        {"k.yaml": "lung: {kind: ordinal, levels: [good, fair]}\n"},
        KINDS,
        ("'lung'", "row 1", "'bad'"),
    ),
    "kinds: not YAML": ({"k.yaml": "lung: [good\n"}, KINDS, ("k.yaml", "YAML")),
    "kinds: text as continuous": ({"k.yaml": "lung: continuous\n"}, KINDS, ("'lung'", "'bad'")),
    # choices
    "no such command": ({}, ["lern", "table.csv"], ("'lern'",)),
    "no such option": ({}, [*TAKES, "--scoer", "bic"], ("--scoer",)),
    "no table named": ({}, ["learn"], ("DATA",)),
    "no such score": ({}, [*TAKES, "--score", "bdue"], ("'bdue'", "did you mean", "bdeu")),
    "no such option of a score": ({}, [*TAKES, "--score", "bdeu(alpha=1)"], ("'alpha'", "ess")),
    "option of a score without any": ({}, [*TAKES, "--score", "bic(ess=1)"], ("bic", "'ess'")),
    "too many options": ({}, [*TAKES, "--score", "bdeu(1, 2)"], ("bdeu(1, 2)",)),
    "option twice": ({}, [*TAKES, "--score", "bdeu(ess=1, ess=2)"], ("'ess'", "twice")),
    "ess negative": ({}, [*TAKES, "--score", "bdeu(ess=-1)"], ("ess", "'-1'")),
    "ess zero": ({}, [*TAKES, "--score", "bdeu(ess=0)"], ("ess", "'0'")),
    "ess nan": ({}, [*TAKES, "--score", "bdeu(ess=nan)"], ("ess", "'nan'")),
    "ess infinite": ({}, [*TAKES, "--score", "bds(ess=inf)"], ("ess", "'inf'")),
    "ess not a number": ({}, [*TAKES, "--score", "bdeu(ess=abc)"], ("ess", "'abc'")),
    "brackets left open": ({}, [*TAKES, "--score", "bdeu(ess=1"], ("bdeu(ess=1",)),
    "alpha of mit above 1": ({}, [*TAKES, "--score", "mit(alpha=1.5)"], ("alpha", "'1.5'")),
    "bde without a prior": ({}, [*TAKES, "--score", "bde"], ("bde", "network")),
    "bde with a prior that is not there": ({}, [*TAKES, "--score", "bde(network=absent.bif)"], ("absent.bif",)),
    "bde with another table's prior": ({}, [*TAKES, "--score", "bde(network=net.bif)"], ("'a'",)),
    "no such prior": ({}, [*TAKES, "--prior", "flat"], ("'flat'", "uniform")),
    "prior out of range": ({}, [*TAKES, "--prior", "kappa(k=2)"], ("k ", "'2'")),
    "no such search": ({}, [*TAKES, "--search", "ips"], ("'ips'", "dp")),
    "tan without a class": ({}, [*TAKES, "--search", "tan"], ("tan", "target")),
    "tan: no such class": ({}, [*TAKES, "--search", "tan(target=lungs)"], ("'lungs'", "'lung'")),
    "tan: the class needs a parent": (
        {},
        [*TAKES, "--search", "tan(target=lung)", "--required", "cough->lung"],
        ("'cough' -> 'lung'", "tan"),
    ),
    "tan with one parent": ({}, [*TAKES, "--search", "tan(lung)", "--max-parents", "1"], ("tan", "forest")),
    "chow-liu: no such root": ({}, [*TAKES, "--search", "chow-liu(root=me)"], ("'me'", "'lung'")),
    "chow-liu without edges": ({}, [*TAKES, "--search", "chow-liu", "--max-parents", "0"], ("tree", "forest")),
    "restarts not whole": ({}, [*TAKES, "--search", "hc(restarts=1.5)"], ("restarts", "'1.5'")),
    "max-parents negative": ({}, [*TAKES, "--max-parents", "-1"], ("--max-parents", "-1")),
    "max-parents not a number": ({}, [*TAKES, "--max-parents", "two"], ("--max-parents", "'two'")),
    "time-limit zero": ({}, [*TAKES, "--time-limit", "0"], ("--time-limit", "0")),
    "time-limit nan": ({}, [*TAKES, "--time-limit", "nan"], ("--time-limit", "nan")),
    "time-limit not a number": ({}, [*TAKES, "--time-limit", "soon"], ("--time-limit", "'soon'")),
    "seed not whole": ({}, [*TAKES, "--seed", "1.5"], ("--seed", "'1.5'")),
    "n-jobs zero": ({}, [*TAKES, "--n-jobs", "0"], ("--n-jobs", "0")),
    "n-jobs not a number": ({}, [*TAKES, "--jobs", "all"], ("--n-jobs", "'all'")),
    "too many variables for dp": ({"bad.csv": wide(40)}, [*LEARN, "--search", "dp"], ("40", "--search ilp")),
    "too much memory": (
        {"bad.csv": wide(60)},
        ["families", "bad.csv", "--max-parents", "20"],
        ("GiB", "--max-parents"),
    ),
    "no such list": ({}, ["list", "scoers"], ("'scoers'", "scores")),
    # constraints
    "required and forbidden": (
        {},
        [*TAKES, "--required", "lung->cough", "--forbidden", "lung->cough"],
        ("'lung' -> 'cough'",),
    ),
    "required cycle": ({}, [*TAKES, "--required", "lung->cough", "--required", "cough->lung"], ("'lung'", "'cough'")),
    "against the tiers": (
        {"t.yaml": "[[lung], [cough]]"},
        [*TAKES, "--tiers", "t.yaml", "--required", "cough->lung"],
        ("'cough' -> 'lung'",),
    ),
    "two tiers": ({"t.yaml": "[[lung], [lung]]"}, [*TAKES, "--tiers", "t.yaml"], ("'lung'",)),
    "tiers not lists": ({"t.yaml": "lung"}, [*TAKES, "--tiers", "t.yaml"], ("t.yaml", "list")),
    "tiers not there": ({}, [*TAKES, "--tiers", "absent.yaml"], ("absent.yaml",)),
    "candidates not lists": ({"c.yaml": "lung: cough"}, [*TAKES, "--candidates", "c.yaml"], ("c.yaml", "list")),
    "candidates no mapping": ({"c.yaml": "[lung]"}, [*TAKES, "--candidates", "c.yaml"], ("c.yaml", "list")),
    "candidates empty": ({"c.yaml": ""}, [*TAKES, "--candidates", "c.yaml"], ("c.yaml", "list")),
    "candidates on no column": ({"c.yaml": "lung: [colour]"}, [*TAKES, "--candidates", "c.yaml"], ("'colour'",)),
    "network before table": ({}, ["score", "net.json", "table.csv"], ("the table comes first",)),
    "more required than allowed": (
        {},
        [*TAKES, "--max-parents", "1", "--required", "lung->cough", "--required", "smoker->cough"],
        ("'cough'", "2"),
    ),
    "constraint on no column": ({}, [*TAKES, "--forbidden", "colour->lung"], ("'colour'",)),
    "edge to itself": ({}, [*TAKES, "--required", "lung->lung"], ("'lung'", "itself")),
    "not an edge": ({}, [*TAKES, "--required", "lung"], ("'lung'", "--required")),
    "constraints file: not there": ({}, [*TAKES, "--constraints", "absent.yaml"], ("absent.yaml",)),
    "constraints file: other words": ({"c.json": '{"need": []}'}, LIMITS, ("c.json", "required")),
    "constraints file: no pair": ({"c.json": '{"required": ["lung"]}'}, LIMITS, ("'lung'",)),
    "constraints file: damaged": ({"c.json": '{"required": ['}, LIMITS, ("c.json",)),
    "no listed set meets the constraints": (
        {"bad.jkl": changed(JKL, "b 2\n-4.5 0\n-4.0 1 a", "b 1\n-4.5 0")},
        [*SOLVE, "--required", "a->b"],
        ("'b'",),
    ),
    # families
    "no such child": ({}, ["score", "table.csv", "--child", "colour"], ("'colour'",)),
    "no such parent": ({}, ["score", "table.csv", "--child", "lung", "--parents", "colour"], ("'colour'",)),
    "child its own parent": ({}, ["score", "table.csv", "--child", "lung", "--parents", "lung"], ("'lung'",)),
    "parent twice": ({}, ["score", "table.csv", "--child", "lung", "--parents", "cough,cough"], ("'cough'", "twice")),
    "neither network nor family": ({}, ["score", "table.csv"], ("--child",)),
    "network of another table": ({}, ["score", "table.csv", "net.bif"], ("table",)),
    "cycle in the graph given": (
        {"g.json": '{"parents": {"smoker": ["lung"], "lung": ["smoker"], "cough": []}}'},
        ["score", "table.csv", "g.json"],
        ("'smoker'", "'lung'", "cycle"),
    ),
    "graph with odd parents": (
        {"g.json": '{"parents": {"lung": 3}}'},
        ["score", "table.csv", "g.json"],
        ("g.json", "'lung'"),
    ),
    # jkl
    "jkl: not there": ({}, SOLVE, ("bad.jkl",)),
    "jkl: empty": ({"bad.jkl": ""}, SOLVE, ("bad.jkl", "number of variables")),
    "jkl: cut short": ({"bad.jkl": JKL[:30]}, SOLVE, ("bad.jkl",)),
    "jkl: NaN": ({"bad.jkl": changed(JKL, "-2.5", "nan")}, SOLVE, ("bad.jkl", "line 4", "'nan'")),
    "jkl: infinite": ({"bad.jkl": changed(JKL, "-2.5", "-inf")}, SOLVE, ("bad.jkl", "line 4", "'-inf'")),
    "jkl: unknown parent": ({"bad.jkl": changed(JKL, "1 b", "1 c")}, SOLVE, ("bad.jkl", "line 4", "'c'")),
    "jkl: wrong size": ({"bad.jkl": changed(JKL, "1 b", "2 b")}, SOLVE, ("bad.jkl", "line 4")),
    "jkl: too many sets": ({"bad.jkl": changed(JKL, "a 2", "a 1")}, SOLVE, ("bad.jkl", "line 4")),
    "jkl: too few variables": ({"bad.jkl": changed(JKL, "2\n", "1\n")}, SOLVE, ("bad.jkl", "line 5")),
    "jkl: its own parent": ({"bad.jkl": changed(JKL, "1 b", "1 a")}, SOLVE, ("bad.jkl", "'a'")),
    "jkl: variable twice": ({"bad.jkl": changed(JKL, "b 2", "a 2")}, SOLVE, ("bad.jkl", "'a'", "twice")),
    "jkl: no sets": ({"bad.jkl": "1\na 0\n"}, SOLVE, ("bad.jkl", "'a'")),
    "jkl: no variables": ({"bad.jkl": "0\n"}, SOLVE, ("bad.jkl",)),
    "jkl: only cycles": ({"bad.jkl": "2\na 1\n-1 1 b\nb 1\n-1 1 a\n"}, SOLVE, ("cycle",)),
    "jkl: only cycles, climbing": ({"bad.jkl": "2\na 1\n-1 1 b\nb 1\n-1 1 a\n"}, [*SOLVE, "--method", "hc"], ("'a'",)),
    "jkl: damaged gzip": ({"bad.jkl": gzip.compress(JKL.encode())[:-9]}, SOLVE, ("bad.jkl", "gzip")),
    "jkl: a name with a space": (
        {"bad.jkl": changed(JKL, "a 2", "first name 2")},
        SOLVE,
        ("bad.jkl", "line 2", "%20"),
    ),
    "jkl: a score with an underscore": ({"bad.jkl": changed(JKL, "-2.5", "-2_5")}, SOLVE, ("line 4", "'-2_5'")),
    "solve: k of none": ({}, ["solve", "sets.jkl", "--k", "0"], ("k", "at least 1", "0")),
    "solve: k in words": ({}, ["solve", "sets.jkl", "--k", "few"], ("--k", "'few'")),
    "solve: gap below none": ({}, ["solve", "sets.jkl", "--gap", "-0.1"], ("gap", "at least 0")),
    "solve: gap in words": ({}, ["solve", "sets.jkl", "--gap", "small"], ("--gap", "'small'")),
    "solve: k while climbing": ({}, ["solve", "sets.jkl", "--method", "hc", "--k", "2"], ("hc", "'k'")),
    "solve: start not there": ({}, ["solve", "sets.jkl", "--start", "nowhere.json"], ("nowhere.json",)),
    "solve: start of other variables": (
        {"other.json": '{"parents": {"x": [], "y": ["x"]}}'},
        ["solve", "sets.jkl", "--start", "other.json"],
        ("'x'",),
    ),
    "solve: no such method": ({}, ["solve", "sets.jkl", "--method", "magic"], ("'magic'",)),
    # networks
    "bif: cut short": ({"bad.bif": BIF[:200]}, CONVERT, ("bad.bif",)),
    "bif: circle": (
        {"bad.bif": changed(BIF, "( a ) {\n  table 0.4, 0.6;", "( a | b ) {\n  (u) 0.4, 0.6;\n  (v) 0.5, 0.5;")},
        CONVERT,
        ("bad.bif", "a -> b -> a"),
    ),
    "bif: too few numbers": ({"bad.bif": changed(BIF, "table 0.4, 0.6", "table 0.4")}, CONVERT, ("bad.bif",)),
    "bif: negative": ({"bad.bif": changed(BIF, "0.4, 0.6", "-0.4, 1.4")}, CONVERT, ("bad.bif", "-0.4")),
    "bif: not a number": ({"bad.bif": changed(BIF, "0.4, 0.6", "nan, 0.6")}, CONVERT, ("bad.bif",)),
    "bif: wrong number of levels": ({"bad.bif": changed(BIF, "[ 2 ] { x", "[ 3 ] { x")}, CONVERT, ("bad.bif",)),
    "bif: unknown parent": ({"bad.bif": changed(BIF, "( b | a )", "( b | c )")}, CONVERT, ("bad.bif", "'c'")),
    "json: newer": (
        {"bad.json": '{"format": "spinney-network", "version": 99}'},
        ["sample", "bad.json"],
        ("bad.json", "99"),
    ),
    "json: not JSON": ({"bad.json": "a network"}, ["sample", "bad.json"], ("bad.json",)),
    "json: another's": ({"bad.json": "{}"}, ["sample", "bad.json"], ("bad.json",)),
    "json: entries missing": (
        {"bad.json": '{"format": "spinney-network", "version": 1}'},
        ["sample", "bad.json"],
        ("bad.json", "columns"),
    ),
    "network: not there": ({}, ["sample", "absent.json"], ("absent.json",)),
    "network: unreadable suffix": ({}, ["convert", "net.dot", "net.json"], ("net.dot", ".bif")),
    "compare: other variables": ({}, ["compare", "net.json", "net.bif"], ("'cough'",)),
    # prediction and sampling
    "level never seen": ({"new.csv": "smoker,lung\nsometimes,bad\n"}, PREDICT, ("'smoker'", "row 1", "'sometimes'")),
    "column of the blanket absent": ({"new.csv": "cough\noften\n"}, PREDICT, ("'smoker'",)),
    "no column of the blanket": ({"new.csv": "colour\nred\n"}, PREDICT, ("colour",)),
    "missing cell to predict from": ({"new.csv": "smoker,cough\n,often\n"}, PREDICT, ("'smoker'", "row 1", "fill")),
    "no such target": ({}, ["predict", "net.json", "table.csv", "--target", "colour"], ("'colour'",)),
    "predict and drop": (
        {},
        ["predict", "net.json", "table.csv", "--target", "lung", "--missing", "drop"],
        ("--missing drop",),
    ),
    "classify nothing": ({}, ["classify"], ("missing command",)),
    "classify without a target": ({}, ["classify", "train", "table.csv"], ("--target",)),
    "classify, no such class": ({}, ["classify", "train", "table.csv", "--target", "colour"], ("'colour'",)),
    "classify, a continuous class": (
        {"numbers.csv": "a,b\nx,1.5\ny,2.5\n"},
        ["classify", "cv", "numbers.csv", "--target", "b"],
        ("'b'", "--kinds"),
    ),
    "classify, no such model": ({}, [*CLASSIFY, "--model", "forest"], ("'forest'", "naive-bayes")),
    "classify, an option of another model": ({}, [*CLASSIFY, "--search", "hc"], ("--search", "tan")),
    "classify, no such score": ({}, [*CLASSIFY, "--score", "bdei"], ("'bdei'", "bdeu")),
    "classify, a suffix that is no network": ({}, [*CLASSIFY, "-o", "model.bif"], ("model.bif",)),
    "classify in a hundred folds": ({}, ["classify", "cv", *CLASSIFY[2:], "--folds", "100"], ("folds", "44")),
    "classify, half a fold": ({}, ["classify", "cv", *CLASSIFY[2:], "--folds", "0.5"], ("--folds", "'0.5'")),
    "classify, all held out": ({}, ["classify", "cv", *CLASSIFY[2:], "--holdout", "1"], ("holdout", "1")),
    "classify by decision graphs without their score": (
        {},
        [*CLASSIFY, "--model", "network", "--search", "local-global"],
        ("local-global", "--score graph"),
    ),
    "classify by a network that is no classifier": (
        {},
        ["classify", "predict", "net.json", "table.csv"],
        ("net.json", "spinney predict"),
    ),
    "sample of none": ({}, ["sample", "net.json", "-n", "0"], ("0 rows",)),
    "sample of fewer": ({}, ["sample", "net.json", "-n", "-3"], ("-3",)),
    "sample of some": ({}, ["sample", "net.json", "-n", "some"], ("'some'",)),
    "sample, seed negative": ({}, ["sample", "net.json", "--seed", "-1"], ("--seed", "-1")),
    # files to write
    "output folder not there": ({}, [*TAKES, "-o", "absent/net.json"], ("absent/net.json",)),
    "output suffix unknown": ({}, [*TAKES, "-o", "net.xlsx"], ("net.xlsx", ".bif")),
    "output without a suffix": ({}, [*TAKES, "-o", "net"], ("net", ".bif")),
    "output is a folder": ({"place.json/x": ""}, [*TAKES, "-o", "place.json"], ("place.json", "folder")),
    "families to a network file": ({}, ["families", "table.csv", "-o", "sets.json"], ("sets.json", ".jkl")),
    "sets to a network file": ({}, ["convert", "sets.jkl", "net.bif"], ("net.bif", ".jkl")),
    "sample to no folder": ({}, ["sample", "net.json", "-o", "absent/x.csv"], ("absent/x.csv",)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_command_refuses_in_one_sentence(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, arguments, mentions = CASES[case]
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    before = sorted(folder.rglob("*"))
    code = main(arguments)
    out, err = capsys.readouterr()
    assert code == 2, (out, err)
    assert out == ""
    assert err.startswith("spinney: ") and err.endswith("\n") and err.count("\n") == 1, err
    assert "Traceback" not in err and "fault of spinney" not in err
    for text in mentions:
        assert text in err
    assert sorted(folder.rglob("*")) == before, "a file was left behind"


Act = Callable[[sp.Dataset], Any]
NETWORK = sp.Network.load
CALLS: dict[str, tuple[type[sp.SpinneyError], Act]] = {
    "learn from a path": (sp.ChoiceError, lambda data: sp.learn("table.csv")),  # type: ignore[arg-type]
    "score_parent_sets of a path": (sp.ChoiceError, lambda data: sp.score_parent_sets("table.csv")),  # type: ignore[arg-type]
    "no such file": (sp.FileFormatError, lambda data: sp.Dataset.read("absent.csv")),
    "a frame that is none": (sp.DataError, lambda data: sp.Dataset.from_frame(3)),
    "no columns": (sp.DataError, lambda data: sp.Dataset.from_frame({})),
    "columns of two lengths": (sp.DataError, lambda data: sp.Dataset.from_frame({"a": [1, 2], "b": [1]})),
    "infinity": (sp.DataError, lambda data: sp.Dataset.from_frame({"a": [1.5, float("inf")]})),
    "missing": (sp.DataError, lambda data: sp.Dataset.from_frame({"a": ["x", None]}, missing="refuse")),
    "kind that is none": (sp.DataError, lambda data: sp.Dataset.from_frame({"a": ["x"]}, kinds={"a": "nominal"})),
    "levels twice": (sp.DataError, lambda data: sp.Ordinal(["a", "a"])),
    "unknown score": (sp.ChoiceError, lambda data: sp.learn(data, score="bdue")),
    "score that is a number": (sp.ChoiceError, lambda data: sp.learn(data, score=3)),  # type: ignore[arg-type]
    "a search as a score": (sp.ChoiceError, lambda data: sp.learn(data, score=sp.catalog.choose_search("dp"))),
    "ess negative": (sp.ChoiceError, lambda data: sp.BDeu(ess=-1)),
    "ess nan": (sp.ChoiceError, lambda data: sp.BDeu(ess=float("nan"))),
    "ess true": (sp.ChoiceError, lambda data: sp.BDeu(ess=True)),
    "ess text": (sp.ChoiceError, lambda data: sp.BDeu("abc")),
    "unknown option": (sp.ChoiceError, lambda data: sp.BDeu(alpha=1)),
    "option twice": (sp.ChoiceError, lambda data: sp.BDeu(1, ess=1)),
    "unknown option of a search": (sp.ChoiceError, lambda data: sp.learn(data, search="hc", length=3)),
    "unknown child": (sp.ChoiceError, lambda data: sp.local_score(data, "colour", [])),
    "unknown parent": (sp.ChoiceError, lambda data: sp.local_score(data, "lung", ["colour"])),
    "parents as text": (sp.ChoiceError, lambda data: sp.local_score(data, "lung", "cough")),
    "its own parent": (sp.ChoiceError, lambda data: sp.local_score(data, "lung", ["lung"])),
    "parent twice": (sp.ChoiceError, lambda data: sp.local_score(data, "lung", ["cough", "cough"])),
    "circle": (sp.ChoiceError, lambda data: sp.score(data, {"lung": ["cough"], "cough": ["lung"]})),
    "fit a circle": (sp.ChoiceError, lambda data: sp.fit(data, {"lung": ["cough"], "cough": ["lung"]})),
    "graph with no column": (sp.ChoiceError, lambda data: sp.fit(data, {"colour": []})),
    "graph that is none": (sp.ChoiceError, lambda data: sp.score(data, 3)),  # type: ignore[arg-type]
    "max_parents negative": (sp.ChoiceError, lambda data: sp.learn(data, max_parents=-1)),
    "max_parents a half": (sp.ChoiceError, lambda data: sp.learn(data, max_parents=0.5)),  # type: ignore[arg-type]
    "time_limit zero": (sp.ChoiceError, lambda data: sp.learn(data, time_limit=0)),
    "time_limit text": (sp.ChoiceError, lambda data: sp.learn(data, time_limit="1")),  # type: ignore[arg-type]
    "seed a half": (sp.ChoiceError, lambda data: sp.learn(data, seed=0.5)),  # type: ignore[arg-type]
    "n_jobs zero": (sp.ChoiceError, lambda data: sp.learn(data, n_jobs=0)),
    "required and forbidden": (
        sp.ChoiceError,
        lambda data: sp.learn(
            data, constraints=sp.Constraints(required=[("lung", "cough")], forbidden=[("lung", "cough")])
        ),
    ),
    "required circle": (
        sp.ChoiceError,
        lambda data: sp.learn(data, constraints=sp.Constraints(required=[("lung", "cough"), ("cough", "lung")])),
    ),
    "against the tiers": (
        sp.ChoiceError,
        lambda data: sp.learn(
            data, constraints=sp.Constraints(required=[("lung", "cough")], tiers=[["cough"], ["lung"]])
        ),
    ),
    "edge that is none": (sp.ChoiceError, lambda data: sp.Constraints(required=["ab"])),  # type: ignore[list-item]
    "candidates unknown": (sp.ChoiceError, lambda data: sp.learn(data, candidates={"lung": ["colour"]})),
    "start with a circle": (
        sp.ChoiceError,
        lambda data: sp.learn(data, search="hc", start={"lung": ["cough"], "cough": ["lung"]}),
    ),
    "start against the constraints": (
        sp.ChoiceError,
        lambda data: sp.learn(
            data, search="hc", start={"lung": ["cough"]}, constraints=sp.Constraints(forbidden=[("cough", "lung")])
        ),
    ),
    "search in a table": (sp.ChoiceError, lambda data: sp.search(data)),  # type: ignore[arg-type]
    "sets of nobody": (sp.ChoiceError, lambda data: sp.score_parent_sets(data).of("colour")),
    "predict an unknown target": (sp.ChoiceError, lambda data: NETWORK("net.json").predict(data, "colour")),
    "predict from a level never seen": (
        sp.DataError,
        lambda data: NETWORK("net.json").predict({"smoker": ["sometimes"], "cough": ["often"]}, "lung"),
    ),
    "predict without a column": (
        sp.SpinneyError,
        lambda data: NETWORK("net.json").predict({"cough": ["often"]}, "lung"),
    ),
    "log_prob without a column": (sp.SpinneyError, lambda data: NETWORK("net.json").log_prob({"cough": ["often"]})),
    "sample negative": (sp.ChoiceError, lambda data: NETWORK("net.json").sample(-1)),
    "load a BIF": (sp.ChoiceError, lambda data: sp.Network.load("net.bif")),
    "save a BIF": (sp.ChoiceError, lambda data: NETWORK("net.json").save("net.bif")),
    "save to no folder": (sp.FileFormatError, lambda data: NETWORK("net.json").save("absent/net.json")),
    "write an unknown suffix": (sp.ChoiceError, lambda data: data.write("table.xlsx")),
    "a cut that does not rise": (
        sp.ChoiceError,
        lambda data: sp.Network(NETWORK("net.json").kinds, NETWORK("net.json").models, cuts={"lung": [float("nan")]}),
    ),
    "unseen levels, an unknown word": (sp.ChoiceError, lambda data: sp.Dataset.from_frame({"a": ["x"]}, unseen="drop")),
    "classify a column that is not there": (sp.DataError, lambda data: sp.TANClassifier().fit_dataset(data, "colour")),
    "classify with kinds of a column that is not there": (
        sp.DataError,
        lambda data: sp.NaiveBayesClassifier(kinds={"colour": "categorical"}).fit({"a": ["x", "y"]}, [0, 1]),
    ),
    "classify with an unknown score": (sp.ChoiceError, lambda data: sp.TANClassifier("bdei").fit_dataset(data, "lung")),
    "classify with missing cells": (
        sp.DataError,
        lambda data: sp.NaiveBayesClassifier().fit({"a": ["x", None]}, [0, 1]),
    ),
    "accuracy in one fold": (sp.ChoiceError, lambda data: sp.evaluate.accuracy("bdeu", data, "lung", folds=1)),
    "compare other variables": (sp.ChoiceError, lambda data: sp.compare({"a": []}, {"b": []})),
    "compare a number": (sp.ChoiceError, lambda data: sp.compare(3, {"b": []})),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", CALLS)
def test_the_api_refuses_in_one_sentence(case: str, folder: Path) -> None:
    error, call = CALLS[case]
    data = sp.Dataset.read("table.csv")
    with pytest.raises(error) as caught:
        call(data)
    sentence = str(caught.value)
    assert len(sentence) > 15 and "\n" not in sentence


def test_a_constant_column_is_noted_and_harmless(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "constant.csv").write_text("a,b,c\n" + "x,u,1\ny,v,1\n" * 20)
    assert main(["learn", "constant.csv", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "c" not in json.loads(out)["parents"]
    assert "note: left out 'c': constant (every row has '1')\n" in err
    (folder / "kinds.yaml").write_text("c: categorical\n")
    assert main(["learn", "constant.csv", "--kinds", "kinds.yaml", "--json", "-o", "net.json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["parents"]["c"] == []
    assert err == "note: column 'c' is constant: every row has '1'\n"
    (folder / "rows.csv").write_text("a,b\nx,u\n")
    assert main(["predict", "net.json", "rows.csv", "--target", "c", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicted"] == ["1"]


def test_one_row_and_one_column_are_no_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("a\nx\n", "a,b\nx,y\n", "a\nx\ny\n"):
        (folder / "tiny.csv").write_text(text)
        assert main(["learn", "tiny.csv", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["edges"] == []
