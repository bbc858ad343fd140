// tests/client/mixed_visitors.hpp: clients that come at once, of which some are cancelled.
#pragma once

#include "tests/client/ordered_bodies.hpp"
#include "tests/net/random_loop.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace gyre_test {

class mixed_visitors {
 public:
  /// Starts `visit(number)` several times.
  template <class Visit>
  mixed_visitors(choices& choose, Visit visit) : choose_(choose) {
    for (unsigned n = 0; n < choose.between(2, 12); ++n) all_.push_back(gyre::spawn(visit(n)));
  }
  /// Cancels some of them, after a while.
  gyre::task<> cancel_some() {
    for (std::size_t n = choose_.below(4); n > 0; --n) {
      co_await gyre::sleep(std::chrono::milliseconds(choose_.below(20)));
      all_[choose_.below(all_.size())].cancel();
    }
  }
  /// Waits for all of them, and then stops the server, or stops it in their middle. Nothing may be left.
  template <class Server>
  gyre::task<> end_with(Server& server) {
    const bool in_the_middle = choose_.one_in(6);
    if (!in_the_middle)
      for (auto& each : all_) co_await each.wait();
    co_await server.stop();
    for (auto& each : all_) {
      if (in_the_middle) each.cancel();
      co_await each.wait();
    }
    EXPECT_EQ(server.client().counts().in_use, 0U);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_FALSE(pipes().worth_it());
  }

 private:
  choices& choose_;
  std::vector<gyre::task_handle<void>> all_;
};

}  // namespace gyre_test
