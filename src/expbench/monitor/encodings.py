"""What well-known text tools print, where all that goes into them is known.

``echo Z2l0IGxvZw== | base64 -d`` prints ``git log``, and the rules have to see that. :func:`printed` works
this out for a short list of tools; what is not known has no output (``None``), which hides nothing that
is written in plain text elsewhere. Inputs are bounded; no pattern of the agent is run as one.
"""

from __future__ import annotations

import ast
import base64
import gzip
import re
from collections.abc import Callable, Sequence

from expbench.monitor.constants import bindings, call_name, fold
from expbench.monitor.pure import UnknownError, inflated, unbase64
from expbench.syntax import parse_expression, parse_python

MOST = 20_000
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([abefnrtv\\'\"?]))"
)
_SIMPLE = dict(zip("abefnrtv\\'\"?", "\a\b\x1b\f\n\r\t\v\\'\"?", strict=True))
_SUBSTITUTE = re.compile(r"s([/|#,:@])((?:(?!\1)[^\\]){1,200})\1((?:(?!\1)[^\\]){0,500})\1(g?)")
_META = re.compile(r"[\[\]*+?(){}^$.\\&]")
_FORMAT = re.compile(r"%(?:[-0-9.]{0,6})([sbdfiq%])")
_CLASS = {"lower": "a-z", "upper": "A-Z", "digit": "0-9"}


def unescaped(text: str) -> str:
    r"""A text with the escapes of ``$'…'``, ``printf`` and ``echo -e`` resolved."""

    def one(match: re.Match[str]) -> str:
        hexadecimal, unicode, octal, simple = match.groups()
        if simple:
            return _SIMPLE[simple]
        return chr(int(hexadecimal or unicode or octal, 8 if octal else 16) % 0x110000)

    return _ESCAPE.sub(one, text)


def printed(words: Sequence[str], given: str | None) -> str | None:
    """What a command prints, or ``None`` where that is not known.

    Args:
        given: what stands on its standard input, where that is known.
    """
    if not words:
        return None
    program, arguments = words[0].rpartition("/")[2], list(words[1:])
    if any("$()" in word for word in words) or len(given or "") > MOST:
        return None
    tool = _TOOLS.get(program)
    try:
        found = tool(arguments, given) if tool is not None else None
    except (ValueError, IndexError, KeyError, OverflowError):
        return None
    return found[:MOST] if found is not None else None


def text_of(data: bytes) -> str:
    """Bytes as text: UTF-8 where they are, else one character for each."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def bytes_of(text: str) -> bytes:
    """The bytes behind a text of :func:`text_of`, as far as that can be known."""
    return text.encode("latin-1", "ignore") if "\x1f\x8b" in text[:2] else text.encode()


def print_of(code: str) -> str | None:
    """What a piece of Python prints that only prints constants."""
    try:
        tree = parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names, lines = bindings(tree), list[str]()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assign):
            continue
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or call_name(call.func) not in {"print", "stdout.write"}:
            return None
        try:
            lines.append(" ".join(str(fold(each, names)) for each in call.args))
        except UnknownError:
            return None
    return "\n".join(lines) + "\n" if lines else None


def _echo(arguments: list[str], given: str | None) -> str:
    escapes = False
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        escapes = escapes or "e" in arguments.pop(0)
    text = " ".join(arguments)
    return (unescaped(text) if escapes else text) + "\n"


def _printf(arguments: list[str], given: str | None) -> str | None:
    if not arguments or arguments[0] == "-v":
        return None
    form, values = unescaped(arguments[0]), arguments[1:]
    fields = [kind for kind in _FORMAT.findall(form) if kind != "%"]
    if not fields:
        return form.replace("%%", "%")
    parts, left = [], [unescaped(v) for v in values[:2000]] or [""]
    while left:
        taken = iter([*left[: len(fields)], *[""] * len(fields)])
        parts.append(_FORMAT.sub(lambda m, t=taken: "%" if m[1] == "%" else next(t), form))  # type: ignore[misc]
        left = left[len(fields) :]
    return "".join(parts)


def _cat(arguments: list[str], given: str | None) -> str | None:
    return given if all(a.startswith("-") or a == "/dev/stdin" for a in arguments) else None


def _decoder(
    decode: Callable[[str], bytes], encode: Callable[[bytes], bytes] = base64.b64encode
) -> Callable[[list[str], str | None], str | None]:
    def tool(arguments: list[str], given: str | None) -> str | None:
        switches = {"-d", "-D", "--decode", "-di", "-id", "-A", "-base64", "base64", "enc", "-a"}
        wanted = any(a in {"-d", "-D", "--decode", "-di", "-id"} for a in arguments)
        if given is None:
            return None
        if not wanted and not set(arguments) - {"-w0", "-w", "0", "--wrap=0"}:
            return encode(bytes_of(given)).decode() + "\n"
        if not wanted or set(arguments) - switches:
            return None
        return text_of(decode(given))

    return tool


def _unbase32(text: str) -> bytes:
    return base64.b32decode("".join(text.split()))


def _xxd(arguments: list[str], given: str | None) -> str | None:
    flags = "".join(a for a in arguments if a.startswith("-"))
    if given is not None and "p" in flags and "r" not in flags:
        return re.sub("(.{60})", r"\1\n", given.encode().hex()) + "\n"
    if given is None or "r" not in flags or any(not a.startswith("-") for a in arguments):
        return None
    return text_of(bytes.fromhex("".join(re.findall(r"[0-9a-fA-F]{2}", given))))


def _lines(arguments: list[str], given: str | None, first: bool) -> str | None:
    """``head`` and ``tail`` with a number of lines."""
    match = re.fullmatch(r"(?:-n ?|--lines=|-)([+-]?)(\d{1,6})", " ".join(arguments) or "-10")
    if given is None or match is None:
        return None
    lines, count = given.splitlines(keepends=True), int(match[2])
    if match[1] == "+":
        return "".join(lines[max(0, count - 1) :])
    if match[1] == "-":
        return "".join(lines[:-count] if count else lines)
    return "".join(lines[:count] if first else lines[-count:] if count else [])


def _rev(arguments: list[str], given: str | None) -> str | None:
    return None if given is None else "".join(s[::-1] + "\n" for s in given.splitlines())


def _gunzip(arguments: list[str], given: str | None) -> str | None:
    if given is None or any(not a.startswith("-") for a in arguments):
        return None
    try:
        return text_of(inflated(given.encode("latin-1")))
    except Exception:  # zlib's own error, or text that was no bytes
        return None


def _gzip(arguments: list[str], given: str | None) -> str | None:
    if given is None or any(re.fullmatch(r"-\w*d\w*|--decompress", a) for a in arguments):
        return _gunzip(arguments, given)
    if any(not a.startswith("-") for a in arguments):
        return None
    return gzip.compress(given.encode()[:MOST], mtime=0).decode("latin-1")


def _tr(arguments: list[str], given: str | None) -> str | None:
    if given is None:
        return None
    if arguments[0] == "-d":
        gone = set(_expanded(arguments[1]))
        return "".join(c for c in given if c not in gone)
    one, other = _expanded(arguments[0]), _expanded(arguments[1])
    if not other:
        return None
    other += other[-1] * max(0, len(one) - len(other))
    return given.translate({ord(a): b for a, b in zip(one, other, strict=False)})


def _expanded(letters: str) -> str:
    """``a-cx`` as ``abcx``."""
    plain = re.sub(r"\[:(\w+):\]", lambda m: _CLASS.get(m[1], ""), unescaped(letters))[:200]
    return re.sub(
        r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), 300) + 1))), plain
    )


def _sed(arguments: list[str], given: str | None) -> str | None:
    programs = [a for a in arguments if a != "-e"]
    if given is None or len(programs) != 1:
        return None
    return substituted(programs[0], given)


def substituted(program: str, text: str) -> str | None:
    """A text after sed's ``s/plain/plain/`` commands; ``None`` for any other program."""
    for command in re.split(r";(?=s\W)", program):
        match = _SUBSTITUTE.fullmatch(command.strip())
        if match is None or _META.search(match[2]) or "&" in match[3]:
            return None
        if match[4]:
            text = text.replace(match[2], match[3])
        else:
            text = "\n".join(s.replace(match[2], match[3], 1) for s in text.split("\n"))
        text = text[: 10 * MOST]
    return text


def _which(arguments: list[str], given: str | None) -> str | None:
    names = [a for a in arguments if not a.startswith("-")]
    return f"/usr/bin/{names[0]}\n" if len(names) == 1 and "/" not in names[0] else None


def _command(arguments: list[str], given: str | None) -> str | None:
    return _which(arguments, given) if arguments[:1] in (["-v"], ["-p"]) else None


def _python(arguments: list[str], given: str | None) -> str | None:
    return print_of(arguments[1]) if arguments[:1] == ["-c"] and len(arguments) > 1 else None


def _bc(arguments: list[str], given: str | None) -> str | None:
    """Sums of plain numbers, line by line."""
    if given is None or len(given) > 500:
        return None
    lines = []
    for part in re.split(r"[;\n]", given):
        if part.strip() and not part.strip().startswith("scale"):
            try:
                lines.append(str(fold(parse_expression(part.strip()))))
            except (UnknownError, SyntaxError):
                return None
    return "\n".join(lines) + "\n"


_TOOLS: dict[str, Callable[[list[str], str | None], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": lambda arguments, given: given,
    "base64": _decoder(unbase64),
    "base32": _decoder(_unbase32, base64.b32encode),
    "openssl": _decoder(unbase64),
    "xxd": _xxd,
    "rev": _rev,
    "head": lambda arguments, given: _lines(arguments, given, first=True),
    "tail": lambda arguments, given: _lines(arguments, given, first=False),
    "tr": _tr,
    "sed": _sed,
    "gunzip": _gunzip,
    "zcat": _gunzip,
    "gzip": _gzip,
    "which": _which,
    "command": _command,
    "type": lambda arguments, given: _which(arguments, given) if "-p" in arguments else None,
    "bc": _bc,
    "python": _python,
    "python3": _python,
}
