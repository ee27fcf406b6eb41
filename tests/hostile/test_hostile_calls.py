"""Every signature is a contract: no public callable fails with an error of another library, hangs or fills memory."""

import random
import resource
import signal
import warnings

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.base import BaseEstimator

from hostile.calls import callables, wanted
from hostile.values import VALUES
from rocscope.errors import RocscopeError

MOST_SECONDS, MOST_WAITED = 20, 120  # of a call: of the processor, and by the clock
MOST_BYTES, MOST_ADDRESSES = 2**30, 3 * 2**30  # what a process may grow by; threads take addresses that they never use
FEW_CALLS, PARTS = 400, 12  # of some 125,000; the parts take a minute or so each


def cases():
    """Yield every callable with one parameter at a time replaced by each value."""
    for name, (call, usual) in callables().items():
        for parameter in wanted(call):
            for kind, made in VALUES.items():
                yield f"{name}: {parameter} {kind}", call, usual, parameter, made


class Hang(BaseException):
    """A call that does not come to an end."""


def _stop(*_):
    raise Hang


def _is_of_sklearn(call, parameter):
    """Whether arguments are checked by scikit-learn, whose own tests of estimators ask for its errors."""
    return isinstance(getattr(call, "__self__", None), BaseEstimator) and parameter in ("X", "y", "sample_weight")


def failure(call, usual, parameter, made):
    """Return what went wrong in a call; None where it answers or is refused in one clear line."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MOST_WAITED)
    try:
        call(**usual | {parameter: made()})
    except RocscopeError as error:
        words = str(error)
        return f"words: {words[:100]}" if "\n" in words or len(words) > 1_000 else None
    except Exception as error:  # noqa: BLE001 (which must not be)
        if isinstance(error, TypeError | ValueError) and _is_of_sklearn(call, parameter):
            return None
        return f"{type(error).__name__}: {str(error)[:100]}"
    except Hang:
        return f"runs for more than {MOST_SECONDS} s"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def _spread(calls):
    """Yield hostile calls in an order in which neighbours have nothing in common."""
    return random.Random(1).sample(calls, len(calls))


@pytest.mark.parametrize("part", [pytest.param(part, marks=pytest.mark.slow) for part in range(PARTS)] + ["few"])
def test_hostile_values_are_answered_or_refused(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some values are names of files
    every = _spread(list(cases()))
    chosen = every[:FEW_CALLS] if part == "few" else every[part::PARTS]
    before = {each: signal.signal(each, _stop) for each in (signal.SIGVTALRM, signal.SIGALRM)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MOST_ADDRESSES, limits[1]))
    wrong = {}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for case, *call in chosen:
                if (found := failure(*call)) is not None:
                    wrong[case] = found
                if case.startswith("plotting"):
                    pyplot.close("all")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        for each, handler in before.items():
            signal.signal(each, handler)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    print(f"{len(chosen):,} calls of {len(callables())} callables: {len(wrong)} wrong, {grown >> 20} MiB more at most")
    assert not wrong, "\n".join(f"{case}: {words}" for case, words in list(wrong.items())[:60])
    assert grown < MOST_BYTES


def _address_space():
    with open("/proc/self/statm") as file:  # noqa: PTH123 (a path of the system, read at once)
        return int(file.read().split()[0]) * resource.getpagesize()
