// src/net/accept.cpp: waits for a connection of a listener, and gives back one that nobody takes.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/net/listener_state.hpp>
#include <gyre/net/socket_state.hpp>

#include "last_error.hpp"

#include <fcntl.h>

#include <utility>

namespace gyre {

accept_base::~accept_base() {
  if (waiting_) misuse("a coroutine was destroyed while it waits in accept; cancel and await it first");
  if (socket_ != nullptr) socket_->abandon();  // accepted for an await that ended otherwise
  if (ended_) listener_->let_go();
}

bool accept_base::try_now() noexcept {
  listener_state& listener = *listener_;
  if (listener.waiters_.empty() && listener.has_connection()) {
    if constexpr (checks_everything) listener.expect_own_loop("accept");
    while (listener.has_connection() && !listener.hand_over_to(*this)) {
    }
    listener.serve_waiters();
    listener.arm();
  }
  if (!has_connection() && listener.failure_ == 0) return false;
  note_end();
  return true;
}

void accept_base::start() noexcept {
  listener_state& listener = *listener_;
  listener.expect_own_loop("accept");
  waiting_ = true;
  listener.waiters_.link_last(*this);
  listener.arm();
}

void accept_base::on_cancel() noexcept {
  if (!waiting_) return;
  unlink();
  cancelled_ = true;
  finish_soon();
}

void accept_base::unlink() noexcept {
  waiting_ = false;
  listener_->waiters_.unlink(*this);
}

void accept_base::note_end() noexcept {
  if (listener_ == &listener_state::closed) misuse_of_closed("accept", listener_state::kind);
  ended_ = true;
  ++listener_->ended_accepts_;
}

// The descriptor of a stream is released together with what the loop keeps about it, so a copy of it goes back.
void accept_base::give_back() noexcept {
  if (socket_ != nullptr) {
    descriptor_ = owned_fd(io::files().fcntl(socket_->descriptor().fd, F_DUPFD_CLOEXEC, 0));
    std::exchange(socket_, nullptr)->abandon();
  }
  if (descriptor_)
    listener_->take_back(descriptor_.release());
  else
    listener_->note_shortage();
}

std::error_code accept_base::error() const { return cancelled_ ? cancel_error() : errno_code(listener_->failure_); }

std::expected<socket_state*, std::error_code> accept_base::take_socket() {
  if (socket_ != nullptr) return std::exchange(socket_, nullptr);
  return std::unexpected(error());
}

std::expected<owned_fd, std::error_code> accept_base::take_descriptor() {
  if (descriptor_) return std::move(descriptor_);
  return std::unexpected(error());
}

void accept_base::fail(std::error_code reason) const { throw io_error(reason, "accept", listener_->name); }

}  // namespace gyre
