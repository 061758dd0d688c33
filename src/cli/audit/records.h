// SPDX-License-Identifier: Apache-2.0
// The report that the audit library writes, a line for each event, fields separated by tabs:
//   start   PID  PARENT
//   object  PID  PARENT  FILE
//   bind    PID  PARENT  linked|looked-up  NAME  FILE-OF-THE-CALLER  FILE-OF-THE-FUNCTION
// A process that becomes another program starts again.
#pragma once

namespace detccl::cli {

/// The environment variable with the report's file. Not a DETCCL_ name: those are checked.
inline constexpr const char* kReportVariable = "_DETCCL_DOCTOR_REPORT";

}  // namespace detccl::cli
