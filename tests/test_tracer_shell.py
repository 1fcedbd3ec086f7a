"""From a shell script to what it runs: variables, loops, launchers, nested scripts, make, notebooks."""

# ruff: noqa: E501

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tracer_repos import at, leads, reached, traced, values

SCRIPT = "import sys\nprint(sys.argv)\n"


def test_variables_loops_and_continuations_give_a_command_its_values_and_lines(
    tmp_path: Path,
) -> None:
    script = (
        "#!/bin/bash\n"
        "DATA=cifar\n"
        "lr=0.1\n"
        "\n"
        "for model in resnet vgg; do\n"
        "  python train.py --model $model \\\n"
        "    --data ${DATA}10 --lr $lr --seed ${SEED:-3}\n"
        "done\n"
    )
    trace = traced(tmp_path, {"run.sh": script, "train.py": SCRIPT}, "run.sh")
    command = at(trace, "run.sh", 6, 7)
    assert command.kind == "command"
    assert command.values["--model"] == "resnet | vgg"
    assert (command.values["--data"], command.values["--lr"], command.values["--seed"]) == (
        "cifar10",
        "0.1",
        "3",
    )
    assert at(trace, "run.sh", 5, 8).kind == "loop"
    assert at(trace, "run.sh", 5, 8).values == {"model": "resnet vgg"}
    assert at(trace, "run.sh", 2, 3).values == {"DATA": "cifar", "lr": "0.1"}
    assert leads(trace, "run.sh", "train.py") == {"runs"}


@pytest.mark.parametrize(
    "command",
    [
        "python train.py",
        "CUDA_VISIBLE_DEVICES=0,1 nohup python3 -u ./train.py --x 1 > log 2>&1 &",
        "python -m train",
        "torchrun --nproc_per_node=4 --master_port 29500 train.py --x 1",
        "python -m torch.distributed.launch --nproc_per_node=2 train.py",
        "accelerate launch --config_file a.yaml train.py --x 1",
        "deepspeed --num_gpus 8 --module train --x 1",
        "srun -n 1 python train.py",
        "cd . && python train.py || exit 1",
        "if [ -z $X ]; then python train.py; fi",
        'eval="$(dirname "$0")"; python $(dirname "$0")/train.py',
        "env A=1 time python train.py | tee log",
        "bash -c 'python train.py'",
    ],
)
def test_a_launcher_is_seen_through(tmp_path: Path, command: str) -> None:
    trace = traced(tmp_path, {"run.sh": f"{command}\n", "train.py": SCRIPT}, "run.sh")
    assert leads(trace, "run.sh", "train.py") == {"runs"}


def test_nested_scripts_hand_their_arguments_on(tmp_path: Path) -> None:
    files = {
        "run.sh": "bash scripts/inner.sh small 0.5\n",
        "scripts/inner.sh": "cfg=$1\npython src/train.py --config configs/$cfg.yaml --lr $2\n",
        "src/train.py": SCRIPT,
        "configs/small.yaml": "width: 8\n",
        "configs/large.yaml": "width: 64\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert reached(trace) == {"run.sh", "scripts/inner.sh", "src/train.py", "configs/small.yaml"}
    assert at(trace, "scripts/inner.sh", 2).values == {
        "--config": "configs/small.yaml",
        "--lr": "0.5",
    }
    assert leads(trace, "scripts/inner.sh", "configs/small.yaml") == {"configures"}


def test_folders_that_a_script_enters_and_pythonpath_count(tmp_path: Path) -> None:
    files = {
        "run.sh": "export PYTHONPATH=lib:$PYTHONPATH\ncd app\npython main.py\n",
        "app/main.py": "from helper import work\n\nwork()\n",
        "lib/helper.py": "def work():\n    return 1\n",
        "main.py": "print('another')\n",
    }
    assert reached(traced(tmp_path, files, "run.sh")) == {"run.sh", "app/main.py", "lib/helper.py"}


def test_make_runs_what_a_target_needs(tmp_path: Path) -> None:
    makefile = "PY = python\nall: data\n\t$(PY) train.py --epochs 3\ndata:\n\t$(PY) prepare.py\nother:\n\tpython no.py\n"
    files = {
        "Makefile": makefile,
        "run.sh": "make all\n",
        "train.py": SCRIPT,
        "prepare.py": SCRIPT,
        "no.py": SCRIPT,
    }
    trace = traced(tmp_path, files, "run.sh")
    assert reached(trace) == {"run.sh", "Makefile", "train.py", "prepare.py"}
    order = [step.span.path for step in trace.steps]
    assert order.index("prepare.py") < order.index("train.py")


def test_a_notebook_is_read_by_the_lines_of_its_file(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "import nothing"]},
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": ["%matplotlib inline\n", "from model import Net\n", "\n", "lr = 0.3"],
        },
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": ["!python extra.py --n 2\n", "net = Net(depth=4)"],
        },
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    files = {"a.ipynb": text, "model.py": "class Net:\n    pass\n", "extra.py": SCRIPT}
    trace = traced(tmp_path, files, "a.ipynb")
    lines = text.split("\n")
    assert reached(trace) == {"a.ipynb", "model.py", "extra.py"}
    number = next(n for n, line in enumerate(lines, 1) if "net = Net(depth=4)" in line)
    assert at(trace, "a.ipynb", number).values == {"depth": "4"}
    assert leads(trace, "a.ipynb", "model.py") == {"calls"}


def test_commands_of_the_usage_are_followed(tmp_path: Path) -> None:
    usage = "1. First run `python prep.py --size 5`.\n\n```bash\npython train.py \\\n  --config c.yaml\n```\n2. Then python eval.py --k 3"
    files = {
        "prep.py": SCRIPT,
        "train.py": SCRIPT,
        "eval.py": SCRIPT,
        "c.yaml": "a: 1\n",
        "other.py": SCRIPT,
    }
    trace = traced(tmp_path, files, usage=usage)
    assert reached(trace) == {"prep.py", "train.py", "eval.py", "c.yaml"}
    assert values(trace, "c.yaml") == {"a": "1"}


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    trace = traced(tmp_path, {"run.sh": "python gone.py --x 1\n"}, "run.sh", "lost.sh")
    assert any("gone.py" in note for note in trace.notes)
    assert any("lost.sh" in note for note in trace.notes)


def test_patterns_mean_the_files_that_are_there(tmp_path: Path) -> None:
    files = {
        "run.sh": 'for script in jobs/run_*.py; do\n  python "$script" "$@"\ndone\n',
        "jobs/run_a.py": SCRIPT,
        "jobs/run_b.py": SCRIPT,
        "jobs/other.py": SCRIPT,
    }
    assert reached(traced(tmp_path, files, "run.sh")) == {
        "run.sh",
        "jobs/run_a.py",
        "jobs/run_b.py",
    }
    assert reached(traced(tmp_path, files, "jobs/*_b.py")) == {"jobs/run_b.py"}


def test_variables_made_of_each_other_go_together(tmp_path: Path) -> None:
    files = {
        "run.sh": (
            "for config in cfg/*.json; do\n"
            '  name=$(basename "$config" .json)\n'
            "  python jobs/$name.py --config $config --out out/${name}.txt\n"
            "done\n"
        ),
        "cfg/a.json": "{}\n",
        "cfg/b.json": "{}\n",
        "jobs/a.py": SCRIPT,
        "jobs/b.py": SCRIPT,
    }
    trace = traced(tmp_path, files, "run.sh")
    assert reached(trace) == set(files)
    command = at(trace, "run.sh", 3)
    assert command.values == {
        "--config": "cfg/a.json | cfg/b.json",
        "--out": "out/a.txt | out/b.txt",
    }
    assert not trace.notes


def test_python_and_folders_of_the_usage_are_followed(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/search.py": "def ges(x):\n    return x\n\n\ndef pc(x):\n    return x\n",
        "jobs/a.py": SCRIPT,
        "other/b.py": SCRIPT,
    }
    usage = "Run:\n```python\nfrom pkg.search import ges\nges(1)\n```\nand the scripts in /workspace/jobs/ one by one."
    trace = traced(tmp_path, files, usage=usage)
    assert reached(trace) == {"pkg/__init__.py", "pkg/search.py", "jobs/a.py"}
    assert "def ges(x)" in {step.label for step in trace.steps}
