# SPDX-License-Identifier: Apache-2.0
"""What blocks of steps that took turns say of each other."""
import random
import statistics

RESAMPLES = 4000


def neighbours(blocks, native):
    """Each block's time over the mean of native's in the round before, which began just earlier, and in the next."""
    return [time / statistics.mean(native[i:i + 2]) for i, time in enumerate(blocks) if i < len(native)]


def interval(values, share=0.95, seed=1):
    """Of the median, by bootstrap."""
    drawn, draws = random.Random(seed), []
    for _ in range(RESAMPLES):
        draws.append(statistics.median(drawn.choices(values, k=len(values))))
    draws.sort()
    out = int(RESAMPLES * (1 - share) / 2)
    return draws[out], draws[-1 - out]


def ratio(blocks, native):
    """{"median", "low", "high", "blocks"}, or None where there is nothing to compare."""
    values = neighbours(blocks, native)
    if not values:
        return None
    low, high = interval(values)
    return {"median": statistics.median(values), "low": low, "high": high, "blocks": len(values)}


def spread(times):
    ordered = sorted(times)
    return {"min": ordered[0], "median": statistics.median(ordered), "p95": ordered[int(0.95 * len(ordered))],
            "max": ordered[-1], "steps": len(ordered)}
