// programs/resp_server/client_connection.cpp: one client, from its first request to its end.
#include "programs/resp_server/client_connection.hpp"

#include "programs/resp_server/command.hpp"
#include "programs/resp_server/commands.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/timeout.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

namespace resp {
namespace {

struct evicted_client {};

// Bytes charged to every client in advance, so that most requests need no counting.
constexpr std::size_t always_counted = 1024;

}  // namespace

client_connection::client_connection(server_state& server, gyre::tcp_stream peer) noexcept
    : client_account(server.memory, &end),
      server_(server),
      peer_(std::move(peer)),
      deadline_(peer_, server.limits.write_timeout),
      connection_{.server = server.info, .id = server.next_client_id()},
      parser_(server.limits.request) {
  ++server.info.connected_clients;
  set(always_counted);
}

client_connection::~client_connection() {
  --server_.info.connected_clients;
  if (!evicted()) return;
  server_.memory_freed.set();  // waiters run after this object is destroyed
  server_.memory_freed.clear();
}

// A client that is evicted while it waits for others to leave must notice that, too.
void client_connection::end(client_account& self) noexcept {
  auto& client = static_cast<client_connection&>(self);
  client.peer_.cancel();
  client.server_.memory_freed.set();
  client.server_.memory_freed.clear();
}

gyre::task<> client_connection::run() {
  try {
    co_await serve();
  } catch (const evicted_client&) {
  } catch (const gyre::io_error&) {
    if (deadline_.expired())
      ++server_.info.write_timeouts;
    else if (!evicted())
      throw;
  }
}

gyre::task<> client_connection::serve() {
  for (;;) {
    if (partial_.empty()) {  // between two requests
      const bool more = co_await peer_.next_or_stop();
      if (!more && peer_.has_ended()) co_return;
      if (!more) co_return co_await say_goodbye();  // a request may cross it: the last reply must not get lost
    }
    {
      gyre::buffer_lease received = co_await peer_.receive();
      if (!received) co_return;
      received_ = &received;
      input_ = received.text();
      if (!partial_.empty()) co_await keep_received();
      reply_ = server_.buffers.take();
      reply_.set_limit(std::max(min_reply_limit, std::min(server_.limits.output_buffer, server_.memory.available())));
      if (server_.shards == nullptr) [[likely]]
        co_await answer_all();
      else
        co_await answer_on_shards();
      if (received_ == nullptr || !input_.empty()) keep_rest();
      received_ = nullptr;  // returns the buffer
    }
    if (!reply_.empty()) {
      if (reply_.capacity() > always_counted) note_memory();
      const write_deadline::during writing(deadline_);
      co_await peer_.write_all(reply_.view());
    }
    server_.buffers.give_back(std::move(reply_));
    if (bytes() > always_counted || request_bytes() > always_counted) note_memory();
    if (connection_.close_after_reply) co_return co_await say_goodbye();
  }
}

// Answers every complete request of input_. Replies are written out here only when they get large.
gyre::task<> client_connection::answer_all() {
  unix_ms now = wall_clock();
  while (!input_.empty() && !connection_.close_after_reply) {
    const parse_result parsed = parser_.parse(input_);
    if (parsed.status == parse_status::command) {
      execute(parser_.arguments(), server_.keys, now, reply_, connection_);
      if (connection_.unfinished != nullptr || reply_.overflowed()) [[unlikely]] {
        co_await finish_command();
        now = wall_clock();
      }
    }
    if (parsed.status == parse_status::error) reply_protocol_error(parser_.error(), reply_, connection_);
    input_.remove_prefix(parsed.consumed);
    if (parsed.status == parse_status::need_more) break;
    if (reply_.size() > flush_above) {
      keep_rest();
      co_await flush();
      now = wall_clock();
    }
  }
}

// The last command needs more steps, or more memory than there was. It has changed nothing so far.
gyre::task<> client_connection::finish_command() {
  keep_request();
  for (bool again = false;; again = true) {
    if (again) execute(parser_.arguments(), server_.keys, wall_clock(), reply_, connection_);
    if (connection_.unfinished != nullptr) co_await work_off();
    if (!reply_.overflowed()) co_return;
    const std::size_t needed = reply_.wanted() - reply_.mark();
    co_await flush();
    bool fits = !again && needed <= server_.limits.output_buffer;
    if (fits) fits = co_await wait_for_room(request_bytes() + needed);
    set_reply_limit();
    if (!fits) break;
  }
  reply_.append(reply_text::too_large);
}

// Only one client's command is worked off at a time, one step per turn of the loop.
gyre::task<> client_connection::work_off() {
  const auto work = std::move(connection_.unfinished);
  const auto turn = co_await server_.long_command.scoped_lock();
  for (;;) {
    note_memory();
    set_reply_limit();
    if (work->step(server_.keys, wall_clock(), reply_)) co_return;
    co_await gyre::yield();
  }
}

gyre::task<> client_connection::write(std::string_view bytes) {
  const write_deadline::during writing(deadline_);
  co_await peer_.write_all(bytes);
}

gyre::task<> client_connection::flush() {
  constexpr std::size_t max_kept = std::size_t{256} << 10U;
  if (!reply_.empty()) {
    note_memory();
    co_await write(reply_.view());
  }
  reply_.clear(max_kept);
  note_memory();
  set_reply_limit();
}

// Evicts larger clients until this one may use `bytes` in total. Returns false when there are no larger ones.
gyre::task<bool> client_connection::wait_for_room(std::size_t bytes) {
  note_memory();
  client_memory& memory = server_.memory;
  if (!memory.make_room(*this, bytes)) co_return false;
  while (!evicted() && memory.available_to(*this) < bytes && memory.leaving() != 0)
    co_await server_.memory_freed.wait();
  note_memory();
  co_return memory.available_to(*this) >= bytes;
}

// Appends the received bytes to the beginning of their request. The buffer grows towards the announced size, but a
// client that announces much gets the memory only as it sends.
gyre::task<> client_connection::keep_received() {
  constexpr std::size_t max_at_once = std::size_t{1} << 20U;
  if (const std::size_t size = partial_.size() + input_.size(); size > partial_.capacity()) {
    const std::size_t announced = std::min(parser_.bytes_needed(), partial_.size() * 2 + max_at_once);
    const std::size_t capacity = std::max({size, announced, partial_.capacity() * 2});  // as reserve() rounds
    const std::size_t all = request_bytes() - partial_.capacity() + capacity;
    bool fits = all <= server_.memory.available_to(*this);
    if (!fits) fits = co_await wait_for_room(all);
    if (!fits) co_return refuse_request();
    partial_.reserve(capacity);
  }
  partial_.append(input_);
  release_received();
  input_ = partial_;
  note_memory();
}

// The rest of the stream would be taken for requests, so nothing more is read.
void client_connection::refuse_request() {
  input_ = {};
  reply_.append_error("OOM request does not fit into 'maxmemory-clients'");
  connection_.close_after_reply = true;
}

// A waiting client must hold no receive buffer, because all clients share them. So the request is copied,
// and its arguments are found again.
void client_connection::keep_request() {
  if (received_ == nullptr) return;
  keep_rest();
  std::ignore = parser_.parse(input_);
}

// Keeps the rest of the input in partial_. An idle connection keeps no large buffer.
void client_connection::keep_rest() {
  constexpr std::size_t max_kept = std::size_t{64} << 10U;
  if (received_ != nullptr) {
    partial_.assign(input_);
    release_received();
  } else if (input_.empty() && partial_.capacity() > max_kept) {
    std::string().swap(partial_);
  } else {
    partial_.erase(0, partial_.size() - input_.size());
  }
  input_ = partial_;
}

void client_connection::release_received() noexcept {
  received_->release();
  received_ = nullptr;
}

// Closing with unread input would reset the connection, and the client might never see the last reply.
gyre::task<> client_connection::say_goodbye() {
  using namespace std::chrono_literals;
  co_await peer_.shutdown_write();
  auto discard = [this]() -> gyre::task<> {
    for (;;) {  // as a condition, the await would hang with g++ 12, see docs/compilers.md
      const gyre::buffer_lease piece = co_await peer_.receive();
      if (!piece) co_return;
    }
  };
  try {
    co_await gyre::timeout(2s, discard);
  } catch (const gyre::timed_out&) {  // it had enough time
  }
}

std::size_t client_connection::request_bytes() const noexcept {
  return partial_.capacity() + parser_.allocated_bytes() + connection_.name.capacity() + shard_bytes_;
}

// Called before everything that may take long. Throws when this client must leave.
void client_connection::note_memory() {
  set(std::max(always_counted, held_bytes()));
  if (server_.memory.over_limit()) [[unlikely]]
    server_.memory.keep_limit();
  if (evicted()) [[unlikely]]
    throw evicted_client();
}

std::size_t client_connection::left_bytes() const noexcept {
  const std::size_t available = server_.memory.available_to(*this);
  return available - std::min(available, held_bytes());
}

std::size_t client_connection::reply_limit() const noexcept {
  const std::size_t available = server_.memory.available_to(*this);
  const std::size_t taken = request_bytes();
  const std::size_t left = available > taken ? available - taken : 0;
  return std::max(min_reply_limit, std::min(server_.limits.output_buffer, left));
}

std::size_t client_connection::max_reply_size() const noexcept {
  return std::max(min_reply_limit, server_.limits.output_buffer);
}

void client_connection::set_reply_limit() noexcept { reply_.set_limit(reply_limit()); }

}  // namespace resp
