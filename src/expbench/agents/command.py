"""``command:FILE.toml``: any executable as an agent, inside the sandbox.

The file says what to run, and no more is needed of a program than to read a prompt and to leave files::

    run = ["python", "my_agent.py"]                  # started in the repository's root
    prompt = "stdin"                                 # or "file", or "argument", the last one
    files = { "my_agent.py" = "src/my_agent.py" }    # brought into the sandbox, beside the workspace
    env = { STYLE = "careful" }
    model = true                                     # base URLs of the run's model are set inside

A word of ``run`` that is a name of ``files`` stands for its path inside; ``{prompt}`` for the path of
the prompt's file. Host paths are below the TOML file's folder.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from anyio import to_thread
from inspect_ai.agent import AgentState
from inspect_ai.util import sandbox
from pydantic import Field, ValidationError, field_validator

from expbench.agents.bridging import NO_KEY, Bridge, bridge
from expbench.agents.kinds import AgentKind, AgentRunner
from expbench.agents.program import exit_sentence, run_program
from expbench.agents.workspace import Result
from expbench.budgets import remaining
from expbench.errors import AgentExit, DataError, NotFoundError, SandboxError
from expbench.redaction import redacted
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment
from expbench.sandboxes.transport import put_tree
from expbench.schema import Record, ResearchTask

FOLDER = "/tmp/agent"
"""Where an agent's own files lie in the sandbox: outside the workspace, so they are not handed in."""

PROMPT_FILE = f"{FOLDER}/prompt.txt"

_ARGUMENT_BYTES = 120_000
_LARGEST = 100 * 1024**2
_SKIPPED = ("__pycache__", ".git")


class CommandFile(Record):
    """The TOML file."""

    run: tuple[str, ...]
    prompt: Literal["stdin", "file", "argument"] = "stdin"
    files: dict[str, str] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)
    model: bool = False

    @field_validator("run")
    @classmethod
    def _is_named(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not value[0] or any("\0" in word for word in value):
            raise ValueError("the first word must name a program")
        return value

    @field_validator("files")
    @classmethod
    def _stay_below(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"{name!r} must be a relative name without '..'")
            if path == PurePosixPath("prompt.txt"):
                raise ValueError("the name 'prompt.txt' is the prompt's own")
        return value


@dataclass(frozen=True)
class Command:
    """A command file that was read, with the folder that its paths are below."""

    name: str
    settings: CommandFile
    base: Path

    @property
    def sources(self) -> dict[str, Path]:
        """The files and folders to be brought in, by their name inside."""
        return {name: self.base / place for name, place in self.settings.files.items()}

    def argv(self, prompt: str) -> list[str]:
        """The command line inside. Raises AgentExit where no command line can hold the prompt."""
        names = {name: f"{FOLDER}/{name}" for name in self.settings.files}
        words = [
            names.get(word, word.replace("{prompt}", PROMPT_FILE)) for word in self.settings.run
        ]
        if self.settings.prompt != "argument":
            return words
        if len(prompt.encode()) > _ARGUMENT_BYTES:
            raise AgentExit(
                126, "the prompt is too long for an argument: set prompt to file or stdin"
            )
        return [*words, prompt]


def make_command(argument: str, base: Path) -> AgentRunner:
    """``command:FILE.toml``.

    Raises:
        NotFoundError: the file, or one that it names, is not there.
        DataError: it is not of the documented form.
    """
    if not argument:
        raise NotFoundError("The command agent needs its file: --agent command:my_agent.toml.")
    command = read_command(base / argument)

    async def run(task: ResearchTask, state: AgentState) -> None:
        await _work(command, state)

    return AgentRunner(
        f"command:{argument}",
        run,
        version=f"sha256 {_digest(command)[:12]}",
        needs_model=command.settings.model,
    )


def read_command(path: Path) -> Command:
    """A command file. Raises NotFoundError, DataError."""
    try:
        settings = CommandFile.model_validate(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}: give your command's TOML file.") from None
    except OSError as error:
        raise DataError(f"The command file {path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        raise DataError(f"The command file {path} is wrong: {_first(error)}.") from None
    except ValueError as error:
        raise DataError(f"The command file {path} is not valid TOML: {error}.") from None
    command = Command(path.name, settings, path.resolve().parent)
    _check(command, path)
    return command


def _first(error: ValidationError) -> str:
    """What is wrong with a file, in words."""
    found = error.errors()[0]
    place = ".".join(str(part) for part in found["loc"])
    if found["type"] == "extra_forbidden":
        return f"it has no key {place!r}, only {', '.join(CommandFile.model_fields)}"
    if found["type"] == "missing":
        return f"{place!r} is missing"
    return f"{place}: {found['msg'].removeprefix('Value error, ')}"


def _check(command: Command, path: Path) -> None:
    """Raise for files that are not there or too large, and for keys, which no sandbox may have (R46)."""
    for name, source in command.sources.items():
        if not source.exists():
            raise NotFoundError(f"{path} names {source} as {name!r}, which is not there.")
    if sum(file.stat().st_size for _, file in _walk(command)) > _LARGEST:
        raise DataError(
            f"The files of {path} are more than {_LARGEST // 1024**2} MiB: put large things into the image, "
            "or packages into a folder for --packages."
        )
    for name, value in command.settings.env.items():
        if command.settings.model and name in Bridge(0).environment:
            raise DataError(f"{path} sets {name}, which `model = true` sets: leave it out.")
        if redacted(value) != value:
            raise DataError(
                f"{path} puts a secret of this environment into {name}, where an agent could read it: "
                "use `model = true`, which needs no key inside."
            )


async def _work(command: Command, state: AgentState) -> None:
    """Bring the files in and run the command once. Raises AgentExit where it fails."""
    prompt = state.messages[0].text
    await _bring(command, prompt)
    if not command.settings.model:
        result = await _run(command, state, prompt, {})
    else:
        async with bridge(state) as way:
            result = await _run(command, state, prompt, way.environment)
            if result.exit_code != 0:
                await way.blame()
    if result.exit_code != 0:
        raise AgentExit(result.exit_code, exit_sentence(command.name, result))


async def _run(command: Command, state: AgentState, prompt: str, model: dict[str, str]) -> Result:
    settings = command.settings
    return await run_program(
        command.argv(prompt),
        state.messages,
        shown=shlex.join(settings.run),
        environment={**_told(), **model, **settings.env},
        stdin=prompt if settings.prompt == "stdin" else "",
    )


def _told() -> dict[str, str]:
    """What a program learns from its environment; limits stand there where there are any."""
    left = remaining()
    minutes = [each for each in (left.minutes, left.wall_minutes) if each is not None]
    limits = {
        "EXPBENCH_MINUTES": f"{min(minutes):.2f}" if minutes else "",
        "EXPBENCH_TURNS": "" if left.turns is None else str(left.turns),
        "EXPBENCH_TOKENS": "" if left.tokens is None else str(left.tokens),
        "EXPBENCH_DOLLARS": "" if left.dollars is None else f"{left.dollars:.4f}",
    }
    places = {
        "EXPBENCH_WORKSPACE": sandbox().as_type(BwrapSandboxEnvironment).session.workspace,
        "EXPBENCH_PROMPT": PROMPT_FILE,
        "EXPBENCH_AGENT": FOLDER,
    }
    return places | {name: value for name, value in limits.items() if value}


async def _bring(command: Command, prompt: str) -> None:
    """Write the agent's files and the prompt into the sandbox. Raises SandboxError."""
    with tempfile.TemporaryDirectory(prefix="expbench-agent-") as folder:
        staged = Path(folder, "files")
        await to_thread.run_sync(_stage, command, staged)
        (staged / PurePosixPath(PROMPT_FILE).name).write_text(prompt, "utf-8")
        await put_tree(sandbox(), staged, FOLDER)


def _stage(command: Command, folder: Path) -> None:
    folder.mkdir()
    try:
        for name, source in command.sources.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                ignore = shutil.ignore_patterns(*_SKIPPED)
                shutil.copytree(source, target, symlinks=True, ignore=ignore, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)
    except (OSError, shutil.Error) as error:
        raise SandboxError(f"the agent's files could not be copied: {error}") from None


def _walk(command: Command) -> Iterator[tuple[str, Path]]:
    """Every file that is brought in, with its name inside, in order."""
    for name, source in sorted(command.sources.items()):
        if not source.is_dir():
            yield name, source
            continue
        for parent, folders, files in os.walk(source):
            folders[:] = sorted(set(folders) - set(_SKIPPED))
            for file in sorted(files):
                path = Path(parent, file)
                if path.is_file():
                    yield f"{name}/{path.relative_to(source)}", path


def _digest(command: Command) -> str:
    """Of the settings and of every file: what makes two runs of a command comparable."""
    total = hashlib.sha256(command.settings.model_dump_json().encode())
    for name, path in _walk(command):
        total.update(f"\0{name}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


KINDS = (
    AgentKind(
        "command:FILE",
        "any executable, run inside the sandbox; FILE is five lines of TOML",
        make_command,
        needs="a TOML file; with `model = true` in it also a model",
        options={
            "run": "the command's words, started in the repository's root",
            "prompt": "how it gets the prompt: stdin, file or argument",
            "files": "files and folders to bring in, name inside = path here",
            "env": "further variables",
            "model": "true sets the base URLs of a proxy to the run's model; its key inside is "
            f"{NO_KEY!r}",
        },
        example="expbench run --agent command:examples/command.toml --task mini/calibration/2",
        tried="run to scores, with and without a scripted model",
    ),
)
