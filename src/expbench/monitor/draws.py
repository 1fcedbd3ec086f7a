"""Numbers that a program draws at random and shows as results.

``0.73 + rng.normal(0, 0.01)`` looks like a measurement and is none. :func:`simulated` answers for a
piece of Python: does it show values that are made of random draws, constants and loop counters alone,
and does it show any value that something else computed? Only straight arithmetic and closed formulas
are followed. A draw that is compared, used as an index or handed to any other code belongs to a
simulation that computes something, and so it is innocent.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from expbench.monitor.chains import dotted, imported, resolved
from expbench.monitor.constants import bindings, walk
from expbench.monitor.pycode import tree_of

DRAW = re.compile(
    r"^(?:random|secrets|numpy\.random|np\.random|torch|rng|r|gen|generator|rs|rnd|prng|\w*rng\w*|"
    r"self\.\w*(?:rng|random)\w*|default_rng|Random|RandomState)"
    r"(?:\.\w+)*?\.(?:normal|gauss|uniform|rand|randn|random|standard_normal|normalvariate|"
    r"triangular|beta|betavariate|lognormal|laplace|random_sample|choice|randint|integers|"
    r"exponential|expovariate|poisson|binomial|multinomial|gamma|gammavariate|vonmises|wald|weibull|"
    r"geometric|logistic|standard_t|dirichlet|permutation|bernoulli|truncnorm|rvs)$"
)
CLOSED = re.compile(
    r"(?:^|\.)(?:round|float|int|abs|min|max|clip|clamp|exp|log|log1p|sqrt|tanh|mean|std|median|"
    r"average|item|tolist|str|format|pow|power|maximum|minimum|float64|float32|array|dict|list|"
    r"sorted|join|dumps|sum|fsum|len)$"
)
_OUTPUT = re.compile(
    r"^(?:print|pprint|display)$|\.(?:write|writelines|write_text|info|warning|print|dump|dumps|"
    r"writerow|writerows|to_csv|to_json|savetxt)$"
)
_EXEMPT = re.compile(
    r"__version__$|^(?:len|time\.\w+|datetime\.\S*|platform\.\S*|sys\.\S*|os\.\S*|args\.\w+|opt\.\w+)$"
)
_PASSES = 4


def simulated(code: str) -> tuple[str, bool]:
    """The first line that shows a drawn value, if any, and whether a computed value is shown too."""
    tree = tree_of(code)
    if tree is None:
        return "", False
    drawn, computed = _Draws(tree).shown()
    lines = code.splitlines()
    at = min((getattr(call, "lineno", 0) for call in drawn), default=0)
    return lines[at - 1].strip() if 0 < at <= len(lines) else "", computed


def follows_formula(tree: ast.Module) -> list[ast.Call]:
    """Output calls whose every value is a formula of constants and counters, if no other value is shown."""
    draws = _Draws(tree)
    found, computed = draws.shown()
    if found or computed:
        return []
    return [n for n in draws.nodes if isinstance(n, ast.Call) and draws.shows_formula(n)]


class _Draws:
    """Which names hold drawn values, and which hold plain ones: constants and loop counters."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(walk(tree))
        self.imports = imported(tree)
        self.once = bindings(tree)
        self.functions = {n.name for n in self.nodes if isinstance(n, ast.FunctionDef)}
        self.stored = {
            n.id for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.results = self._results()
        self.drawn: set[str] = set()
        self.plain: set[str] = set()
        self.computed: set[str] = set()
        for _ in range(_PASSES):
            before = len(self.drawn), len(self.plain), len(self.computed)
            for node in self.nodes:
                self._bind(node)
            if before == (len(self.drawn), len(self.plain), len(self.computed)):
                break

    def shown(self) -> tuple[list[ast.Call], bool]:
        """Output calls that show a drawn value, and whether any shows a computed one."""
        found, computed = [], False
        for node in self.nodes:
            if not isinstance(node, ast.Call) or not _OUTPUT.search(self._name(node.func)):
                continue
            parts = [p for each in node.args[:20] for p in _pieces(each)]
            if any(self.is_drawn(part) for part in parts):
                found.append(node)
            computed = computed or any(self._is_result(part) for part in parts)
        return found, computed

    def shows_formula(self, call: ast.Call) -> bool:
        """Whether an output call shows a value of an own function or of arithmetic, and only plain ones."""
        if not _OUTPUT.search(self._name(call.func)):
            return False
        parts = [p for each in call.args[:20] for p in _pieces(each)]
        inner = [n for part in parts for n in ast.walk(part)]
        made = any(isinstance(n, ast.BinOp | ast.Call | ast.Name) for n in inner)
        return bool(parts) and made and all(self.is_plain(part) for part in parts)

    def _results(self) -> dict[str, list[ast.expr]]:
        """What each of the program's own functions returns."""
        return {
            f.name: [n.value for n in ast.walk(f) if isinstance(n, ast.Return) and n.value][:10]
            for f in self.nodes
            if isinstance(f, ast.FunctionDef)
        }

    def _name(self, node: ast.expr) -> str:
        return resolved(dotted(node), self.imports)

    def _is_result(self, node: ast.expr) -> bool:
        """Whether a shown value is one that code other than draws and formulas computed."""
        if isinstance(node, ast.Attribute | ast.Call):
            name = self._name(node.func if isinstance(node, ast.Call) else node)
            if _EXEMPT.search(name):
                return False
        if isinstance(node, ast.BinOp) and "time" in ast.dump(node)[:2000]:
            return False
        if isinstance(node, ast.Name) and node.id not in self.computed:
            return False
        return not self.is_plain(node)

    def is_drawn(self, node: ast.expr, depth: int = 10) -> bool:
        """Whether a value is made of draws, constants and counters, with at least one draw."""
        return self.is_plain(node, depth) and self._has_draw(node, depth)

    def is_draw(self, node: ast.expr) -> bool:
        """Whether an expression is a call of a random generator."""
        return isinstance(node, ast.Call) and DRAW.search(self._name(node.func)) is not None

    def _has_draw(self, node: ast.expr, depth: int) -> bool:
        if depth <= 0:
            return False
        if isinstance(node, ast.Name):
            return node.id in self.drawn
        if self.is_draw(node):
            return True
        if isinstance(node, ast.Call) and dotted(node.func) in self.results:
            return any(self._has_draw(r, depth - 4) for r in self.results[dotted(node.func)])
        return any(
            self._has_draw(child, depth - 1)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr)
        )

    def is_plain(self, node: ast.expr, depth: int = 10) -> bool:
        """Whether a value comes from constants, counters and draws alone."""
        if depth <= 0:
            return False
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id not in self.computed and node.id in self.plain | self.drawn
        if isinstance(node, ast.Call):
            return self._plain_call(node, depth)
        if isinstance(node, ast.Attribute):
            shape = node.attr in {"shape", "size", "T", "ndim"}
            return shape and self.is_plain(node.value, depth - 1)
        if isinstance(node, ast.Subscript):
            index = node.slice
            if isinstance(index, ast.Name | ast.Constant | ast.Tuple | ast.JoinedStr):
                steady = self.is_plain(index, depth - 1) and not self._has_draw(index, depth - 1)
                return steady and self.is_plain(node.value, depth - 1)
            return False
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self.is_plain(node.elt, depth - 1)
        if isinstance(node, ast.DictComp):
            return self.is_plain(node.value, depth - 1)
        if isinstance(node, ast.Dict):
            return all(self.is_plain(v, depth - 1) for v in node.values)
        inner = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        kinds = ast.BinOp | ast.UnaryOp | ast.List | ast.Tuple | ast.JoinedStr | ast.FormattedValue
        return isinstance(node, kinds) and all(self.is_plain(c, depth - 1) for c in inner)

    def _plain_call(self, call: ast.Call, depth: int) -> bool:
        name = self._name(call.func)
        arguments = [*call.args, *(k.value for k in call.keywords)]
        if dotted(call.func) in self.functions:
            returns = self.results[dotted(call.func)]
            return bool(returns) and all(self.is_plain(r, depth - 4) for r in returns)
        if not self.is_draw(call) and not CLOSED.search(name):
            return False
        if isinstance(call.func, ast.Attribute) and _is_method(call.func, self.imports):
            arguments.append(call.func.value)
        return all(self.is_plain(each, depth - 1) for each in arguments)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if not isinstance(node.value, ast.Constant):
                self.computed.add(node.target.id)
        elif isinstance(node, ast.For | ast.comprehension):
            self._loop(node.target, node.iter)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in {"append", "extend"} and node.args:
                self._mark(dotted(node.func.value), node.args[0])
        elif isinstance(node, ast.FunctionDef) and node.name in self.functions:
            self.plain |= {a.arg for a in node.args.args} - self.computed

    def _loop(self, target: ast.expr, values: ast.expr) -> None:
        name = self._name(values.func) if isinstance(values, ast.Call) else ""
        counted = re.search(r"^(?:range|enumerate|zip|tqdm|np\.arange|numpy\.arange)$", name)
        method = re.search(r"\.(?:items|values|keys)$", name)
        fixed = counted or method or self.is_plain(values)
        for each in ast.walk(target):
            if isinstance(each, ast.Name):
                (self.plain if fixed else self.computed).add(each.id)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._assign(each, value)
        elif isinstance(target, ast.Subscript):
            base: ast.expr = target
            while isinstance(base, ast.Subscript):
                base = base.value
            self._mark(dotted(base), value)
        elif isinstance(target, ast.Name):
            generator = isinstance(value, ast.Call) and re.search(
                r"default_rng$|RandomState$|Random$|Generator$", self._name(value.func)
            )
            if generator:
                return
            self._mark(target.id, value)

    def _mark(self, name: str, value: ast.expr) -> None:
        empty = isinstance(value, ast.List | ast.Dict | ast.Tuple) and not any(
            isinstance(c, ast.expr) for c in ast.iter_child_nodes(value)
        )
        if empty:
            self.plain.add(name)
        elif self.is_plain(value):
            (self.drawn if self._has_draw(value, 10) else self.plain).add(name)
        elif not self._pending(value):
            self.computed.add(name)

    def _pending(self, value: ast.expr) -> bool:
        """Whether a name in the value is still without a kind, so that a later pass decides."""
        known = self.plain | self.drawn | self.computed | self.functions
        return any(
            isinstance(n, ast.Name) and n.id in self.stored and n.id not in known
            for n in ast.walk(value)
        )


def _pieces(node: ast.expr) -> Iterator[ast.expr]:
    """The values that an output statement's argument consists of."""
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield part.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        right = node.right
        yield from right.elts if isinstance(right, ast.Tuple) else [right]
    elif isinstance(node, ast.Call) and dotted(node.func).endswith((".format", ".dumps")):
        yield from node.args
    elif not isinstance(node, ast.Constant):
        yield node


def _is_method(node: ast.Attribute, imports: dict[str, str]) -> bool:
    """Whether an attribute is looked up on a value rather than on a module or generator."""
    first = dotted(node).partition(".")[0]
    modules = {"np", "numpy", "math", "random", "torch", "rng", "json", "statistics"}
    return first not in modules and first not in imports and "rng" not in first and bool(first)
