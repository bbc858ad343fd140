// programs/resp_server/reply_buffers.hpp: reply buffers that connections borrow.
#pragma once

#include "programs/resp_server/reply_buffer.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace resp {

/// Lends reply buffers for the time from reading a request to writing its reply. So idle connections hold none, and
/// busy ones share the buffer that is in the cache. Keeps at most 4 MiB.
class reply_buffers {
 public:
  reply_buffer take() {
    if (free_.empty()) return reply_buffer();
    reply_buffer buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give_back(reply_buffer&& buffer) {
    constexpr std::size_t most = 32;
    constexpr std::size_t largest = std::size_t{128} << 10U;
    buffer.clear(largest);
    if (free_.size() < most) free_.push_back(std::move(buffer));
  }

 private:
  std::vector<reply_buffer> free_;
};

}  // namespace resp
