// gyre/net/happy_eyeballs.hpp: connecting to whichever address of a host answers first. RFC 8305.
#pragma once

#include <gyre/net/tcp_stream.hpp>

#include <chrono>
#include <vector>

namespace gyre {

struct happy_eyeballs_options {
  /// How long an attempt has for itself before the next one starts beside it. RFC 8305 §5.
  std::chrono::nanoseconds attempt_delay = std::chrono::milliseconds(250);
  /// Of each attempt. An address of another family than the local one fails.
  connect_options connecting = {};
};

/// The order in which to try: families take turns, beginning with that of the first address. RFC 8305 §4.
[[nodiscard]] GYRE_API std::vector<address> interleave_families(const std::vector<address>& addresses);

/// Tries the addresses in turn, each a little after the one before or as soon as that has failed, until one is connected;
/// the other attempts are cancelled and have ended when this returns.
///
/// Cancel: all attempts are given up. Errors: io_error of the first attempt when all fail; std::errc::invalid_argument
/// when there is no address.
[[nodiscard]] GYRE_API task<tcp_stream> connect_to_first(std::vector<address> addresses,
                                                         happy_eyeballs_options options = {});

}  // namespace gyre
