// src/io/epoll_wait.cpp: gets events from the kernel, handles them, and wakes the waiting thread.
#include <gyre/io/kernel.hpp>
#include <gyre/io/monotonic_clock.hpp>
#include <gyre/io/printable.hpp>

#include "doorbell.hpp"
#include "epoll_backend.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace gyre::io {
namespace {

constexpr monotonic_time connect_retry_interval = 1'000'000;

[[noreturn]] void stop_program_without_events(int error) noexcept {
  const char* const cause = error == EBADF || error == EINVAL
                                ? "the program has closed a descriptor that belongs to the loop"
                                : "a seccomp filter denies it; allow epoll_pwait2 or epoll_wait in the profile";
  print_diagnostic({"gyre: epoll_wait failed with ", ::strerrorname_np(error), ": ", cause});
  std::abort();
}

}  // namespace

struct epoll_backend::event_batch {
  static constexpr int room = 256;
  epoll_event events[room];
  int limit = room;
  int count = 0;
};

inline void epoll_backend::hand_out(ready_list& ready) noexcept {
  while (!completed_.empty()) {
    auto& r = static_cast<request&>(completed_.pop_front());
    if (!is_multishot(r.code)) no_longer_in_flight(r);
    ready.push_back(r);
  }
  if (!bulk_.empty()) [[unlikely]]
    hand_out_bulk(ready);
}

inline void epoll_backend::end_wait(ready_list& ready) noexcept {
  if (files_.outstanding()) files_.take_ended(completed_);
  hand_out(ready);
}

// Does the work that needs no event. Returns the time until which the caller may wait.
[[gnu::always_inline]] inline monotonic_time epoll_backend::begin_wait(monotonic_time deadline) noexcept {
  delivered_ = false;
  found_small_ = false;
  if (!turn_.empty() || !starved_.empty() || !large_.empty() || large_.has_moved()) serve_line();
  if (!later_.empty()) {
    retry_connects();
    if (!later_.empty()) deadline = std::min(deadline, monotonic_now() + connect_retry_interval);
  }
  if (files_.outstanding()) files_.take_ended(completed_);
  const bool something = !completed_.empty() || !turn_.empty() || !large_.empty() || !bulk_.empty() || delivered_;
  return something ? do_not_wait : deadline;
}

// Each event may fill a buffer. Sockets that would find buffers scarce wait in the kernel instead, until tasks have
// given some back, because such bytes are copied into allocated memory.
inline int epoll_backend::event_limit() noexcept {
  constexpr std::uint32_t min_limit = 16;  // events that fill no buffer have to arrive, too
  return static_cast<int>(std::clamp<std::uint32_t>(buffers().before_scarce(), min_limit, event_batch::room));
}

// Returns the number of events. Returns 0 after a signal, too: the caller will wait again.
inline int epoll_backend::ask_kernel(event_batch& batch, monotonic_time deadline) noexcept {
  const bool for_ever = deadline == wait_forever;
  monotonic_time rest = 0;
  if (!for_ever && deadline != do_not_wait) rest = std::max<monotonic_time>(0, deadline - monotonic_now());
  if (has_nanoseconds_) {
    const timespec left{.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
    ++system_calls_;
    const long count = ::syscall(SYS_epoll_pwait2, epoll_, batch.events, batch.limit, for_ever ? nullptr : &left,
                                 nullptr, std::size_t{0});
    if (count >= 0) return static_cast<int>(count);
    if (errno == EINTR) return 0;
    has_nanoseconds_ = false;  // ENOSYS, or another error from a container's filter
  }
  // Rounded up: waking up late is fine, waking up early is not. At most an hour, then the caller waits again.
  const monotonic_time milliseconds = std::min<monotonic_time>((rest + 999'999) / 1'000'000, 3'600'000);
  ++system_calls_;
  const int limit = for_ever ? -1 : static_cast<int>(milliseconds);
  const int count = ::epoll_wait(epoll_, batch.events, batch.limit, limit);
  if (count < 0 && errno != EINTR) [[unlikely]]
    stop_program_without_events(errno);  // otherwise the loop would ask again for ever
  return std::max(0, count);
}

inline void epoll_backend::handle(descriptor& d, std::uint32_t events) noexcept {
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  // A read stops at urgent data, too. Then a short read does not mean that nothing is left.
  if ((events & (ended | EPOLLPRI)) != 0) d.hangup = true;
  const bool can_read = (events & (EPOLLIN | EPOLLPRI | ended)) != 0;
  const bool can_write = (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
  if (can_read) d.readable = true;
  if (can_write) d.writable = true;
  request* const writer = d.writer;
  if (can_read && d.reader != nullptr) {
    if (is_multishot(d.reader->code))
      pump_if_parked(static_cast<multishot&>(*d.reader));
    else
      go_on(*d.reader);
  }
  // If nobody writes, `d` may no longer exist: the end of a multishot can be the end of its descriptor.
  if (!can_write || writer == nullptr || d.writer != writer) return;
  if (writer->code == opcode::connect)
    connection_event(*writer, events);
  else
    go_on(*writer);
}

void epoll_backend::look(monotonic_time deadline) noexcept {
  calls_since_look_ = 0;
  event_batch batch;
  batch.limit = event_limit();
  batch.count = ask_kernel(batch, deadline);
  batch_ = &batch;
  for (int i = 0; i < batch.count; ++i) {
    const epoll_event event = batch.events[i];
    if (event.data.ptr == nullptr)
      rang_ = true;
    else
      handle(*static_cast<descriptor*>(event.data.ptr), event.events);
  }
  batch_ = nullptr;
}

void epoll_backend::wait(monotonic_time deadline, ready_list& ready) noexcept {
  const monotonic_time until = begin_wait(deadline);
  if (until != do_not_wait || must_look()) look(until);
  end_wait(ready);
}

monotonic_time epoll_backend::prepare_wait(monotonic_time deadline, ready_list& ready) noexcept {
  rang_ = false;
  const monotonic_time until = begin_wait(deadline);
  look(do_not_wait);
  end_wait(ready);
  return ready.empty() && turn_.empty() && large_.empty() && bulk_.empty() && !delivered_ && !rang_ ? until
                                                                                                    : do_not_wait;
}

// When there is something to hand out already, the kernel is asked only now and then.
bool epoll_backend::must_look() noexcept {
  if (registered_count_ == 0) return false;
  return completed_.empty() || !bulk_.empty() || large_.has_moved() || ++calls_since_look_ >= calls_per_look;
}

void epoll_backend::hand_out_bulk(ready_list& ready) noexcept {
  auto& next = static_cast<request&>(bulk_.pop_front());
  no_longer_in_flight(next);
  ready.push_back(next);
}

// Checks early whether there is a system call to wait with.
uring::refusal epoll_backend::try_wait() noexcept {
  const timespec not_at_all{};
  epoll_event event{};
  if (::syscall(SYS_epoll_pwait2, epoll_, &event, 1, &not_at_all, nullptr, std::size_t{0}) >= 0) return {};
  has_nanoseconds_ = false;
  if (::epoll_wait(epoll_, &event, 1, 0) >= 0) return {};
  return {errno, "epoll_wait"};
}

void epoll_backend::connection_event(request& r, std::uint32_t events) noexcept {
  if (connects_locally(r)) return;  // the event says nothing about the peer
  int error = 0;
  socklen_t length = sizeof(error);
  ++system_calls_;
  if (calls().sockets.getsockopt(r.target->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) error = errno;
  if (error != 0 || (events & EPOLLOUT) != 0)
    complete(r, -error);
  else
    r.target->writable = false;
}

void epoll_backend::retry_connects() noexcept {
  ready_list again;
  again.splice_back(later_);
  while (!again.empty()) go_on(static_cast<request&>(again.pop_front()));
}

void epoll_backend::forget_events_of(const descriptor& d) noexcept {
  if (batch_ == nullptr) return;
  for (int i = 0; i < batch_->count; ++i)
    if (batch_->events[i].data.ptr == &d) batch_->events[i].data.ptr = nullptr;
}

void epoll_backend::wake() noexcept { ring_doorbell(doorbell_); }

}  // namespace gyre::io
