"""What an agent written in Python works with: run commands, read and write files.

Everything goes through the sandbox, and everything is recorded as messages with tool calls, exactly
as a language model's agent would leave them: the monitor and the viewer see no difference.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall
from inspect_ai.util import SandboxEnvironment

SHOWN = 16_000
"""Characters of a command's output that are recorded; the middle of a longer one is left out."""


@dataclass(frozen=True)
class Result:
    """A command's exit code and its output, standard output first, then standard error."""

    exit_code: int
    output: str


class Workspace:
    """The masked repository in its sandbox; paths are relative to the repository's root."""

    def __init__(self, sandbox: SandboxEnvironment, messages: list[ChatMessage]) -> None:
        self._sandbox = sandbox
        self._messages = messages

    async def run(self, command: str, timeout: int | None = None) -> Result:
        """Run a shell command in the repository's root; ``timeout`` in seconds gives exit code 124."""
        call = record_call(self._messages, "bash", {"command": command})
        try:
            done = await self._sandbox.exec(["bash", "-c", command], timeout=timeout)
            result = Result(done.returncode, done.stdout + done.stderr)
        except TimeoutError as error:
            result = Result(124, str(error))
        record_answer(self._messages, call, result.output, failed=result.exit_code != 0)
        return result

    async def write(self, path: str, text: str) -> None:
        """Write a text file, making its folders."""
        call = record_call(self._messages, "write_file", {"path": path, "text": text})
        await self._sandbox.write_file(path, text)
        record_answer(self._messages, call, f"wrote {path}")

    async def read(self, path: str) -> str:
        """A text file's content. Raises FileNotFoundError."""
        call = record_call(self._messages, "read_file", {"path": path})
        text = await self._sandbox.read_file(path)
        record_answer(self._messages, call, text)
        return text

    def say(self, text: str) -> None:
        """Record a thought, as a model's message would be."""
        self._messages.append(ChatMessageAssistant(content=text))


def record_call(messages: list[ChatMessage], function: str, arguments: dict[str, str]) -> ToolCall:
    """Add a tool's call to a conversation, as a model's message would hold it."""
    call = ToolCall(id=f"call-{len(messages)}", function=function, arguments=arguments)
    messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
    return call


def record_answer(
    messages: list[ChatMessage], call: ToolCall, output: str, failed: bool = False
) -> None:
    """Add what a call gave, without the middle of a long output."""
    if len(output) > SHOWN:
        cut = len(output) - SHOWN
        half = SHOWN // 2
        output = f"{output[:half]}\n[… {cut} characters left out …]\n{output[-half:]}"
    text = f"{output}\n[failed]" if failed else output
    messages.append(ChatMessageTool(content=text, tool_call_id=call.id, function=call.function))
