// src/process/conversation.cpp: waits for a child and its pipes together, each within its limit.
#include "conversation.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/loop/readiness.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/timeout.hpp>

#include "captured_output.hpp"

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

namespace gyre {
namespace {

constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

task<exit_status> end_of(process_state& child) {
  for (;;) {
    child.look();
    if (child.status) co_return *child.status;
    co_await readable(child.handle());
  }
}

bool somebody_reads(const fs::file& input) noexcept {
  pollfd ready{.fd = input.native_descriptor(), .events = 0, .revents = 0};
  return input.is_open() && (::poll(&ready, 1, 0) <= 0 || (ready.revents & POLLERR) == 0);
}

class conversation {
 public:
  conversation(process_state& child, std::string text, std::size_t limit)
      : child_(child), here_(child), said_(std::move(text)), output_(child.output, limit), error_(child.error, limit) {
    if (!said_.empty() && !child.input.is_open() && child.has_object())
      throw io_error(std::make_error_code(std::errc::bad_file_descriptor), "communicate",
                     "standard input of " + child.program + ", which is not a pipe or was closed");
  }

  task<process_result> have() {
    bool in_time = true;
    if (child_.time_limit == no_limit)
      co_await end();
    else
      in_time = co_await end_in_time();
    if (!in_time) co_await end_by_force();
    process_result result{.status = child_.status.value_or(exit_status{.unknown = true}),
                          .output = std::move(output_.text),
                          .error = std::move(error_.text),
                          .pipes_left_open = left_open_};
    if (!in_time)
      throw process_timed_out(whole_nanoseconds(child_.time_limit), "communicate " + child_.program, std::move(result));
    co_return result;
  }

 private:
  // Returns false when the time limit has passed.
  task<bool> end_in_time() {
    auto limited = timeout(child_.time_limit, end());
    try {
      co_await std::move(limited);
      co_return true;
    } catch (const timed_out&) {
      co_return false;
    }
  }

  task<> end() {
    if (child_.pipe_limit == no_limit) {
      co_await end_of_all();
    } else {
      (void)co_await race(end_of_all(), patience());
      stop_talking();
    }
  }

  task<> end_of_all() {
    co_await gather(feed(), output_.listen(), error_.listen());
    (void)co_await end_of(child_);
  }

  task<> patience() {
    (void)co_await end_of(child_);
    co_await sleep(child_.pipe_limit);
  }

  task<> end_by_force() {
    const int reason = child_.kill();
    if (reason == 0 || reason == ESRCH) (void)co_await end_of(child_);
    if (child_.pipe_limit != no_limit) co_await listen_a_little();
    stop_talking();
  }

  task<> listen_a_little() {
    auto limited = timeout(child_.pipe_limit, gather(output_.listen(), error_.listen()));
    try {
      (void)co_await std::move(limited);
    } catch (const timed_out&) {  // other processes still hold the pipes
    }
  }

  task<> feed() {
    if (!child_.input.is_open()) co_return;
    try {
      co_await child_.input.write_all(std::string_view(said_));
    } catch (const io_error& error) {
      if (error.code() != std::errc::broken_pipe) throw;  // the child has read as much as it wanted
    }
    co_await child_.input.close();
  }

  // Stops although other processes may still hold the pipes.
  void stop_talking() {
    const bool reads = somebody_reads(child_.input);
    child_.input = fs::file();
    output_.take_what_is_there();
    error_.take_what_is_there();
    left_open_ = reads || !output_.at_end() || !error_.at_end();
  }

  process_state& child_;
  const process_state::listener here_;
  const std::string said_;
  captured_output output_;
  captured_output error_;
  bool left_open_ = false;
};

}  // namespace

task<exit_status> wait_for_end(process_state::waiter child) { co_return co_await end_of(*child); }

task<process_result> converse(process_state::waiter child, std::string text, std::size_t limit) {
  conversation talk(*child, std::move(text), limit);
  co_return co_await talk.have();
}

}  // namespace gyre
