"""A real browser for tests: Chromium without a window, driven over its debugging pipe.

No package is needed, and nothing is fetched: Chromium comes with the system, and tests that need it
skip where it is absent.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
needs_chromium = pytest.mark.skipif(not PROGRAM, reason="Chromium is not installed")
SECONDS = 60
"""How long a page may take."""


class Browser:
    """One page of a browser."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out, self._rest, self._last = into, out, b"", 0
        self._session = ""
        self._loaded: set[str] = set()
        self.asked: list[str] = []
        """The address of everything that pages asked for, the pages themselves left out."""
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self._call(f"{domain}.enable", {})
        self._call("Page.setLifecycleEventsEnabled", {"enabled": True})

    def open(
        self, page: Path | str, *, width: int = 1400, height: int = 900, dark: bool = False
    ) -> None:
        """Open a file or an address at a size, in light or dark, and wait until it is loaded."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", {"media": "screen", "features": [scheme]})
        self._own = page if isinstance(page, str) else page.as_uri()
        # By its loader: a page before may be loaded to its end only now.
        loader = self._call("Page.navigate", {"url": self._own}).get("loaderId")
        while loader and loader not in self._loaded:
            self._heard(self._read())

    def run(self, script: str) -> Any:
        """Run a script in the page, from outside of its policy, and return what it returns."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        answer = self._call("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key and let it go."""
        for kind in ("rawKeyDown", "keyUp"):
            told = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}
            self._call("Input.dispatchKeyEvent", told)
        if key == "Enter":
            self._call("Input.dispatchKeyEvent", {"type": "char", "text": "\r", "key": key})

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Write what is seen, or the whole page, to a file."""
        asked = {"format": "png", "captureBeyondViewport": whole}
        file.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", asked)["data"]))

    def print_to(self, file: Path) -> None:
        """Print the page to a PDF."""
        made = self._call("Page.printToPDF", {"printBackground": False, "paperWidth": 8.27})
        file.write_bytes(base64.b64decode(made["data"]))

    def _call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._last += 1
        told: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            told["sessionId"] = self._session
        os.write(self._into, json.dumps(told).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._last:
                if "error" in message:
                    raise AssertionError(message["error"])
                result: dict[str, Any] = message["result"]
                return result
            self._heard(message)

    def _heard(self, message: Mapping[str, Any]) -> None:
        told = message.get("params", {})
        if message.get("method") == "Page.lifecycleEvent" and told["name"] == "load":
            self._loaded.add(told["loaderId"])
        if message.get("method") == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if url.partition("#")[0] != self._own:
                self.asked.append(url)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._out, 1 << 16)
            if not got:
                raise AssertionError("Chromium has gone")
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def browser(*more: str) -> Iterator[Browser]:
    """Start Chromium, and end it afterwards."""
    ours, theirs = os.pipe(), os.pipe()  # theirs: what it reads; ours: what we read

    def pipes() -> None:
        os.dup2(theirs[0], 3)
        os.dup2(ours[1], 4)

    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        command = [
            PROGRAM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            *more,
            "about:blank",
        ]
        # The first descriptors that are free may be 3 and 4 themselves: keep ours out of the way.
        process = subprocess.Popen(
            command,
            pass_fds=(3, 4, theirs[0], ours[1]),
            preexec_fn=pipes,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Browser(theirs[1], ours[0])
        finally:
            process.terminate()
            process.wait(SECONDS)
            for end in (*ours, *theirs):
                os.close(end)
