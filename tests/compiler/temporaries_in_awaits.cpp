// tests/compiler/temporaries_in_awaits.cpp: temporaries with destructors in the expression of a co_await are destroyed
// once. Covers arguments, default arguments, function results, nested awaits, conditions and loops.
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/timeout.hpp>

#include <chrono>
#include <cstdio>
#include <utility>

namespace {

using namespace std::chrono_literals;

int made = 0;
int died = 0;
struct counted {
  counted() { ++made; }
  counted(const counted&) { ++made; }
  counted(counted&&) noexcept { ++made; }
  counted& operator=(const counted&) = default;
  ~counted() { ++died; }
};

gyre::task<int> by_value(counted, int value = 1) {
  co_await gyre::sleep(1us);
  co_return value;
}
gyre::task<int> by_reference(const counted&, int value = 1) {
  co_await gyre::sleep(1us);
  co_return value;
}
gyre::task<counted> gives() {
  co_await gyre::sleep(1us);
  co_return counted();
}

gyre::task<> arguments() {
  (void)co_await by_value(counted());
  (void)co_await by_value({});
  (void)co_await by_reference(counted());
  (void)co_await by_value(co_await gives());
  (void)co_await by_reference(co_await gives(), co_await by_value(counted()));
}
gyre::task<> conditions() {
  if (co_await by_value(counted()) == 1 && co_await by_reference(counted(), 2) == 2) co_await by_value(counted());
  for (int i = 0; i < co_await by_value(counted(), 3); ++i) (void)co_await by_reference(counted());
  const int chosen = made > 0 ? co_await by_value(counted(), 4) : co_await by_reference(counted(), 5);
  switch (co_await by_value(counted(), chosen)) {
    case 4:
      (void)co_await by_value(counted());
      break;
    default:
      break;
  }
  while (co_await by_reference(counted(), 0) != 0) {
  }
}
gyre::task<> combined() {
  (void)co_await gyre::gather(by_value(counted()), by_value({}));
  (void)co_await gyre::race(by_value(counted()), by_value({}));
  (void)co_await gyre::timeout(1s, by_value(counted()));
  (void)co_await gyre::shield(by_value(counted()));
  (void)co_await gyre::spawn(by_value(counted()), {.name = "child"});
  (void)co_await gyre::timeout(1s, gyre::gather(by_value(counted()), gyre::timeout(1s, by_value(counted()))));
}
gyre::task<> named_closures() {
  const counted value;
  auto plain = [value]() -> gyre::task<> { co_await gyre::sleep(1us); };
  auto limited = [value](gyre::timeout_scope&) -> gyre::task<> { co_await gyre::sleep(1us); };
  auto body = [value](gyre::task_group& group) -> gyre::task<> {
    group.spawn([value]() -> gyre::task<> { co_await gyre::sleep(1us); });
    co_return;
  };
  co_await gyre::timeout(1s, plain);
  co_await gyre::timeout(1s, limited);
  co_await gyre::wait_for(plain, 1s);
  co_await gyre::shield(plain);
  co_await gyre::task_group::scope(body);
  co_await gyre::timeout(1s, gyre::task_group::scope(body));
  auto handle = gyre::spawn([value]() -> gyre::task<> { co_await gyre::sleep(1us); });
  co_await handle;
}
gyre::task<> expressions_that_throw() {
  for (int i = 0; i < 3; ++i) {
    try {
      (void)co_await gyre::timeout(0s, gyre::gather(by_value(counted()), by_reference(counted())));
    } catch (const gyre::timed_out&) {
    }
  }
}

#if defined(__clang__)
gyre::task<> temporary_closures() {  // a static_assert refuses this where the compiler is wrong
  const counted value;
  co_await gyre::timeout(1s, [value]() -> gyre::task<> { co_await gyre::sleep(1us); });
  co_await gyre::shield([value]() -> gyre::task<> { co_await gyre::sleep(1us); });
  co_await gyre::task_group::scope([value](gyre::task_group&) -> gyre::task<> { co_return; });
  co_await gyre::spawn([value]() -> gyre::task<> { co_await gyre::sleep(1us); });
}
#endif

bool balanced(const char* what, gyre::task<> body) {
  made = died = 0;
  gyre::run(std::move(body));
  if (made == died && made > 0) return true;
  std::fprintf(stderr, "%s: %d made, %d died\n", what, made, died);
  return false;
}

}  // namespace

int main() {
  bool right = balanced("arguments", arguments());
  right = balanced("conditions", conditions()) && right;
  right = balanced("combined", combined()) && right;
  right = balanced("named closures", named_closures()) && right;
  right = balanced("expressions that throw", expressions_that_throw()) && right;
#if defined(__clang__)
  right = balanced("temporary closures", temporary_closures()) && right;
#endif
  return right ? 0 : 1;
}
