// src/tls/ticket_ring.hpp: the keys of tickets in use, the newest first.
#pragma once

#include "openssl.hpp"

#include <gyre/tls/ticket_keys.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gyre::tls {

class [[gnu::visibility("hidden")]] ticket_keys::ring {
 public:
  struct key {
    std::array<unsigned char, 16> name;
    std::array<unsigned char, 32> mac;
    std::array<unsigned char, 32> cipher;
  };
  struct found {
    ring::key key;
    bool newest;
  };

  explicit ring(std::chrono::seconds lifetime);
  explicit ring(const std::vector<std::string>& keys);
  ring& operator=(ring&&) = delete;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void set(const std::vector<std::string>& keys);
  /// For a new ticket.
  [[nodiscard]] key newest();
  /// For a ticket of a client. Nothing when its key is not in use any more.
  [[nodiscard]] std::optional<found> named(std::span<const unsigned char, 16> name);
  [[nodiscard]] std::chrono::seconds lifetime() const noexcept { return lifetime_; }

  /// Makes a server use the ring that is the first argument of its callbacks.
  static void attach(SSL_CTX& settings, ring& keys);

 private:
  ~ring();
  void rotate();
  static int choose_key(SSL* connection, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                        EVP_MAC_CTX* mac, int encrypts) noexcept;

  std::atomic<int> references_ = 1;
  std::mutex mutex_;
  std::vector<key> keys_;
  std::chrono::seconds lifetime_;
  std::chrono::steady_clock::time_point newest_since_;
  bool given_ = false;  // by the program
};

}  // namespace gyre::tls
