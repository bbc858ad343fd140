// programs/resp_server/whole_keyspace.cpp: commands that every shard executes: KEYS, DBSIZE, FLUSHALL, INFO.
#include "programs/resp_server/client_connection.hpp"
#include "programs/resp_server/command.hpp"
#include "programs/resp_server/commands.hpp"
#include "programs/resp_server/joined_replies.hpp"
#include "programs/resp_server/shard_set.hpp"

#include <gyre/loop/yield.hpp>
#include <gyre/tasks/for_each_loop.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace resp {
namespace {

// On the loop of the shard. Steps of a long command alternate with those of other clients of that loop.
gyre::task<> execute_on(server_state& shard, std::span<const std::string_view> arguments, reply_buffer& reply,
                        bool counts) {
  connection_state client{.server = shard.info};
  const std::uint64_t before = shard.info.commands_processed;
  execute(arguments, shard.keys, wall_clock(), reply, client);
  if (!counts) shard.info.commands_processed = std::min(before, shard.info.commands_processed);
  if (client.unfinished != nullptr) {
    const auto turn = co_await shard.long_command.scoped_lock();
    while (!client.unfinished->step(shard.keys, wall_clock(), reply)) co_await gyre::yield();
  }
  shard.publish_memory();
}

// The replies of all commands except KEYS are small.
void join_small(const std::vector<reply_buffer>& parts, command_spread spread, reply_buffer& to) {
  const std::string_view first = parts.front().view();
  if (first.starts_with('-') || spread == command_spread::every) return to.append(first);
  std::int64_t sum = 0;
  for (const reply_buffer& each : parts) sum += number_in(each.view());
  to.append_integer(sum);
}

}  // namespace

gyre::task<> client_connection::ask_every_shard(command_spread spread) {
  if (spread == command_spread::figures) co_return co_await report_figures();
  keep_request();
  std::vector<reply_buffer> parts(server_.shards->size());
  if (spread != command_spread::every_key) {
    co_await execute_on_every_shard(parts);
    reply_.set_limit(reply_buffer::no_limit);
    join_small(parts, spread, reply_);
  } else if (co_await collect_keys(parts)) {
    co_await send_keys(parts);
  } else {
    reply_.append(reply_text::too_large);
  }
  parts.clear();
  shard_bytes_ = 0;
  note_memory();
  set_reply_limit();
}

gyre::task<> client_connection::execute_on_every_shard(std::vector<reply_buffer>& parts) {
  shard_set& shards = *server_.shards;
  auto part = [&]() -> gyre::task<> {
    const std::size_t shard = gyre::event_loop::current().index();
    co_await execute_on(shards[shard], parser_.arguments(), parts[shard], shard == 0);
  };
  co_await gyre::for_each_loop(part);
}

// Memory for the parts is reserved before the shards are asked. The first attempt has to find out how much is needed:
// it gets little, so that it neither evicts others nor makes commands that add fail. Returns false when the parts do
// not fit.
gyre::task<bool> client_connection::collect_keys(std::vector<reply_buffer>& parts) {
  constexpr std::size_t first_share = 16;
  std::vector<std::size_t> wanted(parts.size());
  for (std::size_t needed = 0;;) {  // 0: not known yet
    bool fits = needed == 0;
    if (!fits) fits = co_await wait_for_room(held_bytes() + needed);
    if (!fits) co_return false;
    bool overflowed = false;
    {
      const auto turn = co_await server_.keys_of_shards.scoped_lock();
      note_memory();
      const std::size_t left = left_bytes();
      if (left < needed) continue;  // others have taken it meanwhile
      // Keys may be added until they are read again.
      const std::size_t slack = needed != 0 ? std::min(needed / 16, left - needed)
                                            : std::min(server_.limits.output_buffer, left / first_share);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].clear(0);
        parts[i].set_limit(std::max(min_reply_limit, wanted[i] + slack / parts.size()));
      }
      shard_bytes_ = needed + slack;
      note_memory();
      co_await execute_on_every_shard(parts);
      needed = shard_bytes_ = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        overflowed = overflowed || parts[i].overflowed();
        wanted[i] = parts[i].overflowed() ? parts[i].wanted() : parts[i].size();
        needed += wanted[i];
        shard_bytes_ += parts[i].capacity();
      }
      note_memory();
    }
    if (!overflowed && needed <= max_reply_size()) co_return true;
    for (reply_buffer& each : parts) each.clear(0);
    shard_bytes_ = 0;
    co_await flush();
    if (!overflowed || needed > server_.limits.output_buffer) co_return false;
    for (std::size_t& each : wanted) each += reply_buffer::max_header;
    needed += parts.size() * reply_buffer::max_header;
  }
}

// Large parts are sent as they are: a joined reply would exist twice.
gyre::task<> client_connection::send_keys(std::vector<reply_buffer>& parts) {
  reply_.set_limit(reply_buffer::no_limit);
  if (parts.front().view().starts_with('-')) co_return reply_.append(parts.front().view());
  std::int64_t sum = 0;
  for (const reply_buffer& each : parts) sum += number_in(each.view());
  reply_.append_array(static_cast<std::size_t>(sum));
  for (reply_buffer& each : parts) {
    std::string_view elements = each.view();
    (void)take_array_header(elements);
    reply_.set_limit(reply_buffer::no_limit);  // the parts have kept it
    if (elements.size() <= flush_above) {
      reply_.append(elements);
      continue;
    }
    co_await flush();
    shard_bytes_ -= each.capacity();
    each.drop_front(each.size() - elements.size());
    reply_ = std::move(each);
  }
}

gyre::task<> client_connection::report_figures() {
  keep_request();
  shard_set& shards = *server_.shards;
  auto figures = [&shards] { return figures_of(shards.here().keys, shards.here().info); };
  const std::vector<server_figures> all = co_await gyre::for_each_loop(figures);
  server_figures sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum += all[i];
  ++sum.commands_processed;  // this one
  connection_.totals = &sum;
  execute(parser_.arguments(), server_.keys, wall_clock(), reply_, connection_);
  connection_.totals = nullptr;
  if (reply_.overflowed()) co_await finish_command();
}

}  // namespace resp
