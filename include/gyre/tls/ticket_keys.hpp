// gyre/tls/ticket_keys.hpp: the keys of the tickets by which clients resume their sessions.
#pragma once

#include <gyre/attributes.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace gyre::tls {

/// A server gives each client a ticket, which holds the client's session, and keeps nothing itself. Whoever has these
/// keys can read the tickets, and with TLS 1.2 also recorded connections: so they change, and never leave the process
/// unless the program shares them.
///
/// Copies refer to the same keys. Thread: any, also at the same time. All loops use the same keys.
class GYRE_API ticket_keys {
 public:
  /// Random keys. There is a new one after each `lifetime`, and a ticket is good for one to two of them.
  /// Errors: tls_error bad_configuration, for a negative time.
  explicit ticket_keys(std::chrono::seconds lifetime = std::chrono::hours(12));
  /// Keys of the program, for several processes: the first one makes tickets, and all of them are accepted. Each has 80
  /// random bytes. They do not change on their own; see set_keys().
  /// Errors: tls_error bad_configuration, for no key or one of another size.
  explicit ticket_keys(const std::vector<std::string>& keys);
  ticket_keys(const ticket_keys& other) noexcept;
  ticket_keys& operator=(ticket_keys other) noexcept {
    std::swap(ring_, other.ring_);
    return *this;
  }
  ~ticket_keys();

  /// Replaces the keys of the program. Errors: same as the constructor.
  void set_keys(const std::vector<std::string>& keys);

  class ring;
  [[nodiscard]] ring& shared() const noexcept { return *ring_; }

 private:
  ring* ring_;
};

}  // namespace gyre::tls
