"""Installing an agent's program: whole or not at all, and once however many ask for it at the same time.

No code of a package runs on the host: Python programs are unpacked from wheels and npm's without their
scripts. Whether a program works is tried in a sandbox, where it is to work.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from expbench.environments import IndexAccess, Interpreter
from expbench.environments.installing import Pip, Refused
from expbench.environments.processes import run_bounded
from expbench.environments.shelf import bytes_of
from expbench.errors import InfrastructureError, PrerequisiteError, UserError
from expbench.programs.catalogue import LINKS, Program
from expbench.programs.shelf import MOUNT, InstalledProgram, Part, ProgramRecord, ProgramShelf
from expbench.sandboxes.host import SandboxHost
from expbench.workspace.repository.leases import hold
from expbench.workspace.repository.making import discard, once_folder, sweep

Listener = Callable[[str], None]

_FORMAT = 2
_NPM_SECONDS = 1800.0
_CHECK_SECONDS = 180.0
_TRIED_ON = 12
"""The minor version of Python 3 that the locks were made for."""


@dataclass(frozen=True)
class Access:
    """How registries are reached: pip's indexes, and the variables and the path of npm and Node.js."""

    index: IndexAccess = field(default_factory=IndexAccess)
    npm: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: str = ""


@dataclass(frozen=True)
class _Plan:
    program: Program
    version: str
    access: Access
    interpreter: Interpreter | None
    node: str

    @property
    def exact(self) -> bool:
        """Whether the lock says all that is installed; a folder of wheels says itself what it needs."""
        return self.program.kind == "npm" or self.access.index.wheels is None

    @property
    def requirements(self) -> tuple[str, ...]:
        if self.exact:
            return self.program.requirements(self.version)
        return tuple(f"{name}=={self.version}" for name in self.program.packages)

    @property
    def digest(self) -> str:
        runs = self.interpreter.model_dump() if self.interpreter else self.node
        facts = (_FORMAT, self.program.name, self.requirements, runs, platform.machine())
        text = repr((*facts, self.access.index.kind))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def install(
    program: Program,
    shelf: ProgramShelf,
    access: Access,
    host: SandboxHost,
    interpreters: Iterable[Interpreter],
    version: str = "",
    listener: Listener = lambda line: None,
) -> InstalledProgram:
    """A program, installed unless it is there; in use until it is closed.

    Args:
        host: makes the sandbox in which it is tried.
        version: of the program; else the one that it is pinned to.

    Raises:
        PrerequisiteError: no fitting interpreter, no npm, no registry that answers.
        UserError: there is no such version, or it does not go with the rest.
        InfrastructureError: pip or npm did not end.
    """
    plan = _plan(program, version or program.version, access, interpreters)
    with shelf.making(plan.digest, lambda: listener("another process installs it: waiting")):
        folder = shelf.folder / plan.digest
        with hold(folder):
            found = shelf.find(plan.digest)
            if found is None:
                sweep(shelf.folder)
                if folder.is_dir():
                    discard(folder)
                once_folder(folder, functools.partial(_fill, plan, host, listener))
                found = shelf.find(plan.digest)
            if found is None:
                raise InfrastructureError(f"{folder} was made and cannot be read: install again.")
    return found


def _plan(
    program: Program, version: str, access: Access, interpreters: Iterable[Interpreter]
) -> _Plan:
    if not all(part.isalnum() or part in ".+-" for part in version):
        raise UserError(f"{version!r} is no version: give one such as {program.version}.")
    node = ""
    if program.needs_node:
        node = _program("node", access.path)
    if program.kind == "npm":
        _program("npm", access.path)
        return _Plan(program, version, access, None, node)
    access.index.check()
    return _Plan(program, version, access, _interpreter(program, interpreters), node)


def _program(name: str, path: str) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        raise PrerequisiteError(
            f"{name} is not on your PATH: install Node.js 20 or newer with npm."
        )
    return str(Path(found).resolve()) if name == "node" else found


def _interpreter(program: Program, interpreters: Iterable[Interpreter]) -> Interpreter:
    """That which the lock was made for, or the nearest; not the system's, which containers do not show."""
    there = list(interpreters)
    fitting = [each for each in there if each.minor >= program.least_python]
    if not fitting:
        versions = ", ".join(each.version for each in there) or "none"
        raise PrerequisiteError(
            f"{program.name} needs Python 3.{program.least_python} or newer, and this machine has "
            f"{versions}: install one (`pyenv install 3.{_TRIED_ON}` or `uv python install "
            f"3.{_TRIED_ON}`), then again."
        )
    return min(
        fitting, key=lambda each: (abs(each.minor - _TRIED_ON), each.prefix.startswith("/usr"))
    )


def _fill(plan: _Plan, host: SandboxHost, listener: Listener, folder: Path) -> None:
    started = time.monotonic()
    root = folder / "root"
    fill = _fill_python if plan.program.kind == "python" else _fill_npm
    record = ProgramRecord(
        name=plan.program.name,
        version=plan.version,
        kind=plan.program.kind,
        parts=fill(plan, folder, root, listener),
        interpreter=plan.interpreter,
        node=plan.node,
        made=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
    for each in (folder, root):
        each.chmod(0o755)
    record = _tried(plan, host, record, root, listener).model_copy(
        update={"bytes": bytes_of(folder), "seconds": round(time.monotonic() - started, 1)}
    )
    (folder / "record.json").write_text(record.model_dump_json(indent=1), "utf-8")


def _fill_python(plan: _Plan, folder: Path, root: Path, listener: Listener) -> tuple[Part, ...]:
    interpreter = plan.interpreter
    assert interpreter is not None
    scratch = folder / "scratch"
    scratch.mkdir()
    pip = Pip(interpreter, plan.access.index, scratch)
    listener(f"{len(plan.requirements)} packages for Python {interpreter.version}: unpacking")
    done = pip.install(plan.requirements, root, exact=plan.exact)
    if isinstance(done, Refused):
        raise UserError(
            f"{plan.program.name} {plan.version} cannot be installed: {done.why}. "
            f"Leave out --version for {plan.program.version}, which this expbench was made with."
        )
    listener("compiling")
    pip.compile(root, MOUNT)
    (root / "bin").mkdir(exist_ok=True)
    for name in ("python", "python3"):
        (root / "bin" / name).unlink(missing_ok=True)
        (root / "bin" / name).symlink_to(interpreter.path)
    (root / "pyvenv.cfg").write_text(
        f"home = {interpreter.path.parent}\ninclude-system-site-packages = false\n"
    )
    shutil.rmtree(scratch)
    return tuple(Part(name=each.name, version=each.version, digest=each.sha256) for each in done)


def _fill_npm(plan: _Plan, folder: Path, root: Path, listener: Listener) -> tuple[Part, ...]:
    root.mkdir()
    listener(f"npm installs {', '.join(plan.requirements)}")
    argv = [_program("npm", plan.access.path), "install", "--prefix", str(root)]
    argv += ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--loglevel", "error"]
    variables = {**plan.access.npm, "PATH": plan.access.path}
    try:
        done = run_bounded([*argv, "--", *plan.requirements], variables, root, _NPM_SECONDS)
    except TimeoutError as error:
        raise InfrastructureError(f"npm did not end: {error}.") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        why = next((line for line in lines if "code" not in line), "npm does not say why")
        raise UserError(
            f"{plan.program.name} {plan.version} cannot be installed: {why[:300]}. Look at the version "
            f"(this expbench was made with {plan.program.version}) and at npm's settings."
        )
    _link(plan.program, root)
    return _npm_parts(root)


def _link(program: Program, root: Path) -> None:
    name, pattern = LINKS[program.name]
    found = sorted((root / "node_modules").glob(pattern))
    if not found:
        raise PrerequisiteError(
            f"{program.name} has no build for this machine ({platform.machine()} Linux)."
        )
    (root / "bin").mkdir()
    # One that runs on any processor, where there is such a one.
    (root / "bin" / name).symlink_to(Path("..") / found[-1].relative_to(root))


def _npm_parts(root: Path) -> tuple[Part, ...]:
    listed = json.loads((root / "node_modules" / ".package-lock.json").read_text("utf-8"))
    return tuple(
        Part(
            name=place.rpartition("node_modules/")[2],
            version=facts.get("version", ""),
            digest=facts.get("integrity", ""),
        )
        for place, facts in sorted(listed["packages"].items())
    )


def _tried(
    plan: _Plan, host: SandboxHost, record: ProgramRecord, root: Path, listener: Listener
) -> ProgramRecord:
    """The record with what the program says in a sandbox.

    Raises:
        UserError: it does not work there.
    """
    try:
        host.provider.check()
    except PrerequisiteError as error:
        listener(f"not tried, for no sandbox can be had here: {error}")
        return record
    listener("trying it in a sandbox")
    words = {"root": MOUNT, "node": record.node}
    argv = [word.format(**words) for word in plan.program.check]
    place = host.folder()
    try:
        with host.start(place, folders=record.folders(root)) as session:
            done = session.run(argv, timeout=_CHECK_SECONDS, env=plan.program.variables)
    finally:
        host.discard(place)
    said = (done.stdout + done.stderr).decode(errors="replace").strip()
    if done.exit_code != 0:
        last = said.splitlines()[-1][:300] if said else done.error or f"exit code {done.exit_code}"
        raise UserError(
            f"{plan.program.name} {plan.version} does not work in a sandbox ({last}): leave out "
            f"--version for {plan.program.version}, which this expbench was made with."
        )
    return record.model_copy(update={"tried": True, "said": said[:500]})
