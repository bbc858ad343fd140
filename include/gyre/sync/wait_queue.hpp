// gyre/sync/wait_queue.hpp: the waiting tasks of an object, in the order of arrival. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/owner_loop.hpp>

#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

class wait_queue;

/// A place in a wait_queue. Lives in the waiting operation.
struct wait_node {
  wait_node* previous = nullptr;
  wait_node* next = nullptr;
  wait_queue* stands_in = nullptr;  ///< the queue that contains it; null when it is in no queue (any more)
  bool refused = false;             ///< it continues without a result: closed, shut down, broken
  /// Called when the wait is granted: the operation continues from the ready queue. Set by queued_operation.
  void (*grant)(wait_node&) noexcept = nullptr;
};

/// First-in, first-out queue of waiting operations. Intrusive: it owns and allocates nothing. See wait_queue_of.
///
/// Lifetime: must outlive the tasks that wait in it. Thread: belongs to one loop.
class GYRE_API wait_queue : private node_list<wait_node> {
 public:
  using node_list::empty;
  using node_list::first;
  void push_back(wait_node& node) noexcept {
    link_last(node);
    node.stands_in = this;
  }
  void remove(wait_node& node) noexcept {
    unlink(node);
    node.stands_in = nullptr;
  }

  /// Removes and wakes a waiter of this queue.
  void grant(wait_node& node) noexcept {
    remove(node);
    node.grant(node);
  }
  /// Removes and wakes the first waiter. Returns false when no task waits.
  bool grant_one() noexcept;
  /// The same for all current waiters.
  void grant_all() noexcept;
  /// Removes all waiters and wakes them with an error.
  void refuse_all() noexcept;

 protected:
  wait_queue() noexcept = default;
  ~wait_queue() = default;
  [[noreturn]] static void stop_for_destroyed(const char* object) noexcept;
};

/// The member of an object for which tasks wait: `wait_queue_of<"a mutex"> waiters_;`. If it is destroyed while a task
/// waits, it stops the program with a message that names the object.
template <object_name Object>
class wait_queue_of : public wait_queue {
 public:
  wait_queue_of() noexcept = default;
  ~wait_queue_of() {
    if (!empty()) [[unlikely]]
      stop_for_destroyed(Object.text);
  }
};

/// Call it in a catch block: reports to the loop's handler that an item that was given back could not be stored for
/// lack of memory.
GYRE_API void report_lost_item() noexcept;

/// Base of operations that wait in a queue until another task grants the wait.
///
/// Derived provides `bool try_now()`, `wait_queue& waits_in()`, and `take_value()` when it has a value. If it can be
/// refused, it also provides `static std::error_code refusal()` and `[[noreturn]] static void refuse()`, which throws.
/// The value is handed over at the moment of granting, so a later cancel comes too late and nothing granted is lost.
/// Resources held across awaits (mutexes, permits) also provide `bool is_free()`: a task that has used up its budget
/// yields before it takes one. Otherwise it would hold the resource while all others queue for it.
/// Derived sets `takes_when_resumed = true` and provides is_free() when the value cannot be handed over because several
/// tasks wait for one item and none may keep it from the others. A granted task then tries once more when it resumes,
/// and keeps waiting when another one was faster.
/// Where a forgotten await would be noticed late, Derived has a public member `must_be_awaited called`.
/// Cancel: removes the operation from the queue; nothing was granted.
template <class Derived, class T = void>
class queued_operation : public operation<Derived>, public wait_node {
  static constexpr bool is_held = requires(Derived& op) { op.is_free(); };
  static constexpr bool takes_late = requires { requires Derived::takes_when_resumed; };

 public:
  bool await_ready() noexcept(noexcept(std::declval<Derived&>().try_now())) {
    if constexpr (requires(Derived& op) { op.called.awaited(); }) self().called.awaited();
    if constexpr (is_held)
      return event_loop::may_continue_inline() && self().try_now();
    else
      return operation<Derived>::await_ready();
  }
  void start() noexcept {
    if constexpr (is_held)
      if (self().is_free()) return try_again_soon();
    stand_in_line();
  }
  void on_cancel() noexcept {
    if (tries_again_) {
      withdrawn_ = true;
      return;
    }
    if (stands_in == nullptr) return;  // granted: success wins over cancel
    stands_in->remove(*this);
    withdrawn_ = true;
    this->finish_soon();
  }

  std::expected<T, std::error_code> take_result() {
    if (withdrawn_) return std::unexpected(this->cancel_error());
    if constexpr (requires { Derived::refusal(); })
      if (this->refused) return std::unexpected(Derived::refusal());
    if constexpr (std::is_void_v<T>)
      return {};
    else
      return self().take_value();
  }
  T await_resume() {
    if (withdrawn_) [[unlikely]]
      throw_cancelled();
    if constexpr (requires { Derived::refuse(); })
      if (this->refused) [[unlikely]]
        Derived::refuse();
    if constexpr (!std::is_void_v<T>) return self().take_value();
  }
  [[noreturn]] void fail(std::error_code reason) const {
    if constexpr (requires { Derived::refuse(); })
      if (this->refused) Derived::refuse();
    throw std::system_error(reason, "waiting");
  }
  [[nodiscard]] bool fully_succeeded() const noexcept { return !withdrawn_ && !this->refused; }

 protected:
  [[nodiscard]] bool withdrawn() const noexcept { return withdrawn_; }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  void stand_in_line() noexcept {
    grant = call_member<&queued_operation::on_grant>;
    self().waits_in().push_back(*this);
  }

  void on_grant() noexcept {
    if constexpr (takes_late)
      try_again_soon();
    else
      this->finish_soon();
  }
  [[gnu::noinline]] void try_again_soon() noexcept {  // rare: not in line, so that await_suspend is
    static_assert(noexcept(self().try_now()), "it is called from the ready queue, where nobody can catch");
    io::completion::complete = call_member<&queued_operation::try_again>;
    tries_again_ = true;
    if constexpr (checks_everything)
      if (this->waiter != nullptr) check_woken_on_own_loop(*this->waiter->context);
    event_loop::schedule_here(*this);
  }

  void try_again() noexcept {
    tries_again_ = false;
    if (withdrawn_ || self().try_now())
      this->proceed(*this);
    else
      stand_in_line();
  }

  bool withdrawn_ = false;
  bool tries_again_ = false;
};

}  // namespace gyre
