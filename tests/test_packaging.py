"""Packages whose build reads a README that is taken out: a neutral stub lets them install."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from expbench.workspace.packaging import MOST_BYTES, MOST_FILES, STUB, Stub, readme_stubs
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, Entry

SETUP = "from setuptools import setup\n"
PYPROJECT = '[project]\nname = "demo"\nversion = "1"\n'
LEGACY = "setuptools.build_meta:__legacy__"

READERS = {
    "open": {"setup.py": SETUP + "setup(name='demo', long_description=open('README.md').read())\n"},
    "with": {
        "setup.py": SETUP + "with open('README.md', 'r') as fh:\n    README = fh.read()\n"
        "setup(name='demo', long_description=README)\n"
    },
    "path": {
        "setup.py": SETUP + "from pathlib import Path\nhere = Path(__file__).parent\n"
        "setup(name='demo', long_description=(here / 'README.md').read_text())\n"
    },
    "join": {
        "setup.py": SETUP + "from os import path\nhere = path.abspath(path.dirname(__file__))\n"
        "with open(path.join(here, 'README.md'), encoding='utf-8') as f:\n"
        "    setup(name='demo', long_description=f.read())\n"
    },
    "helper function": {
        "setup.py": SETUP + "import os\ndef text_of(name):\n"
        "    return open(os.path.join(os.path.dirname(__file__), name)).read()\n"
        "setup(name='demo', long_description=text_of('./README.md'))\n"
    },
    "variable": {
        "setup.py": SETUP + "files = ['README.md']\n"
        "setup(name='demo', long_description=''.join(open(f).read() for f in files))\n"
    },
    "f-string": {
        "setup.py": SETUP + "import os\nhere = os.getcwd()\n"
        "setup(name='demo', long_description=open(f'{here}/README.md').read())\n"
    },
    "percent": {
        "setup.py": SETUP + "import os\n"
        "setup(name='demo', long_description=open('%s/README.md' % os.getcwd()).read())\n"
    },
    "glob": {
        "setup.py": SETUP + "import glob\n"
        "setup(name='demo', long_description=open(glob.glob('README*')[0]).read())\n"
    },
    "helper module": {
        "setup.py": SETUP + "import os, sys\nsys.path.insert(0, os.getcwd())\n"
        "from texts import about\nsetup(name='demo', long_description=about())\n",
        "texts.py": "def about():\n    return open('README.md').read()\n",
    },
    "data files": {
        "setup.py": SETUP + "setup(name='demo', data_files=[('share/demo', ['README.md'])])\n"
    },
    "hatch": {
        "pyproject.toml": PYPROJECT + 'readme = "README.md"\n'
        "[tool.hatch.build.targets.wheel]\nbypass-selection = true\n"
    },
    "hatch table": {
        "pyproject.toml": PYPROJECT
        + 'readme = {file = "README.md", content-type = "text/markdown"}\n'
        "[tool.hatch.build.targets.wheel]\nbypass-selection = true\n"
    },
    "hatch included": {
        "pyproject.toml": PYPROJECT + "[tool.hatch.build.targets.wheel.force-include]\n"
        '"README.md" = "demo/README.md"\n'
    },
    "hatch fancy": {
        "pyproject.toml": PYPROJECT + 'dynamic = ["readme"]\n'
        "[tool.hatch.build.targets.wheel]\nbypass-selection = true\n"
        '[tool.hatch.metadata.hooks.fancy-pypi-readme]\ncontent-type = "text/markdown"\n'
        "[[tool.hatch.metadata.hooks.fancy-pypi-readme.fragments]]\n"
        'path = "README.md"\nstart-after = "<!-- start -->"\nend-before = "<!-- end -->"\n'
    },
    "flit": {
        "pyproject.toml": '[build-system]\nrequires = ["flit_core"]\n'
        + PYPROJECT
        + 'readme = "README.md"\ndescription = "demo"\n',
        "demo.py": "",
    },
    "poetry": {
        "pyproject.toml": '[tool.poetry]\nname = "demo"\nversion = "1"\ndescription = ""\n'
        'authors = []\nreadme = "README.md"\n',
        "demo.py": "",
    },
    "pbr": {
        "setup.py": SETUP + "setup(setup_requires=['pbr'], pbr=True)\n",
        "setup.cfg": "[metadata]\nname = demo\ndescription-file = README.md\n[files]\nmodules = demo\n",
        "demo.py": "",
    },
}
"""Builds that fail when README.md is missing."""

BACKENDS = {
    "flit": ("flit_core.buildapi", ("flit_core",)),
    "poetry": ("poetry.core.masonry.api", ("poetry.core",)),
    "pbr": (LEGACY, ("setuptools", "wheel", "pbr")),
    "hatch fancy": ("hatchling.build", ("hatchling", "hatch_fancy_pypi_readme")),
}


def entries_of(files: dict[str, str], modes: dict[str, str] | None = None) -> tuple[Entry, ...]:
    return tuple(
        Entry((modes or {}).get(name, "100644"), name, os.fsencode(name), len(content.encode()))
        for name, content in sorted(files.items())
    )


def stubs(files: dict[str, str], removed: Iterable[str] = ("README.md",)) -> tuple[Stub, ...]:
    whole = {**dict.fromkeys(removed, "The answer is 0.93."), **files}
    return readme_stubs(
        entries_of(whole), {os.fsencode(name) for name in removed}, lambda oid: whole[oid].encode()
    )


def stubbed(files: dict[str, str], removed: Iterable[str] = ("README.md",)) -> list[str]:
    return [stub.path for stub in stubs(files, removed)]


def build(folder: Path, backend: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel as pip does, in a process of its own."""
    name, _, attribute = backend.partition(":")
    code = (
        f"import importlib; backend = importlib.import_module({name!r})\n"
        f"backend = getattr(backend, {attribute!r}) if {attribute!r} else backend\n"
        "backend.build_wheel('.')"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PBR_VERSION": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("kind", READERS)
def test_package_that_reads_its_readme_installs(tmp_path: Path, kind: str) -> None:
    """R17: with the README taken out the build fails; with the stub it succeeds."""
    files = READERS[kind]
    found = stubs(files)
    assert [stub.path for stub in found] == ["README.md"]
    assert STUB in found[0].content and b"answer" not in found[0].content
    assert any(name in found[0].reason for name in files)
    usual = "hatchling.build" if kind.startswith("hatch") else LEGACY
    packages = ("hatchling",) if kind.startswith("hatch") else ("setuptools", "wheel")
    backend, modules = BACKENDS.get(kind, (usual, packages))
    for module in modules:
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            pytest.skip(f"the build tool {module} is not installed: make setup")
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert build(tmp_path, backend).returncode != 0
    (tmp_path / "README.md").write_bytes(found[0].content)
    done = build(tmp_path, backend)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("demo-*.whl"))


@pytest.mark.parametrize(
    "files",
    [
        {"setup.cfg": "[metadata]\nname = demo\nlong_description = file: README.md, CHANGES.md\n"},
        {"setup.cfg": "[metadata]\nlong-description =\n    file: CHANGES.md\n    README.md\n"},
        {"setup.cfg": "[options.data_files]\nshare/demo =\n    README.md\n"},
        {"pyproject.toml": '[tool.setuptools.dynamic]\nreadme = {file = ["A.md", "README.md"]}\n'},
        {"pyproject.toml": '[tool.setuptools.data-files]\nshare = ["README.md"]\n'},
        {"pyproject.toml": '[tool.poetry]\nreadme = ["README.md", "MORE.md"]\n'},
        {"pyproject.toml": '[tool.flit.metadata]\ndescription-file = "README.md"\n'},
        {"pyproject.toml": '[project\nreadme = "README.md"\n'},
        {"setup.py": "print 'python 2'\nsetup(long_description=open('README.md').read())\n"},
        {"hatch_build.py": "class Hook:\n    def update(self, m):\n        open('README.md')\n"},
        {"python/pyproject.toml": '[project]\nreadme = "../README.md"\n'},
        {"python/setup.py": "setup(long_description=open('../README.md').read())\n"},
        {"python/setup.py": "import os\nopen(os.path.join(here, '..', 'README.md'))\n"},
        {"a/b/setup.py": "here = Path(__file__).parent\nopen(here.parent.parent / 'README.md')\n"},
    ],
)
def test_settings_that_read_a_readme_are_found(files: dict[str, str]) -> None:
    assert stubbed(files) == ["README.md"]


@pytest.mark.parametrize(
    "files",
    [
        {"MANIFEST.in": "include README.md\n", "setup.py": "setup()\n"},
        {"setup.py": "setup(package_data={'': ['README.md']}, include_package_data=True)\n"},
        {"setup.py": "setup(long_description='README.md')\n"},
        {"setup.py": '"""README.md"""\n# open("README.md")\nsetup()\n'},
        {"setup.py": "setup()\nprint('see', 'README.md')\n"},
        {"setup.py": "setup(x=[f for f in files if f != 'README.md'])\n"},
        {"setup.py": "setup(project_urls={'Docs': 'https://example.org/README.md'})\n"},
        {"setup.py": "open('readme.md')\n"},
        {"setup.cfg": "[metadata]\ndescription-file = README.md\n", "setup.py": "setup()\n"},
        {"setup.cfg": "[metadata]\nlong_description = README.md\n"},
        {"pyproject.toml": '[project.urls]\nreadme = "https://example.org/README.md"\n'},
        {"pyproject.toml": '[project]\nreadme = "docs/README.md"\n', "docs/README.md": "kept"},
        {"pyproject.toml": '# readme = "README.md"\n[tool.ruff]\nexclude = ["README.md"]\n'},
        {"sub/setup.py": "open('README.md')\n", "sub/README.md": "kept"},
        {"sub/setup.py": "open(here.parent / 'README.md')\n", "sub/README.md": "kept"},
        {"sub/setup.py": "open('README.md')\n"},
        {"docs/conf.py": "open('../README.md')\n"},
        {"train.py": "open('README.md')\n"},
        {"setup.py": "import texts\n", "other/texts.py": "open('README.md')\n"},
        {"pyproject.toml": '[project]\nreadme = "../../README.md"\n'},
        {"pyproject.toml": "project = 3\nreadme = 4\n"},
    ],
)
def test_readme_that_nothing_reads_stays_out(files: dict[str, str]) -> None:
    """R17: a stub stands only where a build needs one."""
    assert stubbed(files) == []


def test_only_what_is_removed_and_read_has_a_stub() -> None:
    files = {
        "pyproject.toml": '[project]\nreadme = "README.rst"\n',
        "tools/setup.py": "open('README.md')\nopen('LICENSE')\n",
    }
    removed = ("README.md", "README.rst", "README_cn.md", "tools/README.md", "tools/LICENSE")
    assert stubbed(files, removed) == ["README.rst", "tools/README.md"]
    assert stubbed(files, ()) == []
    assert stubbed({"setup.py": "open('README.md')"}, ("setup.py", "README.md")) == []


def test_many_large_and_linked_packaging_files_are_bounded() -> None:
    code = "open('../README.md')\n"
    many = {f"d{number:04}/setup.py": code for number in range(MOST_FILES + 50)}
    reads = 0
    whole = {"README.md": "x", **many}

    def read(oid: str) -> bytes:
        nonlocal reads
        reads += 1
        return whole[oid].encode()

    readme_stubs(entries_of(whole), {b"README.md"}, read)
    assert reads == MOST_FILES
    large = {"setup.py": "open('README.md')\n" + "#" * MOST_BYTES}
    assert stubbed(large) == []
    files = {"README.md": "x", "setup.py": "open('README.md')"}
    for mode in (SYMLINK, SUBMODULE):
        listed = entries_of(files, {"setup.py": mode})
        assert readme_stubs(listed, {b"README.md"}, lambda oid: files[oid].encode()) == ()


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff\xfe",
        b"(" * 100_000,
        b"-" * 100_000 + b"1",
        b"x = " + b"[" * 90 + b"]" * 90,
        b"a = " + b"[" * 50_000 + b"]" * 50_000,
        b"'" * 200_001,
        b"[a]\n" * 20_000,
        b"\n".join(b"[a%d]" % n for n in range(5000)),
    ],
)
@pytest.mark.parametrize("name", ["setup.py", "setup.cfg", "pyproject.toml"])
def test_hostile_packaging_files_are_read_in_time(name: str, content: bytes) -> None:
    """R17: whatever a repository holds, reading it ends and raises nothing."""
    entries = (
        Entry("100644", "readme", b"README.md", 1),
        Entry("100644", "file", os.fsencode(name), len(content)),
    )
    assert readme_stubs(entries, {b"README.md"}, lambda oid: content) == ()
