// programs/resp_server/client_memory.cpp: the memory of all clients' requests and replies, and the largest clients.
#include "programs/resp_server/client_memory.hpp"

namespace resp {

client_account::~client_account() {
  if (evicted_)
    memory_.leaving_ -= bytes_;
  else if (bytes_ >= client_memory::large)
    memory_.large_.erase({bytes_, this});
  memory_.used_ -= bytes_;
  memory_.figures_.client_bytes = memory_.used_;
}

void client_account::set(std::size_t bytes) {
  if (bytes == bytes_) return;
  if (evicted_) {
    memory_.leaving_ += bytes - bytes_;
  } else {
    if (bytes >= client_memory::large) memory_.large_.emplace(bytes, this);
    if (bytes_ >= client_memory::large) memory_.large_.erase({bytes_, this});
  }
  memory_.used_ += bytes - bytes_;
  memory_.figures_.client_bytes = memory_.used_;
  bytes_ = bytes;
}

void client_memory::evict(client_account& one) noexcept {
  large_.erase({one.bytes_, &one});
  one.evicted_ = true;
  leaving_ += one.bytes_;
  figures_.evicted_clients += 1;
  one.end_(one);
}

bool client_memory::make_room(const client_account& asking, std::size_t bytes) noexcept {
  const std::size_t wanted = used_ - asking.bytes_ + bytes;
  if (bytes > limit_ || wanted > 2 * limit_) return false;
  while (wanted - leaving_ > limit_) {
    auto largest = large_.rbegin();
    if (largest != large_.rend() && largest->second == &asking) ++largest;
    if (largest == large_.rend() || largest->first < bytes) return false;
    evict(*largest->second);
  }
  return true;
}

void client_memory::keep_limit() noexcept {
  while (used_ - leaving_ > limit_ && !large_.empty()) evict(*large_.rbegin()->second);
}

}  // namespace resp
