"""Pure functions of Python's own and of well-known libraries, for working out constants.

Decoders, conversions, means and arithmetic on texts, numbers and lists, each bounded in what it can
make. An array is a list that adds and multiplies element by element.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import json
import math
import re
import shlex
import statistics
import struct
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from expbench.monitor.programs import named
from expbench.syntax import literal

MOST = 20_000
"""Most characters, bytes or elements of a value."""
_LARGEST = 10.0**30
_MOST_COUNTED = 2_000
_GROWING = 1_000_000


class UnknownError(Exception):
    """The expression has no value that could be known."""


class Array(list[Any]):
    """A list with an array's arithmetic."""


def bounded(value: Any) -> Any:
    """The value itself. Raises UnknownError for one that is too large."""
    if isinstance(value, str | bytes | list | tuple | dict) and len(value) > MOST:
        raise UnknownError("too large")
    if isinstance(value, int | float) and abs(value) > _LARGEST:
        raise UnknownError("too large")
    return value


def inflated(data: bytes) -> bytes:
    """What zlib, gzip or raw deflate data hold, at most ``MOST`` bytes."""
    return zlib.decompressobj(47).decompress(data, MOST)


def unbase64(text: str | bytes) -> bytes:
    """Base64 of either alphabet, with or without its padding."""
    plain = text.encode() if isinstance(text, str) else text
    plain = re.sub(rb"\s", b"", plain).replace(b"-", b"+").replace(b"_", b"/")
    return base64.b64decode(plain + b"=" * (-len(plain) % 4))


def _codec(value: Any, name: str = "utf-8") -> Any:
    plain = name.lower().replace("_", "").replace("-", "")
    if plain == "rot13":
        return codecs.decode(value, "rot13")
    data = value.encode() if isinstance(value, str) else value
    if plain in {"hex", "hexcodec"}:
        return binascii.unhexlify(data)
    if plain in {"base64", "base64codec"}:
        return unbase64(data)
    if plain in {"zlib", "zlibcodec"}:
        return inflated(data)
    if plain in {"utf8", "ascii", "latin1"}:
        return data.decode(plain)
    raise UnknownError(name)


def _typed_array(data: bytes, form: Any) -> list[float]:
    """The numbers of a buffer, by the name of their type."""
    code = {"float64": "d", "float32": "f", "f8": "d", "f4": "f"}[str(form).lstrip("<=")]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def _joined(*parts: Any) -> str:
    return "/".join(str(part).rstrip("/") or "/" for part in parts)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "b64decode": unbase64,
    "urlsafe_b64decode": unbase64,
    "standard_b64decode": unbase64,
    "a2b_base64": unbase64,
    "decodebytes": unbase64,
    "b32decode": base64.b32decode,
    "b16decode": base64.b16decode,
    "b85decode": base64.b85decode,
    "a85decode": base64.a85decode,
    "unhexlify": binascii.unhexlify,
    "a2b_hex": binascii.unhexlify,
    "fromhex": bytes.fromhex,
    "decompress": inflated,
    "codecs.decode": _codec,
    "shlex.split": lambda text: shlex.split(text),
    "struct.unpack": lambda form, data: list(struct.unpack(form, data)),
    "frombuffer": lambda data, form="float64": Array(_typed_array(data, form)),
    "json.loads": json.loads,
    "literal_eval": literal,
    "path.join": _joined,
    "Path": _joined,
    "PurePath": _joined,
    "chr": chr,
    "ord": ord,
    "str": lambda value="", *rest: _codec(value, *rest) if rest else str(value),
    "int": int,
    "float": float,
    "bytes": lambda value=b"", *rest: bytes(value, *rest) if _small(value) else b"",
    "bytearray": lambda value=b"": bytes(value) if _small(value) else b"",
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "array": lambda value: Array(elements(value)),
    "asarray": lambda value: Array(elements(value)),
    "mean": lambda value: statistics.fmean(_flat(value)),
    "fmean": lambda value: statistics.fmean(_flat(value)),
    "average": lambda value: statistics.fmean(_flat(value)),
    "median": lambda value: statistics.median(_flat(value)),
    "std": lambda value, ddof=0: _deviation(value, ddof),
    "pstdev": lambda value: _deviation(value, 0),
    "stdev": lambda value: _deviation(value, 1),
    "items": lambda value: [list(pair) for pair in value.items()],
    "values": lambda value: list(value.values()),
    "keys": lambda value: list(value),
    "zip": lambda *lists: [list(row) for row in zip(*lists, strict=False)],
    "enumerate": lambda value, start=0: [list(row) for row in enumerate(value, start)],
    "range": lambda *bounds: _counted(*bounds),
    "reversed": lambda value: value[::-1],
    "sorted": sorted,
    "round": round,
    "sum": sum,
    "abs": abs,
    "max": max,
    "min": min,
    "len": len,
    "hex": hex,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "float64": float,
    "float32": float,
    "Decimal": float,
    "Fraction": lambda one, other=1: float(one) / float(other),
}
METHODS = named(
    """
    decode encode format join lower lstrip removeprefix removesuffix replace rsplit rstrip split
    splitlines strip swapcase title upper zfill
    """
)


def _flat(value: Any) -> list[float]:
    """The numbers of a list, or of a list of lists."""
    found: list[float] = []
    for each in elements(value):
        found += _flat(each) if isinstance(each, list | tuple) else [float(each)]
        bounded(found)
    return found


def _deviation(value: Any, ddof: int) -> float:
    numbers = _flat(value)
    mean = statistics.fmean(numbers)
    return math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - ddof))


def _counted(*bounds: int) -> list[int]:
    counted = range(*bounds)
    if len(counted) > _MOST_COUNTED:
        raise UnknownError("too long")
    return list(counted)


def _small(value: Any) -> bool:
    return not isinstance(value, int)


def function(name: str) -> Callable[..., Any] | None:
    """The pure function of a dotted name, if there is one."""
    parts = name.split(".")
    last = parts[-1]
    if name in _FUNCTIONS or last not in METHODS:
        return _FUNCTIONS.get(name) or _FUNCTIONS.get(".".join(parts[-2:])) or _FUNCTIONS.get(last)
    return _FUNCTIONS.get(".".join(parts[-2:]))


def method(owner: str | bytes, name: str, arguments: list[Any]) -> Any:
    """What a method of a text gives. Raises UnknownError for what could grow too large."""
    if name == "join":
        arguments = [list(elements(arguments[0]))]
    sizes = [len(each) for each in arguments if isinstance(each, str | bytes | list)]
    wide = name == "format" and re.search(r"\d{4}|\{[^}]*\{", str(owner))
    if (
        wide
        or len(owner) * max(sizes, default=1) > _GROWING
        or (name == "zfill" and arguments[0] > MOST)
    ):
        raise UnknownError(name)
    return getattr(owner, name)(*arguments)


def elements(value: Any) -> Iterable[Any]:
    """The elements of a value. Raises UnknownError for what has none."""
    if isinstance(value, str | bytes | list | tuple | dict):
        return value
    raise UnknownError("not iterable")


def arithmetic(operator: ast.operator, one: Any, other: Any) -> Any:
    """The value of an operation on two constants. Raises UnknownError for what could grow too large."""
    if isinstance(one, Array) or isinstance(other, Array):
        return _by_element(operator, one, other)
    if isinstance(operator, ast.Add):
        return one + other
    if isinstance(operator, ast.Mod):
        if isinstance(one, str) and re.search(r"\d{4}|\*", one):
            raise UnknownError("too wide")
        return one % (tuple(other) if isinstance(other, list) else other)
    if isinstance(operator, ast.Div) and isinstance(one, str):
        return _joined(one, other)
    if isinstance(operator, ast.Mult) and isinstance(one, str | bytes | list | int):
        size = len(one) if not isinstance(one, int) else 1
        times = other if isinstance(other, int) else 1
        if not isinstance(other, int | float):
            raise UnknownError("repeated")
        if size * abs(times) > MOST and not isinstance(one, int):
            raise UnknownError("too large")
    if isinstance(operator, ast.Pow) and abs(other) > 64:
        raise UnknownError("too large")
    simple: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Div: lambda a, b: a / b,
        ast.FloorDiv: lambda a, b: a // b,
        ast.Pow: lambda a, b: a**b,
        ast.BitXor: lambda a, b: a ^ b,
    }
    if type(operator) not in simple:
        raise UnknownError(type(operator).__name__)
    return simple[type(operator)](one, other)


def _by_element(operator: ast.operator, one: Any, other: Any) -> Array:
    size = len(one) if isinstance(one, list) else len(other)
    lefts = one if isinstance(one, list) else [one] * size
    rights = other if isinstance(other, list) else [other] * size
    if len(lefts) != len(rights):
        raise UnknownError("shapes")
    return Array(arithmetic(operator, a, b) for a, b in zip(lefts, rights, strict=True))
