// examples/callbacks/libuv.cpp: handles of libuv awaited in tasks; its loop is a guest of gyre's, on the same thread.
#include <gyre/gyre.hpp>

#include <poll.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
/// Lifetime: must outlive all handles. The destructor waits for those that are still being closed.
struct uv_guest : gyre::guest_loop {
  uv_loop_t loop{};
  int error = uv_loop_init(&loop);
  uv_guest() { gyre::event_loop::current().drive(*this); }
  ~uv_guest() {
    gyre::event_loop::current().leave(*this);
    while (uv_loop_close(&loop) == UV_EBUSY) uv_run(&loop, UV_RUN_ONCE);
  }
  void poll() noexcept override { uv_run(&loop, UV_RUN_NOWAIT); }
  // Runs nothing; poll does that. libuv's time-out is 0 when it has to look at a new handle first.
  void wait(int descriptor, gyre::io::monotonic_time deadline) noexcept override {
    uv_update_time(&loop);
    const gyre::io::monotonic_time now = gyre::event_loop::current().now();
    const gyre::io::monotonic_time milliseconds = uv_loop_alive(&loop) != 0 ? uv_backend_timeout(&loop) : -1;
    if (milliseconds >= 0) deadline = std::min(deadline, now + milliseconds * 1'000'000);  // -1: libuv has no timer
    const gyre::io::monotonic_time rest = std::max(deadline, now) - now;
    const timespec left{.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
    pollfd watched[] = {{uv_backend_fd(&loop), POLLIN, 0}, {descriptor, POLLIN, 0}};
    ::ppoll(watched, 2, deadline == gyre::io::wait_forever ? nullptr : &left, nullptr);
  }
};

/// The objects that libuv uses, and the callback of the current step. After a cancel, libuv calls back until all
/// handles are closed, and the calls are ignored.
struct session {
  uv_any_handle peer, clock;
  uv_any_req request;
  std::string sent, received;
  std::unique_ptr<gyre::awaited_callback<void>> done;
  char buffer[4096];
  session(uv_loop_t& loop, const std::string& text) : sent(text) {
    uv_tcp_init(&loop, &peer.tcp);
    uv_timer_init(&loop, &clock.timer);
    peer.handle.data = clock.handle.data = request.req.data = this;
  }
  static session& of(const auto* uv) { return *static_cast<session*>(uv->data); }
  static void close(session* all) {
    uv_close(&all->peer.handle, [](uv_handle_t* peer) {
      uv_close(&of(peer).clock.handle, [](uv_handle_t* clock) { delete &of(clock); });
    });
  }
  gyre::task<> step(auto start) {
    auto begin = [&](const gyre::awaited_callback<void>& awaited) {
      done = std::make_unique<gyre::awaited_callback<void>>(awaited);
      if (const int status = start(); status < 0) ended(&peer.handle, status);
    };
    co_await gyre::from_callback<void>(begin);
  }
  static void ended(auto* uv, int status) {
    if (status == 0) return (*of(uv).done)();
    of(uv).done->fail(std::make_exception_ptr(std::runtime_error(uv_strerror(status))));
  }
  static void was_read(uv_stream_t* uv, ssize_t n, const uv_buf_t* buffer) {
    if (n > 0) of(uv).received.append(buffer->base, static_cast<std::size_t>(n));
    if (n >= 0 && of(uv).received.size() < of(uv).sent.size()) return;
    uv_read_stop(uv);
    ended(uv, n < 0 ? static_cast<int>(n) : 0);
  }
  static void allocate(uv_handle_t* uv, std::size_t, uv_buf_t* buffer) { *buffer = uv_buf_init(of(uv).buffer, 4096); }
};
gyre::task<> echo(uv_loop_t& loop, gyre::address server, std::string text) {
  const std::unique_ptr<session, decltype(&session::close)> uv(new session(loop, text), &session::close);
  const auto* where = static_cast<const sockaddr*>(server.data());
  auto connect = [&] { return uv_tcp_connect(&uv->request.connect, &uv->peer.tcp, where, &session::ended); };
  co_await uv->step(connect);
  auto rest = [&] { return uv_timer_start(&uv->clock.timer, [](uv_timer_t* t) { session::ended(t, 0); }, 10, 0); };
  co_await uv->step(rest);
  const uv_buf_t all = uv_buf_init(uv->sent.data(), static_cast<unsigned>(text.size()));
  auto write = [&] { return uv_write(&uv->request.write, &uv->peer.stream, &all, 1, &session::ended); };
  co_await uv->step(write);
  auto read = [&] { return uv_read_start(&uv->peer.stream, &session::allocate, &session::was_read); };
  co_await uv->step(read);
  std::printf("%s\n", uv->received.c_str());
}
gyre::task<> echo_all(std::vector<std::string> arguments) {
  uv_guest guest;
  std::vector<gyre::task<>> echoes;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    echoes.push_back(echo(guest.loop, gyre::address(arguments[0]), arguments[i]));
  co_await gyre::timeout(std::chrono::seconds(2), gyre::gather(std::move(echoes)));
}

}  // namespace

int main(int argc, char** argv) { return gyre::run_main(echo_all({argv + 1, argv + argc})); }
