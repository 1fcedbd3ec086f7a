"""Runs Curie in the sandbox by its public function, and hands in what it found.

The question comes on standard input, the steps that it may take are the argument. Curie works in copies of
the repository, one for each of its plans, and leaves logs; from these are made, where it left them:

- the design: the variables of each plan,
- the conclusion: the last record of its concluder, else its report,
- the code: what the plans' copies have and the repository has not,
- the script: the plans' control scripts, one after the other, from the repository's root.

Nobody is asked: its interruption by a user is off.
"""

import ast
import inspect
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import curie

PLACE = Path("/tmp/curie")
"""Where Curie is called: it keeps its logs, its copies and its settings there."""

SCRIPT, RESPONSE = "reproduce_exp_bench.sh", "response.json"
LARGEST = 20 * 1024**2
SKIPPED = {".git", "__pycache__", ".ipynb_checkpoints", "venv", ".venv", "node_modules"}
VARIABLES = (
    ("Constant", "constant_vars"),
    ("Independent", "independent_vars"),
    ("Dependent", "dependent_vars"),
)
RECORD = re.compile(r"\{.*'concluder_log_message'.*\}")
REPLY = re.compile(r"Concluder response: (.+)")


def main() -> int:
    repository = Path.cwd()
    PLACE.mkdir(parents=True, exist_ok=True)
    os.chdir(PLACE)
    call(sys.stdin.read(), repository, int(sys.argv[1]))
    plans = read_plans(PLACE / "logs")
    for plan in plans:
        bring_back(plan, repository)
    scripts = control_scripts(plans, repository)
    if scripts:
        (repository / SCRIPT).write_text(whole_script(scripts), "utf-8")
    answer = {"design": design(plans), "conclusion": conclusion(PLACE / "logs")}
    (repository / RESPONSE).write_text(json.dumps(answer, ensure_ascii=False, indent=1), "utf-8")
    print(f"Curie ended: {len(plans)} plans, {len(scripts)} control scripts")
    return 0 if plans else 1


def call(question: str, repository: Path, steps: int) -> None:
    """Ask Curie, with the model that the environment names and nobody to answer questions."""
    wanted = {
        "question": question,
        "codebase_dir": str(repository),
        "max_global_steps": steps,
        "task_config": {"is_user_interrupt_allowed": False, "job_name": repository.name},
        "api_keys": {
            "MODEL": f"openai/{os.environ['EXPBENCH_MODEL']}",
            "OPENAI_API_KEY": os.environ["OPENAI_API_KEY"],
            "OPENAI_API_BASE": os.environ["OPENAI_BASE_URL"],
        },
    }
    known = inspect.signature(curie.experiment).parameters
    everything = any(each.kind is each.VAR_KEYWORD for each in known.values())
    curie.experiment(**{k: v for k, v in wanted.items() if everything or k in known})


def read_plans(logs: Path) -> list[dict[str, Any]]:
    """The plans that were carried out: JSON lines beside the logs, the oldest file first."""
    found = []
    for file in sorted(logs.rglob("*.json"), key=lambda path: path.stat().st_mtime):
        for line in file.read_text("utf-8", "replace").splitlines():
            try:
                plan = json.loads(line)
            except ValueError:
                continue
            if isinstance(plan, dict) and "control_group" in plan:
                found.append(plan)
    return found


def copy_of(plan: dict[str, Any]) -> Path | None:
    """The folder that a plan was carried out in."""
    named = str(plan.get("workspace_dir") or "")
    for path in (Path(named), PLACE / named.lstrip("/")):
        if named and path.is_dir():
            return path
    return None


def bring_back(plan: dict[str, Any], repository: Path) -> None:
    """Copy what is new or changed in a plan's copy; its own paths become the repository's."""
    folder = copy_of(plan)
    if folder is None or folder.resolve() == repository.resolve():
        return
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            source = Path(parent, name)
            target = repository / source.relative_to(folder)
            if not source.is_file() or source.is_symlink() or source.stat().st_size > LARGEST:
                continue
            content = source.read_bytes()
            if source.suffix in (".sh", ".py"):
                content = content.replace(os.fsencode(folder), os.fsencode(repository))
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
                shutil.copymode(source, target)


def control_scripts(plans: list[dict[str, Any]], repository: Path) -> list[tuple[str, str]]:
    """The control scripts and the files of their results, by their paths in the repository."""
    found = []
    for plan in plans:
        folder = copy_of(plan) or repository
        for group in ("control_group", "experimental_group"):
            for part in (plan.get(group) or {}).values():
                script = inside(part.get("control_experiment_filename"), folder, repository)
                results = inside(
                    part.get("control_experiment_results_filename"), folder, repository
                )
                if script and (repository / script).is_file():
                    found.append((script, results))
    return list(dict.fromkeys(found))


def inside(name: Any, folder: Path, repository: Path) -> str:
    """A path of a plan's copy, as it is in the repository."""
    path = Path(str(name or ""))
    for root in (folder, repository):
        if path.is_absolute() and path.is_relative_to(root):
            return str(path.relative_to(root))
    place = Path("/", *folder.parts[-1:])
    if path.is_absolute() and path.is_relative_to(place):
        return str(path.relative_to(place))
    return path.name


def whole_script(scripts: list[tuple[str, str]]) -> str:
    """One script that runs them all and prints what they wrote."""
    lines = ["#!/bin/bash", "# The control scripts of Curie's plans.", "set -e"]
    for script, results in scripts:
        lines += [f"echo '== {script}'", f"bash '{script}'"]
        if results:
            lines.append(f"[ ! -f '{results}' ] || cat '{results}'")
    return "\n".join([*lines, ""])


def design(plans: list[dict[str, Any]]) -> str:
    """The variables of all plans, with the values of their groups, and how they were carried out."""
    texts = []
    for number, plan in enumerate(plans, 1):
        parts = [f"Plan {number}: {plan['hypothesis']}"] if plan.get("hypothesis") else []
        parts += [f"{word}: {listed(plan[key])}" for word, key in VARIABLES if plan.get(key)]
        values = [
            json.dumps(part["independent_vars"], ensure_ascii=False)
            for group in ("control_group", "experimental_group")
            for part in (plan.get(group) or {}).values()
            if part.get("independent_vars")
        ]
        if values:
            parts.append(f"Values: {'; '.join(values)}")
        if plan.get("controlled_experiment_setup_description"):
            parts.append(f"Procedure: {plan['controlled_experiment_setup_description']}")
        texts.append("\n".join(parts))
    return "\n\n".join(texts)


def listed(value: Any) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def conclusion(logs: Path) -> str:
    """What its concluder recorded last, else what it answered, else its report."""
    recorded, replied = [], []
    for file in sorted(logs.rglob("*.log"), key=lambda path: path.stat().st_mtime):
        for line in file.read_text("utf-8", "replace").splitlines():
            if match := RECORD.search(line):
                recorded += message_of(match.group())
            if match := REPLY.search(line):
                replied.append(match.group(1).strip())
    reports = sorted(logs.rglob("*.md"), key=lambda path: path.stat().st_mtime)
    texts = recorded or replied or [path.read_text("utf-8", "replace") for path in reports]
    return texts[-1].strip() if texts else ""


def message_of(record: str) -> list[str]:
    try:
        return [str(ast.literal_eval(record)["concluder_log_message"])]
    except (ValueError, SyntaxError, TypeError, KeyError):
        return []


sys.exit(main())
