"""What a shell text would run: one flat list of simple commands.

A word-by-word lexer in one pass, because ``shlex`` cannot serve here: it raises on an unbalanced
quote, which an agent's text often has, and its POSIX mode takes a quoted ``;`` for a real one. The
lexer knows quotes, comments, here-documents, redirections, ``$(…)``, backticks and process
substitution; :func:`parse` then opens what hides a command in another one: ``bash -c``, ``eval``,
``env``, ``sudo``, ``timeout``, ``xargs``, ``find -exec``, aliases, functions, renamed programs, texts that
are decoded on the way, and a script that is piped into a shell.

It never fails. An unbalanced quote reaches to the end of the text, and a here-document without its
end is read as commands, so that a stray ``<<X`` hides nothing. Nesting and counts are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from expbench.monitor.commands import Command, Guard
from expbench.monitor.drafts import Block, Draft
from expbench.monitor.encodings import printed
from expbench.monitor.lexer import MARK, Token, lex
from expbench.monitor.programs import named
from expbench.monitor.scope import Scope
from expbench.monitor.wrappers import (
    ASSIGNMENT,
    KEYWORDS,
    carried_script,
    filled,
    find_actions,
    listed,
    unwrap,
)

_DEPTH = 6
_MOST = 2000
_MOST_SUBSTITUTED = 4_000
_MOST_ELEMENTS = 100
_BREAKS = frozenset({"\n", ";", ";;", "&", "&&", "||", "|", "|&", "(", ")"})
_BRACES = re.compile(r"\{[^{}\s,'\"]+(?:,[^{}\s,'\"]*)+\}")
_WHOLE = re.compile(r"\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*|[@*])|\"\$@\"")
_FILTERS = named("base64 cat gunzip gzip head openssl rev sed tail tr xxd zcat")


def parse(text: str, scope: Scope | None = None) -> list[Command]:
    """Every simple command of a text, outer before inner, at most 2,000.

    Args:
        scope: what is known by name; it learns what the text defines and writes.
    """
    return _parse(text, _DEPTH, scope or Scope(), ())[:_MOST]


def _parse(text: str, depth: int, scope: Scope, when: tuple[Guard, ...]) -> list[Command]:
    if depth == 0 or not text.strip():
        return []
    tokens, inner = lex(text)
    reader = _Reader(text, tokens, inner, scope, depth, when)
    found = reader.read()
    for nested in inner[:_MOST]:
        if len(found) >= _MOST:
            break
        found.extend(_parse(nested, depth - 1, scope, when))
    return found


class _Reader:
    """Goes through the tokens of one text and makes commands of them."""

    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        inner: Sequence[str],
        scope: Scope,
        depth: int,
        when: tuple[Guard, ...],
    ) -> None:
        self.text, self.tokens, self.inner = text, tokens, inner
        self.scope, self.depth, self.when = scope, depth, when
        self.found: list[Command] = []
        self.blocks: list[Block] = []
        self.draft = Draft()
        self.piped = False
        self.link: tuple[Guard, ...] = ()
        self.last: Command | None = None
        self.closed = -1
        self.begin = 0
        self.fed = ""

    def read(self) -> list[Command]:
        """All commands, those that others carry behind them."""
        at = 0
        while at < len(self.tokens) and len(self.found) < _MOST:
            token = self.tokens[at]
            at += 1
            if token.kind == "operator" and token.text in _BREAKS:
                if token.text == "(" and self._defines(at):
                    at += 1
                    continue
                if token.text == "(":
                    self._array(at)
                self._break(token.text)
            elif token.kind == "word":
                self._word(token, at)
            elif token.kind == "heredoc":
                self._extend(token)
                self.draft.stdin = token.text
            elif at < len(self.tokens) and self.tokens[at].kind == "word":
                self._redirect(token, self.tokens[at])
                at += 1
            else:
                self._extend(token)
        self._break("\n")
        return self.found

    def _extend(self, token: Token) -> None:
        self.draft.start = token.start if self.draft.start < 0 else self.draft.start
        self.draft.end = token.end

    def _word(self, token: Token, at: int) -> None:
        raw = self.text[token.start : token.end]
        words = self.draft.words
        if raw == "{" and len(words) == 2 and words[0] == "function":
            self._define(words[1].removesuffix("()"), at)
        elif raw in KEYWORDS and not words:
            self._keyword(raw)
            self.fed = self._fed(at) if raw in {"while", "until"} else self.fed
        elif raw == "in" and len(words) == 2 and words[0] == "case":
            source = self.text[self.draft.start : token.end]
            self.blocks.append(Block("case", len(self.found), self._guards(), [source]))
            self.draft, self.link = Draft(), ()
        else:
            self._extend(token)
            text = self._expanded(token.text)
            split = " " in text and (_WHOLE.fullmatch(raw) or MARK.fullmatch(token.text))
            if split and (raw[:1] in {"$", "`"} or raw == '"$@"') and len(text) < _MOST_SUBSTITUTED:
                words.extend(text.split())
            elif _BRACES.fullmatch(raw[:200]):
                words.extend(raw[1:-1].split(","))
            else:
                words.append(text)

    def _redirect(self, token: Token, target: Token) -> None:
        self._extend(token)
        self._extend(target)
        word = self._expanded(target.text)
        if token.text == "<<<":
            self.draft.stdin = word
        elif not token.text.endswith("&"):
            where = self.draft.reads if token.text.startswith("<") else self.draft.writes
            where.append(word)
            self.draft.appends = self.draft.appends or token.text.endswith(">>")

    def _expanded(self, word: str) -> str:
        def known(match: re.Match[str]) -> str:
            at = int(match[2] or len(self.inner))
            text = self.inner[at] if at < len(self.inner) else ""
            output = self._output(text)
            if match[1] == "$":
                return "$()" if output is None else output.rstrip("\n")
            if output is not None and match[1] == "<":
                self.draft.stdin = output
                return "/dev/stdin"
            return "/dev/fd/63"

        if "\ue000" in word:
            word = MARK.sub(known, word)
        return self.scope.expand(word)

    def _output(self, text: str) -> str | None:
        """What a command substitution prints, where all of it is known."""
        if self.depth <= 1 or not 0 < len(text) <= _MOST_SUBSTITUTED:
            return None
        tokens, inner = lex(text)
        reader = _Reader(text, tokens, inner, replace(self.scope), self.depth - 1, ())
        outputs: list[str] = []
        for command in reader.read()[:20]:
            if command.piped and outputs:
                outputs.pop()
            if command.printed is None or command.writes:
                return None
            outputs.append(command.printed)
        return "".join(outputs) if outputs else None

    def _keyword(self, word: str) -> None:
        block = next((b for b in reversed(self.blocks) if b.kind == "if"), None)
        if word == "if":
            self.blocks.append(Block("if", len(self.found), self._guards(), testing=True))
            self.link = ()
        elif word == "{":
            self._open_group("{")
        elif word == "}":
            self._close("{")
        elif word in {"fi", "esac"}:
            self._close("if" if word == "fi" else "case")
        elif block is not None and word in {"then", "elif", "else"}:
            test = "; ".join(block.tests)
            block.testing = word == "elif"
            block.guard = (Guard(test, word == "then"),)
            if word == "elif":
                block.tests = []

    def _fed(self, at: int) -> str:
        """What a loop reads that is given to it behind its end, as one line."""
        for place in range(at, len(self.tokens) - 1):
            if self.text[self.tokens[place].start : self.tokens[place].end] == "done":
                token, target = (
                    self.tokens[place + 1],
                    self.tokens[min(place + 2, len(self.tokens) - 1)],
                )
                if token.kind == "heredoc":
                    return " ".join(token.text.split())
                if token.text in {"<", "<<<"}:
                    word = self._expanded(target.text)
                    text = word if token.text == "<<<" else self.scope.text(word) or ""
                    return " ".join(text.split())
                return ""
        return ""

    def _guards(self) -> tuple[Guard, ...]:
        if not self.blocks:
            return self.when + self.link
        top = self.blocks[-1]
        return top.outer + top.guard + self.link

    def _open_group(self, kind: Literal["{", "("]) -> None:
        self.blocks.append(Block(kind, len(self.found), self._guards()))
        self.link = ()

    def _close(self, kind: str) -> None:
        if self.blocks and self.blocks[-1].kind == kind:
            self.closed = self.blocks.pop().first

    def _break(self, operator: str) -> None:
        if operator == ")" and self.blocks and self.blocks[-1].kind == "case":
            self._pattern()
            return
        had = self.draft.start >= 0
        if had:
            self._finish()
        if operator == "&":
            first = min(self.begin, self.closed) if self.closed >= 0 else self.begin
            self.found[first:] = [replace(c, background=True) for c in self.found[first:]]
        if operator == "(":
            self._open_group("(")
        elif operator == ")":
            self._close("(")
        elif operator in {"&&", "||"} and self.last is not None:
            earlier = self.link if operator == "&&" and all(g.holds for g in self.link) else ()
            self.link = (*earlier, Guard(self.last.source, operator == "&&"))
        elif operator not in {"|", "|&"} and not (operator == "\n" and not had and self.link):
            self.link = ()
        if operator != ")" and (had or operator != "\n"):
            self.closed = -1
        if operator in {";", "\n", "&", "("}:
            self.begin = len(self.found)
        self.draft = Draft()
        self.piped = operator in {"|", "|&"}

    def _pattern(self) -> None:
        """One branch of a ``case`` begins."""
        block, words = self.blocks[-1], self.draft.words
        block.guard = (Guard(f"{block.tests[0]} {' '.join(words)}", True),)
        self.draft, self.link = Draft(), ()

    def _defines(self, at: int) -> bool:
        """Whether an opening parenthesis makes the word before it a function's name."""
        words = self.draft.words
        name = words[-1:] if len(words) == 1 or words[:1] == ["function"] else []
        if not name or at >= len(self.tokens) or self.tokens[at].text != ")":
            return False
        at += 1
        while at < len(self.tokens) and self.tokens[at].text == "\n":
            at += 1
        if at < len(self.tokens) and self.tokens[at].text == "{":
            self._define(name[0], at + 1, open_block=False)
        return True

    def _array(self, at: int) -> None:
        """Remembers ``name=(a b c)`` as the text of its words."""
        words = self.draft.words
        if len(words) != 1 or not re.fullmatch(r"[A-Za-z_]\w*\+?=", words[0]):
            return
        held = []
        for token in self.tokens[at : at + _MOST_ELEMENTS]:
            if token.kind != "word":
                break
            held.append(self._expanded(token.text))
        words[0] += " ".join(held)

    def _define(self, name: str, at: int, open_block: bool = True) -> None:
        depth, end = 1, len(self.tokens)
        for place in range(at, len(self.tokens)):
            token = self.tokens[place]
            raw = self.text[token.start : token.end]
            depth += (raw == "{") - (raw == "}")
            if depth == 0:
                end = place
                break
        start = self.tokens[at - 1].end
        stop = self.tokens[end].start if end < len(self.tokens) else len(self.text)
        body = self.text[start:stop]
        if len(body) <= 20_000:
            self.scope.functions[name] = body
        source = self.text[self.draft.start : stop + 1]
        self.found.append(Command(("function", name), source, body, when=self._guards()))
        self.draft = Draft()
        if open_block:
            self._open_group("{")

    def _finish(self) -> None:
        draft, words = self.draft, self.draft.words
        while words and ASSIGNMENT.match(words[0]):
            name, _, value = words.pop(0).partition("=")
            self.scope.assign(name.rstrip("+"), value)
        source = self.text[draft.start : draft.end]
        given = draft.stdin or next((t for r in draft.reads if (t := self.scope.text(r))), "")
        if self.piped and not given and self.found and self.last is not None:
            given = self.last.printed or ""
        if words[:1] == ["read"] and not given:
            given, self.fed = self.fed, ""
        command = Command(
            tuple(words),
            source,
            given,
            tuple(draft.reads),
            tuple(draft.writes),
            self.piped,
            draft.appends,
            when=self._guards(),
        )
        command = replace(command, printed=self._printed(command))
        if self.blocks and self.blocks[-1].testing:
            self.blocks[-1].tests.append(source)
        self.found += _open(command, self.depth, self.scope)
        self.last = command

    def _printed(self, command: Command) -> str | None:
        words, given = list(unwrap(command.words)), command.stdin or None
        if words[:1] and words[0].rpartition("/")[2] in _FILTERS:
            known = {w: self.scope.text(w) for w in words[1:] if w[:1] != "-"}
            texts = [text for text in known.values() if text is not None]
            if texts:
                words = [w for w in words if known.get(w) is None]
                given = "".join(texts)
        output = printed(words, given)
        if not words and command.reads and not command.writes:
            output = given
        for path in command.writes:
            if output is not None:
                self.scope.write(path, output, command.appends)
            elif not command.stdin and words:
                self.scope.forget(path)
        return output


def _open(command: Command, depth: int, scope: Scope) -> list[Command]:
    """The command without its wrappers, then the commands that it hides."""
    words = command.words
    if words and words[0].rpartition("/")[2] == "xargs" and command.stdin:
        words = filled(words, command.stdin)
    elif words and words[0].rpartition("/")[2] == "xargs" and command.piped:
        words = (*words, "$()")
    words = unwrap(words)
    if words[:1] and words[0] in scope.aliases:
        words = unwrap((*scope.aliases[words[0]], *words[1:]))
    if words[:1] and (own := scope.programs.get(words[0].rpartition("/")[2])):
        words = (own, *words[1:])
    words += listed(words, scope.text)
    command = replace(command, words=words)
    scope.note(command.program, command.arguments, command.stdin)
    found = [command]
    if depth <= 0:
        return found
    script, given = carried_script(command.program, command.arguments, command.stdin)
    if script:
        names = scope.inside(given) if given else scope
        found += _parse(script, depth - 1, names, command.when)
    body = scope.functions.get(command.program)
    if body is not None and command.program != "function":
        found += _parse(body, depth - 1, scope.inside(command.arguments), command.when)
    if command.program == "find":
        for action in find_actions(command.words):
            inner = replace(command, words=action, stdin="", reads=(), writes=(), piped=False)
            found += _open(inner, depth - 1, scope)
    return found
