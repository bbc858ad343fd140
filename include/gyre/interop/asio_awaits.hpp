// gyre/interop/asio_awaits.hpp: finds the awaits on the objects of a context of either Asio. For asio_operation.hpp.
#pragma once

#include <gyre/interop/context_awaits.hpp>

namespace gyre {

/// Keeps the awaits in the context, as its service. Asio tells services when their context ends.
template <class Library>
class asio_awaits : public Library::service {
 public:
  static inline typename Library::service_id id;

  explicit asio_awaits(typename Library::execution_context& context) : Library::service(context) {}
  [[nodiscard]] context_awaits& awaits() noexcept { return awaits_; }

 private:
  void shutdown() override { awaits_.context_ends("a context of Asio (an io_context or a thread_pool)"); }

  context_awaits awaits_;
};

/// The io_context that the loop of this thread drives, and its awaits; null when it drives none.
template <class Library>
struct asio_context_of_loop {
  typename Library::execution_context* context = nullptr;
  context_awaits* awaits = nullptr;
};
template <class Library>
inline constinit thread_local asio_context_of_loop<Library> asio_context_here = {};

/// The awaits on the objects of `context`. Errors: std::bad_alloc, for the first await in the context.
template <class Library>
[[nodiscard]] context_awaits& awaits_of(typename Library::execution_context& context) {
  if (asio_context_here<Library>.context == &context) return *asio_context_here<Library>.awaits;  // without a lock
  return Library::template use_service<asio_awaits<Library>>(context).awaits();
}

}  // namespace gyre
