// src/net/socket_readers.cpp: readers of a connected socket. One place decides: two reads are never in flight.
#include <gyre/io/missed_end.hpp>
#include <gyre/net/bulk.hpp>
#include <gyre/net/socket_next_op.hpp>
#include <gyre/net/socket_operations.hpp>
#include <gyre/net/socket_state.hpp>

#include <utility>

namespace gyre {

namespace {

const char* name_of_read(const operation_base& op, socket_state::reading way) noexcept {
  if (way == socket_state::reading::stopping) return "receive";
  if (way == socket_state::reading::next) return "next_or_stop";
  return way == socket_state::reading::leases ? "receive" : static_cast<const socket_read_op&>(op).name();
}

}  // namespace

void socket_state::stop_for_two_readers(const char* operation) const noexcept {
  expect_open(operation);
  expect_own_loop(operation);
  misuse("two tasks read from one stream at the same time: let one task read, and hand on what it has read");
}

void socket_state::wait_for_received(operation_base& op, reading way) noexcept {
  if (waiting_reader != nullptr) [[unlikely]]
    stop_for_two_readers(name_of_read(op, way));
  if (!is_of_running_loop()) [[unlikely]]
    stop_on_other_loop(name_of_read(op, way), kind);
  waiting_reader = &op;
  how = way;
  received.arm();
  io::look_for_missed_end(received, event_loop::current().backend());
}

void socket_state::wait_until_stopped(operation_base& op) noexcept {
  if (waiting_reader != nullptr) [[unlikely]]
    stop_for_two_readers("receive");
  if (!is_of_running_loop()) [[unlikely]]
    stop_on_other_loop("receive", kind);
  waiting_reader = &op;
  how = reading::stopping;
  received.stop();
}

void socket_state::read_directly(operation_base& op, io::request& call) noexcept {
  const auto name = [&] {
    if (call.code == io::opcode::receive_message) return "receive_descriptors";
    return name_of_read(op, call.code == io::opcode::wait_bulk ? reading::stopping : reading::directly);
  };
  if (waiting_reader != nullptr) [[unlikely]]
    stop_for_two_readers(name());
  if (!is_of_running_loop()) [[unlikely]]
    stop_on_other_loop(name(), kind);
  waiting_reader = &op;
  how = reading::directly;
  event_loop::current().backend().submit(call);
}

bool socket_state::stop_waiting(const operation_base& op) noexcept {
  const bool waits =
      how == reading::leases || how == reading::next || how == reading::copies || how == reading::stopping;
  if (waiting_reader != &op || !waits) return false;
  how = reading::cancelled;
  return true;
}

void socket_state::reader_ended() noexcept {
  waiting_reader = nullptr;
  if (closing) [[unlikely]]
    return note_quiet();
  if (watcher != nullptr) [[unlikely]]
    watch_end(watcher);  // could not be watched for while the reader had its own request
}

void socket_state::end_between_messages() noexcept {
  server_stops = true;
  if (waiting_reader != nullptr && how == reading::next) static_cast<socket_next_op&>(*waiting_reader).stop();
}

// A queue that has ended may still be in the ready list while a reader has begun its own request.
void socket_state::received_something(io::completion& c) noexcept {
  auto& queue = static_cast<io::receive_queue&>(static_cast<io::request&>(c));
  socket_state& self = of(queue);
  queue.listed = false;
  if (self.closing) {
    if (self.closer != nullptr)
      self.note_quiet();
    else if (self.quiet())
      self.release();
  } else if (self.waiting_reader != nullptr) {
    self.hand_to_reader();
  } else if (self.watcher != nullptr) {
    self.tell_watcher();
  }
}

void socket_state::hand_to_reader() noexcept {
  operation_base& op = *waiting_reader;
  bool finished = false;
  switch (how) {
    case reading::leases:
    case reading::next:
      finished = received.readable();
      break;
    case reading::copies:
      finished = static_cast<socket_read_op&>(op).take_queued();
      break;
    case reading::stopping:
      if (!received.readable() && received.armed()) return;
      finished = true;
      break;
    case reading::directly:
    case reading::cancelled:
      return;
  }
  if (!finished) {
    received.arm();  // it ended for no reason of its own: a full completion queue, or a cancel that came too late
    return io::look_for_missed_end(received, event_loop::current().backend());
  }
  waiting_reader = nullptr;
  if (how == reading::next) static_cast<socket_next_op&>(op).stop_observing();
  if (how == reading::stopping && !received.readable())
    return static_cast<socket_bulk_receive_op&>(op).wait_for_bytes();
  reader_took();
  op.proceed(op);
}

void socket_state::tell_watcher() noexcept {
  if (received.end() != io::receive_queue::open) {
    end_watch& watch = *std::exchange(watcher, nullptr);
    watch.ended(watch);
  } else if (!watch_paused && !received.has_bytes()) {
    received.arm();
    io::look_for_missed_end(received, event_loop::current().backend());
  }
}

// The reader may have taken the last bytes, which came together with the end. Nothing else reports that end to the
// watcher. A queue that was full has stopped, and does not find the end without help.
void socket_state::watch_on() noexcept {
  if (waiting_reader == nullptr && !closing && !received.has_bytes()) watch_end(watcher);
}

// If the queue has ended already, the watch is notified from the ready queue, as it is for a later end.
void socket_state::watch_end(end_watch* watch) noexcept {
  watcher = watch;
  if (watch == nullptr || watch_paused || (waiting_reader != nullptr && how == reading::directly)) return;
  if (received.where != io::phase::idle) {
    if (!received.has_bytes()) io::look_for_missed_end(received, event_loop::current().backend());
  } else if (received.end() == io::receive_queue::open) {
    received.arm();
  } else if (!received.listed) {
    received.listed = true;
    event_loop::current().schedule(received);
  }
}

}  // namespace gyre
