"""Trees of Python source, made from many threads."""

from __future__ import annotations

import ast
import gc
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from expbench.syntax import literal, parse_expression, parse_python

SOURCE = "\n".join(
    f"def f{n}(a, b=(1, [2, {{3: 4}}])):\n    return [a * (b + {n})]" for n in range(60)
)


@pytest.fixture
def restless() -> Iterator[None]:
    """Every few allocations garbage is collected, and then another thread gets its turn."""

    def turn(*_: object) -> None:
        sum(range(100))

    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(turn)
    yield
    gc.callbacks.remove(turn)
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


def failures(work: Callable[[], object]) -> list[str]:
    found: list[str] = []

    def repeat() -> None:
        for _ in range(25):
            try:
                work()
            except BaseException as error:
                found.append(repr(error))

    threads = [threading.Thread(target=repeat) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize(
    "work",
    [
        lambda: parse_python(SOURCE),
        lambda: parse_expression("[" + ", ".join(["(1, {2: [3]})"] * 200) + "]"),
        lambda: literal("[" + ", ".join(["(1, {2: [3]})"] * 200) + "]"),
    ],
)
def test_threads_that_parse_at_once_do_not_fail_each_other(work: Callable[[], object]) -> None:
    assert failures(work) == []


def test_a_source_that_is_wrong_fails_as_python_fails_it() -> None:
    for wrong in ("def", "x = (", b"\xff\xfe\x00"):
        with pytest.raises((SyntaxError, ValueError)):
            parse_python(wrong)
    with pytest.raises(SyntaxError):
        parse_expression("x = 1")
    with pytest.raises(ValueError, match="malformed"):
        literal("open('x')")
    assert literal(" {'a': [1, -2.5]}") == {"a": [1, -2.5]}
    assert ast.unparse(parse_expression("a+b")) == "a + b"
