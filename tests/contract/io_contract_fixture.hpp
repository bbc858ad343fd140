// tests/contract/io_contract_fixture.hpp: the suites whose tests run on every backend.
#pragma once

#include "tests/contract/requests.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gyre::contract {

/// Every backend with each of these operations. The real ones are waited for in both ways.
inline std::vector<backend_way> every_backend_with(const std::vector<io::opcode>& codes) {
  std::vector<backend_way> all;
  for (const io::opcode code : codes) {
    for (const bool polled : {false, true})
      for (const io::backend_kind kind : {io::backend_kind::io_uring, io::backend_kind::epoll})
        all.push_back({.kind = kind, .polled = polled, .code = code});
    for (const io::backend_kind kind : {gyre_test::planned_uring, gyre_test::planned_epoll})
      all.push_back({.kind = kind, .code = code});
  }
  return all;
}

/// The same, and io_uring as on older kernels.
inline std::vector<backend_way> every_kernel_with(const std::vector<io::opcode>& codes) {
  std::vector<backend_way> all = every_backend_with(codes);
  for (const io::opcode code : codes)
    if (io::is_multishot(code))
      for (const kernel_kind like : {kernel_kind::without_receives, kernel_kind::without_accepts,
                                     kernel_kind::without_multishots, kernel_kind::with_array, kernel_kind::oldest})
        all.push_back({.kind = io::backend_kind::io_uring, .code = code, .like = like});
  return all;
}

inline const auto every_backend = ::testing::ValuesIn(every_backend_with({io::opcode::receive_many}));

inline std::string backend_name(const ::testing::TestParamInfo<backend_way>& info) {
  const backend_way& way = info.param;
  const char* const kernels[] = {
      "", "_without_receives", "_without_accepts", "_without_multishots", "_with_array", "_oldest"};
  return std::string(way.kind.name) + (way.polled ? "_polled" : "") + kernels[static_cast<std::size_t>(way.like)];
}

/// The same in suites that run with several operations.
inline std::string operation_name(const ::testing::TestParamInfo<backend_way>& info) {
  const auto name = [&] {
    switch (info.param.code) {
      case io::opcode::accept:
        return "accept_";
      case io::opcode::accept_many:
        return "accept_many_";
      case io::opcode::receive_into:
        return "receive_into_";
      case io::opcode::receive_large_many:
        return "receive_large_many_";
      case io::opcode::receive_many:
        return "receive_many_";
      case io::opcode::receive_message:
        return "receive_message_";
      case io::opcode::receive_messages_many:
        return "receive_messages_many_";
      case io::opcode::send:
        return "send_";
      case io::opcode::send_message:
        return "send_message_";
      default:
        return "";
    }
  };
  return name() + backend_name(info);
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
    if (const std::string reason = why_not(GetParam().kind); !reason.empty())
      GTEST_SKIP() << "no io_uring here: " << reason;
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
    m.submit();
    EXPECT_EQ(m.where, io::phase::in_flight);
    EXPECT_EQ(m.results.size(), before) << "delivered inside submit";
  }

  /// Submits it, and expects that it does not complete.
  template <class Request>
  void begin_to_wait(Request& r) {
    submit(r);
    backend.settle();
    EXPECT_TRUE(r.where == io::phase::in_flight) << "ended with " << r.result;
  }

  /// Waits for its completion, and returns the result.
  int result_of(one_shot& r) {
    EXPECT_TRUE(backend.turn_until([&] { return r.done(); })) << "never completed";
    return r.result;
  }
  /// Waits for its end, and returns the last result.
  int result_of(many& m) {
    EXPECT_TRUE(backend.turn_until([&] { return m.ended(); })) << "never ended";
    return m.last_result;
  }

  /// Submits it and waits. Returns the result.
  template <class Request>
  int perform(Request& r) {
    submit(r);
    return result_of(r);
  }

  void cancel(one_shot& r) {
    const int before = r.completions;
    backend->cancel(r);
    EXPECT_EQ(r.completions, before) << "completed inside cancel";
  }
  void cancel(many& m) {
    const int before = m.last_result;
    m.cancel();
    EXPECT_EQ(m.last_result, before) << "delivered inside cancel";
  }
  /// Cancels it and waits for its end. Returns the last result.
  template <class Request>
  int stop(Request& r) {
    cancel(r);
    return result_of(r);
  }

  /// Submits it, cancels it when its result has been handed out, and returns the result.
  int cancelled_after_success(one_shot& r) {
    submit(r);
    EXPECT_TRUE(backend.collect_something());
    cancel(r);
    backend.run_ready();
    backend.settle();
    EXPECT_EQ(r.completions, 1);
    return r.result;
  }

  turning_backend backend;
};

}  // namespace gyre::contract
