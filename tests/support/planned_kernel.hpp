// tests/support/planned_kernel.hpp: a kernel that counts its calls, and delays or fails them by a plan.
#pragma once

#include <gyre/io/kernel.hpp>

#include <fcntl.h>
#include <netdb.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <type_traits>

namespace gyre_test {

/// One kind of call, and the plan for it. Thread: any. Nothing is allocated.
class planned_call {
 public:
  explicit planned_call(std::string_view name) noexcept : name_(name), next_(all_) { all_ = this; }
  planned_call& operator=(planned_call&&) = delete;

  /// The plan of the entry of io::kernel with this name. Ends the program when there is none.
  static planned_call& named(std::string_view name) noexcept {
    for (planned_call* each = all_; each != nullptr; each = each->next_)
      if (each->name_ == name) return *each;
    std::fprintf(stderr, "no call is named %.*s\n", static_cast<int>(name.size()), name.data());
    std::abort();
  }
  /// The same plan for each kind that creates a descriptor. A call of any of them counts for fail_nth.
  static planned_call& that_makes_descriptors() noexcept {
    static planned_call any("a call that creates a descriptor");
    return any;
  }

  /// The number of calls so far.
  [[nodiscard]] long count() const noexcept { return count_; }
  /// Lets the n-th call from now on (1 is the next one) fail with `error`. Only that call fails.
  void fail_nth(long n, int error) noexcept {
    has_failed_ = false;
    error_ = error;
    left_ = n;
  }
  /// Delays each call from now on. A request is delayed by so many waits of its backend instead.
  void delay(std::chrono::nanoseconds by) noexcept { delay_ = by.count(); }
  void delay_by_waits(unsigned waits) noexcept { waits_ = waits; }
  /// Ends all plans. Returns true when a call has failed because of fail_nth.
  bool stop() noexcept {
    left_ = delay_ = waits_ = 0;
    return has_failed_.exchange(false);
  }
  [[nodiscard]] unsigned waits() const noexcept { return static_cast<unsigned>(waits_); }

  /// Counts a call, and waits for as long as the plan says. Returns the error that it must report, or 0.
  int begin() noexcept {
    ++count_;
    if (const long by = delay_; by > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(by));
    long now = left_;
    while (now > 0)
      if (left_.compare_exchange_weak(now, now - 1)) break;
    if (now != 1) return 0;
    has_failed_ = true;
    return error_;
  }

 private:
  static inline planned_call* all_ = nullptr;  // written before main begins

  std::string_view name_;
  planned_call* next_;
  std::atomic<long> count_ = 0;
  std::atomic<long> left_ = 0;  // calls until one fails; 0: none
  std::atomic<int> error_ = 0;
  std::atomic<long> delay_ = 0;
  std::atomic<long> waits_ = 0;
  std::atomic<bool> has_failed_ = false;
};

/// The real kernel with a planned call in place of each entry.
class planned_kernel {
 public:
  /// Thread: any.
  static const gyre::io::kernel& instance() noexcept { return instance_; }

 private:
  using kernel = gyre::io::kernel;
  using sockets = gyre::io::socket_calls;
  using files = gyre::io::file_calls;

  // The planned form of the entry to which the members lead.
  template <auto... Path>
  struct entry {
    static inline planned_call* own = nullptr;
    static inline planned_call* group = nullptr;  // counts as well; may be null

    template <class Result, class... Arguments>
    static Result call(Arguments... arguments) {
      int error = own->begin();
      if (error == 0 && group != nullptr) error = group->begin();
      if constexpr (!std::is_void_v<Result>) {
        if (error != 0) {
          errno = error;
          return failed<Result>();
        }
      }
      return (kernel::real().*....*Path)(arguments...);
    }

    template <class Result>
    static Result failed() noexcept {
      if constexpr (std::is_same_v<Result, char*>)
        return nullptr;
      else if constexpr (std::is_same_v<Result, unsigned> || std::is_same_v<Result, bool>)
        return 0;
      else
        return is_lookup ? EAI_SYSTEM : -1;
    }
    static constexpr bool is_lookup = (std::is_same_v<decltype(Path), decltype(&sockets::getaddrinfo)> || ...);

    template <class Result, class... Arguments>
    static void put_into(kernel& k, Result (*)(Arguments...)) {
      (k.*....*Path) = &call<Result, Arguments...>;
    }
  };

  template <auto... Path>
  static void plan(kernel& k, std::string_view name, planned_call* group = nullptr) {
    using planned = entry<Path...>;
    planned::own = new planned_call(name);  // for ever
    planned::group = group;
    planned::put_into(k, (k.*....*Path));
  }

  static kernel make() {
    kernel k = kernel::real();
    plan_sockets(k);
    plan_files(k);
    plan<&kernel::clock_gettime>(k, "clock_gettime");
    plan<&kernel::getrandom>(k, "getrandom");
    plan<&kernel::submit_job>(k, "submit_job");
    plan<&kernel::withdraw_job>(k, "withdraw_job");
    return k;
  }

  static void plan_sockets(kernel& k) {
    planned_call* const makes = &planned_call::that_makes_descriptors();
    constexpr auto in = &kernel::sockets;
    plan<in, &sockets::socket>(k, "socket", makes);
    plan<in, &sockets::socketpair>(k, "socketpair", makes);
    plan<in, &sockets::accept4>(k, "accept4", makes);
    plan<in, &sockets::bind>(k, "bind");
    plan<in, &sockets::listen>(k, "listen");
    plan<in, &sockets::connect>(k, "connect");
    plan<in, &sockets::shutdown>(k, "shutdown");
    plan<in, &sockets::getsockopt>(k, "getsockopt");
    plan<in, &sockets::setsockopt>(k, "setsockopt");
    plan<in, &sockets::getsockname>(k, "getsockname");
    plan<in, &sockets::getpeername>(k, "getpeername");
    plan<in, &sockets::recv>(k, "recv");
    plan<in, &sockets::recvmsg>(k, "recvmsg");
    plan<in, &sockets::send>(k, "send");
    plan<in, &sockets::sendmsg>(k, "sendmsg");
    plan<in, &sockets::poll>(k, "poll");
    plan<in, &sockets::ppoll>(k, "ppoll");
    plan<in, &sockets::getaddrinfo>(k, "getaddrinfo");
    plan<in, &sockets::if_nametoindex>(k, "if_nametoindex");
    plan<in, &sockets::if_indextoname>(k, "if_indextoname");
  }

  // One of its commands creates a descriptor.
  static void plan_fcntl(kernel& k) {
    plan<&kernel::files, &files::fcntl>(k, "fcntl");
    k.files.fcntl = [](int fd, int command, long argument) {
      const int error = command == F_DUPFD_CLOEXEC ? planned_call::that_makes_descriptors().begin() : 0;
      if (error == 0) return entry<&kernel::files, &files::fcntl>::call<int>(fd, command, argument);
      errno = error;
      return -1;
    };
  }

  static void plan_files(kernel& k) {
    plan_fcntl(k);
    planned_call* const makes = &planned_call::that_makes_descriptors();
    constexpr auto in = &kernel::files;
    plan<in, &files::openat>(k, "openat", makes);
    plan<in, &files::openat2>(k, "openat2", makes);
    plan<in, &files::pipe2>(k, "pipe2", makes);
    plan<in, &files::inotify_init1>(k, "inotify_init1", makes);
    plan<in, &files::epoll_create1>(k, "epoll_create1", makes);
    plan<in, &files::eventfd>(k, "eventfd", makes);
    plan<in, &files::io_uring_setup>(k, "io_uring_setup", makes);
    plan<in, &files::close>(k, "close");
    plan<in, &files::read>(k, "read");
    plan<in, &files::write>(k, "write");
    plan<in, &files::pread>(k, "pread");
    plan<in, &files::pwrite>(k, "pwrite");
    plan<in, &files::readv>(k, "readv");
    plan<in, &files::writev>(k, "writev");
    plan<in, &files::preadv>(k, "preadv");
    plan<in, &files::pwritev>(k, "pwritev");
    plan<in, &files::preadv2>(k, "preadv2");
    plan<in, &files::pwritev2>(k, "pwritev2");
    plan<in, &files::sendfile>(k, "sendfile");
    plan<in, &files::splice>(k, "splice");
    plan<in, &files::copy_file_range>(k, "copy_file_range");
    plan<in, &files::ficlone>(k, "ficlone");
    plan<in, &files::lseek>(k, "lseek");
    plan<in, &files::ftruncate>(k, "ftruncate");
    plan<in, &files::fsync>(k, "fsync");
    plan<in, &files::fdatasync>(k, "fdatasync");
    plan<in, &files::fchmod>(k, "fchmod");
    plan<in, &files::fstat>(k, "fstat");
    plan<in, &files::fstatat>(k, "fstatat");
    plan<in, &files::statx>(k, "statx");
    plan<in, &files::renameat2>(k, "renameat2");
    plan<in, &files::unlinkat>(k, "unlinkat");
    plan<in, &files::mkdirat>(k, "mkdirat");
    plan<in, &files::symlinkat>(k, "symlinkat");
    plan<in, &files::readlinkat>(k, "readlinkat");
    plan<in, &files::getdents64>(k, "getdents64");
    plan<in, &files::inotify_add_watch>(k, "inotify_add_watch");
  }

  static const kernel instance_;
};

// Before main begins, so that no test counts its allocations.
inline const gyre::io::kernel planned_kernel::instance_ = planned_kernel::make();

}  // namespace gyre_test
