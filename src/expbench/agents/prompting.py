"""What an agent is told: one text, of which two settings choose the parts.

``prompts/agent.txt`` consists of parts that each begin with a line ``@@ always``, ``@@ reveal LEVEL``
or ``@@ hints LEVEL``. A part is there from its level on; what is forbidden stands in one that always is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import get_args

from expbench.errors import DataError
from expbench.prompts import Prompt, load
from expbench.sandboxes.mounts import WORKSPACE
from expbench.schema import Hints, Network, Policy, ResearchTask, Reveal

_MARK = "@@ "
_NETWORKS: dict[Network, str] = {
    "none": "without network access",
    "packages": "whose only network is package indexes, as pip, npm and apt are set up",
    "open": "with network access",
}


@cache
def template(hints: Hints = "full", reveal: Reveal = "instructions") -> Prompt:
    """The text for these settings, not yet filled. Its digest tells prompts apart.

    Raises:
        DataError: the file is not of the form above.
    """
    levels = {"hints": (get_args(Hints), hints), "reveal": (get_args(Reveal), reveal)}
    first, *parts = f"\n{load('agent').text}".split(f"\n{_MARK}")
    kept = []
    for part in parts:
        head, _, text = part.partition("\n")
        setting, _, level = head.partition(" ")
        if head != "always":
            known, chosen = levels.get(setting, ((), ""))
            if level not in known:
                raise DataError(f"The agents' prompt has a part {head!r}, which is not known.")
            if known.index(level) > known.index(chosen):
                continue
        kept.append(text.strip("\n"))
    if first.strip():
        raise DataError("The agents' prompt has text before its first part.")
    return Prompt(f"agent, hints {hints}, reveal {reveal}", "\n\n".join(kept) + "\n")


def agent_prompt(
    task: ResearchTask,
    policy: Policy,
    packages: Sequence[str],
    workspace: str = WORKSPACE,
    hints: Hints = "full",
    reveal: Reveal = "instructions",
) -> str:
    """What an agent is told of a task, the rules and the three deliverables."""
    view, prompt = task.prompt_view(), template(hints, reveal)
    values = {
        "question": view.question,
        "method": view.method,
        "instructions": view.instructions or "None beyond the method.",
        "masked": "\n".join(f"- {path}" for path in view.masked) or "- nothing besides the README",
        "packages": ", ".join(packages) or "what its system has",
        "minutes": f"{policy.limits.minutes:g}",
        "limits": limits_in_words(policy),
        "network": _NETWORKS[policy.network],
        "workspace": workspace,
    }
    return prompt.fill(**{name: values[name] for name in prompt.placeholders})


def limits_in_words(policy: Policy) -> str:
    """Everything that an agent is held to, in one line."""
    limits = policy.limits
    said = [
        f"{limits.minutes:g} minutes of work, in which waiting for the model's provider does not count",
        f"{limits.wall_minutes:g} minutes in all" if limits.wall_minutes else "",
        f"{limits.turns} answers of the model" if limits.turns else "",
        f"{limits.tokens:,} tokens" if limits.tokens else "",
        f"{limits.dollars:g} dollars for calls of the model" if limits.dollars else "",
        f"{limits.cpus:g} processors" if limits.cpus else "",
        f"{limits.memory_mib} MiB of memory for all processes together"
        if limits.memory_mib
        else "",
        f"{limits.processes} processes" if limits.processes else "",
        f"{limits.disk_mib} MiB of new files" if limits.disk_mib else "",
        f"{policy.gpus} GPUs" if policy.gpus else "no GPU",
    ]
    return "; ".join(filter(None, said))


def revealed(task: ResearchTask, reveal: Reveal) -> ResearchTask:
    """The task for an agent that reads its fields instead of the prompt: without what it is not told."""
    hidden: dict[Reveal, tuple[str, ...]] = {
        "question": ("method", "instructions"),
        "method": ("instructions",),
        "instructions": (),
    }
    return task.model_copy(update=dict.fromkeys(hidden[reveal], ""))
