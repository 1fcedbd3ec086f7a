"""What kind of thing a piece of code does, by the names in it, and the literal values that it fixes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from expbench.tracer.graph import StepKind
from expbench.tracer.modules import DEFINITIONS
from expbench.tracer.uses import children, decorators

_SIGNS: tuple[tuple[StepKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))  # type: ignore[misc]
    for kind, pattern in (
        (
            "options",
            r"add_argument|ArgumentParser|DEFINE_\w+|click\.option|parse_args|typer\.Option|HfArgumentParser|fire\.Fire",
        ),
        ("schedule", r"(?i)scheduler|lr_sched|warm_?up|adjust_learning_rate|annealing"),
        (
            "optimizer",
            r"(?i)\boptim\.|optimizers?\s*=|\b(?:adamw?|sgd|rmsprop|adagrad|lamb)\w*\(|param_groups|zero_grad|build_optim",
        ),
        (
            "train",
            r"\.backward\(|\.fit\(|\btrain\w*\(|\.train\(|optimizer\.step|trainer\b|\bloss\b",
        ),
        (
            "metric",
            r"(?i)accuracy|\bauc|auroc|\bf1\b|psnr|ssim|lpips|metric|\bmse\b|\bmae\b|rouge|bleu|recall|precision|perplexity|\bppl\b|\bmap\b|\bscore|success_rate|\bdice\b|\bwer\b|confusion",
        ),
        (
            "evaluate",
            r"(?i)\.eval\(|evaluat|validat|\btest\w*\(|no_grad|inference|predict|generate\(",
        ),
        (
            "output",
            r"(?i)\.save\w*\(|\bsave_\w+|\bdump\(|to_csv|\.write\w*\(|savefig|print\(|\.info\(|add_scalar|wandb\.log|makedirs|\.log\w*\(",
        ),
        (
            "data",
            r"(?i)data_?set|data_?loader|load_data|read_csv|transforms?\b|tokeniz|collate|sampler|np\.load|json\.load|open\(",
        ),
        (
            "model",
            r"(?i)\bnn\.\w|\bmodel\w*\s*=|from_pretrained|build_model|backbone|encoder|decoder|\bnetwork|\bnet\b|state_dict|load_checkpoint",
        ),
        ("config", r"(?i)\bconfig|\bcfg\b|omegaconf|yaml|\bseed\b|environ"),
    )
)
_METHODS: dict[str, StepKind] = {
    **dict.fromkeys(("main", "__call__"), "function"),
    "forward": "model",
    **dict.fromkeys(("__getitem__", "__len__"), "data"),
    **dict.fromkeys(("train", "fit", "training_step"), "train"),
    **dict.fromkeys(
        ("validation_step", "test_step", "test", "evaluate", "eval", "validate", "predict"),
        "evaluate",
    ),
    "configure_optimizers": "optimizer",
}


def kind_of(node: ast.AST, text: str) -> StepKind:
    """The kind of a statement or definition from its source."""
    if isinstance(node, ast.ClassDef):
        bases = " ".join(ast.unparse(base) for base in node.bases)[:300]
        if any(name.rpartition(".")[2] == "dataclass" for name in decorators(node)) or re.search(
            r"(?i)(config|args|arguments|params)$", node.name
        ):
            return "options"
        if re.search(r"Module|Model|Network|Layer", bases):
            return "model"
        return (
            "data" if re.search(r"(?i)dataset|datamodule|loader", bases + node.name) else "function"
        )
    if isinstance(node, DEFINITIONS):
        if any(
            re.search(r"(?:click|app|cli)\.(?:option|command)", name) for name in decorators(node)
        ):
            return "options"
        if node.name in _METHODS:
            return _METHODS[node.name]
        named = named_kind(node.name.replace("_", " ") + "(")
        return named if named != "other" else "function"
    found = named_kind(text[:1_000])
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return found if found in ("train", "metric", "evaluate") else "loop"
    return found


def named_kind(text: str) -> StepKind:
    """The first kind whose signs a text shows."""
    return next((kind for kind, sign in _SIGNS if sign.search(text)), "other")


def values_of(statements: Sequence[ast.AST], most: int = 24) -> dict[str, str]:
    """Literals that statements fix: options with their defaults, keyword arguments, names, parameters."""
    found: dict[str, str] = {}
    for statement in statements:
        for name, value in _values(statement):
            if len(found) >= most:
                return found
            found.setdefault(name[:80], value[:160])
    return found


def _values(statement: ast.AST) -> Iterator[tuple[str, str]]:
    pending: list[ast.AST] = [statement]
    count = 0
    while pending and count < 700:
        node = pending.pop(0) if len(pending) < 64 else pending.pop()
        count += 1
        if isinstance(node, ast.Assign) and (value := written(node.value)) is not None:
            for target in node.targets:
                yield ast.unparse(target)[:80], value
        elif (
            isinstance(node, ast.AnnAssign)
            and node.value is not None
            and (value := written(node.value)) is not None
        ):
            yield ast.unparse(node.target)[:80], value
        elif isinstance(node, ast.Call):
            yield from _call(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from parameters(node)
        pending += children(node)


def _call(node: ast.Call) -> Iterator[tuple[str, str]]:
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    keywords = {
        k.arg: value for k in node.keywords if k.arg and (value := written(k.value)) is not None
    }
    if called in ("add_argument", "option", "argument") or called.startswith("DEFINE_"):
        names = [
            a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        if names:
            name = max(names[:3], key=len) if called in ("add_argument", "option") else names[0]
            default = keywords.get("default")
            if default is None and called.startswith("DEFINE_") and len(node.args) > 1:
                default = written(node.args[1])
            store = {"store_true": "false", "store_false": "true"}.get(keywords.get("action", ""))
            yield (
                name,
                default
                if default is not None
                else store or "(required)"
                if keywords.get("required") == "True"
                else store or default or "(none)",
            )
            return
    yield from keywords.items()


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    """Parameters of a function with their defaults, where these are literals or ``Option(literal)``."""
    positional = [*node.args.posonlyargs, *node.args.args]
    given = list(
        zip(
            positional[len(positional) - len(node.args.defaults) :],
            node.args.defaults,
            strict=False,
        )
    )
    given += [
        (arg, d)
        for arg, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=False)
        if d is not None
    ]
    for argument, default in given:
        if isinstance(default, ast.Call) and default.args:
            default = default.args[0]
        if (value := written(default)) is not None:
            yield argument.arg, value


def written(node: ast.AST | None) -> str | None:
    """A literal as it is written (texts without their quotes); ``None`` for what is no literal."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else repr(node.value)[:160]
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ast.unparse(node)
    if isinstance(node, ast.BinOp):
        left, right = written(node.left), written(node.right)
        return (
            ast.unparse(node)[:160]
            if left is not None and right is not None and len(left + right) < 60
            else None
        )
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and 0 < len(node.elts) <= 24:
        parts = [written(part) for part in node.elts]
        return (
            None
            if None in parts
            else "[" + ", ".join(part for part in parts if part is not None)[:150] + "]"
        )
    return None
