"""polars, imported when a test first asks for something of it.

In:  the environment: polars' allocator does not survive ThreadSanitizer, so on such a core these tests skip.
Out: `pl`, which is used like the module."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


class _Polars:
    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):  # pytest asks everything in a module for such names
            raise AttributeError(name)
        if os.environ.get("SPINNEY_SANITIZER") == "tsan":
            pytest.skip("polars cannot be imported under ThreadSanitizer", allow_module_level=True)
        return getattr(importlib.import_module("polars"), name)


pl: Any = _Polars()
