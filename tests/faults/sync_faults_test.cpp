// tests/faults/sync_faults_test.cpp: a failed allocation between tasks or threads costs the operation that needed it.
#include <gyre/sync/shared_channel.hpp>

#include "tests/faults/injector.hpp"

#include <atomic>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

class sync_faults : public faults {};

constexpr int items = 20;

/// Puts items in from one task and takes them out in another.
template <class Put, class Take>
gyre::task<> pass(fault_injection& f, Put put, Take take) {
  f.arm();
  auto putting = [&]() -> gyre::task<> {
    for (int i = 0; i < items; ++i) co_await put(std::string(100, 'x'));
  };
  auto taking = [&]() -> gyre::task<> {
    for (int i = 0; i < items; ++i) co_await take();
  };
  auto both = gyre::gather(putting(), taking());
  co_await std::move(both);
}

template <class Channel>
gyre::task<> pass_through(fault_injection& f, Channel& channel) {
  auto put = [&](std::string item) -> gyre::task<> { co_await channel.send(std::move(item)); };
  auto take = [&]() -> gyre::task<> { (void)co_await channel.receive(); };
  co_await pass(f, put, take);
}
template <class Queue>
gyre::task<> pass_on(fault_injection& f, Queue& queue) {
  auto put = [&](std::string item) -> gyre::task<> { co_await queue.put(std::move(item)); };
  auto take = [&]() -> gyre::task<> { (void)co_await queue.get(); };
  co_await pass(f, put, take);
}

}  // namespace

TEST_P(sync_faults, a_channel_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::channel<std::string> channel(3);
    co_await pass_through(f, channel);
  });
}

TEST_P(sync_faults, a_shared_channel_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::shared_channel<std::string> channel(3);
    std::exception_ptr failure;
    try {
      co_await pass_through(f, channel);
    } catch (...) {
      failure = std::current_exception();
    }
    f.disarm();
    (void)channel.try_send(std::string());
    EXPECT_TRUE(channel.try_receive());
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_P(sync_faults, a_queue_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::queue<std::string> queue(30);
    co_await pass_on(f, queue);
  });
}

TEST_P(sync_faults, a_priority_queue_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::priority_queue<std::string> queue(30);
    co_await pass_on(f, queue);
  });
}

TEST_P(sync_faults, a_broadcast_and_a_future_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    gyre::broadcast<std::string> broadcast(4);
    auto subscription = broadcast.subscribe();
    broadcast.send(std::string(100, 'x'));
    (void)co_await subscription.receive();
    gyre::oneshot<std::string> result;
    co_await gyre::yield();
  });
}

TEST_P(sync_faults, a_callback_gives_its_value) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto waiting = gyre::from_callback<std::string>([](auto done) { done(std::string(100, 'x')); });
    EXPECT_EQ((co_await std::move(waiting)).size(), 100U);
    std::thread thread;
    auto later = gyre::from_callback<std::string>([&](auto done) {
      thread = std::thread([done] {
        try {
          done(std::string(100, 'x'));
        } catch (...) {
          done.fail(std::current_exception());
        }
      });
    });
    std::exception_ptr failure;
    try {
      (void)co_await std::move(later);
    } catch (...) {
      failure = std::current_exception();
    }
    if (thread.joinable()) thread.join();
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_P(sync_faults, a_task_that_another_thread_waits_for_ends) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto& loop = gyre::event_loop::current();
    std::atomic<bool> ended = false;
    f.arm();
    auto leaf = []() -> gyre::task<int> {
      co_await gyre::sleep(1ms);
      co_return 3;
    };
    std::thread thread([&] {
      try {
        auto handle = gyre::run_coroutine_threadsafe(loop, leaf());
        EXPECT_TRUE(handle.wait_for(20s));
        (void)handle.get();
      } catch (...) {  // whatever has failed, the thread continues
      }
      ended = true;
    });
    while (!ended) co_await gyre::sleep(1ms);
    thread.join();
  });
}

INSTANTIATE_TEST_SUITE_P(one, sync_faults, testing::Values(fault_kind::allocation, fault_kind::shortage), kind_name);
