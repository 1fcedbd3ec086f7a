"""``expbench construct trace`` and its figure."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tracer_repos import traced, write
from typer.testing import CliRunner, Result

from expbench.cli.main import app
from expbench.tracer.figure import figure_html, figure_svg
from expbench.tracer.graph import Trace

FILES = {
    "run.sh": "python train.py --lr 0.1 --config c.yaml\n",
    "train.py": "from net import Net\n\nnet = Net(depth=3)\n",
    "net.py": "class Net:\n    pass\n",
    "c.yaml": "seed: 7\n",
}


def call(*words: str) -> Result:
    return CliRunner().invoke(app, ["construct", "trace", *words], env={"COLUMNS": "220"})


def test_a_repository_is_traced_as_a_table_and_as_json(tmp_path: Path) -> None:
    root = str(write(tmp_path, FILES))
    shown = call("--repo", root, "--source", "run.sh", "--question", "Does depth help?")
    assert shown.exit_code == 0
    assert "run.sh:1-1" in shown.output
    assert "depth=3" in shown.output
    assert "Net is used in train.py:3" in shown.output
    done = call("--repo", root, "--source", "run.sh", "--json")
    trace = Trace.model_validate(json.loads(done.stdout))
    assert {each.path for each in trace.files} == set(FILES)


def test_top_limits_the_table(tmp_path: Path) -> None:
    shown = call("--repo", str(write(tmp_path, FILES)), "--source", "run.sh", "--top", "1")
    assert "1 of " in shown.output
    assert "run.sh:1-1" in shown.output
    assert "net.py:1-2" not in shown.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--repo with --source"),
        (("--repo", "."), "--repo with --source"),
        (("--repo", "no-such-folder", "--source", "a.py"), "is no folder"),
        (("--repo", ".", "--source", "a.py", "--figure", "x.png"), ".svg or .html"),
        (("project", "--source", "a.py"), "not both"),
    ],
)
def test_what_a_user_can_mend_is_said_in_a_sentence(words: tuple[str, ...], said: str) -> None:
    done = call(*words)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output


def test_nothing_found_is_no_success(tmp_path: Path) -> None:
    done = call("--repo", str(write(tmp_path, FILES)), "--source", "gone.sh")
    assert done.exit_code == 1
    assert "gone.sh is not in the repository" in done.output


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_the_figure_stands_alone(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / "out" / f"chain.{suffix}"
    root = str(write(tmp_path / "repo", FILES))
    assert call("--repo", root, "--source", "run.sh", "--figure", str(file)).exit_code == 0
    text = file.read_text("utf-8")
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    for path in FILES:
        assert path in text


def test_the_figure_has_a_card_for_each_file_and_its_edges(tmp_path: Path) -> None:
    root = ElementTree.fromstring(figure_svg(traced(tmp_path, FILES, "run.sh"), "A title"))
    space = "{http://www.w3.org/2000/svg}"
    texts = [each.text for each in root.iter(f"{space}text")]
    assert "A title" in texts
    assert set(FILES) <= set(texts)
    kinds = {str(each.get("class")) for each in root.iter(f"{space}path")}
    assert {"edge runs", "edge calls", "edge configures"} <= kinds


def test_what_a_repository_says_is_no_markup_in_the_figure(tmp_path: Path) -> None:
    hostile = "</text><script>alert(1)</script>"
    files = {"run.sh": f"python a.py --x '{hostile}'\n", "a.py": f"x = '''{hostile}\x08\u202e'''\n"}
    trace = traced(tmp_path, files, "run.sh", "<img src=x>.sh")
    for text in (figure_svg(trace, hostile), figure_html(trace, hostile)):
        assert "<script" not in text
        assert "<img" not in text
        assert "\u202e" not in text
    ElementTree.fromstring(figure_svg(trace, hostile))


def test_an_empty_trace_has_a_figure(tmp_path: Path) -> None:
    trace = traced(tmp_path, {"a.txt": "x"}, "gone.py")
    assert ElementTree.fromstring(figure_svg(trace)).get("role") == "img"
    assert "gone.py is not in the repository" in figure_html(trace)
