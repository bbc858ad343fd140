// src/sync/must_be_awaited.cpp: detects an operation that nobody awaited.
#include <gyre/sync/must_be_awaited.hpp>

#include <exception>

namespace gyre {

// Not an error during an exception: an await in a cancelled scope throws before it uses the operation.
void must_be_awaited::stop_if_forgotten() const noexcept {
  if (std::uncaught_exceptions() > 0) return;
  misuse("%s was called and not awaited, so it did nothing: co_await it", call_);
}

}  // namespace gyre
