"""What makes text of templates: every value that a template shows goes through one function here.

Values are hostile. In HTML each is escaped, in Markdown and LaTeX its signs lose their meaning; and control
characters and marks that reorder text are made visible everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Expr
from markupsafe import Markup

from expbench.report.latex import latex_safe
from expbench.report.text import one_line, printable

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def html_templates(*packages: str) -> Environment:
    """The templates of packages, the first that has one; all that they show is escaped."""
    return _environment(_Html, packages, html_safe, autoescape=True)


def markdown_templates(*packages: str) -> Environment:
    """The same for Markdown."""
    return _environment(Environment, packages, _markdown_safe, autoescape=False)


def latex_templates(*packages: str) -> Environment:
    """The same for LaTeX."""
    return _environment(Environment, packages, latex_safe, autoescape=False)


def html_safe(value: object) -> str:
    """A value as HTML that has no markup, unless a template made it."""
    if type(value) is str:
        return escape(value if value.isprintable() else printable(value))
    return value if isinstance(value, Markup) else escape(printable(str(value)))


class _OneCall(CodeGenerator):
    """Has :func:`html_safe` escape, and no second function after it: a page shows a million values.

    Were these two methods not called, values would be escaped twice, and never not at all.
    """

    def _output_child_pre(self, node: Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.finalize(")

    def _output_child_post(self, node: Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")


class _Html(Environment):
    code_generator_class = _OneCall

    getattr = staticmethod(getattr)  # type: ignore[assignment]
    """Templates are given records, which have no keys beside their attributes."""


def _environment(
    kind: type[Environment],
    packages: tuple[str, ...],
    shown: Callable[[object], object],
    *,
    autoescape: bool,
) -> Environment:
    return kind(
        loader=ChoiceLoader([PackageLoader(each) for each in packages]),
        auto_reload=False,
        finalize=shown,
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _markdown_safe(value: object) -> object:
    if not isinstance(value, str):
        return value
    return _MARKDOWN.sub(r"\\\1", printable(one_line(value, most=1000)))
