// tests/process/denied_calls_test.cpp: every system call of the library, denied as container filters do. Filters answer
// EPERM or ENOSYS to calls that they do not know. An operation uses another call where there is one, and otherwise
// fails with an error that names the operation. No answer may make a loop spin or wait forever.
#include <gyre/gyre.hpp>

#include "tests/support/denied_call.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using gyre_test::child_outcome;

namespace {

using steps = std::vector<std::pair<std::string, gyre::task<> (*)()>>;

gyre::task<> over_tcp() {
  auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
  auto client = co_await gyre::tcp_stream::connect(listener.local_address());
  auto peer = co_await listener.accept();
  co_await client.write_all("ping");
  std::array<char, 4> got{};
  co_await peer.read_exactly(std::span<char>(got));
  co_await peer.write_all("pong");
  const gyre::buffer_lease lease = co_await client.receive();
  if (lease.empty()) throw std::runtime_error("nothing came");
}

gyre::task<> over_unix() {
  auto ends = gyre::unix_stream::pair();
  co_await ends.first.write_all("ping");
  std::array<char, 4> got{};
  co_await ends.second.read_exactly(std::span<char>(got));
}

gyre::task<> datagrams() {
  auto socket = gyre::udp_socket::bind("127.0.0.1:0");
  (void)co_await socket.send_to(std::string_view("x"), socket.local_address());
  const auto got = co_await socket.receive();
  if (got.payload.text() != "x") throw std::runtime_error("another datagram");
}

std::string scratch_name() { return "/tmp/gyre_denied_calls_" + std::to_string(::getpid()); }

gyre::task<> files() {
  const std::string name = scratch_name();  // temporaries that own something must not appear beside co_await (g++ 12)
  auto file = co_await gyre::fs::file::open(name, {.read = true, .write = true, .create = true});
  co_await file.write_all("abc");
  std::array<char, 3> got{};
  const auto count = co_await file.read_at(std::span<char>(got), 0);
  if (count != 3) throw std::runtime_error("too short");
  co_await file.sync();
  co_await file.close();
  const auto found = co_await gyre::fs::stat(name);
  if (found.size != 3 || found.kind != gyre::fs::file_kind::regular) throw std::runtime_error("another file");
  co_await gyre::fs::remove(name);
}

gyre::task<> paths() {
  const std::string name = scratch_name();
  const std::string renamed = name + "x";
  co_await gyre::fs::create_directory(name);
  co_await gyre::fs::rename(name, renamed);
  auto listing = gyre::fs::list_directory(renamed);
  (void)co_await std::move(listing);
  co_await gyre::fs::remove_directory(renamed);
}

gyre::task<> sending_files() {
  auto ends = gyre::unix_stream::pair();
  auto file = co_await gyre::fs::file::open("/proc/self/exe");
  (void)co_await ends.first.send_file(file.native_descriptor(), 0, 4);
  std::array<char, 4> got{};
  co_await ends.second.read_exactly(std::span<char>(got));
  co_await file.close();
}

gyre::task<> threads() {
  auto function = [] {};
  co_await gyre::to_thread(function);
}

gyre::task<> processes() {
  auto child = gyre::process::start({"/bin/true"});
  const auto status = co_await child.wait();
  if (!status.success()) throw std::runtime_error("failed");
}

gyre::task<> signals() {
  gyre::signal_set set{SIGUSR1};
  ::kill(::getpid(), SIGUSR1);
  (void)co_await set.next();
}

gyre::task<> watching() {
  gyre::fs::watcher watcher;
  auto added = watcher.watch("/tmp");
  co_await std::move(added);
}

gyre::task<> sleeping() { co_await gyre::sleep(1ms); }

gyre::task<> all_steps(std::string& said) {
  const steps all = {
      {"tcp", over_tcp},    {"unix", over_unix},    {"datagrams", datagrams},     {"files", files},
      {"paths", paths},     {"threads", threads},   {"send_file", sending_files}, {"processes", processes},
      {"signals", signals}, {"watching", watching}, {"sleeping", sleeping}};
  for (const auto& [name, step] : all) {
    std::string failure;
    try {
      auto limited = gyre::timeout(5s, step());
      co_await std::move(limited);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (!failure.empty()) said += "[" + name + ": " + failure + "]";
  }
}

struct denied {
  const char* name;
  long number;
};

/// Runs all steps in a process in which a call is denied. Expects that it ends.
child_outcome with_denied(const denied& call, int error) {
  const auto outcome = gyre_test::in_child_process([&] {
    gyre_test::deny_call(call.number, error);
    std::string said;
    try {
      gyre::run(all_steps(said));
    } catch (const std::exception& failure) {
      said += failure.what();
    }
    return said;
  });
  EXPECT_TRUE(outcome.ended) << call.name << ", signal " << outcome.signal;
  return outcome;
}

}  // namespace

class denied_calls : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!gyre_test::forked_children_may_start_threads) GTEST_SKIP();
  }
};

TEST_P(denied_calls, for_which_there_are_others_are_not_missed) {
  for (const denied& each :
       {denied{"epoll_pwait2", SYS_epoll_pwait2}, denied{"statx", SYS_statx}, denied{"preadv2", SYS_preadv2},
        denied{"pwritev2", SYS_pwritev2}, denied{"openat2", SYS_openat2}, denied{"pidfd_open", SYS_pidfd_open},
        denied{"close_range", SYS_close_range}, denied{"membarrier", SYS_membarrier},
        denied{"faccessat2", SYS_faccessat2}, denied{"copy_file_range", SYS_copy_file_range},
        denied{"splice", SYS_splice}, denied{"getrandom", SYS_getrandom}, denied{"madvise", SYS_madvise},
        denied{"prctl", SYS_prctl}, denied{"sched_getaffinity", SYS_sched_getaffinity},
        denied{"prlimit64", SYS_prlimit64}, denied{"sched_yield", SYS_sched_yield}}) {
    if (each.number == SYS_sched_getaffinity && gyre_test::threads_need_their_affinity) continue;
    const child_outcome got = with_denied(each, GetParam());
    EXPECT_EQ(got.text, "") << each.name;
    EXPECT_LT(got.processor_time, 1.0) << each.name << " makes the loop busy";
  }
}

TEST_P(denied_calls, for_which_there_are_no_others_are_errors_of_their_operations) {
  for (const denied& each :
       {denied{"sendfile", SYS_sendfile}, denied{"inotify_init1", SYS_inotify_init1},
        denied{"inotify_add_watch", SYS_inotify_add_watch}, denied{"getdents64", SYS_getdents64},
        denied{"socket", SYS_socket}, denied{"socketpair", SYS_socketpair}, denied{"bind", SYS_bind},
        denied{"listen", SYS_listen}, denied{"sendto", SYS_sendto}, denied{"sendmsg", SYS_sendmsg},
        denied{"setsockopt", SYS_setsockopt}, denied{"getsockname", SYS_getsockname}, denied{"fcntl", SYS_fcntl},
        denied{"rt_sigaction", SYS_rt_sigaction}, denied{"eventfd2", SYS_eventfd2}}) {
    const child_outcome got = with_denied(each, GetParam());
    EXPECT_FALSE(got.says("timeout")) << each.name << ": " << got.text;
    EXPECT_LT(got.processor_time, 1.0) << each.name << " makes the loop busy";
    const char* const reason = GetParam() == EPERM ? "Operation not permitted" : "Function not implemented";
    EXPECT_TRUE(got.says(reason)) << each.name << ": " << got.text;
  }
}

TEST_P(denied_calls, that_a_backend_cannot_do_without_are_named) {
  for (const denied& each :
       {denied{"eventfd2", SYS_eventfd2}, denied{"io_uring_setup", SYS_io_uring_setup},
        denied{"io_uring_enter", SYS_io_uring_enter}, denied{"io_uring_register", SYS_io_uring_register},
        denied{"epoll_create1", SYS_epoll_create1}, denied{"epoll_ctl", SYS_epoll_ctl}}) {
    const child_outcome got = with_denied(each, GetParam());
    EXPECT_TRUE(got.text.empty() || got.says(each.name)) << each.name << ": " << got.text;
  }
}

INSTANTIATE_TEST_SUITE_P(with, denied_calls, ::testing::Values(EPERM, ENOSYS),
                         [](const auto& each) { return each.param == EPERM ? "EPERM" : "ENOSYS"; });
