// src/tasks/via.cpp: who runs the work that an executor was given, and who frees it.
#include <gyre/tasks/via.hpp>

#include <atomic>

namespace gyre {

const char* work_dropped::what() const noexcept {
  return "the executor has destroyed the work of via() without running it: has it been shut down?";
}

// Shared by the waiting call and the copies of its work, and freed by the last of them. `phase` decides who ends it.
struct handed_call::ticket {
  enum : int { waiting, begun, withdrawn };

  handed_call* call;
  void (*run)(handed_call&) noexcept;
  io::completion* message;
  event_loop* home;
  std::atomic<int> phase = waiting;
  std::atomic<int> copies = 1;      // of the work; together they hold one reference
  std::atomic<int> references = 2;  // the waiting call holds the other one

  /// Returns true for one caller only.
  bool leave_waiting(int to) noexcept {
    int expected = waiting;
    return phase.compare_exchange_strong(expected, to, std::memory_order_acq_rel);
  }
  void release() noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

handed_call::~handed_call() {
  if (ticket_ != nullptr)
    misuse("a coroutine was destroyed while an executor still has its function; cancel and await it first");
}

handed_work handed_call::hand_over(io::completion& message, void (*run)(handed_call&) noexcept) {
  ticket_ = new ticket{.call = this, .run = run, .message = &message, .home = &event_loop::current()};
  ticket_->home->expect_post();
  return handed_work(*ticket_);
}

bool handed_call::withdraw() noexcept {
  if (ticket_ == nullptr || !ticket_->leave_waiting(ticket::withdrawn)) return false;
  arrived();
  return true;
}

void handed_call::arrived() noexcept {
  ticket_->home->expected_post_arrived();
  std::exchange(ticket_, nullptr)->release();
}

void handed_call::expect_kept() const {
  if (dropped_) throw work_dropped();
}

handed_work::handed_work(const handed_work& other) noexcept : ticket_(other.ticket_) {
  if (ticket_ != nullptr) ticket_->copies.fetch_add(1, std::memory_order_relaxed);
}

handed_work::~handed_work() {
  if (ticket_ == nullptr || ticket_->copies.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (ticket_->leave_waiting(handed_call::ticket::begun)) {
    ticket_->call->dropped_ = true;
    ticket_->home->post(*ticket_->message);
  }
  ticket_->release();
}

void handed_work::operator()() const noexcept {
  if (ticket_ == nullptr || !ticket_->leave_waiting(handed_call::ticket::begun)) return;
  ticket_->run(*ticket_->call);
  ticket_->home->post(*ticket_->message);
}

}  // namespace gyre
