"""Messy files: one small table of patients, written in the many ways in which people write tables.

In:  nothing; a seeded generator makes the patients.
Out: messy(): name -> Messy, the bytes of a CSV file with what must come of it. `same` means that the file says the same
as plain.csv, so that the same network must be learned from it; other columns that it adds are in `left_out`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

Row = list[str]
ROWS = 240
NAMES = ["Größe", "Blutdruck", "Kosten", "Geschlecht", "Raucher", "Diagnose"]


@dataclass(frozen=True)
class Messy:
    content: bytes
    same: bool = False  # the same network as from plain.csv
    left_out: tuple[str, ...] = ()  # columns that must not be in the network
    learns: bool = True  # else one sentence says why nothing can be learned
    continuous: tuple[str, ...] = ()  # columns that must be taken as numbers


def patients(rows: int = ROWS) -> list[Row]:
    """Cost depends on the diagnosis, that on smoking and blood pressure, smoking on sex, blood pressure on height."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(rows):
        sex = "männlich" if rng.random() < 0.5 else "weiblich"
        height = rng.normal(178 if sex == "männlich" else 166, 6)
        smoker = "ja" if rng.random() < (0.7 if sex == "männlich" else 0.2) else "nein"
        pressure = rng.normal(120 + 0.8 * (height - 172), 5)
        ill = rng.random() < (0.75 if smoker == "ja" else 0.1)
        costs = rng.normal(5200 if ill else 2100, 300)
        found.append([f"{height:.2f}", f"{pressure:.2f}", f"{costs:.2f}", sex, smoker, "krank" if ill else "gesund"])
    return found


def text(rows: Sequence[Row], names: Sequence[str] = NAMES, mark: str = ",", end: str = "\n") -> str:
    return end.join([mark.join(names), *(mark.join(row) for row in rows)]) + end


def changed(rows: Sequence[Row], column: int, write: Callable[[str], str]) -> list[Row]:
    return [[write(cell) if at == column else cell for at, cell in enumerate(row)] for row in rows]


def holes(rows: Sequence[Row], column: int, marks: Sequence[str], every: int = 12) -> list[Row]:
    return [
        [marks[i // every % len(marks)] if at == column and i % every == 3 else cell for at, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]


def beside(rows: Sequence[Row], name: str, cells: Sequence[str], first: bool = False) -> str:
    names = [name, *NAMES] if first else [*NAMES, name]
    return text([[cell, *row] if first else [*row, cell] for cell, row in zip(cells, rows, strict=True)], names)


def decimal_comma(row: Row) -> Row:
    return [cell.replace(".", ",") for cell in row]


def grouped(cell: str, thousands: str, mark: str) -> str:
    return f"{float(cell):,.2f}".replace(",", "\0").replace(".", mark).replace("\0", thousands)


def day(i: int, written: str = "%Y-%m-%d") -> str:
    return (date(2021, 1, 4) + timedelta(days=(i * 37) % 900)).strftime(written)


def messy() -> dict[str, Messy]:
    rows = patients()
    return {**_bytes(rows), **_numbers(rows), **_shape(rows), **_columns(rows), **_holes(rows), **_odd()}


def _bytes(rows: list[Row]) -> dict[str, Messy]:
    plain = text(rows)
    return {
        "plain": Messy(plain.encode(), True),
        "semicolon": Messy(text(rows, mark=";").encode(), True),
        "tab": Messy(text(rows, mark="\t").encode(), True),
        "bar": Messy(text(rows, mark="|").encode(), True),
        "utf-8-bom": Messy(plain.encode("utf-8-sig"), True),
        "utf-16": Messy(plain.encode("utf-16"), True),
        "utf-16-be": Messy(b"\xfe\xff" + plain.encode("utf-16-be"), True),
        "cp1252": Messy(plain.encode("cp1252"), True),
        "crlf": Messy(text(rows, end="\r\n").encode(), True),
        "cr": Messy(text(rows, end="\r").encode(), True),
        "no-newline-at-end": Messy(plain.encode().rstrip(), True),
        "quoted": Messy(text([[f'"{c}"' for c in row] for row in rows], [f'"{n}"' for n in NAMES]).encode(), True),
    }


def _numbers(rows: list[Row]) -> dict[str, Messy]:
    german = text([decimal_comma(row) for row in rows], mark=";")
    swiss = changed(changed(rows, 2, lambda c: grouped(c, "'", ".")), 0, str)
    return {
        "decimal-comma": Messy(german.encode(), True),
        "german-thousands": Messy(
            text([[*decimal_comma(row[:2]), grouped(row[2], ".", ","), *row[3:]] for row in rows], mark=";").encode(),
            True,
        ),
        "english-thousands": Messy(text(changed(rows, 2, lambda c: f'"{grouped(c, ",", ".")}"')).encode(), True),
        "swiss-thousands": Messy(text(swiss).encode(), True),
        "percent": Messy(text(changed(rows, 1, lambda c: f"{c} %")).encode(), True),
        "percent-tight": Messy(text(changed(rows, 1, lambda c: f"{c}%")).encode(), True),
        "dollars": Messy(text(changed(rows, 2, lambda c: f"${c}")).encode(), True),
        "dollars-thousands": Messy(text(changed(rows, 2, lambda c: f'"${grouped(c, ",", ".")}"')).encode(), True),
        "euros": Messy(
            text(
                [[*decimal_comma(row[:2]), grouped(row[2], ".", ",") + " €", *row[3:]] for row in rows], mark=";"
            ).encode("cp1252"),
            True,
        ),
        "units": Messy(text(changed(changed(rows, 0, lambda c: f"{c} cm"), 1, lambda c: f"{c}mmHg")).encode(), True),
        "plus-signs": Messy(text(changed(rows, 1, lambda c: f"+{c}")).encode(), True),
        "blanks-around": Messy(text([[f" {cell} " for cell in row] for row in rows]).encode(), True),
        "exponents": Messy(text(changed(rows, 1, lambda c: f"{float(c) / 100:.4f}E+02")).encode(), True),
    }


def _shape(rows: list[Row]) -> dict[str, Messy]:
    lines = text(rows).splitlines()
    half = len(lines) // 2
    return {
        "title-lines": Messy(("Klinik Nord, Bericht 2023\n\n" + text(rows)).encode(), True),
        "empty-lines": Messy("\n".join([*lines[:half], "", "", *lines[half:], "", ""]).encode(), True),
        "trailing-mark": Messy("\n".join(line + "," for line in lines).encode(), True),
        "lines-of-marks-only": Messy("\n".join([*lines, ",,,,,", ",,,,,"]).encode(), True),
        "short-rows": Messy("\n".join([*lines, "170.00,121.00"]).encode()),
        "same-name-twice": Messy(text(rows, [*NAMES[:5], "Raucher"]).encode()),
        "name-missing": Messy(text(rows, [*NAMES[:5], ""]).encode()),
        "long-names": Messy(text(rows, [name * 60 for name in NAMES]).encode()),
        "emoji": Messy(text(rows, [f"{name} 🩺" for name in NAMES]).encode()),
        "cells-of-two-lines": Messy(text(changed(rows, 5, lambda c: f'"{c}\nsicher"')).encode()),
    }


def _columns(rows: list[Row]) -> dict[str, Messy]:
    n = len(rows)
    ids = [str(uuid.UUID(int=(i * 7919 + 13) ** 5)) for i in range(n)]
    return {
        "index": Messy(beside(rows, "", [str(i) for i in range(n)], first=True).encode(), True),
        "running-number": Messy(beside(rows, "ID", [str(i + 1) for i in range(n)], first=True).encode(), True, ("ID",)),
        "id-text": Messy(
            beside(rows, "Patient", [f"P-{i * 7919 % 100000:05d}" for i in range(n)]).encode(), True, ("Patient",)
        ),
        "id-uuid": Messy(beside(rows, "Schlüssel", ids).encode(), True, ("Schlüssel",)),
        "id-20-digits": Messy(
            beside(rows, "Nummer", [str(10**19 + i * 7919) for i in range(n)]).encode(), True, ("Nummer",)
        ),
        "constant": Messy(beside(rows, "Klinik", ["Nord"] * n).encode(), True, ("Klinik",)),
        "empty-column": Messy(beside(rows, "Notiz", [""] * n).encode(), True, ("Notiz",)),
        "nearly-empty-column": Messy(
            beside(rows, "Notiz", ["x" if i % 100 == 0 else "" for i in range(n)]).encode(), True, ("Notiz",)
        ),
        "free-text": Messy(
            beside(rows, "Brief", [f"Patient {i} kam am Tag {i % 31} zu uns" for i in range(n)]).encode(),
            True,
            ("Brief",),
        ),
        "iso-dates": Messy(beside(rows, "Datum", [day(i) for i in range(n)]).encode(), continuous=("Datum",)),
        "german-dates": Messy(
            beside(rows, "Datum", [day(i, "%d.%m.%Y") for i in range(n)]).encode(), continuous=("Datum",)
        ),
        "american-dates": Messy(
            beside(rows, "Datum", [day(i, "%m/%d/%Y") for i in range(n)]).encode(), continuous=("Datum",)
        ),
        "times": Messy(
            beside(rows, "Zeit", [f"{day(i)} {i % 24:02d}:{i % 60:02d}:00" for i in range(n)]).encode(),
            continuous=("Zeit",),
        ),
        "last-day": Messy(beside(rows, "Ende", ["9999-12-31" if i % 3 else day(i) for i in range(n)]).encode()),
        "zip-codes": Messy(beside(rows, "PLZ", [f"0{1000 + i % 9:04d}" for i in range(n)]).encode()),
        "sixty-levels": Messy(beside(rows, "Ort", [f"Ort {i * 7 % 60}" for i in range(n)]).encode()),
        "symmetric": Messy(
            beside(rows, "z", [f"{(i * 37 % n) / (n - 1) * 2 - 1:.12f}" for i in range(n)]).encode(), continuous=("z",)
        ),
        "sentinel-1e300": Messy(
            beside(rows, "z", ["1e300" if i == 5 else f"{i * 37 % n / 7:.3f}" for i in range(n)]).encode()
        ),
        "infinite": Messy(beside(rows, "z", ["inf" if i == 5 else f"{i * 37 % n / 7:.3f}" for i in range(n)]).encode()),
        "yes-and-Yes": Messy(beside(rows, "b", [("Yes", "yes", "no", "NO")[i % 4] for i in range(n)]).encode()),
    }


def _holes(rows: list[Row]) -> dict[str, Messy]:
    return {
        "question-marks": Messy(text(holes(rows, 1, ["?"])).encode(), continuous=("Blutdruck",)),
        "markers": Messy(text(holes(rows, 1, ["NA", "n/a", "-", ".", ""])).encode(), continuous=("Blutdruck",)),
        "holes-in-levels": Messy(text(holes(rows, 4, [""], every=5)).encode()),
        "one-bad-cell": Messy(
            text([[*row[:1], "hoch", *row[2:]] if i == 17 else row for i, row in enumerate(rows)]).encode(),
            continuous=("Blutdruck",),
        ),
        "holes-everywhere": Messy(
            text(
                [[("" if (i * 7 + at * 11) % 13 == 0 else c) for at, c in enumerate(r)] for i, r in enumerate(rows)]
            ).encode()
        ),
    }


def _odd() -> dict[str, Messy]:
    few = patients(3)
    wide = np.random.default_rng(3).integers(0, 3, (60, 2000))
    words = [[f"w{i * 31 + at}" for at in range(4)] for i in range(50)]
    return {
        "one-column": Messy(b"x\n1.5\n2.5\n3.75\n2.25\n"),
        "three-rows": Messy(text(few).encode()),
        "two-thousand-columns": Messy(
            text([[str(v) for v in row] for row in wide.tolist()], [f"c{i}" for i in range(2000)]).encode()
        ),
        "header-only": Messy((",".join(NAMES) + "\n").encode(), learns=False),
        "nothing": Messy(b"", learns=False),
        "all-different-text": Messy(text(words, list("abcd")).encode(), learns=False),
        "all-constant": Messy(text([["1", "x", "0.5"]] * 30, list("abc")).encode(), learns=False),
        "all-empty": Messy(text([["", "", ""]] * 30, list("abc")).encode(), learns=False),
        "unclosed-quote": Messy(text(patients()).replace("gesund", '"gesund', 1).encode(), learns=False),
        "a-page": Messy(b"<!DOCTYPE html><html><body><table><tr><td>1</td></tr></table></body></html>", learns=False),
    }
