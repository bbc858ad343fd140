// src/runtime/signal_set.cpp: a signal handler that makes a descriptor readable.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/runtime/signal_set.hpp>

#include "signal_table.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace gyre {
namespace {

std::system_error set_failure(int error, const std::string& what) {
  return {error, std::generic_category(), "signal_set: " + what};
}

owned_fd make_bell() {
  owned_fd bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell) throw set_failure(errno, "descriptor");
  return bell;
}

}  // namespace

/// The object that the handler writes to. It belongs to no loop, so a signal may come before a
/// loop begins and after it has ended.
class signal_watch : private signal_owner {
 public:
  explicit signal_watch(std::initializer_list<int> numbers);
  signal_watch& operator=(signal_watch&&) = delete;
  ~signal_watch();

  /// Returns the lowest of the signals that have arrived, or 0.
  [[nodiscard]] int take() noexcept;
  void take_back(int number) noexcept { on_signal(number); }
  /// Silences the bell. Later signals ring it again.
  void silence() const noexcept;
  void wait(signal_op& op) noexcept;
  void stop_waiting() noexcept { waiter_ = nullptr; }
  [[nodiscard]] int bell() const noexcept { return bell_.get(); }

 private:
  void on_signal(int number) noexcept;
  void release_all() noexcept;

  owned_fd bell_ = make_bell();
  std::atomic<std::uint64_t> pending_{0};  // one bit per signal
  signal_op* waiter_ = nullptr;
  std::vector<int> owned_;
};

signal_watch::signal_watch(std::initializer_list<int> numbers) {
  arrived = call_member<&signal_watch::on_signal>;
  owned_.reserve(numbers.size());
  for (const int number : numbers) {
    if (const int error = take_signal(number, signal_rank::chosen, *this); error != 0) {
      release_all();
      throw set_failure(error, "signal " + std::to_string(number));
    }
    owned_.push_back(number);
  }
}

// In the signal handler.
void signal_watch::on_signal(int number) noexcept {
  pending_ |= std::uint64_t{1} << static_cast<unsigned>(number - 1);
  const std::uint64_t one = 1;
  (void)!::write(bell(), &one, sizeof one);  // fails only after 2^64 rings
}

signal_watch::~signal_watch() {
  if (waiter_ != nullptr)
    misuse("a signal_set was destroyed while a task waits for it: cancel and await that task first");
  release_all();
}

void signal_watch::release_all() noexcept {
  for (const int number : owned_) release_signal(number, signal_rank::chosen, *this);
}

int signal_watch::take() noexcept {
  const std::uint64_t all = pending_;
  if (all == 0) return 0;
  pending_ &= ~(all & -all);
  return __builtin_ctzll(all) + 1;
}

void signal_watch::silence() const noexcept {
  std::uint64_t rings = 0;
  (void)!::read(bell_.get(), &rings, sizeof rings);
}

void signal_watch::wait(signal_op& op) noexcept {
  if (waiter_ != nullptr)
    misuse("two tasks wait for one signal_set at the same time: let one task wait, and hand on the signals");
  waiter_ = &op;
}

signal_op::~signal_op() { expect_ended(*this, "while it waits for a signal"); }

bool signal_op::try_now() noexcept {
  number_ = watch_->take();
  return number_ != 0;
}

void signal_op::start() noexcept {
  complete = call_member<&signal_op::on_complete>;
  code = io::opcode::wait_readable;
  descriptor_.fd = watch_->bell();
  target = &descriptor_;
  watch_->wait(*this);
  event_loop::current().backend().submit(*this);
}

void signal_op::on_cancel() noexcept {
  cancelled_ = true;
  event_loop::current().backend().cancel(*this);
}

void signal_op::on_complete() noexcept {
  io::backend& backend = event_loop::current().backend();
  if (result >= 0) watch_->silence();
  number_ = watch_->take();
  if (number_ == 0 && result >= 0 && !cancelled_) {  // the bell was rung for a signal that was taken already
    backend.submit(*this);
    return;
  }
  backend.detach(descriptor_);
  watch_->stop_waiting();
  proceed(*this);
}

int signal_op::await_resume() const {
  if (number_ != 0) return number_;
  if (cancelled_) throw_cancelled();
  throw io_error({-result, std::generic_category()}, "next", "signal_set");
}

void signal_op::give_back() noexcept { watch_->take_back(number_); }

signal_set::signal_set(std::initializer_list<int> numbers) : watch_(new signal_watch(numbers)) {}
signal_set::~signal_set() { delete watch_; }

}  // namespace gyre
