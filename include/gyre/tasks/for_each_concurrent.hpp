// gyre/tasks/for_each_concurrent.hpp: processes the elements of a range concurrently, a limited number at a time.
#pragma once

#include <gyre/tasks/gather.hpp>

#include <cstddef>
#include <iterator>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// The type in which the function receives an element: a reference to an element of a container, or a copy of an
/// element of a generator, which changes with the next one.
template <class Range, class Iterator = decltype(std::begin(std::declval<Range&>())),
          class Element = decltype(*std::declval<Iterator&>())>
using held_element = std::conditional_t<std::is_lvalue_reference_v<Element> && std::forward_iterator<Iterator>, Element,
                                        std::remove_cvref_t<Element>>;

template <class Element, class F>
task<> await_for_element(F& function, Element element) {
  (void)co_await function(std::forward<Element>(element));
}

template <class Range, class F>
task<> run_for_each(Range range, std::size_t max_concurrent, F function, std::source_location where) {
  gathering children(co_await this_task_context{});
  try {
    for (auto&& element : range) {
      if (children.scope().cancelled()) throw_cancelled();
      if (children.running() >= max_concurrent) co_await children.fewer_than(max_concurrent);
      children.launch([&] {
        children
            .start(await_for_element<held_element<Range>, F>(function, std::forward<decltype(element)>(element)), {},
                   where)
            .release();
      });
    }
  } catch (const cancelled&) {  // a child has failed, or all were cancelled: the rest is not started
    children.note_cancel();
  } catch (...) {  // an exception of the range: thrown when the running calls have ended
    children.note_failure(std::current_exception());
  }
  co_await children.all_ended();
  children.finish();
}

/// Awaits `function(element)` for each element of `range`, at most `max_concurrent` at a time, in the order of the
/// range:
///
///   co_await gyre::for_each_concurrent(urls, 8, [&](const std::string& url) -> gyre::task<> { co_await fetch(url); });
///
/// Each call is made only when it may run, so a long range costs no more than `max_concurrent` tasks. The first failure
/// cancels the running calls, and no more are started. When all have ended it is thrown, together with other failures
/// as an exception_group. Stops the program when `max_concurrent` is 0.
/// Lifetime: `function` is kept until then. A range that is an lvalue belongs to the caller; a temporary is kept.
/// Elements of a container are passed by reference; each element of a generator is moved or copied into its task.
/// Cancel: reaches the running calls; throws when all have ended.
template <class Range, class F>
[[nodiscard]] GYRE_CORO_WRAPPER task<> for_each_concurrent(
    Range&& range, std::size_t max_concurrent, F&& function,
    std::source_location where = std::source_location::current()) {
  static_assert(
      requires(std::remove_reference_t<Range>& r) {
        std::begin(r);
        std::end(r);
      }, "for_each_concurrent takes a range, such as a vector or a generator");
  static_assert(
      requires(std::decay_t<F>& f) { requires gyre_awaitable<decltype(f(std::declval<held_element<Range>>()))>; },
      "for_each_concurrent takes a function that is called with an element and returns a task");
  static_assert(!may_be_destroyed_twice<F>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  if (max_concurrent == 0) misuse("for_each_concurrent with max_concurrent 0 would never begin; let at least one run");
  return run_for_each<Range, std::remove_cvref_t<F>>(std::forward<Range>(range), max_concurrent,
                                                     std::forward<F>(function), where);
}

}  // namespace gyre
