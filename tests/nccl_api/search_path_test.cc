// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/search_path.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "nccl_api/real_library.h"
#include "support/command.h"

namespace detccl::nccl_api {
namespace {

using Strings = std::vector<std::string>;

TEST(SearchPath, FoldersOfAnObject) {
  EXPECT_EQ(folders_of("$ORIGIN/../a:/b::${ORIGIN}", "/x/y/lib.so"), (Strings{"/x/y/../a", "/b", "/x/y"}));
  EXPECT_EQ(folders_of("", "/x/lib.so"), Strings{});
}

TEST(SearchPath, ThisProgramComesFirstAndNeedsNoNccl) {
  const auto objects = loaded_objects();
  ASSERT_GT(objects.size(), 2u);
  EXPECT_EQ(objects[0].path, std::filesystem::read_symlink("/proc/self/exe"));
  for (const LoadedObject& object : objects)
    EXPECT_FALSE(object.needs_nccl) << object.path;
}

TEST(SearchPath, WhereTheLoaderLooksForLinkedObjects) {
  const LoadedObject objects[] = {
      {.path = "/bin/program", .runpath = "/program"},
      {.path = "/t/lib/cuda.so", .rpath = "$ORIGIN/../nccl", .needs_nccl = true},
      {.path = "/c/nccl.so", .runpath = "/c/run", .needs_nccl = true},
  };
  setenv("LD_LIBRARY_PATH", "/path", 1);
  EXPECT_EQ(loader_folders(objects, true), (Strings{"/t/lib/../nccl", "/path", "/c/run"}));
  EXPECT_EQ(loader_folders(objects, false), (Strings{"/path", "/program"}));
  unsetenv("LD_LIBRARY_PATH");
}

/// A library that was linked with the NCCL for host memory.
TEST(SearchPath, AnObjectThatNeedsNccl) {
  ASSERT_NE(dlopen(DETCCL_TEST_LINKED_LIBRARY, RTLD_NOW), nullptr) << dlerror();
  const auto objects = loaded_objects();
  const auto found = std::ranges::find(objects, std::string(DETCCL_TEST_LINKED_LIBRARY), &LoadedObject::path);
  ASSERT_NE(found, objects.end());
  EXPECT_TRUE(found->needs_nccl);
  const Strings files = search_path(kNcclName);
  ASSERT_FALSE(files.empty());
  EXPECT_TRUE(std::filesystem::equivalent(files[0], DETCCL_TEST_HOSTNCCL)) << files[0];
}

TEST(SearchPath, WheelsBesideALoadedExtension) {
  const LoadedObject objects[] = {{.path = "/usr/bin/python3.12"},
                                  {.path = "/v/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so"},
                                  {.path = "/usr/local/lib/python3.12/dist-packages/cupy/x.so"}};
  const Strings folders = wheel_folders(objects, "/no/such/program", "program");
  EXPECT_EQ(folders, (Strings{"/v/lib/python3.12/site-packages/nvidia/nccl/lib",
                              "/usr/local/lib/python3.12/dist-packages/nvidia/nccl/lib"}));
}

TEST(SearchPath, WheelsOfAnInterpreterAndOfAVirtualEnvironment) {
  const test::Folder folder;
  const std::filesystem::path base = folder.file("base"), environment = folder.file("venv");
  for (const auto& prefix : {base, environment}) {
    std::filesystem::create_directories(prefix / "bin");
    std::filesystem::create_directories(prefix / "lib/python3.12");
  }
  const Strings folders = wheel_folders({}, base / "bin/python3.12", (environment / "bin/python").string());
  const auto contains = [&folders](const std::filesystem::path& path) {
    return std::ranges::find(folders, path.string()) != folders.end();
  };
  EXPECT_TRUE(contains(environment / "lib/python3.12/site-packages/nvidia/nccl/lib"));
  EXPECT_TRUE(contains(base / "lib/python3.12/site-packages/nvidia/nccl/lib"));
  EXPECT_TRUE(contains(base / "lib/python3.12/dist-packages/nvidia/nccl/lib"));
  EXPECT_TRUE(folders[0].starts_with(environment.string())) << folders[0];
  EXPECT_EQ(wheel_folders({}, base / "bin/trainer", "trainer"), Strings{}) << "no interpreter";
}

TEST(SearchPath, TheLoadersCacheHasTheCLibrary) {
  const Strings paths = in_loader_cache("/etc/ld.so.cache", "libc.so.6");
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths)
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(in_loader_cache("/etc/ld.so.cache", "libc.so.6.none"), Strings{});
  EXPECT_EQ(in_loader_cache("/etc/hostname", "libc.so.6"), Strings{});
  EXPECT_EQ(in_loader_cache("/no/such/file", "libc.so.6"), Strings{});
}

TEST(SearchPath, FilesInTheLoadersOrder) {
  const test::Folder first, second;
  for (const auto* folder : {&first, &second})
    std::filesystem::copy_file("/proc/self/exe", folder->file("libunlikely.so.2"));
  setenv("LD_LIBRARY_PATH", (second.file("") + ":" + first.file("") + ":/no/such/folder").c_str(), 1);
  EXPECT_EQ(search_path("libunlikely.so.2"),
            (Strings{second.file("libunlikely.so.2"), first.file("libunlikely.so.2")}));
  unsetenv("LD_LIBRARY_PATH");
}

}  // namespace
}  // namespace detccl::nccl_api
