import signal

import pytest

from support.cluster import cluster  # noqa: F401  # one for all modules

_SECONDS = 900  # of a test on a very busy machine


@pytest.fixture(autouse=True)
def _has_an_end():
    """A test that hangs fails, wherever it waits."""
    if not hasattr(signal, "SIGALRM"):  # Windows
        yield
        return

    def end(number, frame):
        pytest.fail(f"not done in {_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
