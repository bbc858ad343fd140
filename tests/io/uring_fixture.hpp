// tests/io/uring_fixture.hpp: the io_uring backend without a loop.
#pragma once

#include "tests/contract/requests.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace gyre::uring_test {

using namespace contract;

/// A connection, and a request that receives one byte from it.
struct byte_receiver : endpoint, one_shot {
  explicit byte_receiver(turning_backend& performer)
      : endpoint(performer, unix_connection()),
        one_shot(io::opcode::receive_into, static_cast<io::descriptor&>(*this), &byte, 1) {}
  char byte = 0;
};

class uring_backend : public ::testing::Test {
 protected:
  void SetUp() override {
    const io::backend_choice& choice = io::process_backend_choice();
    if (choice.kind != io::backend_kind::io_uring) GTEST_SKIP() << "no io_uring here: " << choice.reason;
    begin(turning_backend::small());
  }
  void begin(const io::backend_options& options) {
    backend.destroy();
    backend.make({.kind = io::backend_kind::io_uring}, options);
    ASSERT_TRUE(backend) << backend.reason();
  }
  std::deque<byte_receiver> receivers(std::size_t count) {
    std::deque<byte_receiver> all;
    while (all.size() < count) all.emplace_back(backend);
    return all;
  }
  void submit(one_shot& r) {
    ++r.submissions;
    backend->submit(r);
  }
  [[nodiscard]] bool turn_until_idle() {
    return backend.turn_until([&] { return backend->in_flight() == 0; });
  }

  turning_backend backend;
};

}  // namespace gyre::uring_test
