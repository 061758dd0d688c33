# SPDX-License-Identifier: Apache-2.0
"""Jobs side by side."""
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait


def side_by_side(tasks, width, take):
    """Calls `tasks`, functions without arguments, in `width` threads, and `take(answer)` in this thread as they end,
    also of those that have ended when this is interrupted."""
    waiting = set()
    with ThreadPoolExecutor(max(1, width)) as pool:
        try:
            waiting = {pool.submit(task) for task in tasks}
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    take(future.result())
        except KeyboardInterrupt:
            for future in wait(waiting).done:
                take(future.result())
            raise
