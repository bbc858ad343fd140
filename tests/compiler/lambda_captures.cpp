// tests/compiler/lambda_captures.cpp: captures of lambdas passed to awaited functions are destroyed once. g++ 12
// destroys a temporary closure with a destructor twice when it is in the same full expression as a co_await (GCC bug
// 99576 and related bugs). Named closures, which our documentation shows, are safe everywhere.
#include <gyre/runtime/run.hpp>
#include <gyre/sync/condition_variable.hpp>
#include <gyre/tasks/from_callback.hpp>
#include <gyre/tasks/shared_task.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/spawn_then.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

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
  co_await gyre::shield(named);
}

gyre::task<> functions() {
  counted value;
  const auto number = [value] { return 3; };
  bool right = co_await gyre::to_thread(number) == 3;
  std::function<int()> any = number;
  right = right && co_await gyre::to_thread(std::move(any)) == 3;  // not a closure
  const auto cannot_be_copied = [owned = std::make_unique<counted>()] { return 3; };
  right = right && co_await gyre::to_thread(std::ref(cannot_be_copied)) == 3;
  const auto calls_back = [value](const gyre::awaited_callback<int>& done) { done(3); };
  right = right && co_await gyre::from_callback<int>(calls_back) == 3;
  gyre::mutex mutex;
  gyre::condition_variable changed(mutex);
  const auto guard = co_await mutex.scoped_lock();
  const auto is_true = [value] { return true; };
  co_await changed.wait(is_true);
  gyre::shared_task shared([value]() -> gyre::task<int> { co_return 3; });
  right = right && co_await shared == 3;
  gyre::spawn_then([value]() -> gyre::task<int> { co_return 3; },
                   [value](const auto& outcome) {
                     if (outcome != 3) ++constructed;
                   });
  if (!right) ++constructed;
}

}  // namespace

int main() {
  gyre::run(body());
  gyre::run(functions());
  return constructed == destroyed && constructed > 3 ? 0 : 1;
}
