# SPDX-License-Identifier: Apache-2.0
"""One rank of an FSDP2 training, whose gradients are reduce-scattered.

  avg        ncclAvg, FSDP's default division by the number of ranks
  premulsum  another factor: on NCCL a PreMulSum
  coalesced  no FSDP: several reduce-scatters and all-reduces coalesced into one group
"""
import argparse

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

from torch_common import batch, loss_of, print_digest, rank_and_size, set_up, transformer


def sharded_training(options, device, rank):
    model = transformer(options.seed, device, torch.float32)
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    if options.mode == "premulsum":
        for module in [*model.blocks, model]:
            module.set_gradient_divide_factor(3.0)
            # Sums that are scaled inside NCCL, not before: only where this PyTorch offers it.
            if hasattr(module, "set_force_sum_reduction_for_comms"):
                module.set_force_sum_reduction_for_comms(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(1, options.steps + 1):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model, *batch(options.seed, step, rank, device))
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print_digest(f"step{step}", [parameter.to_local() for parameter in model.parameters()])
    print(f"loss {loss.item():.6f}", flush=True)


def coalesced(options, device, rank, ranks):
    for step in range(options.steps):
        generator = torch.Generator().manual_seed(step * 1009 + rank)
        sizes = [(1 + 37 * i) * ranks for i in range(12)]
        inputs = [torch.randn(size, generator=generator).to(device, torch.bfloat16) for size in sizes]
        outputs = [torch.empty(size // ranks, dtype=torch.bfloat16, device=device) for size in sizes]
        wholes = [tensor.clone() for tensor in inputs]
        with dist._coalescing_manager():  # noqa: SLF001, as FSDP and DTensor do
            for output, tensor in zip(outputs, inputs):
                dist.reduce_scatter_tensor(output, tensor, op=dist.ReduceOp.AVG)
        with dist._coalescing_manager():  # noqa: SLF001
            for tensor in wholes:
                dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
        for whole, output in zip(wholes, outputs):
            count = output.numel()
            own = whole[rank * count:(rank + 1) * count]
            if not torch.equal(own.view(torch.int16), output.view(torch.int16)):
                raise SystemExit(f"step {step}: all_reduce and reduce_scatter have other bits")
        print_digest(f"step{step}", outputs + wholes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=("avg", "premulsum", "coalesced"), default="avg")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rank, ranks = rank_and_size()
    device = set_up()
    if options.mode == "coalesced":
        coalesced(options, device, rank, ranks)
    else:
        sharded_training(options, device, rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
