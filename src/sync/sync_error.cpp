// src/sync/sync_error.cpp: the messages of the errors.
#include <gyre/sync/sync_error.hpp>

#include <string>

namespace gyre {
namespace {

class sync_category final : public std::error_category {
  [[nodiscard]] const char* name() const noexcept override { return "gyre.sync"; }
  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<sync_errc>(code)) {
      case sync_errc::shut_down:
        return "the queue is shut down";
      case sync_errc::closed:
        return "the channel is closed";
      case sync_errc::broken:
        return "the barrier is broken";
      case sync_errc::sender_dropped:
        return "the value will not come: who had to give it is gone";
    }
    return "unknown";
  }
};

}  // namespace

std::error_code make_error_code(sync_errc reason) noexcept {
  static const sync_category category;
  return {static_cast<int>(reason), category};
}

sync_error::sync_error(sync_errc reason) : std::system_error(make_error_code(reason)) {}
sync_error::~sync_error() = default;
queue_shut_down::queue_shut_down() : sync_error(sync_errc::shut_down) {}
queue_shut_down::~queue_shut_down() = default;
channel_closed::channel_closed() : sync_error(sync_errc::closed) {}
channel_closed::~channel_closed() = default;
broken_barrier::broken_barrier() : sync_error(sync_errc::broken) {}
broken_barrier::~broken_barrier() = default;
sender_dropped::sender_dropped() : sync_error(sync_errc::sender_dropped) {}
sender_dropped::~sender_dropped() = default;

}  // namespace gyre
