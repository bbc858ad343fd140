// examples/02_structured.cpp: race, timeout, gather and groups: nothing outlives the line that waits for it.
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;

namespace {

gyre::task<std::string> fetch(std::string what, std::chrono::milliseconds time) {
  co_await gyre::sleep(time);
  co_return what + " fetched";
}

gyre::task<> structured() {
  // Cancels the slower one, and waits until it has really stopped.
  auto contest = gyre::race(fetch("a", 20ms), fetch("b", 5ms));
  const auto first = co_await std::move(contest);
  std::printf("first: %s\n", first.value.c_str());

  // All results, in the order of the arguments.
  auto all = gyre::gather(fetch("c", 5ms), fetch("d", 2ms));
  const auto both = co_await std::move(all);
  std::printf("both: %s, %s\n", both.get<0>().c_str(), both.get<1>().c_str());

  // A time-out is a scope around any code.
  auto slow = []() -> gyre::task<> { (void)co_await fetch("e", 1h); };
  try {
    co_await gyre::timeout(10ms, slow);
  } catch (const gyre::timed_out&) {
    std::puts("timed out");
  }

  // All or nothing: the first failure cancels the siblings, the scope waits for all of them.
  auto body = [](gyre::task_group& group) -> gyre::task<> {
    for (const char* name : {"f", "g", "h"}) group.spawn(fetch(name, 1ms), {.name = name});
    co_return;
  };
  co_await gyre::task_group::scope(body);
}

}  // namespace

int main() { return gyre::run_main(structured()); }
