// programs/resp_server/shard_message.cpp: requests of one connection that a shard executes, and their replies.
#include "programs/resp_server/shard_message.hpp"

#include "programs/resp_server/commands.hpp"

#include <span>
#include <utility>

namespace resp {

void shard_message::add_request(std::string_view name, bool counts, bool admitted) {
  const auto first = static_cast<std::uint32_t>(arguments_.size());
  arguments_.push_back(name);
  requests_.push_back({first, 1, 0, counts, admitted});
}

void shard_message::add_answer(std::string_view reply) {
  requests_.push_back({0, 0, 0, false, false});
  reply_.append(reply);
  requests_[done_++].reply_end = reply_.mark();
}

// Some arguments point elsewhere, so addresses are compared as numbers.
void shard_message::move_arguments(std::string_view from, const char* to) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(from.data());
  for (std::string_view& each : arguments_) {
    const auto offset = reinterpret_cast<std::uintptr_t>(each.data()) - begin;
    if (offset <= from.size()) each = {to + offset, each.size()};
  }
}

void shard_message::execute(server_state& shard, connection_state* client) noexcept {
  make_room();
  connection_state other{.server = shard.info};
  connection_state& connection = client != nullptr ? *client : other;
  try {
    const unix_ms now = wall_clock();
    while (is_left() && reply_.size() <= stop_above) {
      request& each = requests_[done_];
      connection.admitted = each.admitted;
      resp::execute(std::span(arguments_).subspan(each.first, each.arguments), shard.keys, now, reply_, connection);
      connection.admitted = false;
      if (!each.counts) --shard.info.commands_processed;
      shard.publish_memory();
      if (reply_.overflowed()) return;
      each.reply_end = reply_.mark();
      ++done_;
    }
  } catch (...) {
    connection.admitted = false;
    failure_ = std::current_exception();
  }
}

void shard_message::make_room() noexcept {
  if (taken_ != done_) return;
  reply_.clear(stop_above * 2);
  reply_taken_ = 0;
  if (!was_raised()) reply_.set_limit(min_limit);
}

void shard_message::release_taken() noexcept {
  if (taken_ != done_ || reply_.overflowed()) return;
  reply_.clear(stop_above * 2);
  reply_taken_ = 0;
}

std::string_view shard_message::take_reply() noexcept {
  const std::string_view reply = next_reply();
  reply_taken_ = requests_[taken_++].reply_end;
  return reply;
}

void shard_message::swap_reply(reply_buffer& empty) noexcept {
  ++taken_;
  std::swap(reply_, empty);
  reply_.clear(stop_above * 2);
  reply_.set_limit(min_limit);
}

void shard_message::raise_limit(std::size_t limit) noexcept {
  reply_.clear(0);
  reply_.set_limit(limit);
  reply_taken_ = 0;
  raised_for_ = done_ + 1;
}

void shard_message::refuse(std::string_view error_reply) {
  raise_limit(min_limit);
  reply_.append(error_reply);
  requests_[done_++].reply_end = reply_.mark();
}

void shard_message::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void shard_message::clear() noexcept {
  constexpr std::size_t max_kept = 4096;
  if (arguments_.capacity() > max_kept) std::vector<std::string_view>().swap(arguments_);
  if (requests_.capacity() > max_kept) std::vector<request>().swap(requests_);
  arguments_.clear();
  requests_.clear();
  done_ = taken_ = reply_taken_ = raised_for_ = last_plan = 0;
  reply_.clear(stop_above * 2);
  reply_.set_limit(min_limit);
  failure_ = nullptr;
}

std::size_t shard_message::allocated_bytes() const noexcept {
  return reply_.capacity() + arguments_.capacity() * sizeof(std::string_view) + requests_.capacity() * sizeof(request);
}

}  // namespace resp
