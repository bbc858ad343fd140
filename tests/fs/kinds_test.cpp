// tests/fs/kinds_test.cpp: entries that are neither files nor directories, in a listing and on their own.
#include <gyre/fs/directory.hpp>
#include <gyre/fs/path_operations.hpp>
#include <gyre/fs/status.hpp>

#include "tests/fs/scratch.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <map>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

gyre::task<std::map<std::string, fs::file_kind>> kinds_in(std::string path) {
  std::map<std::string, fs::file_kind> found;
  const auto entries = co_await fs::list_directory(std::move(path));
  for (const auto& each : entries) found[each.name] = each.kind;
  co_return found;
}

}  // namespace

TEST(file_kinds, are_the_same_in_a_listing_and_a_status) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    EXPECT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, dir.path("socket").c_str(), sizeof(name.sun_path) - 1);
    const gyre::owned_fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    co_await fs::create_directory(dir.path("directory"));
    const std::map<std::string, fs::file_kind> expected = {
        {"pipe", fs::file_kind::pipe}, {"socket", fs::file_kind::socket}, {"directory", fs::file_kind::directory}};
    const auto found = co_await kinds_in(dir.root());
    EXPECT_EQ(found, expected);
    for (const auto& [entry, kind] : expected) {
      const fs::status known = co_await fs::stat(dir.path(entry));
      EXPECT_EQ(known.kind, kind) << entry;
    }
  });
}

TEST(file_kinds, are_the_same_for_every_device_in_a_listing_and_a_status) {
  run_test([]() -> gyre::task<> {
    const auto found = co_await kinds_in("/dev");
    EXPECT_EQ(found.at("null"), fs::file_kind::character_device);
    for (const auto& [name, kind] : found) {
      const fs::status known = co_await fs::stat_link("/dev/" + name);
      EXPECT_EQ(known.kind, kind) << name;
    }
  });
}
