"""``expbench suites``, ``expbench tasks stats`` and what ``tasks show`` says about running a task."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from rich.console import Console
from rich.table import Table

from expbench.dataset import load_suite
from expbench.dataset.recipe import recipe
from expbench.dataset.release import load_release
from expbench.dataset.resources import EnvironmentFacts, Need, Resources, resources_of
from expbench.dataset.statistics import TIER_ORDER, Statistics, statistics
from expbench.dataset.suites import Suite, flagged
from expbench.dataset.tiers import FAMILIES, TIERS
from expbench.schema import ResearchTask
from expbench.workspace import SourceFinder
from expbench.workspace.files import SourceFiles
from expbench.workspace.repository.source import Source, find_clone

COLOURS = ("#1b7837", "#7fbf7b", "#c2a5cf", "#d9d9d9", "#999999")
"""Of the tiers in their order, lite first."""


def list_suites(data: Path | None, as_json: bool) -> int:
    """Print every suite with rule, size and version; without data only ``mini`` has the last two."""
    rows = [_row(load_suite("mini"), "ships with this package, with repositories and solutions")]
    tasks = flagged(load_release(data)) if data else None
    for tier in TIERS:
        suite = Suite(tier.name, tier.of(tasks)) if tasks is not None else None
        rows.append(_row(suite, tier.rule, tier.name))
    families = {f"{name}:…": rule for name, rule in FAMILIES.items()}
    if as_json:
        _print_json({"suites": rows, "families": families})
        return 0
    table = Table("suite", "tasks", "version", "rule", box=None, header_style="bold")
    for row in rows:
        size = "–" if row["tasks"] is None else str(row["tasks"])
        table.add_row(str(row["name"]), size, str(row["version"] or "–"), str(row["rule"]))
    for name, rule in families.items():
        table.add_row(name, "", "", rule)
    console = Console()
    console.print(table)
    if data is None:
        console.print("Sizes and versions of the release need --data DIR or EXPBENCH_DATA.")
    return 0


def _row(suite: Suite | None, rule: str, name: str = "mini") -> dict[str, object]:
    return {
        "name": name,
        "rule": rule,
        "tasks": None if suite is None else len(suite.tasks),
        "version": None if suite is None else suite.version,
    }


def show_statistics(suite: str, data: Path | None, figure: Path | None, as_json: bool) -> int:
    """Print a suite's numbers with their rules, and draw tasks by category and tier."""
    loaded = load_suite(suite, data)
    found = statistics(loaded.name, loaded.version, loaded.tasks, data)
    if figure is not None:
        figure.write_text(draw(found), "utf-8")
    if as_json:
        _print_json(found.model_dump())
        return 0
    console = Console()
    table = Table("count", "here", "published", "rule", box=None, header_style="bold")
    for count in found.counts:
        published = "" if count.published is None else f"{count.published:,}"
        rule = f"{count.rule}; {count.difference}" if count.difference else count.rule
        table.add_row(count.name, f"{count.value:,}", published, rule)
    console.print(table)
    console.print()
    tiers = Table("category", *TIER_ORDER, box=None, header_style="bold")
    for category, by_tier in found.by_tier.items():
        tiers.add_row(category, *(str(by_tier[name]) for name in TIER_ORDER))
    console.print(tiers)
    console.print(f"{found.suite}, version {found.version}")
    return 0


def draw(found: Statistics) -> str:
    """An SVG of stacked bars, one for each category, with the tiers' numbers as titles."""
    most = max((sum(row.values()) for row in found.by_tier.values()), default=1)
    height = 60 + 22 * len(found.by_tier)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height}" role="img"'
        ' font-family="sans-serif" font-size="12">',
        f"<title>Tasks of {escape(found.suite)} by category and tier</title>",
    ]
    for index, name in enumerate(TIER_ORDER):
        left = 10 + 122 * index
        parts.append(f'<rect x="{left}" y="10" width="12" height="12" fill="{COLOURS[index]}"/>')
        parts.append(f'<text x="{left + 17}" y="20">{name}</text>')
    for line, (category, row) in enumerate(found.by_tier.items()):
        y = 40 + 22 * line
        x = 180.0
        parts.append(f'<text x="172" y="{y + 12}" text-anchor="end">{escape(category)}</text>')
        for colour, name in zip(COLOURS, TIER_ORDER, strict=True):
            width = 410 * row[name] / most
            if width:
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="16" fill="{colour}">'
                    f"<title>{escape(category)}, {name}: {row[name]}</title></rect>"
                )
            x += width
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 12}">{sum(row.values())}</text>')
    return "\n".join([*parts, "</svg>\n"])


def how_to_run(
    task: ResearchTask, repo: str | None, repos: Path | None, cache: Path
) -> dict[str, object]:
    """What reproducing a task takes (R53); with a repository the recipe is derived from it."""
    needs = resources_of(task.id)
    environment = needs.environment if needs else None
    if repo or repos:
        environment = recipe(SourceFiles(source_of(task, repo, repos, cache)), task).facts()
    return {
        "commit": task.repository.commit or "shipped with this package",
        "repository": task.repository.url,
        "needs": [need.model_dump() for need in needs.needs] if needs else None,
        "minutes": needs.minutes if needs else None,
        "environment": environment.model_dump() if environment else None,
        "prepare": f"expbench tasks prepare {task.id} DIR",
        "run": f"expbench run --suite {_suite(task)} --task {task.id}",
    }


def how_to_run_markdown(
    task: ResearchTask, repo: str | None, repos: Path | None, cache: Path
) -> str:
    """The same as a section of ``tasks show``."""
    facts = how_to_run(task, repo, repos, cache)
    environment = facts["environment"]
    needs = resources_of(task.id)
    lines = [
        f"- repository: {facts['repository']}, commit `{facts['commit']}`",
        *_need_lines(needs),
        *(_environment_lines(EnvironmentFacts.model_validate(environment)) if environment else ()),
        f"- workspace: `{facts['prepare']}`",
        f"- run: `{facts['run']}`",
    ]
    return "## How to run it\n\n" + "\n".join(lines)


def source_of(task: ResearchTask, repo: str | None, repos: Path | None, cache: Path) -> Source:
    """The task's source; a local clone is read where it is, even when some of its files are missing."""
    clone = Path(repo) if repo else find_clone(repos, task.repository.url) if repos else None
    if clone is None or not clone.is_dir():
        return SourceFinder(cache / "repos", repo=repo, clones=repos).source(task)
    return Source(clone / ".git" if (clone / ".git").is_dir() else clone, task.repository.commit)


def _suite(task: ResearchTask) -> str:
    return "mini" if task.venue == "mini" else "expbench"


def _need_lines(needs: Resources | None) -> list[str]:
    if needs is None:
        return []
    lines = [f"- needs {_need_text(need)}" for need in needs.needs if need.kind != "time"]
    memory = f", {needs.gpu_memory_gb:.0f} GB of GPU memory" if needs.gpu_memory_gb else ""
    lines = lines or ["- needs no GPU, key, gated data or download"]
    return [*lines, f"- expected time: about {needs.minutes:.0f} minutes{memory}"]


def _need_text(need: Need) -> str:
    amount = {"gpu": "{:.0f} ×", "download": "{:g} GB of"}.get(need.kind, "")
    size = amount.format(need.amount) + " " if need.amount and amount else ""
    kind = need.kind.replace("_", " ")
    return f"{kind}: {size}{need.what} (*{need.place}*: “{need.quote}”)"


def _environment_lines(facts: EnvironmentFacts) -> list[str]:
    lines = [
        f"- Python {facts.python}, {facts.packages} packages"
        f" from {', '.join(facts.files) or 'the imports of the code'}"
    ]
    lines += [f"- install: `{command}`" for command in facts.install]
    return lines + [f"- problem: {text}" for text in facts.problems]


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201
