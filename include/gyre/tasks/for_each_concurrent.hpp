// gyre/tasks/for_each_concurrent.hpp: does the same for each element of a range, some at a time.
#pragma once

#include <gyre/tasks/gather.hpp>

#include <cstddef>
#include <iterator>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

template <class Element, class F>
task<> await_for_element(F& function, Element element) {
  (void)co_await function(std::forward<Element>(element));
}

template <class Range, class F>
task<> run_for_each(Range range, std::size_t at_most, F function, std::source_location where) {
  gathering children(co_await this_task_context{});
  try {
    for (auto&& element : range) {
      if (children.scope().cancelled()) throw_cancelled();
      if (children.running() >= at_most) co_await children.fewer_than(at_most);
      // An element of a container stays where it is. That of a generator changes with the next one: the child has a copy.
      constexpr bool stays =
          std::is_lvalue_reference_v<decltype(element)> && std::forward_iterator<decltype(std::begin(range))>;
      using held = std::conditional_t<stays, decltype(element), std::remove_cvref_t<decltype(element)>>;
      children.launch([&] {
        children.start(await_for_element<held, F>(function, std::forward<decltype(element)>(element)), {}, where)
            .release();
      });
    }
  } catch (const cancelled&) {  // a child has failed, or the whole was cancelled: the rest is not started
    children.note_cancel();
  } catch (...) {  // of the range: thrown when those that run have ended
    children.note_failure(std::current_exception());
  }
  co_await children.all_ended();
  children.finish();
}

/// Awaits `function(element)` for each element of `range`, at most `at_most` at a time, in the order of the range:
///
///   co_await gyre::for_each_concurrent(urls, 8, [&](const std::string& url) -> gyre::task<> { co_await fetch(url); });
///
/// A call is made when its turn comes, so that a long range costs no more than `at_most` tasks. The first failure cancels those
/// that run and starts no more; when all have ended it is thrown, together with other failures as an exception_group.
/// Stops the program when `at_most` is 0.
/// Lifetime: `function` is kept until then; a range that is an lvalue is the caller's, and a temporary is kept. Elements of a
/// container are passed by reference; each element of a generator is moved or copied into its task.
/// Cancel: reaches those that run; throws when all have ended.
template <class Range, class F>
[[nodiscard]] GYRE_CORO_WRAPPER task<> for_each_concurrent(
    Range&& range, std::size_t at_most, F&& function, std::source_location where = std::source_location::current()) {
  static_assert(!may_be_destroyed_twice<F>, "g++ 12 would destroy the captures of this lambda twice: name it first");
  if (at_most == 0) misuse("for_each_concurrent with at_most 0 would never begin; let at least one run");
  return run_for_each<Range, std::remove_cvref_t<F>>(std::forward<Range>(range), at_most, std::forward<F>(function),
                                                     where);
}

}  // namespace gyre
