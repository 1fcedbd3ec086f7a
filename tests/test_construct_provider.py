"""Stages with a provider of the OpenAI kind on loopback: real requests, tools, usage, prices."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from construct_papers import COMMANDS, Script, begun, document_of, search_in, submission, tasks_of
from fake_provider import Reply, chat_body, provider

from expbench.construct import stages
from expbench.construct.desk import Desk
from expbench.construct.locating import Bounds
from expbench.construct.task import value
from expbench.paths import CachePaths
from expbench.prices import read_prices, use_prices
from expbench.sandboxes.host import SandboxHost

PAPER, MODEL = "calibration", "openai-api/fake/clever"
DOCUMENT = document_of(PAPER, 1)
TASK = tasks_of(PAPER)[0]
USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}


def quiet(sentence: str) -> None:
    """Hears nothing."""


def played(script: Script) -> Callable[[int, Any], Reply]:
    """Answers by the script's replies, as the scripted model gives them."""

    def answer(number: int, body: Any) -> Reply:
        content = body["messages"][-1]["content"]
        last = content if isinstance(content, str) else "".join(p["text"] for p in content)
        found = next(r for r in script.replies if re.search(r["when"], last, re.DOTALL))
        calls = [
            {
                "id": f"call-{number}-{place}",
                "type": "function",
                "function": {"name": call["tool"], "arguments": json.dumps(call["arguments"])},
            }
            for place, call in enumerate(found["calls"])
        ]
        more: dict[str, Any] = {"tool_calls": calls} if calls else {}
        return Reply(chat_body(found["text"], USAGE, **more))

    return answer


def test_a_provider_is_asked_once_and_its_price_is_counted(
    tmp_path: Path, cache: CachePaths, host: SandboxHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, script = begun(PAPER, tmp_path, cache, DOCUMENT), Script(tmp_path / "script.json")
    script.extraction(DOCUMENT, [TASK])
    look = {"tool": "bash", "arguments": {"command": "ls scripts; echo LOOKED"}}
    script.say("Find the authors' own programs", "I look around.", [look])
    script.say("LOOKED", "", [submission(TASK, COMMANDS[PAPER][:1])])
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"models": {MODEL: {"input": 1.0, "output": 10.0}}}), "utf-8")
    use_prices(read_prices(file))
    search = search_in(DOCUMENT)
    try:
        with provider(played(script)) as server:
            monkeypatch.setenv("FAKE_API_KEY", "k")
            monkeypatch.setenv("FAKE_BASE_URL", f"{server.url}/v1")

            def locate() -> None:
                desk = Desk(project, "locate", MODEL, dollars=1.0)
                stages.locate(desk, search, Bounds(minutes=5), host, quiet)

            stages.extract(Desk(project, "extract", MODEL, dollars=1.0), search, quiet)
            locate()
            (draft,) = project.drafts()
            assert value(draft, "commands") == COMMANDS[PAPER][:1]
            asked = len(server.seen)
            spent = project.journal.spent()
            assert spent.calls == asked
            # 1,000 tokens in at 1 dollar and 100 out at 10 dollars a million, for each call.
            assert spent.dollars == pytest.approx(asked * 0.002)
            kept = {n: f for n, f in draft.fields.items() if f.stage == "extract"}
            project.save_draft(draft.model_copy(update={"fields": kept}))
            locate()
            assert len(server.seen) == asked
        (again,) = project.drafts()
        assert again.fields["source"] == draft.fields["source"]
    finally:
        use_prices(None)
