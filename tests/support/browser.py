"""Headless Chromium, driven by ChromeDriver over plain HTTP with the few WebDriver commands that the tests need."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)

LEAST_CONTRAST = """
  const lum = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
  const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)|transparent/.test(c)) return c } return 'rgb(255,255,255)' };
  let least = 99;
  for (const e of document.querySelectorAll(arguments[0])) {
    const [a, b] = [lum(getComputedStyle(e).color), lum(back(e))].sort((x, y) => y - x);
    least = Math.min(least, (a + .05) / (b + .05)) }
  return least"""
"""Script that returns the least contrast between text and background of the elements of a selector."""


def missing() -> str:
    """Return the reason why no browser can be used, or an empty string."""
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"no {' and no '.join(absent)}: apt-get install chromium chromium-driver" if absent else ""


class Browser:
    """Browser with an empty profile in ``folder``. Downloads are saved in ``folder/downloads``."""

    def __init__(self, folder: Path, *, dark: bool = False, size: tuple[int, int] = (1400, 900)) -> None:
        self.downloads = folder / "downloads"
        self.downloads.mkdir(parents=True, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._at = f"http://127.0.0.1:{port}"
        self._wait()
        flags = [*_FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={size[0]},{size[1]}"]
        flags += ["--force-dark-mode"] if dark else []
        options = {
            "binary": shutil.which("chromium"),
            "args": flags,
            "prefs": {"download.default_directory": str(self.downloads)},
        }
        wanted = {
            "capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        }
        self._session = f"/session/{self._ask('POST', '/session', wanted)['sessionId']}"

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait()

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file from disk."""
        self._ask("POST", f"{self._session}/url", {"url": page.resolve().as_uri() + fragment})

    def run(self, script: str, *words: object) -> Any:
        """Run a function body in the page and return its result."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": list(words)})

    def press(self, text: str) -> None:
        """Press keys, one after the other."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._ask("POST", f"{self._session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector: str) -> None:
        """Click in the middle of the first element, which must be visible, as a person would."""
        found = self._ask("POST", f"{self._session}/element", {"using": "css selector", "value": selector})
        self._ask("POST", f"{self._session}/element/{next(iter(found.values()))}/click", {})

    def resize(self, width: int, height: int) -> None:
        self._ask("POST", f"{self._session}/window/rect", {"width": width, "height": height})

    def picture(self, path: Path) -> None:
        """Save a screenshot of the visible part."""
        path.write_bytes(base64.b64decode(self._ask("GET", f"{self._session}/screenshot")))

    def complaints(self) -> list[str]:
        """Return the warnings and errors in the page's console."""
        rows = self._ask("POST", f"{self._session}/se/log", {"type": "browser"})
        return [row["message"] for row in rows if row["level"] in ("WARNING", "SEVERE")]

    def _wait(self) -> None:
        for _ in range(400):
            try:
                if self._ask("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("chromedriver does not answer")

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._at + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.loads(error.read())["value"]["message"].partition("\n")[0]) from None
