"""An endpoint below HTTP: it reads requests and writes whatever bytes a test wants."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Self


class RawEndpoint:
    """Answers every request with the same bytes, for ever where `parts` never end.

    with RawEndpoint([b"HTTP/1.1 204 No Content\\r\\n\\r\\n"]) as endpoint: ...
    """

    def __init__(self, parts: Iterable[bytes], *, hangs_up: bool = True) -> None:
        self._parts = parts
        self._hangs_up = hangs_up
        self._stopped = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        _read_request(connection)
        for part in self._parts:
            if self._stopped.is_set():
                return
            connection.sendall(part)
        while not self._hangs_up and not self._stopped.wait(0.01):
            pass


def _read_request(connection: socket.socket) -> None:
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536)
    head, _, body = head.partition(b"\r\n\r\n")
    lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
    length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
    while len(body) < length:
        body += connection.recv(65536)
