// programs/resp_server/shard_message.cpp: requests of one connection that a shard executes, and their replies.
#include "programs/resp_server/shard_message.hpp"

#include <algorithm>
#include <utility>

namespace resp {

void shard_message::add(const command& what, std::string_view name, std::span<const std::string_view> arguments) {
  requests_.push_back(
      {&what, static_cast<std::uint32_t>(arguments_.size()), static_cast<std::uint32_t>(arguments.size() + 1), 0});
  arguments_.push_back(name);
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
}

void shard_message::execute(shard& target) noexcept {
  reply_.set_limit(std::exchange(limit_, reply_limit));
  reply_.clear();
  reply_taken_ = 0;
  try {
    const unix_ms now = wall_clock();
    while (done_ < requests_.size() && reply_.size() <= max_pending_replies) {
      request& next = requests_[done_];
      next.what->run({std::span(arguments_).subspan(next.first_argument, next.arguments), target, now, reply_});
      if (reply_.overflow() != 0) return;
      next.reply_end = reply_.size();
      ++done_;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void shard_message::raise_limit(std::size_t limit) noexcept {
  limit_ = std::max(limit, reply_limit);  // the requests after it have the usual limit at least
  reply_.clear_overflow();
}

void shard_message::refuse(std::string_view error_reply) {
  reply_.clear();
  reply_taken_ = 0;
  reply_.append(error_reply);
  requests_[done_++].reply_end = reply_.size();
}

void shard_message::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void shard_message::clear() noexcept {
  arguments_.clear();
  requests_.clear();
  done_ = taken_ = reply_taken_ = 0;
  limit_ = reply_limit;
  reply_.clear();
  failure_ = nullptr;
}

}  // namespace resp
