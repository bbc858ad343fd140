// gyre/interop/asio_operation.hpp: awaits an operation of either Asio. Include asio.hpp or boost_asio.hpp.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/interop/asio_awaits.hpp>
#include <gyre/interop/asio_executor.hpp>
#include <gyre/interop/asio_outcome.hpp>
#include <gyre/interop/asio_token.hpp>
#include <gyre/interop/context_awaits.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/operation.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <expected>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gyre {

/// The name of an initiating function, from its type: "async_receive" for "...::initiate_async_receive", otherwise
/// "asio".
template <class Initiation>
[[nodiscard]] constexpr std::string_view initiation_name() noexcept {
  constexpr std::string_view prefix = "initiate_";
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t at = text.rfind(prefix);
  if (at == std::string_view::npos) return "asio";
  text.remove_prefix(at + prefix.size());
  return text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"));
}

/// The completion handler of an awaited operation. Also reports when it is destroyed uncalled.
template <class Library, class Op, class... Results>
class asio_handler : public Library::slot_of_handler {
 public:
  explicit asio_handler(Op& op) noexcept : Library::slot_of_handler(op.signal()), op_(&op) {}
  asio_handler(asio_handler&& other) noexcept
      : Library::slot_of_handler(other), op_(std::exchange(other.op_, nullptr)) {}
  asio_handler& operator=(asio_handler&&) = delete;
  ~asio_handler() {
    if (op_ != nullptr) op_->handler_dropped();
  }
  void operator()(std::decay_t<Results>... results) {
    std::exchange(op_, nullptr)->handler_called(std::move(results)...);
  }
  [[nodiscard]] Op* op() const noexcept { return op_; }
  [[nodiscard]] Op* release() noexcept { return std::exchange(op_, nullptr); }

 private:
  Op* op_;
};

/// The awaitable that use_gyre makes of an initiating function and its arguments. `Library` adapts it to an Asio.
///
/// All of its state is in the awaiting frame. The frame outlives the operation, because the await waits for everything
/// that was started: the beginning, the handler, and the emission of a cancel, in whatever thread they run.
template <class Library, class Executor, class Initiation, class ArgTuple, class... Results>
class [[nodiscard("co_await it")]] asio_op
    : public operation<asio_op<Library, Executor, Initiation, ArgTuple, Results...>> {
  using outcome_type = asio_outcome<Library, std::decay_t<Results>...>;
  using handler_type = asio_handler<Library, asio_op, Results...>;
  using base = operation<asio_op>;
  static constexpr bool has_executor = !std::is_void_v<Executor>;
  using stored_executor = std::conditional_t<has_executor, Executor, nothing_stored>;

 public:
  using value_type = typename outcome_type::value_type;

  asio_op(stored_executor executor, Initiation initiation, ArgTuple arguments)
      : executor_(std::move(executor)), initiation_(std::move(initiation)), arguments_(std::move(arguments)) {}
  asio_op(asio_op&& other)
      : base(other),
        executor_(std::move(other.executor_)),
        initiation_(std::move(other.initiation_)),
        arguments_(std::move(other.arguments_)) {}
  asio_op& operator=(asio_op&&) = delete;
  ~asio_op() {
    if (pending_ != 0) misuse("a coroutine was destroyed while Asio still works for it; cancel and await it first");
  }

  bool try_now() noexcept { return false; }
  void start() noexcept {
    this->complete = call_member<&asio_op::on_complete>;
    loop_ = &event_loop::current();
    loop_->expect_post();
    pending_.store(2, std::memory_order_relaxed);  // the handler, and this function
    beginning begin{handler_type(*this)};
    try {
      join_awaits();
      if (is_begun_here())
        begin();
      else if constexpr (has_executor)
        Library::dispatch(executor_, std::move(begin));
    } catch (...) {
      begin_failure_ = std::current_exception();  // thrown from the await
    }
    finish();
  }

  void on_cancel() noexcept {
    if (asked_ || leave_waiting(withdrawn)) return;  // withdrawn: the beginning will see it
    if constexpr (has_executor && Library::has_slots) {
      if (!join_pending()) return;
      asked_ = true;
      try {
        Library::post(executor_, emission(*this));
      } catch (...) {  // no memory: the operation runs to its end, because a cancel must not throw
      }
    }
  }
  void on_complete() noexcept {
    loop_->expected_post_arrived();
    await_.remove();
    this->proceed(*this);
  }

  std::expected<value_type, std::error_code> take_result() {
    if (begin_failure_) std::rethrow_exception(begin_failure_);
    if (stage_ == withdrawn || (asked_ && outcome_.failed())) return std::unexpected(this->cancel_error());
    return outcome_.take();
  }
  [[noreturn]] void fail(std::error_code reason) const {
    constexpr std::string_view name = initiation_name<Initiation>();
    if (const std::size_t moved = outcome_.transferred(); moved > 0) throw incomplete_transfer(reason, name, {}, moved);
    throw io_error(reason, name, {});
  }

  // For the handler, on any thread.
  [[nodiscard]] typename Library::signal& signal() noexcept { return signal_; }
  void handler_called(std::decay_t<Results>&&... results) noexcept {
    outcome_.store(std::move(results)...);
    finish();
  }
  void handler_dropped() noexcept {
    outcome_.drop();
    finish();
  }

 private:
  enum : int { waiting, begun, withdrawn };

  // Calls the initiating function on its executor.
  struct beginning {
    handler_type handler;
    void operator()() {
      if (handler.op()->leave_waiting(begun))
        handler.op()->begin(std::move(handler));
      else
        handler.release()->finish();
    }
  };
  // Emits the signal on the executor.
  struct emission {
    explicit emission(asio_op& to) noexcept : op(&to) {}
    emission(emission&& other) noexcept : op(std::exchange(other.op, nullptr)) {}
    emission& operator=(emission&&) = delete;
    ~emission() {
      if (op != nullptr) op->finish();
    }
    void operator()() {
      const bool handler_is_there = op->pending_.load(std::memory_order_acquire) > 1;
      if (handler_is_there) Library::emit(op->signal_);
    }
    asio_op* op;
  };

  [[nodiscard]] bool is_begun_here() const noexcept {
    if constexpr (has_executor)
      return asio_context_here<Library>.context != nullptr &&
             Library::context_of(executor_) == asio_context_here<Library>.context;
    else
      return true;
  }
  // An operation without an I/O object has no object that its task could destroy after the context.
  void join_awaits() {
    const auto& object = initiation_of_object<Library>(initiation_);
    if constexpr (requires { object.get_executor(); })
      if (auto* const context = Library::context_of(object.get_executor()); context != nullptr)
        awaits_of<Library>(*context).add(await_, *this, initiation_name<Initiation>());
  }
  bool leave_waiting(int to) noexcept {
    int expected = waiting;
    return stage_.compare_exchange_strong(expected, to, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  // Returns false when nothing is pending any more.
  bool join_pending() noexcept {
    int n = pending_.load(std::memory_order_relaxed);
    while (n > 0)
      if (pending_.compare_exchange_strong(n, n + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return true;
    return false;
  }
  // The last one to finish brings the task back to its loop, and must not touch this any more.
  void finish() noexcept {
    event_loop& loop = *loop_;
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    if (event_loop::current_or_null() == &loop)
      loop.schedule(*this);
    else
      loop.post(static_cast<io::completion&>(*this));
  }

  void begin(handler_type handler) noexcept {
    pending_.fetch_add(1, std::memory_order_relaxed);  // an exception drops the handler before it can be stored
    try {
      std::apply([&](auto&... each) { std::move(initiation_)(std::move(handler), std::move(each)...); }, arguments_);
    } catch (...) {
      begin_failure_ = std::current_exception();  // thrown from the await
    }
    finish();
  }

  [[no_unique_address]] stored_executor executor_;
  Initiation initiation_;
  ArgTuple arguments_;
  outcome_type outcome_;
  context_await await_;
  typename Library::signal signal_;
  std::exception_ptr begin_failure_;
  event_loop* loop_ = nullptr;
  std::atomic<int> pending_{0};
  std::atomic<int> stage_{waiting};
  bool asked_ = false;
};

/// Base of async_result of either Asio: makes the awaitable for one initiating function with one signature.
template <class Library, class... Results>
struct asio_awaitable {
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, use_gyre_t /*token*/, Args&&... args) {
    using function = std::decay_t<Initiation>;
    const auto& begun_by = initiation_with_executor<Library>(initiation);
    if constexpr (requires { begun_by.get_executor(); }) {
      auto executor = begun_by.get_executor();
      return asio_op<Library, decltype(executor), function, std::tuple<std::decay_t<Args>...>, Results...>(
          std::move(executor), std::forward<Initiation>(initiation), {std::forward<Args>(args)...});
    } else {
      return asio_op<Library, void, function, std::tuple<std::decay_t<Args>...>, Results...>(
          {}, std::forward<Initiation>(initiation), {std::forward<Args>(args)...});
    }
  }
  template <class Initiation, class Executor, class... Args>
  static auto initiate(Initiation&& initiation, use_gyre_on_t<Executor> token, Args&&... args) {
    return initiate(
        asio_bound_initiation<Library, Executor, std::decay_t<Initiation>>{std::move(token.executor),
                                                                           std::forward<Initiation>(initiation)},
        use_gyre, std::forward<Args>(args)...);
  }
};

}  // namespace gyre
