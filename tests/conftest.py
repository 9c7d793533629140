"""What all tests share: how hypothesis draws, and where outside numbers are found.

In:  the environment (SPINNEY_SHARED, or a folder `shared` beside the repository).
Out: a hypothesis profile that draws the same examples every time, one with few of them, and the `shared` fixture."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:  # whatever pytest's import mode: tests say `from slow.scores import ...`
    sys.path.insert(0, str(HERE))

SAME = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("same", derandomize=True, database=None, **SAME)
settings.register_profile("explore", max_examples=300, print_blob=True, **SAME)  # pytest --hypothesis-profile=explore
settings.register_profile("sanitize", max_examples=4, derandomize=True, database=None, **SAME)  # tools/sanitize
settings.load_profile("same")

# A shell ignores Ctrl-C for what it starts in the background (`pytest &`); tests that send it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A core with sanitizers is several times slower: there the profile's few examples are also the most of tests that
    name a number of their own. (Hypothesis has no door for this; the attribute is where `@settings` leaves them.)"""
    if config.getoption("--hypothesis-profile") != "sanitize":
        return
    most = settings.get_profile("sanitize").max_examples
    for item in items:
        test: Any = getattr(item, "obj", None)
        if own := getattr(test, "_hypothesis_internal_use_settings", None):
            test._hypothesis_internal_use_settings = settings(own, max_examples=min(most, own.max_examples))


@pytest.fixture(scope="session")
def golden() -> Path:
    """The committed numbers."""
    return HERE / "golden"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Data that is not in the repository; the test that asks for it skips where it is absent."""
    folder = Path(os.environ.get("SPINNEY_SHARED") or HERE.parent.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"no shared folder at {folder}; set SPINNEY_SHARED to run this test")
    return folder
