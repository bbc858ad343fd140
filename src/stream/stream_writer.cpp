// src/stream/stream_writer.cpp: the buffer of a writer, and the task that sends it.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/stream/stream_writer.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/spawn.hpp>

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre {
namespace {

// If there is no memory for the error, std::bad_alloc becomes the error.
template <class Error, class... Details>
std::exception_ptr failed_with(Details... details) noexcept {
  try {
    return std::make_exception_ptr(Error(details...));
  } catch (...) {
    return std::current_exception();
  }
}

void expect_positive(const linger_limits& limits, const char* operation) noexcept {
  if (limits.time < std::chrono::nanoseconds::zero())
    misuse("%s with a negative time: nanoseconds::max() means no limit, and 0 no wait", operation);
}

}  // namespace

/// Shared by the writer and the sending task. Freed when both are done.
struct writer_state : private timer {
  explicit writer_state(shared_stream owned) noexcept : stream(std::move(owned)) { sent.set(); }

  void add(std::string_view bytes) {
    if (closed) throw std::logic_error("stream_writer: write after write_eof or close");
    if (failure) return;  // thrown by the next drain
    waiting.append(bytes);
    if (!sending) begin();
  }

  void sending_ended() noexcept {
    if (armed()) event_loop::current().timers().disarm(*this);
    if (!failure && buffered() > 0) {  // the reader must not take a part for the whole
      failure = failed_with<std::runtime_error>("stream_writer: the loop ended before all was sent");
      stream->abort();
    }
    sending = false;
    sender = nullptr;
    waiting.clear();
    under_way.clear();
    sent.set();
    below_low.set();
    release();
  }

  // Held by the sending task. Released even if that task never begins because the loop ends.
  using sending_state = owned<writer_state*, &writer_state::sending_ended>;

  void begin() {
    sent.clear();
    ++references;
    sending = true;
    try {
      // Eager, so that a short write is under way before this returns.
      spawn(send_all(sending_state(this)), {.name = "stream_writer", .eager = true}).detach();
    } catch (...) {
      failure = nullptr;  // nothing was added, and nothing was lost
      throw;
    }
  }

  // Ends when there is nothing left; the next write starts it again. Uses two buffers: one
  // is filled while the other is sent.
  static task<> send_all(sending_state begun) {
    const sending_state state = std::move(begun);  // released when this coroutine ends, not when its frame is destroyed
    cancel_scope scope;
    scope.open(co_await this_task_context{});
    state->sender = &scope;
    try {
      while (!state->waiting.empty()) {
        state->under_way.swap(state->waiting);
        co_await state->stream->write_all(std::as_bytes(std::span(state->under_way)));
        state->under_way.clear();
        if (state->waiting.size() <= state->limits.low) state->below_low.set();
      }
      if (state->closed && !state->end_told) co_await end_stream(*state);
    } catch (const cancelled&) {
      if (!scope.absorbs_cancel()) throw;  // otherwise it was aborted
    } catch (...) {
      if (!state->failure) state->failure = std::current_exception();  // thrown by the next wait
      state->waiting.clear();
    }
  }

  static task<> end_stream(writer_state& state) {
    state.end_told = true;
    try {
      co_await state.stream->shutdown_write();
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::operation_not_supported) throw;
      state.no_half_close = std::current_exception();
    }
  }

  // A task sends the end of the stream, since that may have to wait for its turn. A stream that is
  // destroyed with this object needs none.
  void close() noexcept {
    closed = true;
    if (sending || failure || end_told) return;
    try {
      begin();
    } catch (...) {
      failure = std::current_exception();  // no memory for the task; thrown by wait_closed
    }
  }

  void abort(std::exception_ptr reason) noexcept {
    closed = true;
    if (!failure) failure = std::move(reason);
    waiting.clear();
    stream->abort();
    if (sender != nullptr) sender->cancel();
  }

  // Called when the writer is destroyed.
  void linger() noexcept {
    expect_nobody_waits();
    const event_loop* const loop = event_loop::current_or_null();
    if (!closed && loop != nullptr &&
        cancel_scope::ends_abruptly(loop->running_task())) {  // it may have written a part of something
      abort(failed_with<cancelled>());
      return release();
    }
    if (sending || (stream.is_shared() && loop != nullptr)) close();
    if (sending && buffered() > lingering.bytes) {
      abort(too_much());
    } else if (sending && lingering.time < std::chrono::nanoseconds::max()) {
      deadline = deadline_after(lingering.time);
      fire = call_member<&writer_state::on_time>;
      event_loop::current().timers().arm(*this);
    }
    release();
  }

  void on_time() noexcept { abort(failed_with<timed_out>(lingering.time, "linger stream_writer")); }

  [[nodiscard]] static std::exception_ptr too_much() noexcept {
    return failed_with<io_error>(std::make_error_code(std::errc::no_buffer_space), "wait_closed",
                                 "more in the buffer than linger_limits::bytes");
  }

  [[nodiscard]] std::size_t buffered() const noexcept { return waiting.size() + under_way.size(); }

  // Guards a wait: a waiting operation uses the state when it resumes, but does not keep it alive.
  class wait_under_way {
   public:
    wait_under_way(writer_state& state, const char* operation) noexcept : state_(state) {
      ++state.waits;
      state.awaited = operation;
    }
    wait_under_way& operator=(wait_under_way&&) = delete;
    ~wait_under_way() { --state_.waits; }

   private:
    writer_state& state_;
  };
  void expect_nobody_waits() const noexcept {
    if (waits > 0)
      misuse(
          "a stream_writer was destroyed while a task waits in its %s: let that task end before, or cancel it and "
          "await its end",
          awaited);
  }
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
  linger_limits lingering;
  event sent;
  event below_low;
  std::exception_ptr failure;
  std::exception_ptr no_half_close;
  cancel_scope* sender = nullptr;  // the scope of the sending task
  const char* awaited = "";        // the operation awaited last
  int waits = 0;                   // number of tasks in drain, flush, write_eof and wait_closed
  int references = 1;
  owner_loop_of<"a stream_writer"> owner;
  bool sending = false;
  bool closed = false;
  bool end_told = false;
  bool aborted = false;  // by the program, which need not get an error for it
};

stream_writer::stream_writer(shared_stream stream) : state_(new writer_state(std::move(stream))) {}

void stream_writer::linger(writer_state* state) noexcept {
  state->owner.check("destructor");
  state->linger();
}

writer_state& stream_writer::used_by(const char* operation) const noexcept {
  if (state_ == nullptr) misuse_of_closed(operation, "a stream_writer");
  state_->owner.check(operation);
  return *state_;
}

void stream_writer::write(std::string_view bytes) {
  writer_state& state = used_by("write");
  if (!bytes.empty()) state.add(bytes);
}

task<> stream_writer::drain() {
  writer_state& state = used_by("drain");
  state.check();
  if (state.buffered() <= state.limits.high) co_return;
  const writer_state::wait_under_way here(state, "drain");
  while (state.buffered() > state.limits.low && state.sending) {
    state.below_low.clear();
    co_await state.below_low.wait();
  }
  state.check();
}

task<> stream_writer::flush() {
  writer_state& state = used_by("flush");
  const writer_state::wait_under_way here(state, "flush");
  co_await state.sent.wait();
  state.check();
}

task<> stream_writer::write_eof() {
  writer_state& state = used_by("write_eof");
  const writer_state::wait_under_way here(state, "write_eof");
  state.close();
  co_await state.sent.wait();
  state.check();
  if (state.no_half_close) std::rethrow_exception(state.no_half_close);
}

task<> stream_writer::wait_closed() {
  writer_state& state = used_by("wait_closed");
  const writer_state::wait_under_way here(state, "wait_closed");
  state.close();
  co_await state.sent.wait();
  if (!state.aborted) state.check();
}

task<> stream_writer::wait_closed(linger_limits limits) {
  expect_positive(limits, "wait_closed");
  writer_state& state = used_by("wait_closed");
  const writer_state::wait_under_way here(state, "wait_closed");
  state.close();
  if (state.buffered() > limits.bytes) state.abort(state.too_much());
  auto limited = as_expected(timeout(limits.time, state.sent.wait()));
  const auto sent_in_time = co_await limited;
  if (!sent_in_time) state.abort(failed_with<timed_out>(limits.time, "wait_closed stream_writer"));
  co_await state.sent.wait();
  if (!state.aborted) state.check();
}

void stream_writer::close() noexcept { used_by("close").close(); }

void stream_writer::abort() noexcept {
  writer_state& state = used_by("abort");
  state.aborted = true;
  state.abort(failed_with<io_error>(std::make_error_code(std::errc::operation_canceled), "stream_writer", "aborted"));
}

void stream_writer::set_write_limits(write_limits limits) noexcept {
  // With a low limit above the high one, drain would never wait. A program that sets only the high one gets here.
  limits.low = std::min(limits.low, limits.high);
  used_by("set_write_limits").limits = limits;
}
void stream_writer::set_linger_limits(linger_limits limits) noexcept {
  expect_positive(limits, "set_linger_limits");
  used_by("set_linger_limits").lingering = limits;
}
linger_limits stream_writer::lingers() const noexcept { return used_by("lingers").lingering; }
std::size_t stream_writer::buffered() const noexcept { return used_by("buffered").buffered(); }

}  // namespace gyre
