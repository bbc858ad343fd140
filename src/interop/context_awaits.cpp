// src/interop/context_awaits.cpp: stops a program whose tasks outlive the context of the objects that they use.
#include <gyre/interop/context_awaits.hpp>

#include <gyre/coro/misuse.hpp>

#include <cstdio>
#include <utility>

namespace gyre {

namespace {

[[noreturn]] void stop(const char* object, std::string_view operation, const operation_base& awaited) noexcept {
  char place[256] = "";  // empty for a part of a combination, such as timeout(t, operation)
  if (awaited.waiter != nullptr) {
    const std::source_location& where = awaited.waiter->where;
    std::snprintf(place, sizeof(place), " at %s:%u", where.file_name(), static_cast<unsigned>(where.line()));
  }
  misuse(
      "%s was destroyed while a task awaits %.*s%s on one of its objects: tasks that use a context must end before it; "
      "spawn them in an async_scope instead of detaching them, and cancel() and join() the scope first",
      object, static_cast<int>(operation.size()), operation.data(), place);
}

}  // namespace

void context_await::remove() noexcept {
  if (ended_ != nullptr) stop(ended_, operation_, *awaited_);
  context_awaits* const among = std::exchange(among_, nullptr);
  if (among == nullptr) return;
  const std::lock_guard lock(among->mutex_);
  (previous_ != nullptr ? previous_->next_ : among->first_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void context_awaits::add(context_await& each, const operation_base& awaited, std::string_view operation) noexcept {
  each.among_ = this;
  each.awaited_ = &awaited;
  each.operation_ = operation;
  const std::lock_guard lock(mutex_);
  each.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &each;
  first_ = &each;
}

void context_awaits::expect_none(const char* object) noexcept {
  const std::lock_guard lock(mutex_);
  if (first_ != nullptr) stop(object, first_->operation_, *first_->awaited_);
}

void context_awaits::context_ends(const char* object) noexcept {
  const std::lock_guard lock(mutex_);
  for (context_await* each = first_; each != nullptr; each = each->next_) each->ended_ = object;
}

}  // namespace gyre
