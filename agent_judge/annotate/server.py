"""The page's server: this machine only, and only for who has the address with its token.

Other users of the machine, other pages in the same browser, and names that an attacker points at
127.0.0.1 (DNS rebinding) can reach the port. So every request must carry the token and name this
host, and what changes something must come from this page.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agent_judge.annotate.pictures import Picture
from agent_judge.annotate.session import Session
from agent_judge.errors import InputError

HOST = "127.0.0.1"
MAX_BODY_BYTES = 1 << 17
_WEB = Path(__file__).resolve().parent / "web"
_MIME = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_PAGE = "page.html"
_IDLE_S = 60
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class AnnotationServer(ThreadingHTTPServer):
    """Serves one session until it is shut down."""

    daemon_threads = True

    def __init__(self, session: Session, port: int) -> None:
        """Listen on a port of the loopback interface.

        Args:
            session: what is served.
            port: 0 for any that is free.

        Raises:
            OSError: the port is taken.
        """
        self.session = session
        self.token = secrets.token_urlsafe(32)
        self.assets = {
            path.name: Picture(data=path.read_bytes(), mime=f"{_MIME[path.suffix]}; charset=utf-8")
            for path in _WEB.iterdir()
            if path.suffix in _MIME
        }
        super().__init__((HOST, port), _Handler)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which a browser may call it."""
        return tuple(f"{name}:{self.server_port}" for name in (HOST, "localhost"))

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{self.hosts[0]}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's
        """Say nothing of browsers that leave before the answer has come."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Refused(Exception):
    """A request that is not answered as asked."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: AnnotationServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "agent-judge", ""
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"
    timeout = _IDLE_S

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: an address holds the token, and terminals are shared."""

    def _answer(self) -> None:
        try:
            body = self._body()
            path, query = self._checked_path()
            answer = self._find(path, query) if body is None else self._keep(path, body)
        except _Refused as err:
            self._send_json(err.status, {"error": str(err)})
        except LookupError:
            self._send_json(404, {"error": "no such thing"})
        except InputError as err:
            self._send_json(400, {"error": str(err)})
        except OSError as err:
            self._send_json(500, {"error": f"the disk refused: {err.strerror or err}"})
        else:
            if isinstance(answer, Picture):
                self._send(200, answer.data, answer.mime)
            else:
                self._send_json(200, answer)

    def _checked_path(self) -> tuple[list[str], Mapping[str, list[str]]]:
        """The path behind the token, and the query."""
        if self.headers.get_all("Host") not in [[host] for host in self.server.hosts]:
            raise _Refused(403, "call this server by its own address")
        address = urlsplit(self.path)
        token, _, path = address.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refused(404, "no such page: open the address that annotate printed")
        return path.split("/"), parse_qs(address.query)

    def _body(self) -> bytes | None:
        """The body of a request that changes something; None for one that asks."""
        if self.command != "PUT":
            return None
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            raise _Refused(413, f"expected a body of at most {MAX_BODY_BYTES} bytes")
        return self.rfile.read(int(length))

    def _find(self, path: list[str], query: Mapping[str, list[str]]) -> Any:  # noqa: ANN401 - JSON
        session = self.server.session
        by = query.get("by", [""])[0]
        match path:
            case [""]:
                return self.server.assets[_PAGE]
            case ["assets", name]:
                return self.server.assets[name]
            case ["about"]:
                return session.about()
            case ["entries"]:
                return session.entries_of(by)
            case ["calibration"]:
                return session.calibration(by)
            case ["rows", number] if number.isdecimal():
                return session.row(int(number))
            case ["pictures", number, name] if number.isdecimal():
                return session.picture(int(number), name)
        raise LookupError(path)

    def _keep(self, path: list[str], body: bytes) -> Any:  # noqa: ANN401 - JSON
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self.server.hosts]:
            raise _Refused(403, "only the page itself may save")
        if self.headers.get_content_type() != "application/json":
            raise _Refused(415, "expected JSON")
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as err:
            raise _Refused(400, f"expected JSON: {err}") from err
        match path:
            case ["entries", number] if number.isdecimal():
                return self.server.session.save(int(number), data)
        raise LookupError(path)

    def _send_json(self, status: int, data: object) -> None:
        text = json.dumps(data, ensure_ascii=False)
        self._send(status, text.encode(), "application/json; charset=utf-8")

    def _send(self, status: int, data: bytes, mime: str) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        # The address holds a token of this session, so what was fetched cannot grow old.
        keep = "private, max-age=3600" if mime.startswith("image/") else "no-store"
        self.send_header("Cache-Control", keep)
        self.send_header("Content-Type", mime)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
