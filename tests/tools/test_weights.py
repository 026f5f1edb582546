import dataclasses
import hashlib
import resource
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agent_judge.errors import WeightsError
from agent_judge.tools.weights import (
    KNOWN,
    Weights,
    WeightsFile,
    cache_folder,
    checked_files,
    fetch,
    known,
    state_of,
)

BYTES = bytes(range(256)) * 9000


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def published(tmp_path, request):
    """A publisher on this machine, with one file."""
    handler = getattr(request, "param", Quiet)
    served = tmp_path / "served"
    served.mkdir()
    (served / "net.pth").write_bytes(BYTES)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=served)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        file = WeightsFile(
            name="net.pth",
            url=f"http://127.0.0.1:{server.server_port}/net.pth",
            sha256=hashlib.sha256(BYTES).hexdigest(),
            size_bytes=len(BYTES),
        )
        yield Weights(
            name="net",
            setting="tools.detector",
            what="a test",
            licence="MIT",
            origin="here",
            files=(file,),
        )
        server.shutdown()
        thread.join()


def with_file(weights, **changes):
    return dataclasses.replace(weights, files=(dataclasses.replace(weights.files[0], **changes),))


@pytest.mark.slow
def test_fetched_file_is_checked_kept_and_not_fetched_again(published, tmp_path):
    folder = tmp_path / "cache" / "weights"
    steps = []
    assert state_of(published.files[0], folder) == "missing"
    paths = fetch(published, folder, lambda done, total: steps.append((done, total)))
    assert paths == (folder / "net.pth",)
    assert paths[0].read_bytes() == BYTES
    assert steps[-1] == (len(BYTES), len(BYTES))
    assert len(steps) > 1
    assert state_of(published.files[0], folder) == "ready"
    elsewhere = with_file(published, url="http://127.0.0.1:1/gone")
    assert fetch(elsewhere, folder) == paths


@pytest.mark.slow
def test_another_file_than_the_known_one_is_not_kept(published, tmp_path):
    with pytest.raises(WeightsError, match="another file than the known one"):
        fetch(with_file(published, sha256="0" * 64), tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/net.pth", "{served}/no-such-file"])
@pytest.mark.slow
def test_without_a_connection_it_says_what_to_place_where(published, tmp_path, url):
    url = url.format(served=published.files[0].url)
    folder = tmp_path / "cache"
    with pytest.raises(WeightsError) as caught:
        fetch(with_file(published, url=url), folder)
    said = str(caught.value)
    for part in (url, published.files[0].sha256, str(len(BYTES)), str(folder / "net.pth")):
        assert part in said
    assert list(folder.iterdir()) == []


class CutShort(Quiet):
    """Promises the whole file and sends half of it."""

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(len(BYTES) // 2))


@pytest.mark.slow
@pytest.mark.parametrize("published", [CutShort], indirect=True)
def test_connection_that_ends_early_is_no_other_file(published, tmp_path):
    with pytest.raises(WeightsError, match=f"ended after {len(BYTES) // 2} of {len(BYTES)} bytes"):
        fetch(published, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


class Together(Quiet):
    """Sends the second half only when another download has come as far."""

    met = threading.Barrier(2)

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(len(BYTES) // 2))
        self.met.wait(timeout=60)
        outputfile.write(source.read())


@pytest.mark.slow
@pytest.mark.parametrize("published", [Together], indirect=True)
def test_two_fetches_at_once_both_get_the_file(published, tmp_path):
    folder = tmp_path / "cache"
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(fetch, published, folder) for _ in range(2)]
        assert {fetched.result() for fetched in both} == {(folder / "net.pth",)}
    assert [path.read_bytes() for path in folder.iterdir()] == [BYTES]


@pytest.mark.slow
def test_disk_that_is_full_is_told_as_that_and_nothing_is_left(published, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(BYTES) // 2, before[1]))
    try:
        with pytest.raises(WeightsError, match=r"net\.pth cannot be written to .*cache: File too"):
            fetch(published, tmp_path / "cache")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.slow
def test_cache_that_cannot_be_made_is_told_in_one_line(published, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WeightsError, match=r"cannot be written to .*file/cache: Not a directory"):
        fetch(published, tmp_path / "file" / "cache")


@pytest.mark.slow
def test_missing_file_names_the_command_that_fetches_it(published, tmp_path):
    with pytest.raises(WeightsError, match="agent-judge weights fetch net"):
        checked_files(published, tmp_path)


@pytest.mark.parametrize("way", [fetch, checked_files])
def test_every_file_that_is_missing_is_named_at_once(tmp_path, way):
    files = [
        WeightsFile(name=name, url=f"http://127.0.0.1:1/{name}", sha256="0" * 64, size_bytes=3)
        for name in ("net.pth", "vocab.txt")
    ]
    two = dataclasses.replace(KNOWN[0], files=tuple(files))
    with pytest.raises(WeightsError) as caught:
        way(two, tmp_path)
    for file in files:
        assert f"{file.url} (3 bytes, " in str(caught.value)
        assert f"to {tmp_path / file.name}" in str(caught.value)


@pytest.mark.slow
def test_damaged_file_is_never_used(published, tmp_path):
    (tmp_path / "net.pth").write_bytes(BYTES[:-1] + b"x")
    assert state_of(published.files[0], tmp_path) == "ready"
    with pytest.raises(WeightsError, match="damaged"):
        checked_files(published, tmp_path)
    (tmp_path / "net.pth").write_bytes(BYTES[:-1])
    assert state_of(published.files[0], tmp_path) == "wrong size"


@pytest.mark.slow
def test_file_of_wrong_size_is_fetched_again(published, tmp_path):
    (tmp_path / "net.pth").write_bytes(b"half")
    assert fetch(published, tmp_path)[0].read_bytes() == BYTES


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(WeightsError, match="groundingdino-swint, groundingdino-swinb"):
        known("yolo")
    assert known("groundingdino-swint") is KNOWN[0]


def test_registry_is_complete():
    for weights in KNOWN:
        assert weights.licence in ("Apache-2.0", "BSD-3-Clause")
        for file in weights.files:
            assert file.url.startswith("https://")
            assert file.url.endswith((file.name, "vocab.txt"))
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.size_bytes > 0


def test_cache_lies_in_the_users_own_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "agent-judge" / "weights"
