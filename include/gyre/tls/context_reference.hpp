// gyre/tls/context_reference.hpp: shares the settings of a server or of clients.
#pragma once

#include <gyre/attributes.hpp>

#include <utility>

namespace gyre::tls {

class context;

/// A counted reference to settings that do not change any more. Thread: any, also at the same time.
class GYRE_API context_reference {
 public:
  /// Takes over one reference.
  explicit context_reference(const context& counted) noexcept : context_(&counted) {}
  context_reference(const context_reference& other) noexcept;
  context_reference(context_reference&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  context_reference& operator=(context_reference other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~context_reference();

  [[nodiscard]] const context& operator*() const noexcept { return *context_; }
  [[nodiscard]] const context* operator->() const noexcept { return context_; }

 private:
  const context* context_;
};

}  // namespace gyre::tls
