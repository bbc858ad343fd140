// tests/faults/stream_faults_test.cpp: a failure in an operation on a stream, or a datagram, costs that operation.
#include "tests/faults/injector.hpp"

#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

using namespace gyre_test;

namespace {

class stream_faults : public faults {};

}  // namespace

TEST_P(stream_faults, a_pair_in_memory_ends_at_both_ends) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    gyre::memory_pair pair(1'000);
    auto write = [&]() -> gyre::task<> {
      gyre::memory_stream mine = std::move(pair.first);
      const std::vector<std::byte> bytes(5'000);
      co_await mine.write_all(bytes);
      co_await mine.shutdown_write();
    };
    auto read = [&]() -> gyre::task<> {
      gyre::memory_stream mine = std::move(pair.second);
      gyre::stream_reader reader(gyre::any_stream(std::move(mine)));
      while (!(co_await reader.read(700)).empty()) {
      }
    };
    auto both = gyre::gather(write(), read());
    co_await std::move(both);
  });
}

TEST_P(stream_faults, a_writer_that_is_closed_or_aborted_or_dropped_lets_go_of_its_stream) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    for (const bool aborted : {false, true}) {
      gyre::memory_pair pair(1'000);
      gyre::stream_reader far{gyre::any_stream(std::move(pair.second))};
      gyre::stream_connection here = gyre::make_connection(std::move(pair.first));
      here.writer.set_linger_limits({.time = 1s, .bytes = 2'000});
      here.writer.write(std::string(3'000, 'x'));
      if (aborted) here.writer.abort();
      auto both =
          gyre::gather(here.writer.wait_closed(gyre::linger_limits{.time = 5s}), gyre::as_result(far.read_all(10'000)));
      co_await std::move(both);
    }
  });
}

TEST_P(stream_faults, a_read_that_times_out_keeps_its_bytes) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    f.arm();
    co_await pair.first.write_all(std::string_view("he"));
    std::array<char, 5> buffer;
    const auto early =
        co_await gyre::as_expected(gyre::timeout(5ms, pair.second.read_exactly(std::span<char>(buffer))));
    EXPECT_FALSE(early);
    co_await pair.first.write_all(std::string_view("llo"));
    co_await pair.second.read_exactly(std::span<char>(buffer));
    EXPECT_EQ(std::string_view(buffer.data(), buffer.size()), "hello");
  });
}

TEST_P(stream_faults, descriptors_that_are_passed_are_not_lost) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    const int sent[] = {STDIN_FILENO, STDOUT_FILENO};
    f.arm();
    co_await pair.first.send_descriptors(std::as_bytes(std::span("ab", 2)), sent);
    std::array<std::byte, 4> buffer;
    const auto got = co_await pair.second.receive_descriptors(buffer);
    EXPECT_EQ(got.descriptors.size(), 2U);
  });
}

TEST_P(stream_faults, a_datagram_arrives_or_fails) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto server = gyre::udp_socket::bind("127.0.0.1:0");
    auto client = gyre::udp_socket::connected(server.local_address());
    std::array<std::byte, 16> buffer;
    for (int i = 0; i < 2; ++i) {
      co_await client.send(std::string_view("hello"));
      const auto got = co_await server.receive_from(buffer);
      co_await server.send_to(std::string_view("back"), got.from);
      const auto lease = co_await client.receive();
    }
    auto pair = gyre::unix_datagram::pair();
    co_await pair.first.send(std::string_view("hello"));
    (void)co_await pair.second.receive_from(buffer);
  });
}

TEST_P(stream_faults, a_bound_datagram_socket_leaves_no_file) {
  survives([](fault_injection& f) -> gyre::task<> {
    const std::string path = "/tmp/gyre_faults_datagram_" + std::to_string(::getpid());
    const auto bind = [&]() -> gyre::task<> {
      auto bound = gyre::unix_datagram::bind(gyre::unix_address(path));
      co_return;
    };
    co_await fail_and_check(f, bind, [&](bool) { EXPECT_NE(::access(path.c_str(), F_OK), 0); });
  });
}

TEST_P(stream_faults, a_signal_set_gives_its_signals_back) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    gyre::signal_set set{SIGUSR1, SIGUSR2};
    ::raise(SIGUSR1);
    EXPECT_EQ(co_await set.next(), SIGUSR1);
  });
}

TEST_P(stream_faults, a_loop_that_cannot_be_made_leaves_nothing) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto body = []() -> gyre::task<> { co_await gyre::sleep(1ms); };
    fail_on_thread(f, [&] { gyre::run(body); });
    co_return;
  });
}

INSTANTIATE_TEST_SUITE_P(one, stream_faults,
                         testing::Values(fault_kind::allocation, fault_kind::shortage, fault_kind::process_fds,
                                         fault_kind::fd_limit),
                         kind_name);
