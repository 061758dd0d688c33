// SPDX-License-Identifier: Apache-2.0
// `detccl doctor` on programs that reach NCCL in all the ways there are.
#include <gtest/gtest.h>
#include <nccl.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace detccl::test {
namespace {

using nlohmann::json;

struct Diagnosis {
  int exit_code = -1;
  json report;
  std::string text;
};

/// `arguments` of detccl doctor; `environment`: "NAME=value" pairs.
Diagnosis doctor(const std::string& arguments, const std::string& environment = "") {
  const Outcome outcome = run("env -u LD_PRELOAD NCCL_SOCKET_IFNAME=lo " + environment +
                              " " DETCCL_BINARY " doctor --json " + arguments);
  Diagnosis diagnosis{.exit_code = outcome.exit_code, .report = {}, .text = outcome.output};
  diagnosis.report = json::parse(outcome.output, nullptr, false);
  EXPECT_FALSE(diagnosis.report.is_discarded()) << outcome.output;
  return diagnosis;
}

std::string problems(const Diagnosis& diagnosis) {
  std::string text;
  for (const std::string problem : diagnosis.report["problems"])
    text += problem + "\n";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_fine(const Diagnosis& diagnosis, const std::string& how, const std::string& detccl) {
  EXPECT_EQ(diagnosis.exit_code, 0) << diagnosis.text;
  ASSERT_EQ(diagnosis.report["processes"].size(), 1u) << diagnosis.text;
  const json& process = diagnosis.report["processes"][0];
  EXPECT_EQ(process["detccl"], detccl);
  ASSERT_EQ(process["nccl"].size(), 1u) << diagnosis.text;
  EXPECT_TRUE(process["nccl"][0]["behind_detccl"]) << diagnosis.text;
  EXPECT_FALSE(process["nccl"][0]["statically_linked"]) << diagnosis.text;
  EXPECT_EQ(process["nccl"][0]["version"],
            std::to_string(NCCL_MAJOR) + "." + std::to_string(NCCL_MINOR) + "." + std::to_string(NCCL_PATCH));
  EXPECT_TRUE(std::filesystem::equivalent(process["nccl"][0]["file"].get<std::string>(), DETCCL_HOSTNCCL));
  ASSERT_EQ(process["clients"].size(), 1u) << diagnosis.text;
  EXPECT_EQ(process["clients"][0]["how"], how);
  EXPECT_TRUE(process["clients"][0]["reaches_detccl"]);
}

class Doctor : public testing::Test {
 protected:
  std::string client(const char* program, const std::string& more = "") const {
    return std::string(program) + " " + folder_.file("id") + " " + more;
  }
  const Folder folder_;
};

TEST_F(Doctor, ALinkedClientIsReachedByThePreload) {
  expect_fine(doctor("--host -- " + client(DETCCL_CLIENT)), "linked", DETCCL_LIBRARY);
}

TEST_F(Doctor, AClientThatOpensNcclIsReachedByTheShim) {
  expect_fine(doctor("--host -- " + client(DETCCL_DLOPEN_CLIENT)), "looked up", DETCCL_SHIM);
}

TEST_F(Doctor, ThroughALauncherEachProcessIsSeen) {
  const Diagnosis diagnosis = doctor("--host -- sh -c '" DETCCL_CLIENT " " + folder_.file("a") +
                                     "; " DETCCL_CLIENT " " + folder_.file("b") + "'");
  expect_fine(diagnosis, "linked", DETCCL_SHIM);
  EXPECT_EQ(diagnosis.report["processes"][0]["processes"], 2) << diagnosis.text;
}

TEST_F(Doctor, AClientThatOpensNcclGoesPastAPreload) {
  const Diagnosis diagnosis = doctor("--host --via preload -- " + client(DETCCL_DLOPEN_CLIENT));
  EXPECT_EQ(diagnosis.exit_code, 1);
  EXPECT_TRUE(contains(problems(diagnosis), "goes past DetCCL to")) << diagnosis.text;
  EXPECT_FALSE(diagnosis.report["processes"][0]["clients"][0]["reaches_detccl"]);
}

TEST_F(Doctor, AClientThatOpensAFileGoesPastTheShim) {
  const Diagnosis diagnosis =
      doctor("--host -- " + client(DETCCL_DLOPEN_CLIENT), "CLIENT_NCCL=" DETCCL_HOSTNCCL);
  EXPECT_EQ(diagnosis.exit_code, 1);
  EXPECT_TRUE(contains(problems(diagnosis), "goes past DetCCL to " DETCCL_HOSTNCCL)) << diagnosis.text;
}

TEST_F(Doctor, AskingForTheVersionGoesPastNothing) {
  const Diagnosis diagnosis = doctor("--host -- " DETCCL_ASKS_VERSION " " DETCCL_HOSTNCCL);
  EXPECT_EQ(diagnosis.exit_code, 0) << diagnosis.text;
  EXPECT_TRUE(contains(diagnosis.report["notes"].dump(), "nothing was seen to call its NCCL"))
      << diagnosis.text;
}

TEST_F(Doctor, WhatThePreloadLacksIsTheOthersAsItShouldBe) {
  const Diagnosis diagnosis = doctor("--via preload -- " DETCCL_NEWER_CLIENT);
  EXPECT_EQ(diagnosis.exit_code, 0) << diagnosis.text;
  EXPECT_TRUE(diagnosis.report["processes"][0]["nccl"][0]["behind_detccl"]) << diagnosis.text;
  ASSERT_EQ(diagnosis.report["processes"][0]["clients"].size(), 1u) << diagnosis.text;
  EXPECT_TRUE(diagnosis.report["processes"][0]["clients"][0]["reaches_detccl"]) << diagnosis.text;
}

TEST_F(Doctor, AProgramWithoutNccl) {
  const Diagnosis diagnosis = doctor("-- true");
  EXPECT_EQ(diagnosis.exit_code, 1);
  EXPECT_TRUE(contains(problems(diagnosis), "no NCCL was seen")) << diagnosis.text;
  EXPECT_TRUE(diagnosis.report["processes"].empty());
}

TEST_F(Doctor, AStaticallyLinkedNccl) {
  const Diagnosis diagnosis = doctor("-- " + client(DETCCL_STATIC_CLIENT));
  EXPECT_EQ(diagnosis.exit_code, 1);
  EXPECT_TRUE(contains(problems(diagnosis), "has an NCCL of its own, statically linked")) << diagnosis.text;
  EXPECT_TRUE(diagnosis.report["processes"][0]["nccl"][0]["statically_linked"]);
}

TEST_F(Doctor, AMissingCommandAndOneThatFails) {
  const Diagnosis missing = doctor("-- no-such-program-anywhere");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(problems(missing), "no-such-program-anywhere: there is no such program"))
      << missing.text;
  const Diagnosis failing = doctor("--host -- " + client(DETCCL_CLIENT, "7"));
  EXPECT_EQ(failing.exit_code, 1);
  EXPECT_TRUE(contains(problems(failing), "exited with status 7")) << failing.text;
  EXPECT_TRUE(contains(problems(failing), "digest ")) << "the end of its output: " << failing.text;
}

TEST_F(Doctor, AProcessThatDetcclDoesNotReach) {
  const Diagnosis diagnosis = doctor("--host -- env -u LD_PRELOAD " + client(DETCCL_CLIENT));
  EXPECT_EQ(diagnosis.exit_code, 1);
  EXPECT_TRUE(contains(problems(diagnosis), "DetCCL is not loaded")) << diagnosis.text;
}

TEST_F(Doctor, AnNcclThatIsTooOld) {
  const std::string old = folder_.file("libnccl.so.2");
  std::filesystem::copy_file(DETCCL_OLD_NCCL, old);
  const Diagnosis diagnosis = doctor("-- " + client(DETCCL_DLOPEN_CLIENT), "DETCCL_NCCL_LIBRARY=" + old);
  EXPECT_EQ(diagnosis.report["processes"][0]["nccl"][0]["version"], "2.17.1") << diagnosis.text;
  EXPECT_TRUE(contains(problems(diagnosis), "the oldest that DetCCL works with is 2.18")) << diagnosis.text;
}

TEST_F(Doctor, AStaticProgramAndASetuidOne) {
  const Diagnosis fixed = doctor("-- " DETCCL_FIXED_PROGRAM);
  EXPECT_EQ(fixed.exit_code, 1);
  EXPECT_TRUE(contains(problems(fixed), "is a static program: nothing can be preloaded")) << fixed.text;
  const std::string copy = folder_.file("client");
  std::filesystem::copy_file(DETCCL_CLIENT, copy);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  const Diagnosis setuid = doctor("--host -- " + client(copy.c_str()));
  EXPECT_TRUE(contains(problems(setuid), "is setuid or setgid")) << setuid.text;
}

TEST_F(Doctor, TheEnvironment) {
  const Diagnosis diagnosis = doctor("--host --disable -- " + client(DETCCL_CLIENT),
                                     "DETCCL_SHEDULE=ring DETCCL_CHUNK=1 DETCCL_FALLBACK=native");
  EXPECT_EQ(diagnosis.exit_code, 1);
  for (const char* part : {"DETCCL_SHEDULE is no variable", "DETCCL_CHUNK='1' is not allowed",
                           "DETCCL_DISABLE=1", "DETCCL_FALLBACK=native"})
    EXPECT_TRUE(contains(problems(diagnosis), part)) << diagnosis.text;
  const auto with_library = [this](const std::string& file) {
    return problems(doctor("-- " + client(DETCCL_CLIENT), "DETCCL_NCCL_LIBRARY=" + file));
  };
  EXPECT_TRUE(contains(with_library("/no/such/file"), "cannot be read as a library"));
  EXPECT_TRUE(contains(with_library("/proc/self/exe"), "is no NCCL"));
  EXPECT_TRUE(contains(with_library(DETCCL_SHIM), "is DetCCL itself"));
  const Diagnosis twice = doctor("--host -- " + client(DETCCL_CLIENT), "LD_PRELOAD=" DETCCL_LIBRARY);
  EXPECT_EQ(twice.exit_code, 0) << twice.text;
  EXPECT_TRUE(contains(twice.report["notes"].dump(), "LD_PRELOAD has")) << twice.text;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A command that goes on after it has used NCCL.
std::string long_command(const Folder& folder) {
  return "sh -c '" DETCCL_CLIENT " " + folder.file("id") + "; echo $$ >" + folder.file("pid") +
         "; exec sleep 50'";
}

TEST_F(Doctor, EndsTheCommandWhenEnoughIsKnown) {
  Diagnosis diagnosis;
  EXPECT_LT(seconds_of([&] { diagnosis = doctor("--host -- " + long_command(folder_)); }), 30);
  EXPECT_EQ(diagnosis.exit_code, 0) << diagnosis.text;
  EXPECT_TRUE(contains(diagnosis.report["ended"], "enough was seen")) << diagnosis.text;
  std::string pid;
  std::ifstream(folder_.file("pid")) >> pid;
  ASSERT_FALSE(pid.empty());
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid)) << "nothing of it is left";
}

TEST_F(Doctor, TheTimeLimitAndToTheEnd) {
  const Diagnosis limited = doctor("--host --timeout 2 --to-the-end -- " + long_command(folder_));
  EXPECT_EQ(limited.exit_code, 0) << limited.text;
  EXPECT_TRUE(contains(limited.report["ended"], "still running")) << limited.text;
  const Diagnosis ended =
      doctor("--host --to-the-end -- sh -c '" + client(DETCCL_CLIENT) + "; sleep 2; exit 5'");
  EXPECT_TRUE(contains(ended.report["ended"], "exited with status 5")) << ended.text;
}

TEST(DoctorUsage, AsText) {
  const Folder folder;
  const Outcome fine = run(DETCCL_BINARY " doctor --host -- " DETCCL_CLIENT " " + folder.file("id"));
  EXPECT_EQ(fine.exit_code, 0);
  EXPECT_TRUE(contains(fine.output, "verdict       fine: ")) << fine.output;
  const Outcome bad = run(DETCCL_BINARY " doctor -- true");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_TRUE(contains(bad.output, "verdict       a problem")) << bad.output;
  EXPECT_EQ(run(DETCCL_BINARY " doctor").exit_code, 2);
  EXPECT_EQ(run(DETCCL_BINARY " doctor --timeout 0 -- true").exit_code, 2);
  EXPECT_EQ(run(DETCCL_BINARY " doctor --no-such-option -- true").exit_code, 2);
}

}  // namespace
}  // namespace detccl::test
