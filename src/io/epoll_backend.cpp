// src/io/epoll_backend.cpp: performs requests with non-blocking calls, and waits for readiness with epoll.
#include <gyre/io/attempt.hpp>

#include "epoll_backend.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace gyre::io {
namespace {

constexpr int deliveries_per_turn = 32;  // of one descriptor, before the others get their turn
constexpr unsigned looks_that_may_be_skipped = 8;

bool is_multishot(const request& r) noexcept { return r.code == opcode::receive_many || r.code == opcode::accept_many; }

void add_once(std::vector<multishot*>& list, multishot& m) {
  if (std::find(list.begin(), list.end(), &m) == list.end()) list.push_back(&m);
}

}  // namespace

struct epoll_backend::event_batch {
  epoll_event events[256];
  int count = 0;
};

epoll_backend::epoll_backend(const backend_options& options, int& error)
    : backend(options.buffer_count, options.buffer_size),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      doorbell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  error = epoll_ < 0 || doorbell_ < 0 ? errno : 0;
  if (error != 0) return;
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, doorbell_, &event);
  // The default slack of a thread's timers, 50 us, would make every sleep that much late.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

epoll_backend::~epoll_backend() {
  if (epoll_ >= 0) ::close(epoll_);
  if (doorbell_ >= 0) ::close(doorbell_);
}

void epoll_backend::attach(descriptor& d) noexcept {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &d}};
  ++system_calls_;
  d.attached = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, d.fd, &event) == 0;
  // What cannot be waited for (a regular file) never blocks either.
  if (!d.attached) d.readable = d.writable = d.hangup = true;
}

void epoll_backend::detach(descriptor& d) noexcept {
  if (!d.attached) return;
  ++system_calls_;
  // Explicitly: a duplicate of the descriptor elsewhere would keep the registration alive after close.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, d.fd, nullptr);
  d.attached = false;
  if (batch_ == nullptr) return;
  for (int i = 0; i < batch_->count; ++i)
    if (batch_->events[i].data.ptr == &d) batch_->events[i].events = 0;
}

void epoll_backend::submit(request& r) noexcept {
  r.where = phase::in_flight;
  r.cancel_requested = false;
  ++in_flight_;
  descriptor& d = *r.target;
  ++d.in_flight;
  if (!d.attached && !d.hangup) attach(d);
  const bool reading = reads(r.code);
  request*& parked = reading ? d.reader : d.writer;
  parked = &r;
  // A connect has to be begun; a poll of readiness has to be asked, because the edge may be long gone.
  const bool must_try = r.code == opcode::connect || r.code == opcode::wait_readable ||
                        r.code == opcode::wait_writable || r.code == opcode::accept_many;
  if (must_try) (reading ? d.readable : d.writable) = true;
  if (reading ? d.readable : d.writable) go_on(parked);
}

// Tries what is parked in one direction of a descriptor that is thought ready.
void epoll_backend::go_on(request*& parked) noexcept {
  if (parked == nullptr) return;
  request& r = *parked;
  if (is_multishot(r)) {
    pump(static_cast<multishot&>(r));
    return;
  }
  ++system_calls_;
  if (!attempt(r)) return;
  parked = nullptr;
  complete(r);
}

void epoll_backend::complete(request& r) noexcept {
  r.where = phase::idle;
  --in_flight_;
  --r.target->in_flight;
  completed_.push_back(r);
}

void epoll_backend::deliver(multishot& m, int result, std::uint32_t buffer, bool last) noexcept {
  if (last) {
    m.where = phase::idle;
    --in_flight_;
    --m.target->in_flight;
    m.target->reader = nullptr;
    std::erase(starved_, &m);
    std::erase(still_ready_, &m);
  }
  m.deliver(m, result, buffer);
  if (m.listed) return;
  m.listed = true;
  completed_.push_back(m);
}

void epoll_backend::pump(multishot& m) noexcept {
  const descriptor& d = *m.target;
  for (int n = 0; m.where == phase::in_flight && d.readable; ++n) {
    if (n == deliveries_per_turn) {
      add_once(still_ready_, m);
      return;
    }
    if (!(m.code == opcode::accept_many ? accept_one(m) : receive_one(m))) return;
  }
}

// True: go on.
bool epoll_backend::accept_one(multishot& m) noexcept {
  ++system_calls_;
  const int fd = ::accept4(m.target->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    deliver(m, fd, multishot::no_buffer, false);
    return true;
  }
  switch (errno) {
    case EAGAIN:
      m.target->readable = false;
      return false;
    case EINTR:
    case ECONNABORTED:  // the peer gave up before it was accepted: there may be others behind it
    case EPROTO:
      return true;
    default:
      deliver(m, -errno, multishot::no_buffer, true);
      return false;
  }
}

// True: go on.
bool epoll_backend::receive_one(multishot& m) noexcept {
  descriptor& d = *m.target;
  const std::uint32_t buffer = buffers().take();
  if (buffer == buffer_pool::none) {
    add_once(starved_, m);
    return false;
  }
  ++system_calls_;
  const ssize_t count = ::recv(d.fd, buffers().data(buffer), buffers().buffer_size(), MSG_DONTWAIT);
  if (count > 0) {
    // Less than fits: the socket is empty, and asking again would only find EAGAIN.
    if (static_cast<std::size_t>(count) < buffers().buffer_size() && !d.hangup) d.readable = false;
    deliver(m, static_cast<int>(count), buffer, false);
    return true;
  }
  const int error = errno;
  buffers().release(buffer);
  if (count < 0 && error == EAGAIN) {
    d.readable = false;
    return false;
  }
  if (count < 0 && error == EINTR) return true;
  deliver(m, count == 0 ? 0 : -error, multishot::no_buffer, true);
  return false;
}

void epoll_backend::cancel(request& r) noexcept {
  if (r.where != phase::in_flight || r.cancel_requested) return;
  r.cancel_requested = true;
  if (is_multishot(r)) {
    deliver(static_cast<multishot&>(r), -ECANCELED, multishot::no_buffer, true);
    return;
  }
  (reads(r.code) ? r.target->reader : r.target->writer) = nullptr;
  r.result = -ECANCELED;
  complete(r);
}

// Multishots that had to stop although there was something to receive.
void epoll_backend::retry_waiting() noexcept {
  if (!still_ready_.empty()) {
    const std::vector<multishot*> again = std::exchange(still_ready_, {});
    for (multishot* m : again) pump(*m);
  }
  if (!starved_.empty() && buffers().available() > 0) {
    const std::vector<multishot*> again = std::exchange(starved_, {});
    for (multishot* m : again) pump(*m);
  }
}

void epoll_backend::handle(descriptor& d, std::uint32_t events) noexcept {
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if ((events & ended) != 0) d.hangup = true;
  if ((events & (EPOLLIN | ended)) != 0) {
    d.readable = true;
    go_on(d.reader);
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
    d.writable = true;
    if (d.writer != nullptr && d.writer->code == opcode::connect) {
      int error = 0;
      socklen_t length = sizeof(error);
      ++system_calls_;
      ::getsockopt(d.fd, SOL_SOCKET, SO_ERROR, &error, &length);
      request& r = *std::exchange(d.writer, nullptr);
      r.result = -error;
      complete(r);
    } else {
      go_on(d.writer);
    }
  }
}

// With something to hand out already, the kernel is asked only now and then.
bool epoll_backend::must_look() noexcept { return completed_.empty() || ++skipped_looks_ >= looks_that_may_be_skipped; }

void epoll_backend::wait(monotonic_time deadline, ready_list& ready) noexcept {
  retry_waiting();
  if (!completed_.empty() || !still_ready_.empty()) deadline = do_not_wait;
  if (deadline != do_not_wait || must_look()) look(deadline);
  ready.splice_back(completed_);
}

void epoll_backend::look(monotonic_time deadline) noexcept {
  skipped_looks_ = 0;
  timespec left{};
  if (deadline != wait_forever && deadline != do_not_wait) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const monotonic_time rest =
        std::max<monotonic_time>(0, deadline - (monotonic_time{now.tv_sec} * 1'000'000'000 + now.tv_nsec));
    left = {.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
  }
  event_batch batch;
  ++system_calls_;
  const long count = ::syscall(SYS_epoll_pwait2, epoll_, batch.events, std::size(batch.events),
                               deadline == wait_forever ? nullptr : &left, nullptr, 0);
  batch.count = static_cast<int>(std::max(0L, count));  // EINTR: the loop comes back
  if (count < 0 && errno == ENOSYS) {
    const long milliseconds = left.tv_sec * 1000 + (left.tv_nsec + 999'999) / 1'000'000;
    batch.count =
        std::max(0, ::epoll_wait(epoll_, batch.events, std::size(batch.events),
                                 deadline == wait_forever ? -1 : static_cast<int>(std::min(milliseconds, 3'600'000L))));
  }
  batch_ = &batch;
  for (int i = 0; i < batch.count; ++i) {
    const epoll_event& event = batch.events[i];
    if (event.data.ptr != nullptr && event.events != 0) handle(*static_cast<descriptor*>(event.data.ptr), event.events);
  }
  batch_ = nullptr;
}

void epoll_backend::wake() noexcept {
  // Never read: each write is a new edge. When the counter is full a read makes room for the next.
  const std::uint64_t one = 1;
  const int saved = errno;  // also called from signal handlers
  if (::write(doorbell_, &one, sizeof(one)) < 0 && errno == EAGAIN) {
    std::uint64_t value = 0;
    (void)!::read(doorbell_, &value, sizeof(value));
    (void)!::write(doorbell_, &one, sizeof(one));
  }
  errno = saved;
}

}  // namespace gyre::io
