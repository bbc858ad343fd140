// gyre/sync/wait_queue.hpp: who waits for something, first come, first served. For authors of awaitables.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/loop/operation.hpp>

#include <cstddef>
#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

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

/// First-in, first-out queue of waiting operations. Intrusive: it owns and allocates nothing. See wait_queue_of.
///
/// Lifetime: must outlive the tasks that wait in it. Thread: belongs to one loop.
class GYRE_API wait_queue : public node_list<wait_node> {
 public:
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

 protected:
  wait_queue() noexcept = default;
  ~wait_queue() = default;
  [[noreturn]] static void stop_for_destroyed(const char* object) noexcept;
};

template <std::size_t Size>
struct object_name {
  char text[Size];
  // NOLINTNEXTLINE(google-explicit-constructor): wait_queue_of<"a mutex">
  consteval object_name(const char (&name)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) text[i] = name[i];
  }
};

/// The member of an object that tasks wait for: `wait_queue_of<"a mutex"> waiters_;`. When it is destroyed while a task
/// waits, it stops the program with a sentence that names the object.
template <object_name Object>
class wait_queue_of : public wait_queue {
 public:
  wait_queue_of() noexcept = default;
  ~wait_queue_of() {
    if (!empty()) [[unlikely]]
      stop_for_destroyed(Object.text);
  }
};

/// In a catch block: tells the loop's handler that an item was given back for which there was no memory.
GYRE_API void report_lost_item() noexcept;

/// Base of operations that wait in a queue until somebody grants them what they wait for.
///
/// Derived gives `bool try_now()`, `wait_queue& waits_in()`, `take_value()` when it has a value, and, when it can be
/// refused, `static std::error_code refusal()` and `[[noreturn]] static void refuse()`, which throws. Handing over
/// happens in the moment of granting, so that a cancel that comes later is too late and nothing granted is lost.
/// What others wait for as long as a task has it also gives `bool is_free()`: then a task whose budget is used up lets the
/// others run before it takes that, because with it in hand all of them would have to stand in line.
/// Where handing over is not possible (several tasks wait for one item, and none may keep it from the others), Derived says
/// `takes_when_resumed = true` and gives is_free(), too: a task that is granted something tries once more when it is
/// resumed, and waits on when another one was quicker.
/// Where a forgotten await would be noticed late, Derived has a public member `must_be_awaited called`.
/// Cancel: takes it out of the queue; nothing was granted.
template <class Derived, class T = void>
class queued_operation : public operation<Derived>, public wait_node {
  static constexpr bool is_held = requires(Derived& op) { op.is_free(); };
  static constexpr bool takes_late = requires { requires Derived::takes_when_resumed; };

 public:
  bool await_ready() noexcept(noexcept(std::declval<Derived&>().try_now())) {
    if constexpr (requires(Derived& op) { op.called.awaited(); }) self().called.awaited();
    if constexpr (is_held)
      return event_loop::current().may_continue_inline() && self().try_now();
    else
      return operation<Derived>::await_ready();
  }
  void start() noexcept {
    operation_base::cancel = [](cancellable& c) noexcept {
      auto& op = static_cast<queued_operation&>(static_cast<operation_base&>(c));
      if (op.tries_again_) {
        op.withdrawn_ = true;
        return;
      }
      if (op.stands_in == nullptr) return;  // granted: success beats cancel
      op.stands_in->remove(op);
      op.withdrawn_ = true;
      op.finish_soon();
    };
    if constexpr (is_held)
      if (self().is_free()) return try_again_soon();
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
    grant = [](wait_node& node) noexcept {
      auto& op = static_cast<queued_operation&>(node);
      if constexpr (takes_late)
        op.try_again_soon();
      else
        op.finish_soon();
    };
    self().waits_in().push_back(*this);
  }
  void try_again_soon() noexcept {
    static_assert(noexcept(self().try_now()), "it is called from the ready queue, where nobody can catch");
    io::completion::complete = [](io::completion& c) noexcept {
      auto& op = static_cast<queued_operation&>(c);
      op.tries_again_ = false;
      if (op.withdrawn_ || op.self().try_now())
        op.proceed(op);
      else
        op.stand_in_line();
    };
    tries_again_ = true;
    if constexpr (checks_everything)
      if (this->waiter != nullptr) check_woken_on_own_loop(*this->waiter->context);
    event_loop::current().schedule(*this);
  }

  bool withdrawn_ = false;
  bool tries_again_ = false;
};

}  // namespace gyre
