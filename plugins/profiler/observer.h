// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace detccl::profiler {

/// Asks libdetccl.so, if it is in the process, to tell of its reductions; they count as those of
/// communicators of their own, named "DetCCL". Once is enough. Any thread.
void observe_detccl();

}  // namespace detccl::profiler
