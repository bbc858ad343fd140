// gyre/loop/event_loop.hpp: runs the ready tasks, the timers and the I/O of one thread.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/io/backend_choice.hpp>
#include <gyre/loop/call_member.hpp>
#include <gyre/loop/guest_loop.hpp>
#include <gyre/loop/stop_observer.hpp>
#include <gyre/loop/timer_wheel.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>

namespace gyre {

class loop_group;
class loop_values;

struct loop_options {
  io::backend_options backend = {};

  /// Uses a virtual clock: when no task is ready and no I/O is in progress, it jumps to the next timer. Tests of
  /// time-outs then take no time and do not depend on the speed of the machine.
  /// When only another thread can wake a task, and none does for 5 s of wall time, the program ends with a list of the
  /// tasks. Each loop has a clock of its own: with several loops, times on different loops cannot be compared.
  bool virtual_time = false;

  /// The number of ready tasks that run before the loop checks the kernel and the clock again. With 1, every resumption
  /// is a turn of its own (testing::cancel_at_every_await). At least 1.
  int ready_per_turn = 128;

  /// How long an idle loop polls the kernel before it sleeps; 50 µs is a good first value. A wake-up costs tens of
  /// microseconds, especially in a virtual machine, and the waking thread pays part of them. Polling costs processor
  /// time: use it on a dedicated core, not in a container with a quota. A loop on virtual time, or with a guest, does
  /// not poll.
  std::chrono::nanoseconds busy_poll{0};
};

/// An exception of a task for which nobody waits, or of other code without a caller that could receive it.
struct background_failure {
  std::exception_ptr exception;
  std::string_view task_name;
  std::source_location spawned_at;           ///< line 0: not known
  std::string_view kind = "task";            ///< the kind of code that failed: "request"
  std::string_view place_is = "spawned at";  ///< the label of `spawned_at`: "handled at"
};

/// Runs the tasks of one thread: resumes the ready tasks, fires timers, performs I/O.
///
/// Thread: belongs to the thread that made it, except functions that say "Thread: any". One loop per thread.
/// In a forked child, using the parent's loop stops the program with a message. The child may destroy that loop and may
/// have a loop of its own.
class GYRE_API event_loop {
 public:
  /// Errors: std::system_error when the requested backend is not available; std::invalid_argument when an option is out
  /// of range; std::logic_error when this thread already has a loop.
  explicit event_loop(const loop_options& options = {});
  /// Calls `shutdown` if that was not done.
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// The loop of this thread. Stops the program when the thread has none.
  [[nodiscard]] static event_loop& current() noexcept {
    if (current_ == nullptr) [[unlikely]]
      stop_without_loop();
    return *current_;
  }
  [[nodiscard]] static event_loop* current_or_null() noexcept { return current_; }
  /// True in a forked child of the process that made the loop; the loop does not run there. Thread: any.
  [[nodiscard]] bool is_of_parent() const noexcept { return made_in_ != forks_; }
  /// True in a forked child whose thread had a loop in the parent. Objects of that loop may be destroyed on this one.
  [[nodiscard]] bool takes_objects_of_parent() const noexcept { return is_of_parent() || replaced_ != nullptr; }
  /// A number, from 1, that no other loop of the process has had.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// True until the loop with this number has shut down. In a forked child no loop of the parent exists. Thread: any.
  [[nodiscard]] static bool exists(std::uint32_t number) noexcept;

  /// Runs turns until `done` becomes true.
  void run_until(const bool& done);
  /// Runs one turn: fires the due timers, checks the kernel for completions, and runs the tasks that are ready then.
  /// The check blocks when `may_wait` is true and no task is ready.
  void turn(bool may_wait);

  /// Cancels every task and waits until all have ended and no I/O is in flight. Stops the program when a stream, a
  /// listener or a datagram socket outlives all tasks and still receives, because nothing would end that.
  /// In a runtime, the other loops are asked to end too, and this returns when nothing is left to do on any of them.
  /// Must not be called in a task of this loop, which stops the program.
  void shutdown() noexcept;

  /// The loops that run and end together with this one, in order. Null for a loop outside of a runtime.
  [[nodiscard]] loop_group* group() const noexcept { return group_; }
  /// The position of this loop in its runtime, from 0. Thread: any.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  /// Appends to the ready queue: `complete` is called in this turn or the next, never inside this call.
  void schedule(io::completion& item) noexcept {
    check_thread("schedule");
    ready_.push_back(item);
  }
  /// The same on the loop of this thread. Stops the program when the thread has none.
  static void schedule_here(io::completion& item) noexcept {
    event_loop* const loop = current_;
    if (loop == nullptr) [[unlikely]]
      return stop_scheduling();  // a tail call: what wakes tasks needs no stack frame
    loop->schedule(item);
  }

  /// The current time of this loop. Units: nanoseconds of CLOCK_MONOTONIC, or of the virtual clock.
  [[nodiscard]] io::monotonic_time now() const noexcept { return virtual_ ? virtual_now_ : clock(); }
  /// The same, read at most once per turn. For limits that need not be exact and are checked many times per turn.
  [[nodiscard]] io::monotonic_time recent() noexcept {
    if (recent_ == 0) recent_ = now();
    return recent_;
  }
  [[nodiscard]] timer_wheel& timers() noexcept { return timers_; }
  [[nodiscard]] stop_observers& stops() noexcept { return stops_; }
  [[nodiscard]] io::backend& backend() noexcept { return *backend_; }
  [[nodiscard]] const io::backend_choice& choice() const noexcept { return choice_; }

  /// False when operations that completed immediately have used up the budget of this resumption. The next one then
  /// goes through the ready queue, so that other tasks run. Always false on a thread without a loop.
  [[nodiscard]] static bool may_continue_inline() noexcept {
    if (inline_budget_ == 0) [[unlikely]]
      return false;
    --inline_budget_;
    return true;
  }

  /// Ends the turn: after the running task, the loop checks the timers and the kernel before it runs the other ready
  /// tasks.
  void end_turn() noexcept { max_in_turn_ = 0; }

  /// True when other tasks are about to run in this turn and the backend submits their requests in one system call. An
  /// operation should then join them instead of making its own call.
  [[nodiscard]] bool prefers_submission() const noexcept { return !ready_.empty() && backend_->batches(); }

  /// Runs `f()` on the loop's thread, in the order of the calls. An exception of `f` goes to the loop's exception
  /// handler. A loop that shuts down runs the functions that were posted earlier. Do not post to it afterwards.
  ///
  /// Thread: any.
  /// Errors: std::bad_alloc; nothing was posted.
  template <class F>
    requires requires(F f) { f(); }
  void post(F f) {
    struct posted : io::completion {
      explicit posted(F&& g) : function(std::move(g)) {}
      void on_complete() noexcept {
        try {
          function();
        } catch (...) {
          report_posted_failure();
        }
        delete this;
      }
      F function;
    };
    auto* item = new posted(std::move(f));
    item->complete = call_member<&posted::on_complete>;
    post(static_cast<io::completion&>(*item));
  }

  /// The same without an allocation. The item belongs to the caller and is busy until `complete` is called.
  /// Thread: any; signal handlers.
  void post(io::completion& item) noexcept;

  /// The task whose code is running, or null. Code that resumes a task sets it.
  [[nodiscard]] task_context* running_task() const noexcept { return running_task_; }
  void set_running_task(task_context* task) noexcept { running_task_ = task; }

  /// The scope above all tasks of this loop.
  [[nodiscard]] cancel_scope& root_scope() noexcept { return root_; }
  [[nodiscard]] const cancel_scope& root_scope() const noexcept { return root_; }

  /// Announces work of another thread (a resolver, to_thread) that will return through `post`. Virtual time and
  /// shutdown wait for it.
  void expect_post() noexcept { ++expected_posts_; }
  void expected_post_arrived() noexcept { --expected_posts_; }

  // Called for each spawned task. shutdown() waits until none is left.
  /// Returns a number, from 1, that no other task of this loop has.
  std::uint64_t task_began() noexcept { return ++begun_tasks_; }
  /// Returns the task's position in the order of ends.
  std::uint64_t task_ended() noexcept { return ++ended_tasks_; }
  [[nodiscard]] std::size_t tasks() const noexcept { return begun_tasks_ - ended_tasks_; }

  /// Drives the loop of another library as well, from the next turn on. An event of that loop wakes this loop, too.
  ///
  /// Lifetime: until leave. Errors: std::logic_error when there is a guest already, or with virtual time, which cannot
  /// know the guest's pending events; std::system_error when the backend offers no descriptor on which another library
  /// can wait.
  void drive(guest_loop& guest);
  void leave(const guest_loop& guest) noexcept;
  [[nodiscard]] guest_loop* guest() const noexcept { return guest_; }

  /// The opposite of drive(): the thread runs the loop of another library, and that loop calls this one. It watches
  /// this descriptor for input, and calls turn_in_host() when the descriptor is readable.
  ///
  /// Lifetime: the loop owns the descriptor, which the host must neither read nor close. Errors: as for drive.
  [[nodiscard]] int descriptor();
  /// Runs one turn without waiting. Returns how long the host may wait for descriptor() before it calls this again;
  /// without a value, for ever. Round up what the host cannot express.
  ///
  /// To be called once before the host waits for the first time, when the descriptor is readable, when the time has
  /// passed, and after code of the host has used this loop (has spawned a task, or set an event). Not inside a task.
  /// Errors: as for drive; nothing has run.
  std::optional<std::chrono::nanoseconds> turn_in_host();

  /// Called with `argument` for each background failure. The default handler prints them on standard error.
  using exception_handler = void (*)(const background_failure& failure, void* argument) noexcept;
  void set_exception_handler(exception_handler handler, void* argument) noexcept {
    check_thread("set_exception_handler");
    handler_ = handler;
    handler_argument_ = argument;
  }
  /// Calls the handler of this thread's loop. Prints the failure when the thread has no loop.
  static void report(const background_failure& failure) noexcept;

  /// The number of turns so far in which the loop waited in the kernel.
  [[nodiscard]] std::uint64_t waits() const noexcept { return waits_; }

 private:
  friend class loop_group;
  friend class loop_local_slot;
  friend class remote_call;
  enum class end_stage : std::uint8_t { tasks, resources };

  [[noreturn]] static void stop_without_loop() noexcept;
  static void stop_scheduling() noexcept;
  void stop_on_other_thread(const char* operation) const noexcept;
  void check_thread(const char* operation) const noexcept {  // in debug builds
    if (checks_everything && current_ != this) [[unlikely]]
      stop_on_other_thread(operation);
  }
  static void report_posted_failure() noexcept;  // reports the exception that is being handled
  [[nodiscard]] io::monotonic_time clock() const noexcept;
  static void after_fork_in_child() noexcept;
  void wait_for_posters() const noexcept;
  void run_ready() noexcept;
  [[nodiscard]] bool has_nothing_to_do() const noexcept;
  [[nodiscard]] bool is_idle(end_stage stage) const noexcept;
  void settle(end_stage stage) noexcept;
  void stop_for_what_outlives_it() const noexcept;
  void wait_for_events() noexcept;
  [[nodiscard]] bool finds_something_to_do() noexcept;
  void wait_until(io::monotonic_time deadline) noexcept;
  void wait_in_guest(io::monotonic_time deadline) noexcept;
  void wait_in_virtual_time() noexcept;
  void wait_for_other_threads() noexcept;

  static constexpr int inline_per_resumption = 64;

  GYRE_API static constinit thread_local event_loop* current_;
  GYRE_API static constinit thread_local int inline_budget_;  // of the thread: it is read without looking for the loop
  static const int fork_handlers_;                            // 0, or the error of registering them
  GYRE_API static constinit unsigned forks_;                  // number of forks from the first process to this one

  io::ready_list ready_;
  task_context* running_task_ = nullptr;
  int ready_per_turn_;
  int max_in_turn_ = 0;  // ready tasks that may run in this turn; 0 after end_turn()
  io::monotonic_time busy_poll_;
  bool virtual_;
  bool shut_down_ = false;
  unsigned made_in_ = forks_;  // `forks_` in the process that made it
  std::uint32_t number_;
  io::backend_choice choice_;  // declared before the backend, whose constructor uses it
  io::backend_owner backend_;
  io::monotonic_time virtual_now_;
  io::monotonic_time recent_ = 0;  // 0: not read since the loop last waited
  timer_wheel timers_;
  cancel_scope root_;
  cancel_scope shielded_{shielding::shielded};  // above tasks that run for a shielded task of this runtime
  std::uint64_t begun_tasks_ = 0;
  std::uint64_t ended_tasks_ = 0;
  std::size_t expected_posts_ = 0;
  std::uint64_t waits_ = 0;
  guest_loop* guest_ = nullptr;
  loop_group* group_ = nullptr;
  std::size_t index_ = 0;
  loop_values* values_ = nullptr;  // of loop_local; null while there is none
  exception_handler handler_;
  void* handler_argument_ = nullptr;
  event_loop* replaced_ = nullptr;  // the parent process's loop on this thread
  stop_observers stops_;

  struct mailbox;  // written by other threads
  mailbox* mailbox_;
};

}  // namespace gyre
