// src/io/uring_backend.cpp: the ring and its resources, the one system call per turn, and the end.
#include "uring_backend.hpp"
#include "doorbell.hpp"
#include "uring_key.hpp"

#include <gyre/io/kernel.hpp>
#include <gyre/io/monotonic_clock.hpp>
#include <gyre/io/printable.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

namespace gyre::io {
namespace {

constexpr std::uint32_t first_share = 64;  // buffers that the kernel gets initially

[[noreturn]] void stop_program(int error) noexcept {
  // EINVAL: the ring's descriptor is registered only for the thread that created it.
  const char* cause = "the ring is broken, or the program has closed a descriptor that belongs to the loop";
  if (error == EEXIST || error == EINVAL) cause = "a loop is used from a thread that is not its own";
  if (error == EBADR) cause = "the kernel had no memory for a completion, and dropped it";
  if (error == EPERM || error == EACCES || error == ENOSYS)
    cause = "a seccomp filter denies it since the loop was made; install the filter before, or set GYRE_BACKEND=epoll";
  print_diagnostic({"gyre: io_uring_enter failed with ", ::strerrorname_np(error), ": ", cause});
  std::abort();
}

}  // namespace

uring_backend::uring_backend(const backend_options& options, const uring::capabilities* known, uring::refusal& refused)
    : backend({.count = options.buffer_count, .size = options.buffer_size},
              {.count = options.large_buffer_count, .size = options.large_buffer_size}) {
  refused = open(options, known);
}

uring::refusal uring_backend::open(const backend_options& options, const uring::capabilities* known) noexcept {
  doorbell_ = calls().files.eventfd(
      0, EFD_CLOEXEC | EFD_NONBLOCK);  // first: without it the self-test would fail for another reason
  if (doorbell_ < 0) return {errno, "eventfd2"};
  uring::ring_options wanted;
  wanted.make = calls().files.io_uring_setup;
  wanted.submission_entries = options.submission_entries;
  wanted.completion_entries = std::max(options.completion_entries, std::bit_ceil(options.submission_entries));
  if (known != nullptr && !known->no_submission_array) wanted.flags &= ~uring::setup_no_sqarray;
  uring::refusal refused = uring::open_ring(ring_, wanted);
  if (refused.error != 0) return refused;
  if (known != nullptr)
    capabilities_ = *known;
  else if (refused = uring::self_test(ring_).run(capabilities_); refused.error != 0)
    return refused;
  if (const int error = provided_.open(ring_, buffer_group, std::bit_ceil(buffers().count())); error != 0)
    return {error, "io_uring_register"};
  batches_ = true;
  wanted_with_kernel_ = std::min(first_share, max_with_kernel());
  refill_buffers();
  arm_doorbell();
  // Enters now, not only at the first wait: a filter that allows a ring but denies its use is found here.
  const int result = ring_.enter(0);
  if (result < 0 && result != -EINTR) return {-result, "io_uring_enter"};
  return {};
}

uring_backend::~uring_backend() {
  // The kernel may write into a buffer until it has confirmed the cancel.
  if (in_flight_ > 0 && !drain()) {
    // The kernel does not answer. A ring that stays open and is never entered again writes nothing either.
    static_cast<void>(new (std::nothrow) uring::ring(std::move(ring_)));
  }
  ring_.close();
  if (doorbell_ >= 0) calls().files.close(doorbell_);
  if (const int signal = signal_; signal >= 0) calls().files.close(signal);
}

// Submits the queue, runs work that the kernel has deferred, and waits for `wanted` completions. May return early for
// many reasons; the caller then looks at the completions and calls again. Returns false when the kernel consumed
// nothing because it lacks memory.
bool uring_backend::enter(std::uint32_t wanted, monotonic_time deadline) noexcept {
  calls_since_look_ = 0;
  const int result = ring_.enter(wanted, deadline);
  if (result >= 0) [[likely]] {
    shortages_ = 0;
    return true;
  }
  switch (-result) {
    case ETIME:
    case EINTR:
      shortages_ = 0;
      return true;
    case EBUSY:  // completions must be taken before there can be more
    case EAGAIN:
    case ENOMEM:
      // Handling the completions that are here may free some memory. If there are none, others must free it.
      if (ring_.ready() == 0) wait_for_memory();
      return false;
    default:
      stop_program(-result);
  }
}

void uring_backend::wait_for_memory() noexcept {
  constexpr unsigned a_while = 1000;  // in pauses of `moment`
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
  if (++shortages_ == a_while)
    print_diagnostic(
        {"gyre: io_uring_enter has failed for a second: the kernel is short of memory; the loop goes on trying"});
  ::nanosleep(&moment, nullptr);
}

void uring_backend::wait(monotonic_time deadline, ready_list& ready) noexcept {
  found_small_ = false;
  bool something = starved_cancelled_ && end_cancelled_starved(ready);
  large_.serve([&](multishot& m) { receive_large(m, ready); });
  refill_buffers();
  if (!starved_.empty()) rearm_starved(buffers().with_kernel());
  if (!doorbell_armed_) [[unlikely]]
    arm_doorbell();
  if (offloaded_.outstanding()) something |= take_offloaded(ready);
  something = something || ring_.ready() > 0 || !large_.empty() || !bulk_.empty() || !ready.empty();
  if (deadline != do_not_wait && !something)
    sleep(deadline);
  else if (must_look())
    enter(0);
  reap(ready);
  if (offloaded_.outstanding()) (void)take_offloaded(ready);
  if (bulk_.empty()) return;
  auto& next = static_cast<request&>(bulk_.pop_front());
  set_idle(next);
  ready.push_back(next);
}

// Not the ring's own descriptor: while the kernel defers work until somebody enters the ring, that
// descriptor does not become readable.
int uring_backend::pollable() noexcept {
  if (const int made_before = signal_; made_before >= 0) return made_before;
  int made = calls().files.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0) return -errno;
  if (const int result = ring_.call_register(uring::register_op::eventfd, &made, 1); result < 0) {
    calls().files.close(made);
    return result;
  }
  signal_ = made;
  return made;
}

monotonic_time uring_backend::prepare_wait(monotonic_time deadline, ready_list& ready) noexcept {
  std::uint64_t told = 0;
  (void)!::read(signal_, &told, sizeof(told));  // before the look, so that later events signal it again
  rang_ = false;
  calls_since_look_ = calls_per_look;
  wait(do_not_wait, ready);
  if (!starved_.empty() && buffers().with_kernel() > 0 && ready.empty()) [[unlikely]] {  // same as in sleep()
    rearm_starved(buffers().count());
    enter(0);
    reap(ready);
  }
  if (!ready.empty() || !large_.empty() || !bulk_.empty() || rang_) return do_not_wait;
  // A completion caused by a write to another eventfd is not signalled at once, and newer kernels (6.18) lose it.
  constexpr monotonic_time look_again = 100'000'000;
  return in_flight_ == 0 ? deadline : std::min(deadline, monotonic_now() + look_again);
}

void uring_backend::sleep(monotonic_time deadline) noexcept {
  if (!starved_.empty() && buffers().with_kernel() > 0) [[unlikely]] {
    // The receives that were given buffers take them now. If none does, the other receives must not wait for them.
    enter(0);
    if (ring_.ready() > 0) return;
    rearm_starved(buffers().count());
  }
  enter(1, deadline);
}

// When there is something to hand out already, the kernel is entered only if it asks for that, and now and then.
bool uring_backend::must_look() noexcept {
  constexpr std::uint32_t asks = uring::sq_taskrun | uring::sq_cq_overflow;
  return ring_.unsubmitted() > 0 || (ring_.queue_flags() & asks) != 0 || large_.has_moved() || !bulk_.empty() ||
         ++calls_since_look_ >= calls_per_look;
}

void uring_backend::arm_doorbell() noexcept {
  uring::submission& entry = next_entry();
  uring::prepare_poll_multishot(entry, doorbell_, POLLIN);
  entry.user_data = key_doorbell;
  doorbell_armed_ = true;
}

void uring_backend::wake() noexcept {
  ring_doorbell(doorbell_);
  if (const int signal = signal_; signal >= 0) ring_doorbell(signal);  // learns of the doorbell late, or never
}

void uring_backend::refill_buffers() noexcept {
  buffer_pool& pool = buffers();
  if (ran_out_ && pool.available() > 0) {
    ran_out_ = false;
    wanted_with_kernel_ = std::min(wanted_with_kernel_ * 2, max_with_kernel());
  }
  // While the pool fills up, connections that have much to deliver must not use up the rest.
  const std::uint32_t few = std::max(std::min(first_share, pool.count() / 16), 1U);
  const std::uint32_t wanted = pool.fills_up() ? std::min(few, wanted_with_kernel_) : wanted_with_kernel_;
  if (pool.with_kernel() >= wanted || pool.available() == 0) return;
  while (pool.with_kernel() < wanted) {
    const std::uint32_t index = pool.take_for_kernel();
    if (index == buffer_pool::none) break;
    provided_.add(pool.data(index), pool.buffer_size(), static_cast<std::uint16_t>(index));
  }
  provided_.publish();
}

}  // namespace gyre::io
