"""A provider of models on loopback: answers, errors, and silence, one after the other."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer of the provider.

    ``hang`` says nothing at all until the server is closed; ``half`` sends headers and the beginning of a
    body, then nothing more.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    hang: bool = False
    half: bool = False


def chat(text: str = "done", **usage: Any) -> Reply:
    """An answer of the chat form, with these counts as its usage."""
    return Reply(chat_body(text, usage or {"prompt_tokens": 100, "completion_tokens": 10}))


def chat_body(text: str, usage: Any, model: str = "fake-model-0613", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **more}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        **({"usage": usage} if usage is not None else {}),
    }


def failing(status: int, **headers: str) -> Reply:
    body = {"error": {"message": f"said {status}", "type": "server_error", "code": None}}
    return Reply(body, status, {name.replace("_", "-"): text for name, text in headers.items()})


@dataclass
class Provider:
    """The running server; ``seen`` are the requests' paths and bodies, in order."""

    port: int
    seen: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def provider(answer: Callable[[int, Any], Reply]) -> Iterator[Provider]:
    """A server on loopback; ``answer`` gets the request's number, from 0, and its body."""
    closing, lock = threading.Event(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(content) if content else None
            with lock:
                number = len(state.seen)
                state.seen.append((self.path, body))
            reply = answer(number, body)
            if reply.hang:
                closing.wait(60)
                self.close_connection = True
                return
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data) + (1000 if reply.half else 0)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
            if reply.half:
                closing.wait(60)
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state = Provider(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def in_turn(*replies: Reply) -> Callable[[int, Any], Reply]:
    """These answers one after the other, the last one for ever."""
    return lambda number, _: replies[min(number, len(replies) - 1)]
