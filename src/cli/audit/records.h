// SPDX-License-Identifier: Apache-2.0
// The report that the audit library writes, a line for each event, fields separated by tabs:
//   object  PID  FILE
//   bind    PID  linked|looked-up  NAME  FILE-OF-THE-CALLER  FILE-OF-THE-FUNCTION
#pragma once

namespace detccl::cli {

/// The environment variable with the report's file. Not a DETCCL_ name: those are checked.
inline constexpr const char* kReportVariable = "_DETCCL_DOCTOR_REPORT";

}  // namespace detccl::cli
