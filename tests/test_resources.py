"""What a task needs, and the environment that its repository declares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from expbench.dataset.demands import demands, task_places
from expbench.dataset.recipe import Recipe, accepts, recipe
from expbench.dataset.release import load_release
from expbench.dataset.resources import resource_file
from expbench.schema import Reference, Repository, ResearchTask
from expbench.workspace.files import SourceFiles
from expbench.workspace.repository.source import from_folder

ROOT = Path(__file__).resolve().parent.parent


def task(method: str = "Compute it.", source: tuple[str, ...] = ("run.py",)) -> ResearchTask:
    return ResearchTask(
        id="v/1/0",
        paper="v/1",
        venue="v",
        type=1,
        repository=Repository(url=""),
        question="Does it hold?",
        method=method,
        reference=Reference(source=source),
    )


def flags(method: str, code: str = "import numpy\n") -> tuple[str, ...]:
    return demands(task(method), {"run.py": code}, {}).flags


# --- needs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "code", "wanted"),
    [
        ("Sort the numbers.", "import numpy\n", set()),
        ("Use 8 A100 GPUs.", "", {"needs_gpu", "long_running"}),
        ("Use a GPU if available.", "", set()),
        ("Run it.", "import torch\nx = model.cuda()\n", {"needs_gpu", "long_running"}),
        (
            "Run it.",
            "import torch\nif torch.cuda.is_available():\n    x.cuda()\n",
            set(),
        ),
        ("Ask GPT-4o for an answer.", "", {"needs_api_key"}),
        ("Read ImageNet.", "", {"gated_data", "large_download"}),
        ("Use CIFAR-10.", "", set()),
        ("Train it for 10 epochs.", "import torch\n", {"long_running"}),
        ("Set the number of epochs.", "import torch\n", set()),
        ("Simulate 10 million frames.", "", {"long_running"}),
        ("Load a pre-trained model.", "", {"large_download"}),
    ],
)
def test_rules_for_needs(method: str, code: str, wanted: set[str]) -> None:
    assert set(flags(method, code)) == wanted


def test_a_need_quotes_its_place() -> None:
    found = demands(task(), {"run.py": "import torch\n\nmodel.cuda()\n"}, {}).of("gpu")[0]
    assert (found.place, found.quote) == ("run.py:3", "model.cuda()")


def test_weights_are_sized_by_their_number() -> None:
    found = demands(task("Load LLaMA with 7B weights."), {}, {})
    assert found.of("download")[0].amount == 14.0


def test_the_number_of_gpus_is_read() -> None:
    assert demands(task("on 32 NVIDIA A100 GPUs"), {}, {}).of("gpu")[0].amount == 32


def test_every_quote_of_the_packaged_file_stands_in_its_task(release_folder: Path) -> None:
    """R53: the evidence can be looked up; quotes of task texts are checked here."""
    tasks = {each.id: each for each in load_release(release_folder)}
    file = resource_file()
    assert set(file.tasks) == set(tasks)
    checked = 0
    for task_id, entry in file.tasks.items():
        said = {place.name: " ".join(place.text.split()) for place in task_places(tasks[task_id])}
        for need in entry.needs:
            if need.place in said:
                assert need.quote, (task_id, need)
                assert need.quote in said[need.place], (task_id, need)
                checked += 1
    assert checked > 500


def test_the_packaged_file_is_small() -> None:
    assert (ROOT / "src/expbench/dataset/resources.json").stat().st_size < 500_000


def test_the_build_script_is_deterministic(release_folder: Path, tmp_path: Path) -> None:
    paper = tmp_path / "data" / "iclr2024" / "18439"
    paper.mkdir(parents=True)
    name = "18439_complete_final.json"
    (paper / name).write_bytes((release_folder / "iclr2024" / "18439" / name).read_bytes())
    outputs = []
    for number in range(2):
        out = tmp_path / f"{number}.json"
        script = [sys.executable, str(ROOT / "scripts" / "build_resources")]
        options = ["--data", str(tmp_path / "data"), "--mirror", str(tmp_path), "--out", str(out)]
        subprocess.run([*script, *options], check=True, capture_output=True)
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]


# --- recipes ---------------------------------------------------------------------------------------


def made(folder: Path, files: dict[str, str], source: tuple[str, ...] = ("run.py",)) -> Recipe:
    for name, text in files.items():
        path = folder / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = from_folder(folder / "repo", folder / "cache")
    return recipe(SourceFiles(found), task(source=source))


def test_requirements_give_packages_and_a_python_that_has_them(tmp_path: Path) -> None:
    found = made(tmp_path, {"requirements.txt": "torch==1.12.0\n-r x.txt\n# no\nPyYAML>=5 # yes\n"})
    assert found.packages == ("torch==1.12.0", "pyyaml>=5")
    assert found.python == "3.10"
    assert "pip install -r requirements.txt" in found.install


def test_setup_py_is_read_and_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = (
        f"open({str(mark)!r}, 'w')\nfrom setuptools import setup\nDEPS = ['numpy>=1', 'scipy']\n"
        "setup(name='x', install_requires=DEPS, python_requires='>=3.8,<3.10')\n"
    )
    found = made(tmp_path, {"setup.py": text})
    assert found.packages == ("numpy>=1", "scipy")
    assert found.python == "3.9"
    assert not mark.exists()


def test_other_declaring_files_are_read(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        {
            "pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.8"\nnumpy = "^1.2"\n',
            "environment.yml": (
                "name: x\ndependencies:\n  - python=3.9\n  - pytorch=1.10.0=cuda\n"
                "  - pip:\n    - einops==0.6\n"
            ),
            "Dockerfile": "FROM ubuntu:22.04\nRUN apt-get install -y git \\\n  ffmpeg && true\n",
        },
    )
    assert found.python == "3.9"
    assert set(found.packages) == {"numpy>=1.2,<2", "torch==1.10.0", "einops==0.6"}
    assert found.system == ("ffmpeg", "git")
    assert found.base_image == "ubuntu:22.04"


def test_imports_that_nothing_brings_are_named_with_their_place(tmp_path: Path) -> None:
    code = "import os\nimport cv2\nimport sklearn\nimport mine\nimport numpy\n"
    found = made(
        tmp_path, {"requirements.txt": "scikit-learn\n", "run.py": code, "mine.py": "x = 1\n"}
    )
    assert [(p.text, p.place) for p in found.problems] == [
        ("cv2 is not declared (opencv-python)", "run.py:2")
    ]


def test_without_declaring_files_the_imports_are_the_packages(tmp_path: Path) -> None:
    notebook = '{"cells": [{"cell_type": "code", "source": ["!ls\\n", "import yaml"]}]}'
    found = made(tmp_path, {"run.ipynb": notebook}, ("run.ipynb",))
    assert found.packages == ("pyyaml",)
    assert "pip install pyyaml" in found.install


def test_what_cannot_go_together_is_said(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        {
            "requirements.txt": "numpy==1.20.1\ntorch==2.0+cu118\nflash-attn\n",
            "setup.cfg": "[options]\ninstall_requires =\n  numpy==1.26.0\npython_requires = >=3.10\n",
        },
    )
    kinds = [problem.kind for problem in found.problems]
    assert kinds.count("conflict") == 1
    assert kinds.count("cuda") == 2
    assert kinds.count("python") == 1


def test_the_declaring_files_nearest_to_the_code_are_taken(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        {"a/requirements.txt": "numpy\n", "b/requirements.txt": "scipy\n", "a/run.py": ""},
        ("a/run.py",),
    )
    assert found.packages == ("numpy",)


@pytest.mark.parametrize(
    "broken",
    [
        {"pyproject.toml": "not = = toml"},
        {"setup.py": "def ("},
        {"setup.cfg": "no section"},
        {"pyproject.toml": "project = 3"},
    ],
)
def test_a_file_that_does_not_parse_is_a_problem_and_no_crash(
    tmp_path: Path, broken: dict[str, str]
) -> None:
    assert "unread" in {problem.kind for problem in made(tmp_path, broken).problems}


@pytest.mark.parametrize(
    ("specifier", "fits"),
    [
        (">=3.8,<3.11", [8, 9, 10]),
        ("==3.9.*", [9]),
        ("~=3.10", [10, 11, 12]),
        ("!=3.8", [7, 9, 10, 11, 12]),
        ("<3.12.1", [7, 8, 9, 10, 11, 12]),
        ("", [7, 8, 9, 10, 11, 12]),
    ],
)
def test_python_specifiers(specifier: str, fits: list[int]) -> None:
    assert [minor for minor in range(7, 13) if accepts(specifier, minor)] == fits
