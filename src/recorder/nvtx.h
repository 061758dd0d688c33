// SPDX-License-Identifier: Apache-2.0
// The program's NVTX ranges become the context of its operations. NVTX loads a library that the environment
// names and asks it for functions; a profiler may want the same, so ours call the profiler's.
#pragma once

namespace detccl::recorder {

/// To be called before the program's first NVTX call: makes NVTX load the library in `file`, which exports
/// InitializeInjectionNvtx2 and calls initialize_nvtx() there. A library that the environment names already
/// is called first.
void inject_nvtx(const char* file);

/// The body of InitializeInjectionNvtx2: NVTX calls it once in each object that has an NVTX of its own.
/// `get_export_table`: NVTX's NvtxGetExportTableFunc_t. 1 if it took place.
int initialize_nvtx(const void* (*get_export_table)(unsigned int));

}  // namespace detccl::recorder
