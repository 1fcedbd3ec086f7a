"""Any executable as an agent: a TOML file, a sandbox, the model through the bridge, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from agent_running import QUICK, RESPONSE, SCRIPT, Folder, Ran
from inspect_ai.agent import AgentState
from inspect_ai.model import (
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

from expbench.activity import Activity
from expbench.agents.bridging import NO_KEY, Conversations
from expbench.agents.command import make_command
from expbench.dataset import Suite
from expbench.errors import DataError, NotFoundError, UserError
from expbench.patience import Tries
from expbench.redaction import protect
from expbench.runs import Key, load
from expbench.sandboxes.host import SandboxHost

bridged = pytest.mark.skipif(
    not list((Path(inspect_ai.__file__).parent / "binaries").glob("inspect-sandbox-tools-*")),
    reason="this Inspect comes without the bridge's program",
)

HAND_IN = f"""\
import json
open("reproduce_exp_bench.sh", "w").write({SCRIPT!r})
json.dump({RESPONSE!r}, open("response.json", "w"))
"""
ASK = """\
import json, os, urllib.request

def ask(messages, path="/chat/completions", **more):
    body = {"model": os.environ["EXPBENCH_MODEL"], "messages": messages, **more}
    key = "Bearer " + os.environ["OPENAI_API_KEY"]
    headers = {"Content-Type": "application/json", "Authorization": key}
    url = os.environ["OPENAI_BASE_URL"] + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=100) as answer:
        return json.load(answer)["choices"][0]["message"]
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path: Path, shared: Path) -> Folder:
    return Folder(tmp_path, shared)


def program(folder: Folder, code: str, **settings: Any) -> str:
    """An agent that is a Python program; its name."""
    folder.write("mine.py", code)
    lines = {"run": ["python", "mine.py"], "files": {"mine.py": "mine.py"}, **settings}
    text = "".join(f"{name} = {_toml(value)}\n" for name, value in lines.items())
    return f"command:{folder.write('mine.toml', text)}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def main_turn(ran: Ran) -> str:
    """What the program printed, as the trajectory has it."""
    (turn,) = (turn for turn in ran.tools if turn.command.startswith("python"))
    return turn.text


# --- the file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("run = [", "not valid TOML"),
        ("prompt = 'stdin'", "'run' is missing"),
        ("run = []", "first word must name a program"),
        ("run = ['']", "first word"),
        ("run = 'python x.py'", "run"),
        ("run = ['x']\nprompt = 'post'", "prompt"),
        ("run = ['x']\nmodell = true", "'modell', only run, prompt, files, env, model"),
        ("run = ['x']\nfiles = { 'a' = 'absent.py' }", "absent.py as 'a', which is not there"),
        ("run = ['x']\nfiles = { '/a' = 'mine.toml' }", "'/a'"),
        ("run = ['x']\nfiles = { 'b/../../a' = 'mine.toml' }", "'..'"),
        ("run = ['x']\nfiles = { 'prompt.txt' = 'mine.toml' }", "prompt's own"),
        ("run = ['x']\nmodel = true\nenv = { OPENAI_API_KEY = 'mine' }", "leave it out"),
        ("run = ['x']\nenv = { MINE = 3 }", "env.MINE"),
    ],
)
def test_a_wrong_file_is_one_sentence_before_the_run(folder: Folder, text: str, why: str) -> None:
    folder.write("mine.toml", text)
    sentence = folder.refused("run", "--agent", "command:mine.toml", "--task", QUICK)
    assert "mine.toml" in sentence and why in sentence


def test_a_file_that_is_not_there_is_one_sentence(folder: Folder) -> None:
    assert "absent.toml" in folder.refused("run", "--agent", "command:absent.toml")
    assert "needs its file" in folder.refused("run", "--agent", "command")


def test_a_program_that_asks_a_model_needs_one(folder: Folder) -> None:
    assert "--model" in folder.refused("run", "--agent", program(folder, "", model=True))


def test_a_key_of_this_environment_is_not_given_to_a_sandbox(tmp_path: Path) -> None:
    """R46."""
    (tmp_path / "mine.toml").write_text("run = ['x']\nenv = { MINE = 'x-canary-77aa12fe' }\n")
    protect({"SOME_API_KEY": "canary-77aa12fe"})
    try:
        with pytest.raises(DataError, match="secret") as raised:
            make_command("mine.toml", tmp_path)
        assert "canary" not in str(raised.value)
    finally:
        protect({})


def test_what_a_command_is_made_of_is_its_version(tmp_path: Path) -> None:
    (tmp_path / "code" / "__pycache__").mkdir(parents=True)
    (tmp_path / "code" / "a.py").write_text("1")
    (tmp_path / "mine.toml").write_text("run = ['x']\nfiles = { code = 'code' }\n")
    first = make_command("mine.toml", tmp_path).version
    (tmp_path / "code" / "__pycache__" / "a.pyc").write_text("cache")
    assert make_command("mine.toml", tmp_path).version == first
    (tmp_path / "code" / "a.py").write_text("2")
    assert make_command("mine.toml", tmp_path).version != first


def test_files_that_are_too_large_are_refused(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(200 * 1024**2)
    (tmp_path / "mine.toml").write_text("run = ['x']\nfiles = { large = 'large' }\n")
    with pytest.raises(UserError, match="more than 100 MiB"):
        make_command("mine.toml", tmp_path)
    with pytest.raises(NotFoundError):
        make_command("other.toml", tmp_path)


# --- really run ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "read"),
    [
        ("stdin", "sys.stdin.read()"),
        ("file", "open(os.environ['EXPBENCH_PROMPT']).read()"),
        ("argument", "sys.argv[-1]"),
    ],
)
def test_a_program_gets_its_prompt_and_is_scored(
    host: SandboxHost, folder: Folder, prompt: str, read: str
) -> None:
    (folder.folder / "code" / "inner").mkdir(parents=True)
    folder.write("code/inner/words.py", "WORD = 'from a folder'\n")
    code = (
        f"import os, sys\nprompt = {read}\n"
        "assert prompt.startswith('You are a research engineer'), prompt[:50]\n"
        "assert '# What is forbidden' in prompt\n"
        "sys.path.insert(0, os.environ['EXPBENCH_AGENT'])\n"
        "from code_.inner.words import WORD\n"
        "print(WORD, os.environ['STYLE'], os.getcwd() == os.environ['EXPBENCH_WORKSPACE'])\n"
        "print(float(os.environ['EXPBENCH_MINUTES']) > 1, 'EXPBENCH_TURNS' in os.environ)\n"
        f"{HAND_IN}"
    )
    files = {"mine.py": "mine.py", "code_": "code"}
    agent = program(folder, code, prompt=prompt, files=files, env={"STYLE": "careful"})
    ran = folder.run(agent)
    assert ran.outcome.status == "finished", ran.outcome.reason
    assert main_turn(ran).splitlines() == ["from a folder careful True", "True False"]
    assert ran.attempt.submission.changed == ("reproduce_exp_bench.sh", "response.json")
    assert ran.values()["execution"] == 1.0 and ran.values()["monitor"] == 1.0
    assert ran.manifest.versions["agent"].startswith("sha256 ")


@bridged
def test_a_program_asks_the_model_and_has_no_key(host: SandboxHost, folder: Folder) -> None:
    """R46: what is inside is a word in a key's place; the model's messages are in the trajectory."""
    code = (
        f"{ASK}{HAND_IN}"
        "import sys\n"
        "messages = [{'role': 'system', 'content': 'Be brief.'},\n"
        "            {'role': 'user', 'content': sys.stdin.read()}]\n"
        "tool = {'type': 'function', 'function': {'name': 'bash',\n"
        "        'description': 'a shell', 'parameters': {'type': 'object',\n"
        "        'properties': {'command': {'type': 'string'}}}}}\n"
        "said = ask(messages, tools=[tool])\n"
        "call = said['tool_calls'][0]\n"
        "messages += [said, {'role': 'tool', 'tool_call_id': call['id'], 'content': 'seven files'}]\n"
        "print('then:', ask(messages, tools=[tool])['content'])\n"
        "print('aside:', ask([{'role': 'user', 'content': 'A title?'}])['tool_calls'][0]['id'] != '')\n"
        "print({name: value for name, value in os.environ.items() if 'KEY' in name})\n"
    )
    model = folder.model(
        {"text": "I look.", "calls": [{"tool": "bash", "arguments": {"command": "ls"}}]},
        {"text": "There are seven."},
    )
    ran = folder.run(program(folder, code, model=True), "--model", model)
    assert ran.outcome.status == "finished", ran.outcome.reason
    output = main_turn(ran)
    assert "then: There are seven." in output and "aside: True" in output
    assert NO_KEY in output
    assert "canary" not in output
    assert not any(b"canary-" in path.read_bytes() for path in ran.run.paths.store.rglob("*/*"))
    texts = [(turn.role, turn.text) for turn in ran.turns if turn.role != "tool"]
    asked = [text for role, text in texts if role == "user"]
    assert asked[1:] == ["A title?"], "the prompt stands there once"
    assert ("system", "Be brief.") in texts
    assert [text for role, text in texts if role == "assistant"] == [
        "I look.",
        "There are seven.",
        "I look.",
    ]
    assert ("bash", "ls", "seven files") in {(t.tool, t.command, t.text) for t in ran.tools}
    assert ran.attempt.usage.calls == 3


def test_a_failing_program_is_a_result_that_says_so(host: SandboxHost, folder: Folder) -> None:
    """What it left is judged; it is not tried again, and not shown as if all had been well."""
    code = f"{HAND_IN}\nimport sys\nprint('working')\nsys.exit('no such setting: depth')\n"
    ran = folder.run(program(folder, code))
    (doubt,) = (each for each in ran.outcome.doubts if each.kind == "agent_exit")
    assert doubt.sentence == "mine.toml ended with exit code 1: no such setting: depth"
    assert ran.outcome.status == "agent_error"
    assert ran.values()["execution"] == 1.0
    (turn,) = ran.tools
    assert turn.failed and "working" in turn.text


def test_a_program_that_is_not_there_is_a_result_too(host: SandboxHost, folder: Folder) -> None:
    folder.write("mine.toml", "run = ['no-such-program', '{prompt}']\n")
    ran = folder.run("command:mine.toml")
    assert "exit code 127" in ran.outcome.reason
    assert {"agent_exit", "no_response"} <= {doubt.kind for doubt in ran.outcome.doubts}


def test_a_program_is_stopped_at_its_limit_and_recorded(host: SandboxHost, folder: Folder) -> None:
    """Its output up to then is in the trajectory, head and tail, and what it left is collected."""
    code = (
        f"{HAND_IN}print('first')\nprint('x' * 100000)\nprint('last')\nimport time; time.sleep(90)"
    )
    ran = folder.run(program(folder, code), "--limit-minutes", "0.05")
    assert "0.05 minutes" in ran.outcome.limit
    assert ran.attempt.seconds < 60
    text = main_turn(ran)
    assert text.startswith("first\nxx") and "characters left out" in text
    assert text.rstrip().endswith("last\n\n[stopped: its time was up]")
    assert ran.attempt.submission.conclusion == RESPONSE["conclusion"]
    assert not [doubt for doubt in ran.outcome.doubts if doubt.kind == "agent_exit"]


@modelapi(name="unreachable")
class Unreachable(ModelAPI):
    """A provider that does not answer."""

    def __init__(self, model_name: str, *_: Any, **__: Any) -> None:
        super().__init__(model_name)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        raise ConnectionError("the provider is away")


@bridged
def test_a_program_without_an_answer_is_tried_again(
    host: SandboxHost, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That its model could not be reached is not the agent's doing: no score, no attempt."""

    async def at_once(self: Tries, key: Key, activity: Activity) -> None:
        return

    monkeypatch.setattr(Tries, "pause", at_once)
    code = f"{ASK}{HAND_IN}ask([{{'role': 'user', 'content': 'Hello?'}}])\n"
    agent = program(folder, code, model=True)
    ran = folder.run(agent, "--model", "unreachable/model", code=1)
    assert ran.outcome.status == "infrastructure"
    assert not ran.run.attempts and not ran.outcome.scores
    assert "expbench resume" in ran.output


@bridged
def test_two_bridges_on_one_network_have_ports_of_their_own(
    host: SandboxHost, folder: Folder, mini: Suite
) -> None:
    """With network ``open`` all sandboxes share this machine's: each program reaches its own model."""
    code = (
        f"{ASK}{HAND_IN}import time\n"
        "import sys; mine = sys.stdin.read().split('# Question')[1][:60].strip()\n"
        "print(os.environ['OPENAI_BASE_URL'])\n"
        "for n in range(3):\n"
        "    print(ask([{'role': 'user', 'content': f'{mine} {n}'}])['content'])\n"
    )
    agent = program(folder, code, model=True)
    other = "mini/forecasting/2"
    args = ("--task", QUICK, "--task", other, "--network", "open", "--max-samples", "2")
    model = folder.model({"text": "heard"})
    folder("run", "--agent", agent, "--model", model, *args, "--out", "runs/both")
    run = load(folder.folder / "runs" / "both")
    openings = {task: mini.task(task).question[:50] for task in (QUICK, other)}
    outputs = []
    for task in (QUICK, other):
        trajectory = run.attempts[task, 1].submission.trajectory
        assert trajectory is not None
        text = run.store.get(trajectory).decode()
        asked = [each for each, opening in openings.items() if json.dumps(opening)[1:-1] in text]
        assert asked == [task], "a program's requests came over another's bridge"
        assert "heard\\nheard\\nheard" in text
        outputs.append(text.split("http://127.0.0.1:")[1].split("/")[0])
    assert len(set(outputs)) == 2


# --- what goes over a bridge -----------------------------------------------------------------------


def _called(number: str) -> ChatMessageAssistant:
    call = ToolCall(id=number, function="bash", arguments={"command": number})
    return ChatMessageAssistant(content="", tool_calls=[call])


def test_conversations_are_kept_once_and_in_order() -> None:
    """Clients send everything again, trimmed, shortened or from the start: no message is lost or doubled."""
    prompt = ChatMessageUser(content="Do it.\n")
    state = AgentState(messages=[prompt])
    seen = Conversations(state.messages)
    system = ChatMessageSystem(content="how")
    first, second = _called("1"), _called("2")
    result = ChatMessageTool(content="a long output", tool_call_id="1")
    sent = [system, ChatMessageUser(content="Do it."), first, result]
    seen.add(sent[:2], first)
    seen.add(sent, second)
    shortened = ChatMessageTool(content="[cut]", tool_call_id="1")
    last = ChatMessageTool(content="ok", tool_call_id="2")
    seen.add([*sent[:3], shortened, _called("2"), last], ChatMessageAssistant(content=" yes "))
    seen.add([ChatMessageUser(content="aside")], ChatMessageAssistant(content="yes"))
    again = [ChatMessageAssistant(content="yes"), ChatMessageUser(content="go on")]
    seen.add([*sent, *again, *again], ChatMessageAssistant(content="end"))
    said = [message.text.strip() or message.role for message in state.messages]
    assert said == [
        *("Do it.", "how", "assistant", "a long output", "assistant", "ok", "yes"),
        *("aside", "yes", "go on", "go on", "end"),
    ]
