// tests/compiler/lambda_captures.cpp: captures of lambdas given to spawn, scope and timeout are destroyed once.
//
// g++ 12 destroys a temporary closure that stands in the same full expression as a co_await twice when it has a
// destructor (GCC bug 99576 and its relatives). Named closures, which our documentation shows, are safe everywhere.
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/timeout.hpp>

#include <chrono>

namespace {

int constructed = 0;
int destroyed = 0;

struct counted {
  counted() { ++constructed; }
  counted(const counted&) { ++constructed; }
  counted(counted&&) noexcept { ++constructed; }
  ~counted() { ++destroyed; }
};

gyre::task<> body() {
  using namespace std::chrono_literals;
  counted value;
  auto named = [value]() -> gyre::task<> { co_await gyre::sleep(1us); };
  co_await gyre::timeout(1s, named);
  auto handle = gyre::spawn([value]() -> gyre::task<> { co_await gyre::sleep(1us); });
  co_await handle;
  auto group_body = [&value](gyre::task_group& group) -> gyre::task<> {
    group.spawn([value]() -> gyre::task<> { co_await gyre::sleep(1us); });
    co_return;
  };
  co_await gyre::task_group::scope(group_body);
}

}  // namespace

int main() {
  gyre::run(body());
  return constructed == destroyed && constructed > 3 ? 0 : 1;
}
