"""A paper's repository with a history, and helpers for tests of workspaces and collection."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from expbench.workspace import Source, from_git

SECRET = "the secret recipe: rate = 0.125"
MASKED = ("src/train.py", "configs/best.yaml")


def run_git(cwd: Path, *args: str, stdin: bytes = b"") -> str:
    """The user's own git, far from the harness's settings."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    identity = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    command = ["git", *identity, "-c", "safe.directory=*", *args]
    done = subprocess.run(
        command, cwd=cwd, env=environment, input=stdin, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode(errors="replace").strip()


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(root: Path, message: str) -> str:
    run_git(root, "add", "-A", "-f")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD")


def snapshot(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file below a folder, without git: kind (executable, file or link) and bytes."""
    found: dict[str, tuple[str, bytes]] = {}
    for path in root.rglob("*"):
        inside = path.relative_to(root)
        name = os.fsencode(inside).decode("utf-8", "backslashreplace")
        if ".git" in inside.parts:
            continue
        if path.is_symlink():
            found[name] = ("l", os.fsencode(path.readlink()))
        elif path.is_file():
            found[name] = ("x" if path.stat().st_mode & 0o100 else "f", path.read_bytes())
    return found


def child(root: Path, name: bytes) -> Path:
    """A file by a name that need not be text."""
    return root / os.fsdecode(name)


@dataclass(frozen=True)
class Upstream:
    """A paper's repository with a history: its folder and the commit to pin."""

    root: Path
    commit: str

    def source(self, cache: Path) -> Source:
        return from_git(str(self.root), self.commit, cache)


def make_upstream(root: Path) -> Upstream:
    """Masked content in the pin and before and after it, in tags, a branch, a stash, a note."""
    run_git(root, "init", "-q", "-b", "main")
    write(root, {"src/train.py": f"# draft\n# {SECRET}\n", "README.md": "first"})
    commit(root, "first draft")
    run_git(root, "tag", "v0")
    write(
        root,
        {
            "src/train.py": f"# {SECRET}\nrate = 0.125\n",
            "src/model.py": "class Model:\n    pass\n",
            "src/__init__.py": "",
            "configs/best.yaml": f"# {SECRET}\n",
            "configs/base.yaml": "rate: 0.5\n",
            "README.md": f"results: {SECRET}",
            "ReadMe_CN.rst": SECRET,
            "readme.zh-CN.txt": SECRET,
            "README": SECRET,
            "docs/README.md": "how to run\n",
            "READMEANT.py": "kept = True\n",
            "run.sh": "#!/bin/sh\n",
        },
    )
    (root / "run.sh").chmod(0o755)
    (root / "latest").symlink_to("configs/base.yaml")
    pin = commit(root, "the pinned one")
    run_git(root, "tag", "-a", "v1", "-m", f"release, {SECRET}")
    run_git(root, "notes", "add", "-m", SECRET)
    run_git(root, "checkout", "-q", "-b", "side", "v0")
    write(root, {"src/train.py": f"# side {SECRET}\n"})
    commit(root, "on the side")
    run_git(root, "checkout", "-q", "main")
    write(root, {"src/train.py": f"# later {SECRET}\n", "README.md": "after"})
    commit(root, "after the pin")
    write(root, {"src/model.py": f"# stash {SECRET}\n"})
    run_git(root, "stash", "-q")
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n# {SECRET}\n")
    hook.chmod(0o755)
    return Upstream(root, pin)
