"""The errata mend what they can and flag the rest; strict masking takes out what is left of an answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.dataset import load_suite
from expbench.dataset.errata import NO_ERRATA, apply_errata, load_errata, parse_errata
from expbench.dataset.release import load_release, release_id
from expbench.errors import DataError
from expbench.planning import Options, options_of, plan
from expbench.runs import create, load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Claim, Reference, Repository, ResearchTask
from expbench.workspace import Prepared, Source, freeze, from_folder, mask, materialise
from expbench.workspace.findings import find_survivors
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.tree import list_tree
from expbench.workspace.strict import Survivor, survivors

ROOT = Path(__file__).resolve().parent.parent


def task_named(task_id: str, *masked: str, outcome: str = "") -> ResearchTask:
    venue, paper, _ = task_id.split("/")
    return ResearchTask(
        id=task_id,
        paper=f"{venue}/{paper}",
        venue=venue,
        type=1,
        repository=Repository(url="https://example.org/a/b", commit="0" * 40),
        question="Does it?",
        method="Try with rate 0.125.",
        mask=masked,
        reference=Reference(claims=(Claim(text=outcome),) if outcome else ()),
    )


def errata_text(**row: object) -> str:
    base = {"id": "a", "tasks": ["iclr2024/19269/0"], "kind": "duplicate"}
    rows = [{**base, "reason": "because", "evidence": "seen", **row}]
    return json.dumps({"version": "1", "rows": rows})


# --- errata --------------------------------------------------------------------------------------


def test_every_row_says_why_and_names_tasks_of_the_release(release_folder: Path) -> None:
    """R16"""
    tasks = load_release(release_folder)
    mended = apply_errata(tasks)
    assert [task.id for task in mended] == [task.id for task in tasks]
    for row in load_errata().rows:
        assert set(row.tasks) <= {task.id for task in tasks}
        assert len(row.reason) > 20
        assert len(row.evidence) > 20


def test_the_page_counts_the_tasks_of_every_kind() -> None:
    page = (ROOT / "docs/errata.md").read_text("utf-8")
    stated = dict(re.findall(r"^\| `([a-z_]+)` \| [^|]+ \| (\d+) \|", page, re.M))
    counts = Counter(row.kind for row in load_errata().rows for _ in row.tasks)
    assert Counter({kind: int(number) for kind, number in stated.items()}) == counts


def test_a_repair_changes_mask_source_and_flags_and_no_wording(release_folder: Path) -> None:
    before = {task.id: task for task in load_release(release_folder)}
    after = {task.id: task for task in apply_errata(tuple(before.values()))}
    musc = after["iclr2024/19269/4"]
    assert musc.mask == ("examples/musc_main.py", "scripts/musc.sh", "models/musc.py")
    assert {c.path for r in musc.reference.requirements for c in r.citations} == {
        "models/musc.py",
        "examples/musc_main.py",
    }
    assert "mask_repaired" in musc.flags
    assert before["iclr2024/17776/0"].repository.commit.startswith("630c8658")
    assert after["iclr2024/17776/0"].repository.commit.startswith("ccacd12a")
    assert after["iclr2024/17776/2"].repository.commit.startswith("630c8658")
    touched = {name for row in load_errata().rows if row.kind != "waiver" for name in row.tasks}
    for name, task in before.items():
        assert after[name].prompt_view().question == task.prompt_view().question
        assert after[name].reference.conclusion == task.reference.conclusion
        assert (after[name] == task) == (name not in touched)


def test_without_errata_the_release_is_as_it_is(release_folder: Path) -> None:
    plain = load_suite("expbench", release_folder, errata=False)
    mended = load_suite("expbench", release_folder)
    assert plain.version != mended.version
    assert "examples/musc.py" in plain.task("iclr2024/19269/0").mask
    for name, expected in (("none", "examples/musc.py"), ("package", "models/musc.py")):
        arguments = ["tasks", "show", "iclr2024/19269/0", "--json", "--errata", name]
        shown = CliRunner().invoke(app, [*arguments, "--data", str(release_folder)])
        assert expected in json.loads(shown.output)["masked"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"tasks": ["iclr2024/1/0"]}, "which the release does not have"),
        ({"tasks": []}, "tasks"),
        ({"kind": "nonsense"}, "kind"),
        ({"reason": ""}, "reason"),
        ({"change": {"commit": "HEAD"}}, "commit"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_bad_row_is_an_error_that_names_its_fault(row: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        parse_errata(errata_text(**row))


def test_a_row_for_a_task_or_path_that_is_not_there_is_an_error() -> None:
    tasks = [task_named("iclr2024/19269/0", "a.py")]
    with pytest.raises(DataError, match="iclr2024/19269/99, which the release does not have"):
        apply_errata(tasks, parse_errata(errata_text(tasks=["iclr2024/19269/99"])))
    with pytest.raises(DataError, match=r"replaces b\.py"):
        apply_errata(tasks, parse_errata(errata_text(change={"paths": {"b.py": "c.py"}})))
    with pytest.raises(DataError, match="two rows 'a'"):
        text = json.loads(errata_text())
        parse_errata(json.dumps({**text, "rows": text["rows"] * 2}))
    other = [task_named("iclr2024/18013/0")]
    assert apply_errata(other, parse_errata(errata_text())) == tuple(other)


def test_a_run_keeps_the_versions_of_data_and_errata_and_its_mask(
    tmp_path: Path, host: SandboxHost, release_folder: Path
) -> None:
    """R16"""
    shared = {"agent": "null", "data": release_folder, "cache": tmp_path, "suite": "expbench"}
    for errata, version in ((True, load_errata().version), (False, NO_ERRATA)):
        options = Options(
            **shared, errata=errata, mask="paper" if errata else "strict", out=tmp_path / version
        )
        create(options.out, plan(options))
        run = load(options.out)
        assert run.manifest.errata == version
        assert run.manifest.data_version == release_id(release_folder)
        again = options_of(run, tmp_path)
        assert (again.errata, again.mask) == (options.errata, options.mask)
    assert plan(Options(agent="null", cache=tmp_path, out=tmp_path / "mini")).data_version


# --- masks ---------------------------------------------------------------------------------------

RECIPE = "".join(
    f"    layer_{i} = build(width={i * 7}, depth={i}, name='block{i}')\n" for i in range(30)
)
SCRIPT = f"def train(model, data):\n{RECIPE}    return model\n"
OUTCOME = "Accuracy rises from 83.25 to 91.47 at rate 0.125."


def notebook(output: str, source: str = "plot()") -> str:
    cell = {"cell_type": "code", "execution_count": 3, "metadata": {}, "source": [source]}
    outputs = [{"output_type": "stream", "name": "stdout", "text": [output]}]
    return json.dumps({"cells": [{**cell, "outputs": outputs}], "metadata": {}, "nbformat": 4})


FILES = {
    "train.py": SCRIPT,
    "README.md": "see train.py",
    "readme_cn.md": "see train.py",
    "docs/README.md": "how to install",
    "old/copy.py": SCRIPT,
    "old/near.py": SCRIPT.replace("depth=3,", "depth=4,") + "# a sibling\n",
    "old/far.py": SCRIPT[: len(SCRIPT) // 2],
    "pkg/__init__.py": SCRIPT,
    "results/table.csv": "name,accuracy\nours,91.47\nbase,83.25\n",
    "results/one.csv": "name,accuracy\nours,91.47\n",
    "data/points.csv": "91.47,83.25\n",
    "results/many.csv": "83.25,91.47\n" * 900,
    "demo.ipynb": notebook("83.25 then 91.47"),
    "told.ipynb": notebook("0.125"),
    "written.ipynb": notebook("", "print('83.25 and 91.47')"),
    **{f"src/m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(30)},
}


def prepare(folder: Path, files: dict[str, str], task: ResearchTask) -> tuple[Source, Prepared]:
    for name, content in files.items():
        path = folder / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    source = from_folder(folder / "repo", folder / "cache")
    with BlobReader(source.git_dir) as blobs:
        found = survivors(list_tree(source.git_dir, source.commit), task, blobs.read)
    return source, mask(source, task.mask, "strict", found)


def actions(prepared: Prepared) -> dict[str, str]:
    return {each.path: each.action for each in prepared.survivors}


def test_strict_takes_out_copies_and_recorded_results_and_says_why(tmp_path: Path) -> None:
    """R17"""
    task = task_named("a/b/0", "train.py", outcome=OUTCOME)
    _, prepared = prepare(tmp_path, FILES, task)
    assert actions(prepared) == {
        "old/copy.py": "removed",
        "old/near.py": "removed",
        "pkg/__init__.py": "reported",
        "results/table.csv": "removed",
        "demo.ipynb": "cleared",
        "written.ipynb": "removed",
    }
    reasons = {each.path: each.reason for each in prepared.survivors}
    assert reasons["old/copy.py"] == "is byte for byte the masked train.py"
    assert re.fullmatch(r"holds 9\d% of the masked train\.py", reasons["old/near.py"])
    assert "83.25, 91.47" in reasons["demo.ipynb"]
    materialise(prepared, tmp_path / "workspace")
    files = {p.name for p in (tmp_path / "workspace").rglob("*") if p.is_file()}
    assert not files & {"train.py", "copy.py", "near.py", "table.csv", "readme_cn.md"}
    assert {"far.py", "one.csv", "points.csv", "many.csv", "told.ipynb"} <= files
    left = json.loads((tmp_path / "workspace" / "demo.ipynb").read_text())
    assert left["cells"][0]["source"] == ["plot()"]
    assert left["cells"][0]["outputs"] == []


def test_what_was_found_is_kept_and_found_again(tmp_path: Path) -> None:
    """Also a name that is no text; another question is another search."""
    task = task_named("a/b/0", "train.py", outcome=OUTCOME)
    source, fresh = prepare(tmp_path, FILES | {"old/\udcff.py": FILES["train.py"]}, task)
    first = find_survivors(freeze(source), task)
    kept = find_survivors(freeze(source), task)
    assert first == kept == fresh.survivors
    assert [each.content for each in first] == [each.content for each in kept]
    assert "old/\udcff.py" in {each.path for each in kept}
    other = task_named("a/b/0", "far.py", outcome=OUTCOME)
    assert find_survivors(freeze(source), other) != kept


def test_paper_takes_out_what_the_publication_does_and_no_more(tmp_path: Path) -> None:
    source, _ = prepare(tmp_path, FILES, task_named("a/b/0", "train.py"))
    prepared = mask(source, ("train.py",), "paper")
    assert sorted(prepared.removed) == ["README.md", "train.py"]
    assert prepared.survivors == ()


def test_a_tree_of_one_pattern_is_reported_and_kept(tmp_path: Path) -> None:
    files = {f"configs/{i}.py": SCRIPT + f"# {i}\n" for i in range(8)}
    _, prepared = prepare(tmp_path, files, task_named("a/b/0", "configs/0.py"))
    assert set(actions(prepared).values()) == {"reported"}
    assert len(prepared.survivors) == 7
    assert prepared.removed == ("configs/0.py",)


def test_short_and_empty_files_have_no_copies(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "lib/__init__.py": "", "a.sh": "python x.py\n", "b.sh": "x\n"}
    files |= {"c.sh": "python x.py\n", **{f"m{i}.py": str(i) for i in range(9)}}
    _, prepared = prepare(tmp_path, files, task_named("a/b/0", "pkg/__init__.py", "a.sh"))
    assert prepared.survivors == ()


def test_every_finding_is_listed_by_prepare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Survivor("configs/other.json", "holds 90% of the masked configs/a.json")
    monkeypatch.setattr("expbench.workspace.findings.survivors", lambda *_: (found,))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    arguments = ["tasks", "prepare", "mini/calibration/0"]
    shown = CliRunner().invoke(app, [*arguments, str(tmp_path / "a")])
    assert f"removed: {found.path} ({found.reason})" in shown.output
    as_json = CliRunner().invoke(app, [*arguments, str(tmp_path / "b"), "--json"])
    assert json.loads(as_json.output)["survivors"] == [
        {"path": found.path, "action": "removed", "reason": found.reason}
    ]
    paper = CliRunner().invoke(app, [*arguments, str(tmp_path / "c"), "--mask", "paper", "--json"])
    assert json.loads(paper.output)["survivors"] == []
    wrong = CliRunner().invoke(app, [*arguments, str(tmp_path / "d"), "--mask", "most"])
    assert wrong.exit_code == 2
