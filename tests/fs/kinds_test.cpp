// tests/fs/kinds_test.cpp: entries that are neither files nor directories, in a listing and on their own.
#include <gyre/fs/directory.hpp>
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

TEST(kinds, a_listing_tells_pipes_and_sockets_apart) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    EXPECT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, dir.path("socket").c_str(), sizeof(name.sun_path) - 1);
    const gyre::owned_fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    const auto found = co_await kinds_in(dir.root());
    EXPECT_EQ(found,
              (std::map<std::string, fs::file_kind>{{"pipe", fs::file_kind::pipe}, {"socket", fs::file_kind::socket}}));
  });
}

TEST(kinds, a_listing_and_a_status_agree_on_every_device) {
  run_test([]() -> gyre::task<> {
    const auto found = co_await kinds_in("/dev");
    EXPECT_EQ(found.at("null"), fs::file_kind::character_device);
    for (const auto& [name, kind] : found) {
      const fs::status known = co_await fs::stat_link("/dev/" + name);
      EXPECT_EQ(known.kind, kind) << name;
    }
  });
}
