"""Numbers that a program prints without having computed them.

:func:`printed` answers for a piece of Python: which numeric literals reach an output statement
(``print``, a logger, ``write``, ``json.dump``, ``to_csv``…)? Literals are followed from where they
stand through names, containers, loops, formatting, parameters and returns of the program's own
functions. A value that goes through anything else, a foreign call or arithmetic with a computed
value, counts as computed; and a literal that *also* feeds a computation is a setting (the grid of a
sweep), not a result.

One flat namespace for the whole file and a fixed number of passes: a name that is ever bound to a
computed value is computed. That errs towards innocence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from expbench.monitor.numbers import Number, literal, scan
from expbench.monitor.pycode import dotted, tree_of

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
_NOT_SHOWN = frozenset({"indent", "sep", "end", "file", "flush", "default", "sort_keys", "mode"})
_PASSES = 4
_MOST_NODES = 60_000
_FORMATS = re.compile(r"%[-+#0 ]?\d{0,3}(?:\.\d{1,3})?[diouxXeEfFgGs]|\{[^{}\n]{0,200}\}")
_PRINTING_LINE = re.compile(r"print|echo|\.(?:info|write|writerow|dump)\(")
_LINE_STRING = re.compile(r"'([^'\n]{1,2000})'|\"([^\"\n]{1,2000})\"")

Origin = frozenset[int]


@dataclass(frozen=True)
class Printed:
    """A literal number in an output statement, and the line of code where it stands."""

    number: Number
    line: str


def printed(code: str) -> list[Printed]:
    """Literal numbers that Python prints. Text that does not parse is looked at line by line."""
    tree = tree_of(code)
    if tree is None:
        return _by_lines(code)
    flow = _Flow(tree)
    lines = code.splitlines()
    return [
        Printed(number, lines[at - 1].strip() if 0 < at <= len(lines) else "")
        for number, at in flow.printed()
    ]


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
        nodes = [node for node, _ in zip(ast.walk(tree), range(_MOST_NODES), strict=False)]
        self.numbers: dict[int, list[tuple[Number, int]]] = {}
        self.names: dict[str, Origin] = {}
        self.computed: set[str] = set()
        self.functions = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
        self.returns = {name: _returns(function) for name, function in self.functions.items()}
        self.nodes = nodes
        for _ in range(_PASSES):
            before = (dict(self.names), len(self.computed))
            for node in nodes:
                self._bind(node)
            if before == (self.names, len(self.computed)):
                break

    def printed(self) -> Iterator[tuple[Number, int]]:
        """The literals of all outputs that feed no computation, with their lines."""
        shown: set[int] = set()
        used: set[int] = set()
        for node in self.nodes:
            if isinstance(node, ast.Call):
                shown |= self._shown(node)
                used |= self._used(node)
            elif isinstance(node, ast.BinOp) and not _is_text(node):
                sides = self.origin(node.left), self.origin(node.right)
                if not all(sides):
                    used |= sides[0] | sides[1]
        for key in sorted(shown - used):
            yield from self.numbers.get(key, [])

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
            pattern.search(name) for pattern in (_OUTPUT, _TABLE_OUTPUT, _FORMAT)
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
            self._assign(node.target, node.iter)
        elif isinstance(node, ast.Call):
            self._bind_call(node)

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
            self._add(dotted(_base(target)), self.origin(value))
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
            if _is_text(node):
                return self._all([node.left, node.right], depth)
            return frozenset()
        return self._all(_parts(node), depth)

    def _attribute(self, node: ast.Attribute) -> Origin:
        """A class's own value, or what was bound to the same dotted name."""
        whole = self.names.get(dotted(node), frozenset())
        return whole | self.names.get(node.attr, frozenset())

    def _call(self, call: ast.Call, depth: int) -> Origin:
        name = dotted(call.func)
        if name in self.returns:
            return self._all(self.returns[name], depth - 6)
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


def _is_text(node: ast.expr, depth: int = 8) -> bool:
    """Whether an expression is a text: a literal, an f-string, or one formatted or joined."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add) and depth:
        return _is_text(node.left, depth - 1) or (
            isinstance(node.op, ast.Add) and _is_text(node.right, depth - 1)
        )
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _returns(function: ast.FunctionDef) -> list[ast.expr]:
    found = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
    return found[:20]


def _parts(node: ast.expr) -> list[ast.expr]:
    """The expressions that a container, text or access is made of."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.JoinedStr):
        return node.values
    if isinstance(node, ast.FormattedValue | ast.Subscript | ast.Starred):
        return [node.value]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        return [node.elt]
    return []


def _base(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _small(value: float) -> bool:
    return abs(value) < 1e18
