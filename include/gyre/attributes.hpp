// gyre/attributes.hpp: every macro of the library: compiler attributes that have no portable spelling.
#pragma once

/// Marks what a shared library exports; everything else is hidden.
#define GYRE_API [[gnu::visibility("default")]]

#if defined(__clang__)
/// The result refers to the argument (clang warns when the argument dies first).
#define GYRE_LIFETIMEBOUND [[clang::lifetimebound]]
/// A coroutine type whose by-reference parameters must outlive it (clang warns about temporaries).
#define GYRE_CORO_TYPE [[clang::coro_return_type]] [[clang::coro_lifetimebound]]
/// A plain function that returns a coroutine type on purpose, or one whose arguments are stored by it.
#define GYRE_CORO_WRAPPER [[clang::coro_wrapper]] [[clang::coro_disable_lifetimebound]]
#else
#define GYRE_LIFETIMEBOUND
#define GYRE_CORO_TYPE
#define GYRE_CORO_WRAPPER
#endif
