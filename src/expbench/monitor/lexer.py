"""The words and operators of a shell text, in one pass that never fails.

Command substitutions are taken out of their words, where a mark with their number stays, and handed
back as texts of their own. Linear but for nesting: an inner text is read again by its own call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from expbench.monitor.encodings import unescaped

_OPERATOR = re.compile(r"<<<|<<-|<<|&>>|&>|>>|>\||>&|<&|<>|[<>](?!\()|&&|\|\||\|&|;;|[|&;()\n]")
_PLAIN = re.compile(r"[^ \t\r\n\v\f'\"\\$`|&;()<>]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_IN_BALANCED = re.compile(r"[^'\"\\()]+")
_DELIMITER = re.compile(r"[ \t]*(\\?)(['\"]?)([^\s'\"|&;()<>]{1,60})\2")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_MOST_HEREDOCS = 200
_MOST_TOKENS = 20_000
MARK = re.compile("\ue000([$<>])(\\d{0,6})\ue001")
"""What stands in a word for ``$(…)`` (``$``) and ``<(…)``, with the number of the inner text."""


@dataclass(frozen=True)
class Token:
    """A word (unquoted), an operator, or a here-document's body, with its place in the text."""

    kind: Literal["word", "operator", "heredoc"]
    text: str
    start: int
    end: int


def lex(text: str) -> tuple[list[Token], list[str]]:
    """The tokens of a text, and the texts of its command and process substitutions."""
    lexer = _Lexer(text)
    lexer.run()
    return lexer.tokens, lexer.inner


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[Token] = []
        self.inner: list[str] = []
        self.pending: list[tuple[int, str, bool, bool]] = []
        self.heredocs = 0

    def run(self) -> None:
        text = self.text
        while self.at < len(text) and len(self.tokens) < _MOST_TOKENS:
            char = text[self.at]
            if char in " \t\r\v\f":
                self.at += 1
            elif text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif (match := _OPERATOR.match(text, self.at)) is not None:
                self._operator(match[0])
            else:
                self._word()

    def _operator(self, operator: str) -> None:
        start = self.at
        self.at += len(operator)
        if operator in {"<<", "<<-"} and self.heredocs < _MOST_HEREDOCS:
            match = _DELIMITER.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                self.heredocs += 1
                literal = bool(match[1] or match[2])
                self.pending.append((len(self.tokens), match[3], operator == "<<-", literal))
                self.tokens.append(Token("heredoc", "", start, self.at))
                return
        self.tokens.append(Token("operator", operator, start, self.at))
        if operator == "\n":
            self._bodies()

    def _bodies(self) -> None:
        for place, delimiter, tabs, literal in self.pending:
            indent = r"\t*" if tabs else ""
            pattern = rf"^{indent}{re.escape(delimiter)}[ \t\r]*$"
            match = re.compile(pattern, re.MULTILINE).search(self.text, self.at)
            if match is None:
                continue
            body = self.text[self.at : match.start()]
            old = self.tokens[place]
            self.tokens[place] = Token("heredoc", body, old.start, old.end)
            self.at = min(match.end() + 1, len(self.text))
            if not literal:
                self._substitutions(body)
        self.pending.clear()

    def _substitutions(self, body: str) -> None:
        nested = _Lexer(body)
        parts: list[str] = []
        while nested.at < len(body):
            nested._double_part(parts)
            if body.startswith('"', nested.at):
                nested.at += 1
        self.inner.extend(nested.inner)

    def _word(self) -> None:
        text, start = self.text, self.at
        parts: list[str] = []
        quoted = False
        while self.at < len(text):
            char = text[self.at]
            if (match := _PLAIN.match(text, self.at)) is not None:
                parts.append(match[0])
                self.at = match.end()
            elif char == "'":
                quoted = True
                end = text.find("'", self.at + 1)
                end = len(text) if end < 0 else end
                parts.append(text[self.at + 1 : end])
                self.at = end + 1
            elif char == '"':
                quoted = True
                self.at += 1
                while self.at < len(text) and text[self.at] != '"':
                    self._double_part(parts)
                self.at += 1
            elif char == "\\":
                if not text.startswith("\\\n", self.at):
                    parts.append(text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char == "$" and (match := _ANSI.match(text, self.at)) is not None:
                quoted = True
                parts.append(unescaped(match[1]))
                self.at = match.end()
            elif char in "$`":
                self._dollar(parts)
            elif char in "<>" and text.startswith("(", self.at + 1):
                self.at += 2
                self._mark(parts, char, self._balanced())
            else:
                break
        word = "".join(parts)
        descriptor = word.isdigit() and not quoted and text[self.at : self.at + 1] in {"<", ">"}
        if not descriptor:
            self.tokens.append(Token("word", word, start, min(self.at, len(text))))

    def _double_part(self, parts: list[str]) -> None:
        text = self.text
        if (match := _IN_DOUBLE.match(text, self.at)) is not None:
            parts.append(match[0])
            self.at = match.end()
        elif text[self.at] == "\\":
            escaped = text[self.at + 1 : self.at + 2]
            parts.append(
                "" if escaped == "\n" else escaped if escaped in '"\\$`' else "\\" + escaped
            )
            self.at += 2
        elif text[self.at] in "$`":
            self._dollar(parts)

    def _dollar(self, parts: list[str]) -> None:
        text = self.text
        if text.startswith("$(", self.at):
            arithmetic = text.startswith("$((", self.at)
            self.at += 2
            body = self._balanced()
            self._mark(parts, "$", "" if arithmetic and body.endswith(")") else body)
        elif text[self.at] == "`":
            end = self.at + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            self._mark(parts, "$", text[self.at + 1 : end].replace("\\`", "`"))
            self.at = end + 1
        else:
            quoted = text[self.at + 1 : self.at + 2] in {"'", '"'}
            parts.append("" if quoted else "$")
            self.at += 1

    def _mark(self, parts: list[str], kind: str, inner: str) -> None:
        parts.append(f"\ue000{kind}{len(self.inner)}\ue001")
        self.inner.append(inner)

    def _balanced(self) -> str:
        """The text up to the parenthesis that closes the one before; the place moves behind it."""
        text, start, depth = self.text, self.at, 1
        while self.at < len(text):
            char = text[self.at]
            if (match := _IN_BALANCED.match(text, self.at)) is not None:
                self.at = match.end()
                continue
            if char == "'":
                end = text.find("'", self.at + 1)
                self.at = len(text) if end < 0 else end
            elif char == '"':
                self.at += 1
                while self.at < len(text) and text[self.at] != '"':
                    self.at += 2 if text[self.at] == "\\" else 1
            elif char == "\\":
                self.at += 1
            else:
                depth += 1 if char == "(" else -1
                if depth == 0:
                    self.at += 1
                    return text[start : self.at - 1]
            self.at += 1
        return text[start:]
