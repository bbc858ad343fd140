// programs/resp_server/client_connection.cpp: one client, from its first request to its end.
#include "programs/resp_server/client_connection.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/tasks/timeout.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace resp {
namespace {

struct evicted_client {};

// Bytes charged to every client in advance, so that most requests need no counting.
constexpr std::size_t always_counted = 1024;

}  // namespace

client_connection::client_connection(shard& here, gyre::tcp_stream& peer)
    : client_account(here.memory, &on_eviction), here_(here), peer_(peer), deadline_(peer, here.limits.write_timeout) {
  set(always_counted);
  here.figures.clients += 1;
  here.figures.connections += 1;
}

void client_connection::on_eviction(client_account& self) noexcept {
  static_cast<client_connection&>(self).peer_.cancel();
}

gyre::task<> client_connection::serve(shard& here, gyre::tcp_stream peer) {
  client_connection self(here, peer);
  try {
    for (;;) {
      if (self.buffers_ == nullptr) {  // between two requests
        const bool more = co_await peer.next_or_stop();
        if (!more && peer.has_ended()) co_return;
        if (!more) co_return co_await self.say_goodbye();  // a request may cross it: the last reply must not get lost
      }
      {
        gyre::buffer_lease received = co_await peer.receive();
        if (!received) co_return;
        self.begin(received);
        for (;;) {
          const bool answered = self.answer();
          if (answered) break;
          co_await self.answer_slowly();
        }
        if (!self.input_.empty()) self.keep_input();
      }
      if (const std::string_view replies = self.buffers_->reply.view(); !replies.empty()) {
        if (replies.size() > always_counted) self.note_memory();
        const write_deadline::during writing(self.deadline_);
        co_await peer.write_all(replies);
      }
      self.finish();
      if (self.ends_) co_return co_await self.say_goodbye();
    }
  } catch (const evicted_client&) {
  } catch (const gyre::io_error&) {
    if (self.deadline_.expired())
      here.figures.write_timeouts += 1;
    else if (!self.evicted())
      throw;
  }
}

void client_connection::begin(gyre::buffer_lease& received) {
  if (buffers_ == nullptr) buffers_ = here_.free_buffers.take(here_.limits);
  received_ = &received;
  input_ = received.text();
  if (!buffers_->partial.empty()) append_to_partial();
}

// Answers the requests of input_. Returns false when the next one has to wait: for other shards, for memory, or because
// the replies get large.
bool client_connection::answer() {
  request_parser& parser = buffers_->parser;
  reply_buffer& reply = buffers_->reply;
  unix_ms now = 0;  // not read for a command without keys
  while (!input_.empty() && reply.size() <= max_pending_replies) {
    const parse_result parsed = parser.parse(input_);
    if (parsed.status != parse_status::request) [[unlikely]] {
      if (parsed.status == parse_status::error) end_after(parser.error());
      return true;
    }
    command_call call{parser.arguments(), here_, now, reply};
    if (!call.arguments.empty()) {
      const command* const found = admit(call);
      if (found != nullptr) {
        const bool is_here = found->keys == key_use::none ||
                             (found->keys == key_use::one && here_.all.shard_of(call.arguments[1]) == here_.number);
        if (!is_here) return false;
        if (found->keys != key_use::none && now == 0) now = call.now = wall_clock();
        found->run(call);
        if (reply.overflow() != 0) [[unlikely]] {
          reply.clear_overflow();
          return false;
        }
      }
      here_.figures.commands += 1;
    }
    input_.remove_prefix(parsed.consumed);
  }
  return input_.empty();
}

// A waiting client holds no receive buffer, because all clients share them.
gyre::task<> client_connection::answer_slowly() {
  keep_input();
  if (buffers_->reply.size() > max_pending_replies)
    co_await flush();
  else
    co_await answer_batch();
}

// Answers the next request, and those after it, on their shards.
gyre::task<> client_connection::answer_batch() {
  std::unique_ptr<request_batch> batch = here_.free_batches.take(here_.all, here_.number);
  const std::size_t bytes = fill(*batch);
  for (;;) {
    co_await batch->exchange();
    batch_bytes_ = batch->allocated_bytes();
    const bool joined = batch->join(buffers_->reply);
    if (joined) break;
    co_await flush();
    shard_message& next = batch->next();
    if (next.has_reply() && next.next_reply().size() > max_pending_replies) {
      co_await write(next.next_reply());
      batch->skip();
    } else if (const std::size_t needed = next.overflow(); needed != 0) {
      if (needed <= here_.limits.output_buffer && here_.memory.make_room(*this, held_bytes() + needed)) {
        batch_bytes_ += needed;  // counts from now on, although it is not allocated yet
        note_memory();
        next.raise_limit(needed);
      } else {
        next.refuse(reply_text::too_large);
      }
    }
  }
  input_.remove_prefix(bytes);
  batch_bytes_ = 0;
  here_.free_batches.give_back(std::move(batch));
}

// Returns the size of the requests that it has added.
std::size_t client_connection::fill(request_batch& batch) {
  const unix_ms now = wall_clock();
  std::string_view rest = input_;
  while (!rest.empty()) {
    const parse_result parsed = buffers_->parser.parse(rest);
    if (parsed.status != parse_status::request) break;
    if (const auto arguments = buffers_->parser.arguments(); !arguments.empty()) {
      // A refused request is answered in its place, and may fit when the requests before it have been executed.
      reply_buffer refusal(0);
      const command* const found =
          rest.size() == input_.size() ? find_command(arguments[0]) : admit({arguments, here_, now, refusal});
      if (found == nullptr) break;
      batch.add(*found, arguments);
      here_.figures.commands += 1;
    }
    rest.remove_prefix(parsed.consumed);
  }
  return input_.size() - rest.size();
}

gyre::task<> client_connection::write(std::string_view bytes) {
  note_memory();
  const write_deadline::during writing(deadline_);
  co_await peer_.write_all(bytes);
}

gyre::task<> client_connection::flush() {
  reply_buffer& reply = buffers_->reply;
  if (reply.size() != 0) co_await write(reply.view());
  reply.clear();
  note_memory();
}

void client_connection::end_after(std::string_view error) {
  buffers_->reply.append_error(error);
  input_ = {};
  ends_ = true;
}

// Appends the received bytes to the beginning of their request. The buffer grows towards the announced size, but a
// client that announces much gets the memory only as it sends.
void client_connection::append_to_partial() {
  constexpr std::size_t max_at_once = std::size_t{1} << 20U;
  std::string& partial = buffers_->partial;
  if (const std::size_t size = partial.size() + input_.size(); size > partial.capacity()) {
    const std::size_t announced = std::min(buffers_->parser.bytes_needed(), partial.size() * 2 + max_at_once);
    const std::size_t capacity = std::max({size, announced, partial.capacity() * 2});  // as reserve() rounds
    // The rest of the stream would be taken for requests, so a request without room ends the connection.
    if (!here_.memory.make_room(*this, held_bytes() - partial.capacity() + capacity))
      return end_after("OOM request does not fit into 'maxmemory-clients'");
    partial.reserve(capacity);
  }
  partial.append(input_);
  std::exchange(received_, nullptr)->release();
  input_ = partial;
  note_memory();
}

// Moves the input into buffers_->partial.
void client_connection::keep_input() {
  std::string& partial = buffers_->partial;
  if (received_ != nullptr) {
    partial.assign(input_);
    std::exchange(received_, nullptr)->release();
  } else {
    partial.erase(0, partial.size() - input_.size());
  }
  input_ = partial;
}

// All requests that have arrived are answered, or the last one is not complete.
void client_connection::finish() {
  received_ = nullptr;  // serve() has returned the buffer
  if (!input_.empty()) {
    buffers_->reply.clear();
    return note_memory();
  }
  here_.free_buffers.give_back(std::move(buffers_));
  set(always_counted);
  if (evicted()) throw evicted_client();
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

// Called before everything that may take long. Throws when this client must leave.
void client_connection::note_memory() {
  set(std::max(always_counted, held_bytes()));
  here_.memory.keep_limit();
  if (evicted()) [[unlikely]]
    throw evicted_client();
}

}  // namespace resp
