// gyre/loop/loop_local.hpp: one value per loop.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>

#include <cstddef>
#include <utility>

namespace gyre {

/// The part of loop_local that does not depend on its type. For authors of operations.
class GYRE_API loop_local_slot {
 public:
  loop_local_slot& operator=(loop_local_slot&&) = delete;

 protected:
  loop_local_slot() noexcept;
  ~loop_local_slot() = default;
  /// The value of this thread's loop, or null. Stops the program when this thread has no loop.
  [[nodiscard]] void* find() const noexcept;
  /// Keeps the value until the end of this thread's loop. Errors: std::bad_alloc; `destroy` is not called.
  void keep(void* value, void (*destroy)(void*) noexcept) const;

 private:
  std::size_t number_;
};

/// One value for each loop: a cache, a connection pool, a counter that needs no lock. It is usually a global.
///
///   gyre::loop_local<cache> pages;                                  // T{} on each loop
///   gyre::loop_local<client_pool> pool([] { return client_pool("db:5432"); });
///   pages->find(key);                                               // the one of this loop
///
/// The value is made when its loop first uses it. It is destroyed on the thread of its loop when the loop ends: after
/// the tasks of all loops of the runtime, in the reverse order of creation. So it may own streams, and any task may use
/// it.
///
/// Thread: any that has a loop, at the same time. The value belongs to its loop. Stops the program on a thread without
/// a loop.
/// Lifetime: the values live until their loops end, even when the loop_local is destroyed before that. So one that is
/// made and destroyed over and over keeps memory.
template <class T, class Make = T (*)()>
class loop_local : private loop_local_slot {
 public:
  loop_local() noexcept
    requires requires { T(); }
      : make_([] { return T(); }) {}
  /// `make()` returns the value of a loop. Different loops may call it at the same time.
  explicit loop_local(Make make) noexcept : make_(std::move(make)) {}

  /// The value of this thread's loop. Errors: the exceptions of `make`, and std::bad_alloc; the next call tries again.
  [[nodiscard]] T& get() const {
    if (void* const found = find()) [[likely]]
      return *static_cast<T*>(found);
    owned<T*, delete_target> made(new T(made_value()));
    keep(made.get(), [](void* value) noexcept { delete static_cast<T*>(value); });
    return *made.release();
  }
  [[nodiscard]] T& operator*() const { return get(); }
  [[nodiscard]] T* operator->() const { return &get(); }

 private:
  T made_value() const { return make_(); }  // converts implicitly, and in place
  Make make_;
};
template <class Make>
loop_local(Make) -> loop_local<decltype(std::declval<Make&>()()), Make>;

}  // namespace gyre
