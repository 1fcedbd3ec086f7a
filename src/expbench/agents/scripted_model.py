"""A model that needs no provider: it says what a JSON file tells it to.

``--model scripted/PATH`` plays ``{"turns": [{"text": "…", "calls": [{"tool": "bash", "arguments":
{"command": "ls"}}]}, …]}``: the n-th request of a conversation gets the n-th turn, the last one for
ever. As a judge it answers by content, ``{"replies": [{"when": "regular expression", "text": "…"}]}``,
with the first reply whose pattern is found in the last message; a reply may have calls, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from pydantic import Field, ValidationError

from expbench.errors import DataError
from expbench.schema import Record


class ScriptedCall(Record):
    """One tool call."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ScriptedTurn(Record):
    """One answer of the model."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()


class ScriptedReply(Record):
    """An answer for messages in which ``when`` is found."""

    when: str
    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()


class ModelScript(Record):
    """The whole file."""

    turns: tuple[ScriptedTurn, ...] = ()
    replies: tuple[ScriptedReply, ...] = ()


@modelapi(name="scripted")
class ScriptedModel(ModelAPI):
    """Plays a :class:`ModelScript`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self._script = _read(Path(model_name))

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        turn = self._turn(input)
        # Ids are as different as conversations are, for agents have several at the same time.
        so_far = "\0".join(f"{each.role}: {each.text}" for each in input)
        place = hashlib.sha256(so_far.encode("utf-8", "replace")).hexdigest()[:12]
        message = ChatMessageAssistant(
            content=turn.text,
            tool_calls=[
                ToolCall(id=f"{place}-{n}", function=call.tool, arguments=dict(call.arguments))
                for n, call in enumerate(turn.calls)
            ]
            or None,
        )
        output = ModelOutput.from_message(message)
        output.model = "scripted"
        words = sum(len(each.text.split()) for each in input)
        output.usage = ModelUsage(
            input_tokens=words, output_tokens=len(turn.text.split()), total_tokens=words
        )
        return output

    def _turn(self, messages: list[ChatMessage]) -> ScriptedTurn:
        last = messages[-1].text if messages else ""
        for reply in self._script.replies:
            if re.search(reply.when, last, re.DOTALL):
                return ScriptedTurn(text=reply.text, calls=reply.calls)
        if not self._script.turns:
            return ScriptedTurn(text="")
        said = sum(isinstance(message, ChatMessageAssistant) for message in messages)
        return self._script.turns[min(said, len(self._script.turns) - 1)]


def _read(path: Path) -> ModelScript:
    try:
        return ModelScript.model_validate(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise DataError(f"The model script {path} cannot be read: {error.strerror}.") from None
    except (ValidationError, ValueError) as error:
        raise DataError(
            f"The model script {path} is not of the documented form: {error}."
        ) from None
