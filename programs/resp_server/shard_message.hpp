// programs/resp_server/shard_message.hpp: requests of one connection that a shard executes, and their replies.
#pragma once

#include "programs/resp_server/command.hpp"

#include <gyre/io/completion.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

namespace resp {

/// Carries requests to a shard, in order, and their replies back. It is sent again while requests are left: execution
/// stops at a reply that does not fit, and when the replies get large. So a message holds a bounded part of them.
///
/// Thread: the loop that has it. Lifetime: the bytes of the arguments stay in place while a request is left.
class shard_message : public gyre::io::completion {
 public:
  /// `arguments` are those after the name.
  void add(const command& what, std::string_view name, std::span<const std::string_view> arguments);

  /// True when requests are left, and there is room for their replies.
  [[nodiscard]] bool should_go() const noexcept { return done_ < requests_.size() && !has_reply() && overflow() == 0; }
  /// Executes requests on the loop of `target`.
  void execute(shard& target) noexcept;

  [[nodiscard]] bool has_reply() const noexcept { return taken_ < done_; }
  /// The next reply. Lifetime: until the message is sent again.
  [[nodiscard]] std::string_view next_reply() const noexcept {
    return reply_.view().substr(reply_taken_, requests_[taken_].reply_end - reply_taken_);
  }
  void drop_reply() noexcept { reply_taken_ = requests_[taken_++].reply_end; }

  /// The room that the next reply needs, when it did not fit; otherwise 0. The message stays here until raise_limit()
  /// or refuse().
  [[nodiscard]] std::size_t overflow() const noexcept { return has_reply() ? 0 : reply_.overflow(); }
  void raise_limit(std::size_t limit) noexcept;
  /// Answers the next request with an error.
  void refuse(std::string_view error_reply);

  /// Throws the exception that has ended the execution.
  void rethrow_failure();
  /// Forgets all requests.
  void clear() noexcept;
  [[nodiscard]] std::size_t allocated_bytes() const noexcept {
    return reply_.capacity() + arguments_.capacity() * sizeof(std::string_view) +
           requests_.capacity() * sizeof(request);
  }

 private:
  struct request {
    const command* what;
    std::uint32_t first_argument;
    std::uint32_t arguments;
    std::size_t reply_end;
  };

  std::vector<std::string_view> arguments_;
  std::vector<request> requests_;
  std::size_t done_ = 0;             // requests with a reply
  std::size_t taken_ = 0;            // replies that were taken
  std::size_t reply_taken_ = 0;      // bytes of them
  std::size_t limit_ = reply_limit;  // for the next execution
  reply_buffer reply_{reply_limit};
  std::exception_ptr failure_;
};

}  // namespace resp
