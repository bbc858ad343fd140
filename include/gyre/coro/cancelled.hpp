// gyre/coro/cancelled.hpp: the exception that an await throws inside a cancelled scope.
#pragma once

namespace gyre {

/// Thrown by every await inside a cancelled scope.
///
/// Deliberately not a std::exception: `catch (const std::exception&)` around a request must not keep a
/// cancelled task alive. Catch it only to clean up, and rethrow it.
struct cancelled {
  [[nodiscard]] static constexpr const char* what() noexcept { return "cancelled"; }
};

}  // namespace gyre
