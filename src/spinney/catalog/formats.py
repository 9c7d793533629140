"""The file formats: what their files hold, their suffixes, who reads and writes them."""

from __future__ import annotations

from spinney.catalog.rows import Format
from spinney.choices import Option, Rows

_DELIMITER = Option("delimiter", None, "what separates the cells; found from the content unless given", kind="name")
_ENCODING = Option("encoding", None, "how the text is encoded; found from the content unless given", kind="name")
_SHEET = Option("sheet", None, "the name of the sheet; the first unless given", kind="name")

_FORMATS = (
    Format(
        "json",
        "everything a network holds, exactly",
        suffixes=(".json",),
        read="spinney.formats.json:read",
        write="spinney.formats.json:write",
    ),
    Format(
        "bif",
        "the Bayesian Interchange Format, for discrete networks",
        "Cozman (1998)",
        suffixes=(".bif",),
        read="spinney.formats.bif:read",
        write="spinney.formats.bif:write",
    ),
    Format(
        "dot",
        "Graphviz, for pictures",
        suffixes=(".dot",),
        holds=("network", "graph"),
        write="spinney.formats.dot:write",
    ),
    Format(
        "found",
        "the result of a search: its graph, score and bound",
        suffixes=(".json",),
        holds=("graph",),
        read="spinney.formats.found:read",
        write="spinney.formats.found:write",
    ),
    Format(
        "jkl",
        "one line per set, as exact solvers exchange them",
        suffixes=(".jkl",),
        holds=("parent sets",),
        read="spinney.formats.jkl:read",
        write="spinney.formats.jkl:write",
    ),
    Format(
        "text",
        "cells separated by commas or another character, which is found from the content",
        options=(_DELIMITER, _ENCODING),
        suffixes=(".csv", ".tsv", ".txt"),
        holds=("table",),
        read="spinney.formats.delimited:read",
        read_large="spinney.text_blocks:read_blocks",
        write="spinney.formats.delimited:write",
    ),
    Format(
        "parquet",
        "Apache Parquet; keeps kinds and levels",
        suffixes=(".parquet",),
        holds=("table",),
        read="spinney.formats.arrow:read_parquet",
        read_large="spinney.formats.arrow:read_parquet_batches",
        write="spinney.formats.arrow:write_parquet",
        starts=(b"PAR1",),
    ),
    Format(
        "feather",
        "Apache Arrow; keeps kinds and levels",
        suffixes=(".feather", ".arrow"),
        holds=("table",),
        read="spinney.formats.arrow:read_feather",
        write="spinney.formats.arrow:write_feather",
        starts=(b"ARROW1", b"FEA1"),
    ),
    Format(
        "excel",
        "a sheet of a workbook",
        options=(_SHEET,),
        suffixes=(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        holds=("table",),
        read="spinney.excel_table:read_excel",
        starts=(b"\xd0\xcf\x11\xe0",),  # those that are zip archives are told by what is in them
    ),
)

FORMATS = Rows("format", _FORMATS)
