// SPDX-License-Identifier: Apache-2.0
// A program without a loader: nothing can be preloaded into it.
int main() {
  return 0;
}
