"""Where the repository has what a Python file imports."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from expbench.tracer.modules import Imported, Module, read_module
from expbench.tracer.tree import Tree

_DEEPEST = 12


class Library:
    """The repository's Python files, read once, and what their names mean.

    ``roots`` are folders that modules are looked for in besides those that contain the file that imports.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.roots: dict[str, None] = {"": None, "src": None}
        self._modules: dict[str, Module | None] = {}
        self._files: dict[tuple[str, str, int], str | None] = {}

    def module(self, path: str) -> Module | None:
        """A file's module, or ``None`` where it cannot be read."""
        if path not in self._modules:
            self._modules[path] = read_module(path, self.tree)
        return self._modules[path]

    def file(self, imported: Imported, at: str) -> str | None:
        """The file of an imported module (a package's ``__init__``), or a folder with modules and a slash."""
        if imported.level:
            folder = posixpath.dirname(at)
            for _ in range(imported.level - 1):
                folder = posixpath.dirname(folder)
            return self._in(folder, imported.module.replace(".", "/"))
        key = (imported.module, posixpath.dirname(at), len(self.roots))
        if key not in self._files:
            self._files[key] = self._absolute(imported.module, at)
        return self._files[key]

    def _absolute(self, module: str, at: str) -> str | None:
        path = module.replace(".", "/")
        for folder in self._folders(at):
            if found := self._in(folder, path):
                return found
        if "/" in path:
            return self.tree.ending(f"{path}.py", at) or self.tree.ending(f"{path}/__init__.py", at)
        return None

    def _folders(self, at: str) -> Iterator[str]:
        """Folders of scripts around the file, the innermost first; its own; those around it; other roots."""
        around = [posixpath.dirname(at)]
        while around[-1]:
            around.append(posixpath.dirname(around[-1]))
        yield from (folder for folder in around if folder and folder in self.roots)
        for folder in around:
            yield folder
            yield f"{folder}/src".lstrip("/")
        yield from self.roots

    def _in(self, folder: str, path: str) -> str | None:
        whole = posixpath.normpath(posixpath.join(folder, path)) if folder or path else ""
        whole = "" if whole == "." else whole
        names = (
            (f"{whole}.py", f"{whole}/__init__.py", f"{whole}.ipynb")
            if path
            else (f"{whole}/__init__.py",)
        )
        for name in names:
            if name.lstrip("/") in self.tree:
                return name.lstrip("/")
        return (
            f"{whole}/"
            if whole in self.tree.folders and any(p.endswith(".py") for p in self.tree.below(whole))
            else None
        )

    def meaning(self, at: str, dotted: str, depth: int = 0) -> tuple[str, str] | None:
        """The file and the top-level name in it that a dotted name of the file ``at`` means.

        The name is empty where a module itself is meant.
        """
        if depth > _DEEPEST or (module := self.module(at)) is None:
            return None
        parts = dotted.split(".")
        for count in range(len(parts), 0, -1):
            name = ".".join(parts[:count])
            if count == 1 and name in module.defined:
                return at, name
            if name in module.imported:
                return self.imported(module.imported[name], at, parts[count:], depth + 1)
        for star in module.stars:
            file = self.file(star, at)
            if (
                file
                and file != at
                and not file.endswith("/")
                and (found := self.meaning(file, dotted, depth + 1))
            ):
                return found
        return None

    def imported(
        self, imported: Imported, at: str, rest: list[str], depth: int = 0
    ) -> tuple[str, str] | None:
        """What an imported name means, with the attributes ``rest`` of it that are used."""
        if depth > _DEEPEST:
            return None
        wanted = ([imported.name] if imported.name else []) + rest
        file = self.file(imported, at)
        if file is None:
            return None
        while wanted:
            if (not file.endswith("/") and file != at) or (imported.level == 0 and file == at):
                found = self.meaning(file, ".".join(wanted), depth + 1)
                if found is not None:
                    return found
            folder = posixpath.dirname(file)
            is_package = file.endswith(("/", "__init__.py"))
            deeper = self._in(folder, wanted[0]) if is_package else None
            if deeper is None or deeper == file:
                break
            file, wanted = deeper, wanted[1:]
        return None if file.endswith("/") else (file, "")
