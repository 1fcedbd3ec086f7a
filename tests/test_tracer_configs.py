"""Configurations: yaml, toml, json, gin, hydra's groups, mmcv's ``_base_``, and what they choose."""

# ruff: noqa: E501
from __future__ import annotations

from pathlib import Path

from tracer_repos import at, leads, reached, traced, values


def test_yaml_is_read_by_its_blocks(tmp_path: Path) -> None:
    text = "# c\nseed: 1\nmodel:\n  name: resnet  # small\n  layers: [3, 4]\n  head:\n    width: 16\noptim:\n- lr: 0.1\n- lr: 0.2\n"
    trace = traced(
        tmp_path,
        {"run.sh": "python t.py --config c.yaml\n", "t.py": "print(1)\n", "c.yaml": text},
        "run.sh",
    )
    assert at(trace, "c.yaml", 2).values == {"seed": "1"}
    assert at(trace, "c.yaml", 3, 7).values == {
        "model.name": "resnet",
        "model.layers": "[3, 4]",
        "model.head.width": "16",
    }
    assert at(trace, "c.yaml", 8, 10).kind == "config"


def test_toml_json_ini_and_gin_give_their_values(tmp_path: Path) -> None:
    files = {
        "run.sh": "python t.py --a a.toml --b b.json --c c.ini --d d.gin\n",
        "t.py": "print(1)\n",
        "a.toml": "top = 1\n[train]\nlr = 0.1\n",
        "b.json": '{\n  "train": {\n    "epochs": 5,\n    "name": "x"\n  }\n}\n',
        "c.ini": "[data]\npath = here\n",
        "d.gin": "train.steps = 100\nModel.depth = 2\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert values(trace, "a.toml") == {"top": "1", "train.lr": "0.1"}
    assert values(trace, "b.json") == {"train.epochs": "5", "train.name": "x"}
    assert values(trace, "c.ini") == {"data.path": "here"}
    assert values(trace, "d.gin") == {"train.steps": "100", "Model.depth": "2"}


def test_hydra_reaches_its_defaults_and_the_groups_that_options_choose(tmp_path: Path) -> None:
    files = {
        "run.sh": "python main.py model=wide lr=3\n",
        "main.py": "import hydra\n\n\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n    print(cfg)\n\n\nif __name__ == '__main__':\n    main()\n",
        "conf/base.yaml": "defaults:\n  - data: small\n  - _self_\nlr: 1\n",
        "conf/data/small.yaml": "n: 10\n",
        "conf/data/large.yaml": "n: 1000\n",
        "conf/model/wide.yaml": "_target_: nets.Wide\n",
        "nets.py": "class Wide:\n    pass\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert reached(trace) == set(files) - {"conf/data/large.yaml"}
    assert leads(trace, "conf/base.yaml", "conf/data/small.yaml") == {"configures"}
    assert leads(trace, "conf/model/wide.yaml", "nets.py") == {"dispatches"}


def test_mmcv_configurations_begin_from_others_and_choose_by_type(tmp_path: Path) -> None:
    files = {
        "run.sh": "python tools/train.py configs/mine.py\n",
        "tools/train.py": "import sys\nprint(sys.argv)\n",
        "configs/mine.py": "_base_ = ['./_base_/data.py']\nmodel = dict(\n    type='TinyNet',\n    depth=3)\nlr = 0.1\n",
        "configs/_base_/data.py": "data = dict(type='Pictures', root='d')\nbatch = 4\nworkers = 2\n",
        "lib/net.py": "@MODELS.register_module()\nclass TinyNet:\n    pass\n",
        "lib/data.py": "class Pictures:\n    pass\n\n\nclass Sounds:\n    pass\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert reached(trace) == set(files)
    assert leads(trace, "configs/mine.py", "configs/_base_/data.py") == {"configures"}
    assert {"type": "TinyNet", "depth": "3"}.items() <= values(trace, "configs/mine.py").items()
    assert "class Sounds" not in {step.label for step in trace.steps}


def test_a_configuration_that_the_code_names_is_reached(tmp_path: Path) -> None:
    files = {
        "main.py": "import yaml\n\ncfg = yaml.safe_load(open('settings/base.yml'))\n",
        "settings/base.yml": "depth: 2\n",
    }
    trace = traced(tmp_path, files, "main.py")
    assert leads(trace, "main.py", "settings/base.yml") == {"configures"}


def test_large_json_is_data(tmp_path: Path) -> None:
    files = {
        "main.py": "import json\n\nrows = json.load(open('rows.json'))\n",
        "rows.json": '{"a": 1,\n' * 60_000,
    }
    trace = traced(tmp_path, files, "main.py")
    assert not values(trace, "rows.json")
    assert any("rows.json is taken for data" in note for note in trace.notes)


def test_paths_that_are_put_together_and_filled_in_are_found(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\n\n"
        "here = Path(__file__).parent\n"
        "a = open(here / 'conf' / 'one.yaml')\n"
        "b = open(os.path.join('conf', 'two.yaml'))\n"
        "c = open(f'models/{sys.argv[2]}.yaml')\n"
    )
    files = {
        "run.sh": "python app/main.py --model wide\n",
        "app/main.py": code,
        "app/conf/one.yaml": "a: 1\n",
        "app/conf/two.yaml": "b: 2\n",
        "app/models/wide.yaml": "c: 3\n",
        "app/models/deep.yaml": "c: 4\n",
        "other/conf/one.yaml": "a: 5\n",
        "other/conf/two.yaml": "a: 6\n",
    }
    trace = traced(tmp_path, files, "run.sh")
    assert reached(trace) == {n for n in files if not n.startswith("other") and "deep" not in n}


def test_long_blocks_are_steps_by_their_parts_only(tmp_path: Path) -> None:
    text = "model:\n" + "".join(f"  part{n}:\n    a: {n}\n    b: {n}\n" for n in range(60))
    trace = traced(tmp_path, {"c.yaml": text}, "c.yaml")
    assert at(trace, "c.yaml", 1).label == "model"
    assert at(trace, "c.yaml", 2, 4).values == {"model.part0.a": "0", "model.part0.b": "0"}
