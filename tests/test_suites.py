"""Suites by rule, their versions, and the numbers about them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from expbench.cli.describing import draw
from expbench.cli.main import app
from expbench.dataset import Suite
from expbench.dataset.release import load_release
from expbench.dataset.resources import FLAG_NAMES, LEFT_FLAG
from expbench.dataset.statistics import TIER_ORDER, statistics
from expbench.dataset.suites import flagged
from expbench.dataset.tiers import TIERS, tier, tier_of
from expbench.errors import DataError, NotFoundError
from expbench.schema import DesignItem, Reference, Repository, Requirement, ResearchTask

REFERENCE = Reference(
    design=(DesignItem(kind="constant", name="seed", values=("1", "2")),),
    requirements=(Requirement(text="train"),),
    conclusion="it works",
)


def task(
    *flags: str, kind: int = 1, mask: str = "a.py", reference: Reference = REFERENCE
) -> ResearchTask:
    return ResearchTask.model_validate(
        {
            "id": "v/1/0",
            "paper": "v/1",
            "venue": "v",
            "category": "Deep Learning",
            "type": kind,
            "repository": Repository(url=""),
            "question": "q",
            "method": "m",
            "mask": (mask,) if mask else (),
            "reference": reference,
            "flags": flags,
        }
    )


def test_a_task_without_any_flag_is_lite() -> None:
    assert [each.name for each in TIERS if each.holds(task())] == [
        "expbench",
        "maskable",
        "clean",
        "lite",
    ]


@pytest.mark.parametrize("flag", FLAG_NAMES)
def test_every_heavy_need_keeps_a_task_out_of_lite_only(flag: str) -> None:
    assert tier_of(task(flag)) == "clean"


@pytest.mark.parametrize(
    "flag", ["result_in_prompt", LEFT_FLAG, "duplicate", "wrong_ground_truth", "no_requirements"]
)
def test_every_fault_keeps_a_task_out_of_clean(flag: str) -> None:
    assert tier_of(task(flag)) == "maskable"


def test_truth_that_is_missing_keeps_a_task_out_of_clean_even_without_a_flag() -> None:
    bare = REFERENCE.model_copy(update={"requirements": ()})
    assert tier_of(task(reference=bare)) == "maskable"


def test_a_task_that_cannot_be_masked_is_in_no_tier_but_the_whole() -> None:
    assert tier_of(task("mask_unrepairable")) == tier_of(task(mask="")) == "not maskable"
    assert tier_of(task(kind=3, mask="")) == "no-setup"


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("paper:1", True),
        ("paper:v/1", True),
        ("paper:2", False),
        ("category:deep-learning", True),
        ("category:Vision", False),
        ("type:1", True),
        ("type:3", False),
    ],
)
def test_suites_with_an_argument(name: str, held: bool) -> None:
    assert tier(name).holds(task()) is held


@pytest.mark.parametrize("name", ["", "nonsense", "paper:", "colour:red"])
def test_an_unknown_suite_is_said_to_be_so(name: str) -> None:
    with pytest.raises(NotFoundError, match="no suite"):
        tier(name)


def test_flags_do_not_change_a_suites_version_and_content_does() -> None:
    """R16: the version says what is scored."""
    plain = Suite("x", (task(),)).version
    assert Suite("x", (task("needs_gpu"),)).version == plain
    changed = task().model_copy(update={"mask": ("b.py",)})
    assert Suite("x", (changed,)).version != plain


def test_the_release_falls_into_tiers_that_nest(release: Suite) -> None:
    """R54: type 3 is in no other tier, and each narrower tier is in the wider one."""
    sizes = {each.name: {t.id for t in each.of(release.tasks)} for each in TIERS}
    assert len(sizes["expbench"]) == 461
    assert len(sizes["maskable"]) == 316
    assert len(sizes["no-setup"]) == 128
    assert set() < sizes["lite"] < sizes["clean"] <= sizes["maskable"] < sizes["expbench"]
    assert not sizes["no-setup"] & sizes["maskable"]


def test_without_errata_a_repaired_mask_is_not_maskable(release_folder: Path) -> None:
    released = load_release(release_folder)
    plain = flagged(released, errata=False)
    assert [t.mask for t in plain] == [t.mask for t in released]
    assert len(tier("maskable").of(plain)) == 316 - 9


def test_items_of_the_release_are_counted_by_their_rules(
    release: Suite, release_folder: Path
) -> None:
    found = statistics("expbench", release.version, release.tasks, release_folder)
    values = {count.name: count.value for count in found.counts}
    assert values == {
        "papers": 51,
        "tasks": 461,
        "design variables": 3079,
        "design leaves": 5349,
        "requirements": 3988,
        "conclusions": 461,
        "graded items": 9798,
    }
    assert sum(sum(row.values()) for row in found.by_tier.values()) == 461
    assert all(count.rule for count in found.counts)


def test_published_numbers_stand_beside_the_whole_release_only() -> None:
    part = statistics("lite", "x", (task(),))
    assert all(count.published is None for count in part.counts)
    assert statistics("expbench", "x", (task(),)).counts[0].published == 51


def test_the_figure_is_one_drawing_with_every_number_in_it() -> None:
    odd = task().model_copy(update={"category": "<b>&"})
    text = draw(statistics("x", "y", (task(), odd, task("needs_gpu"))))
    root = ElementTree.fromstring(text)
    said = {each.text for each in root.iter() if each.tag.endswith(("text", "title"))}
    assert {"<b>&", "<b>&, lite: 1", "Deep Learning, clean: 1", *TIER_ORDER} <= said


def test_the_commands_tell_rules_sizes_and_versions(tmp_path: Path) -> None:
    run = CliRunner()
    listed = run.invoke(app, ["suites", "--json"], env={"EXPBENCH_DATA": ""})
    rows = {row["name"]: row for row in json.loads(listed.stdout)["suites"]}
    assert rows["mini"]["tasks"] == 15
    assert set(rows) == {"mini", *(each.name for each in TIERS)}
    figure = tmp_path / "f.svg"
    command = ["tasks", "stats", "--suite", "mini", "--json", "--figure", str(figure)]
    found = json.loads(run.invoke(app, command).stdout)
    assert found["counts"][1]["value"] == 15
    assert figure.read_text().startswith("<svg")


def test_a_suite_of_the_release_needs_its_data() -> None:
    from expbench.dataset import load_suite

    with pytest.raises(DataError, match="--data"):
        load_suite("lite")
