// tests/compiler/ordinary_values.cpp: tasks pass through the standard library's callables and through plain functions.
#undef GYRE_CHECK_LIFETIMES  // our own builds define it, and it forbids this
#include <gyre/http/handler.hpp>
#include <gyre/http/router.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/timeout.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <variant>

using namespace std::chrono_literals;

namespace {

gyre::task<int> value(int n) { co_return n; }
gyre::task<int> sum(int a, int b) { co_return a + b; }
gyre::task<> store(int& to, int n) {
  to = n;
  co_return;
}

// A plain function may check its arguments before there is a coroutine, and needs no frame.
gyre::task<int> passes_on(int n) {
  if (n < 0) return value(0);
  return sum(n, 1);
}

struct service {
  int base;
  gyre::task<int> add(int n) { co_return base + n; }
};

struct request_one {};
struct request_two {
  int n;
};
struct visitor {
  gyre::task<int> operator()(request_one) const { return value(1); }
  gyre::task<int> operator()(request_two r) const { co_return r.n; }
};

gyre::task<bool> functions() {
  int stored = 0;
  const std::function<gyre::task<>()> function = [&] { return store(stored, 1); };
  co_await function();
  if (stored != 1) co_return false;
  std::move_only_function<gyre::task<int>(int)> only = [n = std::make_unique<int>(2)](int m) { return sum(*n, m); };
  if (co_await only(3) != 5) co_return false;
  only = passes_on;
  co_return co_await only(3) == 4 && co_await passes_on(-1) == 0;
}

gyre::task<bool> invocations() {
  service s{10};
  if (co_await std::invoke(&service::add, s, 1) != 11) co_return false;
  if (co_await std::invoke(passes_on, 1) != 2) co_return false;
  const auto bound = std::bind_front(&service::add, &s);
  if (co_await bound(2) != 12) co_return false;
  const auto first = std::bind_front(sum, 1);
  if (co_await first(2) != 3) co_return false;
  const auto called = std::mem_fn(&service::add);
  if (co_await called(s, 3) != 13) co_return false;
  co_return co_await std::apply(sum, std::pair(1, 2)) == 3;
}

gyre::task<bool> visits() {
  std::variant<request_one, request_two> request;
  if (co_await std::visit(visitor{}, request) != 1) co_return false;
  request = request_two{7};
  co_return co_await std::visit(visitor{}, request) == 7;
}

// Functions that take callables accept those of the standard library, and lambdas that pass a task on.
gyre::task<bool> own_functions() {
  std::function<gyre::task<int>()> make = [] { return value(4); };
  auto handle = gyre::spawn(make);
  if (co_await handle != 4) co_return false;
  if (co_await gyre::timeout(1h, make) != 4) co_return false;
  int stored = 0;
  std::function<gyre::task<>(gyre::task_group&)> body = [&](gyre::task_group& group) {
    (void)group.spawn(store(stored, 5));
    return store(stored, 0);
  };
  co_await gyre::task_group::scope(body);
  const auto both = co_await gyre::gather(passes_on(1), make());
  co_return stored == 5 && both.get<0>() == 2 && both.get<1>() == 4;
}

gyre::task<gyre::http::response> answer(gyre::http::request& request) {
  (void)request;
  co_return gyre::http::response::text("hello");
}
gyre::http::router routes() {
  gyre::http::router all;
  const std::function<gyre::task<gyre::http::response>(gyre::http::request&)> handler = answer;
  all.get("/function", handler);
  all.get("/lambda", [](gyre::http::request& request) { return answer(request); });
  return all;
}

gyre::task<int> all_of_them() {
  (void)routes();
  bool good = co_await functions();
  if (!good) co_return 1;
  good = co_await invocations();
  if (!good) co_return 2;
  good = co_await visits();
  if (!good) co_return 3;
  good = co_await own_functions();
  co_return good ? 0 : 4;
}

}  // namespace

int main() { return gyre::run(all_of_them()); }
