// src/tls/traffic_secret.hpp: the keys by which a TLS 1.3 connection encrypts what it sends, for the kernel.
#pragma once

#include "openssl.hpp"

#include <gyre/net/kernel_encryption.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::tls {

/// OpenSSL exposes the traffic secret and each record, but not the keys or the record number. Both are derived and
/// verified against a record.
class traffic_secret {
 public:
  traffic_secret() noexcept = default;
  traffic_secret& operator=(traffic_secret&&) = delete;
  ~traffic_secret() { forget(); }

  /// Takes the secret from a line of a key log, if the line is about a server's data.
  void take_from(std::string_view line) noexcept;
  /// The next records are protected by other keys.
  void forget() noexcept;
  void start_counting() noexcept { records_ = 0; }
  void note_record() noexcept { ++records_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

  /// The keys for the next record; none (algorithm::none) without a secret, or for a cipher that the kernel does not
  /// know.
  [[nodiscard]] kernel_cipher keys(const SSL& connection) const noexcept;
  /// True when the keys open the last of `records`, which is the one that was made last.
  [[nodiscard]] bool is_proven_by(std::string_view records, const SSL& connection) const noexcept;

 private:
  std::array<unsigned char, 48> secret_ = {};  // as long as the hash of the cipher
  std::uint8_t size_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace gyre::tls
