# SPDX-License-Identifier: Apache-2.0
"""One rank of a PyTorch job that waits for commands, a line of JSON each, and answers each by a line of JSON. Between
them it sleeps, and leaves CPU and GPU to others.

Commands: join; load (mode, size, bucket_mb, average, sequences); steps (count, sequences); digest; unload;
product (size, op); end."""
import gc
import json
import os
import sys
import traceback

ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # whatever else is printed is no answer

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

from products import beside_collectives  # noqa: E402
from transformer import Training  # noqa: E402


class Rank:
    def __init__(self):
        self.device, self.training = None, None

    def join(self):
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # nothing reads it, and it takes time
        gpu = torch.cuda.is_available()
        self.device = torch.device("cuda", 0) if gpu else torch.device("cpu")
        if gpu:
            torch.cuda.set_device(self.device)
        dist.init_process_group("nccl" if gpu else "gloo")
        dist.all_reduce(torch.zeros(1, device=self.device))
        return {"torch": torch.__version__, "nccl": list(torch.cuda.nccl.version()) if gpu else None}

    def load(self, mode, size, bucket_mb, average, sequences=None):
        self.training = Training(mode, size, bucket_mb, average, self.device, sequences)
        gc.collect()
        gc.freeze()  # no long collections in the middle of steps
        return {"parameters": self.training.parameters, "tokens": self.training.tokens}

    def steps(self, count, sequences=None):
        return self.training.steps(count, sequences)

    def digest(self):
        return {"digest": self.training.digest(), "step": self.training.step,
                "moved": self.training.moved()} | self.memory()

    def unload(self):
        self.training = None
        gc.unfreeze()
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return {}

    def product(self, size, op):
        return beside_collectives(size, op, self.device)

    def memory(self):
        if self.device.type != "cuda":
            return {}
        return {"memory_gb": round(torch.cuda.max_memory_reserved() / 1e9, 2)}

    def end(self):
        if self.device is not None:
            self.unload()
            dist.destroy_process_group()
        return {}


def answer(rank, line):
    command = json.loads(line)
    try:
        return getattr(rank, command.pop("do"))(**command)
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"}


def main():
    rank = Rank()
    print(json.dumps({}), file=ANSWERS)
    for line in sys.stdin:
        print(json.dumps(answer(rank, line)), file=ANSWERS)


if __name__ == "__main__":
    main()
