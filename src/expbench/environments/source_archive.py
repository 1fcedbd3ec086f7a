"""Download one source archive, without building anything of it.

Run by an empty environment's Python as ``source_archive.py FOLDER REQUIREMENT DEST [OPTION …]``: FOLDER
holds pip, whose own finder and settings are used, since pip alone would run the archive's build script
to learn its name. Writes the file's name to standard output.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Any

_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_CAP = 2 * 1024**3


def main(folder: str, arguments: list[str]) -> int:
    sys.path.append(folder)
    from pip._internal.commands.index import IndexCommand

    class Source(IndexCommand):
        """pip's search for versions, ended by a download."""

        def run(self, options: Any, args: list[str]) -> int:
            with self._build_session(options) as session:
                finder = self._build_package_finder(options, session)
                link = _best(finder, args[0])
                if link is None:
                    print(f"ERROR: there is no source archive of {args[0]}", file=sys.stderr)  # noqa: T201
                    return 1
                print(_download(session, link, Path(args[1])))  # noqa: T201
            return 0

    return Source("install", "Download a source archive.").main(arguments)


def _best(finder: Any, text: str) -> Any:
    """The newest version that fits; pre-releases only where nothing else does."""
    from pip._vendor.packaging.requirements import Requirement

    requirement = Requirement(text)
    found = [
        each
        for each in finder.find_all_candidates(requirement.name)
        if each.link.filename.endswith(_SUFFIXES)
        and requirement.specifier.contains(str(each.version), prereleases=True)
    ]
    final = [each for each in found if not each.version.is_prerelease]
    return max(final or found, key=lambda each: each.version).link if found else None


def _download(session: Any, link: Any, folder: Path) -> str:
    """Write what a link leads to, checked against its hash. Raises ValueError."""
    name = Path(link.filename).name
    if not re.fullmatch(r"[A-Za-z0-9][\w.+!-]*", name):
        raise ValueError("the archive's name is none")
    response = session.get(link.url_without_fragment, stream=True)
    response.raise_for_status()
    digest = hashlib.new(link.hash_name) if link.hash_name else None
    written = 0
    with (folder / name).open("xb") as file:
        for chunk in response.iter_content(1 << 16):
            written += len(chunk)
            if written > _CAP:
                raise ValueError("the archive is too large")
            file.write(chunk)
            if digest is not None:
                digest.update(chunk)
    if digest is not None and digest.hexdigest() != link.hash:
        raise ValueError("the archive is not what the index announced")
    return name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
