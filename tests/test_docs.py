"""The documentation: what it says to type works, what it links to exists, and nothing is left out.

Commands are taken from the ``bash`` blocks of the pages, never written again here.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from construct_papers import repository
from typer.testing import CliRunner

from expbench.agents import AGENTS, get_agent
from expbench.agents.scripted_model import ModelScript
from expbench.agents.steps import Script
from expbench.cli import boundary
from expbench.cli.inspecting import expbench as inspect_task
from expbench.cli.main import app
from expbench.dataset import Suite
from expbench.report.terminal import Doubted
from expbench.runs import load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Doubt

ROOT = Path(__file__).resolve().parent.parent
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
PAGES = sorted([*READMES, *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"])
COMMAND_LINE: Any = typer.main.get_command(app)

SLOW = ("make ", "--suite mini --agent", "tasks check --suite mini")
"""Beginnings or parts of commands that take minutes, unless they say ``--static``."""
ELSEWHERE = (
    "openai/",
    "--suite expbench",
    "iclr2024/",
    "runs/NAME",
    "expbench view",
    "expbench enter",
    "expbench unseal",
    "agents install",
    "tasks fetch",
    "repos fetch",
    "own.jsonl",
    "construct review",
    "--openreview",
    "construct export",
    "papers/mine/out",
)
"""Parts of commands that need a model, the released data, a file of one's own, the network, or a person."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def commands(page: Path) -> list[str]:
    lines = "".join(blocks(page, "bash")).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip()]


def leaves(group: Any = COMMAND_LINE, path: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every command with the words that lead to it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, (*path, name))
        else:
            yield command, (*path, name)


COMMANDS = {" ".join(path): command for command, path in leaves()}


def split(command: str) -> tuple[str, list[str]]:
    """The command's name and its arguments. Raises KeyError for one that does not exist."""
    words = shlex.split(command)[1:]
    for length in (2, 1):
        if (name := " ".join(words[:length])) in COMMANDS:
            return name, words[length:]
    raise KeyError(f"`{command}` names no command of expbench")


def parse(command: str) -> None:
    """Have the real parser read a whole command. Raises the parser's error."""
    name, arguments = split(command)
    COMMANDS[name].make_context(name, arguments)


def options(name: str) -> set[str]:
    found = {option for each in COMMANDS[name].params for option in each.opts}
    return {option for option in found if option.startswith("--")}


def quick(command: str) -> bool:
    if command.split()[0] != "expbench" or any(part in command for part in ELSEWHERE):
        return False
    few = "--task " in command or "--static" in command
    return few or not any(part in command for part in SLOW)


def documented() -> list[str]:
    """The quick commands of all pages but the examples', each once, in an order that works."""
    found = [c for page in PAGES if page.parent.name != "examples" for c in commands(page)]
    named_alike = (c.replace("runs/oracle", "runs/first") for c in found if quick(c))
    wanted = [c for c in dict.fromkeys(named_alike) if "examples/" not in c]
    return sorted(wanted, key=lambda c: " runs/" in c and "expbench run " not in c)


# --- what stands there -----------------------------------------------------------------------------


def test_both_readmes_give_the_same_commands_code_and_links() -> None:
    english, chinese = READMES
    assert commands(english) == commands(chinese) != []
    assert blocks(english, "python") == blocks(chinese, "python") != []
    assert blocks(english, "bibtex") == blocks(chinese, "bibtex") != []
    links = [set(_links(page)) - {"README.md", "README.zh-CN.md"} for page in READMES]
    assert links[0] == links[1]


def test_the_readme_shows_the_example_agent_as_it_is() -> None:
    (code,) = blocks(READMES[0], "python")
    example = (ROOT / "examples" / "my_agent.py").read_text("utf-8")
    assert code.strip() in example
    assert len(code.strip().splitlines()) <= 9


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_on_a_page_is_one_that_the_parser_takes(page: Path) -> None:
    for command in commands(page):
        if command.startswith("expbench "):
            parse(command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_named_in_a_sentence_exists_with_its_options(page: Path) -> None:
    for command in re.findall(r"(?<!`)`(expbench [^`]+)`(?!`)", page.read_text("utf-8")):
        name, arguments = split(command)
        named = {word for word in arguments if word.startswith("--")}
        assert named <= options(name), command


@pytest.mark.parametrize(
    "command",
    ["expbench run --no-such-option", "expbench fly", "expbench resume", "expbench run --epochs x"],
)
def test_a_wrong_command_would_be_found(command: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|names no command|missing|valid integer"):
        parse(command)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_its_help_has_an_example_that_parses(name: str) -> None:
    text = "\n".join(c for page in ROOT.glob("docs/*.md") for c in commands(page))
    assert re.search(rf"^expbench {name}\b", text, re.M), f"no page of docs/ shows {name}"
    shown = CliRunner().invoke(app, [*name.split(), "--help"])
    assert shown.exit_code == 0
    (example,) = re.findall(r"^\s*Example: (.+)$", shown.output, re.M)
    assert split(example)[0] == name
    parse(example)


def test_the_page_on_running_names_every_option_of_run_and_no_other() -> None:
    rows = re.findall(r"^\| `(--[a-z-]+)` \|", (ROOT / "docs/running.md").read_text("utf-8"), re.M)
    assert set(rows) == options("run")


def test_the_page_on_running_names_every_parameter_for_inspect_and_no_other() -> None:
    section = (ROOT / "docs" / "running.md").read_text("utf-8").split("\n## Inspect\n")[1]
    rows = re.findall(r"^\| (`.*?) \|", section.split("\n## ")[0], re.M)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(inspect.signature(inspect_task).parameters)


def test_the_page_on_running_names_every_environment_variable_and_exit_code() -> None:
    page = (ROOT / "docs/running.md").read_text("utf-8")
    code = "".join(file.read_text("utf-8") for file in ROOT.glob("src/expbench/cli/*.py"))
    variables = set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', code)) - {"HOME"}
    assert variables
    assert variables == set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.M))
    codes = {boundary.EXIT_FAILED, boundary.EXIT_USER, boundary.EXIT_INTERRUPTED, 0}
    assert codes == {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.M)}


def test_the_pages_on_agents_name_every_agent_and_their_json_is_of_the_documented_form() -> None:
    page = ROOT / "docs/agents.md"
    heads = [each.read_text("utf-8").partition("\n## ")[0] for each in ROOT.glob("docs/agents*.md")]
    row = re.compile(r"^\| `([a-z][a-z_-]*(?::[A-Z:]+)?)` \|", re.M)
    assert {name for head in heads for name in row.findall(head)} == set(AGENTS)
    steps, model = (json.loads(block) for block in blocks(page, "json"))
    assert Script.model_validate(steps).steps
    assert ModelScript.model_validate(model).turns


def test_every_make_target_that_a_page_names_exists() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.M))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for link in _links(page):
        target, _, anchor = link.partition("#")
        path = page.parent / target if target else page
        assert path.exists(), f"{page.name} links to {link}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}


def test_every_page_and_picture_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    pending = [READMES[0]]
    while pending:
        page = pending.pop()
        if page in seen:
            continue
        seen.add(page)
        if page.suffix == ".md":
            pending += [(page.parent / link.partition("#")[0]).resolve() for link in _links(page)]
    files = {path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".png", ".py")}
    assert files <= seen


def test_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "img").glob("*.png"))
    assert pictures
    assert all(picture.stat().st_size <= 300_000 for picture in pictures)


def test_the_agent_of_the_picture_loads_and_names_tasks_of_the_suite(mini: Suite) -> None:
    place = ROOT / "docs" / "img" / "mixed_agent.py"
    assert get_agent(f"python:{place}:mixed_agent").own_code
    tasks = set(re.findall(r'"(mini/\w+/\d)"', place.read_text("utf-8")))
    assert tasks
    assert tasks <= {task.id for task in mini.tasks}


# --- what is typed ---------------------------------------------------------------------------------


class Shell:
    """A folder in which documented commands are really run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "COLUMNS": "200",
        }

    def __call__(self, command: str, **environment: str) -> str:
        """Run a command; its output. The folder that the pages name is made private."""
        here = command.replace("/tmp/workspace", str(self.folder / "workspace"))
        done = subprocess.run(
            shlex.split(here),
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("shell")
    shutil.copy(ROOT / "tests" / "papers" / "calibration.pdf", folder / "paper.pdf")
    (folder / "clones").mkdir()
    repository("calibration", folder / "clones").rename(folder / "clones" / "mine")
    paper = {"title": "Calibration on a Budget", "repository": "ours/mine", "citations": 40}
    (folder / "papers.jsonl").write_text(json.dumps(paper), "utf-8")
    known = {"full_name": "ours/mine", "description": "Its code", "stargazers_count": 150}
    (folder / "repositories.json").write_text(json.dumps([known]), "utf-8")
    return Shell(folder)


def test_documented_commands_do_what_they_say(shell: Shell, host: SandboxHost) -> None:
    """Every quick command of README and docs runs to exit code 0, a run before what works on it."""
    wanted = documented()
    assert {split(command)[0] for command in wanted} == set(COMMANDS) - {
        "agents install",
        "construct review",
        "construct extract",
        "construct locate",
        "construct write",
        "construct run",
        "construct export",
        "enter",
        "unseal",
        "view",
        "tasks fetch",
        "repos fetch",
    }
    output = {command: shell(command) for command in wanted}
    assert (shell.folder / "workspace" / ".git").is_dir()
    assert (shell.folder / "runs/first/report/index.html").is_file()
    (summary,) = (json.loads(output[c]) for c in wanted if "report" in c and "--json" in c)
    fields = re.findall(r"`([a-z_.]+)`", _section("docs/running.md", "The object of", "`value` is"))
    # An oracle raises no doubt: what one is made of is read off its form.
    assert summary["doubts"] == []
    doubt = {**Doubted.model_fields, **Doubt.model_fields}
    for field in fields:
        assert _has(summary, field) or field in doubt, f"--json has no {field}"
    (resumed,) = (output[c] for c in wanted if "resume" in c)
    assert "1 done before" in resumed
    (line,) = (shell.folder / "chosen.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["candidate"]["stars"] == 150


def test_inspects_command_line_runs_the_evaluation(shell: Shell, host: SandboxHost) -> None:
    """The README's ``inspect eval`` on one task, with the model replaced by a scripted one."""
    (command,) = (c for c in commands(READMES[0]) if c.startswith("inspect eval"))
    model = ROOT / "examples" / "react_scripted.json"
    here, found = re.subn(r"--model \S+", f"--model scripted/{model}", command)
    assert found == 1
    limits = "-T memory=2048 -T cpus=1 -T network=open"
    output = shell(f"{here} -T tasks=mini/stochopt/2 {limits} -T out=runs/inspect --display plain")
    assert "all_executed" in output
    summary = json.loads(shell("expbench report runs/inspect --json"))
    assert summary["model"] == f"scripted/{model}"
    assert summary["summary"]["counts"]["scored"] == 1
    policy = load(shell.folder / "runs" / "inspect").manifest.policy
    assert (policy.limits.memory_mib, policy.limits.cpus, policy.network) == (2048, 1, "open")


def test_documented_commands_on_the_released_data(shell: Shell) -> None:
    data = os.environ.get("EXPBENCH_DATA")
    if not data:
        pytest.skip("the released data set is not here: set EXPBENCH_DATA to its folder")
    (command,) = (c for c in commands(READMES[0]) if c.startswith("expbench tasks list"))
    assert "461 tasks of 51 papers" in shell(command, EXPBENCH_DATA=data)


def _section(page: str, start: str, end: str) -> str:
    text = (ROOT / page).read_text("utf-8")
    return text[text.index(start) + len(start) : text.index(end)].partition("|---|")[2]


def _has(value: Any, field: str) -> bool:
    """Whether a field stands in the object, at its dotted place or anywhere in it."""
    if isinstance(value, list):
        return any(_has(part, field) for part in value)
    if not isinstance(value, dict):
        return False
    first, _, rest = field.partition(".")
    if first in value:
        return not rest or _has(value[first], rest)
    return any(_has(part, field) for part in value.values())


def _links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if "://" not in link and not link.startswith("mailto:")]
