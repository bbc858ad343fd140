// gyre/sync/wait_queue.hpp: who waits for something, first come, first served. For authors of awaitables.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/sync/node_list.hpp>

#include <expected>
#include <system_error>
#include <type_traits>

namespace gyre {

class wait_queue;

/// A place in a wait_queue. Lives in the operation that waits.
struct wait_node {
  wait_node* previous = nullptr;
  wait_node* next = nullptr;
  wait_queue* stands_in = nullptr;  ///< where it stands; null: nowhere (any more)
  bool refused = false;             ///< it goes on without what it waited for: closed, shut down, broken
  /// What it waits for is its own now: it goes on from the ready queue. Set by queued_operation.
  void (*grant)(wait_node&) noexcept = nullptr;
};

/// First-in, first-out queue of those who wait. Intrusive: it owns and allocates nothing.
///
/// Lifetime: must outlive who waits in it. Thread: belongs to one loop.
class GYRE_API wait_queue : public node_list<wait_node> {
 public:
  wait_queue() noexcept = default;
  ~wait_queue();

  void push_back(wait_node& node) noexcept {
    link_last(node);
    node.stands_in = this;
  }
  void remove(wait_node& node) noexcept {
    unlink(node);
    node.stands_in = nullptr;
  }

  /// Takes the first out and lets it go on. False: nobody waits.
  bool grant_one() noexcept;
  /// The same for all who wait now.
  void grant_all() noexcept;
  /// Takes all out and lets them go on with an error.
  void refuse_all() noexcept;
};

/// Base of operations that wait in a queue until somebody grants them what they wait for.
///
/// Derived gives `bool try_now()`, `wait_queue& waits_in()`, `take_value()` when it has a value, and, when it can be
/// refused, `static std::error_code refusal()` and `[[noreturn]] static void refuse()`, which throws. Handing over
/// happens in the moment of granting, so that a cancel that comes later is too late and nothing granted is lost.
/// What others wait for as long as a task has it also gives `bool is_free()`: then a task whose budget is used up lets the
/// others run before it takes that, because with it in hand all of them would have to stand in line.
/// Cancel: takes it out of the queue; nothing was granted.
template <class Derived, class T = void>
class queued_operation : public operation<Derived>, public wait_node {
  static constexpr bool is_held = requires(Derived& op) { op.is_free(); };

 public:
  bool await_ready() noexcept {
    if constexpr (is_held)
      return event_loop::current().may_continue_inline() && self().try_now();
    else
      return operation<Derived>::await_ready();
  }
  void start() noexcept {
    operation_base::cancel = [](cancellable& c) noexcept {
      auto& op = static_cast<queued_operation&>(static_cast<operation_base&>(c));
      if (op.lets_others_run_) {
        op.withdrawn_ = true;
        return;
      }
      if (op.stands_in == nullptr) return;  // granted: success beats cancel
      op.stands_in->remove(op);
      op.withdrawn_ = true;
      op.finish_soon();
    };
    if constexpr (is_held)
      if (self().is_free()) return let_others_run();
    stand_in_line();
  }

  std::expected<T, std::error_code> take_result() {
    if (withdrawn_) {
      if (this->scope_cancelled()) throw_cancelled();
      return std::unexpected(std::make_error_code(std::errc::operation_canceled));
    }
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
    grant = [](wait_node& node) noexcept { static_cast<queued_operation&>(node).finish_soon(); };
    self().waits_in().push_back(*this);
  }
  void let_others_run() noexcept {
    io::completion::complete = [](io::completion& c) noexcept {
      auto& op = static_cast<queued_operation&>(c);
      op.lets_others_run_ = false;
      if (op.withdrawn_ || op.self().try_now())
        op.proceed(op);
      else
        op.stand_in_line();
    };
    lets_others_run_ = true;
    event_loop::current().schedule(*this);
  }

  bool withdrawn_ = false;
  bool lets_others_run_ = false;
};

}  // namespace gyre
