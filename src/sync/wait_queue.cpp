// src/sync/wait_queue.cpp: standing in line.
#include <gyre/sync/wait_queue.hpp>

namespace gyre {

wait_queue::~wait_queue() {
  if (first_ != nullptr) misuse("a mutex, queue or the like was destroyed while a task waits for it");
}

void wait_queue::push_back(wait_node& node) noexcept {
  node.previous = last_;
  node.next = nullptr;
  node.stands_in = this;
  (last_ == nullptr ? first_ : last_->next) = &node;
  last_ = &node;
}

void wait_queue::remove(wait_node& node) noexcept {
  (node.previous == nullptr ? first_ : node.previous->next) = node.next;
  (node.next == nullptr ? last_ : node.next->previous) = node.previous;
  node.stands_in = nullptr;
}

bool wait_queue::grant_one() noexcept {
  if (first_ == nullptr) return false;
  wait_node& node = *first_;
  remove(node);
  node.grant(node);
  return true;
}

void wait_queue::refuse_all() noexcept {
  while (first_ != nullptr) {
    first_->refused = true;
    grant_one();
  }
}

void wait_queue::grant_all() noexcept {
  while (grant_one()) {
  }
}

}  // namespace gyre
