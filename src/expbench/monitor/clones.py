"""Repositories of other projects that an agent has cloned: their history is nobody's secret."""

from __future__ import annotations

from dataclasses import dataclass, field

from expbench.monitor.addresses import Project, split_url
from expbench.monitor.commands import Command
from expbench.monitor.findings import Severity

Judged = tuple[Severity, str]
_NETWORK = ("gets the task's own repository", "gets another version of the repository from")


@dataclass
class Clones:
    """The folders of such clones, and whether commands run in one of them."""

    project: Project
    folders: set[str] = field(default_factory=set)
    inside: bool = False
    carried: bool = False
    """Whether the folder was entered by an earlier call, whose shell may have been another one."""

    def begin(self) -> None:
        """A new call begins."""
        self.carried = self.inside

    def note(self, command: Command) -> None:
        """Remember what a command clones, and where it goes."""
        words = command.words
        if command.program == "git" and "clone" in words[1:8]:
            plain = [w for w in words[words.index("clone") + 1 :] if not w.startswith("-")]
            for at, word in enumerate(plain):
                host, path = split_url(word)
                if host and path and not self.project.is_same(word):
                    name = path.rstrip("/").rpartition("/")[2].removesuffix(".git")
                    self.folders.add((plain[at + 1] if at + 1 < len(plain) else name).rstrip("/"))
        elif command.program in {"cd", "pushd", "popd"}:
            self.inside = self._is_clone((*words[1:], "")[0])
            self.carried = False

    def softened(self, command: Command, judged: Judged | None) -> Judged | None:
        """What a git command means here: nothing in such a clone, which may have been left since."""
        words = command.words
        place = words[words.index("-C") + 1 :][:1] if "-C" in words[:6] else ()
        here = self._is_clone(place[0]) if place else self.inside
        moved = any(word.startswith(("--git-dir", "--work-tree")) for word in words)
        if judged is None or not here or moved or judged[1].startswith(_NETWORK):
            return judged
        return ("suspicious", judged[1]) if self.carried and not place else None

    def _is_clone(self, path: str) -> bool:
        clean = path.rstrip("/")
        return any(clean == each or clean.startswith(f"{each}/") for each in self.folders)
