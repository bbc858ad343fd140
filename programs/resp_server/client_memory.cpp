// programs/resp_server/client_memory.cpp: the memory of all clients' requests and replies, and the largest clients.
#include "programs/resp_server/client_memory.hpp"

namespace resp {

client_account::~client_account() {
  memory_.used_ -= bytes_;
  if (evicted_)
    memory_.leaving_ -= bytes_;
  else if (link_ != nullptr)
    client_memory::remove(*this);
}

void client_account::set(std::size_t bytes) noexcept {
  if (bytes == bytes_) return;
  memory_.used_ += bytes - bytes_;
  if (evicted_) {
    memory_.leaving_ += bytes - bytes_;
  } else if (link_ == nullptr || client_memory::bucket_of(bytes) != client_memory::bucket_of(bytes_)) {
    if (link_ != nullptr) client_memory::remove(*this);
    bytes_ = bytes;
    if (bytes != 0) memory_.insert(*this);
  }
  bytes_ = bytes;
}

void client_memory::insert(client_account& one) noexcept {
  client_account*& first = buckets_[bucket_of(one.bytes_)];
  one.next_ = first;
  one.link_ = &first;
  if (first != nullptr) first->link_ = &one.next_;
  first = &one;
}

void client_memory::remove(client_account& one) noexcept {
  *one.link_ = one.next_;
  if (one.next_ != nullptr) one.next_->link_ = one.link_;
  one.link_ = nullptr;
}

void client_memory::evict(client_account& one) noexcept {
  remove(one);
  one.evicted_ = true;
  leaving_ += one.bytes_;
  ++evicted_;
  one.end_(one);
}

client_account* client_memory::largest(const client_account* spared) const noexcept {
  for (std::size_t i = buckets_.size(); i-- > 0;) {
    client_account* const first = buckets_[i];
    if (first == nullptr) continue;
    if (first != spared) return first;
    if (first->next_ != nullptr) return first->next_;
  }
  return nullptr;
}

bool client_memory::make_room(const client_account& asking, std::size_t bytes) noexcept {
  if (bytes > limit_) return false;
  while (used_ - leaving_ - asking.bytes_ + bytes > limit_) {
    client_account* const most = largest(&asking);
    if (most == nullptr || most->bytes_ < bytes) return false;
    evict(*most);
  }
  return true;
}

void client_memory::keep_limit() noexcept {
  while (over_limit()) {
    client_account* const most = largest(nullptr);
    if (most == nullptr) return;
    evict(*most);
  }
}

}  // namespace resp
