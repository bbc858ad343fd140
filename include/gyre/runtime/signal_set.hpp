// gyre/runtime/signal_set.hpp: awaits signals of the process. signal(7).
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/operation.hpp>

#include <initializer_list>

namespace gyre {

class signal_watch;

/// The operation of signal_set::next().
class GYRE_API [[nodiscard("co_await it")]] signal_op : public operation<signal_op, io::request> {
 public:
  explicit signal_op(signal_watch& watch) noexcept : watch_(&watch) {}
  // Only before it has started: then the set is its whole state.
  signal_op(signal_op&& from) noexcept : signal_op(*from.watch_) {}
  signal_op& operator=(signal_op&&) = delete;
  ~signal_op();

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  int await_resume() const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return number_ != 0; }
  static constexpr bool result_is_granted = true;
  /// The next call of next() returns the signal.
  void give_back() noexcept;

 private:
  signal_watch* watch_;
  io::descriptor descriptor_;
  int number_ = 0;
  bool cancelled_ = false;
};

/// Signals that are awaited instead of having their default effect, for the lifetime of this object. asyncio:
/// add_signal_handler.
///
///   gyre::signal_set hang_up{SIGHUP};
///   while (true) { co_await hang_up.next(); co_await reload(); }
///
/// A set takes its signals over from run_main, including SIGINT and SIGTERM. None of them then requests a stop, neither
/// the first nor a later one; the program calls request_stop() itself. The last owner of a signal (a set, or a run that
/// handles signals) restores the behaviour from before the first owner. A handler that other code has installed
/// meanwhile stays, however.
/// A child of fork has the signals as they were before the set. Holds a descriptor.
/// Thread: one thread at a time; the signals of the process may be delivered to any thread.
class GYRE_API signal_set {
 public:
  /// Errors: std::system_error with std::errc::invalid_argument for a number that is not a signal or cannot be caught;
  /// device_or_resource_busy for a signal that another signal_set of the process has; too_many_files_open.
  signal_set(std::initializer_list<int> numbers);
  ~signal_set();
  signal_set& operator=(signal_set&&) = delete;

  /// Waits for one of the signals and returns its number. Several that are pending are returned in the order of their
  /// numbers. A signal that comes again before it is returned is returned once, as usual in Unix. One task waits at a
  /// time.
  ///
  /// Lifetime: this must outlive the await. Cancel: no signal is lost; the next call returns it.
  /// Errors: io_error when the kernel cannot wait for a descriptor.
  [[nodiscard("co_await it")]] signal_op next() noexcept { return signal_op(*watch_); }

 private:
  signal_watch* watch_;
};

}  // namespace gyre
