"""Running the authors' own code, and what it says about an expected outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from expbench.errors import UserError
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Reference, Repository, ResearchTask
from expbench.verify import Check, Verification, default_command, errata_row, verify
from expbench.workspace import Source, from_folder

LIMITS = Limits(minutes=0.5, memory_mib=None)


def _task(conclusion: str, *source: str) -> ResearchTask:
    return ResearchTask(
        id="own/one/0",
        paper="own/one",
        venue="own",
        type=1,
        repository=Repository(url="none"),
        question="Which?",
        method="Run it.",
        reference=Reference(conclusion=conclusion, source=source),
    )


def _source(folder: Path, cache: Path, **files: str) -> Source:
    for name, text in files.items():
        path = folder / "repo" / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return from_folder(folder / "repo", cache)


def _verify(
    host: SandboxHost, task: ResearchTask, source: Source, repeat: int = 2, **patterns: str
) -> Verification:
    command = default_command(task, source)
    return verify(task, source, host, command, Check.of(task, **patterns), repeat, LIMITS)


MAIN = "if __name__ == '__main__':\n    "


def test_numbers_found_in_every_run_confirm(host: SandboxHost, tmp_path: Path) -> None:
    source = _source(tmp_path, host.cache.repos, run__py=f"{MAIN}print('accuracy', 0.73124)\n")
    done = _verify(host, _task("The accuracy is 73.1 %.", "run.py"), source)
    assert (done.state, len(done.runs)) == ("confirmed", 2)
    row = errata_row(done)
    assert row is not None
    assert (row.kind, row.tasks) == ("ground_truth_confirmed", ("own/one/0",))


def test_numbers_in_a_file_that_the_run_makes_count_and_shipped_ones_do_not(
    host: SandboxHost, tmp_path: Path
) -> None:
    writes = f"{MAIN}open('out.json', 'w').write('[0.7312]')\n"
    source = _source(tmp_path, host.cache.repos, run__py=writes, old__txt="0.4567")
    assert _verify(host, _task("It is 0.731.", "run.py"), source).state == "confirmed"
    assert _verify(host, _task("It is 0.457.", "run.py"), source).state == "needs_a_reader"


def test_a_number_that_is_not_printed_contradicts_nothing(
    host: SandboxHost, tmp_path: Path
) -> None:
    source = _source(tmp_path, host.cache.repos, run__py=f"{MAIN}print('done')\n")
    done = _verify(host, _task("The accuracy is 73.1 %.", "run.py"), source)
    assert done.state == "needs_a_reader"
    assert "73.1" in done.reason


def test_a_persons_pattern_for_the_opposite_contradicts(host: SandboxHost, tmp_path: Path) -> None:
    source = _source(tmp_path, host.cache.repos, run__py=f"{MAIN}print('x = 1.973')\n")
    task = _task("It converges to 1.0.", "run.py")
    done = _verify(host, task, source, expect=r"x = (0\.99|1\.00)", contradict=r"x = 1\.9\d+")
    assert (done.state, done.runs[0].contradiction) == ("contradicted", "x = 1.973")
    row = errata_row(done)
    assert row is not None and row.kind == "wrong_ground_truth"


def test_runs_that_differ_are_stochastic(host: SandboxHost, tmp_path: Path) -> None:
    code = f"{MAIN}import os; print('edge' if os.urandom(1)[0] % 2 else 'none')\n"
    source = _source(tmp_path, host.cache.repos, run__py=code)
    done = _verify(host, _task("An edge.", "run.py"), source, repeat=12, expect="edge")
    assert done.state == "stochastic", done.reason


def test_a_failing_run_says_nothing_about_the_truth(host: SandboxHost, tmp_path: Path) -> None:
    source = _source(tmp_path, host.cache.repos, run__py=f"{MAIN}import not_installed_here\n")
    done = _verify(host, _task("It is 0.731.", "run.py"), source)
    assert done.state == "not_runnable"
    assert errata_row(done) is None
    assert "not_installed_here" in done.reason


def test_an_outcome_without_a_number_needs_a_reader(host: SandboxHost, tmp_path: Path) -> None:
    source = _source(tmp_path, host.cache.repos, run__py=f"{MAIN}print('0.5')\n")
    assert _verify(host, _task("It is better.", "run.py"), source).state == "needs_a_reader"


def test_a_notebook_runs_cell_by_cell_without_its_magics(host: SandboxHost, tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# 0.731"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "x = 0.7"]},
        {"cell_type": "code", "source": ["print(x + 0.0312)"]},
    ]
    source = _source(tmp_path, host.cache.repos, nb__ipynb=json.dumps({"cells": cells}))
    assert _verify(host, _task("It is 0.731.", "nb.ipynb"), source).state == "confirmed"


def test_modules_without_a_main_part_are_not_run(host: SandboxHost, tmp_path: Path) -> None:
    source = _source(
        tmp_path, host.cache.repos, lib__py="raise SystemExit(3)\n", run__sh="echo 0.731\n"
    )
    task = _task("It is 0.731.", "lib.py", "run.sh")
    assert default_command(task, source) == "bash run.sh"
    with pytest.raises(UserError, match="--command"):
        default_command(_task("It is 0.731.", "lib.py"), source)


def test_a_bad_pattern_is_one_sentence() -> None:
    with pytest.raises(UserError, match="regular expression"):
        Check.of(_task("x"), expect="(")


def test_further_packages_can_be_imported_and_are_named(host: SandboxHost, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "marker_module").mkdir(parents=True)
    (packages / "marker_module/__init__.py").write_text("value = 0.7312\n")
    (packages / "marker_module-1.0.dist-info").mkdir()
    own = SandboxHost(host.cache, packages=(packages,))
    assert own.package_names() == ("numpy", "marker_module")
    code = f"{MAIN}import marker_module, numpy; print(marker_module.value)\n"
    source = _source(tmp_path, host.cache.repos, run__py=code)
    assert _verify(own, _task("It is 0.731.", "run.py"), source).state == "confirmed"
    assert _verify(host, _task("It is 0.731.", "run.py"), source).state == "not_runnable"
