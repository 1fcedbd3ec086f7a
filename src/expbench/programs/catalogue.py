"""The programs that can be installed, each pinned with all that it stands on.

What a Python program needs is listed in ``locks/NAME.txt``, one ``name==version`` a line, and nothing else
is installed: the lists leave out what the programs declare and these agents never load (data sets, browsers,
terminal interfaces). They are made by hand from a whole installation, and tried by the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal

from expbench.errors import NotFoundError


@dataclass(frozen=True)
class Program:
    """One program: a Python or an npm package.

    ``packages`` are those whose version ``version`` is, the first one the program itself; what else is
    needed stands in the lock. ``least_python`` is the oldest minor version of Python 3 that it runs on.
    ``check`` is a command that ends well where it works; ``{root}`` stands for its folder inside, and
    ``{node}`` for Node.js, which a program whose check names it needs.
    """

    name: str
    version: str
    packages: tuple[str, ...]
    kind: Literal["python", "npm"]
    check: tuple[str, ...]
    least_python: int = 11
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_node(self) -> bool:
        return "{node}" in self.check

    def requirements(self, version: str) -> tuple[str, ...]:
        """Everything that is installed for a version, each with its own."""
        if self.kind == "npm":
            return tuple(f"{name}@{version}" for name in self.packages)
        own = [f"{name}=={version}" for name in self.packages]
        lines = _lock(self.name).splitlines()
        return (*own, *(line for line in lines if line.partition("==")[0] not in self.packages))


def _lock(name: str) -> str:
    place = files("expbench.programs") / "locks" / f"{name}.txt"
    return place.read_text("utf-8") if place.is_file() else ""


def _imports(*modules: str) -> tuple[str, ...]:
    return ("{root}/bin/python", "-I", "-c", f"import {', '.join(modules)}")


LITELLM: Mapping[str, str] = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""It would ask the network for prices at every start."""

PROGRAMS: Mapping[str, Program] = {
    each.name: each
    for each in (
        Program(
            "mini-swe-agent",
            "2.4.6",
            ("mini-swe-agent",),
            "python",
            _imports("minisweagent.agents.default", "minisweagent.models.litellm_model"),
            variables={"MSWEA_SILENT_STARTUP": "1", "MSWEA_CONFIGURED": "true", **LITELLM},
        ),
        Program(
            "openhands",
            "1.58.2",
            ("openhands-sdk", "openhands-tools"),
            "python",
            _imports("openhands.sdk", "openhands.tools.terminal", "openhands.tools.file_editor"),
            least_python=12,
            variables={"OPENHANDS_SUPPRESS_BANNER": "1", **LITELLM},
        ),
        Program("curie", "0.1.12", ("curie-ai",), "python", _imports("curie")),
        Program(
            "codex_cli",
            "0.169.0",
            ("@openai/codex",),
            "npm",
            ("{root}/bin/codex", "--version"),
        ),
        Program(
            "claude_code",
            "2.1.328",
            ("@anthropic-ai/claude-code",),
            "npm",
            ("{root}/bin/claude", "--version"),
        ),
        Program(
            "gemini_cli",
            "0.61.0",
            ("@google/gemini-cli",),
            "npm",
            ("{node}", "{root}/bin/gemini", "--version"),
        ),
        Program(
            "opencode",
            "1.18.33",
            ("opencode-ai",),
            "npm",
            ("{root}/bin/opencode", "--version"),
        ),
    )
}
"""By name, which is the agent's."""

LINKS: Mapping[str, tuple[str, str]] = {
    "codex_cli": ("codex", "@openai/codex-linux-*/vendor/*/bin/codex"),
    "claude_code": ("claude", "@anthropic-ai/claude-code-linux-*/claude"),
    "gemini_cli": ("gemini", "@google/gemini-cli/bundle/gemini.js"),
    "opencode": ("opencode", "opencode-linux-*/bin/opencode"),
}
"""The name in ``bin`` of what npm brings, and where it lies in ``node_modules``. All but one are built for
the machine and run without Node.js."""


def program(name: str) -> Program:
    """A program by its agent's name, which may have an argument after a colon. Raises NotFoundError."""
    try:
        return PROGRAMS[name.partition(":")[0]]
    except KeyError:
        raise NotFoundError(
            f"There is no program of an agent {name!r} to install: choose one of {', '.join(PROGRAMS)}."
        ) from None
