// gyre/runtime/signal_set.hpp: signals of the process, awaited. signal(7).
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/operation.hpp>

#include <initializer_list>

namespace gyre {

class signal_watch;

/// signal_set::next().
class GYRE_API [[nodiscard("co_await it")]] signal_op : public operation<signal_op> {
 public:
  explicit signal_op(signal_watch& watch) noexcept : watch_(&watch) {}
  ~signal_op();

  bool try_now() noexcept;
  void start() noexcept;
  int await_resume();

 private:
  friend class signal_watch;
  signal_watch* watch_;
  int number_ = 0;
  bool waiting_ = false;
  bool cancelled_ = false;
};

/// Signals that are waited for instead of doing what they do by default, from the making of this until its end.
/// asyncio: add_signal_handler.
///
///   gyre::signal_set hang_up{SIGHUP};
///   while (true) { co_await hang_up.next(); co_await reload(); }
///
/// SIGINT and SIGTERM may be taken from run_main this way, which gets them back at the end.
/// Thread: belongs to the loop it was made on; the signals of the process may come to any thread.
class GYRE_API signal_set {
 public:
  /// Errors: std::system_error with std::errc::invalid_argument for a number that is no signal or cannot be caught;
  /// device_or_resource_busy for one that another signal_set of the process has.
  signal_set(std::initializer_list<int> numbers);
  ~signal_set();
  signal_set(const signal_set&) = delete;
  signal_set& operator=(const signal_set&) = delete;

  /// Waits for one of the signals and gives its number; several that wait already come in the order of their numbers.
  /// A signal that comes again before it was told is told once, as everywhere in Unix. One task waits at a time.
  ///
  /// Lifetime: this outlives the await. Cancel: nothing is lost; the next call tells it.
  [[nodiscard("co_await it")]] signal_op next() noexcept { return signal_op(*watch_); }

 private:
  signal_watch* watch_;
};

}  // namespace gyre
