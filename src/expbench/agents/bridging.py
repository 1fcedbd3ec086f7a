"""Programs in a sandbox that ask the run's model: Inspect's bridge, up and recorded.

A proxy inside the sandbox speaks the common providers' languages and passes each request on to the
harness, which asks the model. Inside there is no key, only a word in its place (R46).
"""

from __future__ import annotations

import secrets
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from inspect_ai.agent import AgentState, sandbox_agent_bridge
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateInput,
    Model,
    ModelOutput,
)
from inspect_ai.util import sandbox

from expbench.errors import UnreachableModelError

NO_KEY = "no-key-is-needed"
"""What stands where programs want a key."""

MODEL_NAME = "inspect"
"""The name under which programs ask for the run's model; any other gives it too."""

_FIRST_PORT, _LAST_PORT = 20_000, 32_000
_WAIT_SECONDS = 60
_REACH = (
    "for ((n = 0; n < $2 * 10; n++)); do (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null && exit 0; "
    "sleep 0.1; done; exit 1"
)
_ports: set[int] = set()


@dataclass
class Bridge:
    """A way to the model from inside the sandbox.

    ``answers`` counts what the model has answered so far.
    """

    port: int
    answers: int = field(default=0, init=False)

    @property
    def url(self) -> str:
        """The proxy's address inside, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which the clients of common providers find the proxy."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_BASE": f"{self.url}/v1",
            "OPENAI_API_KEY": NO_KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": NO_KEY,
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": NO_KEY,
            "GOOGLE_API_KEY": NO_KEY,
            "EXPBENCH_MODEL": MODEL_NAME,
        }

    async def reach(self, seconds: int = _WAIT_SECONDS) -> None:
        """Wait until the proxy answers inside. Raises UnreachableModelError."""
        argv = ["bash", "-c", _REACH, "bash", str(self.port), str(seconds)]
        done = await sandbox().exec(argv, timeout=seconds + 30)
        if not done.success:
            raise UnreachableModelError(
                f"the model's proxy did not answer in the sandbox for {seconds} s"
            )

    async def blame(self) -> None:
        """Say whether a program that failed had a model to ask.

        Raises:
            UnreachableModelError: its last request got an error, or the proxy is gone.
        """
        asked = [event for event in transcript().events if isinstance(event, ModelEvent)]
        if asked and asked[-1].error:
            reason = asked[-1].error.strip().splitlines()[-1][:300]
            raise UnreachableModelError(f"the agent's program got no answer of its model: {reason}")
        await self.reach(seconds=5)


@asynccontextmanager
async def bridge(state: AgentState) -> AsyncIterator[Bridge]:
    """The bridge for the sample's sandbox; it answers inside before this is entered.

    Every message of every conversation that goes over it is added to the state's messages once, in the
    order of the requests, whatever ends the block.

    Raises:
        UnreachableModelError: the proxy did not come up.
    """
    seen = Conversations(state.messages)
    with _own_port() as port:
        way = Bridge(port)

        async def heard(model: Model, output: ModelOutput, given: GenerateInput) -> None:
            way.answers += 1
            seen.add(given.input, output.message)

        # The bridge keeps one conversation in the state that it is given; ours has all of them.
        own = AgentState(messages=list(state.messages))
        async with sandbox_agent_bridge(own, port=port, response_filter=heard):
            await way.reach()
            yield way


class Conversations:
    """The union of conversations, each message once: clients send all they have with every request."""

    def __init__(self, messages: list[ChatMessage]) -> None:
        self._messages = messages
        self._known = Counter(map(_mark, messages))

    def add(self, given: Iterable[ChatMessage], answer: ChatMessageAssistant) -> None:
        """What was sent with one request, and the answer."""
        here: Counter[tuple[str, ...]] = Counter()
        for message in given:
            mark = _mark(message)
            here[mark] += 1
            once = isinstance(message, ChatMessageTool)
            if here[mark] > self._known[mark] and not (once and self._known[mark]):
                self._append(message, mark)
        self._append(answer, _mark(answer))

    def _append(self, message: ChatMessage, mark: tuple[str, ...]) -> None:
        self._known[mark] += 1
        self._messages.append(message)


def _mark(message: ChatMessage) -> tuple[str, ...]:
    """What makes a message the same when a client sends it again, perhaps shortened or trimmed."""
    if isinstance(message, ChatMessageTool) and message.tool_call_id:
        return ("tool", message.tool_call_id)
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        return ("calls", *(call.id for call in message.tool_calls))
    return (message.role, " ".join(message.text.split()))


@contextmanager
def _own_port() -> Iterator[int]:
    """A port that no other sample has: with network ``open`` all sandboxes share this machine's."""
    while True:
        port = _FIRST_PORT + secrets.randbelow(_LAST_PORT - _FIRST_PORT)
        if port not in _ports and _free(port):
            break
    _ports.add(port)
    try:
        yield port
    finally:
        _ports.discard(port)


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
