// examples/callbacks/libuv_host.cpp: a program that runs libuv's loop, and tasks of gyre on the same thread.
//
// The opposite of libuv.cpp: uv_run is in charge, and calls gyre when its descriptor is readable or its time has come.
#include <gyre/gyre.hpp>

#include <uv.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <expected>
#include <string>

namespace {

/// Lifetime: until close(), which is to be called before the end of uv_run.
class gyre_in_uv {
 public:
  explicit gyre_in_uv(uv_loop_t& host) {
    uv_poll_init(&host, &readable_, loop_.descriptor());
    uv_timer_init(&host, &time_);
    readable_.data = time_.data = this;
    uv_poll_start(&readable_, UV_READABLE, [](uv_poll_t* handle, int, int) { of(handle).turn(); });
  }
  /// To be called after code of the host has used gyre, for instance has spawned a task.
  void turn() {
    const auto rest = loop_.turn_in_host();
    uv_timer_stop(&time_);
    if (closed_ || !rest) return;
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(*rest).count();
    uv_timer_start(&time_, [](uv_timer_t* timer) { of(timer).turn(); }, static_cast<std::uint64_t>(milliseconds), 0);
  }
  void close() {
    closed_ = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&readable_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&time_), nullptr);
  }

 private:
  static gyre_in_uv& of(const auto* handle) { return *static_cast<gyre_in_uv*>(handle->data); }

  gyre::event_loop loop_;
  uv_poll_t readable_;
  uv_timer_t time_;
  bool closed_ = false;
};

gyre::task<> ask(std::string server, std::string text) {
  auto stream = co_await gyre::tcp_stream::connect(server);
  co_await gyre::sleep(std::chrono::milliseconds(10));
  co_await stream.write_all(text);
  std::string answer(text.size(), '\0');
  co_await stream.read_exactly(std::span(answer));
  std::printf("%s\n", answer.c_str());
}

int fail(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: libuv_host HOST:PORT TEXT (an echo server)\n");
    return 2;
  }
  uv_loop_t host;
  uv_loop_init(&host);
  uv_timer_t clock;  // work of the host itself
  uv_timer_init(&host, &clock);
  int ticks = 0;
  clock.data = &ticks;
  uv_timer_start(&clock, [](uv_timer_t* timer) { ++*static_cast<int*>(timer->data); }, 1, 1);
  int status = 0;
  {
    gyre_in_uv guest(host);
    auto end = [&](const std::expected<void, std::exception_ptr>& outcome) {
      if (!outcome) status = fail(outcome.error());
      uv_close(reinterpret_cast<uv_handle_t*>(&clock), nullptr);  // a task and its callback may use the host
      guest.close();
    };
    gyre::spawn_then(gyre::as_task(gyre::timeout(std::chrono::seconds(2), ask(argv[1], argv[2]))), end);
    guest.turn();
    uv_run(&host, UV_RUN_DEFAULT);
  }
  if (ticks > 0) std::puts("the host has worked meanwhile");
  uv_loop_close(&host);
  return status;
}
