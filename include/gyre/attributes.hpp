// gyre/attributes.hpp: the library's macros: compiler attributes without a portable spelling. And the options of the
// compiler that the library cannot do without, because every layer includes this header.
#pragma once

#if __cplusplus <= 202002L
#error "gyre needs C++23: compile with -std=c++23, or in CMake with target_link_libraries(... gyre::gyre)"
#endif

#ifndef __cpp_exceptions
#error "gyre needs exceptions, which report errors and cancel tasks: compile without -fno-exceptions"
#endif

/// Marks the symbols that the shared library exports; everything else is hidden. Programs that use the shared library
/// are compiled with GYRE_SHARED, by CMake's target and by pkg-config. The static library exports nothing: two plugins
/// that contain it have a copy each.
#ifdef GYRE_SHARED
#define GYRE_API [[gnu::visibility("default")]]
#else
#define GYRE_API
#endif

/// Deletes a function; the compiler's message gives the reason: `task(const task&) GYRE_DELETED("use std::move(t)");`
#if defined(__clang__) && __clang_major__ >= 19
#define GYRE_DELETED(reason)                                                                    \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") = \
      delete (reason)_Pragma("clang diagnostic pop")
#elif defined(__cpp_deleted_function)
#define GYRE_DELETED(reason) = delete (reason)
#else
#define GYRE_DELETED(reason) = delete
#endif

#if defined(__clang__)
/// The result refers to the argument (clang warns when the argument is destroyed first).
#define GYRE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define GYRE_LIFETIMEBOUND
#endif

// With GYRE_CHECK_LIFETIMES defined, clang warns about a stored task that refers to a temporary:
//   auto later = size_of(std::string("gone"));
// In exchange, a function that returns a task without being a coroutine must be marked with GYRE_CORO_WRAPPER.
// std::function, std::invoke and lambdas that pass a task on are not marked and do not compile. So it is off by
// default.
#if defined(__clang__) && defined(GYRE_CHECK_LIFETIMES)
/// A coroutine type whose by-reference parameters must outlive it.
#define GYRE_CORO_TYPE [[clang::coro_return_type]] [[clang::coro_lifetimebound]]
/// A plain function that returns a coroutine type on purpose, or one that stores its arguments.
#define GYRE_CORO_WRAPPER [[clang::coro_wrapper]] [[clang::coro_disable_lifetimebound]]
#else
#define GYRE_CORO_TYPE
#define GYRE_CORO_WRAPPER
#endif
