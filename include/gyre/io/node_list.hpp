// gyre/io/node_list.hpp: a doubly linked list of nodes embedded in their owners. For authors of operations.
#pragma once

namespace gyre {

/// First in, first out. Any node may also leave from the middle. Owns and allocates nothing. Node has members
/// `previous` and `next`, pointers to Node.
template <class Node>
class node_list {
 public:
  node_list() noexcept = default;
  node_list& operator=(node_list&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Node* first() const noexcept { return first_; }

  void link_last(Node& node) noexcept {
    node.previous = last_;
    node.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &node;
    last_ = &node;
  }
  void unlink(Node& node) noexcept {
    (node.previous == nullptr ? first_ : node.previous->next) = node.next;
    (node.next == nullptr ? last_ : node.next->previous) = node.previous;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace gyre
