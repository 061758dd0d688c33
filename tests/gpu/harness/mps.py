# SPDX-License-Identifier: Apache-2.0
"""CUDA MPS in private directories, so that the kernels of several processes run side by side on one GPU."""
import os
import shutil
import subprocess
import tempfile

CONTROL = "nvidia-cuda-mps-control"


class Mps:
    """Started on entry, ended on exit. `environment`: what its clients need."""

    def __enter__(self):
        if shutil.which(CONTROL) is None:
            raise RuntimeError(f"{CONTROL} is not to be found: CUDA MPS is needed (or --no-mps, which is slow)")
        self.folder = tempfile.mkdtemp(prefix="detccl-mps-")
        self.environment = {"CUDA_MPS_PIPE_DIRECTORY": os.path.join(self.folder, "pipe"),
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
        try:
            subprocess.run([CONTROL], input="quit\n", env=os.environ | self.environment, timeout=30,
                           capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            print("MPS did not end in time")
        shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self):
        """After a client was killed, which may have left it in a bad state."""
        self.__exit__()
        self.__enter__()


class NoMps:
    environment = {}

    def restart(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
