// programs/resp_server/shard_message.hpp: requests of one connection that a shard executes, and their replies.
#pragma once

#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/reply_buffer.hpp"
#include "programs/resp_server/server_state.hpp"

#include <gyre/io/completion.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

namespace resp {

/// Carries requests to a shard, in order, and their replies back. It is sent again while requests are left: execution
/// stops at a reply that does not fit, and when the replies get large. So a message holds a bounded part of them.
///
/// Thread: one at a time: the loop that has it.
/// Lifetime: the bytes of the arguments stay in place while a request is left. move_arguments() reports a new place.
class shard_message : public gyre::io::completion {
 public:
  /// Execution stops when the replies have more bytes than this.
  static constexpr std::size_t stop_above = std::size_t{64} << 10U;
  /// The reply of a command that changes something fits into this limit at any time.
  static constexpr std::size_t min_limit = stop_above + 4096;

  shard_message() : reply_(min_limit) {}

  /// Adds a request; its other arguments follow. `counts` is false for all parts of a command except one.
  void add_request(std::string_view name, bool counts = true, bool admitted = false);
  void add_argument(std::string_view argument) {
    arguments_.push_back(argument);
    ++requests_.back().arguments;
  }
  /// Adds a request that is answered already. None may be left before it.
  void add_answer(std::string_view reply);
  void move_arguments(std::string_view from, const char* to) noexcept;

  /// True when requests are left, and there is room for their replies.
  [[nodiscard]] bool should_go() const noexcept { return is_left() && taken_ == done_ && !reply_.overflowed(); }
  [[nodiscard]] bool is_left() const noexcept { return done_ < requests_.size(); }
  /// The number of requests that are left.
  [[nodiscard]] std::size_t left() const noexcept { return requests_.size() - done_; }

  /// Executes requests on the loop of `shard`. `client` is the connection if that belongs to the same loop, else null.
  void execute(server_state& shard, connection_state* client) noexcept;

  [[nodiscard]] bool has_reply() const noexcept { return taken_ < done_; }
  /// The next reply. Lifetime: until the message is sent again.
  [[nodiscard]] std::string_view take_reply() noexcept;
  /// True when the buffer has the next reply, and nothing else has been written to it.
  [[nodiscard]] bool has_one_reply() const noexcept {
    return done_ == taken_ + 1 && reply_taken_ == 0 && !reply_.overflowed();
  }
  /// The next reply. It stays.
  [[nodiscard]] std::string_view next_reply() const noexcept {
    return reply_.view().substr(reply_taken_, requests_[taken_].reply_end - reply_taken_);
  }
  /// Frees a large buffer whose replies have all been taken.
  void release_taken() noexcept;
  /// Takes the buffer with the only reply, in exchange for an empty one.
  void swap_reply(reply_buffer& empty) noexcept;

  /// True when the reply of the next request did not fit. It has changed nothing. The message stays here until
  /// raise_limit() or refuse().
  [[nodiscard]] bool overflowed() const noexcept { return reply_.overflowed() && is_left() && taken_ == done_; }
  /// The size that would have been enough.
  [[nodiscard]] std::size_t wanted() const noexcept { return reply_.wanted() - reply_.mark(); }
  /// The memory that this needs in addition.
  [[nodiscard]] std::size_t growth() const noexcept { return wanted() - std::min(wanted(), reply_.capacity()); }
  void raise_limit(std::size_t limit) noexcept;
  /// Answers the next request with an error.
  void refuse(std::string_view error_reply);

  /// Throws the exception that has ended the execution.
  void rethrow_failure();
  void clear() noexcept;
  [[nodiscard]] std::size_t allocated_bytes() const noexcept;

  std::size_t last_plan = 0;  // for request_batch: the request that was added to last, from 1
  std::string_view part;      // for request_batch: the reply that is being joined

 private:
  struct request {
    std::uint32_t first;
    std::uint32_t arguments;
    std::size_t reply_end;
    bool counts;
    bool admitted;
  };
  [[nodiscard]] bool was_raised() const noexcept { return raised_for_ == done_ + 1; }
  void make_room() noexcept;

  std::vector<std::string_view> arguments_;
  std::vector<request> requests_;
  std::size_t done_ = 0;   // requests with a reply
  std::size_t taken_ = 0;  // replies that were taken
  std::size_t reply_taken_ = 0;
  std::size_t raised_for_ = 0;
  reply_buffer reply_;
  std::exception_ptr failure_;
};

}  // namespace resp
