"""Finding the authors' programs for a question: an agent in a sandbox with the whole repository.

The loop is Inspect's react, the sandbox the one that everything else runs in, without a network. Each answer
of the model is journalled by the digest of the conversation, so that a search that was killed goes on from
what was paid for. What the agent hands in is checked while it can still mend it; its files are compared with
the repository's from outside, before and after, and a chain from a changed tree is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.agent import Agent, AgentState, AgentSubmit, agent, react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolError, bash, python, tool
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from expbench.construct.chain import Chain, Tracked, tampered, wrong_chain
from expbench.construct.desk import Desk, SpentError, filled, sent_back
from expbench.construct.evidence import evidence_block
from expbench.construct.extracting import Search
from expbench.construct.journal import Event, StageMemory, now
from expbench.construct.records import Draft
from expbench.construct.task import value
from expbench.errors import InfrastructureError
from expbench.logs import scrub
from expbench.models import usage_of
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment, known
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.schema import Record, Usage
from expbench.workspace import Source, freeze, write_whole

_FOUND_ROOM = 6_000
_FOUND = 8


class Bounds(Record):
    """What one search may use. ``dollars`` and ``turns`` are of the model, ``minutes`` of the clock."""

    minutes: float = 30.0
    turns: int = 60
    dollars: float | None = 2.0
    tool_seconds: int = 600


class _Over(Exception):  # noqa: N818
    """The search ends without an answer; the text says at what."""


@dataclass
class ChainSearch:
    """One agent's search for one draft."""

    draft: Draft
    desk: Desk
    search: Search
    bounds: Bounds
    source: Source
    chain: Chain | None = None
    ended: str = ""
    spent: bool = False
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    _folder: Path | None = None
    _tracked: Tracked | None = None

    async def run(self, state: TaskState) -> None:
        """Let the agent work in its sandbox until it hands in, or a bound ends it."""
        environment = sandbox().as_type(BwrapSandboxEnvironment)
        folder = environment.folder
        self._folder = folder
        await to_thread.run_sync(lambda: write_whole(freeze(self.source, other_owner()), folder))
        self._tracked = await to_thread.run_sync(lambda: Tracked.of(self.source, folder))
        tools = [
            bash(timeout=self.bounds.tool_seconds),
            python(timeout=self.bounds.tool_seconds),
            search_paper(self.search),
        ]
        worker = react(
            tools=tools,
            model=remembering(self),
            submit=AgentSubmit(tool=submit(self), answer_only=True),
            truncation="auto",
        )
        prompt = ChatMessageUser(content=state.user_prompt.text)
        with anyio.move_on_after(self.bounds.minutes * 60) as limit:
            try:
                await worker(AgentState(messages=[prompt]))
            except* _Over as over:
                self.ended = str(over.exceptions[0])
        if limit.cancelled_caught:
            self.ended = f"{self.bounds.minutes:g} minutes were over"
        await to_thread.run_sync(self._look_again)

    def wrong(self, chain: Chain) -> str:
        """Why what is handed in cannot be taken; empty when it can."""
        assert self._tracked is not None
        assert self._folder is not None
        if changed := tampered(self._tracked, self._folder, chain.source):
            return (
                f"you changed files of the authors ({', '.join(changed[:5])}): put them back exactly as "
                "they were, the ground truth is their code"
            )
        return wrong_chain(chain, self._tracked)

    def _look_again(self) -> None:
        if self.chain is not None and (why := self.wrong(self.chain)):
            self.chain, self.ended = None, why


@tool(name="search_paper")
def search_paper(search: Search) -> Tool:
    """A tool that finds passages of the paper."""

    async def execute(query: str) -> str:
        """Find passages of the paper.

        Args:
            query: what to look for.
        """
        found = await to_thread.run_sync(lambda: search(query[:800], _FOUND))
        return evidence_block(found, _FOUND_ROOM) or "(nothing found)"

    return execute


@tool(name="submit")
def submit(work: ChainSearch) -> Tool:
    """The tool that the agent hands in with; it says what is wrong as long as that can be mended."""

    async def execute(
        source: list[str], commands: list[str], usage_instructions: str, no_answer: str = ""
    ) -> str:
        """Hand in the chain of the authors' programs, or the reason why there is none.

        Args:
            source: files of the chain, relative to the repository's root.
            commands: shell commands, run in this order from the repository's root.
            usage_instructions: how the programs are run and where the result shows.
            no_answer: why no program of the repository does the experiment; else empty.
        """
        chain = Chain(
            source=tuple(dict.fromkeys(path.removeprefix("/workspace/") for path in source)),
            commands=tuple(commands),
            usage_instructions=usage_instructions.strip(),
            no_answer=no_answer.strip(),
        )
        if why := await to_thread.run_sync(lambda: work.wrong(chain)):
            raise ToolError(f"This cannot be taken: {why}.")
        work.chain = chain
        return "taken"

    return execute


@agent
def remembering(work: ChainSearch) -> Agent:
    """The stage's model, whose answers are taken from the journal where they are in it."""
    memory = work.desk.memory(work.draft.id)
    model = work.desk.model

    async def execute(state: AgentState, tools: list[Tool]) -> AgentState:
        work.turns += 1
        if work.turns > work.bounds.turns:
            raise _Over(f"{work.bounds.turns} turns were over")
        key = conversation_key(model, state.messages)
        event = memory.journal.reply(key)
        if event is not None and event.said is not None:
            output = ModelOutput.from_message(ChatMessageAssistant.model_validate(event.said))
            work.usage += event.usage or Usage()
        else:
            output = await _asked(work, memory, model, key, state.messages, tools)
        state.messages.append(output.message)
        state.output = output
        return state

    return execute


async def _asked(
    work: ChainSearch,
    memory: StageMemory,
    model: Model,
    key: str,
    messages: list[ChatMessage],
    tools: list[Tool],
) -> ModelOutput:
    if why := memory.stop(work.usage):
        work.spent = True
        raise _Over(why)
    most = work.bounds.dollars
    if most is not None and (work.usage.dollars or 0.0) >= most:
        raise _Over(f"{most:g} dollars were spent on this search")
    output = await model.generate(messages, tools)
    usage = usage_of(output, model)
    work.usage += usage
    memory.journal.add(
        Event(
            at=now(),
            stage=memory.stage,
            kind="reply",
            draft=memory.draft,
            model=str(model),
            key=key,
            said=output.message.model_dump(mode="json", exclude_none=True),
            usage=usage,
        )
    )
    return output


def conversation_key(model: Model, messages: Sequence[ChatMessage]) -> str:
    """The digest of a model's name and a conversation, tool calls included."""
    said = [
        [each.role, each.text, _calls(each) if isinstance(each, ChatMessageAssistant) else []]
        for each in messages
    ]
    text = json.dumps(said, ensure_ascii=False, default=str)
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _calls(message: ChatMessageAssistant) -> list[list[object]]:
    return [[call.function, dict(call.arguments)] for call in message.tool_calls or ()]


@solver
def _searching(work: ChainSearch) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await work.run(state)
        return state

    return solve


def find_chain(
    draft: Draft, desk: Desk, search: Search, bounds: Bounds, host: SandboxHost, source: Source
) -> ChainSearch:
    """Have an agent search; its ``chain`` is there, or ``ended`` says why not.

    Raises:
        SpentError: the project's budget is spent.
        InfrastructureError: the sandbox or the engine failed; nothing is said about the repository.
    """
    work = ChainSearch(draft, desk, search, bounds, source)
    prompt = filled(
        "construct_locate",
        back=sent_back(draft, "locate"),
        question=value(draft, "question"),
        method=value(draft, "method"),
        outcome=value(draft, "expected_outcome"),
    )
    place = desk.project.root / "logs"
    try:
        logs = inspect_eval(
            Task(
                name="locate",
                dataset=[Sample(id=draft.id, input=prompt)],
                solver=_searching(work),
                sandbox=SandboxEnvironmentSpec("bwrap", known(host)),
            ),
            model=desk.model,
            log_dir=str(place),
            ctl_server=False,
            display="none",
            log_level="error",
            max_samples=1,
        )
    finally:
        scrub(place)
    if work.spent:
        raise SpentError(
            f"Stopped: {work.ended}. What is done is kept; go on with a higher --budget."
        )
    failed = next((log for log in logs if log.status != "success"), None)
    if failed is not None:
        if failed.status == "cancelled":
            raise KeyboardInterrupt
        why = failed.error.message if failed.error else failed.status
        raise InfrastructureError(f"the search for {draft.id} failed: {why}")
    return work
