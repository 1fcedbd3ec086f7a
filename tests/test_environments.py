"""Environments of tasks: built once, with no stranger's code run on the host, and freed when unused."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.cli.environments import environments_app
from expbench.dataset import Suite
from expbench.dataset.declared import Declared, read_declared
from expbench.dataset.recipe import Problem, Recipe, recipe
from expbench.environments import (
    Environment,
    EnvironmentPlan,
    IndexAccess,
    Interpreter,
    Places,
    Shelf,
    build,
    interpreters,
    own_names,
    plan,
)
from expbench.environments.index import SETTINGS
from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.host import SandboxHost, remove
from expbench.sandboxes.session import Completed, Session
from expbench.workspace import find_clone
from expbench.workspace.files import SourceFiles
from expbench.workspace.repository.source import Source

HERE = interpreters(Places())[0]
MADE = f"3.{HERE.minor}"
BACKEND = """
import os, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    {before}
    name = "{name}-{version}-py3-none-any.whl"
    info = "{name}-{version}.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as file:
        file.writestr("{name}.py", "made = 'from source'\\n")
        needs = "".join("Requires-Dist: %s\\n" % each for each in {requires})
        facts = "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n" + needs
        file.writestr(info + "/METADATA", facts)
        file.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        file.writestr(info + "/RECORD", "")
    {after}
    return name
"""


@dataclass(frozen=True)
class OnEnvironment(SandboxHost):
    """Sandboxes on an environment of a task."""

    environment: PythonEnvironment | None = None

    def python(self) -> PythonEnvironment:
        return self.environment or super().python()


class Index:
    """A folder of wheels and source archives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    @property
    def access(self) -> IndexAccess:
        return IndexAccess(wheels=self.folder)

    def wheel(
        self,
        name: str,
        version: str = "1.0",
        requires: tuple[str, ...] = (),
        files: dict[str, str] | None = None,
        scripts: str = "",
        extras: tuple[str, ...] = (),
    ) -> Path:
        info = f"{name}-{version}.dist-info"
        needs = "".join(f"Provides-Extra: {each}\n" for each in extras)
        needs += "".join(f"Requires-Dist: {each}\n" for each in requires)
        content = {
            f"{name}.py": f"version = '{version}'\ndef main():\n    print('{name} runs')\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            **({f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}\n"} if scripts else {}),
            **(files or {}),
            f"{info}/RECORD": "",
        }
        path = self.folder / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as file:
            for inside, text in content.items():
                file.writestr(inside, text)
        return path

    def source(self, name: str, version: str, files: dict[str, str]) -> Path:
        path = self.folder / f"{name}-{version}.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for inside, text in files.items():
                member = tarfile.TarInfo(f"{name}-{version}/{inside}")
                member.size = len(text.encode())
                tar.addfile(member, io.BytesIO(text.encode()))
        return path

    def own_source(
        self,
        name: str,
        version: str = "1.0",
        before: str = "pass",
        after: str = "pass",
        requires: tuple[str, ...] = (),
        wheel_name: str = "",
    ) -> Path:
        """A source archive that brings the backend that builds it."""
        backend = BACKEND.format(
            name=wheel_name or name,
            version=version,
            before=before,
            after=after,
            requires=list(requires),
        )
        system = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
        return self.source(name, version, {"pyproject.toml": system, "own.py": backend})

    def installed(self, *names: str) -> None:
        """Wheels of what is installed beside the tests."""
        for name in names:
            found = metadata.distribution(name)
            root = Path(str(found.locate_file(""))).resolve()
            path = self.folder / f"{name}-{found.version}-py3-none-any.whl"
            with zipfile.ZipFile(path, "w") as file:
                for each in found.files or ():
                    source = Path(str(found.locate_file(each))).resolve()
                    inside = source.is_relative_to(root) and source.is_file()
                    if inside and source.suffix != ".pyc" and source.name != "direct_url.json":
                        file.write(source, source.relative_to(root))


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


@pytest.fixture
def paths(tmp_path: Path) -> CachePaths:
    return CachePaths(tmp_path / "cache")


@pytest.fixture
def shelf(paths: CachePaths) -> Shelf:
    return Shelf(paths.envs / "tasks")


def planned(
    index: Index | IndexAccess, *packages: str, own: tuple[str, ...] = ()
) -> EnvironmentPlan:
    access = index.access if isinstance(index, Index) else index
    made = plan(Recipe(python=MADE, packages=packages), [HERE], access, own)
    return made.model_copy(update={"optional": ()})


@pytest.fixture
def made(
    index: Index, shelf: Shelf, paths: CachePaths, host: SandboxHost
) -> Iterator[Callable[..., Environment]]:
    """Builds an environment of packages of the index."""
    opened: list[Environment] = []

    def make(*packages: str, own: tuple[str, ...] = ()) -> Environment:
        wanted = planned(index, *packages, own=own)
        opened.append(build(wanted, shelf, index.access, SandboxHost(paths)))
        return opened[-1]

    yield make
    for environment in opened:
        environment.close()


@pytest.fixture
def inside(paths: CachePaths, host: SandboxHost) -> Iterator[Callable[..., Completed]]:
    """Runs a command in a sandbox on an environment."""
    folders: list[Path] = []

    def run(environment: Environment, *argv: str) -> Completed:
        sandboxes = OnEnvironment(paths, environment=environment.python())
        folders.append(sandboxes.folder())
        (folders[-1] / "mine.py").write_text("here = True\n")
        with sandboxes.start(folders[-1]) as session:
            assert isinstance(session, Session)
            return session.run(argv, timeout=60)

    yield run
    for folder in folders:
        remove(folder)


@pytest.fixture
def marker() -> Iterator[Path]:
    """A file that anybody could write, so that only a sandbox keeps it from being there."""
    with tempfile.TemporaryDirectory(prefix="expbench-marked-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder, "marker")


def texts(problems: tuple[Problem, ...], kind: str = "package") -> list[str]:
    return [problem.text for problem in problems if problem.kind == kind]


def names(environment: Environment) -> set[str]:
    return {package.name for package in environment.record.packages}


# --- plans ---------------------------------------------------------------------------------------


def interpreter(minor: int) -> Interpreter:
    return Interpreter(version=f"3.{minor}.1", prefix=f"/opt/python3.{minor}")


def cannot(*packages: str, **facts: Any) -> dict[str, str]:
    found = plan(Recipe(python="3.11", packages=packages, **facts), [interpreter(11)])
    return {problem.kind: problem.text for problem in found.cannot}


def test_the_exact_python_is_chosen_and_else_the_nearest_which_is_said() -> None:
    here = [interpreter(minor) for minor in (13, 12, 10)]
    exact = plan(Recipe(python="3.12"), here)
    assert (exact.python.minor, exact.cannot) == (12, ())
    near = plan(Recipe(python="3.11"), here)
    assert near.python.minor == 10
    assert "Python 3.11 is not on this machine: 3.10.1 stands in" in near.cannot[0].text
    assert plan(Recipe(python="3.7"), here).python.minor == 10


def test_no_interpreter_is_one_sentence() -> None:
    with pytest.raises(PrerequisiteError, match=r"uv python install 3\.8"):
        plan(Recipe(python="3.8"), [])


def test_what_cannot_be_is_left_out_or_stood_in_for_and_always_said() -> None:
    wanted = (
        "torch==1.13.1+cu117",
        "torchaudio==2.0.1+cpu",
        "flash-attn==2.3",
        "cudatoolkit==11.3",
        "numpy=>1.2",
        "-e",
        "six==1.16.0",
    )
    made = plan(
        Recipe(
            python="3.11",
            packages=wanted,
            system=("ffmpeg",),
            base_image="nvidia/cuda:12.1",
            files=("environment.yml",),
        ),
        [interpreter(11)],
    )
    assert made.requirements == ("torch==1.13.1", "torchaudio==2.0.1", "numpy", "six==1.16.0")
    said = " | ".join(problem.text for problem in made.cannot)
    for part in (*wanted[:-1], "ffmpeg", "nvidia/cuda:12.1", "environment.yml"):
        assert part in said
    assert "six" not in said
    kinds = [problem.kind for problem in made.cannot]
    assert kinds == [
        "cuda", "build", "cuda", "conda", "requirement", "requirement", "system", "image", "conda"
    ]  # fmt: skip


def test_extras_of_a_package_are_asked_for_as_declared() -> None:
    texts = {
        "requirements.txt": "Gymnasium[MuJoCo, atari]==0.29.1\nown[dev]\nsix[a]==1.0+cu118\nbad[ ! ]\n",
        "pyproject.toml": """
            [project]
            dependencies = ["datasets[audio]>=2"]
            [tool.poetry.dependencies]
            ray = {version = "^2.0", extras = ["tune", "rllib"]}
        """,
    }
    declared = Declared()
    for path, text in texts.items():
        read_declared(path, text, declared)
    packages = tuple(map(str, declared.packages))
    assert packages == (
        "gymnasium[atari,mujoco]==0.29.1",
        "own[dev]",
        "six[a]==1.0+cu118",
        "bad",
        "datasets[audio]>=2",
        "ray[rllib,tune]>=2.0,<3",
    )
    made = plan(Recipe(python="3.11", packages=packages), [interpreter(11)], own=["own"])
    assert made.requirements == (
        "gymnasium[atari,mujoco]==0.29.1",
        "six[a]==1.0",
        "bad",
        "datasets[audio]>=2",
        "ray[rllib,tune]>=2.0,<3",
    )


def test_what_an_extra_requires_comes_with_it(
    index: Index, made: Callable[..., Environment]
) -> None:
    index.wheel("alpha", requires=('beta; extra == "more"',), extras=("more",))
    index.wheel("beta")
    assert names(made("alpha")) == {"alpha"}
    assert names(made("alpha[more]")) == {"alpha", "beta"}


def test_the_digest_covers_all_that_shapes_an_environment_and_nothing_else(tmp_path: Path) -> None:
    facts = Recipe(python="3.11", packages=("six",), files=("setup.py",))
    base = plan(facts, [interpreter(11)])
    others = [
        plan(facts.model_copy(update={"packages": ("six==1.16.0",)}), [interpreter(11)]),
        plan(facts, [interpreter(10)]),
        plan(facts, [interpreter(11)], IndexAccess(wheels=tmp_path)),
        plan(facts, [interpreter(11)], own=["paper"]),
        plan(facts.model_copy(update={"files": ("code/setup.py",)}), [interpreter(11)]),
        base.model_copy(update={"uid": base.uid + 1}),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 1 + len(others)
    said = facts.model_copy(update={"system": ("git",), "problems": (Problem(kind="x", text="y"),)})
    assert plan(said, [interpreter(11)]).digest == base.digest


def test_credentials_of_an_index_are_in_no_plan() -> None:
    access = IndexAccess({"PIP_INDEX_URL": "https://user:secret@example.org/simple"})
    made = plan(Recipe(python="3.11"), [interpreter(11)], access)
    assert "secret" not in made.model_dump_json() and "secret" not in repr(access)


@dataclass(frozen=True)
class Texts:
    """Files of a repository."""

    content: dict[str, str]

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self.content)

    def read(self, path: str) -> str:
        return self.content.get(path, "")


def test_a_repository_is_no_package_of_its_own_environment(mini: Suite) -> None:
    """R14: neither under the name of its address nor under those that it declares."""
    task = mini.tasks[0]
    address = task.repository.model_copy(
        update={"url": "https://example.org/someone/Paper_Code.git"}
    )
    files = Texts(
        {
            "setup.py": "from setuptools import setup\nsetup(name='paper_lib')\n",
            "sub/pyproject.toml": "[project]\nname = 'paper.sub'\n",
            "setup.cfg": "[metadata]\nname = papercfg\n",
            "a/b/setup.py": "setup(name='deep')",
            "broken/setup.py": "setup(",
        }
    )
    own = own_names(task.model_copy(update={"repository": address}), files)
    assert own == {"paper-code", "paper-lib", "paper-sub", "papercfg"}
    made = plan(
        Recipe(python="3.11", packages=("paper_lib==1.0", "six")), [interpreter(11)], own=own
    )
    assert made.requirements == ("six",)
    assert texts(made.cannot, "own")


def test_interpreters_are_found_and_what_only_looks_like_one_is_not(tmp_path: Path) -> None:
    root = tmp_path / "versions" / "fake" / "bin"
    root.mkdir(parents=True)
    script = root / "python3.12"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    shutil.copy("/bin/true", root / "python3.11")
    (root / "python3.10").symlink_to("/nowhere")
    found = interpreters(Places(str(root), pyenv=tmp_path, uv=tmp_path / "none"))
    assert [each.minor for each in found] == [sys.version_info.minor]
    assert found[0].path.is_file()
    assert not (tmp_path / "ran").exists()


# --- wheels --------------------------------------------------------------------------------------


def test_an_environment_holds_what_was_asked_and_a_sandbox_starts_on_it(
    index: Index, made: Callable[..., Environment], inside: Callable[..., Completed]
) -> None:
    index.wheel("alpha", requires=("beta>=2",), scripts="alpha-tool = alpha:main")
    index.wheel("beta", "1.0")
    index.wheel("beta", "2.1")
    environment = made("alpha")
    assert environment.complete, environment.problems
    assert {(p.name, p.version) for p in environment.record.packages} == {
        ("alpha", "1.0"),
        ("beta", "2.1"),
    }
    assert inside(environment, "alpha-tool").stdout == b"alpha runs\n"
    code = "import alpha, beta, sys; print(beta.version, alpha.__file__, alpha.__spec__.cached, sys.prefix)"
    version, file, cached, prefix = (
        inside(environment, "python", "-c", code).stdout.decode().split()
    )
    assert (version, prefix) == ("2.1", "/opt/expbench/python")
    assert file.startswith(f"{prefix}/lib/")
    assert inside(environment, "test", "-f", cached).exit_code == 0
    for place in (file, cached, f"{prefix}/bin/alpha-tool", f"{prefix}/new"):
        assert inside(environment, "sh", "-c", f"echo x >> {place}").exit_code != 0


def test_no_file_of_an_environment_names_a_folder_of_the_host(
    index: Index, made: Callable[..., Environment], paths: CachePaths
) -> None:
    index.wheel("alpha", scripts="alpha-tool = alpha:main")
    environment = made("alpha")
    needle = os.fsencode(paths.root)
    files = [path for path in environment.python().folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".pyc" for path in files)
    assert [path for path in files if not path.is_symlink() and needle in path.read_bytes()] == []


def test_the_workspace_is_on_the_path_as_if_installed(
    index: Index, shelf: Shelf, paths: CachePaths, inside: Callable[..., Completed]
) -> None:
    """Masked files cannot be in it: nothing of the repository is."""
    wanted = plan(Recipe(python=MADE, files=("setup.py",)), [HERE], index.access)
    assert wanted.optional == ("pip", "setuptools<81", "wheel")
    assert wanted.paths == ("/workspace", "/workspace/src")
    with build(wanted, shelf, index.access, SandboxHost(paths)) as environment:
        done = inside(environment, "sh", "-c", "cd / && python -c 'import mine; print(mine.here)'")
        assert done.stdout == b"True\n", done.stderr


def test_what_cannot_be_had_is_said_one_by_one_and_the_rest_is_there(
    index: Index, made: Callable[..., Environment]
) -> None:
    index.wheel("alpha", "2.0")
    index.wheel("beta", requires=("gamma<2",))
    index.wheel("gamma", "1.5")
    index.wheel("gamma", "2.5")
    index.wheel("delta", requires=("nowhere",))
    environment = made("alpha==1.0", "unknown", "beta", "gamma==2.5", "delta")
    assert not environment.complete
    said = texts(environment.problems)
    assert len(said) == 4, said
    assert said[0].startswith("alpha==1.0: there is no wheel of alpha==1.0 for Python 3.")
    assert "only of 2.0" in said[0] and "its version is left open" in said[0]
    found = {(p.name, p.version) for p in environment.record.packages}
    assert found == {("alpha", "2.0"), ("beta", "1.0"), ("gamma", "1.5")}
    others = (
        "unknown is left out",
        "gamma==2.5",
        "delta is left out: there is no wheel of nowhere",
    )
    for words in others:
        assert sum(text.startswith(words) for text in said) == 1


def test_the_own_package_does_not_come_in_through_another(
    index: Index, made: Callable[..., Environment]
) -> None:
    """R14: not in the version that was asked for and not as a requirement of another."""
    index.wheel("paper")
    index.wheel("friend", requires=("paper",))
    index.wheel("other")
    environment = made("friend", "other", own=("paper",))
    assert names(environment) == {"other"}
    assert "friend is left out" in texts(environment.problems)[0]


# --- hostile wheels ------------------------------------------------------------------------------


def test_a_wheel_that_writes_outside_is_left_out_and_writes_nothing(
    index: Index, made: Callable[..., Environment], tmp_path: Path
) -> None:
    """R28"""
    index.wheel("good")
    for number, name in enumerate(("../../../../../../escaped", f"{tmp_path}/escaped")):
        index.wheel(f"evil{number}", files={name: "x"})
    environment = made("evil0", "good", "evil1")
    assert "good" in names(environment)
    assert [path for path in tmp_path.rglob("escaped*") if "python" not in path.parts] == []
    assert not Path("/escaped").exists()
    assert "evil0 is left out" in " ".join(texts(environment.problems))


def test_code_of_a_wheel_runs_at_start_only_inside(
    index: Index,
    made: Callable[..., Environment],
    inside: Callable[..., Completed],
    marker: Path,
) -> None:
    """A ``.pth`` file and ``sitecustomize`` are code that every start of that Python runs."""
    code = f"import os; print('started'); open({str(marker)!r}, 'w')"
    index.wheel("evil", files={"evil.pth": f"{code}\n", "sitecustomize.py": f"{code}\n"})
    index.own_source("later")
    environment = made("evil", "later")
    assert names(environment) == {"evil", "later"}
    assert not marker.exists()
    done = inside(environment, "python", "-c", "pass")
    assert b"started" in done.stdout and b"No such file" in done.stderr
    assert not marker.exists()


def test_a_wheel_cannot_replace_the_interpreter_or_the_settings(
    index: Index, made: Callable[..., Environment], inside: Callable[..., Completed]
) -> None:
    data = "evil-1.0.data"
    before = HERE.path.read_bytes()
    evil = "#!python\nprint('evil')\n"
    version = HERE.name
    index.wheel(
        "evil",
        files={
            f"{data}/scripts/python": evil,
            f"{data}/scripts/{version}": evil,
            f"{data}/data/pyvenv.cfg": "home = /tmp\n",
            f"{data}/data/etc/passwd": "root::0:0::/:/bin/sh\n",
            f"{data}/purelib/expbench-workspace.pth": "import os\n",
        },
    )
    environment = made("evil")
    assert names(environment) == {"evil"}
    assert HERE.path.read_bytes() == before
    folder = environment.python().folder
    assert (folder / "bin" / "python").readlink() == HERE.path
    assert (folder / "etc" / "passwd").read_text().startswith("agent:")
    assert "/tmp" not in (folder / "pyvenv.cfg").read_text()
    assert inside(environment, "python", "-c", "print('honest')").stdout == b"honest\n"


# --- source archives -----------------------------------------------------------------------------


def test_what_has_no_wheel_is_built_with_all_that_it_requires(
    index: Index, made: Callable[..., Environment], inside: Callable[..., Completed]
) -> None:
    """Also what only another package's metadata, known after its build, requires."""
    index.own_source("outer", requires=("inner>=1",))
    index.own_source("inner")
    environment = made("outer")
    assert environment.complete, environment.problems
    assert names(environment) == {"outer", "inner"}
    done = inside(environment, "python", "-c", "import outer, inner; print(inner.made)")
    assert done.stdout == b"from source\n"


SETUP = """
import os, socket, sys
from setuptools import setup
for place in ({marker!r}, os.path.expanduser("~/expbench-marker")):
    try:
        open(place, "w").write("here")
        print("WROTE", place)
    except OSError as error:
        print("REFUSED", place, error)
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=3).close()
except OSError as error:
    print("REFUSED", error)
if {fail}:
    raise SystemExit("the last word")
setup(name="legacy", version="1.0", py_modules=["legacy"])
"""


def test_a_build_script_writes_nothing_on_the_host_and_reaches_nothing(
    index: Index, made: Callable[..., Environment], marker: Path, tmp_path: Path
) -> None:
    """With the control that the same script does both when it is run outside."""
    index.installed("setuptools", "wheel", "packaging")
    home = tmp_path / "home"
    home.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(2)
        text = SETUP.format(marker=str(marker), port=server.getsockname()[1], fail=False)
        index.source("legacy", "1.0", {"setup.py": text, "legacy.py": "made = 'by setup.py'\n"})
        environment = made("legacy")
        assert names(environment) >= {"legacy"}, environment.problems
        assert not marker.exists()
        with pytest.raises(TimeoutError):
            server.accept()
        script = tmp_path / "setup.py"
        script.write_text(text)
        argv = [sys.executable, str(script), "--version"]
        subprocess.run(argv, env={"HOME": str(home)}, cwd=tmp_path, check=True, timeout=60)
        server.accept()[0].close()
    assert marker.exists() and (home / "expbench-marker").exists()


def test_a_failed_build_is_said_with_its_last_word(
    index: Index, made: Callable[..., Environment], marker: Path
) -> None:
    index.installed("setuptools", "wheel", "packaging")
    text = SETUP.format(marker=str(marker), port=9, fail=True)
    index.source("legacy", "1.0", {"setup.py": text})
    index.own_source("broken", before="raise ValueError('cannot be built')")
    (index.folder / "damaged-1.0.tar.gz").write_bytes(b"no archive")
    index.wheel("good")
    environment = made("good", "broken", "damaged", "legacy")
    assert "good" in names(environment)
    said = dict.fromkeys(texts(environment.problems))
    assert len(said) == 3
    assert any("broken" in each and "ValueError: cannot be built" in each for each in said)
    assert any("legacy" in each and "the last word" in each for each in said)
    assert any("damaged" in each for each in said)


@pytest.mark.parametrize(
    "after",
    [
        "made = folder + '/' + name; os.unlink(made); os.symlink('/etc/passwd', made)",
        "made = folder + '/' + name; os.unlink(made); os.mkfifo(made)",
        "os.rename(folder, folder + '2'); os.symlink('/etc', folder)",
        "os.rename(folder + '/' + name, folder + '/good-9-py3-none-any.whl')",
    ],
    ids=["link", "fifo", "folder-link", "other-name"],
)
def test_a_build_leaves_a_plain_wheel_of_its_own_name_or_nothing(
    index: Index, made: Callable[..., Environment], after: str
) -> None:
    """R28"""
    index.wheel("good")
    index.own_source("evil", after=after)
    environment = made("evil", "good")
    assert {(p.name, p.version) for p in environment.record.packages} == {("good", "1.0")}
    assert "left no wheel of evil" in texts(environment.problems)[0]


def test_a_build_gets_what_it_declares_and_what_it_is_found_to_import(
    index: Index, made: Callable[..., Environment]
) -> None:
    index.wheel("declared")
    index.wheel("undeclared")
    backend = BACKEND.format(
        name="picky",
        version="1.0",
        before="import declared, undeclared",
        after="pass",
        requires=[],
    )
    system = (
        '[build-system]\nrequires = ["declared"]\nbuild-backend = "own"\nbackend-path = ["."]\n'
    )
    index.source("picky", "1.0", {"pyproject.toml": system, "own.py": backend})
    environment = made("picky")
    assert names(environment) == {"picky"}, environment.problems


# --- once, whole or not at all -------------------------------------------------------------------


def test_two_builders_at_once_make_one(
    index: Index, shelf: Shelf, paths: CachePaths, host: SandboxHost
) -> None:
    index.own_source("slow", before="import time; time.sleep(1)")
    lines: list[str] = []
    results: list[Environment] = []

    def work() -> None:
        results.append(
            build(
                planned(index, "slow"), shelf, index.access, SandboxHost(paths), lines.append, ["t"]
            )
        )

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(results) == 2 and results[0].folder == results[1].folder
    assert sum("building a wheel" in line for line in lines) == 1
    assert sum("waiting" in line for line in lines) == 1
    for environment in results:
        environment.close()


_KILLED = """
import sys
from pathlib import Path
from expbench.dataset.recipe import Recipe
from expbench.environments import *
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost
cache, wheels = Path(sys.argv[1]), IndexAccess(wheels=Path(sys.argv[2]))
made = plan(Recipe(python=sys.argv[3], packages=("slow",)), interpreters(Places()), wheels)
paths = CachePaths(cache)
build(made, Shelf(paths.envs / "tasks"), wheels, SandboxHost(paths), lambda line: print(line, flush=True))
"""


def below(folder: Path) -> list[int]:
    """Processes whose command line names a folder."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and int(each.name) != os.getpid():
            try:
                content = (each / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in content:
                found.append(int(each.name))
    return found


def test_a_killed_build_leaves_no_process_and_no_half_of_an_environment(
    index: Index, shelf: Shelf, paths: CachePaths, host: SandboxHost
) -> None:
    """R23"""
    index.own_source("slow", before="import time; time.sleep(600)")
    argv = [sys.executable, "-c", _KILLED, str(paths.root), str(index.folder), MADE]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "building a wheel" in line:
                break
        time.sleep(2)
        assert below(paths.root)
        os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while below(paths.root) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert below(paths.root) == []
    assert shelf.installed() == ()
    assert any(path.is_dir() for path in shelf.folder.iterdir())
    shelf.gc()
    SandboxHost(paths).sweep()
    assert list(shelf.folder.iterdir()) == []
    assert list(paths.work.iterdir()) == []


def test_an_interrupted_build_leaves_nothing(
    index: Index, shelf: Shelf, paths: CachePaths, host: SandboxHost
) -> None:
    index.own_source("slow")

    def interrupt(line: str) -> None:
        if "building a wheel" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(planned(index, "slow"), shelf, index.access, SandboxHost(paths), interrupt)
    assert [path for path in shelf.folder.iterdir() if path.is_dir()] == []


def test_a_damaged_environment_is_made_again(
    index: Index, shelf: Shelf, made: Callable[..., Environment]
) -> None:
    index.wheel("alpha")
    environment = made("alpha")
    (environment.folder / "record.json").write_text("{")
    assert shelf.installed() == ()
    assert made("alpha").complete


def test_a_full_disk_is_refused_before_anything_is_written(
    index: Index, shelf: Shelf, paths: CachePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22"""
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda path: real(path)._replace(free=10**9))
    with pytest.raises(PrerequisiteError, match=r"takes about .*expbench env gc"):
        build(planned(index, "torch"), shelf, index.access, SandboxHost(paths))
    assert [path for path in shelf.folder.iterdir() if path.is_dir()] == []


def test_an_index_that_does_not_answer_is_one_sentence(shelf: Shelf, paths: CachePaths) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings = {
        "PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    access = IndexAccess(settings)
    with pytest.raises(PrerequisiteError, match="No package index answers"):
        build(planned(access, "six"), shelf, access, SandboxHost(paths))
    assert [path for path in shelf.folder.iterdir() if path.is_dir()] == []


# --- the shelf -----------------------------------------------------------------------------------


def aged(environment: Environment, days: float) -> None:
    then = time.time() - days * 24 * 3600
    os.utime(environment.folder.with_name(f"{environment.digest}.lock"), (then, then))


def states(shelf: Shelf, **options: Any) -> dict[str, str]:
    return {row.digest: row.state for row in shelf.gc(**options)}


def test_only_what_no_run_uses_is_freed(
    index: Index, shelf: Shelf, made: Callable[..., Environment]
) -> None:
    index.wheel("alpha")
    index.wheel("beta")
    used, unused = made("alpha"), made("beta")
    unused.close()
    told = states(shelf, dry_run=True)
    assert told == {used.digest: "in use", unused.digest: "freed"}
    assert {row.digest for row in shelf.installed()} == {used.digest, unused.digest}
    assert states(shelf) == told
    assert [row.digest for row in shelf.installed()] == [used.digest]
    assert used.python().folder.is_dir() and not unused.folder.exists()
    used.close()
    states(shelf)
    assert list(shelf.folder.iterdir()) == []


def test_age_and_size_choose_what_is_freed(
    index: Index, shelf: Shelf, made: Callable[..., Environment]
) -> None:
    for name in ("alpha", "beta", "gamma"):
        index.wheel(name)
    environments = [made(name) for name in ("alpha", "beta", "gamma")]
    for environment, days in zip(environments, (40, 20, 1), strict=True):
        environment.close()
        aged(environment, days)
    old, middle, new = (environment.digest for environment in environments)
    assert [row.digest for row in shelf.installed()] == [new, middle, old]
    assert states(shelf, older_than=30, dry_run=True) == {old: "freed", middle: "kept", new: "kept"}
    size = sum(row.bytes for row in shelf.installed()) / 1024**3
    assert states(shelf, max_gib=size, dry_run=True) == {old: "kept", middle: "kept", new: "kept"}
    assert states(shelf, max_gib=size * 0.5) == {old: "freed", middle: "freed", new: "kept"}
    assert [row.digest for row in shelf.installed()] == [new]


def test_the_shelf_tells_the_tasks_that_an_environment_was_made_for(
    index: Index, shelf: Shelf, paths: CachePaths
) -> None:
    index.wheel("alpha")
    for tasks in (["a/1"], ["a/2", "a/1"]):
        build(planned(index, "alpha"), shelf, index.access, SandboxHost(paths), tasks=tasks).close()
    (row,) = shelf.installed()
    assert row.tasks == ("a/1", "a/2")
    assert (row.packages, row.complete, row.python) == (1, True, HERE.version)
    assert row.bytes > 0 and abs(row.used - time.time()) < 600


# --- the command ---------------------------------------------------------------------------------


class Command:
    """``expbench env`` with a cache of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.delenv("EXPBENCH_DATA", raising=False)

    def __call__(self, *args: str, code: int = 0) -> str:
        done = CliRunner().invoke(environments_app, list(args))
        assert done.exit_code == code, done.output
        if code == 2:
            sentence = done.stderr.strip()
            assert sentence.startswith("expbench: ") and "\n" not in sentence
            return sentence
        return done.stdout

    def json(self, *args: str) -> Any:
        return json.loads(self(*args, "--json"))


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(tmp_path / "home", monkeypatch)


def test_a_dry_run_shows_plans_and_builds_nothing(env: Command) -> None:
    shown = env("build", "--suite", "mini", "--dry-run")
    assert "numpy" in shown and "planned" in shown
    rows = env.json("build", "--task", "mini/bandits/0", "--dry-run")["environments"]
    (row,) = rows
    assert (row["tasks"], row["state"]) == (["mini/bandits/0"], "planned")
    assert row["plan"]["requirements"] == ["numpy>=1.26"]
    assert env.json("list") == []


def test_build_list_and_gc(env: Command, index: Index) -> None:
    task = "mini/stochopt/2"
    build_it = ("build", "--task", task, "--wheels", str(index.folder))
    (row,) = env.json(*build_it)["environments"]
    assert [problem["kind"] for problem in row["problems"]] == ["installer"] * 3
    assert (row["state"], row["complete"], row["tasks"]) == ("built", True, [task])
    assert "already there" in env(*build_it)
    (listed,) = env.json("list")
    assert (listed["digest"], listed["tasks"]) == (row["digest"], [task])
    assert row["digest"] in env("list")
    assert env.json("gc", "--older-than", "1")["environments"][0]["state"] == "kept"
    assert "would be freed" in env("gc", "--dry-run")
    freed = env.json("gc")
    assert freed["environments"][0]["state"] == "freed" and freed["bytes"] > 0
    assert env.json("list") == []


def test_what_the_user_can_mend_is_one_sentence(env: Command, tmp_path: Path) -> None:
    assert "no task" in env("build", "--task", "mini/bandits/99", code=2)
    missing = env("build", "--task", "mini/bandits/0", "--wheels", str(tmp_path / "none"), code=2)
    assert "--wheels" in missing
    assert "released data set" in env("build", "--suite", "expbench", code=2)


# --- the real world ------------------------------------------------------------------------------


def test_a_real_package_through_this_machines_index(
    shelf: Shelf, paths: CachePaths, inside: Callable[..., Completed]
) -> None:
    access = IndexAccess({name: os.environ[name] for name in SETTINGS if name in os.environ})
    try:
        environment = build(planned(access, "six==1.16.0"), shelf, access, SandboxHost(paths))
    except PrerequisiteError as error:
        pytest.skip(f"no package index here: {error}")
    with environment:
        assert environment.complete, environment.problems
        done = inside(environment, "python", "-c", "import six; print(six.__version__)")
        assert done.stdout == b"1.16.0\n"


@pytest.mark.parametrize("name", ["iclr2024/18439/0", "iclr2024/19033/0", "neurips2024/93022/0"])
def test_plans_of_released_tasks(release: Suite, name: str) -> None:
    clones = os.environ.get("EXPBENCH_CLONES")
    if not clones:
        pytest.skip("no clones of the papers' repositories: set EXPBENCH_CLONES to their folder")
    task = release.task(name)
    clone = find_clone(Path(clones), task.repository.url)
    if clone is None:
        pytest.skip(f"no clone of {task.repository.url}")
    git_dir = clone / ".git" if (clone / ".git").is_dir() else clone
    files = SourceFiles(Source(git_dir, task.repository.commit))
    found = plan(recipe(files, task), interpreters(Places()), own=own_names(task, files))
    assert found.requirements
    assert not set(found.denied) & {text.partition("=")[0] for text in found.requirements}
    assert found.estimate > 0
