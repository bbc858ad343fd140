// programs/resp_server/whole_keyspace.cpp: commands that every shard executes: KEYS, DBSIZE, FLUSHALL, INFO.
#include "programs/resp_server/client_connection.hpp"
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

void join_parts(const std::vector<reply_buffer>& parts, command_spread spread, reply_buffer& to) {
  const std::string_view first = parts.front().view();
  if (first.starts_with('-') || spread == command_spread::every) return to.append(first);
  std::int64_t sum = 0;
  for (const reply_buffer& each : parts) sum += number_in(each.view());
  if (spread == command_spread::every_sum) return to.append_integer(sum);
  to.append_array(static_cast<std::size_t>(sum));
  for (const reply_buffer& each : parts) {
    std::string_view elements = each.view();
    (void)take_array_header(elements);
    to.append(elements);
  }
}

}  // namespace

gyre::task<> client_connection::ask_every_shard(command_spread spread) {
  if (spread == command_spread::figures) co_return co_await report_figures();
  keep_request();
  std::vector<reply_buffer> parts(server_.shards->size());
  if (co_await collect(parts)) {
    reply_.set_limit(reply_buffer::no_limit);  // the parts have kept it
    join_parts(parts, spread, reply_);
  } else {
    reply_.append_error(
        "OOM reply is larger than 'client-output-buffer-limit' or does not fit into 'maxmemory-clients'");
  }
  parts.clear();
  shard_bytes_ = 0;
  note_memory();
  set_reply_limit();
}

// Executes the request on every shard. Each part may have the same share of the limit: keys are spread evenly. Returns
// false when the parts do not fit.
gyre::task<bool> client_connection::collect(std::vector<reply_buffer>& parts) {
  shard_set& shards = *server_.shards;
  std::size_t limit = std::max(least_reply_limit, reply_limit() / parts.size());
  for (bool again = false;; again = true) {
    for (reply_buffer& each : parts) {
      each.clear(0);
      each.set_limit(limit);
    }
    auto part = [&]() -> gyre::task<> {
      const std::size_t shard = gyre::event_loop::current().index();
      co_await execute_on(shards[shard], parser_.arguments(), parts[shard], shard == 0);
    };
    co_await gyre::for_each_loop(part);
    std::size_t wanted = 0;
    shard_bytes_ = 0;
    for (const reply_buffer& each : parts) {
      if (each.overflowed()) wanted = std::max(wanted, each.wanted());
      shard_bytes_ += each.capacity();
    }
    if (wanted == 0) co_return true;
    for (reply_buffer& each : parts) each.clear(0);
    shard_bytes_ = 0;
    const std::size_t all = wanted * parts.size();
    co_await flush();
    bool fits = !again && all <= server_.limits.output_buffer;
    if (fits) fits = co_await wait_for_room(request_bytes() + 2 * all);  // the joined reply exists twice
    if (!fits) co_return false;
    limit = std::max(least_reply_limit, reply_limit() / parts.size());
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
