"""A package with Curie's public function and the files that Curie leaves, as a wheel; and faulty ones.

It is ours, and does by itself what Curie's agents do: plan, write and run a control script in a copy of the
code, and conclude; each step is one question to the model that its keys name.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

GOOD, SILENT, FAILING, BROKEN = "1.0", "1.1", "1.2", "1.3"
"""Versions: one that works, one that asks no model, one that fails after its first answer, one that cannot be
imported."""

_WORKING = """\
import json, os, pathlib, shutil, subprocess, time, urllib.request


def ask(keys, messages):
    body = json.dumps({"model": keys["MODEL"].partition("/")[2], "messages": messages})
    request = urllib.request.Request(
        keys["OPENAI_API_BASE"] + "/chat/completions",
        body.encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + keys["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        text = json.load(answer)["choices"][0]["message"]["content"]
    messages.append({"role": "assistant", "content": text})
    return text


def experiment(api_keys=None, dataset_dir=None, codebase_dir=None, code_instructions=None,
               question_file=None, question=None, task_config=None, env_requirements=None,
               max_global_steps=30):
    assert task_config["is_user_interrupt_allowed"] is False
    name = task_config["job_name"]
    logs = pathlib.Path("logs", f"{name}_1_iter1")
    logs.mkdir(parents=True)
    copy = pathlib.Path("workspace", f"{name}_p1").absolute()
    shutil.copytree(codebase_dir, copy, symlinks=True)
    messages = [{"role": "system", "content": f"At most {max_global_steps} steps."},
                {"role": "user", "content": question}]
    plan = json.loads(ask(api_keys, messages))
    STOP
    messages.append({"role": "user", "content": "Write the control script."})
    script = copy / "control_experiment_p1_control_group_partition_1.sh"
    results = copy / "results_p1_control_group_partition_1.txt"
    script.write_text(ask(api_keys, messages).replace("{results}", str(results)))
    subprocess.run(["bash", str(script)], cwd=copy, check=True)
    plan |= {"plan_id": "p1", "workspace_dir": str(copy), "control_group": {"partition_1": {
        "independent_vars": [{"members": 10}], "done": True,
        "control_experiment_filename": str(script),
        "control_experiment_results_filename": str(results)}}, "experimental_group": {}}
    (logs / f"{name}_1.json").write_text(json.dumps(plan) + "\\n")
    (logs / "config.json").write_text(json.dumps(task_config))
    messages.append({"role": "user", "content": "Conclude: " + results.read_text()})
    record = {"is_conclude": True, "concluder_log_message": ask(api_keys, messages)}
    line = f"2026-01-01 00:00:00 - logger - INFO - Message: {record}"
    (logs / f"{name}_1.log").write_text("begun\\n" + line + "\\n")
"""

SOURCES = {
    GOOD: _WORKING.replace("STOP", "pass"),
    SILENT: "def experiment(**settings):\n    pass\n",
    FAILING: _WORKING.replace("STOP", "raise RuntimeError('the plan is no good')"),
    BROKEN: "import a_module_that_is_not_there\n",
}


def wheels(folder: Path) -> Path:
    """A folder with a wheel of each version."""
    folder.mkdir(parents=True, exist_ok=True)
    for version, source in SOURCES.items():
        _wheel(folder, version, source)
    return folder


def _wheel(folder: Path, version: str, source: str) -> None:
    facts = f"curie_ai-{version}.dist-info"
    files = {
        "curie/__init__.py": source,
        f"{facts}/METADATA": f"Metadata-Version: 2.1\nName: curie-ai\nVersion: {version}\n",
        f"{facts}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    listed = [f"{name},sha256={_digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{facts}/RECORD"] = "\n".join([*listed, f"{facts}/RECORD,,", ""])
    with zipfile.ZipFile(folder / f"curie_ai-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
