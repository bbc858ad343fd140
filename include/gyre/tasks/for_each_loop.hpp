// gyre/tasks/for_each_loop.hpp: runs a function on every loop of the runtime.
#pragma once

#include <gyre/loop/loop_group.hpp>
#include <gyre/tasks/on.hpp>
#include <gyre/tasks/task_group.hpp>

#include <cstddef>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// The result of for_each_loop: one T for each loop (for U& a reference_to<U>), or nothing.
template <class T>
struct loop_results_of {
  using type = std::vector<storable<T>>;
};
template <>
struct loop_results_of<void> {
  using type = void;
};
template <class F>
using loop_results = typename loop_results_of<typename remote_result<F>::type>::type;

template <class F, class T>
task<> run_on_into(event_loop& loop, F& function, std::optional<T>& result, std::source_location where) {
  on_op<F&> call(loop, function, where);
  if constexpr (std::is_void_v<typename remote_result<F>::type>) {
    co_await std::move(call);
    result.emplace();
  } else {
    result.emplace(co_await std::move(call));
  }
}

/// Runs `function()` on every loop of this loop's runtime, concurrently. Returns the results in the order of the loops,
/// as a std::vector, or nothing when the function returns nothing.
///
///   co_await gyre::for_each_loop([&] { return serve(shared); });
///   const std::vector<std::size_t> sizes = co_await gyre::for_each_loop([] { return pages->size(); });
///
/// All loops call the same function object, at the same time. It lives until the last call has ended.
/// A loop outside of a runtime is its only loop.
/// Cancel: cancels the call on every loop, and waits until all have ended.
/// Errors: the first exception on a loop cancels the calls on the others. It is thrown when all have ended, together
/// with any others as an exception_group.
/// Seastar: invoke_on_all, map_reduce.
template <class F>
[[nodiscard("co_await it")]] task<loop_results<F>> for_each_loop(
    F function, std::source_location where = std::source_location::current()) {
  using value = held_result<typename remote_result<F>::type>;
  event_loop& here = event_loop::current();
  loop_group* const group = here.group();
  std::vector<std::optional<value>> results(group == nullptr ? 1 : group->size());
  auto start = [&](task_group& calls) -> task<> {
    for (std::size_t i = 0; i < results.size(); ++i)
      calls.spawn(run_on_into<F, value>(group == nullptr ? here : (*group)[i], function, results[i], where),
                  {.name = "for_each_loop"});
    co_return;
  };
  co_await task_group::scope(start);
  if constexpr (!std::is_void_v<loop_results<F>>) {
    loop_results<F> values;
    values.reserve(results.size());
    for (auto& each : results)
      values.push_back(*std::move(each));  // NOLINT(bugprone-unchecked-optional-access): no failure
    co_return values;
  }
}

}  // namespace gyre
