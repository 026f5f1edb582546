"""The server as the network sees it: real sockets, hostile requests."""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from agent_judge.annotate.server import MAX_BODY_BYTES
from tests.annotate.sessions import said, served, write_rows

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(write_rows(tmp_path_factory.mktemp("served"), 3)) as (_, running):
        yield running


def ask(server, path, *, method="GET", body=None, headers=(), token=None):
    """Status, headers and body of a request to a path behind the token."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    token = server.token if token is None else token
    connection.request(method, f"/{token}/{path}", body, dict(headers))
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, reply.headers, data


def test_it_listens_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert urlsplit(server.url).hostname == "127.0.0.1"
    assert len(server.token) >= 43  # 256 bits


@pytest.mark.parametrize("path", ["", "about", "assets/main.js", "pictures/0/source"])
def test_nothing_is_answered_without_the_token(server, path):
    for token in ("", "x", server.token[:-1], server.token + "x", "%00"):
        status, _, data = ask(server, path, token=token)
        assert status == 404
        assert server.token.encode() not in data


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "evil.example:{port}", "[::1]:{port}"]
)
def test_a_name_pointed_at_this_machine_gets_nothing(server, host):
    status, _, data = ask(server, "about", headers={"Host": host.format(port=server.server_port)})
    assert status == 403
    assert b"ladders" not in data


def test_both_names_of_this_machine_do(server):
    for name in ("127.0.0.1", "localhost"):
        headers = {"Host": f"{name}:{server.server_port}"}
        assert ask(server, "about", headers=headers)[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({**JSON, "Origin": "http://evil.example"}, 403),
        ({**JSON, "Origin": "null"}, 403),
        (JSON, 200),
    ],
)
def test_only_the_page_may_save(server, headers, status):
    body = json.dumps(said())
    assert ask(server, "entries/0", method="PUT", body=body, headers=headers)[0] == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 400),
        ("{", 400),
        ("[" * 50_000, 400),
        ("null", 400),
        ("{}", 400),
        ("x" * (MAX_BODY_BYTES + 1), 413),
    ],
)
def test_a_body_that_is_no_rating_is_refused(server, body, status):
    found, _, data = ask(server, "entries/0", method="PUT", body=body, headers=JSON)
    assert found == status
    assert json.loads(data)["error"]


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "assets/../server.py",
        "assets/%2e%2e/server.py",
        "assets/",
        "rows/99",
        "rows/-1",
        "rows/x",
        "pictures/0/reference",
        "pictures/0/../../x",
        "entries/0",
    ],
)
def test_what_is_not_there_is_404(server, path):
    assert ask(server, path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
def test_other_methods_are_not_known(server, method):
    assert ask(server, "about", method=method)[0] == 501


def test_every_answer_forbids_what_the_page_does_not_need(server):
    for path in ("", "about", "nothing", "pictures/0/difference"):
        _, headers, _ = ask(server, path)
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "script-src 'self';" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Python" not in headers["Server"]


@pytest.mark.slow
def test_pictures_come_with_their_kind(server):
    for name in ("source", "edited", "difference"):
        status, headers, data = ask(server, f"pictures/1/{name}")
        assert (status, headers["Content-Type"]) == (200, "image/png")
        assert data.startswith(b"\x89PNG")
