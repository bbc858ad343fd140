// tests/compiler/structured_bindings.cpp: members of an awaited struct are bound without leak or double destruction.
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/race.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace {

int alive = 0;
struct owner {
  std::unique_ptr<int> value;
  explicit owner(int v) : value(std::make_unique<int>(v)) { ++alive; }
  owner(owner&& other) noexcept : value(std::move(other.value)) { ++alive; }
  owner& operator=(owner&&) = default;
  ~owner() { --alive; }
};
struct both {
  owner first;
  owner second;
  std::string text;
};

gyre::task<both> make(int value) { co_return both{owner(value), owner(value + 1), std::string(100, 'x')}; }
gyre::task<owner> one(int value) { co_return owner(value); }

gyre::task<int> sum() {
  int total = 0;
  for (int i = 0; i < 100; ++i) {
    auto [first, second, text] = co_await make(i);
    total += *first.value + *second.value - 2 * i - 1 + static_cast<int>(text.size()) - 100;
    const auto& [a, b, c] = co_await make(i);
    total += *b.value - *a.value - 1 + static_cast<int>(c.size()) - 100;
    auto race = gyre::race(one(i), one(i));
    auto [index, winner] = co_await std::move(race);
    total += static_cast<int>(index) + *winner.value - i;
  }
  co_return total;
}

}  // namespace

int main() {
  const int total = gyre::run(sum());
  std::fprintf(stderr, "total %d, alive %d\n", total, alive);
  return total == 0 && alive == 0 ? 0 : 1;
}
