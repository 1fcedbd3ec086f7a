"""Stages with a provider of the OpenAI kind on loopback: real requests, tools, usage, prices."""

from __future__ import annotations

import base64
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
from expbench.construct.forecasts import estimate
from expbench.construct.locating import Bounds
from expbench.construct.task import value
from expbench.papers.document import Document
from expbench.paths import CachePaths
from expbench.prices import read_prices, use_prices
from expbench.sandboxes.host import SandboxHost

PAPER, MODEL = "calibration", "openai-api/fake/clever"
DOCUMENT = document_of(PAPER, 1)
TASK = tasks_of(PAPER)[0]
TABLE = b"\x89PNG the table"
USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}


def quiet(sentence: str) -> None:
    """Hears nothing."""


def played(script: Script) -> Callable[[int, Any], Reply]:
    """Answers by the script's replies, as the scripted model gives them."""

    def answer(number: int, body: Any) -> Reply:
        content = body["messages"][-1]["content"]
        last = content if isinstance(content, str) else "".join(p.get("text", "") for p in content)
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


def pictured(crops: dict[str, str]) -> Document:
    """The document with elements that have pictures, by their ids, after the first paragraph."""
    like = DOCUMENT.elements[3]
    tables = [
        like.model_copy(update={"id": name, "kind": "table", "text": f"of {name}", "crop": crop})
        for name, crop in crops.items()
    ]
    first, rest = DOCUMENT.elements[:4], DOCUMENT.elements[4:]
    return DOCUMENT.model_copy(update={"elements": (*first, *tables, *rest)})


@pytest.mark.parametrize("pictures", [True, False])
def test_a_model_that_sees_is_shown_the_crops_and_nothing_else_of_the_machine(
    pictures: bool, tmp_path: Path, cache: CachePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    crops = {"good": "crops/t.png", "away": "../../secret.png", "none": "crops/none.png"}
    document = pictured(crops)
    project, script = begun(PAPER, tmp_path, cache, document), Script(tmp_path / "script.json")
    (project.root / "paper" / "crops").mkdir(exist_ok=True)
    (project.root / "paper" / "crops" / "t.png").write_bytes(TABLE)
    (project.root.parent / "secret.png").write_bytes(b"\x89PNG secret")
    script.extraction(document, [TASK])
    with provider(played(script)) as server:
        monkeypatch.setenv("FAKE_API_KEY", "k")
        monkeypatch.setenv("FAKE_BASE_URL", f"{server.url}/v1")

        def extract() -> None:
            desk = Desk(project, "extract", MODEL)
            stages.extract(desk, search_in(document), quiet, pictures)

        extract()
        sent = [
            part["image_url"]["url"]
            for _, body in server.seen
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] == "image_url"
        ]
        wanted = f"data:image/png;base64,{base64.b64encode(TABLE).decode()}"
        assert set(sent) == ({wanted} if pictures else set())
        (draft,) = project.drafts()
        assert not draft.refused
        seen = [json.dumps(body) for _, body in server.seen]
        assert any("in this order: good." in each for each in seen) is pictures


def test_the_estimate_counts_pictures(tmp_path: Path, cache: CachePaths) -> None:
    project = begun(PAPER, tmp_path, cache, pictured({"good": "crops/t.png"}))
    plain, large = (estimate(project, "extract", MODEL, each) for each in (False, True))
    assert plain.calls == large.calls and plain.input_tokens < large.input_tokens
