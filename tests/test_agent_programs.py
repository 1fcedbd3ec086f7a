"""Agents' own programs: installed whole or not at all, once, and seen read-only by the agent's sandbox alone.

Everything here is installed from a folder of wheels, with no registry.
"""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import curie_stand_in
import pytest
from agent_running import QUICK, Folder, calls

from expbench.environments import IndexAccess, Interpreter, Places, interpreters
from expbench.errors import NotFoundError, PrerequisiteError, UserError
from expbench.programs import MOUNT, PROGRAMS, InstalledProgram, ProgramShelf, program
from expbench.programs.installing import Access, install
from expbench.sandboxes.host import SandboxHost

CURIE = PROGRAMS["curie"]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return curie_stand_in.wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def found() -> tuple[Interpreter, ...]:
    return interpreters(Places())


@pytest.fixture
def shelf(tmp_path: Path) -> ProgramShelf:
    return ProgramShelf(tmp_path / "agents")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path, tmp_path / "cache")


def _install(
    shelf: ProgramShelf,
    host: SandboxHost,
    wheels: Path,
    found: tuple[Interpreter, ...],
    version: str = curie_stand_in.GOOD,
    lines: list[str] | None = None,
) -> InstalledProgram:
    access = Access(IndexAccess(wheels=wheels))
    heard = lines.append if lines is not None else lambda line: None
    return install(CURIE, shelf, access, host, found, version, heard)


def _left(shelf: ProgramShelf) -> set[str]:
    """What is in the shelf's folder besides locks."""
    names = {path.name for path in shelf.folder.iterdir()}
    return {name for name in names if not name.endswith((".lock", ".making"))}


def test_an_installed_program_is_recorded_and_found_again(
    shelf: ProgramShelf, host: SandboxHost, wheels: Path, found: tuple[Interpreter, ...]
) -> None:
    lines: list[str] = []
    with_lines = _install(shelf, host, wheels, found, lines=lines)
    record = with_lines.record
    assert (record.name, record.version, record.tried) == ("curie", curie_stand_in.GOOD, True)
    assert [(part.name, part.version) for part in record.parts] == [("curie-ai", "1.0")]
    assert record.parts[0].digest and record.bytes > 0 and record.interpreter is not None
    assert _left(shelf) == {with_lines.digest}
    again: list[str] = []
    assert _install(shelf, host, wheels, found, lines=again).record == record
    assert lines and not again, "nothing is done a second time"
    assert shelf.of_agent("curie").digest == with_lines.digest
    assert shelf.of_agent("curie", with_lines.digest).label == with_lines.label


@pytest.mark.parametrize(
    ("version", "why"),
    [
        (curie_stand_in.BROKEN, "does not work in a sandbox"),
        ("9.9", "cannot be installed"),
        ("1.0; rm", "is no version"),
    ],
)
def test_what_cannot_be_installed_is_one_sentence_and_leaves_nothing(
    shelf: ProgramShelf,
    host: SandboxHost,
    wheels: Path,
    found: tuple[Interpreter, ...],
    version: str,
    why: str,
) -> None:
    with pytest.raises(UserError, match=why) as error:
        _install(shelf, host, wheels, found, version)
    assert "\n" not in str(error.value)
    assert not shelf.folder.is_dir() or _left(shelf) == set()
    with pytest.raises(NotFoundError, match="expbench agents install curie"):
        shelf.of_agent("curie")


def test_an_installation_that_was_killed_is_done_anew(
    shelf: ProgramShelf, host: SandboxHost, wheels: Path, found: tuple[Interpreter, ...]
) -> None:
    """A half-written folder is not taken for an installation, wherever the kill came."""
    made = _install(shelf, host, wheels, found)
    made.close()
    (made.folder / "record.json").unlink()
    shutil.rmtree(made.folder / "root" / "lib")
    with pytest.raises(NotFoundError):
        shelf.of_agent("curie")
    again = _install(shelf, host, wheels, found)
    assert again.digest == made.digest and again.record.tried
    assert list((again.folder / "root" / "lib").rglob("curie/__init__.py"))
    assert _left(shelf) == {made.digest}


def test_many_who_ask_at_once_install_once(
    shelf: ProgramShelf, host: SandboxHost, wheels: Path, found: tuple[Interpreter, ...]
) -> None:
    lines: list[str] = []
    made: list[InstalledProgram] = []

    def one() -> None:
        made.append(_install(shelf, host, wheels, found, lines=lines))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len({each.digest for each in made}) == 1 and len(made) == 3
    assert sum("unpacking" in line for line in lines) == 1


def test_the_program_is_read_only_inside_and_its_python_runs(
    shelf: ProgramShelf, host: SandboxHost, wheels: Path, found: tuple[Interpreter, ...]
) -> None:
    made = _install(shelf, host, wheels, found)
    place = host.folder()
    try:
        with host.start(place, folders=made.folders()) as session:
            argv = [f"{MOUNT}/bin/python", "-I", "-c", "import curie; print(curie.__file__)"]
            done = session.run(argv, timeout=60)
            assert done.stdout.decode().startswith(MOUNT), done.stderr
            for path in (f"{MOUNT}/new", f"{MOUNT}/bin/python"):
                assert session.run(["touch", path], timeout=20).exit_code != 0
            shown = session.run(["cat", "/proc/self/mountinfo"], timeout=20).stdout.decode()
            assert MOUNT in shown
        with host.start(place) as session:
            assert session.run(["ls", MOUNT], timeout=20).exit_code != 0, "nobody else sees it"
    finally:
        host.discard(place)


def test_no_fitting_python_is_said_with_how_to_get_one(
    shelf: ProgramShelf, host: SandboxHost, wheels: Path
) -> None:
    old = Interpreter(version="3.10.4", prefix="/nowhere")
    access = Access(IndexAccess(wheels=wheels))
    with pytest.raises(PrerequisiteError, match=r"needs Python 3\.12 or newer.*3\.10\.4.*pyenv"):
        install(PROGRAMS["openhands"], shelf, access, host, [old])


def test_no_npm_is_said(shelf: ProgramShelf, host: SandboxHost, tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="Node"):
        install(PROGRAMS["codex_cli"], shelf, Access(path=str(tmp_path)), host, [])


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_every_program_is_pinned_with_all_that_it_stands_on(name: str) -> None:
    chosen = program(name)
    requirements = chosen.requirements(chosen.version)
    sign = "@" if chosen.kind == "npm" else "=="
    for text in requirements:
        package, _, version = text.rpartition(sign)
        assert package and version, text
    assert len({text.rpartition(sign)[0] for text in requirements}) == len(requirements)
    other = chosen.requirements("9.9.9")
    assert [each for each in other if each.endswith("9.9.9")] == list(other[: len(chosen.packages)])


def test_a_run_without_the_program_is_refused_with_the_command_that_installs_it(
    folder: Folder,
) -> None:
    model = folder.model(calls("bash", command="ls"))
    run = ("run", "--agent", "curie", "--model", model, "--task", QUICK)
    assert "`expbench agents install curie`" in folder.refused(*run)
    assert "no program" in folder("agents", "install", "react", code=2)
    shown = folder("agents", "show", "curie")
    assert "not ready: " in shown and "`expbench agents install curie`" in shown


def test_the_command_installs_and_says_what_is_there(folder: Folder, wheels: Path) -> None:
    arguments = ("curie", "--version", "1.0", "--wheels", str(wheels), "--json")
    said = folder("agents", "install", *arguments)
    facts = json.loads(said[said.index("{") : said.rindex("}") + 1])
    shown = json.loads(folder("agents", "show", "curie", "--json"))
    assert "1.0" in shown["program"] and facts["digest"] in shown["program"]
    assert "0.1.12" not in shown["version"], "another version than the pinned one is installed"
    assert json.loads(folder("gc", "--json"))["items"] == [], "a new run would take it"
    assert facts["name"] == "curie" and facts["version"] == "1.0" and len(facts["digest"]) == 16
    model = folder.model(calls("bash", command="ls"))
    unsafe = ("--sandbox", "local", "--unsafe", "--task", QUICK)
    sentence = folder.refused("run", "--agent", "curie", "--model", model, *unsafe)
    assert "--sandbox bwrap" in sentence
