// SPDX-License-Identifier: Apache-2.0
// For sanitizer builds of programs that use UCX, which is not instrumented: link this into the program.

#define DETCCL_EXPORT __attribute__((visibility("default")))

extern "C" {

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer sees no order between UCX's own thread and ours.
DETCCL_EXPORT const char* __tsan_default_suppressions();
const char* __tsan_default_suppressions() {
  return "called_from_lib:libucs.so\ncalled_from_lib:libucp.so\ncalled_from_lib:libuct.so\nrace:libucs.so\n";
}
#endif

#if defined(__SANITIZE_ADDRESS__)
// Where an exchange has failed UCX's thread is still there at exit, and LeakSanitizer crashes on it.
DETCCL_EXPORT int __lsan_is_turned_off();
int __lsan_is_turned_off() {
  return 1;
}
#endif

}  // extern "C"
