// bench/bare/uring_loop.hpp: the fastest plain liburing server: multishot, provided
// buffers, replies by send(2) at once.
#pragma once

#include "bench/bare/options.hpp"

#include <liburing.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace bare {

constexpr unsigned buffers = 64;  // few, so that they stay in the cache

template <class Protocol>
struct uring_connection {
  int fd;
  Protocol protocol;
};

template <class Protocol>
class uring_server {
  using connection = uring_connection<Protocol>;

 public:
  explicit uring_server(int listener) : listener_(listener) {
    io_uring_params params{};
    params.flags =
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL;
    params.cq_entries = 4096;
    if (io_uring_queue_init_params(256, &ring_, &params) < 0) fail("io_uring_queue_init_params");
    io_uring_register_ring_fd(&ring_);
    void* memory = nullptr;
    if (::posix_memalign(&memory, 4096, buffers * sizeof(io_uring_buf)) != 0) fail("posix_memalign");
    provided_ = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
    registration.ring_entries = buffers;
    if (io_uring_register_buf_ring(&ring_, &registration, 0) < 0) fail("io_uring_register_buf_ring");
    io_uring_buf_ring_init(provided_);
    memory_.resize(std::size_t{buffers} * buffer_size_);
    for (unsigned i = 0; i < buffers; ++i) give_back(i);
    io_uring_buf_ring_advance(provided_, static_cast<int>(pending_));
    pending_ = 0;
    arm_accept();
  }

  void run() {
    for (;;) {
      io_uring_submit_and_wait(&ring_, 1);
      io_uring_cqe* completion = nullptr;
      unsigned head = 0;
      unsigned count = 0;
      io_uring_for_each_cqe(&ring_, head, completion) {
        ++count;
        handle(*completion);
      }
      io_uring_cq_advance(&ring_, count);
      if (pending_ > 0) io_uring_buf_ring_advance(provided_, static_cast<int>(pending_));
      pending_ = 0;
    }
  }

 private:
  char* data(unsigned id) { return memory_.data() + std::size_t{id} * buffer_size_; }
  void give_back(unsigned id) {
    io_uring_buf_ring_add(provided_, data(id), buffer_size_, static_cast<unsigned short>(id), buffers - 1,
                          static_cast<int>(pending_++));
  }
  io_uring_sqe* entry() {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    while (sqe == nullptr) {
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    return sqe;
  }
  void arm_accept() {
    io_uring_sqe* const sqe = entry();
    io_uring_prep_multishot_accept(sqe, listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    io_uring_sqe_set_data(sqe, nullptr);
  }
  void arm_receive(connection* c) {
    io_uring_sqe* const sqe = entry();
    io_uring_prep_recv_multishot(sqe, c->fd, nullptr, 0, 0);
    sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = 0;
    io_uring_sqe_set_data(sqe, c);
  }
  void handle(const io_uring_cqe& completion) {
    auto* const c = static_cast<connection*>(io_uring_cqe_get_data(&completion));
    if (c == nullptr) {
      if (completion.res >= 0) arm_receive(new connection{completion.res, {}});
      if ((completion.flags & IORING_CQE_F_MORE) == 0) arm_accept();
      return;
    }
    if (completion.res == -ENOBUFS) return arm_receive(c);
    if (completion.res <= 0) {
      ::close(c->fd);
      delete c;
      return;
    }
    const unsigned id = completion.flags >> IORING_CQE_BUFFER_SHIFT;
    std::string_view reply = c->protocol.answer({data(id), static_cast<std::size_t>(completion.res)}, scratch_);
    while (!reply.empty()) {  // does not handle a load that never reads its replies
      const ssize_t sent = ::send(c->fd, reply.data(), reply.size(), MSG_NOSIGNAL);
      if (sent > 0) reply.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN) break;
    }
    give_back(id);
    if ((completion.flags & IORING_CQE_F_MORE) == 0) arm_receive(c);
  }

  int listener_;
  io_uring ring_{};
  io_uring_buf_ring* provided_ = nullptr;
  unsigned buffer_size_ = static_cast<unsigned>(bare::buffer_size(4096));
  std::vector<char> memory_;
  unsigned pending_ = 0;
  std::string scratch_;
};

template <class Protocol>
int run_uring(int argc, char** argv) {
  uring_server<Protocol>(listen_as_told(argc, argv, "io_uring")).run();
  return 0;
}

}  // namespace bare
