"""Live services: OpenReview (API 2), Semantic Scholar (Graph API 1) and GitHub (REST).

Each gives the same records as its exports do. A service that asks for patience is given it, within
bounds; every listing is bounded in records and pages. Addresses can be others', for mirrors and tests.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from expbench.candidates.reading import candidate_of
from expbench.candidates.record import Candidate
from expbench.errors import NotFoundError, PrerequisiteError

_SECONDS = 30.0
_TRIES = 4
_LONGEST_WAIT = 60.0
_PAGES = 1000
_ANSWER = 64 * 1024 * 1024
_BUSY = frozenset({403, 429, 500, 502, 503, 504})
_PAPER = "title,venue,year,citationCount,externalIds,openAccessPdf,abstract"


@dataclass(frozen=True)
class Service:
    """One service at its address. ``wait`` is how it waits, in seconds."""

    address: str
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: Callable[[float], None] = time.sleep

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> bytes:
        """What the service answers, after waiting as it asks.

        Raises:
            NotFoundError: it has nothing there.
            PrerequisiteError: it cannot be reached, refuses, or stays busy.
        """
        address = f"{self.address}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        request = urllib.request.Request(address, headers=dict(self.headers))
        why = ""
        for attempt in range(_TRIES):
            try:
                with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                    content: bytes = answer.read(_ANSWER + 1)
                if len(content) > _ANSWER:
                    raise PrerequisiteError(
                        f"{address} answers with more than {_ANSWER >> 20} MiB."
                    )
                return content
            except urllib.error.HTTPError as error:
                why = f"{error.code} {error.reason}"
                if error.code == HTTPStatus.NOT_FOUND:
                    raise NotFoundError(f"{address} is not there.") from None
                if error.code not in _BUSY or not self._patience(error.headers, attempt):
                    break
            except (OSError, ValueError) as error:
                why = str(error)
                self.wait(2.0**attempt)
        raise PrerequisiteError(
            f"{address} gives no answer ({why}): try later, give a token, or read an export."
        )

    def json(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """The same as JSON. Raises also PrerequisiteError where it is none."""
        content = self.get(path, query)
        try:
            return json.loads(content)
        except ValueError:
            raise PrerequisiteError(f"{self.address}{path} answers with no JSON.") from None

    def _patience(self, headers: Any, attempt: int) -> bool:
        """Wait as the answer asks; false where it asks for too long or says that the quota is used up."""
        asked = headers.get("Retry-After") or ""
        reset = headers.get("X-RateLimit-Reset") or ""
        if asked.isdecimal():
            seconds = float(asked)
        elif headers.get("X-RateLimit-Remaining") == "0" and reset.isdecimal():
            seconds = max(0.0, float(reset) - time.time())
        else:
            seconds = 2.0**attempt
        if seconds > _LONGEST_WAIT:
            return False
        self.wait(seconds)
        return True


@dataclass(frozen=True)
class OpenReview:
    """Accepted papers of a venue, by its id: ``NeurIPS.cc/2024/Conference``."""

    service: Service = field(default_factory=lambda: Service("https://api2.openreview.net"))

    def papers(self, venue: str, most: int) -> Iterator[Candidate]:
        """The venue's papers, at most so many. Raises PrerequisiteError and NotFoundError."""
        given = 0
        for page in range(_PAGES):
            size = min(1000, most - given)
            query: dict[str, str | int] = {
                "content.venueid": venue,
                "limit": size,
                "offset": page * 1000,
            }
            notes = _list(self.service.json("/notes", query), "notes") if size > 0 else []
            for candidate in _candidates(notes):
                given += 1
                yield candidate
            if len(notes) < size or size <= 0:
                return


@dataclass(frozen=True)
class Scholar:
    """Papers of a search, with their citations."""

    service: Service = field(
        default_factory=lambda: Service("https://api.semanticscholar.org/graph/v1")
    )

    def papers(self, query: str, venue: str, year: str, most: int) -> Iterator[Candidate]:
        """Papers that a bulk search finds, at most so many, the most cited first."""
        wanted = {"query": query, "venue": venue, "year": year, "sort": "citationCount:desc"}
        asked: dict[str, str | int] = {"fields": _PAPER, **{k: v for k, v in wanted.items() if v}}
        given = 0
        for _ in range(_PAGES):
            answer = self.service.json("/paper/search/bulk", asked)
            for candidate in _candidates(_list(answer, "data")):
                if given == most:
                    return
                given += 1
                yield candidate
            if not (token := answer.get("token")):
                return
            asked["token"] = str(token)

    def paper(self, title: str) -> Candidate | None:
        """The paper whose title is nearest; ``None`` where none is near."""
        try:
            answer = self.service.json("/paper/search/match", {"query": title, "fields": _PAPER})
        except NotFoundError:
            return None
        return next(_candidates(_list(answer, "data")), None)


@dataclass(frozen=True)
class GitHub:
    """What is known of a repository."""

    service: Service = field(default_factory=lambda: Service("https://api.github.com"))

    def repository(self, name: str) -> Candidate | None:
        """Its numbers and its README; ``None`` where there is no such repository."""
        try:
            found = candidate_of(self.service.json(f"/repos/{urllib.parse.quote(name)}"))
        except NotFoundError:
            return None
        return None if found is None else found.model_copy(update={"readme": self._readme(name)})

    def _readme(self, name: str) -> str:
        raw = Service(
            self.service.address,
            {**self.service.headers, "Accept": "application/vnd.github.raw+json"},
            self.service.wait,
        )
        try:
            return raw.get(f"/repos/{urllib.parse.quote(name)}/readme").decode("utf-8", "replace")
        except NotFoundError:
            return ""


def _list(answer: Any, name: str) -> list[Mapping[str, Any]]:
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise PrerequisiteError(f"The service's answer has no list {name!r}: its form has changed.")
    return [each for each in found if isinstance(each, dict)]


def _candidates(given: list[Mapping[str, Any]]) -> Iterator[Candidate]:
    yield from filter(None, map(candidate_of, given))
