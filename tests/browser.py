"""A real browser for tests: Chromium without a window, spoken to by its own protocol over a pipe.

No port is opened and no driver is needed. Input goes in as events of a mouse and a keyboard, so that a page
is used as a person uses it.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PATIENCE = 30.0
_KEYS = {"Escape": 27, "Enter": 13, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38}


def find_browser() -> str | None:
    """The path of a Chromium, or nothing."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a running browser. ``complaints`` has errors of the console, ``requests`` all addresses.

    What a page asks in a dialog is answered with yes; ``dialogs`` has the kinds.
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.another()

    def another(self) -> str:
        """Open a further tab and turn to it; the name of the one before, for :meth:`turn_to`."""
        before, self._session = self._session, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return before

    def turn_to(self, tab: str) -> str:
        """Turn to another tab; the name of the one before."""
        before, self._session = self._session, tab
        return before

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Do one thing and return what it gave. Raises RuntimeError."""
        number = self._send(method, params)
        deadline = time.monotonic() + _PATIENCE
        while (answer := self._next(deadline)).get("id") != number:
            self._hear(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _send(self, method: str, params: dict[str, Any]) -> int:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._number

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._read, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _hear(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(params["type"])
            self._send("Page.handleJavaScriptDialog", {"accept": True})

    def open(self, page: Path | str) -> None:
        """Load a file, or an address, and wait until it is there."""
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.until("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page. Raises RuntimeError."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true. Raises RuntimeError."""
        deadline = time.monotonic() + _PATIENCE
        while not self.run(script):
            if time.monotonic() > deadline:
                raise RuntimeError(f"it never came true: {script}")
            time.sleep(0.02)

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Give the page a window of so many pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def prefer(self, scheme: str) -> None:
        """Have the system ask for a ``light`` or ``dark`` page."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def click(self, selector: str) -> None:
        """Press and let go the mouse on the first element that fits. Raises RuntimeError."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        at = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **at)

    def key(self, key: str, control: bool = False) -> None:
        """Press and let go a key, by its name or its letter, with Ctrl where that is wanted."""
        code = _KEYS.get(key, ord(key[0].upper()))
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        base = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 2 if control else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **base, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **base)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        for sign in text:
            self.key(sign)

    def write(self, text: str) -> None:
        """Have a text stand in what has the focus, as an input method does."""
        self.call("Input.insertText", text=text)

    def picture(self, file: Path, whole: bool = False) -> None:
        """Keep a picture of the window, or of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))


def _high(*descriptors: int) -> list[int]:
    """The same, out of the way of 3 and 4."""
    found = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in descriptors]
    for each in descriptors:
        os.close(each)
    return found


@contextmanager
def browser(path: str) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it. Raises RuntimeError."""
    to_browser, write = _high(*os.pipe())
    read, from_browser = _high(*os.pipe())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The protocol's pipe is descriptors 3 and 4 of the browser; a shell puts them there.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        options = [
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={profile}",
        ]
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", path, *options],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            found = Browser(write, read)
            yield found
            found._session = ""
            found.call("Browser.close")
        finally:
            os.close(write)
            os.close(read)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
