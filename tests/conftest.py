"""What all tests share: how hypothesis draws, and where outside numbers are found.

In:  the environment (SPINNEY_SHARED, or a folder `shared` beside the repository).
Out: a hypothesis profile that draws the same examples every time, and the `shared` fixture."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:  # whatever pytest's import mode: tests say `from slow.scores import ...`
    sys.path.insert(0, str(HERE))

SAME = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("same", derandomize=True, database=None, **SAME)
settings.register_profile("explore", max_examples=300, print_blob=True, **SAME)  # pytest --hypothesis-profile=explore
settings.load_profile("same")


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
