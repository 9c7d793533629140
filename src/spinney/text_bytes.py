"""From the bytes of a text file to UTF-8.

In:  bytes, and the encoding if the user named one.
Out: the text as UTF-8 without a byte order mark, and notes on what was guessed.
UTF-8 is recognised because hardly any other text is valid UTF-8; what is not is read as cp1252, the usual one."""

from __future__ import annotations

import codecs

from spinney.errors import ChoiceError, FileFormatError, named, way

_MARKS = {  # the longer ones first: the mark of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LOOKED_AT = 65_536  # bytes that a guess is made from
_HARDLY_ANY = 0.02  # the share of NUL bytes in the half of UTF-16 that holds the letters
_MOSTLY = 4  # so many letters of UTF-8 for every byte that is not: the byte is the mistake

# cp1252 leaves five bytes without a meaning; they are read as Latin-1.
_CP1252 = "".join(
    bytes([byte]).decode("cp1252" if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else "latin-1") for byte in range(256)
)


def as_utf8(raw: bytes, encoding: str | None, label: str) -> tuple[bytes, list[str]]:
    """The text as UTF-8 without a byte order mark, and notes."""
    if encoding is not None:
        return _as_told(raw, encoding, label), []
    for mark, name in _MARKS.items():
        if raw.startswith(mark):
            return _decoded(raw[len(mark) :], name, label), []
    wide = _wide(raw[:_LOOKED_AT])
    if wide is not None:
        return _decoded(raw, wide, label), [f"read as {wide.upper()}, which has no byte order mark"]
    _refuse_nul(raw, label)
    if raw.isascii():
        return raw, []
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(raw, error.start)
    return raw, []


def line_of(data: bytes, position: int) -> int:
    """The line, from 1, in which this byte stands; lines end with \\n, \\r\\n or \\r."""
    before = data[:position]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def known_encoding(encoding: str) -> str:
    """The codec's own name; an unknown one is refused."""
    try:
        codec = codecs.lookup(encoding)
        "".encode(codec.name)  # not every codec is one of text: rot13, base64
        return codec.name
    except (LookupError, TypeError, ValueError, UnicodeError):
        raise ChoiceError(
            f"{named('encoding')} {str(encoding)!r} is not known; write 'utf-8', 'utf-16', 'cp1252', 'latin-1' "
            "or another one that Python knows"
        ) from None


def _as_told(raw: bytes, encoding: str, label: str) -> bytes:
    name = known_encoding(encoding)
    for mark, marked in _MARKS.items():
        if raw.startswith(mark) and marked.startswith(name.removesuffix("-sig")):
            return _decoded(raw[len(mark) :], marked, label)
    if name == "cp1252":
        return codecs.charmap_decode(raw, "strict", _CP1252)[0].encode()
    return _decoded(raw, name, label)


def _decoded(raw: bytes, encoding: str, label: str) -> bytes:
    try:
        text = raw.decode(encoding)
        data = text.encode("utf-8")
    except UnicodeDecodeError as error:
        width = int(encoding[4:6]) // 8 if encoding.startswith(("utf-16", "utf-32")) else 1
        line = raw[: error.start].count("\n".encode(encoding)[-width:]) + 1
        raise FileFormatError(
            f"{label}, line {line}: byte 0x{raw[error.start]:02x} is not {encoding.upper()}",
            "correct the line",
            way("give another {}", "encoding"),
        ) from None
    except UnicodeEncodeError as error:  # a codec that gives half a character
        line = text[: error.start].count("\n") + 1
        raise FileFormatError(
            f"{label}, line {line}: half a character of {encoding}",
            "correct the line",
            way("give another {}", "encoding"),
        ) from None
    _refuse_nul(data, label)
    return data


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: Western text has a NUL in every second byte."""
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    first, second = sample[0 : 2 * pairs : 2].count(0) / pairs, sample[1 : 2 * pairs : 2].count(0) / pairs
    if second > 0.5 and first < _HARDLY_ANY:
        return "utf-16-le"
    return "utf-16-be" if first > 0.5 and second < _HARDLY_ANY else None


def _refuse_nul(data: bytes, label: str) -> None:
    place = data.find(b"\0")
    if place < 0:
        return
    line = line_of(data, place)
    raise FileFormatError(
        f"{label} is neither text nor Parquet nor Feather nor Excel: line {line} holds a NUL byte; "
        "save the table as one of these"
    )


def _not_utf8(raw: bytes, start: int) -> tuple[bytes, list[str]]:
    """As cp1252; only the bytes in question, if the text around them is UTF-8."""
    sample = raw[max(0, start - _LOOKED_AT) : start + _LOOKED_AT].decode("utf-8", errors="replace")
    bad = sample.count("\ufffd")
    letters = sum(not character.isascii() for character in sample) - bad
    line = line_of(raw, start)
    if letters >= _MOSTLY * bad:
        text = raw.decode("utf-8", errors=_AS_CP1252)
        return text.encode(), [
            f"line {line} and perhaps others hold bytes that are not UTF-8, read as cp1252; "
            f"if the whole file is cp1252, give {named('encoding')}"
        ]
    text = codecs.charmap_decode(raw, "strict", _CP1252)[0]
    return text.encode(), [
        f"read as cp1252, because line {line} is not valid UTF-8; if that is wrong, give the right {named('encoding')}"
    ]


def _one_as_cp1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return codecs.charmap_decode(error.object[error.start : error.end], "strict", _CP1252)[0], error.end


_AS_CP1252 = "spinney.cp1252"
codecs.register_error(_AS_CP1252, _one_as_cp1252)
