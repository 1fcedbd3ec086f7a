"""Random seeds one higher than asked for, in every Python process that imports this at its start.

Runs inside the sandbox, alone; its text is sent there with a call of :func:`begin` at the end. Whoever sets
a seed of ``random``, ``numpy.random``, ``torch``, ``tensorflow`` or ``jax`` gets the next one, and at the
process's end it is told whether a seeded generator was drawn from: a seed that is set and never used, or
code that has none, says nothing. Without a seed nothing is changed.
"""
# ruff: noqa: PTH123

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
from typing import Any

_KEPT = 200
"""Seeded generators that are looked at again at the end."""

_WORD = 2**32
_NUMPY_CLASSES = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence")


def begin(folder: str) -> None:
    """Change seeds in this process, and tell into the folder at its end."""
    if getattr(sys, "_expbench_seeds", False):
        return
    sys._expbench_seeds = True  # type: ignore[attr-defined]
    seeds = Seeds(folder)
    sys.meta_path.insert(0, _Finder(seeds))
    for name, mend in seeds.modules.items():
        if name in sys.modules:
            mend(sys.modules[name])
    atexit.register(seeds.tell)


class Seeds:
    """What was seeded in this process, and the state that each generator had then."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.drawn = False
        self.given: list[tuple[Any, Any]] = []
        """Functions that tell a generator's state, with the state after seeding."""
        self.modules = {
            "random": self._random,
            "numpy.random": self._numpy,
            "torch": self._torch,
            "tensorflow": self._tensorflow,
            "jax.random": self._jax,
        }

    def seeded(self, state: Any) -> None:
        """A generator was seeded; ``state`` tells its state."""
        if len(self.given) < _KEPT:
            self.given.append((state, state()))

    def tell(self) -> None:
        """Write down whether a seeded generator was drawn from."""
        drawn = self.drawn or any(_differ(state(), first) for state, first in self.given)
        if self.drawn or self.given:
            with open(os.path.join(self.folder, f"{os.getpid()}.seeds"), "w") as file:  # noqa: PTH118
                file.write("drawn\n" if drawn else "seeded\n")

    def again(self, state: Any) -> None:
        """A generator is about to be seeded once more: what it was used for until now counts."""
        for number, (known, first) in enumerate(self.given):
            if known == state:
                self.drawn = self.drawn or _differ(state(), first)
                del self.given[number]
                return

    # --- libraries -------------------------------------------------------------------------------

    def _random(self, module: Any) -> None:
        plain, shared = module.Random, module.seed
        seeds = self

        def seed_one(self: Any, a: Any = None, *rest: Any, **named: Any) -> None:
            plain.seed(self, _next(a, 0), *rest, **named)
            if a is not None:
                seeds.seeded(self.getstate)

        def seed(a: Any = None, *rest: Any, **named: Any) -> None:
            seeds.again(module.getstate)
            shared(_next(a, 0), *rest, **named)
            if a is not None:
                seeds.seeded(module.getstate)

        module.Random, module.seed = _like(plain, seed=seed_one), seed

    def _numpy(self, module: Any) -> None:
        seeds = self
        shared, making = module.seed, module.default_rng

        def seed(seed: Any = None) -> None:
            seeds.again(_numpy_state)
            shared(_next(seed, _WORD))
            if seed is not None:
                seeds.seeded(_numpy_state)

        def _numpy_state() -> Any:
            name, keys, *rest = module.get_state()
            return name, keys.tobytes(), rest

        def default_rng(seed: Any = None) -> Any:
            made = making(_next(seed, 0))
            if seed is not None and made is not seed:
                seeds.seeded(lambda: repr(made.bit_generator.state))
            return made

        plain = module.RandomState

        def start(self: Any, seed: Any = None) -> None:
            plain.__init__(self, _next(seed, _WORD))
            if _next(seed, _WORD) is not seed:
                seeds.seeded(lambda: repr(self.get_state(legacy=False)))

        def seed_one(self: Any, seed: Any = None) -> None:
            plain.seed(self, _next(seed, _WORD))
            if seed is not None:
                seeds.seeded(lambda: repr(self.get_state(legacy=False)))

        module.seed, module.default_rng = seed, default_rng
        module.RandomState = _like(plain, __init__=start, seed=seed_one)
        for name in _NUMPY_CLASSES:
            if hasattr(module, name):
                setattr(module, name, self._bits(getattr(module, name)))

    def _bits(self, plain: Any) -> Any:
        """A class of bit generators or seed sequences whose first argument is a seed."""

        def start(bits: Any, seed: Any = None, *rest: Any, **named: Any) -> None:
            plain.__init__(bits, _next(seed, 0), *rest, **named)
            if seed is not None and hasattr(bits, "random_raw"):
                self.seeded(lambda: repr(bits.state))

        return _like(plain, __init__=start)

    def _torch(self, module: Any) -> None:
        shared = module.manual_seed

        def manual_seed(seed: Any) -> Any:
            self.again(_torch_state)
            made = shared(_next(seed, 2**63))
            self.seeded(_torch_state)
            return made

        def _torch_state() -> Any:
            return module.get_rng_state().numpy().tobytes()

        module.manual_seed = module.random.manual_seed = manual_seed

    def _tensorflow(self, module: Any) -> None:
        shared = module.random.set_seed

        def set_seed(seed: Any) -> None:
            self.drawn = True
            shared(_next(seed, 2**31))

        module.random.set_seed = set_seed

    def _jax(self, module: Any) -> None:
        for name in ("PRNGKey", "key"):
            if hasattr(module, name):
                setattr(module, name, self._key(getattr(module, name)))

    def _key(self, plain: Any) -> Any:
        def key(seed: Any, *rest: Any, **named: Any) -> Any:
            self.drawn = True
            return plain(_next(seed, 2**31), *rest, **named)

        return key


class _Finder:
    """Lets modules be found as ever, and mends those that have seeds once they are loaded."""

    def __init__(self, seeds: Seeds) -> None:
        self.seeds = seeds
        self.busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.seeds.modules or name in self.busy:
            return None
        self.busy.add(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        plain: Any = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            plain(module)
            self.seeds.modules[name](module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _like(plain: Any, **methods: Any) -> Any:
    """A subclass with these methods, of which every instance of the plain class is one."""
    base: Any = type(plain)

    def has_instance(cls: Any, thing: Any) -> bool:
        return isinstance(thing, plain)

    def has_subclass(cls: Any, other: Any) -> bool:
        return issubclass(other, plain)

    checks = {"__instancecheck__": has_instance, "__subclasscheck__": has_subclass}
    alike = type("Alike", (base,), checks)
    return alike(plain.__name__, (plain,), {"__module__": plain.__module__, **methods})


def _next(seed: Any, bound: int) -> Any:
    """The seed after this one, below ``bound`` unless that is 0; what is no seed stays."""
    if isinstance(seed, str):
        return f"{seed} "
    if isinstance(seed, (bytes, bytearray)):
        return bytes(seed) + b" "
    if isinstance(seed, float):
        return seed + 1.0
    if hasattr(seed, "__index__"):
        after = seed.__index__() + 1
        return after % bound if bound else after
    if isinstance(seed, (list, tuple)) and seed and hasattr(seed[0], "__index__"):
        return [_next(seed[0], bound), *seed[1:]]
    return seed


def _differ(one: Any, other: Any) -> bool:
    return bool(one != other)
