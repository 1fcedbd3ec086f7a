"""Container engines: finding out what one really holds, and asking it for things within a deadline.

An engine is only asked to start and to remove containers and to tell about them. What runs inside goes
over a socket to our supervisor (``container_box``), so that a command costs a message, a time-out ends
the command's whole tree, and no daemon stands between.

Every container carries whose it is as labels. A harness that was killed leaves its containers behind;
:func:`sweep` removes those of harnesses of this machine that are no more, and nobody else's.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from expbench.errors import PrerequisiteError, SandboxError
from expbench.sandboxes.engine_facts import EngineFacts, Program, of_docker, of_podman
from expbench.workspace.owners import runs_here, start_time

_OUTPUT_CAP = 1024**2
_NAMES = {"docker": "Docker", "podman": "Podman"}
_EMPTY = (
    "import os, shutil\n"
    "for entry in os.scandir('/gone'):\n"
    "    if entry.is_dir(follow_symlinks=False):\n"
    "        shutil.rmtree(entry.path)\n"
    "    else:\n"
    "        os.unlink(entry.path)\n"
)


@dataclass(frozen=True)
class Answer:
    """What an engine's client said: exit code and both streams, cut after 1 MiB each."""

    code: int
    stdout: str
    stderr: str

    @property
    def why(self) -> str:
        """The last line of its complaint."""
        lines = self.stderr.strip().splitlines() or self.stdout.strip().splitlines()
        told = [line for line in lines if line and not line.startswith(("Run '", "See '"))]
        return told[-1] if told else f"exit code {self.code}"


@dataclass(frozen=True)
class Engine:
    """A container engine's client on this machine.

    ``host`` is the daemon's address, ``unix:///…``; the client's own choice without one. ``options``
    come before every command, ``deadline`` is in seconds for one call, ``path`` is the client's file.
    """

    program: Program
    host: str | None = None
    options: tuple[str, ...] = ()
    deadline: float = 60.0
    path: str | None = None

    def call(self, *arguments: str, deadline: float | None = None) -> Answer:
        """Run one command of the client to its end. Its exit code may be anything.

        Raises:
            PrerequisiteError: the client is not installed.
            SandboxError: it did not answer within the deadline; it was killed (R24).
        """
        patience = deadline or self.deadline
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            # Files and not pipes: a child of the client that holds a pipe open blocks nobody.
            process = subprocess.Popen(
                [*self._client(), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                cwd="/",
            )
            try:
                code = process.wait(patience)
            except subprocess.TimeoutExpired:
                raise SandboxError(
                    f"{self.program} {arguments[0]} did not answer within {patience:g} s: "
                    f"look whether `{self.program} info` answers, and restart the engine if not."
                ) from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            return Answer(code, _text(stdout), _text(stderr))

    def _client(self) -> list[str]:
        path = self.path or shutil.which(self.program)
        if path is None:
            raise PrerequisiteError(
                f"The sandbox {self.program} needs {_NAMES[self.program]}: install it, "
                "or choose another sandbox."
            )
        option = "--url" if self.program == "podman" else "--host"
        return [path, *self.options, *([option, self.host] if self.host else [])]

    def probe(self) -> EngineFacts:
        """What the engine is and which limits it holds; asked once it has answered.

        Raises:
            PrerequisiteError: it is not installed, not on this machine, or does not answer.
        """
        return _probe(self)

    def image_id(self, image: str) -> str:
        """The digest of an image that is there, ``sha256:…``. Nothing is ever fetched by itself.

        Raises:
            PrerequisiteError: the image is not there.
            SandboxError: the engine does not answer.
        """
        answer = self.call("image", "inspect", "--format", "{{.Id}}", image)
        if answer.code != 0:
            raise PrerequisiteError(
                f"{self.program} has no image {image} ({answer.why}): build it with `{self.program} "
                f"build --tag {image} images/agent`, or fetch it with `{self.program} pull {image}`."
            )
        return "sha256:" + answer.stdout.strip().removeprefix("sha256:")

    def build_image(
        self, folder: Path, tag: str, variant: str = "", deadline: float = 3600.0
    ) -> str:
        """Build ``folder/Dockerfile``, or ``Dockerfile.VARIANT``, and give the image's digest.

        Raises:
            PrerequisiteError: there is no such file, or it cannot be built.
            SandboxError: the engine does not answer within the deadline in seconds.
        """
        recipe = folder / (f"Dockerfile.{variant}" if variant else "Dockerfile")
        if not recipe.is_file():
            raise PrerequisiteError(f"There is no {recipe}: give the folder images/agent.")
        answer = self.call(
            "build", "--tag", tag, "--file", str(recipe), str(folder), deadline=deadline
        )
        if answer.code != 0:
            raise PrerequisiteError(f"{recipe} cannot be built: {answer.why}")
        return self.image_id(tag)

    def ensure_image(self, image: str, folder: Path | None = None, variant: str = "") -> str:
        """The digest of an image, built from ``folder`` when it is not there and one is given.

        Raises:
            PrerequisiteError: it is not there and cannot be built.
        """
        try:
            return self.image_id(image)
        except PrerequisiteError:
            if folder is None:
                raise
            return self.build_image(folder, image, variant)

    @property
    def removal(self) -> tuple[str, ...]:
        """The command that kills and removes containers at once; Podman would wait first."""
        now = ("--time", "0") if self.program == "podman" else ()
        return ("rm", "--force", *now, "--volumes")

    def remove(self, names: list[str]) -> None:
        """Kill and remove containers with their anonymous volumes.

        Raises:
            SandboxError: the engine does not answer, or could not.
        """
        answer = self.call(*self.removal, *names)
        if answer.code != 0 and "no such container" not in answer.stderr.lower():
            raise SandboxError(f"{self.program} could not remove {' '.join(names)}: {answer.why}")

    def labelled(self, label: str) -> list[str]:
        """Ids of all containers, running or not, with a label ``name=value``."""
        answer = self.call("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={label}")
        if answer.code != 0:
            raise SandboxError(f"{self.program} could not list its containers: {answer.why}")
        return answer.stdout.split()

    def remove_tree(self, folder: Path, image: str) -> None:
        """Remove a folder in which a container's root has left what this user cannot remove (R27).

        Args:
            image: any image that has a ``python3``.

        Raises:
            SandboxError: something of it is still there.
        """
        whole = folder.parent.resolve() / folder.name
        if whole.is_symlink() or not whole.is_dir():
            whole.unlink(missing_ok=True)
            return
        if self.program == "podman" and os.geteuid() != 0:
            self.call("unshare", "rm", "-rf", "--", str(whole))
        else:
            self.call(*_emptying(self.probe(), whole, image))
        with contextlib.suppress(OSError):
            whole.rmdir()
        if whole.exists():
            raise SandboxError(f"{whole} could not be removed: remove it as root.")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_OUTPUT_CAP).decode(errors="replace")


def _emptying(facts: EngineFacts, folder: Path, image: str) -> list[str]:
    """A container's root may remove everybody's files, and does nothing else."""
    rights = ("DAC_OVERRIDE", "FOWNER")
    return [
        *("run", "--rm", "--pull", "never", "--network", "none", "--user", "0:0", "--read-only"),
        *("--cap-drop", "ALL", *(text for right in rights for text in ("--cap-add", right))),
        *(("--userns", "host") if facts.remapped else ()),
        *(("--security-opt", "label=disable") if facts.selinux else ()),
        *("--mount", f'type=bind,"src={folder}",dst=/gone'),
        *("--entrypoint", "python3", image, "-I", "-S", "-c", _EMPTY),
    ]


@functools.cache
def _probe(engine: Engine) -> EngineFacts:
    program = engine.program
    if engine.host is not None and not engine.host.startswith("unix://"):
        raise PrerequisiteError(
            f"{program} at {engine.host} is not on this machine, but sandboxes are reached over a "
            "socket file: give a unix:// address, or run expbench where the engine is."
        )
    try:
        answer = engine.call("info", "--format", "{{json .}}")
    except SandboxError as error:
        raise PrerequisiteError(str(error)) from None
    try:
        found = json.loads(answer.stdout)
        if answer.code != 0 or found.get("ServerErrors"):
            raise ValueError(answer.why)
        return of_docker(found) if program == "docker" else of_podman(found)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PrerequisiteError(
            f"{program} does not answer as it should ({answer.why}): start its service, and see that "
            f"this user may use it (`{program} info`)."
        ) from None


def owner_labels(run: str) -> dict[str, str]:
    """The labels of this process's containers: the run, and the process itself (R23)."""
    return {
        "expbench.run": run,
        "expbench.pid": str(os.getpid()),
        "expbench.start": start_time(os.getpid()),
        "expbench.host": this_host(),
    }


@functools.cache
def this_host() -> str:
    """This machine and its space of process ids, in which a pid means something."""
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = ""
    space = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    return f"{machine or os.uname().nodename}-{space}"


def sweep(engine: Engine, alive: Callable[[str], bool] = runs_here) -> int:
    """Remove the containers of this machine's dead harnesses, and say how many there were (R23).

    Containers without our labels, of other machines, or of living harnesses are not touched.

    Args:
        alive: whether a harness lives, by its process's id and start time, ``PID-START``.

    Raises:
        SandboxError: the engine does not answer.
    """
    ours = engine.labelled(f"expbench.host={this_host()}")
    if not ours:
        return 0
    fields = (f'{{{{index .Config.Labels "expbench.{name}"}}}}' for name in ("pid", "start"))
    answer = engine.call("inspect", "--format", " ".join(("{{.Id}}", *fields)), *ours)
    dead = []
    for line in answer.stdout.splitlines():
        # One that went away meanwhile has no line.
        name, _, owner = line.partition(" ")
        pid, _, start = owner.partition(" ")
        if name in ours and pid.isdigit() and start.isdigit() and not alive(f"{pid}-{start}"):
            dead.append(name)
    if dead:
        engine.remove(dead)
    return len(dead)
