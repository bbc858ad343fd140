// tests/compiler/results_and_exceptions.cpp: owning results and exceptions pass through awaits without leak or copy.
#include <gyre/runtime/run.hpp>

#include <stdexcept>

namespace {

int alive = 0;
struct owner {
  owner() { ++alive; }
  owner(owner&&) noexcept { ++alive; }
  owner(const owner&) = delete;
  ~owner() { --alive; }
};
struct both {
  owner first;
  owner second;
};

gyre::task<both> make() { co_return both{}; }
gyre::task<int> fail(int depth) {
  const owner local;
  if (depth == 0) throw std::runtime_error("deep");
  co_return co_await fail(depth - 1);
}
gyre::task<> body() {
  for (int i = 0; i < 100; ++i) {
    const both result = co_await make();
    (void)result;
  }
  bool caught = false;
  try {
    (void)co_await fail(100);
  } catch (const std::runtime_error&) {
    caught = true;
  }
  if (!caught) throw std::logic_error("the exception was lost");
}

}  // namespace

int main() {
  gyre::run(body());
  return alive == 0 ? 0 : 1;
}
