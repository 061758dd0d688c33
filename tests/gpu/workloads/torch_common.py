# SPDX-License-Identifier: Apache-2.0
"""What the PyTorch scripts share: one rank's set-up, a small transformer, its data, and digests.

Nothing here but the reductions depends on the other ranks or on where this one runs.
"""
import hashlib
import os

import torch
import torch.distributed as dist
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH = 256, 128, 4, 2, 32


def set_up(**options):
    """The device of this rank. All ranks share the first GPU; without one, gloo on the host."""
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    if torch.cuda.is_available():
        torch.cuda.set_device(0)
        dist.init_process_group("nccl", **options)
        return torch.device("cuda", 0)
    dist.init_process_group("gloo")
    return torch.device("cpu")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.first_norm(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        # Written out: the fused kernels are not all deterministic.
        score = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        attended = score.masked_fill(future, float("-inf")).softmax(-1) @ v
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.second_norm(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def transformer(seed, device, dtype):
    torch.manual_seed(seed)
    return Transformer().to(device=device, dtype=dtype)


def batch(seed, step, rank, device, size=4):
    """Sequences with a rule to be learnt: mostly, the next token is 3 x + 1."""
    generator = torch.Generator().manual_seed((seed * 100003 + step) * 1009 + rank)
    tokens = torch.randint(0, VOCABULARY, (size, LENGTH + 1), generator=generator)
    keep = torch.rand(size, LENGTH + 1, generator=generator) < 0.8
    for i in range(1, LENGTH + 1):
        tokens[:, i] = torch.where(keep[:, i], (3 * tokens[:, i - 1] + 1) % VOCABULARY, tokens[:, i])
    return tokens[:, :-1].to(device), tokens[:, 1:].to(device)


def loss_of(model, tokens, targets):
    logits = model(tokens)
    return nn.functional.cross_entropy(logits.float().reshape(-1, VOCABULARY), targets.reshape(-1))


def bits(tensors):
    sha = hashlib.sha256()
    for tensor in tensors:
        sha.update(tensor.detach().reshape(-1).contiguous().view(torch.uint8).cpu().numpy().tobytes())
    return sha.hexdigest()[:32]


def print_digest(name, tensors):
    print(f"digest {name} {bits(tensors)}", flush=True)


def rank_and_size():
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
