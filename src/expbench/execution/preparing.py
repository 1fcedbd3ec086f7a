"""Putting the reproduce script into a workspace so that it can start.

An overlay that is mounted may not be written to from outside, so what has to be changed in a running
sandbox is written by a command in it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace

from expbench.errors import SandboxError
from expbench.execution.outputs import Before
from expbench.execution.script import (
    Script,
    Tree,
    choose_interpreter,
    find,
    foreign_roots,
    is_readable_source,
    mend_text,
    replace_roots,
    shebang,
    starting_folder,
)
from expbench.sandboxes.session import Session
from expbench.schema import SCRIPT_NAME, Submission
from expbench.workspace import BlobStore, View
from expbench.workspace.submission.names import printable
from expbench.workspace.submission.nofollow import Folder

_READ = 1024**2
"""Bytes of the longest script or file with its author's paths that is looked at; others stay."""
_SECONDS = 60.0
_NAMED = 3


def placed(
    name: str, tree: Tree, view: View, submission: Submission, store: BlobStore
) -> Script | None:
    """The script that is to be run, with its bytes where they lie; ``None`` where there is none."""
    if (target := _link(view, name)) is not None:
        return Script(name, adapted=(f"it is a link to {target}",))
    path = find(name, tree)
    if not path:
        if submission.script is None or name != SCRIPT_NAME:
            return None
        adapted = ("it stood in no file of the patch: written to the root",)
        return Script(name, content=store.get(submission.script), adapted=adapted)
    content = _read(view, path)
    if content is None:
        return Script(path)
    folder = starting_folder(path, content, tree)
    notes = []
    if path != name:
        notes.append(f"found as {_shown(path)}")
    if folder:
        notes.append(f"started in {_shown(folder)}/, where the files that it names are")
    return Script(path, folder, content=content, adapted=tuple(notes))


def written(
    script: Script, tree: Tree, session: Session, before: Before
) -> tuple[Script, dict[bytes, str]]:
    """Mend the script in the sandbox; what is started, and the digests of the files that were written.

    Raises:
        SandboxError: a file could not be written.
    """
    if script.content is None:
        return script, {}
    content, notes = mend_text(script.content)
    wanted = shebang(content, script.path)
    interpreter, note = choose_interpreter(wanted, lambda program: _has(session, program))
    roots = _absent(session, foreign_roots(content, tree))
    files: dict[bytes, bytes] = {}
    if roots:
        content = replace_roots(content, roots, session.workspace)
        files = _elsewhere(session, script, tree, roots)
        notes = (*notes, *(_moved(root, files) for root in roots))
    path = os.fsencode(script.path)
    if content != script.content or path not in before.files:
        files[path] = content
    for name, text in files.items():
        _write(session, os.fsdecode(name), text)
    adapted = (*script.adapted, *notes, *filter(None, [note]))
    digests = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
    return replace(script, interpreter=interpreter, adapted=adapted), digests


def _elsewhere(
    session: Session, script: Script, tree: Tree, roots: Sequence[str]
) -> dict[bytes, bytes]:
    """Other submitted files that name one of the roots, with the workspace in its place."""
    found = {}
    others = sorted(path for path in tree.submitted if is_readable_source(path))
    with Folder(os.fsencode(session.view.files)) as folder:
        for path in others:
            content = _content(folder, path) if path != script.path else None
            if content is None:
                continue
            changed = replace_roots(content, roots, session.workspace)
            if changed != content:
                found[os.fsencode(path)] = changed
    return found


def _moved(root: str, files: dict[bytes, bytes]) -> str:
    names = list(map(printable, files))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    also = f" (also in {', '.join(names[:_NAMED])}{more})" if names else ""
    return f"{root} was taken for the repository's root{also}"


def _absent(session: Session, paths: Sequence[str]) -> list[str]:
    """Those of the paths that the sandbox does not have."""
    if not paths:
        return []
    program = 'for p; do if [ -e "$p" ]; then echo 1; else echo 0; fi; done'
    done = session.run(["bash", "-c", program, "bash", *paths], timeout=_SECONDS)
    answers = done.stdout.split()
    return [path for path, answer in zip(paths, answers, strict=False) if answer == b"0"]


def _has(session: Session, program: str) -> bool:
    words = ["bash", "-c", 'command -v -- "$1"', "bash", program]
    return session.run(words, timeout=_SECONDS).exit_code == 0


def _write(session: Session, path: str, content: bytes) -> None:
    words = ["bash", "-c", 'cat > "$1"', "bash", path]
    done = session.run(words, stdin=content, timeout=_SECONDS)
    if done.exit_code != 0 or done.error:
        why = done.error or done.stderr.decode(errors="replace").strip()[-200:]
        raise SandboxError(f"{_shown(path)} could not be written before the re-run: {why}")


def _shown(path: str) -> str:
    return printable(os.fsencode(path))


def _link(view: View, name: str) -> str | None:
    """Where a symbolic link of that name leads in the submission; ``None`` where there is none."""
    try:
        with Folder(os.fsencode(view.files)) as folder:
            return printable(folder.readlink(os.fsencode(name)))
    except OSError:
        return None


def _read(view: View, path: str) -> bytes | None:
    with Folder(os.fsencode(view.files)) as folder:
        return _content(folder, path)


def _content(folder: Folder, path: str) -> bytes | None:
    """A file's bytes; ``None`` where it is a link, longer than is looked at, or only in a lower layer."""
    try:
        with os.fdopen(folder.open(os.fsencode(path)), "rb") as file:
            content = file.read(_READ + 1)
    except OSError:
        return None
    return content if len(content) <= _READ else None
