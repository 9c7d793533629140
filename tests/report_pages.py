"""A real browser for the tests of reports.

In:  a file.
Out: the page opened in headless Chromium, with all that it complained about or asked the network for."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def started() -> Iterator[Any]:
    """The browser; the test skips where there is none."""
    if "SPINNEY_SANITIZER" in os.environ:
        pytest.skip("a browser does not start with a sanitizer's library loaded before its own")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here: install it (Debian: apt-get install chromium) to test reports")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser; pip install it")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class Opened:
    """A page that is open."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.faults: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._asked)
        meter = self.context.new_cdp_session(self.page)
        meter.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector("body[data-ready=true]", state="attached")
        metrics = meter.send("Performance.getMetrics")["metrics"]
        # What drawing all took: seconds of the page's own thread, which do not depend on what else the machine does.
        self.seconds = next(own["value"] for own in metrics if own["name"] == "TaskDuration")

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("file:", "blob:")):
            self.faults.append(f"request: {request.url}")

    def run(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def answered(self) -> None:
        """Wait until the question that was asked last is answered."""
        self.page.wait_for_selector(".status[data-done=true]", state="attached")

    def close(self) -> None:
        self.context.close()
        assert self.faults == []


def axe_core() -> str:
    """The program of axe-core, fetched once by npm; the test skips where that cannot be."""
    folder = Path(tempfile.gettempdir()) / "spinney-axe"
    program = folder / "node_modules" / "axe-core" / "axe.min.js"
    npm = shutil.which("npm")
    if not program.exists():
        if npm is None:
            pytest.skip("no npm here, which fetches axe-core: install it to test accessibility")
        folder.mkdir(exist_ok=True)
        asked = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
        done = subprocess.run(asked, capture_output=True, timeout=120, check=False)
        if done.returncode or not program.exists():
            pytest.skip("npm could not fetch axe-core: connect to test accessibility")
    return program.read_text(encoding="utf-8")
