"""A view: what is worked out about its pictures is worked out once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agent_judge.errors import ToolError
from agent_judge.tools.base import View
from agent_judge.tools.difference import DifferenceTool, differences_of, find_differences
from tests.pictures import scene


def a_view() -> View:
    source = scene((96, 80)).pixels
    edited = source.copy()
    edited[30:44, 40:60] = (220, 30, 30)
    return View(source=source, edited=edited)


def test_work_on_a_view_is_done_once_from_however_many_threads():
    done = []

    def work(view: View) -> str:
        time.sleep(0.02)  # so that all of them ask before the first has ended
        done.append(threading.get_ident())
        return f"{view.size_wh}"

    view = a_view()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: view.once(work), range(8)))
    assert results == ["(96, 80)"] * 8
    assert len(done) == 1


def test_each_view_and_each_work_has_its_own_result():
    def width(view: View) -> int:
        return view.size_wh[0]

    def height(view: View) -> int:
        return view.size_wh[1]

    one = a_view()
    other = View(source=np.zeros((5, 7, 3), np.uint8), edited=np.zeros((5, 7, 3), np.uint8))
    assert (one.once(width), one.once(height), other.once(width)) == (96, 80, 7)


def test_work_that_fails_may_be_tried_again():
    tries = []

    def work(_: View) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ToolError("not yet")
        return "done"

    view = a_view()
    with pytest.raises(ToolError):
        view.once(work)
    assert view.once(work) == "done"


def test_the_difference_tool_and_the_cross_check_share_one_result():
    view = a_view()
    found = view.once(differences_of)
    reply = DifferenceTool()(view, {})
    assert view.once(differences_of) is found
    assert found == find_differences(view.source, view.edited)
    assert reply.data["changed_fraction"] == found.to_json()["changed_fraction"]
