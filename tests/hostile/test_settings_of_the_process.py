"""No public callable leaves a setting of the process changed, whatever threads call it at the same time."""

import locale
import random
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from threadpoolctl import threadpool_info, threadpool_limits

import rocscope as rs
from hostile.calls import callables
from rocscope._base.arrays import one_blas_thread
from rocscope.errors import _FILTERS, collected_warnings, warn, without_warnings

THREADS = 16
SOURCE = str(Path(rs.__file__).parent)


def settings():
    """Return what belongs to the process."""
    libraries = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    return {
        "BLAS threads": {path: number for path, number in libraries.items() if "openmp" not in path},
        "filters of warnings": list(warnings.filters),
        "locale": locale.setlocale(locale.LC_ALL),
        "Matplotlib": dict(mpl.rcParams),
        "figures": pyplot.get_fignums(),
        "random numbers": (random.getstate(), str(np.random.get_state())),  # noqa: NPY002 (which must stay)
        "errors of numbers": np.geterr(),
    }


def changed(before):
    """Return the settings that differ."""
    after = settings()
    return {name for name in before if before[name] != after[name]}


@pytest.fixture
def two_blas_threads():
    """Two threads of BLAS, set by a thread that has ended: newer threadpoolctl lets only one that lives change them."""
    with ThreadPoolExecutor(1) as pool:
        limits = pool.submit(threadpool_limits, 2, user_api="blas").result()
    yield
    with ThreadPoolExecutor(1) as pool:
        pool.submit(limits.restore_original_limits).result()


@pytest.fixture
def quiet(two_blas_threads, tmp_path, monkeypatch):
    """An empty folder, and no warnings.

    Matplotlib and scikit-learn change the filters of warnings for a moment themselves, which threads cannot do safely
    before Python 3.14; here they do it one at a time.
    """
    monkeypatch.chdir(tmp_path)
    ours, enter, leave = SOURCE, warnings.catch_warnings.__enter__, warnings.catch_warnings.__exit__

    def one_at_a_time(change):
        is_ours = sys._getframe(1).f_code.co_filename.startswith(ours)
        change.alone = nullcontext() if is_ours else _FILTERS
        change.alone.__enter__()
        return enter(change)

    def restored(change, *error):
        try:
            return leave(change, *error)
        finally:
            change.alone.__exit__(*error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monkeypatch.setattr(warnings.catch_warnings, "__enter__", one_at_a_time)
        monkeypatch.setattr(warnings.catch_warnings, "__exit__", restored)
        yield
        monkeypatch.undo()


@pytest.mark.parametrize(
    "part",
    [slice(None, None, 5), pytest.param(slice(None), marks=pytest.mark.slow(reason="all calls 16 times"))],
    ids=str,
)
def test_calls_in_threads_leave_the_settings_of_the_process(quiet, part):
    calls = list(callables().values())[part]
    times = 1 if part.step else THREADS

    def answer(number):
        call, usual = calls[number % len(calls)]
        with suppress(Exception):  # what it returns or raises is the matter of other tests
            call(**usual)

    before = settings()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(answer, range(times * len(calls))))
    pyplot.close("all")
    assert changed(before) == set()


# Where a lock keeps the second thread out, the first one waits for nothing.
FOR_A_MOMENT = [
    (one_blas_thread, 10),
    (collected_warnings, 10),
    (lambda: without_warnings(UserWarning, "no such"), 0.1),
]


@pytest.mark.parametrize(
    ("setting", "seconds"), FOR_A_MOMENT, ids=["one_blas_thread", "collected_warnings", "without_warnings"]
)
def test_what_is_set_for_a_moment_is_restored_in_any_order(quiet, setting, seconds):
    """One thread enters, another one too; the first leaves before the second."""
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()

    def first():
        with setting():
            first_in.set()
            second_in.wait(seconds)
        first_out.set()

    def second():
        first_in.wait(10)
        with setting():
            second_in.set()
            first_out.wait(seconds)

    before = settings()
    with ThreadPoolExecutor(2) as pool:
        for thread in [pool.submit(first), pool.submit(second)]:
            thread.result()
    assert changed(before) == set()


def test_each_thread_hears_its_own_warnings():
    both = threading.Barrier(2, timeout=5)

    def said(text):
        with collected_warnings() as texts:
            both.wait()
            warn(text)
            both.wait()
        return texts

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(said, ["one", "two"])) == [["one"], ["two"]]
