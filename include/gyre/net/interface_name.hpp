// gyre/net/interface_name.hpp: the name of a network interface.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <string_view>

namespace gyre {

/// "eth0", "lo"; empty by default. A plain value, so that options that contain it may be temporaries in a co_await (g++
/// 12 destroys strings there twice).
class GYRE_API interface_name {
 public:
  static constexpr std::size_t max_size = 15;

  constexpr interface_name() noexcept = default;
  /// Errors: io_error `interface_name "…": Invalid argument` when it is too long or contains a zero byte.
  interface_name(std::string_view name);  // NOLINT: written as text in options
  interface_name(const char* name);       // NOLINT: the same

  [[nodiscard]] bool empty() const noexcept { return text_[0] == '\0'; }
  [[nodiscard]] std::string_view view() const noexcept { return text_; }
  friend bool operator==(const interface_name&, const interface_name&) noexcept = default;

 private:
  char text_[max_size + 1] = {};
};

}  // namespace gyre
