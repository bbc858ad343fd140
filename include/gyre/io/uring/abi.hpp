// gyre/io/uring/abi.hpp: the kernel's io_uring interface as typed constants and memory layouts.
//
// Written from the stable user-space interface: building it needs no installed package, and new features do not depend
// on the age of a header. A test compares every value with the kernel's header where that is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gyre::uring {

enum class opcode : std::uint8_t {
  nop = 0,
  readv = 1,
  writev = 2,
  fsync = 3,
  poll_add = 6,
  poll_remove = 7,
  sendmsg = 9,
  recvmsg = 10,
  timeout = 11,
  timeout_remove = 12,
  accept = 13,
  async_cancel = 14,
  link_timeout = 15,
  connect = 16,
  fallocate = 17,
  openat = 18,
  close = 19,
  statx = 21,
  read = 22,
  write = 23,
  send = 26,
  recv = 27,
  splice = 30,
  shutdown = 34,
  renameat = 35,
  unlinkat = 36,
  mkdirat = 37,
  symlinkat = 38,
  msg_ring = 40,
  socket = 45,
  send_zc = 47,
  sendmsg_zc = 48,
};

enum : std::uint32_t {  // io_uring_setup(2)
  setup_iopoll = 1U << 0,
  setup_sqpoll = 1U << 1,
  setup_cqsize = 1U << 3,
  setup_clamp = 1U << 4,
  setup_r_disabled = 1U << 6,
  setup_submit_all = 1U << 7,
  setup_coop_taskrun = 1U << 8,
  setup_taskrun_flag = 1U << 9,
  setup_single_issuer = 1U << 12,
  setup_defer_taskrun = 1U << 13,
  setup_no_sqarray = 1U << 16,
};

enum : std::uint32_t {  // params::features
  feature_single_mmap = 1U << 0,
  feature_nodrop = 1U << 1,
  feature_fast_poll = 1U << 5,
  feature_ext_arg = 1U << 8,
  feature_native_workers = 1U << 9,
  feature_cqe_skip = 1U << 11,
  feature_recvsend_bundle = 1U << 14,
  feature_min_timeout = 1U << 15,
  feature_no_iowait = 1U << 17,
};

enum : std::uint32_t {  // io_uring_enter(2)
  enter_getevents = 1U << 0,
  enter_sq_wakeup = 1U << 1,
  enter_ext_arg = 1U << 3,
  enter_registered_ring = 1U << 4,
  enter_abs_timer = 1U << 5,
  enter_no_iowait = 1U << 7,
};

enum : std::uint32_t {  // submission queue flags
  sq_need_wakeup = 1U << 0,
  sq_cq_overflow = 1U << 1,
  sq_taskrun = 1U << 2,
};

enum : std::uint8_t {  // submission::flags
  sqe_fixed_file = 1U << 0,
  sqe_io_drain = 1U << 1,
  sqe_io_link = 1U << 2,
  sqe_io_hardlink = 1U << 3,
  sqe_async = 1U << 4,
  sqe_buffer_select = 1U << 5,
  sqe_cqe_skip_success = 1U << 6,
};

enum : std::uint32_t {  // completion::flags; the buffer id is in the upper half
  cqe_buffer = 1U << 0,
  cqe_more = 1U << 1,
  cqe_sock_nonempty = 1U << 2,
  cqe_notification = 1U << 3,
  cqe_buffer_more = 1U << 4,
};
inline constexpr unsigned cqe_buffer_shift = 16;

enum : std::uint16_t {  // submission::ioprio of receives, sends and accepts
  recvsend_poll_first = 1U << 0,
  recv_multishot = 1U << 1,
  recvsend_fixed_buf = 1U << 2,
  recvsend_bundle = 1U << 4,
  accept_multishot = 1U << 0,
  accept_dontwait = 1U << 1,
  accept_poll_first = 1U << 2,
};

enum : std::uint32_t { poll_add_multi = 1U << 0 };  // submission::length of poll_add

enum : std::uint32_t {  // submission::operation_flags of async_cancel
  cancel_all = 1U << 0,
  cancel_fd = 1U << 1,
  cancel_any = 1U << 2,
};

enum class register_op : std::uint32_t {  // io_uring_register(2)
  eventfd = 4,
  probe = 8,
  enable_rings = 12,
  iowq_max_workers = 19,
  ring_fds = 20,
  unregister_ring_fds = 21,
  pbuf_ring = 22,
  unregister_pbuf_ring = 23,
  sync_cancel = 24,
  clock = 29,
};

inline constexpr std::uint64_t offset_rings = 0;
inline constexpr std::uint64_t offset_submissions = 0x10000000;

inline constexpr long setup_call = 425;  // the same numbers on every architecture since 5.1
inline constexpr long enter_call = 426;
inline constexpr long register_call = 427;

/// A submission queue entry.
struct submission {
  opcode code;
  std::uint8_t flags;
  std::uint16_t ioprio;
  std::int32_t fd;
  std::uint64_t offset;  ///< or the second address
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t operation_flags;
  std::uint64_t user_data;
  std::uint16_t buffer_group;
  std::uint16_t personality;
  std::int32_t file_index;
  std::uint64_t address3;
  std::uint64_t padding;
};
static_assert(sizeof(submission) == 64 && offsetof(submission, user_data) == 32 &&
              offsetof(submission, buffer_group) == 40);

/// A completion queue entry.
struct completion {
  std::uint64_t user_data;
  std::int32_t result;
  std::uint32_t flags;
};
static_assert(sizeof(completion) == 16);

struct submission_ring_offsets {
  std::uint32_t head, tail, ring_mask, ring_entries, flags, dropped, array, reserved;
  std::uint64_t user_address;
};
struct completion_ring_offsets {
  std::uint32_t head, tail, ring_mask, ring_entries, overflow, entries, flags, reserved;
  std::uint64_t user_address;
};
struct params {
  std::uint32_t sq_entries, cq_entries, flags, sq_thread_cpu, sq_thread_idle, features, wq_fd, reserved[3];
  submission_ring_offsets sq;
  completion_ring_offsets cq;
};
static_assert(sizeof(params) == 120);

/// Same layout as the kernel's 64-bit timespec.
struct time {
  std::int64_t seconds;
  std::int64_t nanoseconds;
};

/// Argument of enter with enter_ext_arg.
struct wait_argument {
  std::uint64_t signal_mask;
  std::uint32_t signal_mask_size;
  std::uint32_t min_wait_microseconds;
  std::uint64_t timeout;  ///< address of a `time`
};
static_assert(sizeof(wait_argument) == 24);

/// One entry of a provided-buffer ring. The tail of the ring is stored in `reserved` of the first entry.
struct provided_buffer {
  std::uint64_t address;
  std::uint32_t length;
  std::uint16_t id;
  std::uint16_t reserved;
};
static_assert(sizeof(provided_buffer) == 16);

struct buffer_ring_registration {
  std::uint64_t ring_address;
  std::uint32_t ring_entries;
  std::uint16_t group;
  std::uint16_t flags;
  std::uint64_t reserved[3];
};
static_assert(sizeof(buffer_ring_registration) == 40);

struct resource_update {
  std::uint32_t offset;
  std::uint32_t reserved;
  std::uint64_t data;
};
struct clock_registration {
  std::uint32_t clock_id;
  std::uint32_t reserved[3];
};

}  // namespace gyre::uring
