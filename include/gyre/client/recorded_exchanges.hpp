// gyre/client/recorded_exchanges.hpp: real responses in a file, for tests without the servers.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_middleware.hpp>

#include <cstdint>
#include <string>

namespace gyre::http {

enum class recording : std::uint8_t {
  replay,   ///< only the file answers
  missing,  ///< what is not in the file is requested, and added
  renew,    ///< everything is requested; the file is replaced at the first request
};

/// Answers requests from a file of earlier exchanges. A request gets the response to the same method, URL and body.
/// When there are several, each answers once, in order, and the last one also all that follow.
///
/// Fields of requests are not written, so no credentials get into the file; those of responses are, except Set-Cookie.
/// Bodies are kept whole and decompressed.
/// Errors of the requests: std::runtime_error, when the file has no response, or is none of these files;
/// std::logic_error for a body that is made while it is sent; io_error of the file.
/// Thread: for the clients of one loop.
[[nodiscard]] GYRE_API client_middleware recorded_exchanges(std::string file, recording mode = recording::replay);

}  // namespace gyre::http
