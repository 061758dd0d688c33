# SPDX-License-Identifier: Apache-2.0
"""The time that the whole run may take (--budget). Without a budget there is no end."""
import math
import time

START = time.monotonic()
_end = math.inf


class NoTime(Exception):
    """The run's time is up, or it was interrupted. `outcome`: what there is of a job that was ended for it, or None."""

    def __init__(self, outcome=None):
        super().__init__("no time" if outcome is None else f"no time: ended after {outcome.seconds:.0f} s")
        self.outcome = outcome


def keep(budget):
    """`budget` seconds from the start of this process; some of them are for ending jobs and MPS, and for the report."""
    global _end  # pylint: disable=global-statement
    _end = START + budget - min(7.0, 0.15 * budget)


def left():
    return _end - time.monotonic()


def limit(seconds):
    """So many seconds, or fewer: a time limit of a child."""
    if left() <= 0:
        raise NoTime()
    return min(seconds, left())


def spent():
    return time.monotonic() - START
