// programs/gyre/fetch/fetch_failure.hpp: failures of a fetch, with the exit codes of curl.
#pragma once

#include <exception>
#include <stdexcept>

namespace programs {

/// The response has a status of 400 or more.
class status_failure : public std::runtime_error {
 public:
  explicit status_failure(int status);
};

/// The response to a request for the rest of a file is neither this rest nor the whole.
class range_failure : public std::runtime_error {
 public:
  explicit range_failure(int status);
};

/// A part of a file has another number of bytes than it announces.
class length_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file or standard output cannot be written.
class output_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// 6: the name does not resolve; 7: no connection; 18: the body was cut off, or has another length; 22: a status of
/// 400 or more; 23: the output cannot be written; 28: a time-out; 33: no rest of a file; 35: TLS; 47: too many
/// redirects; 52: no response; 56: the connection failed; 60: the certificate is not accepted; 61: a coding of the
/// body; 8: a malformed response; 1: anything else.
[[nodiscard]] int exit_code_of(const std::exception& failure) noexcept;

/// True for failures that another attempt may not have.
[[nodiscard]] bool may_pass(const std::exception& failure) noexcept;

}  // namespace programs
