// bench/micro/micro_loops.cpp: the cost of messages between two loops of a runtime.
#include "bench/micro/report.hpp"

using namespace std::chrono_literals;

namespace {

gyre::event_loop& other() { return (*gyre::event_loop::current().group())[1]; }

gyre::task<int> value() { co_return 1; }

gyre::task<> call_function(long n) {
  gyre::event_loop& there = other();
  for (long i = 0; i < n; ++i) co_await gyre::on(there, [] { return 1; });
}

gyre::task<> call_task(long n) {
  gyre::event_loop& there = other();
  for (long i = 0; i < n; ++i) co_await gyre::on(there, value);
}

// Items that their owner sends again when they have arrived, so that nothing is allocated.
struct message : gyre::io::completion {
  bool last = false;
  gyre::event* done = nullptr;
  gyre::event_loop* home = nullptr;
};

gyre::task<> one_way(long n) {
  gyre::event_loop& there = other();
  gyre::event arrived;
  std::vector<message> items(static_cast<std::size_t>(n));
  for (message& each : items) {
    each.complete = [](gyre::io::completion& item) noexcept {
      const auto& here = static_cast<message&>(item);
      if (here.last) here.home->post([done = here.done] { done->set(); });
    };
    each.home = &gyre::event_loop::current();
    each.done = &arrived;
  }
  items.back().last = true;
  for (message& each : items) there.post(static_cast<gyre::io::completion&>(each));
  co_await arrived.wait();
}

gyre::task<> channel(long n) {
  gyre::shared_channel<int> items(64);
  for (long i = 0; i < n; ++i) {
    co_await items.send(1);
    (void)co_await items.receive();
  }
}

gyre::task<> all(const char* awake) {
  const std::string function = std::string("on: a plain function, there and back, ") + awake;
  const std::string task = std::string("on: a task, there and back, ") + awake;
  co_await bench::report(function, call_function);
  co_await bench::report(task, call_task);
}

gyre::task<> between_loops() {
  co_await bench::report("post: one way", one_way);
  co_await bench::report("shared_channel: a send and a receive on one loop", channel);
}

}  // namespace

int main() {
  gyre::run(all("both loops sleep between messages"), {.threads = 2, .pin = true});
  gyre::run(all("both loops are awake"), {.threads = 2, .loop = {.busy_poll = 1ms}, .pin = true});
  gyre::run(between_loops(), {.threads = 2, .loop = {.busy_poll = 1ms}, .pin = true});
}
