// gyre/interop/asio_guest.hpp: an io_context on the thread of a loop. For asio.hpp and boost_asio.hpp.
#pragma once

#include <gyre/interop/asio_awaits.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/guest_loop.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <source_location>
#include <utility>

namespace gyre {

/// See asio_on_loop. `Library` adapts it to an Asio.
template <class Library>
class asio_guest : private guest_loop {
 public:
  using io_context = typename Library::io_context;

  asio_guest& operator=(asio_guest&&) = delete;
  /// Makes an io_context of its own.
  explicit asio_guest(std::source_location where = std::source_location::current())
      : asio_guest(std::make_unique<io_context>(1), nullptr, where) {}
  /// Uses an existing io_context that nobody else runs. Restarts it if it was stopped. Lifetime: the context outlives
  /// this.
  explicit asio_guest(io_context& context, std::source_location where = std::source_location::current())
      : asio_guest(nullptr, &context, where) {}
  ~asio_guest() {
    asio_context_here<Library>.awaits->expect_none("an asio_on_loop");  // nobody would run their context any more
    loop_.leave(*this);
    asio_context_here<Library> = {};
    run([this] {
      if (watches_->descriptor.is_open()) watches_->descriptor.release();  // the backend owns the descriptor
      return watches_->timer.cancel();
    });
  }

  [[nodiscard]] io_context& context() noexcept { return context_; }
  [[nodiscard]] auto get_executor() noexcept { return context_.get_executor(); }

 private:
  // Shared with handlers that an io_context may call after this has been destroyed.
  struct watches {
    explicit watches(io_context& context) : descriptor(context), timer(context) {}
    typename Library::stream_descriptor descriptor;
    typename Library::steady_timer timer;
    bool waits_for_descriptor = false;
    io::monotonic_time waits_until = io::wait_forever;
  };

  asio_guest(std::unique_ptr<io_context> own, io_context* context, std::source_location where)
      : own_(std::move(own)),
        context_(own_ ? *own_ : *context),
        where_(where),
        loop_(event_loop::current()),
        work_(context_.get_executor()),
        watches_(std::make_shared<watches>(context_)) {
    if (context_.stopped()) context_.restart();  // running out of work stops it as well
    auto& awaits = awaits_of<Library>(context_);
    loop_.drive(*this);
    asio_context_here<Library> = {&context_, &awaits};
  }

  void poll() noexcept override {
    constexpr int max_handlers = 128;  // others need to run, too
    for (int n = 0; n < max_handlers && !context_.stopped(); ++n)
      if (run([this] { return context_.poll_one(); }) == 0) return;
  }

  void wait(int descriptor, io::monotonic_time deadline) noexcept override {
    // The program has stopped it. The loop continues without it until somebody restarts it.
    if (context_.stopped()) return wait_for_descriptor(descriptor, deadline);
    run([&] {
      watch(descriptor);
      watch_clock(deadline);
      return context_.run_one();
    });
  }

  // An exception of a handler is reported like the failure of a task, and the other handlers continue.
  template <class F>
  std::size_t run(F f) noexcept {
    try {
      return f();
    } catch (...) {
      event_loop::report({std::current_exception(), "asio_on_loop", where_});
      return 1;
    }
  }

  void watch(int descriptor) {
    if (watches_->waits_for_descriptor) return;
    if (!watches_->descriptor.is_open()) watches_->descriptor.assign(descriptor);
    watches_->waits_for_descriptor = true;
    watches_->descriptor.async_wait(Library::wait_read,
                                    [kept = watches_](const auto& /*error*/) { kept->waits_for_descriptor = false; });
  }

  // A timer that is set for an earlier time stays: it fires, and is set again.
  void watch_clock(io::monotonic_time deadline) {
    if (deadline >= watches_->waits_until) return;
    watches_->waits_until = deadline;
    watches_->timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)));
    watches_->timer.async_wait([kept = watches_, deadline](const auto& /*error*/) {
      if (kept->waits_until == deadline) kept->waits_until = io::wait_forever;
    });
  }

  std::unique_ptr<io_context> own_;  // null for an existing one
  io_context& context_;
  std::source_location where_;
  event_loop& loop_;
  typename Library::work_guard work_;
  std::shared_ptr<watches> watches_;
};

}  // namespace gyre
