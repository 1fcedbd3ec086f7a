"""The lint: each rule finds what it is for and lets settings pass; files of one's own; flags and waivers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.dataset import Suite, load_suite
from expbench.dataset.flags import (
    FLAGS_NAME,
    Waiver,
    bare_place,
    flag_file,
    flags_of,
    load_flags,
    parse_waivers,
    unwaived,
    waivers,
)
from expbench.dataset.lint import NO_FLAG, RULES, Finding, documents, lint_text, lint_tree
from expbench.dataset.taskfile import (
    SCHEMA_NAME,
    check_file,
    schema_text,
    tasks_of,
    write_template,
)
from expbench.errors import DataError, ExpbenchError, UserError
from expbench.preflight import check_own_file, check_static
from expbench.schema import Citation, DesignItem, Reference, Repository, Requirement, ResearchTask

OUTCOME = (
    "The pruned model reaches 81.37 % accuracy with 4.25 times fewer weights, and it is faster than the "
    "dense model on every one of the three devices."
)
TASK = ResearchTask(
    id="v/p/0",
    paper="v/p",
    venue="v",
    type=1,
    repository=Repository(url=""),
    question="Which of the two models is faster, and at what accuracy?",
    method="Train both models for 1250 steps with a learning rate of 0.125 and compare them.",
    instructions="Use seed 1234 and print one table.",
    mask=("src/prune.py", "configs/prune.yaml"),
    reference=Reference(
        design=(
            DesignItem(kind="constant", name="steps", values=("1250",)),
            DesignItem(kind="constant", name="keep", values=("45%",)),
        ),
        requirements=(Requirement(text="Prune", citations=(Citation(path="src/prune.py"),)),),
        conclusion=OUTCOME,
    ),
)


def with_text(**fields: str) -> ResearchTask:
    return TASK.model_copy(update=fields)


def with_outcome(text: str, **fields: str) -> ResearchTask:
    reference = TASK.reference.model_copy(update={"conclusion": text})
    return TASK.model_copy(update={**fields, "reference": reference})


def rules(task: ResearchTask) -> set[str]:
    return {finding.rule for finding in lint_text(task)}


def only(task: ResearchTask, rule: str) -> Finding:
    (finding,) = (each for each in lint_text(task) if each.rule == rule)
    return finding


def in_tree(
    files: Mapping[str, bytes], masked: Mapping[str, bytes] | None = None, task: ResearchTask = TASK
) -> list[Finding]:
    return list(lint_tree(task, documents(files), documents(masked or {})))


# --- visible text ----------------------------------------------------------------------------------


def test_a_sound_task_has_no_finding() -> None:
    assert lint_text(TASK) == ()


def test_a_result_number_in_the_prompt_is_an_error_with_its_place() -> None:
    """R17: the place is a field and the characters where the number stands."""
    method = "Prune the model; it should come to 81.37 % accuracy."
    finding = only(with_text(method=method), "result_in_prompt")
    assert finding.severity == "error"
    assert finding.place == f"method[{method.index('81.37')}:{method.index('81.37') + 7}]"
    assert "81.37" in finding.evidence and finding.mend


@pytest.mark.parametrize(
    "method",
    [
        "Train for 1250 steps with seed 1234, as the design says.",
        "Prune to 45% of the weights, which is reported to work.",
        "Use 100 epochs, batch size 256 and dropout 0.5.",
        "Improve it until a 5% margin is reached.",
    ],
)
def test_settings_and_hyper_parameters_are_no_results(method: str) -> None:
    assert rules(with_text(method=method)) == set()


def test_a_setting_that_the_outcome_repeats_is_no_result() -> None:
    outcome = f"{OUTCOME} This holds at 45% and after 1250 steps."
    assert rules(with_outcome(outcome, method="It reaches 45% after 1250 steps.")) == set()


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("The accuracy drops by about 7%.", "Near-chance accuracy of around 7% is reported."),
        ("It lies near 75–78% in both runs.", "Accuracies near 75–78% were reached."),
        ("Returns of -6.5 are typical.", "One should see an improved return of about -6.5."),
    ],
)
def test_a_short_number_counts_with_a_unit_in_a_sentence_about_results(
    outcome: str, told: str
) -> None:
    task = with_outcome(f"{outcome} {OUTCOME}", method=told)
    assert only(task, "result_in_prompt").severity == "warning"
    bare = with_outcome(f"{outcome} {OUTCOME}", method="Set 7, 75 and 6 as seeds.")
    assert "result_in_prompt" not in rules(bare)


def test_a_verdict_of_the_outcome_in_the_prompt_is_found_and_a_shared_subject_is_not() -> None:
    quoted = "Show that it is faster than the dense model on every one of the three devices."
    finding = only(with_text(instructions=quoted), "result_in_prompt")
    assert finding.severity == "warning"
    assert finding.evidence.startswith("it is faster than the dense")
    asked = "Find whether it is faster than the dense model on every one of the three devices."
    assert only(with_text(instructions=asked), "result_in_prompt").place.startswith("instructions[")
    subject = with_outcome(
        f"{OUTCOME} We used the dense model with three heads on the small devices.",
        method="Compare the dense model with three heads on the small devices.",
    )
    assert rules(subject) == set()


@pytest.mark.parametrize(
    "text",
    ["see Table 3", "as in Fig. 4b", "Section 5.1", "(Appendix B)", "Figures 2 and 3", "§4.2"],
)
def test_references_to_the_paper_are_found(text: str) -> None:
    finding = only(with_text(method=f"Set it up {text}."), "paper_reference")
    assert finding.severity == "warning"
    start, end = map(int, finding.place.removeprefix("method[").rstrip("]").split(":"))
    assert f"Set it up {text}."[start:end] == finding.evidence


@pytest.mark.parametrize(
    "text", ["print tables a reader understands", "a figure of both", "the section about data"]
)
def test_tables_without_a_number_are_no_reference(text: str) -> None:
    assert rules(with_text(method=text)) == set()


@pytest.mark.parametrize("name", ["src/prune.py", "/workspace/src/prune.py", "`prune.py`"])
def test_a_masked_file_is_found_by_path_and_by_name(name: str) -> None:
    assert (
        only(with_text(method=f"Run {name} twice."), "mask_named_in_prompt").place[:7] == "method["
    )
    assert rules(with_text(method="Run lib/prune.py and src/prune.pyc twice.")) == set()


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Does pruning improve the speed of the model?", True),
        ("On small devices, will the pruned model outperform the dense one?", True),
        ("How does pruning change the speed?", False),
        ("Does the pruned or the dense model run faster?", False),
        ("Does the learning rate affect accuracy?", False),
        ("Is the pruned model higher or lower in accuracy?", False),
    ],
)
def test_a_yes_no_question_is_found_where_its_wording_has_a_direction(
    question: str, found: bool
) -> None:
    assert ("yes_no_question" in rules(with_text(question=question))) is found
    denied = with_outcome("Pruning does not help: " + OUTCOME, question=question)
    assert "yes_no_question" not in rules(denied)


# --- ground truth ----------------------------------------------------------------------------------


def test_weak_outcomes_are_notes() -> None:
    hedged = with_outcome(f"It is expected that this holds. {OUTCOME}")
    assert only(hedged, "hedged_outcome").severity == "note"
    assert only(with_outcome("It is faster."), "short_outcome").evidence.startswith("3 words")
    product = with_outcome(f"A script that trains both models and prints: {OUTCOME}")
    assert only(product, "artefact_outcome").severity == "note"
    asked = with_text(question="How can you prune a model?").model_copy(update={"type": 2})
    assert only(asked, "artefact_outcome").place == "question"


def test_requirements_that_cite_no_masked_file_are_found() -> None:
    """Cited by its name alone or by a pattern, a masked file is cited."""

    def cite(path: str) -> ResearchTask:
        step = Requirement(text="Prune", citations=(Citation(path=path),))
        reference = TASK.reference.model_copy(update={"requirements": (step,)})
        return TASK.model_copy(update={"reference": reference})

    rule = "requirements_cite_unmasked_only"
    assert only(cite("src/data.py"), rule).severity == "warning"
    assert all(rule not in rules(cite(path)) for path in ("prune.py", "configs/*.yaml"))


def test_missing_ground_truth_is_a_note() -> None:
    bare = TASK.model_copy(
        update={"reference": Reference(conclusion=OUTCOME), "mask": (), "type": 3}
    )
    assert rules(bare) == {"no_requirements", "no_design", "no_mask"}


# --- the masked tree -------------------------------------------------------------------------------

CODE = "\n".join(
    f"def step_{i}(state):\n    return update(state, rate={i})\n" for i in range(30)
).encode()
MASKED = {"src/prune.py": CODE}


def test_copies_are_found_and_small_files_are_not() -> None:
    """R16: a byte copy is an error, a near copy a warning; both name the masked file."""
    changed = CODE.replace(b"rate=7)", b"speed=7)")
    found = in_tree({"a.py": CODE, "b.py": changed, "c.py": CODE[:200]}, MASKED)
    assert [(f.rule, f.severity, f.place) for f in found] == [
        ("byte_copy_left", "error", "a.py"),
        ("near_copy_left", "warning", "b.py"),
    ]
    assert all("src/prune.py" in f.evidence for f in found)
    tiny = {"src/prune.py": b"import lib\nlib.main()\n"}
    assert [f.severity for f in in_tree({"a.py": tiny["src/prune.py"]}, tiny)] == ["note"]
    assert in_tree({"a.py": b"import lib\nlib.main()  # go\n"}, tiny) == []


@pytest.mark.parametrize("name", ["readme.md", "README_cn.md", "ReadMe.rst", "README"])
def test_readmes_of_any_case_in_the_root_are_found(name: str) -> None:
    assert [f.rule for f in in_tree({name: b"Hello", f"sub/{name}": b"Hello"})] == [
        "readme_variant"
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/run.md", "Then:\n    python src/prune.py --keep 0.5"),
        ("src/README.md", "$ python prune.py"),
        ("docs/run.rst", "python -m src.prune"),
        ("docs/run.md", "cd src && CUDA_VISIBLE_DEVICES=0 torchrun prune.py"),
    ],
)
def test_the_command_line_of_a_masked_program_is_found_in_documents(path: str, text: str) -> None:
    (finding,) = in_tree({path: text.encode()})
    assert finding.rule == "masked_command_in_docs"
    assert finding.place == f"{path}:{text.count(chr(10)) + 1}"


def test_the_command_line_of_another_program_of_the_same_name_is_not() -> None:
    files = {"other/README.md": b"python prune.py", "other/prune.py": b"pass"}
    assert in_tree(files) == []
    assert in_tree({"docs/run.md": b"The file src/prune.py is long."}) == []


def notebook(text: str) -> bytes:
    cell = {"cell_type": "code", "source": [], "outputs": [{"text": [text]}]}
    return json.dumps({"cells": [cell]}).encode()


def test_results_in_notebooks_and_logs_are_found() -> None:
    """R17: two results together are an error, one of four digits a warning, three digits chance."""
    assert [f.severity for f in in_tree({"a.ipynb": notebook("81.37 and 4.25\n")})] == ["error"]
    (finding,) = in_tree({"run.log": b"start\nacc=81.37\n"})
    assert (finding.rule, finding.severity, finding.place) == (
        "result_in_tree",
        "warning",
        "run.log:2",
    )
    assert in_tree({"run.log": b"CUDA 4.25"}) == []
    assert in_tree({"main.py": b"x = 81.37"}) == []


def test_a_table_of_thousands_of_numbers_states_no_result_by_chance() -> None:
    table = "\n".join(f"{i / 100:.2f}" for i in range(1000, 9999))
    assert "81.37" in table
    assert in_tree({"data.csv": table.encode()}) == []


def test_years_and_settings_are_no_results_in_a_tree() -> None:
    task = with_outcome(f"It was measured in 2023 after 1250 steps. {OUTCOME}")
    assert in_tree({"a.md": b"In 2023, after 1250 steps"}, task=task) == []


LONG = "\n".join(f"    x = layer_{i}(x, width={i}, scale=s)" for i in range(12))
CLASS = f"class Pruner:\n  def run(self, x, s):\n{LONG}\n\n\nother = 1\n".encode()


def test_a_masked_class_in_an_installable_package_is_found() -> None:
    """R14: only where it can be imported, and only when it is the same code."""
    masked = {"src/prune.py": CLASS + b"\n".join(b"y_%d = compute(%d)" % (i, i) for i in range(99))}
    package = {"setup.py": b"", "lib/__init__.py": b"", "lib/core.py": b"import os\n" + CLASS}
    (finding,) = in_tree(package, masked)
    assert (finding.rule, finding.place) == ("masked_symbol_left", "lib/core.py:2")
    assert "Pruner" in finding.evidence
    assert in_tree({name: package[name] for name in package if name != "setup.py"}, masked) == []
    other = {**package, "lib/core.py": b"class Pruner:\n    pass\n"}
    assert in_tree(other, masked) == []


def test_a_masked_path_that_is_in_the_tree_is_an_error() -> None:
    """R13."""
    assert [(f.rule, f.severity) for f in in_tree({"src/prune.py": b"x"})] == [
        ("masked_present", "error")
    ]


def test_hostile_files_do_not_stop_the_lint() -> None:
    files = {
        "a.ipynb": b"[" * 100_000,
        "b.md": b"\xff\xfe python src/prune.py\n",
        "c.log": b"9" * 5_000_000,
        "d.bin": b"\0" * 100,
        "e.py": b"def f(:\n",
    }
    assert {f.rule for f in in_tree(files, MASKED)} == {"masked_command_in_docs"}


# --- suites ----------------------------------------------------------------------------------------


def test_the_mini_suite_is_clean() -> None:
    """R16, R17: no error and no warning; what is noted is that type 3 has no code."""
    findings = [finding for task in load_suite("mini").tasks for finding in lint_text(task)]
    assert {(f.rule, f.severity) for f in findings} == {
        ("no_mask", "note"),
        ("no_requirements", "note"),
    }
    assert all(check.sound for check in check_static(load_suite("mini").tasks, None))


def test_the_releases_text_is_linted_in_seconds(release: Suite) -> None:
    """R17: the tasks that are known to state their result, but for one whose result is a setting."""
    started = time.perf_counter()
    findings = [finding for task in release.tasks for finding in lint_text(task)]
    assert time.perf_counter() - started < 5
    told = {f.task for f in findings if f.rule == "result_in_prompt"}
    known = (
        "17666/4 17666/5 18244/1 18244/4 18318/2 18447/3 18447/5 18447/11 18540/0 19033/2 19209/0 "
    )
    known += "19209/1 19281/3 19292/0 19292/3 19388/11 19610/5 19610/9 19610/14"
    assert told >= {f"iclr2024/{name}" for name in known.split()}
    tasks = {rule: len({f.task for f in findings if f.rule == rule}) for rule in RULES}
    assert tasks["mask_named_in_prompt"] == 39
    assert tasks["short_outcome"] == 44
    assert abs(tasks["hedged_outcome"] - 309) < 10
    assert abs(tasks["yes_no_question"] - 240) < 10


# --- flags and waivers -----------------------------------------------------------------------------


def test_the_flags_of_the_release_are_there_with_evidence() -> None:
    flags = load_flags()
    assert len(flags.tasks) == 461
    names = {row.flag for rows in flags.tasks.values() for row in rows}
    assert names <= RULES.keys() - NO_FLAG
    assert all(row.place and row.evidence for rows in flags.tasks.values() for row in rows)
    assert "result_in_prompt" in {row.flag for row in flags_of("iclr2024/18244/1")}
    assert flags_of("mini/bandits/0") == ()
    size = resources.files("expbench.dataset").joinpath(FLAGS_NAME).read_bytes()
    assert len(size) < 600_000


def test_the_flags_of_the_text_are_those_that_the_rules_find_today(release: Suite) -> None:
    """``scripts/build_flags`` was run after the last change of a rule."""
    of_trees = {row.flag for rows in load_flags().tasks.values() for row in rows} - {
        finding.rule for task in release.tasks for finding in lint_text(task)
    }
    for task in release.tasks:
        packaged = {row.flag for row in flags_of(task.id)} - of_trees
        assert packaged == {finding.rule for finding in lint_text(task)}, task.id


def test_a_flag_keeps_its_first_places_and_every_task_has_an_entry() -> None:
    findings = lint_text(with_text(method="See Table 1, Table 2 and Table 3."))
    flags = flag_file("x", [TASK], findings)
    assert [row.place for row in flags.tasks["v/p/0"]] == [f.place for f in findings[:2]]
    assert flag_file("x", [TASK], []).tasks == {"v/p/0": ()}


def test_a_waiver_accepts_a_finding_by_task_rule_and_place() -> None:
    findings = lint_text(with_text(method="See Table 1, then Table 2."))
    first, second = findings
    waiver = Waiver(task="v/p/0", rule=first.rule, place=first.place, reason="it is our own table")
    assert unwaived(findings, [waiver]) == (second,)
    assert unwaived(findings, [waiver.model_copy(update={"place": "method"})]) == ()
    for change in ({"task": "v/p/1"}, {"rule": "yes_no_question"}, {"place": "question"}):
        assert unwaived(findings, [waiver.model_copy(update=change)]) == findings
    assert bare_place("docs/a.md:3") == "docs/a.md"


def test_waivers_come_from_the_errata_and_there_may_be_none() -> None:
    assert isinstance(waivers(), tuple)
    assert parse_waivers('{"rows": [{"kind": "duplicate", "tasks": ["v/p/0"]}]}') == ()
    row = {"kind": "waiver", "tasks": ["v/p/0", "v/p/1"], "rule": "x", "place": "y", "reason": "z"}
    assert [waiver.task for waiver in parse_waivers(json.dumps({"rows": [row]}))] == row["tasks"]
    del row["reason"]
    with pytest.raises(DataError, match="reason"):
        parse_waivers(json.dumps({"rows": [row]}))


# --- files of one's own ----------------------------------------------------------------------------


@pytest.fixture
def template(tmp_path: Path) -> dict[str, Any]:
    write_template(tmp_path / "mine.json")
    content: dict[str, Any] = json.loads((tmp_path / "mine.json").read_text())
    return content


def faults(folder: Path, content: object) -> list[tuple[str, str]]:
    file = folder / "changed.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return [(f.rule, f.place) for f in check_file(file) if f.severity != "note"]


def test_the_template_passes_and_loads_with_a_task_of_each_kind(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    write_template(file)
    assert [f for f in check_file(file) if f.severity != "note"] == []
    assert [(task.id, task.type) for task in tasks_of(file)] == [
        ("own/mine/0", 1),
        ("own/mine/1", 3),
    ]
    assert all(check.sound for check in check_own_file(file))
    with pytest.raises(UserError, match="there already"):
        write_template(file)
    with pytest.raises(UserError, match="cannot be written"):
        write_template(tmp_path / "absent" / "mine.json")


def test_all_faults_of_a_file_are_told_each_with_its_place(
    tmp_path: Path, template: dict[str, Any]
) -> None:
    first, second = template["questions"]
    first["metod"] = first.pop("method")
    first["masked_source"] = ["../secret", "/etc/passwd"]
    first["claims"][0]["kind"] = "odd"
    second["requirements"] = ["Step 1: x", 4]
    template["repository"]["branch"] = "main"
    template["questions"] += [dict(second), "text"]
    found = faults(tmp_path, template)
    assert set(found) == {
        ("unknown_field", "questions[0].metod"),
        ("unknown_field", "repository.branch"),
        ("file_shape", "questions[0].method"),
        ("file_shape", "questions[0].masked_source[0]"),
        ("file_shape", "questions[0].masked_source[1]"),
        ("file_shape", "questions[0].claims[0].kind"),
        ("file_shape", "questions[1].requirements[1]"),
        ("file_shape", "questions[2].requirements[1]"),
        ("file_shape", "questions[3]"),
        ("duplicate", "questions[2].id"),
        ("duplicate", "questions[2].question"),
    }
    assert len(found) == len(set(found))
    evidence = {f.place: f.evidence for f in check_file(tmp_path / "changed.json")}
    assert "did you mean 'method'" in evidence["questions[0].metod"]
    assert evidence["questions[0].method"] == "missing"


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ('{"questions": [\n{"question": }]}', "file_syntax", "line 2, column 14"),
        ("", "file_syntax", "line 1, column 1"),
        ("[" * 100_000, "file_syntax", "whole file"),
        ('{"questions": [NaN]}', "file_syntax", "whole file"),
        ("[]", "file_shape", "whole file"),
        ('{"questions": []}', "file_shape", "questions"),
        ("{}", "file_shape", "questions"),
        (
            '{"questions": [{"design_complexity": {"a": 1, "a": 2}}]}',
            "duplicate",
            "questions[0].design_complexity.a",
        ),
    ],
)
def test_broken_files_are_explained(tmp_path: Path, text: str, rule: str, place: str) -> None:
    assert (rule, place) in faults(tmp_path, text)


def test_a_file_that_is_no_text_or_not_there_is_explained(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff\xfe\x00")
    assert [f.rule for f in check_file(tmp_path / "a.json")] == ["file_syntax"]
    with pytest.raises(DataError, match="cannot be read"):
        check_file(tmp_path / "absent.json")


def test_the_kind_of_a_task_decides_what_it_needs(tmp_path: Path, template: dict[str, Any]) -> None:
    del template["questions"][0]["masked_source"]
    template["questions"][1]["masked_source"] = ["a.py"]
    assert faults(tmp_path, template) == [
        ("file_shape", "questions[0].masked_source"),
        ("file_shape", "questions[1].masked_source"),
    ]


def test_a_well_formed_file_is_linted(tmp_path: Path, template: dict[str, Any]) -> None:
    template["questions"][0]["method"] += " B should reach 0.412."
    assert [rule for rule, _ in faults(tmp_path, template)] == ["result_in_prompt"]
    (bad,) = (c for c in check_own_file(tmp_path / "changed.json") if not c.sound)
    assert bad.task_id == "own/changed/0"


def test_files_of_the_release_and_of_mini_have_the_format() -> None:
    """Also the release's variants; two of its questions are in their file twice."""
    for file in sorted(
        (Path(str(resources.files("expbench.dataset"))) / "mini").glob("*/*_final.json")
    ):
        assert [f for f in check_file(file) if f.severity == "error"] == []


def test_the_published_schema_is_that_of_the_types() -> None:
    """``scripts/build_schema`` writes it anew."""
    published = resources.files("expbench.dataset").joinpath(SCHEMA_NAME).read_text("utf-8")
    assert published == schema_text()
    assert json.loads(published)["properties"].keys() >= {"questions", "repository"}


# --- the command -----------------------------------------------------------------------------------


def test_the_command_shows_findings_and_exits_by_severity(
    tmp_path: Path, template: dict[str, Any]
) -> None:
    file = tmp_path / "mine.json"
    good = CliRunner().invoke(app, ["tasks", "check", str(file)])
    assert good.exit_code == 0, good.output
    assert "2 tasks checked, 0 not sound" in good.output
    template["questions"][0]["method"] += " See Table 4."
    file.write_text(json.dumps(template))
    warned = CliRunner().invoke(app, ["tasks", "check", str(file), "--json"])
    assert warned.exit_code == 0
    findings = [f for check in json.loads(warned.stdout) for f in check["findings"]]
    assert {"paper_reference"} == {f["rule"] for f in findings if f["severity"] == "warning"}
    assert all(f["mend"] and f["place"] for f in findings)
    template["questions"][0]["method"] += " B should reach 0.412."
    file.write_text(json.dumps(template))
    bad = CliRunner().invoke(app, ["tasks", "check", str(file)])
    assert bad.exit_code == 1
    assert "result_in_prompt" in bad.output and "0.412" in bad.output


def test_the_template_command_writes_once(tmp_path: Path) -> None:
    file = tmp_path / "new.json"
    assert CliRunner().invoke(app, ["tasks", "new", str(file)]).exit_code == 0
    assert CliRunner().invoke(app, ["tasks", "new", str(file)]).exit_code == 2


def test_every_error_of_the_rules_is_ours() -> None:
    assert issubclass(DataError, ExpbenchError)
    assert all(rule.mend and rule.meaning for rule in RULES.values())
