// src/net/listener_state.cpp: the connections of a listener, pausing when descriptors run out, and stopping.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/net/connection_shares.hpp>
#include <gyre/net/listener_state.hpp>
#include <gyre/net/socket_state.hpp>

#include "last_error.hpp"
#include "reset_at_close.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace gyre {
namespace {

// The shortage passes when other connections are closed, or when memory is freed.
bool is_shortage(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// True for an error of the new connection and not of the listener, see accept(2): the network of its peer is gone, or a
// firewall or a security module forbids the connection. (Backends handle ECONNABORTED and EPROTO themselves.)
bool concerns_one_connection(int error) noexcept {
  return error == ECONNRESET || error == ENOPROTOOPT || error == EPERM || error == ENETDOWN || error == ENETUNREACH ||
         error == EHOSTDOWN || error == EHOSTUNREACH || error == ENONET || error == ETIMEDOUT;
}

}  // namespace

listener_state listener_state::closed;

listener_state::listener_state() noexcept : failure_(EBADF), stopped_(true) {}

listener_state::listener_state(int fd, std::string bound, int backlog) noexcept
    : name(std::move(bound)), backlog_(static_cast<unsigned>(backlog)) {
  descriptor_.fd = fd;
  code = io::opcode::accept_many;
  target = &descriptor_;
  deliver = call_member<&listener_state::on_connection>;
  complete = call_member<&listener_state::on_complete>;
  timer::fire = call_member<&listener_state::on_time>;
  loop_ = &loop_of(kind);
  event_loop::current().backend().attach(descriptor_);
}

listener_state::listener_state(loop_share& share, std::string bound) noexcept : name(std::move(bound)), share_(&share) {
  loop_ = &loop_of(kind);
}

void listener_state::receive_given(int connection) noexcept {
  keep(connection);
  if (stopped_) return close_accepted();  // no accept takes it any more
  serve_waiters();
}

void listener_state::receive_end() noexcept {
  ended_ = true;
  if (!finishing_) return;  // this loop is notified of the end as well
  if (failure_ == 0) failure_ = ECANCELED;
  serve_waiters();
}

void listener_state::expect_own_loop(const char* operation) const noexcept {
  if (loop_ != event_loop::current_or_null()) [[unlikely]]
    stop_on_other_loop(operation, kind);
}

void listener_state::on_time() noexcept {
  paused_ = false;
  arm();
}

void listener_state::arm() noexcept {
  if (share_ == nullptr && where == io::phase::idle && !paused_ && !stopped_ && failure_ == 0)
    event_loop::current().backend().submit(*this);
}

void listener_state::on_connection(int number, std::uint32_t /*buffer*/) noexcept {
  if (number >= 0) {
    refused_in_a_row_ = 0;
    keep(number);
    if (accepted_.size() - next_ >= max_waiting && where == io::phase::in_flight)
      event_loop::current().backend().cancel(*this);
  } else if (is_shortage(-number)) {
    pause_accepting(-number);
  } else if (concerns_one_connection(-number)) {
    // The next connection may be accepted at once. If many in a row fail, the problem is the
    // listener's after all, and may still pass.
    if (++refused_in_a_row_ % max_refused_in_a_row == 0) pause_accepting(-number);
  } else if (number != -ECANCELED) {
    failure_ = -number;
  }
}

void listener_state::keep(int connection) noexcept {
  if (next_ >= max_waiting) {  // some wait at all times, so the list never becomes empty
    accepted_.erase(accepted_.begin(), accepted_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  try {
    accepted_.push_back(connection);
  } catch (const std::bad_alloc&) {
    io::files().close(connection);
    note_shortage();
  }
}

void listener_state::take_back(int connection) noexcept {
  try {
    if (next_ > 0)
      accepted_[--next_] = connection;
    else
      accepted_.insert(accepted_.begin(), connection);
  } catch (const std::bad_alloc&) {
    io::files().close(connection);
    note_shortage();
  }
  stopped_ ? close_accepted() : serve_waiters();
}

// Returns false when there is no memory for the connection. The connection is then closed.
bool listener_state::hand_over_to(accept_base& waiter) noexcept {
  if (waiter.kind_ == accept_base::result::descriptor) {
    waiter.descriptor_ = owned_fd(accepted_[next_++]);
    return true;
  }
  try {
    waiter.socket_ = &socket_state::create(accepted_[next_++]);
    return true;
  } catch (const std::bad_alloc&) {
    note_shortage();
    return false;
  }
}

// This connection is lost. The others wait in the backlog while the listener pauses.
void listener_state::note_shortage() noexcept {
  if (share_ != nullptr) release(*share_);
  if (where == io::phase::in_flight) event_loop::current().backend().cancel(*this);
  pause_accepting(ENOMEM);
}

void listener_state::pause_accepting(int error) noexcept {
  if (paused_ || stopped_) return;
  paused_ = true;
  event_loop& loop = event_loop::current();
  const io::monotonic_time now = loop.now();
  if (now >= silent_until_) {
    silent_until_ = now + between_messages;
    const char* const remedy = error == EMFILE || error == ENFILE
                                   ? "raise the limit (ulimit -n) or serve fewer connections"
                               : is_shortage(error) ? "connections may be lost until there is memory"
                                                    : "every connection is lost in this way";
    print_diagnostic({"gyre: accepting on ", name, " pauses: ", std::strerror(error), "; ", remedy});
  }
  deadline = now + pause;
  loop.timers().arm(*this);
}

void listener_state::on_complete() noexcept {
  listed = false;
  if (stopped_) return close_when_quiet();
  if (finishing_ && descriptor_.in_flight == 0) take_backlog();
  serve_waiters();
  if (accepted_.size() - next_ < max_waiting) arm();
}

void listener_state::serve_waiters() noexcept {
  while (!waiters_.empty() && (has_connection() || failure_ != 0)) {
    accept_base& waiter = *waiters_.first();
    if (has_connection() && !hand_over_to(waiter)) continue;
    waiter.unlink();
    waiter.note_end();
    waiter.finish_soon();
  }
  if (!has_connection()) {
    accepted_.clear();
    next_ = 0;
  }
}

void listener_state::finish() noexcept {
  if (stopped_ || finishing_) return;
  expect_own_loop("finish");
  finishing_ = paused_ = true;
  if (share_ != nullptr) {
    if (ended_) receive_end();
    return;
  }
  event_loop::current().timers().disarm(*this);
  if (where == io::phase::in_flight) event_loop::current().backend().cancel(*this);
  if (descriptor_.in_flight > 0 || listed) return;  // on_complete continues
  take_backlog();
  serve_waiters();
}

// Nothing runs between the check for an empty backlog and the close, so only a connection made in that moment is lost.
// No more are accepted than fit into the backlog: clients that keep connecting cannot keep the listener open.
void listener_state::take_backlog() noexcept {
  for (unsigned i = 0; i <= backlog_; ++i) {
    const int connection = io::sockets().accept4(descriptor_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection >= 0)
      keep(connection);
    else if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO && !concerns_one_connection(errno))
      break;
  }
  close_descriptor();
  if (failure_ == 0) failure_ = ECANCELED;
}

void listener_state::close_descriptor() noexcept {
  if (descriptor_.fd < 0) return;
  event_loop::current().backend().detach(descriptor_);
  io::files().close(std::exchange(descriptor_.fd, -1));
}

void listener_state::stop() noexcept {
  if (stopped_) return;
  expect_own_loop("stop");
  stopped_ = true;
  event_loop::current().timers().disarm(*this);
  if (where == io::phase::in_flight) event_loop::current().backend().cancel(*this);
  failure_ = ECANCELED;
  close_accepted();
  serve_waiters();
  close_when_quiet();
}

void listener_state::close_accepted() noexcept {
  for (; has_connection(); ++next_) {
    reset_and_close(accepted_[next_]);
    if (share_ != nullptr) release(*share_);
  }
}

void listener_state::close_when_quiet() noexcept {
  close_accepted();
  if (descriptor_.in_flight > 0 || listed) return;
  close_descriptor();
  if (abandoned_ && ended_accepts_ == 0) delete this;
}

void listener_state::let_go() noexcept {
  --ended_accepts_;
  if (abandoned_) close_when_quiet();
}

void listener_state::abandon() noexcept {
  if (&loop_of(kind) != loop_) [[unlikely]] {
    stop_destroyed_elsewhere(kind);
    io::files().close(descriptor_.fd);  // a forked child: the rest of this belongs to the parent's loop
    return;
  }
  if (!waiters_.empty())
    misuse("a listener was destroyed while a task waits in its accept: cancel and await that task first");
  stop();
  abandoned_ = true;
  close_when_quiet();
}

}  // namespace gyre
