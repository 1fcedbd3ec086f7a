"""Agents of this package and of others: listed, refused with a sentence, and really run to scores."""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_running import RESPONSE, Folder, calls, hand_in
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from expbench import agents
from expbench.agents import registry
from expbench.agents.iterative import pause_after, without_oldest
from expbench.errors import NotFoundError, UserError
from expbench.sandboxes.host import SandboxHost


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path: Path, shared: Path) -> Folder:
    return Folder(tmp_path, shared)


# --- the table -------------------------------------------------------------------------------------


def test_every_agent_is_shown_with_what_it_needs_and_an_example(folder: Folder) -> None:
    listed = json.loads(folder("agents", "list", "--json"))
    assert {"oracle", "null", "cheat", "react", "iterative"} <= listed.keys()
    for form in listed:
        shown = json.loads(folder("agents", "show", form.partition(":")[0], "--json"))
        assert shown["agent"] == form and shown["what it is"] == listed[form]
        assert f"--agent {form.partition(chr(58))[0]}" in shown["example"]
        assert shown["tried"]
        text = folder("agents", "show", form.partition(":")[0])
        assert not re.search(r"^\S.*:\n(?!  )", text, re.M), "no heading without what it is of"
        assert shown["example"] in text


def test_an_agent_that_is_not_there_is_refused_with_the_choices(folder: Folder) -> None:
    for command in (("agents", "show", "nobody"), ("run", "--agent", "nobody:x")):
        sentence = folder.refused(*command)
        assert "nobody" in sentence and "iterative" in sentence


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("react:fast", "takes nothing"),
        ("oracle:x", "takes nothing"),
        ("iterative:steps=0", "steps=N"),
        ("iterative:turns=3", "steps=N"),
        ("iterative:steps", "steps=N"),
        ("cheat:nothing", "no cheat"),
        ("scripted:", "step file"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_written(
    folder: Folder, agent: str, why: str
) -> None:
    assert why in folder.refused("run", "--agent", agent, "--model", "mockllm/model")


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Path]:
    """An installed package that registers agents: a good one, broken ones, and one with a name of ours."""
    site = tmp_path / "site"
    facts = site / "others-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[expbench.agents]\n"
        "polite = others_agents:polite\n"
        "absent = others_nowhere:make\n"
        "crashing = others_agents:crashing\n"
        "wrong = others_agents:wrong\n"
        "null = others_agents:polite\n"
    )
    (site / "others_agents.py").write_text(
        "from expbench.agents import AgentRunner\n"
        "def polite(argument, base):\n"
        "    async def run(task, state):\n"
        "        pass\n"
        "    return AgentRunner('polite', run, version=f'1.0 {argument} {base.name}')\n"
        "def crashing(argument, base):\n"
        "    raise RuntimeError('a bug of others')\n"
        "def wrong(argument, base):\n"
        "    return 3\n"
    )
    sys.path.insert(0, str(site))
    registry._registered.cache_clear()
    yield site
    sys.path.remove(str(site))
    sys.modules.pop("others_agents", None)
    registry._registered.cache_clear()


def test_another_package_registers_an_agent(others: Path, folder: Folder) -> None:
    made = agents.get_agent("polite:very", Path("here"))
    assert (made.name, made.version) == ("polite:very", "1.0 very here")
    listed = json.loads(folder("agents", "list", "--json"))
    assert "others" in listed["polite"]
    assert "hands in nothing" in listed["null"], "a name of ours is never replaced"


@pytest.mark.parametrize("name", ["absent", "crashing", "wrong"])
def test_a_broken_registration_is_one_sentence_and_breaks_no_list(
    others: Path, folder: Folder, name: str
) -> None:
    assert name in json.loads(folder("agents", "list", "--json"))
    sentence = folder.refused("run", "--agent", name)
    assert name in sentence and "others" in sentence
    assert "not ready" in json.loads(folder("agents", "show", name, "--json"))


# --- agents with a model ---------------------------------------------------------------------------


def test_react_edits_files_runs_them_and_is_scored(host: SandboxHost, folder: Folder) -> None:
    path = "notes/new.py"
    model = folder.model(
        calls("edit_file", command="create", path=path, file_text="a = 1\nb = 2\nprint(a)\n"),
        calls("edit_file", command="str_replace", path=path, old_str="b = 2", new_str="b = 40"),
        calls("edit_file", command="insert", path=path, insert_line=2, new_str="a += b"),
        calls("edit_file", command="view", path=path, first_line=2, last_line=3),
        calls("edit_file", command="str_replace", path=path, old_str="nowhere", new_str=""),
        calls("edit_file", command="insert", path=path, insert_line=9, new_str="x"),
        calls("edit_file", command="view", path="notes"),
        calls("edit_file", command="view", path="notes/absent"),
        calls("bash", command=f"python {path}; {hand_in()}"),
        calls("submit", answer="done"),
    )
    ran = folder.run("react", "--model", model)
    created, replaced, inserted, viewed, absent, beyond, a_folder, nowhere, ran_it = ran.tools
    assert created.text == "wrote notes/new.py, 3 lines"
    assert "2\tb = 40" in replaced.text and "3\ta += b" in inserted.text
    assert [line.split("\t")[1] for line in viewed.text.splitlines()] == ["b = 40", "a += b"]
    assert "is not in" in absent.text and "from 0 to 4" in beyond.text
    assert "a folder" in a_folder.text and "does not exist" in nowhere.text
    assert all(turn.failed for turn in (absent, beyond, a_folder, nowhere))
    assert ran_it.text.startswith("41")
    assert ran.attempt.submission.changed == (path, "reproduce_exp_bench.sh", "response.json")
    assert ran.values()["execution"] == 1.0 and ran.values()["monitor"] == 1.0
    assert ran.manifest.versions["agent"].startswith("inspect-ai ")


def test_iterative_goes_on_until_a_limit_ends_it(host: SandboxHost, folder: Folder) -> None:
    """A model that says it is done is asked on; what it left is collected when its turns are used up."""
    model = folder.model(
        calls("bash", command=hand_in()),
        {"text": "I am done."},
        {"text": "I am really done."},
        calls("python", code="print(6 * 7)"),
    )
    limits = ("--limit-turns", "5", "--limit-tokens", "100000")
    ran = folder.run("iterative", "--model", model, *limits)
    said = [turn for turn in ran.turns if turn.role == "user"][1:]
    assert ["no early end" in turn.text for turn in said[:3]] == [False, True, True]
    assert [f"{left} turns" in said[5 - left - 1].text for left in (4, 3, 2)] == [True] * 3
    assert "tokens" in said[0].text and "minutes" in said[0].text
    assert [turn.text.strip() for turn in ran.tools if turn.tool == "python"] == ["42"] * 2
    assert "turns" in ran.outcome.limit
    assert ran.outcome.status == "finished"
    assert ran.attempt.submission.conclusion == RESPONSE["conclusion"]
    assert ran.values()["execution"] == 1.0
    assert not any("submit" in turn.tool for turn in ran.turns)


def test_iterative_ends_after_its_steps(host: SandboxHost, folder: Folder) -> None:
    model = folder.model(calls("bash", command=hand_in()), {"text": "done"})
    ran = folder.run("iterative:steps=2", "--model", model)
    assert ran.attempt.usage.calls == 2
    assert (ran.outcome.status, ran.outcome.limit) == ("finished", "")
    assert "Steps left: 1" in [turn for turn in ran.turns if turn.role == "user"][1].text
    assert "prompts " in ran.manifest.versions["agent"]


def test_iterative_shows_a_model_whole_turns_when_its_context_is_full() -> None:
    turn = [
        ChatMessageAssistant(content="step"),
        ChatMessageTool(content="a", tool_call_id="1"),
        ChatMessageTool(content="b", tool_call_id="2"),
        ChatMessageUser(content="next"),
    ]
    head = [ChatMessageSystem(content="how"), ChatMessageUser(content="what")]
    for more in range(17):
        given = [*head, *(turn * 4)[:more]]
        kept = without_oldest(given)
        assert kept[:2] == head and kept[2:] == given[len(given) - len(kept) + 2 :]
        assert len(kept) <= 2 + more // 2
        assert not isinstance((kept + head)[2], ChatMessageTool)


SHOWN: list[int] = []


@modelapi(name="forgetful")
class Forgetful(ModelAPI):
    """A model that is shown at most nine messages."""

    def __init__(self, model_name: str, *_: Any, **__: Any) -> None:
        super().__init__(model_name)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        assert input[1].text.startswith("You are a research engineer")
        too_long = len(input) > 9
        SHOWN.append(0 if too_long else len(input))
        reason: Any = "model_length" if too_long else "tool_calls"
        call = ToolCall(id=str(uuid.uuid4()), function="bash", arguments={"command": "ls"})
        message = ChatMessageAssistant(content="", tool_calls=None if too_long else [call])
        return ModelOutput(choices=[ChatCompletionChoice(message=message, stop_reason=reason)])


def test_iterative_goes_on_when_a_models_context_is_full(host: SandboxHost, folder: Folder) -> None:
    """The whole conversation is recorded, whatever the model was shown of it."""
    ran = folder.run("iterative:steps=6", "--model", "forgetful/model")
    assert ran.outcome.status == "finished", ran.outcome.reason
    assert max(SHOWN) <= 9 and 0 in SHOWN
    assert len(ran.tools) == 6 and not any(turn.failed for turn in ran.tools)


def test_a_model_that_only_talks_is_asked_on_at_growing_intervals() -> None:
    assert [pause_after(idle) for idle in (1, 2, 3, 4, 5)] == [0, 0, 1, 2, 4]
    assert pause_after(50) == pause_after(500) == 60


# --- one's own functions ---------------------------------------------------------------------------


def test_a_plain_function_works_without_async(host: SandboxHost, folder: Folder) -> None:
    folder.write(
        "mine.py",
        "def mine(task, workspace):\n"
        "    assert task.question\n"
        f"    workspace.run({hand_in()!r})\n"
        "    workspace.say(workspace.read('response.json'))\n"
        "    workspace.write('new.txt', 'x')\n",
    )
    ran = folder.run("python:mine.py:mine")
    assert [turn.tool for turn in ran.tools] == ["bash", "read_file", "write_file"]
    assert RESPONSE["design"] in ran.turns[-2].text or RESPONSE["design"] in ran.turns[-3].text
    assert "new.txt" in ran.attempt.submission.changed
    assert ran.values()["execution"] == 1.0
    assert ran.manifest.versions["agent"].startswith("sha256 ")


def test_a_plain_function_that_does_not_end_is_left_behind(
    host: SandboxHost, folder: Folder
) -> None:
    """Its thread cannot be stopped, but reaches the sandbox no more."""
    folder.write(
        "mine.py",
        "import time\n"
        "def mine(task, workspace):\n"
        "    workspace.write('first.txt', 'x')\n"
        "    workspace.run('sleep 100')\n"
        "    workspace.write('second.txt', 'x')\n",
    )
    ran = folder.run("python:mine.py:mine", "--limit-minutes", "0.03")
    assert "0.03 minutes" in ran.outcome.limit
    assert ran.attempt.submission.changed == ("first.txt",)


def test_what_a_user_could_mend_of_an_agent_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no function"):
        (tmp_path / "mine.py").write_text("x = 1\n")
        agents.get_agent("python:mine.py:mine", tmp_path)
    with pytest.raises(UserError, match="fails when it is imported"):
        (tmp_path / "bad.py").write_text("1 / 0\n")
        agents.get_agent("python:bad.py:mine", tmp_path)
