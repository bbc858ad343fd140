// gyre/io/uring/capabilities.hpp: tests whether a ring is available on this machine, and which features really work.
#pragma once

#include <gyre/io/uring/buffer_ring.hpp>
#include <gyre/io/uring/ring.hpp>
#include <gyre/io/uring/submission.hpp>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace gyre::uring {

/// The reason why a ring cannot be used.
struct refusal {
  int error = 0;          ///< errno; 0: nothing is wrong
  const char* step = "";  ///< the call or the test that failed
};

/// The features that are available beyond the basic operations.
struct capabilities {
  bool multishot_receive = false;  ///< with provided buffers; faulty in kernels before 6.10
  bool multishot_accept = false;
  bool registered_descriptor = false;
  bool no_iowait = false;            ///< 6.15: waiting for events does not count as waiting for a disk
  bool no_submission_array = false;  ///< 6.6
};

/// Opens a ring with the best flags that the kernel supports, and a smaller one where the memory limit requires it.
inline refusal open_ring(ring& out, ring_options options) noexcept {
  constexpr std::uint32_t min_submissions = 64;
  constexpr std::uint32_t min_completions = 1024;
  for (bool retried = false;;) {
    const int error = out.open(options);
    if (error == 0) break;
    if (error == EINVAL && (options.flags & setup_no_sqarray) != 0) {
      options.flags &= ~setup_no_sqarray;
    } else if (error == ENOMEM && options.completion_entries > min_completions) {
      options.completion_entries /= 2;
    } else if (error == ENOMEM && options.submission_entries > min_submissions) {
      options.submission_entries /= 2;
    } else if (error == ENOMEM && !retried) {
      // The kernel frees the memory of a closed ring a little later.
      retried = true;
      const timespec moment{.tv_sec = 0, .tv_nsec = 3'000'000};
      ::nanosleep(&moment, nullptr);
    } else {
      return {error, "io_uring_setup"};
    }
  }
  constexpr std::uint32_t required = feature_single_mmap | feature_nodrop | feature_fast_poll | feature_ext_arg |
                                     feature_native_workers | feature_cqe_skip;
  if ((out.features() & required) != required) return {ENOTSUP, "io_uring_setup: a feature is missing"};
  return {};
}

/// Runs the few operations on which everything depends, on a ring with nothing in flight, in about 100 microseconds.
/// This also detects a filter that allows io_uring_setup and denies the later calls.
class self_test {
 public:
  explicit self_test(ring& subject) noexcept : ring_(subject) {}

  /// Returns a refusal when the ring cannot be used. `found` receives its other features.
  refusal run(capabilities& found) noexcept {
    if (const int e = nop(); e != 0) return {e, "io_uring_enter"};
    if (const int e = doorbell(); e != 0) return {e, "io_uring self-test: poll of an eventfd"};
    if (const int e = timed_wait(); e != 0) return {e, "io_uring self-test: timed wait"};
    const bool modern = (ring_.features() & feature_recvsend_bundle) != 0;  // 6.10: known faults are fixed
    found.multishot_accept = modern;
    found.multishot_receive = modern && receive_and_cancel() == 0;
    found.registered_descriptor = ring_.has_registered_descriptor();
    found.no_iowait = (ring_.features() & feature_no_iowait) != 0;
    found.no_submission_array = (ring_.setup_flags() & setup_no_sqarray) != 0;
    return {};
  }

 private:
  static constexpr std::uint16_t test_group = 0x7fff;

  // Enters until a completion is available, and takes it. Returns 0 or errno.
  int next(completion& out) noexcept {
    for (int tries = 0; ring_.ready() == 0; ++tries) {
      const int result = ring_.enter(1, monotonic_now() + 1'000'000'000);
      if (result < 0 && result != -EINTR && result != -ETIME) return -result;
      if (tries == 3) return ETIME;
    }
    out = ring_.at(0);
    ring_.advance(1);
    return 0;
  }

  int nop() noexcept {
    submission& s = *ring_.next_submission();
    prepare_nop(s);
    s.user_data = 1;
    completion c{};
    const int error = next(c);
    return error != 0 ? error : (c.user_data == 1 && c.result == 0 ? 0 : EIO);
  }

  int cancel(std::uint64_t target) noexcept {
    submission& s = *ring_.next_submission();
    prepare_cancel(s, target);
    s.flags = sqe_cqe_skip_success;
    s.user_data = 99;
    for (;;) {
      completion c{};
      if (const int error = next(c); error != 0) return error;
      if (c.user_data == target && (c.flags & cqe_more) == 0) return c.result == -ECANCELED ? 0 : EIO;
    }
  }

  int doorbell() noexcept {
    const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) return errno;
    submission& s = *ring_.next_submission();
    prepare_poll_multishot(s, fd, 1 /* POLLIN */);
    s.user_data = 2;
    int error = 0;
    for (int i = 0; i < 2 && error == 0; ++i) {  // it must fire again although nothing reads the eventfd
      const std::uint64_t one = 1;
      if (::write(fd, &one, sizeof(one)) < 0) error = errno;
      completion c{};
      if (error == 0) error = next(c);
      if (error == 0 && (c.user_data != 2 || c.result < 0 || (c.flags & cqe_more) == 0)) error = EIO;
    }
    if (error == 0) error = cancel(2);
    ::close(fd);
    return error;
  }

  int timed_wait() noexcept {
    const int result = ring_.enter(1, monotonic_now());
    return result >= 0 || result == -ETIME || result == -EINTR ? 0 : -result;
  }

  int receive_and_cancel() noexcept {
    buffer_ring buffers;
    if (const int error = buffers.open(ring_, test_group, 2); error != 0) return error;
    char memory[2][16];
    for (std::uint16_t i = 0; i < 2; ++i) buffers.add(memory[i], sizeof(memory[i]), i);
    buffers.publish();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return errno;
    submission& s = *ring_.next_submission();
    prepare_receive_multishot(s, ends[0], test_group, recvsend_poll_first);
    s.user_data = 3;
    int error = ::send(ends[1], "gyre", 4, MSG_NOSIGNAL) == 4 ? 0 : errno;
    completion c{};
    if (error == 0) error = next(c);
    if (error == 0 && (c.result != 4 || (c.flags & (cqe_more | cqe_buffer)) != (cqe_more | cqe_buffer))) error = EIO;
    if (error == 0) error = cancel(3);
    ::close(ends[0]);
    ::close(ends[1]);
    buffer_ring_registration registration{};
    registration.group = test_group;
    ring_.call_register(register_op::unregister_pbuf_ring, &registration, 1);
    return error;
  }

  ring& ring_;
};

}  // namespace gyre::uring
