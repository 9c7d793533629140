"""The hospital story of docs/hospital.md: a German spreadsheet's file, from the file to a network in one command.

In:  examples/hospital.csv, which examples/make_hospital.py makes.
Out: the network, and notes on all that was decided; the cells compared with those that the generator wrote."""

from __future__ import annotations

import csv
import datetime
import importlib.util
import io
import re
from pathlib import Path

import numpy as np
import pytest

import spinney as sp
from spinney.cli import main

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FILE = EXAMPLES / "hospital.csv"


def test_the_file_is_what_the_generator_makes() -> None:
    spec = importlib.util.spec_from_file_location("make_hospital", EXAMPLES / "make_hospital.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    content: bytes = module.content()
    assert FILE.read_bytes() == content
    with pytest.raises(UnicodeDecodeError):
        content.decode("utf-8")


def _rows() -> list[dict[str, str]]:
    """The file read by the plainest means."""
    return list(csv.DictReader(io.StringIO(FILE.read_bytes().decode("cp1252")), delimiter=";"))


def test_one_command_leads_to_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "hospital.json"
    assert main(["learn", str(FILE), "-o", str(target)]) == 0
    said = capsys.readouterr()
    for word in ("cp1252", "Patienten-ID", "missing", "dropped"):
        assert word in said.err, f"no note on {word}"
    assert "proven optimal" in said.out or "gap" in said.out
    net = sp.Network.load(target)
    assert set(net.names) == set(_rows()[0]) - {"Patienten-ID"}
    assert len(net.edges) >= 5
    joined = {frozenset(edge) for edge in net.edges}
    assert frozenset(("Geschlecht", "Größe")) in joined and frozenset(("Herzinsuffizienz", "Entlassung")) in joined
    assert main(["show", str(target), "Herzinsuffizienz"]) == 0
    assert "P(Herzinsuffizienz" in capsys.readouterr().out


def test_the_cells_are_the_numbers_and_days_that_the_file_means() -> None:
    data = sp.Dataset.read(FILE)
    numbers = ["Alter", "Größe", "Gewicht", "Blutdruck"]
    kept = [row for row in _rows() if all(row[name] for name in numbers)]
    assert data.n_rows == len(kept) < 200
    for name in numbers:
        assert np.array_equal(data.values(name), [float(row[name].replace(",", ".")) for row in kept])
    epoch = datetime.date(1970, 1, 1)
    days = [(datetime.datetime.strptime(row["Aufnahme"], "%d.%m.%Y").date() - epoch).days for row in kept]
    assert np.array_equal(data.values("Aufnahme"), days)
    smokers = [row["Raucher"] or "missing" for row in kept]
    assert [data.levels("Raucher")[code] for code in data.codes("Raucher")] == smokers


def test_the_certificate_names_the_rows_that_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", str(FILE), "--score", "pcart"]) == 0
    out, err = capsys.readouterr()
    kept, read = (int(number) for number in re.findall(r"for (\d+) of (\d+) rows", out)[0])
    assert (read - kept, read) == tuple(map(int, re.findall(r"dropped: (\d+) of (\d+)", err)[0])) and kept < read
