// gyre/net/happy_eyeballs.hpp: connects to the address of a host that answers first. RFC 8305.
#pragma once

#include <gyre/net/tcp_stream.hpp>

#include <chrono>
#include <vector>

namespace gyre {

struct happy_eyeballs_options {
  /// The time that an attempt has before the next one starts beside it. RFC 8305 §5.
  std::chrono::nanoseconds attempt_delay = std::chrono::milliseconds(250);
  /// Options of each attempt. An attempt fails if its address has another family than the local one.
  connect_options connecting = {};
};

/// The order of the attempts: families alternate, beginning with that of the first address. RFC 8305 §4.
[[nodiscard]] GYRE_API std::vector<address> interleave_families(const std::vector<address>& addresses);

/// Tries the addresses in turn until one is connected. Each attempt starts a little after the previous one, or as soon
/// as that has failed. The other attempts are cancelled and have ended when this returns.
///
/// Cancel: all attempts are abandoned. Errors: io_error of the first attempt when all fail; std::errc::invalid_argument
/// when there is no address.
[[nodiscard]] GYRE_API task<tcp_stream> connect_to_first(std::vector<address> addresses,
                                                         happy_eyeballs_options options = {});

}  // namespace gyre
