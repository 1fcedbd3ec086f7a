"""Whatever a repository holds, a trace ends, says what it could not read, and is the same again."""

# ruff: noqa: E501

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracer_repos import at, reached, traced, write

from expbench.tracer.chain import trace_chain

NAMES = (
    "a.sh",
    "b.py",
    "c.yaml",
    "d.json",
    "e.ipynb",
    "Makefile",
    "f.toml",
    "g.gin",
    "h.md",
    "setup.py",
)
FRAGMENTS = (
    "python b.py --config c.yaml\n", "for x in 1 2; do\n", "done\n", "${x:-", "$(dirname \"$0\")", "\"", "'", "`",
    "def f(", "class A:\n", "import a\n", "from . import *\n", "if __name__ == '__main__':\n", "    x = f'{", "lambda: 0\n",
    "a: &b\n", "  - c: d\n", "[x]\n", "x = 1\n", '{"cells": [', "]}", "<<EOF\n", "\\\n", "\t", "\x00", "﻿", "print 'x'\n",
)  # fmt: skip


def traceable(root: Path) -> None:
    trace = trace_chain(root, NAMES, "run `bash a.sh` or python b.py", "does it end?")
    for step in trace.steps:
        lines = (root / step.span.path).read_bytes().count(b"\n") + 1
        extra = (root / step.span.path).read_bytes().count(b"\r")
        assert 1 <= step.span.start <= step.span.end <= lines + extra
        assert 0 <= step.relevance <= 1
    assert trace == trace_chain(root, NAMES, "run `bash a.sh` or python b.py", "does it end?")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents=st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=400)))
def test_any_bytes_end_in_a_trace(tmp_path: Path, contents: dict[str, bytes]) -> None:
    traceable(write(tmp_path / os.urandom(8).hex(), contents | {"a.sh": contents.get("a.sh", b"")}))


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    contents=st.dictionaries(
        st.sampled_from(NAMES), st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
    )
)
def test_pieces_of_every_language_end_in_a_trace(tmp_path: Path, contents: dict[str, str]) -> None:
    traceable(write(tmp_path / os.urandom(8).hex(), {"a.sh": "", **contents}))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# -*- coding: latin-1 -*-\nname = '\xe9'\nprint(name)\n", "not UTF-8"),
        (b"name = '\xe9\xff'\nprint(name)\n", "not UTF-8"),
        (b"def f(:\n    pass\n\n\ndef g():\n    return 1\n", "no syntax tree"),
        (b"print 'hello', 1\n\n\ndef f(x):\n    raise ValueError, 'no'\n", "Python 2"),
        (b"\x00\x01binary\x00", "no text"),
        (b"x = " + b"(" * 5_000 + b")" * 5_000, "no syntax tree"),
        (b"x = 1\n" * 600_000, "too large"),
        (b"\xff\xfeg\xd8", "no syntax tree"),
    ],
)
def test_what_cannot_be_read_well_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    trace = traced(tmp_path, {"main.py": content}, "main.py")
    assert reached(trace) == {"main.py"}
    assert any("main.py" in note and said in note for note in trace.notes), trace.notes


def test_a_file_without_a_tree_has_its_definitions_by_their_lines(tmp_path: Path) -> None:
    trace = traced(
        tmp_path, {"main.py": "x = = 1\n\n\ndef work(a):\n    return a\n\n\nwork(2)\n"}, "main.py"
    )
    assert at(trace, "main.py", 4, 5).label == "work"


def test_python_2_is_followed(tmp_path: Path) -> None:
    files = {
        "main.py": "from lib import work\n\nprint 'start'\ntry:\n    work(3)\nexcept ValueError, error:\n    print error\n",
        "lib.py": "def work(n):\n    return n <> 2\n",
    }
    trace = traced(tmp_path, files, "main.py")
    assert at(trace, "lib.py", 1, 2).label == "def work(n)"


def test_a_byte_order_mark_and_foreign_line_endings_keep_the_lines(tmp_path: Path) -> None:
    trace = traced(
        tmp_path,
        {"run.sh": b"\xef\xbb\xbfpython main.py\r\n", "main.py": b"a = 1\r\n\r\nb = 2\r\n"},
        "run.sh",
    )
    assert at(trace, "main.py", 3).values == {"b": "2"}


def test_links_in_circles_and_out_of_the_repository_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.py": "KEY = 'x'\n"})
    root = write(
        tmp_path / "repo",
        {
            "main.py": "import secret, loop, inner\n\nprint(secret.KEY, inner.A)\n",
            "real.py": "A = 1\n",
        },
    )
    (root / "secret.py").symlink_to(outside / "secret.py")
    (root / "loop.py").symlink_to("loop.py")
    (root / "folder").symlink_to(".")
    (root / "inner.py").symlink_to("real.py")
    os.mkfifo(root / "pipe.py")
    trace = trace_chain(root, ["main.py", "pipe.py", "../outside/secret.py", "/etc/passwd"])
    assert reached(trace) == {"main.py", "inner.py"}
    assert any("leads out" in note for note in trace.notes)
    assert any("in circles" in note for note in trace.notes)


def test_scripts_that_run_each_other_end(tmp_path: Path) -> None:
    files = {"a.sh": "bash b.sh $1 x\nbash a.sh $1 $1\n", "b.sh": "bash a.sh $1 y\nsource b.sh\n"}
    assert reached(traced(tmp_path, files, "a.sh")) == {"a.sh", "b.sh"}


def test_a_repository_of_five_thousand_files_is_traced(tmp_path: Path) -> None:
    modules = {f"pkg/m{n}.py": f"def f():\n    return {n}\n" for n in range(5_000)}
    code = (
        "import importlib, sys\nimport pkg.m4999\n\nimportlib.import_module('pkg.' + sys.argv[1])\n"
    )
    every = "".join(f"from pkg import m{n}\n" for n in range(600))
    files = {**modules, "pkg/__init__.py": "", "main.py": code, "wide.py": every}
    trace = traced(tmp_path, files, "main.py", "wide.py")
    assert {"main.py", "wide.py", "pkg/m4999.py", "pkg/m1.py"} <= reached(trace)
    assert any("files are reached" in note for note in trace.notes)
    assert any("name that is not known" in note for note in trace.notes)


def test_deep_nesting_and_long_lines_end(tmp_path: Path) -> None:
    deep = "".join(f"{' ' * n}if x:\n" for n in range(90)) + " " * 90 + "y = 1\n"
    files = {
        "deep.py": deep,
        "sum.py": "x = " + "+".join(["1"] * 20_000) + "\n",
        "long.sh": "python deep.py " + "$A" * 50_000 + "\n" + "A=" + "(" * 50_000 + "\n",
        "wide.yaml": "".join(f"{'  ' * (n % 200)}k{n}: v\n" for n in range(3_000)),
        "flow.json": "[" * 100_000,
        "sets.sh": "A=1 " * 90_000
        + "\n"
        + "if " * 90_000
        + "\n"
        + "cd $(dirname $(dirname " * 20_000,
        "doubles.sh": "A=x\n"
        + "A=$A$A$A$A\n" * 60
        + "echo $A$A\n"
        + "for i in 1 2 3; do B=$B$i; done\n" * 200,
        "cells.ipynb": '{"cells": ' + "[" * 100_000,
    }
    usage = "a" * 150_000 + "/" * 50_000
    trace = traced(tmp_path, files, *files, usage=usage, question="b" * 100_000)
    assert reached(trace) == set(files)


def test_the_same_repository_gives_the_same_trace_in_any_order_of_its_making(
    tmp_path: Path,
) -> None:
    files = {f"m{n}.py": f"import m{(n + 1) % 9}\nVALUE_{n} = m{(n + 2) % 9}\n" for n in range(9)}
    files["run.sh"] = "for i in 1 2 3; do python m$i.py; done\n"
    names = list(files)
    first = traced(tmp_path / "one", files, "run.sh", question="value")
    random.Random(4).shuffle(names)
    assert (
        traced(tmp_path / "two", {name: files[name] for name in names}, "run.sh", question="value")
        == first
    )


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        trace_chain(tmp_path / "none", ["a.py"])
