// src/loop/loop_group.cpp: loops that end together.
#include <gyre/coro/misuse.hpp>
#include <gyre/loop/loop_group.hpp>

#include "mailbox.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <stdexcept>

namespace gyre {

struct loop_group::member : io::completion {
  event_loop* loop = nullptr;
  bool told = false;   // request_end() has arrived; used only on the loop's thread
  bool quiet = false;  // has nothing left to do in the current stage, and does nothing until that is withdrawn
};

struct [[gnu::visibility("hidden")]] loop_group::state {
  std::mutex lock;  // guards everything except reads of `size`, and of loops below it
  std::array<member, max_loops> members;
  std::atomic<std::size_t> size{0};
  std::atomic<bool> ending{false};
  int stages_over = 0;

  void end_stage_if_all_are_quiet(const event_loop& asking) noexcept;
};

namespace {

constexpr int number_of(auto stage) noexcept { return static_cast<int>(stage) + 1; }

}  // namespace

loop_group::loop_group(void (*grow)(void* argument, std::size_t size), void* argument)
    : grow_(grow), argument_(argument), state_(new state) {}
loop_group::~loop_group() { delete state_; }

std::size_t loop_group::size() const noexcept { return state_->size.load(std::memory_order_acquire); }
event_loop& loop_group::operator[](std::size_t index) const noexcept {
  if (index >= size())
    misuse("loop %zu of a runtime was requested, which has %zu loops; the first one has the index 0", index, size());
  return *state_->members[index].loop;
}
bool loop_group::is_ending() const noexcept { return state_->ending; }

void loop_group::add(event_loop& loop) {
  const std::scoped_lock lock(state_->lock);
  const std::size_t index = state_->size.load(std::memory_order_relaxed);
  if (state_->ending) throw std::logic_error("runtime: a loop was added while the runtime ends");
  if (index == max_loops) throw std::length_error("runtime: more than 1,024 loops");
  member& added = state_->members[index];
  added.loop = &loop;
  added.complete = [](io::completion& item) noexcept { static_cast<member&>(item).told = true; };
  loop.group_ = this;
  loop.index_ = index;
  state_->size.store(index + 1, std::memory_order_release);
}

void loop_group::grow(std::size_t size) { grow_(argument_, size); }

void loop_group::serve(event_loop& loop) { loop.run_until(state_->members[loop.index()].told); }

void loop_group::request_end() noexcept {
  const std::scoped_lock lock(state_->lock);
  if (state_->ending.exchange(true)) return;
  for (std::size_t i = 0; i < size(); ++i)
    state_->members[i].loop->post(static_cast<io::completion&>(state_->members[i]));
}

// A quiet loop runs nothing before it has withdrawn that, under the lock. So when all are quiet and no inbox has an
// item, no code runs that could send one.
void loop_group::state::end_stage_if_all_are_quiet(const event_loop& asking) noexcept {
  const std::size_t count = size.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i)
    if (!members[i].quiet || !members[i].loop->mailbox_->posted.empty()) return;
  ++stages_over;
  for (std::size_t i = 0; i < count; ++i) {
    members[i].quiet = false;
    if (members[i].loop != &asking) members[i].loop->backend_->wake();
  }
}

bool loop_group::is_over(const event_loop& loop, event_loop::end_stage stage) noexcept {
  const std::scoped_lock lock(state_->lock);
  if (state_->stages_over < number_of(stage)) {
    state_->members[loop.index()].quiet = true;
    state_->end_stage_if_all_are_quiet(loop);
  }
  return state_->stages_over >= number_of(stage);
}

bool loop_group::wait_for_others(event_loop& loop, event_loop::end_stage stage) noexcept {
  // A program that has been told to stop limits how long this may take.
  loop.wait_until(loop.virtual_ ? io::wait_forever : loop.timers().next_deadline());
  const std::scoped_lock lock(state_->lock);
  state_->members[loop.index()].quiet = false;
  return state_->stages_over >= number_of(stage);
}

}  // namespace gyre
