# SPDX-License-Identifier: Apache-2.0
"""CUDA MPS in private directories, so that the kernels of several processes run side by side on one GPU."""
import os
import shutil
import signal
import subprocess
import tempfile

CONTROL = "nvidia-cuda-mps-control"


class Mps:
    """Started on entry, ended on exit. `environment`: what its clients need."""

    def __init__(self):
        self.environment = {}

    def __enter__(self):
        if shutil.which(CONTROL) is None:
            raise RuntimeError(f"{CONTROL} is not to be found: CUDA MPS is needed (or --no-mps, which is slow)")
        self.folder = tempfile.mkdtemp(prefix="detccl-mps-")
        self.environment |= {"CUDA_MPS_PIPE_DIRECTORY": os.path.join(self.folder, "pipe"),
                             "CUDA_MPS_LOG_DIRECTORY": os.path.join(self.folder, "log")}
        for folder in self.environment.values():
            os.mkdir(folder)
        started = subprocess.run([CONTROL, "-d"], env=os.environ | self.environment, timeout=30,
                                 capture_output=True, text=True)
        if started.returncode != 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise RuntimeError(f"{CONTROL} -d: {started.stdout} {started.stderr}")
        return self

    def __exit__(self, *_):
        """It waits for its clients, for ever for those whose kernels hang: then it is killed."""
        try:
            subprocess.run([CONTROL], input="quit\n", env=os.environ | self.environment, timeout=2.5,
                           capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            pass
        left = self.processes()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if left:
            print(f"MPS did not end in time: {len(left)} processes killed", flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self):
        """While it has no clients: after one was killed, which may have left it in a bad state. Changes `environment`
        in place."""
        self.__exit__()
        self.__enter__()

    def processes(self):
        """The daemon and servers of these folders."""
        mark = f"CUDA_MPS_PIPE_DIRECTORY={self.environment['CUDA_MPS_PIPE_DIRECTORY']}\0".encode()
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/comm") as comm, open(f"/proc/{name}/environ", "rb") as environment:
                    if comm.read().startswith("nvidia-cuda-mps") and mark in environment.read() + b"\0":
                        found.append(int(name))
            except OSError:
                continue  # it has ended
        return found


class NoMps:
    environment = {}

    def restart(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
