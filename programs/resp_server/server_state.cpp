// programs/resp_server/server_state.cpp: state shared by the connections of one loop.
#include "programs/resp_server/server_state.hpp"

#include "programs/resp_server/request_batch.hpp"
#include "programs/resp_server/shard_set.hpp"

#include <ctime>
#include <utility>

namespace resp {

unix_ms wall_clock() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &t);  // at most a tick old, at a quarter of the cost
  return unix_ms{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

server_state::server_state(const server_limits& most, const keyspace_options& options)
    : limits(most), keys(options), memory(most.all_clients) {
  info.clients = &memory;
  info.clients_limit = most.all_clients;
  info.reply_limit = most.output_buffer;
}

server_state::~server_state() = default;

void server_state::publish_memory() noexcept {
  if (shards != nullptr && keys.options().max_bytes)
    shards->ledger().set(info.shard, keys.used_bytes() + memory.used());
}

std::uint64_t server_state::next_client_id() noexcept {
  const std::uint64_t number = ++info.connections_received;
  return shards == nullptr ? number : (number - 1) * shards->size() + info.shard + 1;
}

std::unique_ptr<request_batch> server_state::take_batch() {
  if (free_batches.empty()) return std::make_unique<request_batch>(*shards, info.shard);
  std::unique_ptr<request_batch> batch = std::move(free_batches.back());
  free_batches.pop_back();
  return batch;
}

void server_state::give_back(std::unique_ptr<request_batch> batch) {
  constexpr std::size_t max_messages = 64;
  batch->clear();
  if (free_batches.size() * shards->size() < max_messages) free_batches.push_back(std::move(batch));
}

}  // namespace resp
