"""What is changed in a sandbox before an experiment is run once more: its seeds, or what its code computes.

Both are tracers (:mod:`expbench.execution.tracer`) that do not look on but disturb, and tell afterwards what
they reached. A disturbance that cannot be prepared is a failure of the harness: SandboxError.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expbench.errors import SandboxError
from expbench.execution.tracer import Observed, Scene
from expbench.sandboxes.environment import TRACED
from expbench.sandboxes.session import Session
from expbench.schema import Trace

_SEEDS = Path(__file__).with_name("seed_hook.py")
_REWRITING = Path(__file__).with_name("rewriting.py")
_MODULE = "expbench_hook.py"
_SITE = """\
import sys
sys.path.insert(0, {folder!r})
try:
    import expbench_hook
finally:
    sys.path.remove({folder!r})
    here, sys.path[:] = list(sys.path), [each for each in sys.path if each != {site!r}]
    del sys.modules["sitecustomize"]
    try:
        import sitecustomize
    except ImportError:
        pass
    sys.path[:] = here
"""
_PLACE = 'umask 077; mkdir -p "$(dirname "$1")" && cat > "$1"'
_TOLD = 'cat "$1"/*.seeds 2> /dev/null; test ! -e "$1/hit" || echo hit'
_SECONDS = 60.0
_SAID = 32 * 1024**2
_OBSERVED = Observed(Trace(by="none", reason="a disturbed run is not looked at"))


def _folder() -> str:
    return f"/tmp/.expbench-{secrets.token_hex(4)}"


@dataclass
class OtherSeeds:
    """Every seed that Python's libraries are given is one higher (:mod:`expbench.execution.seed_hook`).

    ``drawn``: a process drew from a generator that was seeded.
    """

    own: tuple[str, ...] = ()
    folder: str = field(default_factory=_folder)
    drawn: bool = False

    def prepare(self, session: Session) -> None:
        text = f"{_SEEDS.read_text('utf-8')}\n\nbegin({self.folder!r})\n"
        site = f"{self.folder}/site"
        _write(session, f"{self.folder}/{_MODULE}", text)
        _write(session, f"{site}/sitecustomize.py", _SITE.format(folder=self.folder, site=site))

    def wrap(self, command: Sequence[str]) -> list[str]:
        return list(command)

    def environment(self) -> dict[str, str]:
        return {TRACED: self.folder, "PYTHONPATH": f"{self.folder}/site"}

    def collect(self, scene: Scene) -> Observed:
        self.drawn = "drawn" in _told(scene.session, self.folder)
        return _OBSERVED


@dataclass
class OtherNumbers:
    """Every number that the workspace's Python computes is another (:mod:`expbench.execution.rewriting`).

    ``script`` is the path of the script in the workspace. ``reached``: a number was changed. ``whole``: all
    Python that the script names could be rewritten. ``scripts`` are the texts of it and those it names.
    """

    script: str
    own: tuple[str, ...] = ()
    folder: str = field(default_factory=_folder)
    reached: bool = False
    whole: bool = False
    scripts: tuple[str, ...] = ()

    def prepare(self, session: Session) -> None:
        words = ["python3", "-", session.workspace, self.folder, self.script]
        done = session.run(words, stdin=_REWRITING.read_bytes(), timeout=_SECONDS, output_cap=_SAID)
        try:
            answer = json.loads(done.stdout)
            self.whole, self.scripts = bool(answer["whole"]), tuple(map(str, answer["scripts"]))
        except (ValueError, KeyError, TypeError):
            said = done.error or done.stderr.decode(errors="replace").strip()[-200:]
            raise SandboxError(f"its Python could not be rewritten: {said}") from None

    def wrap(self, command: Sequence[str]) -> list[str]:
        return list(command)

    def environment(self) -> dict[str, str]:
        return {}

    def collect(self, scene: Scene) -> Observed:
        self.reached = "hit" in _told(scene.session, self.folder)
        return _OBSERVED


def _write(session: Session, path: str, text: str) -> None:
    words = ["sh", "-c", _PLACE, "sh", path]
    done = session.run(words, stdin=text.encode(), timeout=_SECONDS)
    if done.exit_code != 0 or done.error:
        raise SandboxError("the disturbance cannot be written to /tmp of the sandbox")


def _told(session: Session, folder: str) -> set[str]:
    try:
        done = session.run(["sh", "-c", _TOLD, "sh", folder], timeout=_SECONDS)
    except SandboxError:
        return set()
    return set(done.stdout.decode(errors="replace").split())
