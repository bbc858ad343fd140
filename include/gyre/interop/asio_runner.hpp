// gyre/interop/asio_runner.hpp: an io_context and the thread that runs it. For asio.hpp and boost_asio.hpp.
#pragma once

#include <gyre/interop/service_thread.hpp>
#include <gyre/loop/event_loop.hpp>

#include <exception>
#include <source_location>

namespace gyre {

/// See asio_thread. `Library` adapts it to an Asio.
template <class Library>
class asio_runner {
 public:
  using io_context = typename Library::io_context;

  /// Errors: std::system_error when no thread can be started.
  explicit asio_runner(std::source_location where = std::source_location::current())
      : where_(where), context_(1), work_(context_.get_executor()), thread_(&run, this) {}
  asio_runner& operator=(asio_runner&&) = delete;
  ~asio_runner() {
    context_.stop();
    thread_.join();
  }

  [[nodiscard]] io_context& context() noexcept { return context_; }
  [[nodiscard]] auto get_executor() noexcept { return context_.get_executor(); }

 private:
  // An exception of a handler is reported like the failure of a task, and the other handlers continue.
  static void run(void* self) noexcept {
    auto& runner = *static_cast<asio_runner*>(self);
    while (!runner.context_.stopped()) {
      try {
        runner.context_.run();
      } catch (...) {
        event_loop::report({std::current_exception(), "asio_thread", runner.where_});
      }
    }
  }

  std::source_location where_;
  io_context context_;
  typename Library::work_guard work_;
  service_thread thread_;
};

}  // namespace gyre
