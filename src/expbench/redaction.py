"""Secrets by value: what must not stand in anything that is kept, shown or given to a sandbox (R46).

Prefixes and patterns miss the keys of some vendors, so what is hidden is the values themselves, of
every environment variable whose name or content says that it is secret, in the spellings that they
have in JSON, in addresses and in base64. :func:`protect` is called once by the command line; whatever
writes (the run's journal and store, reports, Inspect's logs, the terminal, files and commands for a
sandbox) asks :func:`redacted` or :func:`redacted_bytes`.

Texts of errors, which providers write, are also searched for what looks like a key
(:func:`redacted_error`); submissions are not, since an agent's text may look like anything.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from pydantic import BaseModel

_Record = TypeVar("_Record", bound="BaseModel")

_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:keys?|pass|auth|pat|dsn|cookies?|bearer|signature|webhook|credentials?)(?:[_-]|$)"
    r"|(?:api_?key|access_?key|tokens?|secrets?|passwords?|passwd|passphrase|credentials?|connection_string)"
    r"(?:[_-]|$)",
    re.IGNORECASE,
)
_NO_SECRET_NAME = re.compile(
    r"[_-](?:SOCK|FILE|PATH|DIR|URL|URI|NAME|ID|TYPE|AT|LIFETIME|TIMEOUT|METHOD)$", re.IGNORECASE
)
_SHORTEST = 8
"""Characters of a value that can be hidden without hiding ordinary words: *none*, *true*, *5432*."""
_LOOKS_SECRET = re.compile(
    r"(?P<lead>\bBearer\s+|\bBasic\s+|[?&](?:api[_-]?)?(?:key|token|sig|signature)=)[\w.~+/=%-]{8,}"
    r"|\b(?:sk|pk|rk)-[\w-]{20,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bA[KS]IA[A-Z0-9]{16}\b"
    r"|\bAIza[\w-]{30,}|\bhf_\w{20,}|\bxox[abpr]-[\w-]{10,}|\bgsk_\w{20,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+"
)


class _Hidden(NamedTuple):
    text: str
    data: bytes
    shown: str


_hidden: list[_Hidden] = []


def secrets_of(variables: Mapping[str, str]) -> dict[str, str]:
    """The values of an environment that must be hidden, by what they are shown as.

    A variable counts by its name (*key*, *token*, *password* …), and the password in an address counts
    whatever the variable is called. Values shorter than eight characters cannot be told from words.
    """
    found: dict[str, str] = {}
    for name, value in variables.items():
        if _SECRET_NAME.search(name) and not _NO_SECRET_NAME.search(name):
            found[name] = value.strip()
        elif "://" in value and (password := _password(value)):
            found[name] = password
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST}


def protect(secrets: Mapping[str, str]) -> None:
    """Hide these values from now on, for this whole process; each is shown as ``[secret NAME]``."""
    spellings = {
        (spelling, f"[secret {name}]")
        for name, value in secrets.items()
        for spelling in _spellings(value)
    }
    # The longest first, so that no part of a value is left when another value is inside it.
    ordered = sorted(spellings, key=lambda each: (-len(each[0]), each))
    _hidden[:] = [_Hidden(text, text.encode(), shown) for text, shown in ordered]


def redacted(text: str) -> str:
    """The text without secret values."""
    for each in _hidden:
        if each.text in text:
            text = text.replace(each.text, each.shown)
    return text


def redacted_bytes(data: bytes) -> bytes:
    """The bytes without secret values, also inside of what is no text."""
    for each in _hidden:
        if each.data in data:
            data = data.replace(each.data, each.shown.encode())
    return data


def redacted_error(text: str) -> str:
    """The text of an error without secret values and without what looks like a key of anybody's."""
    return _LOOKS_SECRET.sub(lambda match: f"{match['lead'] or ''}[secret]", redacted(text))


def looking_secret(text: str) -> str:
    """The beginning of the first thing in a text that looks like a key of anybody's; empty without one."""
    match = _LOOKS_SECRET.search(text)
    if match is None:
        return ""
    lead = len(match["lead"] or "")
    value = match[0][lead:]
    return f"{value[:4]}…, {len(value)} characters"


def without_secrets(record: _Record) -> _Record:
    """A record without secret values; the same one where it has none."""
    text = record.model_dump_json()
    clean = redacted(text)
    return record if clean == text else type(record).model_validate_json(clean)


def longest_secret() -> int:
    """Bytes of the longest value that is hidden; 0 where nothing is."""
    return max((len(each.data) for each in _hidden), default=0)


def _spellings(value: str) -> Iterable[str]:
    encoded = base64.b64encode(value.encode()).decode()
    found = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    found |= {quote(value), quote(value, safe=""), encoded, encoded.rstrip("=")}
    return (each for each in found if len(each) >= _SHORTEST)


def _password(address: str) -> str:
    try:
        return urlsplit(address).password or ""
    except ValueError:
        return ""
