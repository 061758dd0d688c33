// SPDX-License-Identifier: Apache-2.0
// What the shim's forwarders ask at a function's first call.
#pragma once

extern "C" {

/// The real library's function `name`, which it puts into `slot` too. Where there is none: a function that
/// returns an error code (or nothing, or zeros, if `name` returns no code), after a log line that names it;
/// the slot stays as it is, so that each call is told. Any thread; never fails.
__attribute__((visibility("hidden"))) void* detccl_forward_resolve(const char* name, void** slot) noexcept;
}
