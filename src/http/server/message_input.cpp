// src/http/server/message_input.cpp: waits for bodies, with a time limit.
#include <gyre/loop/deadline.hpp>

#include "message_input.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

task<transfer> message_input::receive() {
  lease_.release();
  if (waited_ >= body_limit_ && std::exchange(late_, true)) co_return transfer::timed_out;
  const time_point began = now();
  struct waiting {
    bool& flag;
    explicit waiting(bool& f) noexcept : flag(f) { f = true; }
    waiting& operator=(waiting&&) = delete;
    ~waiting() { flag = false; }
  } const here(receives_);
  const transfer outcome = co_await transport_->receive(lease_, std::max(body_limit_ - waited_, {}));
  waited_ += now() - began;
  arrived_ += lease_.size();
  if (arrived_ >= progress) {
    waited_ = {};
    arrived_ = 0;
    late_ = false;
  }
  co_return outcome;
}

}  // namespace gyre::http
