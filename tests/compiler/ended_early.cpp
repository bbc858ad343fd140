// tests/compiler/ended_early.cpp: an object that a coroutine ends before its own end is destroyed once. clang 19
// destroys the value of a std::optional that was reset a second time in this shape. See docs/compilers.md.
#include <gyre/coro/owned.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/spawn.hpp>

#include "tests/support/error_of.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace std::chrono_literals;
using gyre_test::error_of;

[[gnu::noinline]] void count(int* destroyed) {
  ++*destroyed;
  asm volatile("" ::: "memory");
}

// Does not forget what it has released.
class plain {
 public:
  explicit plain(int& destroyed) : destroyed_(&destroyed) {}
  plain(const plain&) = delete;
  plain& operator=(const plain&) = delete;
  ~plain() { count(destroyed_); }

 private:
  int* destroyed_;
};

// What confuses clang 19 is the rest of each coroutine: it awaits two tasks, and one of them fails.
auto one = []() -> gyre::task<int> {
  co_await gyre::sleep(2ms);
  co_return 1;
};
auto failure = []() -> gyre::task<> {
  co_await gyre::sleep(2ms);
  throw std::runtime_error("expected");
};

gyre::task<> pointer_that_is_reset(int& destroyed) {
  auto object = std::make_unique<plain>(destroyed);
  auto reader = gyre::spawn(one);
  auto writer = gyre::spawn(failure);
  co_await gyre::sleep(1ms);
  object.reset();
  if (co_await reader != 1) ++destroyed;
  if (co_await error_of(std::move(writer)) != "expected") ++destroyed;
}

gyre::task<> block_that_ends(int& destroyed) {
  auto reader = gyre::spawn(one);
  auto writer = gyre::spawn(failure);
  {
    const plain object(destroyed);
    co_await gyre::sleep(1ms);
  }
  if (co_await reader != 1) ++destroyed;
  if (co_await error_of(std::move(writer)) != "expected") ++destroyed;
}

// gyre's own handles stand on owned, which forgets what it has released.
gyre::task<> optional_of_owned(int& destroyed) {
  std::optional<gyre::owned<int*, count>> object(destroyed);
  auto reader = gyre::spawn(one);
  auto writer = gyre::spawn(failure);
  co_await gyre::sleep(1ms);
  object.reset();
  if (co_await reader != 1) ++destroyed;
  if (co_await error_of(std::move(writer)) != "expected") ++destroyed;
}

}  // namespace

int main() {
  for (const auto form : {pointer_that_is_reset, block_that_ends, optional_of_owned}) {
    int destroyed = 0;
    gyre::run(form(destroyed));
    if (destroyed != 1) return 1;
  }
  return 0;
}
