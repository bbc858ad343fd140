// gyre/io/uring/ring.hpp: an io_uring instance: its two queues and the call that drives them.
#pragma once

#include <gyre/io/uring/abi.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <utility>

namespace gyre::uring {

/// CLOCK_MONOTONIC in nanoseconds, the clock of deadlines.
[[nodiscard]] inline std::int64_t monotonic_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// io_uring_setup(2).
inline int setup(unsigned entries, void* parameters) noexcept {
  return static_cast<int>(::syscall(setup_call, entries, parameters));
}

struct ring_options {
  std::uint32_t submission_entries = 256;
  std::uint32_t completion_entries = 4096;
  std::uint32_t flags = setup_single_issuer | setup_defer_taskrun | setup_taskrun_flag | setup_no_sqarray |
                        setup_submit_all | setup_clamp;
  int (*make)(unsigned entries, void* parameters) = &setup;  ///< a replacement, for tests of its failure
};

/// An io_uring instance. Empty until `open`.
///
/// Thread: the one that opened it, for everything (it is created with SINGLE_ISSUER).
class ring {
 public:
  /// A point of CLOCK_MONOTONIC in nanoseconds, or one of these.
  static constexpr std::int64_t forever = INT64_MAX;
  static constexpr std::int64_t not_at_all = 0;

  ring() noexcept = default;
  ring(ring&& other) noexcept { swap(other); }
  ring& operator=(ring&& other) noexcept {
    ring moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~ring() { close(); }

  /// Makes the instance and maps its queues. Returns 0, or the errno of io_uring_setup(2) or mmap(2).
  int open(const ring_options& options) noexcept {
    params p{};
    p.flags = options.flags | setup_cqsize;
    p.cq_entries = options.completion_entries;
    const int fd = options.make(options.submission_entries, &p);
    if (fd < 0) return errno;
    fd_ = fd;
    features_ = p.features;
    flags_ = p.flags;
    if (const int error = map(p); error != 0) {
      close();
      return error;
    }
    register_own_descriptor();
    return 0;
  }

  /// Ends the instance. The kernel cancels the requests in flight later: their buffers must live until then.
  void close() noexcept {
    if (fd_ < 0) return;
    if (has_registered_descriptor()) {  // one of the thread's 16 slots, which the kernel would keep
      resource_update update{.offset = static_cast<std::uint32_t>(enter_fd_), .reserved = 0, .data = 0};
      call_register(register_op::unregister_ring_fds, &update, 1);
    }
    if (entries_ != nullptr) ::munmap(entries_, entries_bytes_);
    if (queues_ != nullptr) ::munmap(queues_, queues_bytes_);
    ::close(fd_);
    ring empty;
    fd_ = -1;
    swap(empty);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return fd_; }
  [[nodiscard]] std::uint32_t features() const noexcept { return features_; }
  [[nodiscard]] std::uint32_t setup_flags() const noexcept { return flags_; }
  [[nodiscard]] bool has_registered_descriptor() const noexcept { return (enter_flags_ & enter_registered_ring) != 0; }

  // ---- submission queue

  /// The next entry to fill, or nullptr when the queue is full. `enter(0)` then makes room.
  [[nodiscard]] submission* next_submission() noexcept {
    if (local_tail_ - load(sq_head_) > sq_mask_) return nullptr;
    return &entries_[local_tail_++ & sq_mask_];
  }
  /// The number of entries taken with next_submission that the kernel has not consumed.
  [[nodiscard]] std::uint32_t unsubmitted() const noexcept { return local_tail_ - load(sq_head_); }

  /// sq_taskrun: enter must be called to collect waiting completions. sq_cq_overflow: the completion queue was full.
  [[nodiscard]] std::uint32_t queue_flags() const noexcept { return __atomic_load_n(sq_flags_, __ATOMIC_RELAXED); }

  // ---- the system call

  /// Submits the queued entries, runs the work that the kernel has deferred, and waits for `wanted` completions until
  /// `deadline`. Returns 0 or more, or -errno: -ETIME and -EINTR are normal.
  int enter(std::uint32_t wanted, std::int64_t deadline = forever) noexcept {
    __atomic_store_n(sq_tail_, local_tail_, __ATOMIC_RELEASE);
    std::uint32_t flags = enter_getevents | enter_flags_;
    time timeout{};
    wait_argument argument{};
    const void* extra = nullptr;
    std::size_t extra_size = 0;
    if (wanted > 0 && deadline != forever) {
      // Not enter_abs_timer (6.12): in a time namespace, the kernel takes that for a time of the host.
      const std::int64_t left = deadline - monotonic_now();
      const std::int64_t length = left > 0 ? left : 0;
      timeout = {length / 1'000'000'000, length % 1'000'000'000};
      argument.timeout = reinterpret_cast<std::uintptr_t>(&timeout);
      flags |= enter_ext_arg;
      extra = &argument;
      extra_size = sizeof(argument);
    }
    ++enters_;
    const long result = ::syscall(enter_call, enter_fd_, unsubmitted(), wanted, flags, extra, extra_size);
    return result < 0 ? -errno : static_cast<int>(result);
  }

  /// io_uring_register(2). Returns 0 or more, or -errno.
  int call_register(register_op op, void* argument, std::uint32_t count) noexcept {
    const long result = ::syscall(register_call, fd_, static_cast<std::uint32_t>(op), argument, count);
    return result < 0 ? -errno : static_cast<int>(result);
  }

  // ---- completion queue

  /// The number of completions that can be read now, starting at index 0.
  [[nodiscard]] std::uint32_t ready() const noexcept { return load(cq_tail_) - local_head_; }
  [[nodiscard]] const completion& at(std::uint32_t index) const noexcept {
    return completions_[(local_head_ + index) & cq_mask_];
  }
  /// Returns the first `count` completions to the kernel.
  void advance(std::uint32_t count) noexcept {
    local_head_ += count;
    __atomic_store_n(cq_head_, local_head_, __ATOMIC_RELEASE);
  }
  [[nodiscard]] std::uint32_t completion_entries() const noexcept { return cq_mask_ + 1; }

  /// The number of calls of enter so far.
  [[nodiscard]] std::uint64_t enters() const noexcept { return enters_; }

 private:
  static std::uint32_t load(std::uint32_t* word) noexcept {
    // Builtins of both compilers, because <atomic> would add 9,000 lines to every including file.
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
  }

  int map(const params& p) noexcept {
    if ((p.features & feature_single_mmap) == 0) return ENOTSUP;
    const bool has_array = (p.flags & setup_no_sqarray) == 0;
    const std::size_t sq_bytes = has_array ? p.sq.array + p.sq_entries * sizeof(std::uint32_t) : 0;
    const std::size_t cq_bytes = p.cq.entries + p.cq_entries * sizeof(completion);
    queues_bytes_ = sq_bytes > cq_bytes ? sq_bytes : cq_bytes;
    entries_bytes_ = p.sq_entries * sizeof(submission);
    queues_ = map_shared(queues_bytes_, offset_rings);
    entries_ = static_cast<submission*>(map_shared(entries_bytes_, offset_submissions));
    if (queues_ == nullptr || entries_ == nullptr) return ENOMEM;
    // A forked child must not write into the shared queues.
    ::madvise(queues_, queues_bytes_, MADV_DONTFORK);
    ::madvise(entries_, entries_bytes_, MADV_DONTFORK);
    auto* const base = static_cast<char*>(queues_);
    const auto word = [base](std::uint32_t offset) { return reinterpret_cast<std::uint32_t*>(base + offset); };
    sq_head_ = word(p.sq.head);
    sq_tail_ = word(p.sq.tail);
    sq_flags_ = word(p.sq.flags);
    sq_mask_ = *word(p.sq.ring_mask);
    cq_head_ = word(p.cq.head);
    cq_tail_ = word(p.cq.tail);
    cq_mask_ = *word(p.cq.ring_mask);
    completions_ = reinterpret_cast<completion*>(base + p.cq.entries);
    local_tail_ = *sq_tail_;
    local_head_ = *cq_head_;
    if (has_array)
      for (std::uint32_t i = 0; i < p.sq_entries; ++i) word(p.sq.array)[i] = i;
    return 0;
  }

  void* map_shared(std::size_t bytes, std::uint64_t offset) const noexcept {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, static_cast<off_t>(offset));
    return memory == MAP_FAILED ? nullptr : memory;
  }

  // Saves the kernel a look-up on each enter. A failure (there are at most 16 per thread) does not matter.
  void register_own_descriptor() noexcept {
    enter_fd_ = fd_;
    enter_flags_ = (features_ & feature_no_iowait) != 0 ? enter_no_iowait : 0U;
    resource_update update{.offset = ~0U, .reserved = 0, .data = static_cast<std::uint64_t>(fd_)};
    if (call_register(register_op::ring_fds, &update, 1) != 1) return;
    enter_fd_ = static_cast<int>(update.offset);
    enter_flags_ |= enter_registered_ring;
  }

  void swap(ring& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(enter_fd_, other.enter_fd_);
    std::swap(enter_flags_, other.enter_flags_);
    std::swap(features_, other.features_);
    std::swap(flags_, other.flags_);
    std::swap(local_tail_, other.local_tail_);
    std::swap(local_head_, other.local_head_);
    std::swap(sq_mask_, other.sq_mask_);
    std::swap(cq_mask_, other.cq_mask_);
    std::swap(sq_head_, other.sq_head_);
    std::swap(sq_tail_, other.sq_tail_);
    std::swap(sq_flags_, other.sq_flags_);
    std::swap(cq_head_, other.cq_head_);
    std::swap(cq_tail_, other.cq_tail_);
    std::swap(entries_, other.entries_);
    std::swap(completions_, other.completions_);
    std::swap(queues_, other.queues_);
    std::swap(queues_bytes_, other.queues_bytes_);
    std::swap(entries_bytes_, other.entries_bytes_);
    std::swap(enters_, other.enters_);
  }

  int fd_ = -1;
  int enter_fd_ = -1;
  std::uint32_t enter_flags_ = 0;
  std::uint32_t features_ = 0;
  std::uint32_t flags_ = 0;
  std::uint32_t local_tail_ = 0;  // entries handed out; enter makes them visible to the kernel
  std::uint32_t local_head_ = 0;
  std::uint32_t sq_mask_ = 0;
  std::uint32_t cq_mask_ = 0;
  std::uint32_t* sq_head_ = nullptr;
  std::uint32_t* sq_tail_ = nullptr;
  std::uint32_t* sq_flags_ = nullptr;
  std::uint32_t* cq_head_ = nullptr;
  std::uint32_t* cq_tail_ = nullptr;
  submission* entries_ = nullptr;
  completion* completions_ = nullptr;
  void* queues_ = nullptr;
  std::size_t queues_bytes_ = 0;
  std::size_t entries_bytes_ = 0;
  std::uint64_t enters_ = 0;
};

}  // namespace gyre::uring
