// src/net/connection_shares.cpp: the counts, and the messages that carry connections.
#include <gyre/net/connection_shares.hpp>
#include <gyre/net/listener_state.hpp>

#include "reset_at_close.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gyre {

struct loop_share : io::completion {
  loop_share() noexcept = default;
  loop_share& operator=(loop_share&&) = delete;
  ~loop_share();
  void on_message() noexcept;
  void deliver() noexcept;
  void call_soon(std::unique_lock<std::mutex> locked) noexcept;

  connection_shares* shares = nullptr;
  event_loop* loop = nullptr;
  std::atomic<std::size_t> count{0};

  std::mutex lock;  // guards the next four
  std::vector<int> arrived;
  bool called = false;  // the message is on its way
  bool ended = false;
  bool closed = false;  // the serving task has ended

  listener_state* listener = nullptr;  // used only on the serving loop
  std::vector<int> delivered;          // used only on the serving loop: keeps its memory between messages
};

struct connection_shares::state {
  std::atomic<int> references{1};
  std::size_t size = 0;
  std::size_t limit = 0;
  std::unique_ptr<loop_share[]> shares;
  std::size_t next = 0;  // the share that wins a tie; used only on the accepting loop

  shared_lock lock;  // of the waiter
  shared_line waiting;
  std::atomic<bool> waits{false};
};

connection_shares& connection_shares::create(std::span<event_loop* const> loops, std::size_t limit) {
  auto made = std::make_unique<state>();
  made->size = loops.size();
  made->limit = limit;
  made->shares = std::make_unique<loop_share[]>(loops.size());
  auto* const shares = new connection_shares(made.get());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    loop_share& each = made->shares[i];
    each.shares = shares;
    each.loop = loops[i];
    each.complete = call_member<&loop_share::on_message>;
  }
  (void)made.release();
  return *shares;
}

connection_shares::~connection_shares() { delete state_; }

void connection_shares::add_reference() noexcept { state_->references.fetch_add(1, std::memory_order_relaxed); }
void connection_shares::drop_reference() noexcept {
  if (state_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

loop_share& connection_shares::operator[](std::size_t number) const noexcept { return state_->shares[number]; }
std::size_t connection_shares::count(std::size_t number) const noexcept { return state_->shares[number].count; }

// ---- the accepting loop

// Null when all have as many as they may.
loop_share* connection_shares::least_loaded() const noexcept {
  loop_share* best = nullptr;
  std::size_t min_count = state_->limit;
  for (std::size_t i = 0; i < state_->size; ++i) {
    loop_share& each = state_->shares[(state_->next + i) % state_->size];
    if (const std::size_t count = each.count; count < min_count) {
      min_count = count;
      best = &each;
    }
  }
  return best;
}

void connection_shares::give(owned_fd connection) noexcept {
  loop_share* chosen = least_loaded();
  if (chosen == nullptr) chosen = &state_->shares[state_->next];  // beyond the limit: the last ones of a drain
  state_->next = static_cast<std::size_t>(chosen - state_->shares.get() + 1) % state_->size;
  std::unique_lock locked(chosen->lock);
  if (chosen->closed) return reset_and_close(connection.release());
  try {
    chosen->arrived.push_back(connection.get());
  } catch (const std::bad_alloc&) {
    return reset_and_close(connection.release());
  }
  (void)connection.release();
  ++chosen->count;
  chosen->call_soon(std::move(locked));
}

void connection_shares::end() noexcept {
  for (std::size_t i = 0; i < state_->size; ++i) {
    loop_share& each = state_->shares[i];
    std::unique_lock locked(each.lock);
    if (std::exchange(each.ended, true) || each.closed) continue;
    each.call_soon(std::move(locked));
  }
}

void loop_share::call_soon(std::unique_lock<std::mutex> locked) noexcept {
  if (std::exchange(called, true)) return;
  shares->add_reference();
  locked.unlock();
  loop->post(static_cast<io::completion&>(*this));
}

bool share_room_op::attempt() noexcept {
  if (shares_->least_loaded() != nullptr) return true;
  shares_->state_->waits = true;
  // A release before this check did not see the waiter. One after it does.
  if (shares_->least_loaded() == nullptr) return false;
  shares_->state_->waits = false;
  return true;
}
shared_line& share_room_op::waits_in() noexcept { return shares_->state_->waiting; }
shared_lock& share_room_op::lock() noexcept { return shares_->state_->lock; }

// ---- the serving loops

// A server that is cancelled before a loop has begun to serve never begins there.
loop_share::~loop_share() {
  for (const int connection : arrived) reset_and_close(connection);
}

void release(loop_share& share) noexcept {
  --share.count;
  connection_shares::state& all = *share.shares->state_;
  if (!all.waits) return;
  const shared_lock_guard locked(all.lock);
  all.waits = false;
  while (!all.waiting.empty()) all.waiting.wake_first();
}

void loop_share::on_message() noexcept {
  {
    const std::scoped_lock locked(lock);
    called = false;
  }
  deliver();
  shares->drop_reference();
}

void loop_share::deliver() noexcept {
  if (listener == nullptr) return;
  bool last = false;
  {
    const std::scoped_lock locked(lock);
    delivered.swap(arrived);
    last = ended;
  }
  for (const int connection : delivered) listener->receive_given(connection);
  delivered.clear();
  if (last) listener->receive_end();
}

void connection_shares::attach(std::size_t number, listener_state& listener) noexcept {
  loop_share& share = state_->shares[number];
  share.listener = &listener;
  share.deliver();
}

void connection_shares::detach(std::size_t number) noexcept {
  loop_share& share = state_->shares[number];
  share.listener = nullptr;
  {
    const std::scoped_lock locked(share.lock);
    share.closed = true;
    share.delivered.swap(share.arrived);
  }
  for (const int connection : share.delivered) {
    reset_and_close(connection);
    release(share);
  }
  share.delivered.clear();
}

}  // namespace gyre
