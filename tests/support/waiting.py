"""Waiting for something to happen, however busy the machine is."""

import time


def wait_until(is_true, seconds=120):
    """Wait, but not for ever; whether it became true."""
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
