"""Builds that ask git for their version, in workspaces that have one commit: real tools, real builds."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workspaces import run_git

from expbench.dataset.release import known_describe, released_papers
from expbench.workspace import Source, from_git, mask, materialise
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.contents import read_contents
from expbench.workspace.repository.described import (
    UNKNOWN_VERSION,
    Described,
    commit_message,
    describe_address,
    describe_clone,
    valid_tag,
)
from expbench.workspace.repository.source import stored
from expbench.workspace.repository.tree import list_tree
from expbench.workspace.versioning import (
    asks_for_tag,
    version_tools,
)

SCM = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools", "setuptools-scm"]\n'
    'build-backend = "setuptools.build_meta"\n'
    '[project]\nname = "demo.pkg"\ndynamic = ["version"]\n[tool.setuptools_scm]\n',
    "demo_pkg/__init__.py": "",
}
SCM_SETUP = {
    "setup.py": "from setuptools import setup\nNAME = 'demo-pkg'\n"
    "setup(name=NAME, packages=['demo_pkg'], use_scm_version=True)\n",
    "demo_pkg/__init__.py": "",
}
HATCH = {
    "pyproject.toml": '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n'
    'build-backend = "hatchling.build"\n'
    '[project]\nname = "demo-pkg"\ndynamic = ["version"]\n[tool.hatch.version]\nsource = "vcs"\n',
    "demo_pkg/__init__.py": "",
}
PBR = {
    "setup.py": "from setuptools import setup\nsetup(setup_requires=['pbr'], pbr=True)\n",
    "setup.cfg": "[metadata]\nname = demo-pkg\n[files]\npackages = demo_pkg\n",
    "demo_pkg/__init__.py": "",
}
VERSIONEER = {
    "setup.py": "import versioneer\nfrom setuptools import setup\n"
    "setup(name='demo-pkg', packages=['demo_pkg'],\n"
    "      version=versioneer.get_version(), cmdclass=versioneer.get_cmdclass())\n",
    "setup.cfg": "[versioneer]\nVCS = git\nstyle = pep440\nversionfile_source = demo_pkg/_version.py\n"
    "tag_prefix = v\n",
    "demo_pkg/__init__.py": "",
}
AT_IMPORT = {
    "demo_pkg/__init__.py": "from demo_pkg.version import __version__\n",
    "demo_pkg/version.py": """\
import pathlib
import subprocess

answer = subprocess.run(
    ["git", "describe", "--abbrev=7"],
    cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=True,
).stdout.strip()
__version__ = answer.lstrip("v").replace("-", ".dev", 1).replace("-", "+", 1)
""",
}


def repository(
    folder: Path, files: dict[str, str], *, tag: str | None = "v1.2", since: int = 5
) -> tuple[Path, str]:
    """A repository with ``since`` commits after a tag; (folder, last commit)."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "trunk")
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "first")
    if tag is not None:
        run_git(folder, "tag", "-a", "-m", "released", tag)
    for number in range(since):
        run_git(folder, "commit", "-q", "--allow-empty", "-m", f"later {number}")
    return folder, run_git(folder, "rev-parse", "HEAD")


def workspace(source: Source, dest: Path) -> Path:
    """A masked workspace of the source, with nothing but the READMEs taken out."""
    materialise(mask(source, ()), dest)
    return dest


def variables(source: Source) -> dict[str, str]:
    return mask(source, ()).environment


def needs(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"the build tool {module} is not installed: make setup")


def build(folder: Path, env: dict[str, str], out: Path) -> str:
    """Build a wheel as pip does, in a process of its own; the version it has."""
    backend = "setuptools.build_meta:__legacy__"
    if "hatchling" in (
        (folder / "pyproject.toml").read_text() if (folder / "pyproject.toml").exists() else ""
    ):
        backend = "hatchling.build"
    name, _, attribute = backend.partition(":")
    out.mkdir(parents=True)
    code = (
        f"import sys, importlib; backend = importlib.import_module({name!r})\n"
        f"backend = getattr(backend, {attribute!r}) if {attribute!r} else backend\n"
        "backend.build_wheel(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(out)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(out), **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    return next(line.removeprefix("Version: ") for line in lines if line.startswith("Version: "))


# --- what git says -------------------------------------------------------------------------------


@pytest.mark.parametrize("since", [0, 5])
def test_clone_describes_pin_as_git_does(tmp_path: Path, since: int) -> None:
    """R41: the nearest tag and the distance are the pinned commit's own."""
    clone, pin = repository(tmp_path / "clone", {"a": "1"}, since=since)
    run_git(clone, "commit", "-q", "--allow-empty", "-m", "after the pin")
    run_git(clone, "tag", "v9.9")
    source = from_git(str(clone), pin, tmp_path / "cache")
    assert source.described == Described(tag="v1.2", distance=since, commit=pin)
    assert source.described.answer == run_git(clone, "describe", "--tags", "--abbrev=7", pin)
    again = stored(pin, tmp_path / "cache")
    assert again is not None and again.described == source.described
    assert run_git(source.git_dir, "tag") == ""


def test_lightweight_and_packed_tags_of_a_linked_work_tree_are_seen(tmp_path: Path) -> None:
    clone, pin = repository(tmp_path / "clone", {"a": "1"}, tag=None, since=3)
    run_git(clone, "tag", "v0.1", "HEAD~2")
    run_git(clone, "pack-refs", "--all")
    run_git(clone, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), pin)
    assert describe_clone(tmp_path / "linked", pin) == Described(tag="v0.1", distance=2, commit=pin)


def test_distance_counts_merged_branches(tmp_path: Path) -> None:
    clone, _ = repository(tmp_path / "clone", {"a": "1"}, since=1)
    run_git(clone, "checkout", "-q", "-b", "side", "HEAD~1")
    run_git(clone, "commit", "-q", "--allow-empty", "-m", "side")
    run_git(clone, "checkout", "-q", "trunk")
    run_git(clone, "merge", "-q", "--no-ff", "-m", "merge", "side")
    pin = run_git(clone, "rev-parse", "HEAD")
    found = describe_clone(clone, pin)
    assert found is not None
    assert found.answer == run_git(clone, "describe", "--tags", "--abbrev=7")
    assert found.distance == 3


def test_untagged_shallow_and_damaged_clones_say_nothing(tmp_path: Path) -> None:
    clone, pin = repository(tmp_path / "clone", {"a": "1"}, tag=None)
    assert describe_clone(clone, pin) is None
    assert from_git(str(clone), pin, tmp_path / "cache").described is None
    tagged, pin = repository(tmp_path / "tagged", {"a": "1"}, since=9)
    shallow = tmp_path / "shallow"
    run_git(tmp_path, "clone", "-q", "--depth=3", f"file://{tagged}", str(shallow))
    run_git(shallow, "tag", "v7", "HEAD~1")
    assert describe_clone(shallow, pin) is None
    assert describe_clone(tmp_path / "nowhere", pin) is None
    assert describe_clone(tagged, "0" * 40) is None
    shutil.rmtree(tagged / ".git" / "objects")
    (tagged / ".git" / "objects").mkdir()
    assert describe_clone(tagged, pin) is None


def test_clones_settings_and_hooks_stay_unread(tmp_path: Path) -> None:
    """R39: describing a clone runs nothing that its configuration names."""
    clone, pin = repository(tmp_path / "clone", {"a": "1"})
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for setting in ("core.fsmonitor", "uploadpack.packObjectsHook", "core.sshCommand"):
        run_git(clone, "config", setting, str(script))
    assert describe_clone(clone, pin) is not None
    assert not ran.exists()


def test_hostile_tag_names_are_passed_over(tmp_path: Path) -> None:
    clone, pin = repository(tmp_path / "clone", {"a": "1"})
    for name in ("v1;touch-x", "vé", "v" * 150, "$(id)", "main", "HEAD", "0" * 40, "a/.b"):
        try:
            run_git(clone, "update-ref", f"refs/tags/{name}", pin)
        except subprocess.CalledProcessError:
            continue
    found = describe_clone(clone, pin)
    assert found is not None and found.tag == "v1.2"


@settings(max_examples=60, deadline=None)
@given(st.text("aZ09._-/@{}+~^:?*[ \\\n\0HEADlockmain", max_size=12) | st.text(max_size=6))
def test_every_valid_tag_is_one_for_git(name: str) -> None:
    if valid_tag(name):
        command = ["git", "check-ref-format", f"refs/tags/{name}"]
        assert subprocess.run(command, check=False, timeout=20).returncode == 0
        assert not name.startswith("-") and ".." not in name


@pytest.mark.parametrize(
    "name",
    ["", "-x", "a..b", "a.lock", "a/b.lock/c", ".a", "a/", "a//b", "a@{1}", "a.", "../x", "main"],
)
def test_tags_that_are_no_paths_are_refused(name: str) -> None:
    assert not valid_tag(name)
    with pytest.raises(ValueError, match="no tag's name"):
        Described(tag=name, distance=0, commit="0" * 40)


def test_network_is_asked_only_when_a_build_asks(tmp_path: Path) -> None:
    server, pin = repository(tmp_path / "asks", SCM)
    run_git(server, "config", "uploadpack.allowFilter", "true")
    found = from_git(f"file://{server}", pin, tmp_path / "cache")
    assert found.described == Described(tag="v1.2", distance=5, commit=pin)
    silent, pin = repository(tmp_path / "silent", {"setup.py": "import setuptools\n"})
    assert describe_address(f"file://{silent}", pin) is not None
    assert from_git(f"file://{silent}", pin, tmp_path / "cache").described is None


def test_network_that_does_not_answer_is_no_error(tmp_path: Path) -> None:
    assert describe_address(f"file://{tmp_path}/nowhere", "0" * 40) is None


def test_stores_made_before_have_no_description(tmp_path: Path) -> None:
    clone, pin = repository(tmp_path / "clone", {"a": "1"})
    source = from_git(str(clone), pin, tmp_path / "cache")
    file = source.git_dir / "expbench.json"
    facts = json.loads(file.read_text())
    del facts["described"]
    file.write_text(json.dumps(facts))
    contents = read_contents(source.git_dir)
    assert contents is not None and contents.described is None


def test_release_knows_what_its_pins_are_called() -> None:
    """R41: 14 of the release's pins have a tag, and a clone without history does not hide it."""
    known = {p.commit: p.describe for p in released_papers().values() if p.describe}
    assert len(known) == 14
    for commit, answer in known.items():
        assert known_describe(commit) == answer
        assert Described.parse(answer, commit) is not None
    assert Described.parse(next(iter(known.values())), "0" * 40) is None
    assert known_describe("0" * 40) == ""


# --- versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "at", "after"),
    [
        ("v1.2", "1.2", "1.3.dev5"),
        ("0.1.4.1", "0.1.4.1", "0.1.4.2.dev5"),
        ("V1.0.0", "1.0.0", "1.0.1.dev5"),
        ("1.0rc1", "1.0rc1", "1.0rc2.dev5"),
        ("v2.0-alpha.3", "2.0a3", "2.0a4.dev5"),
        ("v2024.01.05", "2024.1.5", "2024.1.6.dev5"),
        ("demo-1.4", "1.4", "1.5.dev5"),
        ("v1.0.post1", "1.0.post1", "1.0.post2.dev5"),
        ("v1.0-1", "1.0.post1", "1.0.post2.dev5"),
    ],
)
def test_version_is_what_setuptools_scm_says(tmp_path: Path, tag: str, at: str, after: str) -> None:
    clone, pin = repository(tmp_path / "clone", SCM, tag=tag, since=5)
    described = describe_clone(clone, pin)
    assert described is not None
    assert described.version == f"{after}+g{pin[:7]}"
    assert Described(tag=tag, distance=0, commit=pin).version == at
    needs("setuptools_scm")
    for commit, expected in ((pin, after), (f"{pin}~5", at)):
        run_git(clone, "checkout", "-q", "--detach", commit)
        code = "import setuptools_scm; print(setuptools_scm.get_version())"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=clone, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.strip().partition("+")[0] == expected, done.stderr


@pytest.mark.parametrize("tag", ["pose-weights", "womd", "v1.x", "release/one"])
def test_tag_that_is_no_version_gives_a_safe_one(tag: str) -> None:
    described = Described(tag=tag, distance=3, commit="a" * 40)
    assert described.version == UNKNOWN_VERSION
    assert described.answer == f"{tag}-3-gaaaaaaa"


# --- builds in a workspace -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "modules", "variable"),
    [
        (SCM, ("setuptools_scm",), "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_DEMO_PKG"),
        (SCM_SETUP, ("setuptools_scm",), "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_DEMO_PKG"),
        (HATCH, ("hatchling", "hatch_vcs"), "SETUPTOOLS_SCM_PRETEND_VERSION"),
        (PBR, ("pbr",), "PBR_VERSION"),
    ],
    ids=["setuptools_scm", "setup.py", "hatch-vcs", "pbr"],
)
@pytest.mark.parametrize("tag", ["v1.2", None, "pose-weights"])
def test_build_has_the_pins_version(
    tmp_path: Path,
    files: dict[str, str],
    modules: tuple[str, ...],
    variable: str,
    tag: str | None,
) -> None:
    """R13: one commit without history, and the build says what it said at the pinned commit."""
    clone, pin = repository(tmp_path / "clone", files, tag=tag)
    source = from_git(str(clone), pin, tmp_path / "cache")
    expected = f"1.3.dev5+g{pin[:7]}" if tag == "v1.2" else UNKNOWN_VERSION
    assert variables(source) == {variable: expected}
    needs("setuptools", "wheel", *modules)
    folder = workspace(source, tmp_path / "workspace")
    assert build(folder, variables(source), tmp_path / "with") == expected
    if tag == "v1.2":
        bare = build(folder, {}, tmp_path / "bare")
        assert bare.startswith(("1.2", "1.3"))
    shutil.rmtree(folder / ".git")
    assert build(folder, variables(source), tmp_path / "without") == expected


def test_other_packages_keep_their_own_version(tmp_path: Path) -> None:
    needs("setuptools", "wheel", "setuptools_scm")
    clone, pin = repository(tmp_path / "clone", SCM)
    source = from_git(str(clone), pin, tmp_path / "cache")
    other = {**SCM, "pyproject.toml": SCM["pyproject.toml"].replace("demo.pkg", "another")}
    folder, _ = repository(tmp_path / "other", other, tag="v7.0", since=0)
    assert build(folder, variables(source), tmp_path / "out") == "7.0"


def test_versioneer_is_answered_by_the_tag(tmp_path: Path) -> None:
    needs("setuptools", "wheel", "versioneer")
    draft, _ = repository(tmp_path / "draft", VERSIONEER)
    command = [sys.executable, "-m", "versioneer", "install", "--vendor"]
    subprocess.run(command, cwd=draft, capture_output=True, check=True, timeout=60)
    run_git(draft, "add", "-A")
    run_git(draft, "commit", "-q", "-m", "versioneer")
    source = from_git(str(draft), run_git(draft, "rev-parse", "HEAD"), tmp_path / "cache")
    assert variables(source) == {}
    folder = workspace(source, tmp_path / "workspace")
    assert build(folder, {}, tmp_path / "out") == "1.2"


def test_git_describe_at_import_is_answered(tmp_path: Path) -> None:
    """As at the pin; without ``--tags``, as torchopt asks, where only an annotated tag is an answer."""
    clone, pin = repository(tmp_path / "clone", AT_IMPORT)
    source = from_git(str(clone), pin, tmp_path / "cache")
    folder = workspace(source, tmp_path / "workspace")
    code = "import demo_pkg; print(demo_pkg.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
    )
    there = run_git(clone, "describe", "--tags", "--abbrev=7", pin)
    assert there == f"v1.2-5-g{pin[:7]}"
    assert done.stdout.strip() == f"1.2.dev5+g{pin[:7]}", done.stderr
    assert run_git(folder, "describe", "--tags") == run_git(folder, "describe") == there


@pytest.mark.parametrize("files", [SCM, AT_IMPORT], ids=["parsed", "answered"])
def test_workspaces_commit_carries_tag_and_answer(tmp_path: Path, files: dict[str, str]) -> None:
    """R13: one commit without a parent, the nearest tag, and the whole answer."""
    clone, pin = repository(tmp_path / "clone", files, tag="release/v1.2")
    source = from_git(str(clone), pin, tmp_path / "cache")
    folder = workspace(source, tmp_path / "workspace")
    answer = f"release/v1.2-5-g{pin[:7]}"
    tags = ["release/v1.2", answer] if files is AT_IMPORT else ["release/v1.2"]
    assert run_git(folder, "tag").splitlines() == tags
    assert run_git(folder, "describe") == tags[-1]
    assert run_git(folder, "rev-list", "--all", "--parents").split() == [
        run_git(folder, "rev-parse", "release/v1.2^{commit}")
    ]
    assert run_git(folder, "log", "--format=%s") == f"workspace, at {answer} of its repository"
    assert answer in run_git(folder, "tag", "-n1")
    run_git(folder, "fsck", "--strict")
    assert commit_message(None) == "workspace"


# --- what a tree asks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "tools"),
    [
        ({"setup.cfg": "[options]\nsetup_requires =\n    pbr\n    wheel\n"}, {"pbr"}),
        ({"pyproject.toml": '[build-system]\nrequires=["pbr>=6","wheel"]\n'}, {"pbr"}),
        ({"pyproject.toml": '[tool.pdm.version]\nsource = "scm"\n'}, {"pdm-backend"}),
        (
            {"pyproject.toml": '[build-system]\nrequires = ["poetry-dynamic-versioning"]\n'},
            {"poetry-dynamic-versioning"},
        ),
        (
            {"pyproject.toml": '[build-system]\nrequires = ["uv-dynamic-versioning"]\n'},
            {"uv-dynamic-versioning"},
        ),
        ({"pkg/__init__.py": "from dunamai import Version\n"}, {"dunamai"}),
        ({"pkg/version.py": "run(['git', '-C', here, 'describe'])\n"}, {"git describe"}),
        ({"CMakeLists.txt": "execute_process(${GIT_EXECUTABLE} describe)\n"}, {"git describe"}),
        ({"src/pkg/__init__.py": "os.popen('git rev-parse HEAD')\n"}, {"git rev-parse"}),
        ({"sub/pyproject.toml": "[tool.setuptools_scm]\n"}, {"setuptools_scm"}),
        ({"docs/guide.md": "git describe and setuptools_scm"}, set()),
        ({"pyproject.toml": 'keywords = ["PBR"]\nexclude = ["\\\\.git"]\n'}, set()),
        ({"train.py": "os.popen('git describe')\n"}, set()),
        ({"setup.py": "url = 'git+https://example.org/described.git'\n"}, set()),
    ],
)
def test_questions_to_git_are_found(tmp_path: Path, files: dict[str, str], tools: set[str]) -> None:
    clone, pin = repository(tmp_path / "clone", files)
    entries = list_tree(clone / ".git", pin)
    with BlobReader(clone / ".git") as blobs:
        assert {asks.tool for asks in version_tools(entries, blobs.read)} == tools
        assert asks_for_tag(entries, blobs.read) == bool(tools - {"git rev-parse"})


@pytest.mark.parametrize(
    ("files", "variable"),
    [
        ({"setup.py": "import setuptools_scm\nsetup(name=read())\n"}, ""),
        ({"setup.py": "import setuptools_scm\ndef broken(:\n"}, ""),
        ({"pyproject.toml": "[tool.setuptools_scm\n"}, ""),
        ({"pyproject.toml": '[tool.setuptools_scm]\n[project]\nname = "a b; c"\n'}, ""),
        ({"setup.cfg": "[metadata]\nname=A-b.c\n[x]\ny=setuptools_scm\n"}, "_FOR_A_B_C"),
    ],
)
def test_variable_is_general_where_no_name_can_be_read(
    tmp_path: Path, files: dict[str, str], variable: str
) -> None:
    clone, pin = repository(tmp_path / "clone", files, since=0)
    source = from_git(str(clone), pin, tmp_path / "cache")
    assert variables(source) == {f"SETUPTOOLS_SCM_PRETEND_VERSION{variable}": "1.2"}
