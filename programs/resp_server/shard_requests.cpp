// programs/resp_server/shard_requests.cpp: how a connection answers requests when the keys are on several shards.
#include "programs/resp_server/client_connection.hpp"
#include "programs/resp_server/commands.hpp"
#include "programs/resp_server/exchange_op.hpp"
#include "programs/resp_server/shard_set.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace resp {
namespace {

bool contains(std::string_view input, std::string_view part) noexcept {
  return part.data() >= input.data() && part.data() + part.size() <= input.data() + input.size();
}

}  // namespace

// The same as answer_all() until a request needs another shard.
gyre::task<> client_connection::answer_on_shards() {
  unix_ms now = wall_clock();
  while (!input_.empty() && !connection_.close_after_reply) {
    const parse_result parsed = parser_.parse(input_);
    std::size_t consumed = parsed.consumed;
    if (parsed.status == parse_status::command) {
      const std::span<const std::string_view> arguments = parser_.arguments();
      const command_spread spread = spread_of(arguments);
      if (spread == command_spread::no_key ||
          (spread == command_spread::one_key && server_.shards->shard_of(arguments[1]) == server_.info.shard)) {
        execute(arguments, server_.keys, now, reply_, connection_);
        server_.publish_memory();
        if (reply_.overflowed()) [[unlikely]] {
          co_await finish_command();
          now = wall_clock();
        }
      } else {
        if (needs_every_shard(spread)) {
          co_await ask_every_shard(spread);
        } else {
          co_await answer_batch();
          consumed = 0;  // by answer_batch()
        }
        now = wall_clock();
      }
    }
    if (parsed.status == parse_status::error) reply_protocol_error(parser_.error(), reply_, connection_);
    input_.remove_prefix(consumed);
    if (parsed.status == parse_status::need_more) break;
    if (reply_.size() > flush_above) {
      keep_rest();
      co_await flush();
      now = wall_clock();
    }
  }
}

// Answers the request that has been parsed, and those after it.
gyre::task<> client_connection::answer_batch() {
  std::unique_ptr<request_batch> batch = server_.take_batch();
  const std::size_t bytes = fill(*batch);
  co_await exchange(*batch);
  input_.remove_prefix(bytes);
  shard_bytes_ = 0;
  server_.give_back(std::move(batch));
}

// Returns the size of the requests that it has added.
std::size_t client_connection::fill(request_batch& batch) {
  std::string_view rest = input_;
  for (;;) {
    const parse_result parsed = parser_.parse(rest);
    if (parsed.status != parse_status::command) {
      if (parsed.status == parse_status::need_more) rest.remove_prefix(parsed.consumed);
      break;
    }
    const std::span<const std::string_view> arguments = parser_.arguments();
    const command_spread spread = spread_of(arguments);
    if (needs_every_shard(spread)) break;
    // Is refused only when the requests before it, which may free memory, have been executed.
    if (spread == command_spread::all_set && rest.size() != input_.size() &&
        refused_for_memory(server_.keys, wall_clock(), connection_))
      break;
    batch.add(arguments, spread, connection_);
    rest.remove_prefix(parsed.consumed);
    // An argument in quotes is in a buffer of the parser, until that reads the next request.
    const bool stays =
        std::all_of(arguments.begin(), arguments.end(), [this](auto each) { return contains(input_, each); });
    if (rest.empty() || !stays || batch.is_full() || connection_.close_after_reply) break;
  }
  return input_.size() - rest.size();
}

gyre::task<> client_connection::exchange(request_batch& batch) {
  for (;;) {
    co_await batch.exchange();
    batch.join(reply_, flush_above, max_reply_size());
    set_reply_limit();
    if (batch.is_joined()) co_return;
    batch.release_joined();
    keep_batch(batch);
    co_await flush();
    if (const std::string_view value = batch.take_large_value(flush_above); !value.empty())
      co_await write(value);
    else if (batch.next_overflowed())
      co_await answer_large(batch);
    shard_bytes_ = batch.allocated_bytes();
  }
}

// The next reply did not fit. Its size is known now, so that much is reserved before the shards are asked again.
gyre::task<> client_connection::answer_large(request_batch& batch) {
  bool fits = batch.next_size() <= server_.limits.output_buffer;
  const std::size_t needed = batch.next_growth();
  while (fits) {
    fits = co_await wait_for_room(held_bytes() + needed);
    if (!fits) break;
    const auto turn = co_await server_.large_reply.scoped_lock();
    note_memory();
    const std::size_t left = left_bytes();
    if (left < needed) continue;  // others have taken it meanwhile
    const std::size_t slack = std::min(needed / 16, left - needed);
    shard_bytes_ += needed + slack;
    note_memory();
    batch.raise_next(slack);
    co_await batch.exchange();
    batch.join(reply_, flush_above, max_reply_size());
    shard_bytes_ = batch.allocated_bytes();
    note_memory();
    co_return;
  }
  batch.refuse_next();
}

// A waiting client must hold no receive buffer: see keep_request(). The beginning of a request after the batch moves,
// too; the parser notices that.
void client_connection::keep_batch(request_batch& batch) {
  if (received_ != nullptr) {
    const std::string_view before = input_;
    partial_.assign(input_);
    batch.move_arguments(before, partial_.data());
    release_received();
    input_ = partial_;
  }
  shard_bytes_ = batch.allocated_bytes();
}

}  // namespace resp
