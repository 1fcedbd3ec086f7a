"""Agents that bring their own client: Inspect's bridge in our sandbox (R46).

The bridge's programs come with Inspect; a script in the sandbox asks a model through it, and there is
neither a key nor a network of this machine's inside.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import inspect_ai
import pytest
from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.agent import sandbox_agent_bridge
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import ExecResult, SandboxEnvironmentSpec, sandbox

from expbench.sandboxes.bwrap import BwrapConfig
from expbench.sandboxes.host import SandboxHost

if not list((Path(inspect_ai.__file__).parent / "binaries").glob("inspect-sandbox-tools-*")):
    pytest.skip("this Inspect comes without the bridge's program", allow_module_level=True)

CANARY = "canary-4f1d7c2a9b"
ANSWER = "The answer of the script."

CLIENT = """\
import json, sys, time, urllib.request
body = {"model": "inspect", "messages": [{"role": "user", "content": "What is the answer?"}]}
request = urllib.request.Request(
    "http://localhost:13131/v1/chat/completions",
    json.dumps(body).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer none"},
)
for _ in range(300):
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            print(json.load(answer)["choices"][0]["message"]["content"])
            sys.exit(0)
    except ConnectionRefusedError:
        pass
    except urllib.error.URLError as error:
        if not isinstance(error.reason, ConnectionRefusedError):
            raise
    time.sleep(0.1)
sys.exit("the bridge's port was never opened")
"""
ENVIRONMENTS = "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; env; grep -rs canary- /tmp ~ /workspace"
SERVICE = "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8123, bind='127.0.0.1')"
FETCH = """\
import time, urllib.request
for _ in range(100):
    try:
        print(urllib.request.urlopen("http://127.0.0.1:8123/page", timeout=5).read().decode())
        break
    except OSError:
        time.sleep(0.1)
"""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SOME_SECRET"):
        monkeypatch.setenv(name, CANARY)


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine's loopback that answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number: int = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", number), 5):
            pass
        yield number


def _evaluate(
    host: SandboxHost, logs: Path, commands: dict[str, list[str]]
) -> tuple[EvalLog, dict[str, ExecResult[str]]]:
    """Run commands in a sandbox with the bridge; their results."""
    found: dict[str, ExecResult[str]] = {}

    @solver
    def bridged() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            async with sandbox_agent_bridge():
                for name, argv in commands.items():
                    found[name] = await sandbox().exec(argv, timeout=60)
            return state

        return solve

    config = BwrapConfig(cache=host.cache.root)
    task = Task(
        dataset=[Sample(input="x")],
        solver=bridged(),
        sandbox=SandboxEnvironmentSpec("bwrap", config),
        time_limit=120,
    )
    script = logs / "model.json"
    script.write_text(json.dumps({"replies": [{"when": "the answer", "text": ANSWER}]}))
    log = eval(task, model=f"scripted/{script}", display="none", log_dir=str(logs))[0]
    return log, found


def test_a_script_inside_asks_the_model_and_has_no_key_and_no_network(
    host: SandboxHost, tmp_path: Path, port: int
) -> None:
    """R46, R14: what the sandbox has is a way to the harness's model, not the means to ask it itself."""
    host.python()
    outside = (
        "import socket\n"
        f"for address in ('127.0.0.1', 'localhost', {_address()!r}):\n"
        f"    try: socket.create_connection((address, {port}), 2); print('reached', address)\n"
        "    except OSError as error: print('closed')"
    )
    serve = f'echo hello from before > page; setsid python -c "{SERVICE}" >/dev/null 2>&1 &'
    log, found = _evaluate(
        host,
        tmp_path,
        {
            "service": ["bash", "-c", serve],
            "answer": ["python", "-c", CLIENT],
            "environments": ["bash", "-c", ENVIRONMENTS],
            "outside": ["python", "-c", outside],
            "fetched": ["python", "-c", FETCH],
        },
    )
    assert log.status == "success" and log.samples and log.samples[0].error is None, log.error
    assert found["answer"].stdout.strip() == ANSWER, found["answer"].stderr
    models = [event for event in log.samples[0].events if event.event == "model"]
    assert len(models) == 1 and models[0].input[-1].text == "What is the answer?"
    assert "PATH=" in found["environments"].stdout, "the positive control: environments are read"
    assert CANARY not in found["environments"].stdout
    assert found["outside"].stdout.split() == ["closed"] * 3, found["outside"].stdout
    assert found["fetched"].stdout.strip() == "hello from before", (
        "one command's service is another's"
    )
    assert CANARY not in next(tmp_path.glob("*.eval")).read_bytes().decode("latin-1")


def _address() -> str:
    """An address of this machine's that is not loopback, where it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def test_a_bridge_ends_with_its_sandbox_and_leaves_nothing(
    host: SandboxHost, tmp_path: Path
) -> None:
    """R23: the proxy of one sample is not there for the next one, and no folder stays."""
    before = set(host.cache.work.iterdir()) if host.cache.work.is_dir() else set()
    probe = "import socket; socket.create_connection(('127.0.0.1', 13131), 2)"
    log, found = _evaluate(host, tmp_path, {"answer": ["python", "-c", CLIENT]})
    assert log.status == "success" and found["answer"].returncode == 0
    folder = host.folder()
    with host.start(folder) as session:
        assert session.run(["python", "-c", probe], timeout=20).exit_code != 0
        assert session.run(["ls", "-A", "/tmp"], timeout=20).stdout == b""
    host.discard(folder)
    assert set(host.cache.work.iterdir()) == before
