"""From an attempt in a run's report to its trajectory in Inspect's viewer, in a real browser."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import browser, find_browser

from expbench.report.viewer import HOST, PORT, viewer_addresses

TASK = "mini/bandits/0"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one task by the program of this package that hands in nothing."""
    folder = tmp_path_factory.mktemp("viewed") / "run"
    command = [sys.executable, "-m", "expbench", "run", "--agent", "null", "--suite", "mini"]
    options = ["--task", TASK, "--judge", "baseline", "--out", str(folder)]
    environment = os.environ | {"XDG_CACHE_HOME": str(folder.parent / "cache")}
    subprocess.run([*command, *options], env=environment, check=True, timeout=300)
    return folder


@pytest.fixture
def port(run: Path) -> Iterator[int]:
    """Where the run's viewer answers."""
    with socket.create_server((HOST, 0)) as free:
        number = int(free.getsockname()[1])
    command = [sys.executable, "-m", "expbench", "view", str(run), "--port", str(number)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://{HOST}:{number}/")
            yield number
        finally:
            server.terminate()


def wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def linked(run: Path) -> str:
    page = (run / "report" / "index.html").read_text("utf-8")
    found = re.findall(rf'href="(http://{HOST}:{PORT}/[^"]+)"', page)
    assert len(found) == 1
    return str(found[0])


@pytest.mark.skipif(find_browser() is None, reason="no Chromium on the search path: install it")
def test_the_link_of_an_attempt_opens_its_trajectory(run: Path, port: int) -> None:
    address = linked(run).replace(f":{PORT}/", f":{port}/")
    with browser(find_browser() or "") as tab:
        tab.call("Page.navigate", url=address)
        tab.until("!!document.body && document.body.innerText.includes('(Epoch 1)')")
        shown = json.dumps(f"Sample {TASK} (Epoch 1)")
        tab.until(f"document.body.innerText.includes({shown})")
        tab.until("document.body.innerText.includes('Five policies play a five-armed')")


def log(folder: Path, name: str, *samples: str) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        for sample in samples:
            archive.writestr(f"samples/{sample}.json", "{}")


def test_an_attempt_is_looked_up_in_the_latest_log_that_has_it(tmp_path: Path) -> None:
    log(tmp_path, "1.eval", "a/b/0_epoch_1", "a/b/1_epoch_1")
    log(tmp_path, "2.eval", "a/b/1_epoch_1", "a/b/1_epoch_2")
    (tmp_path / "3.eval").write_bytes(b"PK torn")
    found = viewer_addresses(tmp_path)
    assert {key: address.split("/")[5] for key, address in found.items()} == {
        ("a/b/0", 1): "1.eval",
        ("a/b/1", 1): "2.eval",
        ("a/b/1", 2): "2.eval",
    }
    assert found["a/b/1", 2].endswith("/samples/sample/a%2Fb%2F1/2/")
    assert viewer_addresses(tmp_path / "none") == {}
