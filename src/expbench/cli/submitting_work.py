"""Bundles and their site: the work of ``expbench submit``, ``unseal`` and ``leaderboard``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal

from expbench.board import facts_of
from expbench.board.record import record
from expbench.bundle import Site, build_site, submit, unseal
from expbench.bundle.layout import SUFFIX
from expbench.bundle.sealing import Secret, new_key_file, passphrase, read_key_file
from expbench.cli.boarding import print_board
from expbench.dataset import load_suite
from expbench.dataset.errata import NO_ERRATA
from expbench.errors import UserError
from expbench.judge_eval.known import FOLDER, known_eval
from expbench.report.text import printable
from expbench.runs import Manifest, load
from expbench.schema import ResearchTask


@dataclass(frozen=True)
class Sealing:
    """What was asked for: whether to encrypt, by which key file, or which passphrase."""

    encrypt: bool
    key: Path | None
    given: str

    def secret(self, bundle: Path) -> tuple[Secret | None, Path | None]:
        """The secret, and the key file that was made for it beside the bundle, if one was."""
        if not self.encrypt:
            if self.key is not None:
                raise UserError("--key is for the encrypted part: give --encrypt too.")
            return None, None
        if self.key is not None:
            return read_key_file(self.key), None
        if self.given:
            return passphrase(self.given), None
        path = bundle.with_name(f"{bundle.name.removesuffix(SUFFIX)}.key")
        return new_key_file(path), path


def submit_run(
    folder: Path,
    out: Path | None,
    sealing: Sealing,
    allow_secret_looking: bool,
    as_json: bool,
    cache: Path,
    data: Path | None,
) -> int:
    """Make the bundle of a run and say what is in it. Raises UserError."""
    run = load(folder)
    bundle = out or Path(f"{folder.resolve().name}{SUFFIX}")
    tasks = tasks_of(run.manifest, data)
    secret, made = sealing.secret(bundle)
    try:
        done = submit(
            run,
            bundle,
            facts_of(tasks.values()),
            known_eval(run.manifest.judge, cache / FOLDER),
            tuple(tasks.values()),
            secret,
            allow_secret_looking,
        )
    except BaseException:
        if made is not None:
            made.unlink(missing_ok=True)
        raise
    console = Console(highlight=False)
    if as_json:
        console.print_json(
            data={**asdict(done), "bundle": str(bundle), "key": str(made) if made else None}
        )
        return 0
    _say(
        console,
        f"{bundle}: {done.files} files, {done.submissions} submissions, {decimal(done.size)}, "
        f"sha256 {done.sha256}",
    )
    if done.sealed:
        _say(console, f"sealed: {decimal(done.sealed)}, encrypted")
    if made is not None:
        _say(
            console, f"key: {made}; who has it can read the sealed part, and nobody can without it"
        )
    for each in done.left_out:
        _say(console, f"left out: {each}")
    return 0


def unseal_to(bundle: Path, out: Path, key: Path | None, given: str, as_json: bool) -> int:
    """Open a sealed part and say what is in it. Raises UserError."""
    if key is None and not given:
        raise UserError("Give the key file with --key, or the passphrase in EXPBENCH_PASSPHRASE.")
    done = unseal(bundle, out, read_key_file(key) if key else passphrase(given))
    console = Console(highlight=False)
    if as_json:
        console.print_json(data={"root": str(done.root), "files": done.files, "size": done.size})
        return 0
    _say(console, f"{done.root}: {done.files} files, {decimal(done.size)}")
    return 0


def build_leaderboard(
    folder: Path, out: Path, against: str, published: bool, as_json: bool, data: Path | None
) -> int:
    """Build the site and print what is on it. Exit code 2 where a bundle was refused."""
    site = build_site(folder, out, lambda each: tasks_of(each, data), against, published)
    console = Console(highlight=False)
    if as_json:
        text = record(site.board, site.sources, site.refused).model_dump_json(indent=1)
        console.print(text, markup=False, soft_wrap=True)
    else:
        _print(site, console)
    return 2 if site.refused else 0


def tasks_of(manifest: Manifest, data: Path | None) -> Mapping[str, ResearchTask]:
    """The tasks of a run's suite; none where it is not at hand in the run's version."""
    version, tasks = _suite(manifest.suite, data, manifest.errata != NO_ERRATA)
    return tasks if version == manifest.suite_version else {}


@functools.cache
def _suite(name: str, data: Path | None, errata: bool) -> tuple[str, Mapping[str, ResearchTask]]:
    try:
        suite = load_suite(name, data, errata)
    except UserError:
        return "", {}
    return suite.version, {task.id: task for task in suite.tasks}


def _print(site: Site, console: Console) -> None:
    if site.board is not None:
        print_board(site.board, console)
    for each in site.refused:
        _say(console, f"REFUSED {each.file}: {each.reason}")
    _say(console, f"{len(site.sources)} bundles, {len(site.refused)} refused: {site.files.html}")


def _say(console: Console, text: str) -> None:
    console.print(printable(text), soft_wrap=True, markup=False)
