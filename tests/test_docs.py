"""The documentation: pages that are written by machine are up to date, and examples run.

In:  docs/*.md and README.md. A fence ```python is run, block after block in one namespace per page; in ```sh and
```console the lines that begin with `spinney` are; what cannot be run is fenced as ```py or ```text.
Out: an example that fails, or a page that differs from the catalog, fails here."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import spinney as sp

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generator", ROOT / "tools" / "docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where examples are run: a folder with what a reader has, the folder examples/, and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_generated_pages_are_up_to_date(generator: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generator.main(["--check"]) == 0, capsys.readouterr().err


def test_check_notices_a_change_and_writing_mends_it(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generator, "DOCS", tmp_path)
    assert generator.main(["--check"]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "scores.md" in err and not list(tmp_path.iterdir())
    assert generator.main([]) == 0 and generator.main(["--check"]) == 0
    with open(tmp_path / "cli.md", "a", encoding="utf-8") as file:
        file.write("by hand\n")
    assert generator.main(["--check"]) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page: Path, desk: Path) -> None:
    names: dict[str, Any] = {}
    env = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}
    for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(block, f"{page.name}: {block.splitlines()[0]}", "exec"), names)
        elif language in ("sh", "console") and os.environ.get("SPINNEY_SANITIZER") != "tsan":  # where bash crashes
            for line in re.findall(r"^(?:\$ )?(spinney .*)$", block.replace("\\\n", " "), re.MULTILINE):
                done = subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, timeout=60)
                assert done.returncode in (0, 1), f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def _members(value: Any) -> list[tuple[str, Any]]:
    """The public functions and properties that a class defines itself."""
    found = []
    for name, member in vars(value).items():
        plain = getattr(member, "__func__", member)
        if not name.startswith("_") and (inspect.isfunction(plain) or isinstance(member, (property, cached_property))):
            found.append((name, member))
    return found


def test_every_public_name_says_what_it_is() -> None:
    for name in sp.__all__:
        value = getattr(sp, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(value) and not str(value.__doc__).startswith(f"{name}("), f"sp.{name} has no docstring"
        for own, member in _members(value) if inspect.isclass(value) else ():
            assert inspect.getdoc(member), f"sp.{name}.{own} has no docstring"


def test_the_reference_has_every_public_name() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    missing = [name for name in sp.__all__ if name != "__version__" and f"sp.{name}" not in text]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_have_a_normal_length(page: Path) -> None:
    """Tables and pages that are generated apart."""
    text = page.read_text(encoding="utf-8")
    if "Written by tools/docs.py" in text:
        return
    for at, line in enumerate(text.splitlines(), 1):
        assert len(line) <= 120 or line.startswith("|"), f"{page.name}, line {at}: {len(line)} columns"
