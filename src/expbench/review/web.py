"""The page and what it asks for, answered with the records of :mod:`~expbench.review.views` as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from expbench.construct.decisions import decisions
from expbench.construct.records import Decision
from expbench.errors import ExpbenchError, NotFoundError
from expbench.report.templating import html_templates
from expbench.review.agreeing import agree
from expbench.review.book import Asked, Book, StaleError
from expbench.review.project import fault_of
from expbench.review.showing import agreement_rows, alpha_text
from expbench.review.views import FieldView, Subject, TaskView, for_reviewer, progress
from expbench.schema import Record

_ASSETS = {
    "app.js": "text/javascript",
    "panes.js": "text/javascript",
    "fields.js": "text/javascript",
    "saving.js": "text/javascript",
    "texts.js": "text/javascript",
    "review.css": "text/css",
    "icon.svg": "image/svg+xml",
}


class RefusedError(Exception):
    """A decision that makes no sense, in one sentence for the reviewer."""


@dataclass(frozen=True)
class Desk:
    """What is reviewed and by whom."""

    subject: Subject
    book: Book
    root: Path

    def overview(self) -> dict[str, Any]:
        tasks = progress(self.subject, self.book.all())
        return {
            "kind": self.subject.kind,
            "title": self.subject.title,
            "owner": hashlib.sha256(str(self.root.resolve()).encode()).hexdigest()[:16],
            "reviewer": self.book.reviewer,
            "blind": self.subject.blind,
            "tasks": [{**_json(each), "total": each.total} for each in tasks],
            "pages": [_json(each) for each in self.subject.pages()],
        }

    def task(self, task_id: str) -> TaskView:
        return for_reviewer(self.subject.task(task_id), self.book.all(), self.subject.blind)

    def decide(self, asked: Asked) -> FieldView:
        """Keep a decision; the field as it is then.

        Raises:
            RefusedError: it makes no sense, or the field is another one by now.
            StaleError: there is a newer one.
        """
        view = self.subject.task(asked.draft)
        field = next((each for each in view.fields if each.name == asked.field), None)
        if field is None or field.of != asked.of:
            raise RefusedError(
                "A later stage has written this field anew since it was shown: load the task again."
            )
        if (why := _fault(field, asked)) is not None:
            raise RefusedError(why)
        self.book.add(asked, seen=not self.subject.blind and field.shown is not None)
        return self.field(view, asked.field)

    def field(self, view: TaskView, name: str) -> FieldView:
        """A field as it is for the reviewer now."""
        found = for_reviewer(view, self.book.all(), self.subject.blind)
        return next(each for each in found.fields if each.name == name)


def _fault(field: FieldView, asked: Asked) -> str | None:
    """Why a decision on the field makes no sense."""
    if asked.kind == "undo":
        return None
    if field.kind == "label":
        fine = asked.kind == "label" and asked.value in [name for name, _ in field.choices]
        return None if fine else "Choose one of the labels."
    if asked.kind == "label":
        return "Accept the field, fix it, or reject it."
    if asked.kind == "reject" and not asked.reason.strip():
        return "Say in a few words why it is rejected."
    if asked.kind == "fix":
        return fault_of(field.value, asked.value) or None
    return None


def application(desk: Desk) -> Starlette:
    """The page's routes, without their guard."""

    async def page(request: Request) -> Response:
        return HTMLResponse(_file("index.html").decode())

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "house.css":
            house = resources.files("expbench.report") / "templates" / "style.css"
            return Response(house.read_bytes(), media_type="text/css")
        if name not in _ASSETS:
            return PlainTextResponse("There is no such file.", 404)
        return Response(_file(name), media_type=_ASSETS[name])

    async def overview(request: Request) -> Response:
        return await _answer(desk.overview)

    async def task(request: Request) -> Response:
        asked = request.query_params.get("id", "")
        return await _answer(lambda: _json(desk.task(asked)))

    async def lines(request: Request) -> Response:
        asked = request.query_params
        first, last = (_number(asked.get(name)) for name in ("first", "last"))
        return await _answer(lambda: _json(desk.subject.lines(asked.get("path", ""), first, last)))

    async def turns(request: Request) -> Response:
        asked = request.query_params
        return await _answer(
            lambda: list(desk.subject.turns(asked.get("id", ""), _number(asked.get("at"))))
        )

    async def picture(request: Request) -> Response:
        content = await run_in_threadpool(desk.subject.picture, request.path_params["number"])
        if content is None:
            return PlainTextResponse("There is no picture of this page.", 404)
        return Response(content, media_type="image/png")

    async def decide(request: Request) -> Response:
        try:
            asked = Asked.model_validate_json(await request.body())
        except ClientDisconnect:
            return PlainTextResponse("The decision is too long.", 413)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            return _said(f"The decision is not well formed at {place or 'top'}.", 400)
        try:
            return await _answer(lambda: _json(desk.decide(asked)))
        except RefusedError as error:
            return _said(str(error), 422)
        except StaleError as error:
            return await run_in_threadpool(stale, asked, error.newest)

    def stale(asked: Asked, newest: Decision) -> Response:
        field = desk.field(desk.subject.task(asked.draft), asked.field)
        said = (
            f"This field was decided in another tab at {newest.at[11:19]} UTC ({newest.kind}), so yours was "
            "not kept. The newer one is shown; what you had written is still here."
        )
        return _said(said, 409, field=_json(field))

    async def agreement(request: Request) -> Response:
        return await run_in_threadpool(agreement_page)

    def agreement_page() -> Response:
        found = agree(desk.subject.tasks(), decisions(desk.root))
        page = html_templates("expbench.review").get_template("agreement.html")
        return HTMLResponse(
            page.render(
                title=desk.subject.title,
                found=found,
                rows=agreement_rows(found),
                alpha=alpha_text(found),
            )
        )

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", asset),
            Route("/overview", overview),
            Route("/task", task),
            Route("/lines", lines),
            Route("/turns", turns),
            Route("/page/{number:int}.png", picture),
            Route("/decision", decide, methods=["POST"]),
            Route("/agreement", agreement),
        ]
    )


async def _answer(body: Callable[[], Any]) -> Response:
    """What a body gives as JSON, or its error in words."""
    try:
        return _as_json(await run_in_threadpool(body), 200)
    except NotFoundError as error:
        return _said(str(error), 404)
    except ExpbenchError as error:
        return _said(str(error), 500)
    except OSError as error:
        return _said(f"It could not be kept: {error.strerror or error}.", 507)


def _said(sentence: str, code: int, **more: Any) -> Response:
    return _as_json({"message": sentence, **more}, code)


def _as_json(value: Any, code: int) -> Response:
    # Lone surrogates, which a JSON file can hold, stay escapes.
    return Response(json.dumps(value), code, media_type="application/json")


def _json(record: Record) -> Mapping[str, Any]:
    return record.model_dump(mode="python")


def _number(text: str | None) -> int:
    """A number of a line or turn; 0 for what is none."""
    return (
        int(text)
        if text is not None and text.isascii() and text.isdecimal() and len(text) < 10
        else 0
    )


def _file(name: str) -> bytes:
    return (resources.files("expbench.review") / "static" / name).read_bytes()
