"""The one place that catches broadly: what the user can mend is one sentence and exit code 2."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable

from expbench.cli.streams import guarded
from expbench.errors import ExpbenchError, UserError
from expbench.redaction import redacted_error

EXIT_USER = 2
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


def boundary(body: Callable[[], int | None]) -> int:
    """Run a command's body and turn whatever it raises into a sentence and an exit code."""
    with guarded(os.environ):
        return _bounded(body)


def _bounded(body: Callable[[], int | None]) -> int:
    try:
        return body() or 0
    except UserError as error:
        return _say(str(error), EXIT_USER)
    except ExpbenchError as error:
        return _say(f"{error}", EXIT_FAILED)
    except KeyboardInterrupt:
        return _say("interrupted; a run goes on with `expbench resume`.", EXIT_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _say(
                f"The disk is full ({error.filename or 'no space left'}): free some space, then "
                "continue a run with `expbench resume`.",
                EXIT_USER,
            )
        return _unexpected(error)
    except Exception as error:
        return _unexpected(error)


def _say(sentence: str, code: int) -> int:
    print(f"expbench: {redacted_error(sentence)}", file=sys.stderr)  # noqa: T201
    return code


def _unexpected(error: Exception) -> int:
    if os.environ.get("EXPBENCH_DEBUG"):
        traceback.print_exc()
    return _say(
        f"unexpected {type(error).__name__}: {error}. Please report it with the output of the same "
        "command under EXPBENCH_DEBUG=1.",
        EXIT_FAILED,
    )
