"""The commit of the harness itself, which a run's manifest has where there is one (R41)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import expbench
from expbench.checkout import commit
from expbench.planning import Options, plan
from expbench.sandboxes.host import SandboxHost


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_checkout_has_its_commit_and_whether_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: SandboxHost
) -> None:
    file = tmp_path / "src" / "expbench" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text("")
    monkeypatch.setattr(expbench, "__file__", str(file))
    options = Options(agent="null", out=tmp_path / "run", cache=host.cache.root)
    assert commit() == "" and "expbench commit" not in plan(options).versions, "a release has none"
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "src")
    _git(tmp_path, "commit", "-qm", "first")
    _git(tmp_path, "tag", "v1", "-m", "v1")
    head = _git(tmp_path, "rev-parse", "HEAD")
    assert commit() == head
    (tmp_path / "notes.txt").write_text("not of the package")
    assert commit() == head
    file.write_text("changed = True\n")
    assert plan(options).versions["expbench commit"] == f"{head}-dirty"
