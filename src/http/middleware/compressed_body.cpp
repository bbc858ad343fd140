// src/http/middleware/compressed_body.cpp: passes pieces through an encoder, and sends its output when the task waits.
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "compressed_body.hpp"

#include <stdexcept>
#include <utility>

namespace gyre::http {

// Marks a call in progress: until it ends, nothing else may be sent.
class compressing_filter::busy_scope {
 public:
  explicit busy_scope(compressing_filter& filter) : filter_(filter) {
    if (filter.failure_) std::rethrow_exception(filter.failure_);
    filter.busy_ = true;
  }
  busy_scope(const busy_scope&) = delete;
  busy_scope& operator=(const busy_scope&) = delete;
  ~busy_scope() { filter_.busy_ = false; }

 private:
  compressing_filter& filter_;
};

compressing_filter::~compressing_filter() {
  if (scheduled_ != nullptr) scheduled_->filter = nullptr;
}

task<> compressing_filter::encode(std::string_view piece, encode_until until, bool on_thread) {
  if (!on_thread) {
    // A body that shrinks to nearly nothing never waits for the client, so it yields to other tasks here.
    constexpr std::size_t in_one_turn = std::size_t{64} << 10U;
    encoded_in_turn_ += piece.size();
    if (encoded_in_turn_ >= in_one_turn) {
      encoded_in_turn_ = 0;
      co_await yield_turn();
    }
    encoder_.encode(piece, until, ready_);
    co_return;
  }
  auto work = [&] { encoder_.encode(piece, until, ready_); };
  co_await to_thread(work);
}

task<> compressing_filter::send_ready() {
  if (ready_.empty()) co_return;
  co_await out_.write(ready_);
  ready_.clear();
}

// Does not wait; `out_` must have room.
void compressing_filter::append_ready() {
  out_.append(ready_);
  ready_.clear();
}

task<> compressing_filter::write(std::string_view piece) {
  constexpr std::size_t slice = std::size_t{256} << 10U;  // bounds the compressed output held in memory
  const busy_scope busy(*this);
  // The encoder may produce no output for a long time, so check for a full buffer and a broken connection first.
  if (out_.waiting() >= body_writer::max_waiting)
    co_await out_.flush();
  else
    co_await out_.write({});
  if (piece.empty()) co_return;
  const bool on_thread = piece.size() >= on_thread_from_;
  while (!piece.empty()) {
    const std::string_view next = piece.substr(0, slice);
    co_await encode(next, encode_until::more, on_thread);
    piece.remove_prefix(next.size());
    co_await send_ready();
  }
  flush_when_waiting();
}

void compressing_filter::append(std::string_view piece) {
  if (failure_) std::rethrow_exception(failure_);
  encoder_.encode(piece, encode_until::more, ready_);
  append_ready();
  flush_when_waiting();
}

task<> compressing_filter::flush() {
  const busy_scope busy(*this);
  co_await encode({}, encode_until::flushed, false);
  pending_ = false;
  co_await send_ready();
  co_await out_.flush();
}

task<> compressing_filter::finish() {
  const busy_scope busy(*this);
  co_await encode({}, encode_until::end, false);
  pending_ = false;
  co_await send_ready();
}

void compressing_filter::flush_when_waiting() {
  pending_ = true;
  if (scheduled_ != nullptr) return;
  scheduled_ = new flusher;
  scheduled_->filter = this;
  scheduled_->complete = &flush_now;
  event_loop::current().schedule(*scheduled_);
}

void compressing_filter::flush_now(io::completion& c) noexcept {
  const std::unique_ptr<flusher> self(&static_cast<flusher&>(c));
  compressing_filter* const filter = self->filter;
  if (filter == nullptr) return;
  filter->scheduled_ = nullptr;
  if (filter->busy_ || !filter->pending_ || filter->failure_) return;  // the busy call schedules this again
  if (filter->out_.waiting() >= body_writer::max_waiting) return;      // as does one that waits for the client
  try {
    filter->encoder_.encode({}, encode_until::flushed, filter->ready_);
    filter->pending_ = false;
    filter->append_ready();
  } catch (...) {
    filter->failure_ = std::current_exception();  // thrown by the next call
  }
}

task<> compressing_producer::produce(body_writer& out) {
  const std::unique_ptr<content_encoder> encoder = make_encoder(coding_, how_);
  compressing_filter filter(out, *encoder, on_thread_from_);
  body_writer writer(filter, announced_.value_or(body_writer::any_length));
  co_await inner_->produce(writer);
  co_await writer.write({});  // throws if the body was cut off
  if (announced_ && writer.written() != *announced_)
    throw std::logic_error("the body of the response is shorter than was announced");
  co_await filter.finish();
}

}  // namespace gyre::http
