// gyre/io/backend_factory.hpp: backends that a program adds to its choice.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend_choice.hpp>

namespace gyre::io {

/// A backend that the program adds to io_uring and epoll: one that simulates, counts or delays.
struct backend_factory {
  backend_kind kind;
  /// Does the same as make_backend, for this kind.
  backend_owner (*make)(const backend_options& options, backend_choice& choice);
  backend_factory* next = nullptr;  ///< kept by the registry
};

/// From now on, make_backend and GYRE_BACKEND know this backend. A factory hides earlier ones of the same name.
/// Lifetime: `added` must stay valid until the process ends. Thread: any.
GYRE_API void register_backend(backend_factory& added) noexcept;

}  // namespace gyre::io
