"""Run inside a sandbox: a login shell on a terminal of its own, for a person outside.

Standard input brings frames, a letter and a length in four bytes before what it is: ``d`` what was typed,
``w`` the window's rows and columns as two numbers. Standard output is the terminal's output as it is. It ends
with the shell, or when standard input does.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

_HEAD = struct.Struct("!cI")
_CHUNK = 1 << 16
_LARGEST = 1 << 20
_LOOK_SECONDS = 0.2


def main(argv: list[str]) -> int:
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(argv[0], argv)
    waiting = b""
    while True:
        ready, _, _ = select.select([0, terminal], [], [], _LOOK_SECONDS)
        if terminal in ready and not _copy(terminal):
            break
        if 0 in ready:
            chunk = os.read(0, _CHUNK)
            if not chunk:
                os.kill(child, signal.SIGHUP)
                break
            waiting = _serve(terminal, waiting + chunk)
        # What the shell leaves in the background holds the terminal open.
        if not ready and _ended(child):
            return 0
    os.close(terminal)
    os.waitpid(child, 0)
    return 0


def _ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _copy(terminal: int) -> bool:
    """Pass on what the terminal shows; whether it is still there."""
    try:
        shown = os.read(terminal, _CHUNK)
    except OSError:
        return False
    while shown:
        shown = shown[os.write(1, shown) :]
    return True


def _serve(terminal: int, content: bytes) -> bytes:
    """Do what whole frames say; what is left of the last one."""
    while len(content) >= _HEAD.size:
        kind, length = _HEAD.unpack_from(content)
        if length > _LARGEST:
            sys.exit(2)
        body = content[_HEAD.size : _HEAD.size + length]
        if len(body) < length:
            break
        content = content[_HEAD.size + length :]
        if kind == b"d":
            while body:
                body = body[os.write(terminal, body) :]
        elif kind == b"w":
            rows, columns = struct.unpack("!HH", body)
            size = struct.pack("HHHH", rows, columns, 0, 0)
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    return content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
