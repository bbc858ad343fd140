// src/stream/stream_writer.cpp: the buffer of a writer and the task that sends it.
#include <gyre/coro/cancelled.hpp>
#include <gyre/stream/stream_writer.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/spawn.hpp>

#include <exception>
#include <span>
#include <stdexcept>
#include <string>

namespace gyre {

/// Shared by the writer and by the task that sends; freed when both are done.
struct writer_state {
  explicit writer_state(shared_stream owned) noexcept : stream(std::move(owned)) { sent.set(); }

  void add(std::string_view bytes) {
    if (closed) throw std::logic_error("stream_writer: write after write_eof or close");
    if (failure) return;  // said by the next drain
    waiting.append(bytes);
    if (!sending) begin();
  }

  void begin() {
    sent.clear();
    ++references;
    sending = true;
    try {
      // Eagerly: a short write is on its way before this returns.
      spawn(send_all(this), {.name = "stream_writer", .eager = true}).detach();
    } catch (...) {
      sending = false;
      --references;
      sent.set();
      throw;
    }
  }

  // Ends when there is nothing left; the next write begins anew. Two buffers: one fills while the other is sent.
  static task<> send_all(writer_state* state) {
    struct owned {
      writer_state* state;
      ~owned() {
        state->sending = false;
        state->under_way.clear();
        state->sent.set();
        state->below_low.set();
        state->release();
      }
    } const hold{state};
    try {
      while (!state->waiting.empty()) {
        state->under_way.swap(state->waiting);
        co_await state->stream->write_all(std::as_bytes(std::span(state->under_way)));
        state->under_way.clear();
        if (state->waiting.size() <= state->limits.low) state->below_low.set();
      }
    } catch (const cancelled&) {  // the loop ends
      state->failure = std::make_exception_ptr(std::runtime_error("stream_writer: the loop ended before all was sent"));
      throw;
    } catch (...) {
      state->failure = std::current_exception();  // said by whoever waits next
      state->waiting.clear();
    }
  }

  [[nodiscard]] std::size_t buffered() const noexcept { return waiting.size() + under_way.size(); }
  void check() const {
    if (failure) std::rethrow_exception(failure);
  }
  void release() noexcept {
    if (--references == 0) delete this;
  }

  shared_stream stream;
  std::string waiting;
  std::string under_way;
  write_limits limits;
  event sent;
  event below_low;
  std::exception_ptr failure;
  int references = 1;
  bool sending = false;
  bool closed = false;
};

stream_writer::stream_writer(shared_stream stream) : state_(new writer_state(std::move(stream))) {}

stream_writer::~stream_writer() {
  if (state_ != nullptr) state_->release();
}

void stream_writer::write(std::string_view bytes) {
  if (!bytes.empty()) state_->add(bytes);
}

task<> stream_writer::drain() {
  writer_state& state = *state_;
  state.check();
  if (state.buffered() <= state.limits.high) co_return;
  while (state.buffered() > state.limits.low && state.sending) {
    state.below_low.clear();
    co_await state.below_low.wait();
  }
  state.check();
}

task<> stream_writer::flush() {
  co_await state_->sent.wait();
  state_->check();
}

task<> stream_writer::write_eof() {
  state_->closed = true;
  co_await flush();
  co_await state_->stream->shutdown_write();
}

void stream_writer::close() noexcept { state_->closed = true; }
void stream_writer::set_write_limits(write_limits limits) noexcept { state_->limits = limits; }
std::size_t stream_writer::buffered() const noexcept { return state_->buffered(); }
bool stream_writer::is_closing() const noexcept { return state_->closed; }

}  // namespace gyre
