"""Encryption of a bundle's sealed part: AES-256-GCM in pieces, with `cryptography` (extra ``seal``).

Each file has a key of its own: from a key file by HKDF-SHA256, from a passphrase by scrypt, both with a
random salt. The pieces are numbered in their nonces and the last one is marked, so that none can be left
out, moved or cut off unseen (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár 2015).
"""

from __future__ import annotations

import base64
import binascii
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from pydantic import Field, ValidationError

from expbench.errors import DataError, NotFoundError, PrerequisiteError, UserError
from expbench.packing.members import Sink
from expbench.schema import Record

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

PIECE = 1 << 20
_TAG = 16
_HEAD_CAP = 4096
_COST = 2**17
_INFO = b"expbench sealed part"
_SHORTEST = 12


class _Head(Record):
    """The first line of a sealed file: how its key is made."""

    format: Literal["expbench-sealed-1"] = "expbench-sealed-1"
    key: Literal["file", "passphrase"]
    salt: str = Field(pattern=r"^[0-9a-f]{64}$")


@dataclass(frozen=True)
class Secret:
    """What opens a sealed part: 32 bytes of a key file, or a passphrase."""

    kind: Literal["file", "passphrase"]
    value: bytes


def new_key_file(path: Path) -> Secret:
    """Make a key file that only its owner can read.

    Raises:
        UserError: there is a file of that name.
        PrerequisiteError: it cannot be written.
    """
    key = secrets.token_bytes(32)
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UserError(
            f"{path} exists: give it with --key to use it again, or move it away for a new key."
        ) from None
    except OSError as error:
        raise PrerequisiteError(f"{path} cannot be written ({error.strerror}).") from None
    with os.fdopen(handle, "wb") as file:
        file.write(base64.b64encode(key) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return Secret("file", key)


def read_key_file(path: Path) -> Secret:
    """The key of a file. Raises NotFoundError, DataError."""
    try:
        with path.open("rb") as file:
            key = base64.b64decode(file.read(1024).strip(), validate=True)
    except OSError as error:
        raise NotFoundError(
            f"{path} cannot be read ({error.strerror}): give the key file."
        ) from None
    except binascii.Error:
        key = b""
    if len(key) != 32:
        raise DataError(f"{path} is no key file of `expbench submit --encrypt`.")
    return Secret("file", key)


def passphrase(text: str) -> Secret:
    """A passphrase as a secret. Raises UserError for one that is guessed soon."""
    if len(text) < _SHORTEST:
        raise UserError(f"The passphrase must have at least {_SHORTEST} characters.")
    return Secret("passphrase", text.encode())


class Sealer:
    """Encrypts what is written to it into a file; :meth:`close` ends it. Raises PrerequisiteError."""

    def __init__(self, file: Sink, secret: Secret) -> None:
        head = _Head(key=secret.kind, salt=secrets.token_hex(32))
        self._head = head.model_dump_json().encode() + b"\n"
        self._cipher = _cipher(head, secret)
        self._file = file
        self._number = 0
        self._waiting = bytearray()
        file.write(self._head)

    def write(self, content: bytes) -> int:
        self._waiting += content
        # One piece is always kept back, since the last one must be marked.
        while len(self._waiting) > PIECE:
            self._put(bytes(self._waiting[:PIECE]), last=False)
            del self._waiting[:PIECE]
        return len(content)

    def flush(self) -> None:
        """Nothing: pieces are written when they are whole."""

    def close(self) -> None:
        self._put(bytes(self._waiting), last=True)

    def _put(self, piece: bytes, last: bool) -> None:
        nonce = _nonce(self._number, last)
        self._file.write(self._cipher.encrypt(nonce, piece, self._head))
        self._number += 1


class Opener:
    """Reads what a :class:`Sealer` wrote.

    Raises:
        DataError: the key does not fit, or the file was changed or cut short.
        UserError: another kind of secret opens it.
    """

    def __init__(self, file: BinaryIO, secret: Secret) -> None:
        self._file = file
        self._head = file.readline(_HEAD_CAP)
        try:
            head = _Head.model_validate_json(self._head)
        except ValidationError:
            raise DataError("The sealed part is damaged, or of another version.") from None
        if head.key != secret.kind:
            way = "its key file: give it with --key" if head.key == "file" else "a passphrase"
            raise UserError(f"The sealed part is opened by {way}.")
        self._cipher = _cipher(head, secret)
        self._number = 0
        self._next = file.read(PIECE + _TAG)
        self._plain = b""
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._plain) < size):
            self._plain += self._piece()
        wanted = len(self._plain) if size < 0 else size
        content, self._plain = self._plain[:wanted], self._plain[wanted:]
        return content

    def _piece(self) -> bytes:
        from cryptography.exceptions import InvalidTag

        piece, self._next = self._next, self._file.read(PIECE + _TAG)
        self._ended = not self._next
        try:
            plain = self._cipher.decrypt(_nonce(self._number, self._ended), piece, self._head)
        except InvalidTag:
            raise DataError(
                "The sealed part does not open: the key is another one, or the file was changed."
            ) from None
        self._number += 1
        return plain


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


def _cipher(head: _Head, secret: Secret) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    except ImportError:
        raise PrerequisiteError(
            "Sealed parts need cryptography: install expbench with the extra `seal`."
        ) from None
    salt = bytes.fromhex(head.salt)
    if secret.kind == "file":
        key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=_INFO).derive(secret.value)
    else:
        key = Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(secret.value)
    return AESGCM(key)
