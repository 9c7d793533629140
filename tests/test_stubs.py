"""tools/stubs.py: the stub of the core is what the compiled module says."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from spinney import _core

TOOL = Path(__file__).resolve().parent.parent / "tools" / "stubs.py"


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stubs_generator", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_name_of_the_core_is_in_the_stub_and_no_other(tool: ModuleType) -> None:
    names: set[str] = set()
    for node in ast.parse(tool.STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    assert names == {name for name in dir(_core) if not name.startswith("_")}


def test_check_notices_a_change_and_writing_mends_it(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = tmp_path / "_core.pyi"
    stub.write_text(tool.STUB.read_text(encoding="utf-8").replace("int", "str", 1), encoding="utf-8")
    monkeypatch.setattr(tool, "STUB", stub)
    assert tool.main(["--check"]) == 1
    assert "tools/stubs.py" in capsys.readouterr().err
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0


def test_types_without_items_are_completed_and_annotations_dropped(tool: ModuleType) -> None:
    line = "def f(x: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], y: list) -> dict: ..."
    expected = "def f(x: NDArray[numpy.int32], y: list[Any]) -> dict[str, Any]: ..."
    assert tool.readable(line) == expected
