"""Which family a model is of: models of one maker learn from the same data, and like their own.

A family is read off the model's id, wherever it is served: ``openrouter/anthropic/claude-…``,
``bedrock/us.anthropic.claude-…`` and ``anthropic/claude-…`` are one. The id itself decides before the
names of organisations in front of it do. A distilled model belongs to the maker that taught it. What
nothing is known of has no family.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_ID = (
    ("deepseek", r"deepseek"),
    ("nvidia", r"nemotron"),
    ("openai", r"(?:chat)?gpt-?(?:\d|oss)|o[1345](?![0-9.a-z])|codex|davinci"),
    ("anthropic", r"claude"),
    ("google", r"gemini|gemma|palm-?2|text-bison"),
    ("amazon-nova", r"nova(?=-|\b)"),
    ("mistral", r"mi[sx]tral|magistral|ministral|codestral|devstral|pixtral|voxtral"),
    ("qwen", r"qwen|qwq|qvq"),
    ("xai", r"grok"),
    ("moonshot", r"kimi|moonshot"),
    ("zhipu", r"glm-?\d|chatglm"),
    ("cohere", r"command(?=-|\b)|c4ai|aya-"),
    ("microsoft", r"phi-?\d|mai-ds"),
    ("minimax", r"minimax|abab\d"),
    ("ibm", r"granite"),
    ("ai21", r"jamba|jurassic"),
    ("allenai", r"olmo|tulu"),
    ("meta-llama", r"(?:code-?)?llama|muse"),
)
"""What a model's own id says; the first that is found decides, so that what was distilled or tuned from
another's base stands before that base."""

_ORGANISATIONS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "meta-llama": "meta-llama",
    "meta": "meta-llama",
    "deepseek": "deepseek",
    "deepseek-ai": "deepseek",
    "qwen": "qwen",
    "mistral": "mistral",
    "mistralai": "mistral",
    "amazon": "amazon-nova",
    "grok": "xai",
    "x-ai": "xai",
    "xai": "xai",
    "moonshot": "moonshot",
    "moonshotai": "moonshot",
    "z-ai": "zhipu",
    "zai": "zhipu",
    "zai-org": "zhipu",
    "cohere": "cohere",
    "nvidia": "nvidia",
    "microsoft": "microsoft",
    "minimax": "minimax",
    "minimaxai": "minimax",
    "perplexity": "perplexity",
}
_PATTERNS = tuple((name, re.compile(rf"(?<![a-z])(?:{ids})")) for name, ids in _ID)


def family(model: str) -> str:
    """The family of ``provider/…/model``, such as "openai" or "meta-llama"; empty if unknown."""
    *path, name = model.lower().split("/")
    found = next((maker for maker, pattern in _PATTERNS if pattern.search(name)), "")
    known = (_ORGANISATIONS[part] for part in reversed(path) if part in _ORGANISATIONS)
    return found or next(known, "")


def family_warnings(judges: Iterable[str], contestant: str) -> tuple[str, ...]:
    """Sentences on what makes these judges of ``contestant`` (a model's name) less believable."""
    sharing: dict[str, list[str]] = defaultdict(list)
    found = []
    own = family(contestant)
    for judge in judges:
        kin = family(judge)
        if contestant and (judge == contestant or (kin and kin == own)):
            relation = f"a model of the family {kin} as" if judge != contestant else "also"
            found.append(
                f"The judge {judge} is {relation} the contestant {contestant}: models tend to "
                "favour their own kind."
            )
        if kin:
            sharing[kin].append(judge)
    found += [
        f"The judges {' and '.join(names)} are of one family, {kin}: they err on the same items, so "
        "their agreement says little."
        for kin, names in sharing.items()
        if len(names) > 1
    ]
    return tuple(found)
