"""No secret leaves in a bundle: what is known by value, and what looks like somebody's key."""

from __future__ import annotations

from expbench.errors import UserError
from expbench.redaction import longest_secret, looking_secret, redacted_bytes


def check(name: str, content: bytes, allowed: bool) -> None:
    """Refuse a file with the value of a secret, or with what looks like one unless that is ``allowed``.

    Raises:
        UserError: with the file's name, and not with the value.
    """
    if longest_secret() and redacted_bytes(content) != content:
        raise UserError(
            f"{name} holds the value of a secret of this environment, and cannot be handed on: it stands in "
            "what the agent handed in, so that taking it out would make it another submission."
        )
    if allowed:
        return
    if seen := looking_secret(content.decode("utf-8", errors="replace")):
        raise UserError(
            f"{name} holds what looks like a key ({seen}): if it is none, submit again with "
            "--allow-secret-looking."
        )
