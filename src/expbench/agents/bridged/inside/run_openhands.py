"""Runs an OpenHands agent in the sandbox: the prompt comes on standard input, the model by the environment.

The argument is how many steps it may take; 0 for any number. Its default tools, but for the browser. Exit
code 1 says that it failed, 3 that it went round in circles; to have used up its steps is no failure.
"""

import os
import sys
from pathlib import Path

from openhands.sdk import LLM, Agent, Conversation, ConversationExecutionStatus, Tool
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool

ANSWER_SECONDS = 3600
ENDLESS = 1_000_000
KEPT = 80
"""Events of the conversation after which the earlier ones are summed up."""


def main() -> int:
    steps = int(sys.argv[1]) or ENDLESS
    model = LLM(
        model=f"openai/{os.environ['EXPBENCH_MODEL']}",
        base_url=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        api_mode="chat",
        timeout=ANSWER_SECONDS,
        num_retries=2,
        usage_id="agent",
    )
    shorter = model.model_copy(update={"usage_id": "condenser"})
    agent = Agent(
        llm=model,
        tools=[Tool(name=each.name) for each in (TerminalTool, FileEditorTool, TaskTrackerTool)],
        system_prompt_kwargs={"cli_mode": True},
        condenser=LLMSummarizingCondenser(llm=shorter, max_size=KEPT, keep_first=4),
    )
    conversation = Conversation(
        agent=agent,
        workspace=str(Path.cwd()),
        max_iteration_per_run=steps,
        visualizer=None,
    )
    conversation.send_message(sys.stdin.read())
    conversation.run()
    status = conversation.state.execution_status
    conversation.close()
    return said(status, conversation, steps)


def said(status: ConversationExecutionStatus, conversation: Conversation, steps: int) -> int:
    """The exit code, and in a line why."""
    codes = [getattr(event, "code", "") for event in conversation.state.events]
    print(f"OpenHands ended: {status.value}")
    if status is ConversationExecutionStatus.FINISHED:
        return 0
    if "MaxIterationsReached" in codes:
        print(f"all {steps} steps are taken")
        return 0
    return 3 if status is ConversationExecutionStatus.STUCK else 1


sys.exit(main())
