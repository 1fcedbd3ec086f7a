"""Python: imports, calls, options of every library, registries, decorators, names chosen at run time."""

# ruff: noqa: E501
from __future__ import annotations

from pathlib import Path

import pytest
from tracer_repos import at, leads, reached, traced, values


def test_only_what_is_used_of_an_imported_module_becomes_steps(tmp_path: Path) -> None:
    files = {
        "main.py": "from pkg import build\nimport pkg.data as data\n\nif __name__ == '__main__':\n    net = build(width=3)\n    data.load('x', n=2)\n",
        "pkg/__init__.py": "from .models import build\n",
        "pkg/models.py": "def helper():\n    return 1\n\n\ndef build(width=1):\n    return helper() + width\n\n\ndef unused():\n    return 2\n",
        "pkg/data.py": "def load(name, n=1):\n    return [name] * n\n\n\ndef other():\n    return 3\n",
        "pkg/never.py": "def never():\n    return 4\n",
    }
    trace = traced(tmp_path, files, "main.py")
    assert reached(trace) == {"main.py", "pkg/__init__.py", "pkg/models.py", "pkg/data.py"}
    labels = {step.label for step in trace.steps}
    assert {"def helper()", "def build(width=1)", "def load(name, n=1)"} <= labels
    assert not labels & {"def unused()", "def other()"}
    assert leads(trace, "main.py", "pkg/models.py") == {"calls"}
    assert at(trace, "pkg/models.py", 5, 6).values == {"width": "1"}


@pytest.mark.parametrize(
    ("code", "name", "value"),
    [
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('-e', '--epochs', type=int, default=7)\n", "--epochs", "7"),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--amp', action='store_true')\n", "--amp", "false"),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--data', required=True)\n", "--data", "(required)"),
        ("import click\n\n\n@click.command()\n@click.option('--lr', default=0.5)\ndef main(lr):\n    print(lr)\n\n\nmain()\n", "--lr", "0.5"),
        ("import typer\n\n\ndef main(lr: float = typer.Option(0.25)):\n    print(lr)\n\n\ntyper.run(main)\n", "lr", "0.25"),
        ("from absl import flags\nflags.DEFINE_float('lr', 0.125, 'rate')\n", "lr", "0.125"),
        ("import fire\n\n\ndef main(steps=12):\n    print(steps)\n\n\nfire.Fire(main)\n", "steps", "12"),
        ("from dataclasses import dataclass\n\n\n@dataclass\nclass TrainConfig:\n    depth: int = 9\n\n\nprint(TrainConfig())\n", "depth", "9"),
    ],
)  # fmt: skip
def test_options_of_every_library_give_their_defaults(
    tmp_path: Path, code: str, name: str, value: str
) -> None:
    trace = traced(tmp_path, {"main.py": code}, "main.py")
    assert values(trace, "main.py")[name] == value


def test_options_are_of_their_kind(tmp_path: Path) -> None:
    code = "import argparse\n\np = argparse.ArgumentParser()\np.add_argument('--lr', default=0.1)\nargs = p.parse_args()\n"
    assert at(traced(tmp_path, {"main.py": code}, "main.py"), "main.py", 3, 5).kind == "options"


def test_the_kinds_of_an_experiments_parts_are_told(tmp_path: Path) -> None:
    code = (
        "import torch\n"
        "\n"
        "loader = DataLoader(load_dataset('cifar'), batch_size=32)\n"
        "\n"
        "optimizer = torch.optim.Adam(net.parameters(), lr=0.01)\n"
        "\n"
        "scheduler = StepLR(optimizer, step_size=30)\n"
        "\n"
        "for epoch in range(10):\n"
        "    for x, y in loader:\n"
        "        optimizer.zero_grad()\n"
        "        criterion(net(x), y).backward()\n"
        "        optimizer.step()\n"
        "\n"
        "accuracy = compute(net)\n"
        "\n"
        "torch.save(state, 'out.pt')\n"
    )
    trace = traced(tmp_path, {"train.py": code}, "train.py")
    kinds = {(s.span.start, s.span.end): s.kind for s in trace.steps}
    assert (kinds[3, 3], kinds[5, 5], kinds[7, 7]) == ("data", "optimizer", "schedule")
    assert (kinds[15, 15], kinds[17, 17]) == ("metric", "output")
    assert kinds[9, 13] in ("loop", "train")
    assert at(trace, "train.py", 5).values == {"lr": "0.01"}


def test_registries_dispatch_by_the_name_that_a_configuration_gives(tmp_path: Path) -> None:
    files = {
        "train.py": "from registry import build_model\nimport models\nimport sys\n\nbuild_model(open(sys.argv[1]))\n",
        "registry.py": "MODELS = {}\n\n\ndef register(name):\n    def add(cls):\n        MODELS[name] = cls\n        return cls\n    return add\n\n\ndef build_model(cfg):\n    return MODELS[cfg]\n",
        "models/__init__.py": "",
        "models/big.py": "from registry import register\n\n\n@register('big_net')\nclass Big:\n    depth = 4\n",
        "models/small.py": "from registry import register\n\n\n@register('small_net')\nclass Small:\n    depth = 1\n",
        "run.sh": "python train.py cfg.yaml\n",
        "cfg.yaml": "model:\n  type: big_net\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert "models/big.py" in reached(trace)
    assert "models/small.py" not in reached(trace)
    assert leads(trace, "cfg.yaml", "models/big.py") == {"dispatches"}
    assert at(trace, "models/big.py", 4, 6).values == {"depth": "4"}


def test_modules_imported_by_a_name_are_those_that_the_options_name(tmp_path: Path) -> None:
    files = {
        "run.sh": "python main.py --arch alpha\n",
        "main.py": "import importlib, sys\n\nmodule = importlib.import_module('nets.' + sys.argv[2])\n",
        "nets/alpha.py": "class Net:\n    pass\n",
        "nets/beta.py": "class Net:\n    pass\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert "nets/alpha.py" in reached(trace)
    assert "nets/beta.py" not in reached(trace)
    assert leads(trace, "main.py", "nets/alpha.py") == {"dispatches"}


def test_a_name_that_nothing_gives_is_said_and_all_are_reached(tmp_path: Path) -> None:
    files = {
        "main.py": "import importlib, sys\n\nmodule = importlib.import_module(f'nets.{sys.argv[1]}')\n",
        "nets/alpha.py": "A = 1\n",
        "nets/beta.py": "B = 1\n",
    }
    trace = traced(tmp_path, files, "main.py")
    assert {"nets/alpha.py", "nets/beta.py"} <= reached(trace)
    assert any("name that is not known" in note for note in trace.notes)


def test_a_module_that_is_handed_on_may_mean_all_that_it_defines(tmp_path: Path) -> None:
    files = {
        "main.py": "from nets import alpha\n\nMODELS = {'alpha': alpha}\nnet = MODELS['alpha'].Net(3)\n",
        "nets/__init__.py": "",
        "nets/alpha.py": "class Net:\n    def __init__(self, n):\n        self.n = n\n",
    }
    assert at(traced(tmp_path, files, "main.py"), "nets/alpha.py", 1, 3).label == "class Net"


def test_what_python_hands_to_the_shell_is_followed(tmp_path: Path) -> None:
    code = "import os, subprocess\n\nos.system('python eval.py --k 2')\nsubprocess.run(['bash', 'post.sh', '1'])\n"
    files = {"main.py": code, "eval.py": "print(1)\n", "post.sh": "echo done\n"}
    trace = traced(tmp_path, files, "main.py")
    assert leads(trace, "main.py", "eval.py") == {"runs"}
    assert leads(trace, "main.py", "post.sh") == {"runs"}


def test_relative_imports_stars_and_import_circles_end(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from .a import *\nfrom .b import *\n",
        "p/a.py": "from . import b\nfrom .b import two\n\n\ndef one():\n    return two()\n",
        "p/b.py": "from .a import *\nfrom p import one\n\n\ndef two():\n    return one()\n",
        "main.py": "import p\n\np.one()\n",
    }
    trace = traced(tmp_path, files, "main.py")
    assert {"p/a.py", "p/b.py"} <= reached(trace)
    assert {"def one()", "def two()"} <= {step.label for step in trace.steps}


def test_steps_follow_the_order_of_running(tmp_path: Path) -> None:
    files = {
        "run.sh": "python first.py\npython second.py\n",
        "first.py": "from lib import one\n\none()\nprint('end')\n",
        "second.py": "print('second')\n",
        "lib.py": "def one():\n    return 1\n",
    }
    paths = [step.span.path for step in traced(tmp_path, files, "run.sh").steps]
    assert paths.index("first.py") < paths.index("lib.py") < paths.index("second.py")


def test_long_functions_are_steps_by_their_parts(tmp_path: Path) -> None:
    body = "".join(f"    x{n} = call({n}, rate={n})\n\n" for n in range(60))
    trace = traced(tmp_path, {"main.py": f"def main():\n{body}\n\nmain()\n"}, "main.py")
    assert max(step.span.end - step.span.start for step in trace.steps) < 80
    assert at(trace, "main.py", 2).values == {"rate": "0"}
    assert at(trace, "main.py", 1).label == "def main()"


def test_the_question_ranks_steps_and_files(tmp_path: Path) -> None:
    files = {
        "main.py": "from dropout import drop\nfrom plotting import plot\n\ndrop(0.5)\nplot()\n",
        "dropout.py": "def drop(rate):\n    return rate\n",
        "plotting.py": "def plot():\n    return 'figure'\n",
    }
    for question, better, worse in (
        ("How does the dropout rate matter?", "dropout.py", "plotting.py"),
        ("How does the plotting of the figure matter?", "plotting.py", "dropout.py"),
    ):
        trace = traced(tmp_path, files, "main.py", question=question)
        ranked = [each.path for each in trace.files]
        assert ranked[0] == trace.mask[0] == "main.py"
        assert ranked.index(better) < ranked.index(worse)
        relevance = {step.span.path: step.relevance for step in trace.steps}
        assert relevance[better] > relevance[worse]
