import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agent_judge.tools.worker import Worker


class Network:
    """Doubles arrays; notes every batch; can be held shut from outside."""

    def __init__(self, *, is_open=True, limit=99):
        self.gate = threading.Event()
        if is_open:
            self.gate.set()
        self.entered = threading.Event()
        self.batches = []
        self.busy = threading.Lock()
        self.limit = limit

    def __call__(self, items):
        assert self.busy.acquire(blocking=False), "two calls at once"
        try:
            self.entered.set()
            self.gate.wait()
            self.batches.append([item.tolist() for item in items])
            if len(items) > self.limit:
                raise MemoryError
            return [item * 2 for item in items]
        finally:
            self.busy.release()


def shape(item):
    return item.shape


def test_each_caller_gets_the_result_of_its_own_item_and_runs_never_overlap():
    worker = Worker(Network(), key=shape, max_batch=4)
    items = [np.full(1 + i % 3, i) for i in range(60)]
    with ThreadPoolExecutor(12) as pool:
        results = list(pool.map(worker, items))
    assert all(np.array_equal(r, 2 * item) for r, item in zip(results, items, strict=True))


def test_waiting_items_of_one_size_share_a_batch_and_no_other():
    network = Network(is_open=False)
    worker = Worker(network, key=shape, max_batch=3)
    first = worker.submit(np.array([0]))
    network.entered.wait()
    rest = [worker.submit(np.array(v)) for v in ([1], [2, 2], [3], [4, 4], [5], [6])]
    network.gate.set()
    for future in (first, *rest):
        future.result()
    assert network.batches == [[[0]], [[1], [3], [5]], [[2, 2], [4, 4]], [[6]]]


def test_cancelled_item_is_never_run_and_the_next_one_is():
    network = Network(is_open=False)
    worker = Worker(network, key=shape)
    first = worker.submit(np.array([0]))
    network.entered.wait()
    second, third = worker.submit(np.array([1])), worker.submit(np.array([2]))
    assert second.cancel()
    network.gate.set()
    assert third.result().tolist() == [4]
    assert first.result().tolist() == [0]
    assert network.batches == [[[0]], [[2]]]


async def test_cancelled_loop_frees_its_place_and_the_others_go_on():
    network = Network(is_open=False)
    worker = Worker(network, key=shape)
    first = asyncio.wrap_future(worker.submit(np.array([0])))
    await asyncio.to_thread(network.entered.wait)
    given_up = asyncio.wrap_future(worker.submit(np.array([1])))
    last = asyncio.wrap_future(worker.submit(np.array([2])))
    given_up.cancel()
    await asyncio.sleep(0)
    network.gate.set()
    assert (await first).tolist() == [0]
    assert (await last).tolist() == [4]
    assert network.batches == [[[0]], [[2]]]


def test_full_queue_makes_callers_wait():
    network = Network(is_open=False)
    worker = Worker(network, key=shape, max_waiting=2)
    worker.submit(np.array([0]))
    network.entered.wait()
    for value in (1, 2):
        worker.submit(np.array([value]))
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(worker, np.array([3]))
        assert not late.done()
        network.gate.set()
        assert late.result().tolist() == [6]
    assert network.batches == [[[0]], [[1]], [[2]], [[3]]]


def test_batch_too_large_for_memory_is_run_item_by_item():
    network = Network(is_open=False, limit=1)
    worker = Worker(network, key=shape, max_batch=8)
    first = worker.submit(np.array([0]))
    network.entered.wait()
    rest = [worker.submit(np.array([value])) for value in (1, 2, 3)]
    network.gate.set()
    assert [f.result().tolist() for f in (first, *rest)] == [[0], [2], [4], [6]]


def test_error_reaches_every_caller_of_the_batch_and_the_worker_lives_on():
    def run(items):
        if items[0][0] < 0:
            raise ValueError("negative")
        return items

    worker = Worker(run, key=shape)
    with pytest.raises(ValueError, match="negative"):
        worker(np.array([-1]))
    assert worker(np.array([7])).tolist() == [7]


def test_results_that_are_not_one_for_each_item_reach_every_caller_and_the_worker_lives_on():
    network = Network(is_open=False)
    worker = Worker(lambda items: network(items)[:2], key=shape, max_batch=3)
    first = worker.submit(np.array([0]))
    network.entered.wait()
    three = [worker.submit(np.array([value])) for value in (1, 2, 3)]
    network.gate.set()
    assert first.result().tolist() == [0]
    for future in three:
        with pytest.raises(ValueError, match="shorter"):
            future.result(timeout=60)
    assert worker(np.array([4])).tolist() == [8]


def test_item_without_a_key_fails_alone():
    worker = Worker(Network(), key=shape)
    with pytest.raises(AttributeError):
        worker(3)
    assert worker(np.array([4])).tolist() == [8]


def test_item_that_runs_out_of_memory_alone_says_so():
    worker = Worker(Network(limit=0), key=shape)
    with pytest.raises(MemoryError):
        worker(np.array([1]))


def test_closed_worker_ends_its_batch_and_gives_up_the_rest():
    network = Network(is_open=False)
    worker = Worker(network, key=shape)
    first = worker.submit(np.array([0]))
    network.entered.wait()
    second = worker.submit(np.array([1]))
    network.gate.set()
    worker.close()
    assert first.result().tolist() == [0]
    assert second.cancelled() or second.result().tolist() == [2]
    assert worker.submit(np.array([2])).cancelled()
