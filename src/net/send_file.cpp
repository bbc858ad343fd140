// src/net/send_file.cpp: sendfile(2) without blocking the loop.
#include <gyre/io/file_bytes.hpp>
#include <gyre/net/send_file.hpp>

#include "note_written.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gyre {
namespace {

// For one call from memory, about a tenth of a millisecond. Each call ends with a segment that is not full.
constexpr std::size_t max_at_once = std::size_t{2} << 20U;
// For one call that waits for the disk. More would keep a thread of the pool busy for too long.
constexpr std::size_t max_per_thread = std::size_t{512} << 10U;

bool byte_is_in_memory(int file, std::uint64_t offset) noexcept {
  char byte = 0;
  return io::read_cached(file, &byte, 1, offset) >= 0;
}

}  // namespace

send_file_op::~send_file_op() { expect_ended(call_, "in the middle of send_file"); }

void send_file_op::prepare_call(std::size_t max) noexcept {
  call_.code = io::opcode::send_file;
  call_.target = target;
  call_.flags = static_cast<std::uint32_t>(file_);
  call_.offset = offset_ + done();
  call_.length = static_cast<std::uint32_t>(std::min(max, total_ - done()));
}

// Tests single bytes at intervals: thanks to read-ahead, the bytes between are nearly always in memory too. The
// last byte comes first, because it is the one that is missing while the file is being read. A short piece was
// read together with its last byte.
bool send_file_op::is_in_memory() const noexcept {
  constexpr std::uint64_t read_ahead = std::uint64_t{64} << 10U;
  constexpr std::uint64_t step = std::uint64_t{512} << 10U;
  const std::uint64_t end = call_.offset + call_.length;
  for (std::uint64_t behind = 1; behind <= call_.length; behind += step)
    if (!byte_is_in_memory(file_, end - behind)) return false;
  return call_.length <= read_ahead || byte_is_in_memory(file_, call_.offset);
}

send_file_op::progress send_file_op::send_what_is_in_memory() noexcept {
  while (done() < total_) {
    prepare_call(max_at_once);
    if (!is_in_memory()) return progress::not_in_memory;
    const int sent = io::perform_without_signal(call_);
    if (sent == -EAGAIN) return progress::socket_full;
    if (sent < 0) {
      refuse(-sent);
      // A failing disk leaves a working connection, but data written next would be taken for the rest of the file.
      if (done() > 0) socket_state::of(*this).write_cut = true;
      return progress::finished;
    }
    if (sent == 0) total_ = done();  // the end of the file
    skip(static_cast<std::size_t>(sent));
    if (sent > 0) note_written(socket_state::of(*this), static_cast<std::size_t>(sent));
  }
  return progress::finished;
}

void send_file_op::send_rest() noexcept {
  if (std::exchange(last_, progress::not_in_memory) == progress::socket_full)
    wait_for_room();
  else
    call_in_thread();
}

void send_file_op::call_in_thread() noexcept {
  prepare_call(max_per_thread);
  call_.op = this;
  call_.complete = call_member<&call::on_complete>;
  event_loop& loop = event_loop::current();
  loop.expect_post();
  loop.backend().submit(call_);
}

void send_file_op::call_ended(int sent) noexcept {
  event_loop::current().expected_post_arrived();
  if (sent == -EAGAIN && !stopped()) return wait_for_room();
  if (sent == 0) total_ = done();  // the end of the file
  step_ended(sent == -EAGAIN ? -ECANCELED : sent);
}

void send_file_op::wait_for_room() noexcept {
  complete = call_member<&send_file_op::on_room>;
  event_loop::current().backend().submit(*this);
}

void send_file_op::on_room() noexcept {
  if (result < 0)
    step_ended(result);
  else if (stopped())
    step_ended(-ECANCELED);
  else if (try_file_now())
    step_ended(0);
  else
    send_rest();
}

void send_file_op::cancel_call() noexcept { event_loop::current().backend().cancel(call_); }

}  // namespace gyre
