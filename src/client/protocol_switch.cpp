// src/client/protocol_switch.cpp: the switch from HTTP to another protocol. RFC 9110 §7.8.
#include <gyre/stream/any_stream.hpp>

#include "client_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

/// Begins with the bytes that have arrived after the head.
class switched_stream {
 public:
  switched_stream(connection_owner connection, std::string early) noexcept
      : connection_(std::move(connection)), early_(std::move(early)) {}

  task<std::size_t> read_some(std::span<std::byte> buffer) {
    if (used_ < early_.size()) {
      const std::size_t count = std::min(buffer.size(), early_.size() - used_);
      if (count > 0) std::memcpy(buffer.data(), early_.data() + used_, count);
      used_ += count;
      co_return count;
    }
    co_return co_await connection_->read_some(buffer);
  }
  GYRE_CORO_WRAPPER task<> write_all(std::span<const std::byte> bytes) { return connection_->write_all(bytes); }
  GYRE_CORO_WRAPPER task<> shutdown_write() { return connection_->shutdown_write(); }
  void abort() noexcept { connection_->abort(); }

 private:
  connection_owner connection_;
  std::string early_;
  std::size_t used_ = 0;
};

bool contains(std::string_view list, std::string_view protocol) noexcept {
  for (auto each = next_in_list(list); !each.empty(); each = next_in_list(list))
    if (equal_ignoring_case(each, protocol)) return true;
  return false;
}

}  // namespace

// A server that switches to something else speaks a protocol that this program does not know.
void client_exchange::check_switch() {
  std::string_view chosen = input_.framing().upgrade;
  bool good = sent_ && !chosen.empty() && !input_.framing().several_upgrades;
  for (auto each = next_in_list(chosen); !each.empty(); each = next_in_list(chosen))
    good = good && contains(request.upgrade, each);
  if (!good) fail(client_errc::unexpected_switch, input_.framing().upgrade);
}

any_stream client_exchange::take_stream() {
  if (!conn_) return {};
  any_stream stream(switched_stream(std::move(conn_), input_.take_rest()));
  give_up_connection();
  return stream;
}

}  // namespace gyre::http
