// gyre/client/shared_retry_budget.hpp: bounds the retries of several clients together.
#pragma once

#include <gyre/attributes.hpp>

namespace gyre::http {

/// Clients that share one (retry_policy::budget), also on loops of several threads, bound their retries together: a
/// server that is down is not hit by one budget per loop.
///
///   http::shared_retry_budget budget;  // outlives the clients
///   http::client client({.retries = {.attempts = 3, .budget = &budget}});
///
/// Thread: any.
class GYRE_API shared_retry_budget {
 public:
  /// Holds 10 retries, and never more than 100.
  shared_retry_budget() noexcept = default;
  shared_retry_budget& operator=(shared_retry_budget&&) = delete;

  /// Counts a request, which adds `percent` of a retry.
  void add_request(unsigned percent) noexcept;
  /// Takes a retry. Returns false when none is left.
  [[nodiscard]] bool take() noexcept;

 private:
  int hundredths_ = 1000;  // of a retry; accessed atomically
};

}  // namespace gyre::http
