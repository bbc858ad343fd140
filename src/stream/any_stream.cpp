// src/stream/any_stream.cpp: the placeholder that an empty any_stream refers to.
#include <gyre/coro/misuse.hpp>
#include <gyre/stream/any_stream.hpp>

namespace gyre {

constexpr const char* name_of_any = "an any_stream";

struct [[gnu::visibility("hidden")]] any_stream::no_stream final : interface {
  [[noreturn]] GYRE_CORO_WRAPPER task<std::size_t> read_some(std::span<std::byte> /*buffer*/) override {
    misuse_of_closed("read_some", name_of_any);
  }
  [[noreturn]] GYRE_CORO_WRAPPER task<> write_all(std::span<const std::byte> /*bytes*/) override {
    misuse_of_closed("write_all", name_of_any);
  }
  [[noreturn]] GYRE_CORO_WRAPPER task<> shutdown_write() override { misuse_of_closed("shutdown_write", name_of_any); }
  [[noreturn]] GYRE_CORO_WRAPPER task<bool> next_or_stop() override { misuse_of_closed("next_or_stop", name_of_any); }
  [[nodiscard]] bool has_ended() const noexcept override { return false; }
  void abort() noexcept override {}

  // Never destroyed: streams with static storage refer to it, too.
  union forever;
};

union any_stream::no_stream::forever {
  constexpr forever() noexcept : instance() {}
  forever& operator=(forever&&) = delete;
  ~forever() {}  // NOLINT(modernize-use-equals-default): that one would be deleted
  no_stream instance;

  static forever only;
};

constinit any_stream::no_stream::forever any_stream::no_stream::forever::only;
constinit any_stream::interface& any_stream::none = any_stream::no_stream::forever::only.instance;

}  // namespace gyre
