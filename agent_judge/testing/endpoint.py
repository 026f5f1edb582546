"""A loopback endpoint that speaks OpenAI Chat Completions over a real socket.

    with LoopbackEndpoint(in_turn(calls(("difference", {})), verdict("VC", 4))) as endpoint:
        ...  # point anything at endpoint.base_url
        assert endpoint.requests[1].messages[-1]["role"] == "user"

It needs nothing outside the standard library, listens on 127.0.0.1 only and answers from threads.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from collections import deque
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from agent_judge.testing.answers import Answer, Policy, as_answer, fails
from agent_judge.testing.request import ChatRequest

_LINGER_S = 0.01


class LoopbackEndpoint:
    """The endpoint; a context manager, which may be entered again: it comes back at its address."""

    def __init__(
        self,
        policy: Policy,
        *,
        models: Sequence[str] = ("loopback",),
        latency_s: float = 0.0,
        api_key: str | None = None,
        keep: int | None = None,
    ) -> None:
        """Set up; it listens once entered.

        Args:
            policy: decides on each request, see `answers.py` and `dialects.py`.
            models: what `/v1/models` lists.
            latency_s: added before every completion.
            api_key: where given, requests without it get a 401.
            keep: how many of the last requests to keep; None for all.
        """
        self._policy = policy
        self._models = models
        self._latency_s = latency_s
        self._api_key = api_key
        self._lock = threading.Lock()
        self._count = 0
        self._requests: deque[ChatRequest] = deque(maxlen=keep)
        self._stopped = threading.Event()
        self._port = 0
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT/v1`."""
        if self._server is None:
            raise RuntimeError("the endpoint is not running: use it as a context manager")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> list[ChatRequest]:
        """The kept chat requests in order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def count(self) -> int:
        """How many chat requests came."""
        with self._lock:
            return self._count

    def __enter__(self) -> Self:
        self._stopped.clear()
        self._server = _Server(self, self._port)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LINGER_S,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._stopped.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()
        self._server = None

    def respond(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> Answer:
        """The answer to one HTTP request; records chat requests."""
        if self._api_key is not None and headers.get("authorization") != f"Bearer {self._api_key}":
            return fails(401, "Incorrect API key provided", code="invalid_api_key")
        if (method, path) == ("GET", "/v1/models"):
            data = [{"id": name, "object": "model", "created": 0} for name in self._models]
            return Answer(body={"object": "list", "data": data})
        if (method, path) != ("POST", "/v1/chat/completions"):
            return fails(404, f"no {method} {path} here")
        try:
            body = json.loads(raw)
        except ValueError as err:
            return fails(400, f"the body is no JSON: {err}")
        request = self._record(body, headers, raw)
        answer = as_answer(self._policy(request))
        self._stopped.wait(self._latency_s + answer.delay_s)
        if answer.hangs:
            self._stopped.wait()
        return answer if answer.body is not None else _completion(answer, request)

    def _record(self, body: Any, headers: dict[str, str], raw: bytes) -> ChatRequest:  # noqa: ANN401 - JSON
        with self._lock:
            request = ChatRequest(
                number=self._count,
                body=body,
                headers=headers,
                size_bytes=len(raw),
                digest=hashlib.sha256(raw).hexdigest(),
            )
            self._count += 1
            self._requests.append(request)
        return request


def _completion(answer: Answer, request: ChatRequest) -> Answer:
    message = dict(answer.message or {})
    finish = answer.finish_reason or ("tool_calls" if message.get("tool_calls") else "stop")
    body = {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model or request.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if answer.usage is not None:
        body["usage"] = dict(answer.usage)
    return Answer(status=answer.status, headers=answer.headers, body=body, torn=answer.torn)


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined on close, so that a test leaves nothing behind
    request_queue_size = 128

    def __init__(self, endpoint: LoopbackEndpoint, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.endpoint = endpoint
        self._connections: set[socket.socket] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as in the base class
        self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End every connection that a client keeps open."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """A client that hangs up is no fault of the endpoint; other errors are shown."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def _handle(self, raw: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.partition("?")[0]
        answer = self.server.endpoint.respond(self.command, path, headers, raw)
        if answer.hangs:
            self.close_connection = True
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        head = {"Content-Type": "application/json", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} {self.responses.get(answer.status, ('',))[0]}"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        lines += [f"Content-Length: {len(body)}", "", ""]
        sent = body[: len(body) // 2] if answer.torn else body
        self.close_connection = self.close_connection or answer.torn
        self.wfile.write("\r\n".join(lines).encode() + sent)  # one write: no delayed segments
