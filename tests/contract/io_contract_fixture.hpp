// tests/contract/io_contract_fixture.hpp: a backend without a loop, and requests that record their results.
#pragma once

#include <gyre/io.hpp>
#include <gyre/io/backend_choice.hpp>

#include "tests/contract/sockets.hpp"
#include "tests/support/planned_backend.hpp"

#include <gtest/gtest.h>

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace gyre::contract {

inline constexpr io::monotonic_time milliseconds = 1'000'000;
inline constexpr io::monotonic_time patience = 10'000 * milliseconds;  // after this a test gives up

inline io::monotonic_time now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return io::monotonic_time{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// A kind of backend, and how to wait: in the backend, or in its user, which polls the backend's descriptor. Some
/// suites run with both sizes of receive buffers.
struct backend_way {
  io::backend_kind kind;
  bool polled = false;
  io::opcode receives = io::opcode::receive_many;
  [[nodiscard]] bool is_epoll() const noexcept {
    return kind == io::backend_kind::epoll || kind == gyre_test::planned_epoll;
  }
  operator io::backend_kind() const noexcept {
    return kind;
  }  // NOLINT(google-explicit-constructor): most want only that
};

/// A backend that is turned as in a loop.
class turning_backend {
 public:
  turning_backend() = default;
  explicit turning_backend(backend_way way) { make(way); }
  explicit turning_backend(io::backend_kind kind) { make({kind}); }

  void make(backend_way way, io::backend_options options = small()) {
    options.kind = way.kind;
    polled_ = way.polled;
    owner_ = io::make_backend(options, choice_);
    if (polled_ && owner_) EXPECT_GE(owner_->pollable(), 0);
  }

  /// A small ring, because rings count towards the user's locked memory and many tests make one.
  static io::backend_options small() {
    return {.submission_entries = 64,
            .completion_entries = 1024,
            .buffer_count = 64,
            .buffer_size = 1024,
            .large_buffer_count = 8,
            .large_buffer_size = 4096};
  }

  explicit operator bool() const noexcept { return static_cast<bool>(owner_); }
  io::backend& operator*() const noexcept { return *owner_; }
  io::backend* operator->() const noexcept { return &*owner_; }
  [[nodiscard]] const char* reason() const noexcept { return choice_.reason; }
  void destroy() { owner_ = io::backend_owner(); }

  /// Lets the backend hand out completions without calling them yet.
  void collect(io::monotonic_time deadline = io::do_not_wait) {
    if (polled_ && deadline != io::do_not_wait) {
      const io::monotonic_time until = owner_->prepare_wait(deadline, ready_);
      if (until == io::do_not_wait) return;
      poll_until(until);
      deadline = io::do_not_wait;
    }
    owner_->wait(deadline, ready_);
  }
  /// Calls the completions that have been handed out.
  void run_ready() {
    while (!ready_.empty()) {
      io::completion& item = ready_.pop_front();
      item.complete(item);
    }
  }
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }

  /// Waits only when there is nothing to do, as a loop does.
  void turn(io::monotonic_time deadline = io::do_not_wait) {
    collect(ready_.empty() ? deadline : io::do_not_wait);
    run_ready();
  }

  /// Turns, waiting, until `condition` holds. Returns false if it has not held in time.
  template <class Condition>
  [[nodiscard]] bool turn_until(Condition condition) {
    const io::monotonic_time end = now() + patience;
    while (!condition()) {
      if (now() >= end) return false;
      turn(end);
    }
    return true;
  }

  /// Collects completions without calling them, until there is at least one.
  [[nodiscard]] bool collect_something() {
    const io::monotonic_time end = now() + patience;
    while (ready_.empty() && now() < end) collect(end);
    return !ready_.empty();
  }

  /// Gives everything in flight the time to arrive, for tests that expect nothing further.
  void settle() {
    for (int i = 0; i < 20; ++i) turn();
    turn(now() + 5 * milliseconds);
  }

 private:
  void poll_until(io::monotonic_time deadline) const {
    pollfd watched{.fd = owner_->pollable(), .events = POLLIN, .revents = 0};
    const io::monotonic_time rest = std::max<io::monotonic_time>(0, deadline - now());
    const timespec left{.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
    ::ppoll(&watched, 1, deadline == io::wait_forever ? nullptr : &left, nullptr);
  }

  io::backend_choice choice_;
  bool polled_ = false;
  io::backend_owner owner_;
  io::ready_list ready_;
};

/// A descriptor that owns its socket and is attached to a backend while it exists.
class endpoint : public io::descriptor {
 public:
  endpoint(turning_backend& backend, owned_fd socket, bool attach_now = true)
      : socket_(std::move(socket)), backend_(&backend) {
    fd = socket_.get();
    if (attach_now) backend->attach(*this);
  }
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;
  ~endpoint() { close(); }

  void close() {
    if (fd < 0) return;
    EXPECT_EQ(in_flight, 0U) << "closed with a request in flight";
    if (*backend_) (*backend_)->detach(*this);
    socket_.close();
    fd = -1;
  }
  [[nodiscard]] const owned_fd& socket() const noexcept { return socket_; }

 private:
  owned_fd socket_;
  turning_backend* backend_;
};

/// A one-shot request that counts its completions.
struct one_shot : io::request {
  int completions = 0;

  one_shot(io::opcode operation, io::descriptor& d, const void* data = nullptr, std::size_t size = 0) {
    code = operation;
    target = &d;
    address = const_cast<void*>(data);
    length = static_cast<std::uint32_t>(size);
    result = -12345;
    complete = [](io::completion& c) noexcept { ++static_cast<one_shot&>(static_cast<io::request&>(c)).completions; };
  }
  one_shot(const one_shot&) = delete;
  one_shot& operator=(const one_shot&) = delete;
  ~one_shot() { EXPECT_LE(completions, submissions) << "completed more often than submitted"; }

  [[nodiscard]] bool done() const noexcept { return completions == submissions; }
  int submissions = 0;
};

/// A multishot that records what is delivered.
struct many : io::multishot {
  std::vector<int> results;        // of all deliveries except the last
  std::vector<std::size_t> sizes;  // received with each delivery
  std::string bytes;               // received, in order
  int last_result = 1;             // 1 while it has not ended
  int completions = 0;
  bool keeps_buffers = false;  // in `kept`, until the test releases them
  std::vector<std::uint32_t> kept;
  std::function<void(int)> on_delivery;  // called last
  turning_backend* backend;

  many(turning_backend& performer, io::opcode operation, io::descriptor& d) : backend(&performer) {
    code = operation;
    target = &d;
    deliver = &keep;
    complete = [](io::completion& c) noexcept {
      auto& self = static_cast<many&>(static_cast<io::request&>(c));
      ++self.completions;
      self.listed = false;
    };
  }
  many(const many&) = delete;
  many& operator=(const many&) = delete;
  ~many() {
    EXPECT_EQ(where, io::phase::idle) << "destroyed in flight";
    if (code == io::opcode::accept_many)
      for (int accepted : results) ::close(accepted);
  }

  [[nodiscard]] bool ended() const noexcept { return where == io::phase::idle; }

  void release_kept() {
    for (std::uint32_t index : std::exchange(kept, {})) (*backend)->buffers().release(index);
  }

 private:
  static void keep(io::multishot& m, int result, std::uint32_t buffer) noexcept {
    auto& self = static_cast<many&>(m);
    const bool carries_data = result > 0 || (result == 0 && m.code == io::opcode::accept_many);
    EXPECT_EQ(buffer != no_buffer, carries_data && m.code != io::opcode::accept_many);
    if (buffer != no_buffer) self.take(buffer, static_cast<std::size_t>(result));
    if (carries_data)
      self.results.push_back(result);
    else {
      EXPECT_EQ(m.where, io::phase::idle) << "went on after " << result;
      self.last_result = result;
    }
    if (self.on_delivery) self.on_delivery(result);
  }

  void take(std::uint32_t buffer, std::size_t size) {
    io::buffer_pool& pool = (*backend)->buffers();
    bytes.append(reinterpret_cast<const char*>(pool.data(buffer)), size);
    sizes.push_back(size);
    if (keeps_buffers)
      kept.push_back(buffer);
    else
      pool.release(buffer);
  }
};

inline const auto every_backend =
    ::testing::Values(backend_way{io::backend_kind::io_uring}, backend_way{io::backend_kind::epoll},
                      backend_way{io::backend_kind::io_uring, true}, backend_way{io::backend_kind::epoll, true},
                      backend_way{gyre_test::planned_uring}, backend_way{gyre_test::planned_epoll});

inline const auto every_backend_and_size =
    ::testing::Values(backend_way{io::backend_kind::io_uring}, backend_way{io::backend_kind::epoll},
                      backend_way{io::backend_kind::io_uring, true}, backend_way{io::backend_kind::epoll, true},
                      backend_way{io::backend_kind::io_uring, false, io::opcode::receive_large_many},
                      backend_way{io::backend_kind::epoll, false, io::opcode::receive_large_many},
                      backend_way{io::backend_kind::io_uring, true, io::opcode::receive_large_many},
                      backend_way{io::backend_kind::epoll, true, io::opcode::receive_large_many});

inline std::string backend_name(const ::testing::TestParamInfo<backend_way>& info) {
  return std::string(info.param.kind.name) + (info.param.polled ? "_polled" : "") +
         (info.param.receives == io::opcode::receive_large_many ? "_large" : "");
}

/// Returns "" when this backend can be tested here, otherwise the reason why not.
inline std::string why_not(io::backend_kind kind) {
  const io::backend_choice& choice = io::process_backend_choice();
  const bool needs_ring = kind == io::backend_kind::io_uring || kind == gyre_test::planned_uring;
  return needs_ring && choice.kind != io::backend_kind::io_uring ? choice.reason : "";
}

/// Base of the suites. Each test runs once on each backend.
class io_contract : public ::testing::TestWithParam<backend_way> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(GetParam()); !reason.empty()) GTEST_SKIP() << "no io_uring here: " << reason;
    begin();
  }

  void TearDown() override {
    if (!backend) return;
    backend.settle();
    EXPECT_EQ(backend->in_flight(), 0U);
  }

  /// Makes the backend. Tests that need other options call it again.
  void begin(io::backend_options options = turning_backend::small()) {
    backend.destroy();
    backend.make(GetParam(), options);
    ASSERT_TRUE(backend) << backend.reason();
  }

  void submit(one_shot& r) {
    ++r.submissions;
    const int before = r.completions;
    backend->submit(r);
    EXPECT_EQ(r.where, io::phase::in_flight);
    EXPECT_EQ(r.completions, before) << "completed inside submit";
  }

  void submit(many& m) {
    const std::size_t before = m.results.size();
    m.last_result = 1;
    backend->submit(m);
    EXPECT_EQ(m.where, io::phase::in_flight);
    EXPECT_EQ(m.results.size(), before) << "delivered inside submit";
  }

  /// Submits and waits. Returns the result.
  int perform(one_shot& r) {
    submit(r);
    EXPECT_TRUE(backend.turn_until([&] { return r.done(); })) << "never completed";
    return r.result;
  }

  /// Cancels a multishot and waits for its end.
  void stop(many& m) {
    backend->cancel(m);
    EXPECT_TRUE(backend.turn_until([&] { return m.ended(); })) << "never ended";
  }

  turning_backend backend;
};

}  // namespace gyre::contract
