# SPDX-License-Identifier: Apache-2.0
"""How several ranks share one GPU (or host memory), and which NCCL they get."""
import glob
import os
import random
import subprocess
import sys

MOST_P2P_RANKS = 8  # of all jobs on one GPU together


def system_nccl():
    listing = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    for line in listing.splitlines():
        if line.strip().startswith("libnccl.so.2 "):
            return line.split("=>")[-1].strip()
    found = sorted(glob.glob("/usr/lib/*/libnccl.so.2") + glob.glob("/usr/local/lib/libnccl.so.2"))
    return found[0] if found else None


def nccl_version(file):
    """As ncclGetVersion says it, or None."""
    code = f"import ctypes; v = ctypes.c_int(); ctypes.CDLL({file!r}).ncclGetVersion(ctypes.byref(v)); print(v.value)"
    try:
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    return int(answer.stdout) if answer.returncode == 0 else None


def visible_gpus():
    """How many GPUs a process without MPS sees."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return len([name for name in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if name])
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True,
                                text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return len(answer.stdout.split()) if answer.returncode == 0 else 0


def shuffled(ranks):
    """A placement that is not the identity: the rank of each process."""
    order = list(range(ranks))
    random.Random(7).shuffle(order)
    return order if order != sorted(order) else order[::-1]


class Bench:
    def __init__(self, kind, build, nccl, mps_environment):
        self.kind = kind
        self.library = os.path.join(build, "lib", "libdetccl.so")
        self.shim = os.path.join(build, "lib", "shim", "libnccl.so.2")
        self.host_nccl = os.path.join(build, "lib", "hostnccl", "libnccl.so.2")
        self.nccl = self.host_nccl if kind == "host" else nccl
        self.mps_environment = mps_environment
        self.restart_mps = lambda: None  # while no job runs

    def on_host(self):
        """The same on host memory, for the digests of the host engine."""
        host = Bench("host", "", None, {})
        host.library, host.shim, host.host_nccl = self.library, self.shim, self.host_nccl
        host.nccl = self.host_nccl
        return host

    def jobs(self, ranks, wanted):
        """How many jobs of so many ranks may run side by side. On the P2P bench kernels of one job wait for each other,
        and all must be on the GPU at the same time: two jobs of 8 ranks have hung each other."""
        return max(1, min(wanted, MOST_P2P_RANKS // ranks) if self.kind == "p2p" else wanted)

    def environment(self, process, ranks, native=False, nodes=1, preload=None, nccl=None, extra=None):
        """Of one process. `preload`: instead of libdetccl.so; `nccl`: "own" leaves the program its own NCCL."""
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("NCCL_", "DETCCL_", "HOSTNCCL_", "TORCH_NCCL_"))}
        env |= {"NCCL_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "DETCCL_LOG": "info"}
        if self.kind == "host":
            env |= {"DETCCL_NCCL_LIBRARY": self.nccl, "CUDA_VISIBLE_DEVICES": ""}
            if nodes > 1:
                env["NCCL_HOSTID"] = f"n{process * nodes // ranks}"
        else:
            env |= {"CUDA_VISIBLE_DEVICES": "0", "NCCL_IB_DISABLE": "1", "NCCL_MNNVL_ENABLE": "0"}
            env |= self.mps_environment
        if self.kind == "socket":
            env["NCCL_HOSTID"] = f"h{process}"  # a host of its own
        elif self.kind == "p2p":
            env |= {"NCCL_MULTI_RANK_GPU_ENABLE": "1", "NCCL_MAX_CTAS": "8",
                    "NCCL_HOSTID": f"n{process * nodes // ranks}"}
        ours = [] if native else [preload or self.library]
        theirs = [] if nccl == "own" or self.nccl is None or preload == self.shim else [self.nccl]
        if preload == self.shim and not native and nccl != "own":
            env["DETCCL_NCCL_LIBRARY"] = self.nccl
        # The library underneath is preloaded as well: then every libnccl.so.2 that is asked for is this one.
        env["LD_PRELOAD"] = ":".join(ours + theirs)
        return env | (extra or {})
