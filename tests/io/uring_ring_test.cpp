// tests/io/uring_ring_test.cpp: the ring binding alone, and its constants compared with the kernel's header.
#include <gyre/io/uring.hpp>

#include <gtest/gtest.h>

#include <linux/io_uring.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

namespace {

namespace uring = gyre::uring;

// The constants of the installed header must equal ours. The header may be older than our list.
#define SAME(ours, theirs) static_assert(static_cast<std::uint64_t>(ours) == static_cast<std::uint64_t>(theirs))
SAME(uring::opcode::nop, IORING_OP_NOP);
SAME(uring::opcode::fsync, IORING_OP_FSYNC);
SAME(uring::opcode::poll_add, IORING_OP_POLL_ADD);
SAME(uring::opcode::sendmsg, IORING_OP_SENDMSG);
SAME(uring::opcode::recvmsg, IORING_OP_RECVMSG);
SAME(uring::opcode::timeout, IORING_OP_TIMEOUT);
SAME(uring::opcode::accept, IORING_OP_ACCEPT);
SAME(uring::opcode::async_cancel, IORING_OP_ASYNC_CANCEL);
SAME(uring::opcode::connect, IORING_OP_CONNECT);
SAME(uring::opcode::openat, IORING_OP_OPENAT);
SAME(uring::opcode::close, IORING_OP_CLOSE);
SAME(uring::opcode::statx, IORING_OP_STATX);
SAME(uring::opcode::read, IORING_OP_READ);
SAME(uring::opcode::write, IORING_OP_WRITE);
SAME(uring::opcode::send, IORING_OP_SEND);
SAME(uring::opcode::recv, IORING_OP_RECV);
SAME(uring::opcode::splice, IORING_OP_SPLICE);
SAME(uring::opcode::shutdown, IORING_OP_SHUTDOWN);
SAME(uring::opcode::renameat, IORING_OP_RENAMEAT);
SAME(uring::opcode::unlinkat, IORING_OP_UNLINKAT);
SAME(uring::opcode::mkdirat, IORING_OP_MKDIRAT);
SAME(uring::opcode::symlinkat, IORING_OP_SYMLINKAT);
SAME(uring::opcode::msg_ring, IORING_OP_MSG_RING);
SAME(uring::opcode::socket, IORING_OP_SOCKET);
SAME(uring::opcode::send_zc, IORING_OP_SEND_ZC);
SAME(uring::setup_cqsize, IORING_SETUP_CQSIZE);
SAME(uring::setup_clamp, IORING_SETUP_CLAMP);
SAME(uring::setup_submit_all, IORING_SETUP_SUBMIT_ALL);
SAME(uring::setup_taskrun_flag, IORING_SETUP_TASKRUN_FLAG);
SAME(uring::setup_single_issuer, IORING_SETUP_SINGLE_ISSUER);
SAME(uring::setup_defer_taskrun, IORING_SETUP_DEFER_TASKRUN);
SAME(uring::feature_single_mmap, IORING_FEAT_SINGLE_MMAP);
SAME(uring::feature_nodrop, IORING_FEAT_NODROP);
SAME(uring::feature_fast_poll, IORING_FEAT_FAST_POLL);
SAME(uring::feature_ext_arg, IORING_FEAT_EXT_ARG);
SAME(uring::feature_native_workers, IORING_FEAT_NATIVE_WORKERS);
SAME(uring::feature_cqe_skip, IORING_FEAT_CQE_SKIP);
SAME(uring::enter_getevents, IORING_ENTER_GETEVENTS);
SAME(uring::enter_ext_arg, IORING_ENTER_EXT_ARG);
SAME(uring::enter_registered_ring, IORING_ENTER_REGISTERED_RING);
SAME(uring::sq_cq_overflow, IORING_SQ_CQ_OVERFLOW);
SAME(uring::sq_taskrun, IORING_SQ_TASKRUN);
SAME(uring::sqe_buffer_select, IOSQE_BUFFER_SELECT);
SAME(uring::sqe_cqe_skip_success, IOSQE_CQE_SKIP_SUCCESS);
SAME(uring::cqe_buffer, IORING_CQE_F_BUFFER);
SAME(uring::cqe_more, IORING_CQE_F_MORE);
SAME(uring::cqe_sock_nonempty, IORING_CQE_F_SOCK_NONEMPTY);
SAME(uring::cqe_buffer_shift, IORING_CQE_BUFFER_SHIFT);
SAME(uring::recvsend_poll_first, IORING_RECVSEND_POLL_FIRST);
SAME(uring::recv_multishot, IORING_RECV_MULTISHOT);
SAME(uring::accept_multishot, IORING_ACCEPT_MULTISHOT);
SAME(uring::poll_add_multi, IORING_POLL_ADD_MULTI);
SAME(uring::cancel_all, IORING_ASYNC_CANCEL_ALL);
SAME(uring::cancel_fd, IORING_ASYNC_CANCEL_FD);
SAME(uring::cancel_any, IORING_ASYNC_CANCEL_ANY);
SAME(uring::register_op::ring_fds, IORING_REGISTER_RING_FDS);
SAME(uring::register_op::unregister_ring_fds, IORING_UNREGISTER_RING_FDS);
SAME(uring::register_op::pbuf_ring, IORING_REGISTER_PBUF_RING);
SAME(uring::register_op::unregister_pbuf_ring, IORING_UNREGISTER_PBUF_RING);
SAME(uring::offset_rings, IORING_OFF_SQ_RING);
SAME(uring::offset_submissions, IORING_OFF_SQES);
SAME(sizeof(uring::submission), sizeof(io_uring_sqe));
SAME(sizeof(uring::completion), sizeof(io_uring_cqe));
SAME(sizeof(uring::params), sizeof(io_uring_params));
SAME(sizeof(uring::provided_buffer), sizeof(io_uring_buf));
SAME(sizeof(uring::buffer_ring_registration), sizeof(io_uring_buf_reg));
SAME(sizeof(uring::wait_argument), sizeof(io_uring_getevents_arg));
SAME(offsetof(uring::submission, user_data), offsetof(io_uring_sqe, user_data));
SAME(offsetof(uring::submission, operation_flags), offsetof(io_uring_sqe, msg_flags));
SAME(offsetof(uring::submission, buffer_group), offsetof(io_uring_sqe, buf_group));
SAME(offsetof(uring::params, sq), offsetof(io_uring_params, sq_off));
SAME(offsetof(uring::params, cq), offsetof(io_uring_params, cq_off));
#undef SAME

class uring_ring : public testing::Test {
 protected:
  void SetUp() override {
    const uring::refusal refused = uring::open_ring(ring, {.submission_entries = 8, .completion_entries = 16});
    if (refused.error != 0) GTEST_SKIP() << refused.step << ": " << std::strerror(refused.error);
  }
  uring::ring ring;
};

}  // namespace

TEST_F(uring_ring, completes_a_nop_with_its_user_data) {
  uring::submission* const entry = ring.next_submission();
  ASSERT_NE(entry, nullptr);
  uring::prepare_nop(*entry);
  entry->user_data = 42;
  EXPECT_GE(ring.enter(1), 0);
  ASSERT_EQ(ring.ready(), 1U);
  EXPECT_EQ(ring.at(0).user_data, 42U);
  ring.advance(1);
  EXPECT_EQ(ring.ready(), 0U);
}

TEST_F(uring_ring, submits_a_whole_batch_in_one_system_call) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    uring::submission* const entry = ring.next_submission();
    ASSERT_NE(entry, nullptr);
    uring::prepare_nop(*entry);
    entry->user_data = i;
  }
  EXPECT_EQ(ring.next_submission(), nullptr) << "the queue has room for 8";
  const std::uint64_t before = ring.enters();
  EXPECT_EQ(ring.enter(8), 8);
  EXPECT_EQ(ring.enters() - before, 1U);
  EXPECT_EQ(ring.ready(), 8U);
  EXPECT_NE(ring.next_submission(), nullptr);
}

TEST_F(uring_ring, a_completion_queue_that_overflows_loses_nothing) {
  for (int i = 0; i < 40; ++i) {
    uring::submission* entry = ring.next_submission();
    if (entry == nullptr) {
      ring.enter(0);
      entry = ring.next_submission();
    }
    ASSERT_NE(entry, nullptr);
    uring::prepare_nop(*entry);
    entry->user_data = 7;
  }
  int seen = 0;
  for (int turn = 0; seen < 40 && turn < 100; ++turn) {
    ring.enter(0);
    seen += static_cast<int>(ring.ready());
    ring.advance(ring.ready());
  }
  EXPECT_EQ(seen, 40);
}

TEST_F(uring_ring, waits_until_a_deadline_and_not_longer) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t deadline = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec + 5'000'000;
  EXPECT_EQ(ring.enter(1, deadline), -ETIME);
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  EXPECT_GE(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, deadline);
}

TEST_F(uring_ring, a_cancelled_receive_leaves_the_bytes_in_the_socket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  char buffer[8];
  uring::submission* entry = ring.next_submission();
  uring::prepare_receive(*entry, ends[0], buffer, sizeof(buffer));
  entry->user_data = 1;
  ring.enter(0);
  entry = ring.next_submission();
  uring::prepare_cancel(*entry, 1);
  entry->flags = uring::sqe_cqe_skip_success;
  entry->user_data = 2;
  EXPECT_GE(ring.enter(1), 0);
  ASSERT_EQ(ring.ready(), 1U);
  EXPECT_EQ(ring.at(0).result, -ECANCELED);
  ring.advance(1);
  EXPECT_EQ(::send(ends[1], "kept", 4, 0), 4);
  EXPECT_EQ(::recv(ends[0], buffer, sizeof(buffer), MSG_DONTWAIT), 4);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(uring_ring, passes_its_self_test) {
  uring::capabilities found;
  const uring::refusal refused = uring::self_test(ring).run(found);
  EXPECT_EQ(refused.error, 0) << refused.step;
}

TEST(uring_open, a_ring_of_no_entries_is_refused_with_EINVAL) {
  uring::ring ring;
  EXPECT_EQ(ring.open({.submission_entries = 0}), EINVAL);
  EXPECT_FALSE(ring);
}

TEST(uring_open, gives_its_registered_descriptor_back_when_it_closes) {
  for (int i = 0; i < 40; ++i) {  // a thread has 16 slots
    uring::ring ring;
    if (uring::open_ring(ring, {.submission_entries = 8, .completion_entries = 16}).error != 0) GTEST_SKIP();
    EXPECT_TRUE(ring.has_registered_descriptor()) << "ring " << i;
    EXPECT_GE(ring.enter(0), 0);
  }
}

TEST_F(uring_ring, a_group_of_buffers_has_a_power_of_two_of_them_up_to_32768) {
  for (const std::uint32_t entries : {0U, 3U, 65536U}) {
    uring::buffer_ring buffers;
    EXPECT_EQ(buffers.open(ring, 1, entries), EINVAL) << entries;
  }
  uring::buffer_ring buffers;
  EXPECT_EQ(buffers.open(ring, 1, 4), 0);
  EXPECT_EQ(buffers.open(ring, 2, 4), EINVAL) << "it is open already";
}
