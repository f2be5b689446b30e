"""Chromium without a window, driven through two pipes by its DevTools protocol.

Nothing is downloaded: the browser is the system's own. ``--remote-debugging-pipe`` makes it read
commands from file descriptor 3 and answer on 4, each a line of JSON that ends with a zero byte.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from typing import Any

#: Names of the program on different systems.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next((path for each in PROGRAMS if (path := shutil.which(each))), None)
#: Puts two pipes where Chromium looks for them, then becomes it.
START = """
import os, sys
first, second = (os.dup(int(each)) for each in sys.argv[1:3])
while min(first, second) < 5:
    first, second = os.dup(first), os.dup(second)
os.dup2(first, 3), os.dup2(second, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
#: Root may not use the sandbox; containers have little shared memory.
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
)


class Browser:
    """One browser with one page; close it at the end."""

    def __init__(self, folder: str) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        program = [sys.executable, "-c", START, str(commands), str(answers), str(PROGRAM)]
        self._process = subprocess.Popen(
            [*program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        os.close(commands)
        os.close(answers)
        self._numbers, self._rest, self._session = itertools.count(1), b"", None
        targets = self.call("Target.getTargets")["targetInfos"]
        (page,) = (each["targetId"] for each in targets if each["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")

    def close(self) -> None:
        """End the process that this object started."""
        self._session = None
        self.call("Browser.close")
        self._process.wait(timeout=20)
        os.close(self._commands)
        os.close(self._answers)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._answers, 1 << 16)
            if not got:
                raise RuntimeError("the browser ended")
            self._rest += got
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command; what it answers."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page; its value, awaited if it is a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def open(self, address: str) -> None:
        """Load a page, and wait until its scripts have run."""
        self.call("Page.navigate", url=address)
        self.run(
            "new Promise(done => document.readyState === 'complete' ? setTimeout(done) "
            ": addEventListener('load', () => setTimeout(done)))"
        )

    def look(self, width: int, height: int = 900, dark: bool = False) -> None:
        """Choose the size of the screen and light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str, times: int = 1) -> None:
        """Press a key of the keyboard, such as ``"ArrowRight"``."""
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9, " ": 32}
        event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="rawKeyDown", **event)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def touch(self, x: float, y: float) -> None:
        """Touch the screen at a point of the page's window."""
        point = {"x": x, "y": y}
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
