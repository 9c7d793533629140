"""docs/api.md: every public name with its signature and docstring.

In:  the names in spinney.__all__, as installed.
Out: the text of the page. Lines of a docstring that begin with >>> become an example, which tests/test_docs.py runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import spinney as sp
from spinney.catalog import SCORES

WIDTH = 100  # of a signature on one line

HEAD = """\
# Python reference

Everything that `import spinney as sp` offers. Other modules may change from version to version. Wherever `data` is a
parameter, a `Dataset`, a pandas, polars or Arrow table, or a dict of columns may be given. The examples use these
names:

```python
import pandas as pd
import spinney as sp

frame = pd.read_csv("examples/clinic.csv")
data = sp.Dataset.from_frame(frame)
net = sp.learn(data).network
```
"""


def page() -> str:
    """The whole page, below the line that says where it comes from."""
    labels = {score.label for score in SCORES.values()}
    objects = {name: getattr(sp, name) for name in sorted(sp.__all__, key=str.lower) if name != "__version__"}
    errors = {name: value for name, value in objects.items() if _is_error(value)}
    classes = {name: value for name, value in objects.items() if inspect.isclass(value) and name not in errors}
    functions = {name: value for name, value in objects.items() if inspect.isfunction(value) and name not in labels}
    modules = {name: value for name, value in objects.items() if inspect.ismodule(value)}
    lines = [HEAD, "## Functions\n"]
    for name, function in functions.items():
        lines += _function(f"sp.{name}", function)
    for name, module in modules.items():
        for own, function in _public(module, inspect.isfunction):
            lines += _function(f"sp.{name}.{own}", function)
    lines.append("## Classes\n")
    for name, value in classes.items():
        lines += _class(name, value)
    for name, module in modules.items():
        for own, value in _public(module, inspect.isclass):
            lines += _class(f"{name}.{own}", value)
    lines += ["## Scores\n", "Each is one choice of `score=`; [scores.md](scores.md) explains the options.\n"]
    scores = {name: value for name, value in objects.items() if name in labels}
    lines += [f"- `{_signature(f'sp.{name}', value)}`: {value.__doc__}" for name, value in scores.items()]
    lines += ["", "## Errors\n", "All are subclasses of `SpinneyError`; the message is one sentence.\n"]
    lines += [f"- `sp.{name}`: {_text(error)[0]}" for name, error in errors.items()]
    return "\n".join(lines)


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


def _public(module: Any, wanted: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """What a module says is public; where it does not say, the functions of its own."""
    if listed := getattr(module, "__all__", None):
        return [(name, getattr(module, name)) for name in listed if wanted(getattr(module, name))]
    found = inspect.getmembers(module, inspect.isfunction)
    return [
        (name, f) for name, f in found if f.__module__ == module.__name__ and not name.startswith("_") and wanted(f)
    ]


def _class(name: str, value: type) -> Iterator[str]:
    yield f"### sp.{name}\n"
    yield from _body(_signature(f"sp.{name}", value), value)
    for own, member in vars(value).items():
        if own.startswith("_"):
            continue
        plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        owner = f"sp.{name}" if isinstance(member, (classmethod, staticmethod)) else name.rpartition(".")[2].lower()
        if inspect.isfunction(plain):
            yield f"**{own}**\n"
            yield from _body(_signature(f"{owner}.{own}", plain, method=True), plain)
        elif isinstance(member, cached_property) or (inspect.isdatadescriptor(member) and inspect.getdoc(member)):
            yield f"**{own}** (attribute): {' '.join(_text(member))}\n"


def _function(name: str, function: Any) -> Iterator[str]:
    yield f"### {name}\n"
    yield from _body(_signature(name, function), function)


def _body(signature: str, value: Any) -> Iterator[str]:
    yield f"```py\n{signature}\n```\n"
    example: list[str] = []
    for line in _text(value):
        if line.startswith(">>> "):
            example.append(line[4:])
        else:
            yield line
    if example:
        yield "\n".join(["", "```python", *example, "```"])
    yield ""


def _text(value: Any) -> list[str]:
    return (inspect.getdoc(value) or "").splitlines()


def _signature(name: str, function: Any, method: bool = False) -> str:
    """On one line where it fits; annotations as they are written."""
    signature = inspect.signature(function)
    given = list(signature.parameters.values())[1 if method else 0 :]
    parts, star = [], False
    for p in given:
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        star = star or p.kind is p.VAR_POSITIONAL
        mark = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        kind = "" if p.annotation is p.empty else f": {_annotation(p.annotation)}"
        default = "" if p.default is p.empty else f" = {p.default!r}" if kind else f"={p.default!r}"
        parts.append(f"{mark}{p.name}{kind}{default}")
    known = signature.return_annotation
    back = "" if known is signature.empty or inspect.isclass(function) else f" -> {_annotation(known)}"
    line = f"{name}({', '.join(parts)}){back}"
    return line if len(line) <= WIDTH else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){back}"


def _annotation(given: Any) -> str:
    return given if isinstance(given, str) else getattr(given, "__name__", str(given))
