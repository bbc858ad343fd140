// gyre/net/stream_listener.hpp: accepts connections and serves them, for all kinds of sockets.
#pragma once

#include <gyre/coro/await_place.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/stop_observer.hpp>
#include <gyre/net/listen_on_loops.hpp>
#include <gyre/net/listener_state.hpp>
#include <gyre/net/socket_state.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/task_group.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

struct serve_options {
  /// The number of loops of this loop's runtime that serve, beginning with this one. The runtime starts further loops
  /// when it has fewer. 0 means all loops of the runtime.
  std::size_t threads = 1;
  accept_mode accept = accept_mode::reuse_port;  ///< with several loops

  /// The maximum number of connections that are served at the same time, at least 1. Further ones wait in the backlog.
  /// Several loops share it equally; a limit below their number is also the number of loops that serve.
  std::size_t max_connections = 65'536;
  /// The time in which connections may end on their own when the server drains. Then they are cancelled and reset.
  std::chrono::nanoseconds drain = std::chrono::seconds(10);
  /// A stop request (SIGTERM, request_stop) makes the server drain and return. False means that it runs until it is
  /// cancelled: a server that others need until they have drained.
  bool observe_stop = true;
};

/// The task name of a connection, shown in reports about it: "127.0.0.1:34567". Empty for a Unix socket.
/// For authors of operations.
class GYRE_API peer_text {
 public:
  explicit peer_text(const address& peer) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {text_, length_}; }

 private:
  char text_[64] = {};
  std::size_t length_ = 0;
};

/// The tasks that serve the connections of one listener. They fail independently. Exceptions are reported to the loop's
/// handler, except a reset by the peer, which is not the fault of this program.
///
/// A stop request ends the region in which the server accepts. A forced stop ends the drain: it cuts all of them off.
/// For authors of operations.
class GYRE_API served_connections : public child_tasks, private stop_observer {
 public:
  /// Errors: std::invalid_argument when max_connections is 0, or drain negative.
  static void check(const serve_options& options);
  /// `share` counts the connections, if it is not null. With `resets`, connections that are cut off end with a reset.
  served_connections(task_context& task, bool observe_stop, loop_share* share = nullptr, bool resets = false) noexcept;
  ~served_connections();

  /// The region in which the server accepts, opened in its task. A stop request cancels it. One at a time.
  class GYRE_API accepting {
   public:
    explicit accepting(served_connections& connections) noexcept;
    accepting& operator=(accepting&&) = delete;
    ~accepting() { connections_.accepting_ = nullptr; }

   private:
    friend class served_connections;
    served_connections& connections_;
    cancel_scope scope_;
  };

  /// Runs `handler(peer)` in a task of its own. If the task cannot be started (no memory, or `handler` throws), the
  /// connection is closed and the exception is reported. A handler may instead make the task itself, by
  /// `make_task(peer, parent, owner, options, where)`, which returns a task_state& with a reference for the caller.
  template <class Handler, class Stream>
  void serve(Handler& handler, Stream&& peer, std::source_location where) noexcept {
    const peer_text name(peer.socket().peer);
    try {
      Stream mine = std::move(peer);
      add(mine.socket());
      const spawn_options options{.name = name.view()};
      if constexpr (requires { handler.make_task(std::move(mine), scope(), this, options, where); })
        const task_reference made(adopt(handler.make_task(std::move(mine), scope(), this, options, where)));
      else
        const task_reference started(start(handler(std::move(mine)), options, where));
    } catch (...) {
      if (share_ != nullptr) release(*share_);
      report(std::current_exception(), name.view(), where);
    }
  }
  /// Closes the port, and serves the connections that the kernel has already completed, as long as fewer than `max`
  /// are served: these clients believe that they are connected. Cancel: none, it is awaited shielded.
  template <class Listener, class Handler>
  static task<> serve_the_last(served_connections& connections, Listener& listener, Handler& handler, std::size_t max,
                               std::source_location where) {
    listener.finish();
    while (connections.running() < max) {
      auto peer = co_await as_expected(listener.accept());
      if (!peer) break;
      connections.serve(handler, *std::move(peer), where);
    }
  }
  /// Waits until all have ended; cuts them off after `limit`. Cancel: not before `limit`; it is awaited shielded.
  static task<> drain(served_connections& connections, std::chrono::nanoseconds limit);
  /// Calls `f(socket)` for the socket of each connection. `f` must not resume a task, nor close a socket.
  template <class F>
  void for_each_socket(F f) noexcept {
    for (socket_state* each = peers_; each != nullptr; each = each->next_peer) f(*each);
  }
  /// Ends the waits of handlers in next_or_stop(), now and from now on.
  void end_between_messages() noexcept;
  /// After the drain: throws `failure` if there is one, and `cancelled` when the server was cancelled.
  void close(const std::exception_ptr& failure) const;
  /// True when connections are cut off rather than drained.
  [[nodiscard]] bool forced() const noexcept { return heard == stop_level::forced; }

 private:
  void add(socket_state& socket) noexcept;
  /// Cancels all that have not ended.
  void cut_off() noexcept;
  static void ended(child_tasks& children, task_state& child) noexcept;
  void report(const std::exception_ptr& failure, std::string_view name, std::source_location where) noexcept;

  void on_level(stop_level level) noexcept;

  static constexpr io::monotonic_time between_reports = 1'000'000'000;  // of failures for lack of memory
  task_context& task_;
  loop_share* share_;
  accepting* accepting_ = nullptr;
  bool stopped_ = false;  // no more connections are accepted
  bool resets_;
  socket_state* peers_ = nullptr;
  io::monotonic_time quiet_until_ = 0;
};

/// A listening socket; tcp_listener and unix_listener derive from it.
///
/// When the process runs out of descriptors or memory, the listener pauses, logs to standard error at most once a
/// second, and resumes automatically. A connection for which there is no memory is closed; the listener survives.
/// Accepting on a moved-from listener stops the program with a message.
/// Thread: belongs to the loop it was made on.
template <class Stream>
class stream_listener {
 public:
  /// Waits for a connection. Several tasks may wait: first come, first served.
  ///
  /// Cancel: no connection was taken; one that came first wins over the cancel. When a race drops it, it is the next
  /// connection again.
  /// Errors: io_error for permanent failures. During a shortage of descriptors or memory accept waits.
  [[nodiscard("co_await it")]] accept_op<Stream> accept() noexcept { return accept_op<Stream>(*socket_); }

  /// Runs `handler(stream)`, a function that returns a task<>, for every connection, each in a task of its own. The
  /// address of the peer is the name of the task.
  ///
  /// With options.threads, several loops accept and serve. They call the same `handler`, at the same time: objects that
  /// it refers to must be thread-safe, or a loop_local. The file or port is closed on all loops at the end.
  ///
  /// Runs until the program is asked to stop (SIGINT and SIGTERM under run_main, request_stop) or the server is
  /// cancelled. Then it drains: it closes the port; clients that had connected before are served, up to
  /// `max_connections`; connections go on until they end on their own. A stop never looks like the end of a stream: a
  /// handler that can end between two messages waits there with next_or_stop(). Handlers that have not ended after
  /// `options.drain` are cancelled, and the streams that they hold are reset, so that no peer takes a part for the
  /// whole. (The peer of a Unix socket sees the end of the stream, because these sockets have no reset.) After a stop
  /// request serve() returns normally. A server that starts after the request drains at once. Clients in the backlog
  /// are reset if the process has no descriptor for them when the drain begins.
  /// Lifetime: `handler` is kept until then.
  /// Cancel: drains, then throws `cancelled`. When the program is forced to end (see run_options), the drain is over at
  /// once.
  /// Errors: io_error when accepting fails for good, or another loop cannot listen; std::invalid_argument when
  /// max_connections is 0 or drain negative, and for several threads outside of a runtime. An error on one loop ends
  /// all.
  /// Exceptions of handlers go to the loop's exception handler, except resets by the peer. So does std::bad_alloc when
  /// a handler cannot be started. std::bad_alloc is reported at most once a second.
  template <class Handler>
  [[nodiscard]] GYRE_CORO_WRAPPER task<> serve(Handler&& handler, serve_options options = {}) {
    static_assert(task_function<std::decay_t<Handler>, Stream>,
                  "serve takes a function that is called with the accepted stream, by value, and returns a task");
    static_assert(
        !may_be_destroyed_twice<Handler>,
        "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
    return serve_with(std::decay_t<Handler>(std::forward<Handler>(handler)), options);
  }

  /// Stops listening. The port is free, and connections in the backlog are reset.
  void stop() noexcept { socket_->stop(); }

  /// Stops listening without refusing anyone who has already connected. accept returns the connections in the backlog,
  /// and then fails with operation_canceled.
  void finish() noexcept { socket_->finish(); }

  // For authors of servers.

  /// The listening socket. Stops the program when this was moved from.
  [[nodiscard]] listener_state& state() const noexcept { return *socket_; }
  /// A listener of the calling thread's loop, from a socket of state().open_beside().
  /// Thread: any, as long as this lives.
  /// Errors: io_error.
  [[nodiscard]] stream_listener beside(owned_fd bound) const {
    return stream_listener(socket_->listen_beside(std::move(bound)));
  }
  /// A listener of the calling thread's loop, which receives the connections of a share. Thread: as above.
  [[nodiscard]] stream_listener given(connection_shares& shares, std::size_t number) const {
    auto* const socket = new listener_state(shares[number], socket_->name);
    shares.attach(number, *socket);
    return stream_listener(*socket);
  }

 protected:
  explicit stream_listener(listener_state& socket) noexcept : socket_(&socket) {}

  owned<listener_state*, &listener_state::abandon, &listener_state::closed> socket_;

 private:
  template <class Handler>
  task<> serve_with(Handler handler, serve_options options) {
    const std::source_location where = co_await started_by_program_at();
    served_connections::check(options);
    if (options.threads == 1) {
      auto alone = serve_here(*this, handler, options, nullptr, where);
      co_return co_await std::move(alone);
    }
    std::vector<event_loop*> loops = loops_to_serve_on(options.threads);
    if (loops.size() > options.max_connections) loops.resize(options.max_connections);
    options.max_connections /= loops.size();
    auto serve_there = [&](stream_listener& listener, loop_share* share) -> task<> {
      co_await serve_here(listener, handler, options, share, where);
    };
    auto all = listen_on_loops(*this, std::move(loops), options.accept, options.max_connections, options.observe_stop,
                               serve_there, where);
    co_await std::move(all);
  }

  // On the loop of `listener`.
  template <class Handler>
  static task<> serve_here(stream_listener& listener, Handler& handler, const serve_options& options, loop_share* share,
                           std::source_location where) {
    served_connections connections(co_await this_task_context{}, options.observe_stop, share, true);
    // Made now, because later there may be no memory.
    auto last =
        shield(served_connections::serve_the_last(connections, listener, handler, options.max_connections, where));
    auto draining = shield(served_connections::drain(connections, options.drain));
    std::exception_ptr failure;
    try {
      const served_connections::accepting here(connections);
      for (;;) {
        co_await connections.fewer_than(options.max_connections);
        Stream peer = co_await listener.accept();
        connections.serve(handler, std::move(peer), where);
      }
    } catch (const cancelled&) {  // the order to drain
    } catch (...) {
      failure = std::current_exception();
    }
    if (!failure && !connections.forced()) co_await std::move(last);
    listener.stop();
    connections.end_between_messages();
    co_await std::move(draining);
    connections.close(failure);
  }
};

}  // namespace gyre
