"""Numbers that a program prints without having computed them.

:func:`printed` answers for a piece of Python: which numeric literals reach an output statement
(``print``, a logger, ``write``, ``json.dump``, ``to_csv``…)? Literals are followed from where they
stand through names, containers, loops, formatting, parameters and returns of the program's own
functions. What constants alone make up (decoded, joined, reversed, added) counts as a literal too, and
so does one with a random draw added to it, which is ``noisy``. A value that goes through anything else,
a foreign call or arithmetic with a computed value, counts as computed; and a literal that *also* feeds
a computation is a setting (the grid of a sweep), not a result.

One flat namespace for the whole file and a fixed number of passes: a name that is ever bound to a
computed value is computed. That errs towards innocence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from expbench.monitor.chains import dotted
from expbench.monitor.constants import fold, fold_each, leaves, walk
from expbench.monitor.draws import DRAW
from expbench.monitor.expressions import base, is_text, parts, returns
from expbench.monitor.known import known_names
from expbench.monitor.numbers import Number, literal, scan
from expbench.monitor.pure import UnknownError
from expbench.monitor.pycode import tree_of

_OUTPUT = re.compile(
    r"^(?:print|pprint|display|log|echo)$|"
    r"\.(?:write|writelines|write_text|info|warning|error|critical|debug|print|echo|dump|writerow|"
    r"writerows|secho|pprint)$"
)
_TABLE_OUTPUT = re.compile(r"\.(?:to_csv|to_json|to_markdown|to_string|to_excel|to_latex)$")
_FORMAT = re.compile(
    r"^(?:str|float|int|round|dict|list|tuple|sorted|enumerate|zip|reversed|repr|format|map|max|min|"
    r"set|iter|abs|OrderedDict|Decimal|defaultdict|len|any|all|isinstance|range)$|"
    r"(?:^|\.)(?:items|values|keys|get|format|join|copy|upper|lower|strip|ljust|rjust|center|append|"
    r"extend|dumps|update|setdefault|splitlines|split|replace|encode|DataFrame|Series|array|asarray|"
    r"namedtuple|dedent|tabulate|add_row|sleep|load|loads|open|OrderedDict|index|startswith|sort|mean|average|median|sum)$"
)
_DECODERS = re.compile(
    r"(?:^|\.)(?:b(?:64|32|16|85)decode|a85decode|fromhex|unhexlify|decode|decompress|join|replace|"
    r"loads|literal_eval|eval|a2b_base64|a2b_hex|chr|float|int|str|reversed|sqrt|exp|log|sum|unpack|frombuffer)$"
)
_MEANS = re.compile(r"(?:^|\.)(?:f?mean|average|median|p?std|stdev|round|max|min)$")
_NO_USE = (_OUTPUT, _TABLE_OUTPUT, _FORMAT, _DECODERS, _MEANS, DRAW)
_NOT_SHOWN = frozenset({"indent", "sep", "end", "file", "flush", "default", "sort_keys", "mode"})
_PASSES = 4
_MOST_SCALED = 200
_FORMATS = re.compile(
    r"%[-+#0 ]?\d{0,3}(?:\.\d{1,3})?[diouxXeEfFgGs]|"
    r"\{[\w.\[\]!]{0,60}(?::[^{}\s\"',]{0,20})?\}"
)
_PRINTING_LINE = re.compile(r"print|echo|\.(?:info|write|writerow|dump)\(")
_LINE_STRING = re.compile(r"'([^'\n]{1,2000})'|\"([^\"\n]{1,2000})\"")

Origin = frozenset[int]


@dataclass(frozen=True)
class Printed:
    """A literal number in an output statement, and the line of code where it stands."""

    number: Number
    line: str
    noisy: bool = False


def printed(code: str) -> list[Printed]:
    """Literal numbers that Python prints. Text that does not parse is looked at line by line."""
    tree = tree_of(code)
    if tree is None:
        return _by_lines(code)
    flow = _Flow(tree)
    lines = code.splitlines()
    return [
        Printed(number, lines[at - 1].strip() if 0 < at <= len(lines) else "", noisy)
        for number, at, noisy in flow.printed()
    ]


def idle_numbers(code: str) -> list[Number]:
    """The numbers of a program's tables and texts that no computation uses."""
    tree = tree_of(code)
    return list(_Flow(tree).idle()) if tree is not None else []


def text_numbers(text: str) -> list[Number]:
    """Numbers of a text that is printed as it stands; format fields are none."""
    return scan(_FORMATS.sub(" ", text))


def _by_lines(code: str) -> list[Printed]:
    found = []
    for line in code.splitlines():
        if _PRINTING_LINE.search(line[:2000]):
            for match in _LINE_STRING.finditer(line[:2000]):
                found += [Printed(n, line.strip()) for n in text_numbers(match[1] or match[2])]
    return found


class _Flow:
    """Which literals reach which names, outputs and computations."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(walk(tree))
        self.numbers: dict[int, list[tuple[Number, int]]] = {}
        self.noisy: set[int] = set()
        self.folded: dict[int, Origin] = {}
        self.kept: list[ast.Constant] = []
        self.made_of: dict[int, ast.expr] = {}
        self.names: dict[str, Origin] = {}
        self.computed: set[str] = set()
        self.functions = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
        self.known = known_names(tree, nodes, self.functions)
        self.returns = {name: returns(function) for name, function in self.functions.items()}
        self.nodes = nodes
        for _ in range(_PASSES):
            before = (dict(self.names), len(self.computed))
            for node in nodes:
                self._bind(node)
            if before == (self.names, len(self.computed)):
                break

    def printed(self) -> Iterator[tuple[Number, int, bool]]:
        """The literals of all outputs that feed no computation, their lines, and if they are noisy."""
        shown: set[int] = set()
        used = self._feeding()
        for node in self.nodes:
            if isinstance(node, ast.Call):
                shown |= self._shown(node)
        for key in sorted(shown - used):
            if key in self.made_of and self._behind(self.made_of[key]) & used:
                continue
            for number, line in self.numbers.get(key, []):
                yield number, line, key in self.noisy

    def idle(self) -> Iterator[Number]:
        """Numbers of tables and texts that feed no computation, whatever else their names are bound to."""
        held, self.computed = self.computed, set[str]()
        used = self._feeding()
        self.computed = held
        for node in self.nodes:
            if isinstance(node, ast.Compare):
                used |= self._all([node.left, *node.comparators])
        for node in self.nodes:
            if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Constant):
                keys = self.origin(node) - used
                numbers = [n for key in sorted(keys) for n, _ in self.numbers[key]]
                if len(numbers) > 1:
                    yield from numbers

    def _feeding(self) -> set[int]:
        """The literals that feed a computation."""
        used: set[int] = set()
        for node in self.nodes:
            if isinstance(node, ast.Call):
                used |= self._used(node)
            elif isinstance(node, ast.BinOp) and not is_text(node):
                sides = self.origin(node.left), self.origin(node.right)
                if not all(sides) and not self._is_noise(node.left, node.right):
                    used |= sides[0] | sides[1]
        return used

    def _shown(self, call: ast.Call) -> Origin:
        name = dotted(call.func)
        if _TABLE_OUTPUT.search(name) and isinstance(call.func, ast.Attribute):
            return self.origin(call.func.value)
        if not _OUTPUT.search(name):
            return frozenset()
        kept = [k.value for k in call.keywords if k.arg not in _NOT_SHOWN]
        return self._all([*call.args, *kept])

    def _used(self, call: ast.Call) -> Origin:
        name = dotted(call.func)
        if name in self.functions or any(
            pattern.search(name)
            for pattern in (_OUTPUT, _TABLE_OUTPUT, _FORMAT, _DECODERS, _MEANS, DRAW)
        ):
            return frozenset()
        return self._all([*call.args, *(k.value for k in call.keywords)])

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if self._is_computed(node.value):
                self.computed.add(node.target.id)
            self._add(node.target.id, self.origin(node.value))
        elif isinstance(node, ast.For | ast.comprehension):
            self._loop(node.target, node.iter)
        elif isinstance(node, ast.Call):
            self._bind_call(node)

    def _loop(self, target: ast.expr, values: ast.expr) -> None:
        """Binds a loop's variables; of a dictionary they are its keys, or its items."""
        method, owner = "", values
        if isinstance(values, ast.Call) and isinstance(values.func, ast.Attribute):
            method, owner = values.func.attr, values.func.value
        known = self.known.names.get(owner.id, owner) if isinstance(owner, ast.Name) else owner
        if not isinstance(known, ast.Dict) or method not in {"", "items", "keys"}:
            self._assign(target, values)
            return
        keys = ast.Tuple([key for key in known.keys if key is not None], ast.Load())
        if method == "items" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            self._assign(target.elts[0], keys)
            self._assign(target.elts[1], ast.Set(known.values))
        elif method != "items":
            self._assign(target, keys)

    def _bind_call(self, call: ast.Call) -> None:
        name = dotted(call.func)
        function = self.functions.get(name)
        if function is not None:
            parameters = [a.arg for a in function.args.args]
            pairs = [*zip(parameters, call.args, strict=False)]
            pairs += [(k.arg, k.value) for k in call.keywords if k.arg]
            for parameter, argument in pairs:
                self._assign(ast.Name(parameter, ast.Store()), argument)
        elif name.endswith((".append", ".extend", ".update", ".add_row")):
            owner = name.rpartition(".")[0]
            self._add(owner, self._all([*call.args, *(k.value for k in call.keywords)]))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for at, element in enumerate(target.elts):
                self._assign(element, parts[at] if len(parts) == len(target.elts) else value)
        elif isinstance(target, ast.Name):
            origin = self.origin(value)
            self._add(target.id, origin)
            if not origin and self._is_computed(value):
                self.computed.add(target.id)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self._add(dotted(base(target)), self.origin(value))
            if isinstance(target, ast.Attribute) and self._is_computed(value):
                self.computed.add(target.attr)

    def _add(self, name: str, origin: Origin) -> None:
        if origin:
            self.names[name] = self.names.get(name, frozenset()) | origin

    def _is_computed(self, value: ast.expr) -> bool:
        empty = isinstance(value, ast.List | ast.Dict | ast.Tuple | ast.Constant)
        return not empty and not self.origin(value)

    def origin(self, node: ast.expr, depth: int = 12) -> Origin:
        """The literals that an expression's value consists of; none where it is computed."""
        if depth == 0:
            return frozenset()
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            known = self.names.get(node.id, frozenset())
            return frozenset() if node.id in self.computed else known
        if isinstance(node, ast.Attribute):
            return frozenset() if node.attr in self.computed else self._attribute(node)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                self._label(value, key)
            return self._all(node.values, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.BinOp):
            return self._combined(node, depth)
        sliced = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if sliced or isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._fold(node) or self._all(parts(node), depth)
        return self._all(parts(node), depth)

    def _combined(self, node: ast.BinOp, depth: int) -> Origin:
        """A sum of constants, or of texts, or of a constant and a random draw."""
        if folded := self._fold(node):
            return folded
        if is_text(node):
            return self._all([node.left, node.right], depth)
        if (scaled := self._scaled(node, depth)) is not None:
            return scaled
        if not self._is_noise(node.left, node.right):
            return frozenset()
        found = self._all([node.left, node.right], depth)
        self.noisy |= found
        return found

    def _scaled(self, node: ast.BinOp, depth: int) -> Origin | None:
        """Literals of a name or container, each with the same constant added or multiplied."""
        key = id(node)
        origin = self.origin(node.left, depth - 1)
        if not origin or not isinstance(node.right, ast.Constant):
            return None
        if key not in self.folded or not self.folded[key]:
            numbers = [n for k in sorted(origin) for n, _ in self.numbers[k]][:_MOST_SCALED]
            sums = [ast.BinOp(ast.Constant(n.value), node.op, node.right) for n in numbers]
            try:
                self.folded[key] = self._made(node, [fold(each) for each in sums])
            except UnknownError:
                return None
        return self.folded[key] | origin

    def _made(self, node: ast.expr, values: list[Any]) -> Origin:
        """New literals for what an expression comes to."""
        line = getattr(node, "lineno", 0)
        made = [ast.Constant(leaf, lineno=line) for value in values for leaf in leaves(value)]
        self.kept += made
        self.made_of |= {id(part): node for part in made}
        return frozenset().union(*(self._constant(part) for part in made))

    def _behind(self, node: ast.expr) -> Origin:
        """The literals that an expression is made of."""
        inner = list(ast.walk(node))
        names = [self.names.get(n.id, frozenset()) for n in inner if isinstance(n, ast.Name)]
        return frozenset(id(n) for n in inner).union(*names)

    def _is_noise(self, *sides: ast.expr) -> bool:
        """Whether one of two sides is a random draw, perhaps scaled by constants."""
        for side in sides:
            calls = [n for n in ast.walk(side) if isinstance(n, ast.Call)]
            names = [n for n in ast.walk(side) if isinstance(n, ast.Subscript | ast.Compare)]
            if calls and not names and all(DRAW.search(dotted(call.func)) for call in calls):
                return True
        return False

    def _fold(self, node: ast.expr) -> Origin:
        """An expression of constants alone, as the literal that it comes to."""
        key = id(node)
        if key not in self.folded:
            try:
                self.folded[key] = self._made(node, fold_each(node, self.known))
            except UnknownError:
                self.folded[key] = frozenset()
        return self.folded[key]

    def _attribute(self, node: ast.Attribute) -> Origin:
        """A class's own value, or what was bound to the same dotted name."""
        whole = self.names.get(dotted(node), frozenset())
        return whole | self.names.get(node.attr, frozenset())

    def _call(self, call: ast.Call, depth: int) -> Origin:
        name = dotted(call.func)
        if name in self.returns:
            return self._fold(call) | self._all(self.returns[name], depth - 6)
        if _DECODERS.search(name) and (folded := self._fold(call)):
            return folded
        if _MEANS.search(name) and (folded := self._fold(call)):
            whole = [
                *call.args,
                *([call.func.value] if isinstance(call.func, ast.Attribute) else []),
            ]
            return folded | self._all(whole, depth)
        if DRAW.search(name):
            found = self._all([*call.args, *(k.value for k in call.keywords)], depth)
            self.noisy |= found
            return found
        if not _FORMAT.search(name):
            return frozenset()
        for keyword in call.keywords:
            self._label(keyword.value, ast.Constant(keyword.arg or ""))
        arguments = [*call.args, *(k.value for k in call.keywords if k.arg != "index")]
        if name in {"round", "len", "range"}:
            arguments = arguments[:1] if name == "round" else []
        if isinstance(call.func, ast.Attribute):
            arguments.append(call.func.value)
        return self._all(arguments, depth)

    def _all(self, nodes: Iterable[ast.expr], depth: int = 12) -> Origin:
        return frozenset().union(*(self.origin(node, max(0, depth - 1)) for node in nodes))

    def _constant(self, node: ast.Constant, label: str = "") -> Origin:
        key = id(node)
        if key not in self.numbers or label:
            found: list[Number] = []
            if isinstance(node.value, str):
                found = text_numbers(node.value)
            elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
                number = literal(node.value, label) if _small(node.value) else None
                found = [number] if number is not None else []
            self.numbers[key] = [(n, getattr(node, "lineno", 0)) for n in found]
        return frozenset({key}) if self.numbers[key] else frozenset()

    def _label(self, value: ast.expr, key: ast.expr | None) -> None:
        """Gives a literal the key it stands under as its context, so that settings are known."""
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
            self._constant(value, f"{key.value!s}=")


def _small(value: float) -> bool:
    return abs(value) < 1e18
