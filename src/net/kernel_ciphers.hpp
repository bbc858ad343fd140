// src/net/kernel_ciphers.hpp: which of its implementations of a cipher the kernel uses.
#pragma once

#include <string>
#include <string_view>

namespace gyre {

/// `table` is the text of /proc/crypto. Returns the driver with the highest priority for `name`, "gcm(aes)"; empty when
/// none is loaded.
[[nodiscard]] std::string fastest_driver(std::string_view table, std::string_view name);

/// False for one that is written in C for any processor, which is some twenty times slower.
[[nodiscard]] inline bool is_made_for_processor(std::string_view driver) noexcept {
  return driver.find("-generic") == std::string_view::npos;
}

}  // namespace gyre
