"""Playing a scripted agent for real in a sandbox, and keeping what it did as an example.

What differs from machine to machine or from run to run is made the same: times, process ids, addresses
of objects, where the machine's Python lies. Long texts are cut in the middle.
"""

from __future__ import annotations

import platform
import re
import sys
import tempfile
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.monitor_eval.examples import (
    Example,
    Message,
    TaskLine,
    ToolCall,
    ToolFunction,
    arguments,
    split_of,
)
from expbench.monitor_eval.scenes.acting import OWNER, Call, Scene
from expbench.monitor_eval.workspaces import MOMENT, Place, prepare, task_of
from expbench.sandboxes.environment import DEFAULT_PACKAGES, INSTALLERS, python_environment
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.session import Session
from expbench.schema import ResearchTask
from expbench.workspace import collect, parse_response, shipped_documents

SHOWN = 3_000
"""Characters of an output that are kept."""

PATIENCE = 120.0
"""Seconds that a call may take."""

_SAME = (
    (re.compile(r"\bLinux( sandbox)? \d+\.\d+\.\S+"), r"Linux\1 6.8.0"),
    (re.compile(r"\b0x[0-9a-f]{8,16}\b"), "0x7f0000000000"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?"), "2025-01-02 09:00:00"),
    (
        re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d\d:\d\d\b"),
        "Jan  2 09:00",
    ),
    (re.compile(r"\b(real|user|sys)\s+\d+m[\d.]+s"), r"\1 0m0.0s"),
    (re.compile(r"\bRan (\d+) tests? in [\d.]+s"), r"Ran \1 tests in 0.0s"),
    (re.compile(r"\btmp\.?[A-Za-z0-9_]{8,10}\b"), "tmp00000000"),
    (re.compile(r"\bpip-(req-build|install)-[a-z0-9_]{8}\b"), r"pip-\1-00000000"),
    (re.compile(r"_[0-9a-f]{32}\b"), "_0"),
    (re.compile(r"\bafter \d+ ms\b"), "after 1 ms"),
    (re.compile(r"\(pid \d+\)|\[\d+\] \d+"), "[1] 100"),
    (re.compile(r": line \d+:\s+\d+ (Killed|Terminated)"), r": line 1: 100 \1"),
)


def record(scene: Scene, host: SandboxHost) -> Example:
    """Play a scene in a fresh sandbox.

    Raises:
        InfrastructureError: the sandbox failed.
        PrerequisiteError: this machine has no sandbox, or no git.
    """
    task = task_of(scene)
    with tempfile.TemporaryDirectory(prefix="expbench-scene-") as scratch:
        place = prepare(scene, host, Path(scratch))
        try:
            python = python_environment(host.cache.envs, (*DEFAULT_PACKAGES, *INSTALLERS))
            moments = {"GIT_AUTHOR_DATE": MOMENT, "GIT_COMMITTER_DATE": MOMENT, "PIP_RETRIES": "0"}
            with host.start(place.folder, python=python, environment=moments) as session:
                messages = _act(scene, session)
            return _example(scene, task, place, messages)
        finally:
            host.discard(place.folder)


def _act(scene: Scene, session: Session) -> list[Message]:
    messages: list[Message] = []
    acting = scene.act()
    try:
        call = next(acting)
        while True:
            output = ""
            if call.tool == "say":
                messages.append(Message(role="assistant", content=call.text))
            else:
                output = _do(call, session)
                messages += _recorded(call, output, len(messages))
            call = acting.send(output)
    except StopIteration:
        return messages


def _do(call: Call, session: Session) -> str:
    """One call's output, as the agent sees it."""
    if call.tool == "write_file":
        write = ["bash", "-c", 'mkdir -p "$(dirname "$1")" && cat > "$1"', "write", call.path]
        done = session.run(write, stdin=call.text.encode(), timeout=PATIENCE)
        if done.exit_code:
            raise InfrastructureError(f"{call.path} was not written: {done.stderr.decode()}")
        return f"wrote {call.path}"
    argv = ["bash", "-c", call.text] if call.tool == "bash" else ["python", "-c", call.text]
    done = session.run(argv, timeout=PATIENCE)
    text = (done.stdout + done.stderr).decode("utf-8", errors="replace")
    return f"{text}\n[failed]" if done.exit_code else text


def _recorded(call: Call, output: str, number: int) -> list[Message]:
    name = f"call-{number}"
    given = {
        "bash": {"command": call.text},
        "python": {"code": call.text},
        "write_file": {"path": call.path, "text": call.text},
    }[call.tool]
    function = ToolFunction(name=call.tool, arguments=arguments(given))
    return [
        Message(role="assistant", content="", tool_calls=(ToolCall(id=name, function=function),)),
        Message(role="tool", tool_call_id=name, content=same_everywhere(output)),
    ]


def _example(scene: Scene, task: ResearchTask, place: Place, messages: list[Message]) -> Example:
    found = collect(place.folder, place.prepared)
    response = parse_response(found.response)
    return Example(
        id=scene.id,
        task=_published(task, scene) if scene.published else task.id,
        messages=tuple(messages),
        design=response.design or "",
        conclusion=response.conclusion or "",
        patch=same_everywhere(found.diff, 4 * SHOWN),
        script=(found.script or b"").decode("utf-8", errors="replace"),
        shipped=_shipped(scene, place),
        labels=scene.labels,
        allowed=scene.allowed,
        kind=scene.kind,
        disguise=scene.disguise,
        note=scene.note,
        split=scene.split or split_of(scene.kind, scene.disguise),
    )


def _shipped(scene: Scene, place: Place) -> dict[str, str] | None:
    """The documents that the workspace ships, where they are not those of the suite's task."""
    own = scene.ground == "results" or scene.published
    return shipped_documents(place.prepared) if own else None


def _published(task: ResearchTask, scene: Scene) -> TaskLine:
    """The task as one of the release would be: with a repository that has an address."""
    return TaskLine(
        id=f"published/{scene.study.package}/{task.id.rsplit('/', 1)[1]}",
        title=task.title,
        question=task.question,
        method=task.method,
        masked=task.mask,
        repository=f"https://github.com/{OWNER}/{scene.study.package}",
    )


def same_everywhere(text: str, shown: int = SHOWN) -> str:
    """A text without what is of this machine or moment, cut in the middle to so many characters."""
    for prefix in {sys.base_prefix, str(Path(sys.base_prefix).resolve())}:
        if prefix not in ("/usr", "/usr/local"):
            text = text.replace(prefix, "/usr/local")
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    if len(text) > shown:
        half = shown // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
    return text


def names_machine(text: str) -> list[str]:
    """What in a text is of this machine: its name, or a path of its users."""
    name = platform.node()
    found = re.findall(r"(?<![\w.~/-])/(?:work|root|Users|home/(?!agent\b)\w+)/[^\s\"\\]*", text)
    if name and name not in ("localhost", "sandbox"):
        found += re.findall(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text)
    return list(dict.fromkeys(found))
