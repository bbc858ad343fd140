// gyre/sync/source_link.hpp: tells a subscription that its source was destroyed. For authors of operations.
#pragma once

#include <gyre/io/node_list.hpp>
#include <gyre/loop/owner_loop.hpp>

namespace gyre {

class source_links;

/// Member of a subscription. Copies are linked to the same source.
///
/// Thread: that of the source.
class source_link {
 public:
  explicit source_link(source_links& source) noexcept { link(&source); }
  source_link(const source_link& other) noexcept { link(other.source_); }
  source_link& operator=(const source_link& other) noexcept {
    if (this == &other || source_ == other.source_) return *this;
    unlink();
    link(other.source_);
    return *this;
  }
  ~source_link() { unlink(); }

  /// True when the source was destroyed.
  [[nodiscard]] bool is_gone() const noexcept { return source_ == nullptr; }

 private:
  friend class source_links;
  friend class node_list<source_link>;
  void link(source_links* source) noexcept;
  void unlink() noexcept;

  source_link* previous = nullptr;
  source_link* next = nullptr;
  source_links* source_ = nullptr;
};

/// Member of a source. Lists all subscriptions that are linked to it.
class source_links : private node_list<source_link> {
 public:
  source_links() noexcept = default;
  ~source_links() {
    for (source_link* each = first(); each != nullptr; each = each->next) each->source_ = nullptr;
  }

  owner_loop owner;  ///< of the source and its subscriptions

 private:
  friend class source_link;
};

inline void source_link::link(source_links* source) noexcept {
  source_ = source;
  if (source == nullptr) return;
  source->owner.check("subscribe", "a watch or broadcast");
  source->link_last(*this);
}
inline void source_link::unlink() noexcept {
  if (source_ == nullptr) return;
  source_->owner.check("destructor", "a watcher or subscription");
  source_->unlink(*this);
}

}  // namespace gyre
