// gyre/coro/frame_resource.hpp: coroutines whose frames come from a memory resource of the program.
#pragma once

#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/generator.hpp>
#include <gyre/coro/task.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <type_traits>

namespace gyre {

/// The parameter after std::allocator_arg_t: a std::pmr::memory_resource* or a std::pmr::polymorphic_allocator.
template <class A>
concept frame_resource = std::convertible_to<A, std::pmr::polymorphic_allocator<>>;

/// The promise of a coroutine that takes its frame from a memory resource. It stores the resource behind the frame.
///
/// A coroutine asks for this by its first two parameters, as with std::generator:
///
///   gyre::task<> parse(std::allocator_arg_t, std::pmr::memory_resource* memory, std::string_view text);
///   co_await parse(std::allocator_arg, &arena, text);
///
/// They may follow the object of a member function or of a lambda. Only the frame comes from the resource; tasks that
/// the coroutine calls get their own resource, or none. Include this header where the coroutine is defined; otherwise
/// the frame comes from the frame pool.
///
/// Lifetime: the resource outlives the frame. Thread: the frame is freed where the task ends, and a task stays on its
/// loop; a resource for tasks of several loops must be thread-safe.
/// Errors: the call of the coroutine throws whatever the resource throws (std::bad_alloc).
template <class Promise>
struct promise_in_resource : Promise {
  template <frame_resource A, class... Arguments>
  static void* operator new(std::size_t size, std::allocator_arg_t, const A& resource, const Arguments&...) {
    return allocate(size, std::pmr::polymorphic_allocator<>(resource).resource());
  }
  template <class Object, frame_resource A, class... Arguments>
  static void* operator new(std::size_t size, const Object&, std::allocator_arg_t, const A& resource,
                            const Arguments&...) {
    return allocate(size, std::pmr::polymorphic_allocator<>(resource).resource());
  }
  static void operator delete(void* memory, std::size_t size) noexcept {
    std::pmr::memory_resource* resource = nullptr;
    std::memcpy(&resource, static_cast<std::byte*>(memory) + size, sizeof(resource));
    resource->deallocate(memory, size + sizeof(resource), __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }

 private:
  static void* allocate(std::size_t size, std::pmr::memory_resource* resource) {
    void* const memory = resource->allocate(size + sizeof(resource), __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    std::memcpy(static_cast<std::byte*>(memory) + size, &resource, sizeof(resource));
    return memory;
  }
};

/// The coroutines of this library, which may take their frames from a resource.
template <class R>
inline constexpr bool is_coroutine_of_gyre = false;
template <class T>
inline constexpr bool is_coroutine_of_gyre<task<T>> = true;
template <class T>
inline constexpr bool is_coroutine_of_gyre<generator<T>> = true;
template <class T>
inline constexpr bool is_coroutine_of_gyre<async_generator<T>> = true;

}  // namespace gyre

template <class R, class A, class... Arguments>
  requires gyre::is_coroutine_of_gyre<R> && gyre::frame_resource<A>
struct std::coroutine_traits<R, std::allocator_arg_t, A, Arguments...> {
  using promise_type = gyre::promise_in_resource<typename R::promise_type>;
};

template <class R, class Object, class A, class... Arguments>
  requires gyre::is_coroutine_of_gyre<R> && gyre::frame_resource<A>
struct std::coroutine_traits<R, Object, std::allocator_arg_t, A, Arguments...> {
  using promise_type = gyre::promise_in_resource<typename R::promise_type>;
};
