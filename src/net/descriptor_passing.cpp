// src/net/descriptor_passing.cpp: bytes with descriptors in a control message. SCM_RIGHTS in unix(7).
#include <gyre/io/kernel.hpp>
#include <gyre/net/descriptor_passing.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace gyre {

static_assert(passed_descriptors_room == CMSG_SPACE(max_passed_descriptors * sizeof(int)));

send_descriptors_op::send_descriptors_op(socket_state& socket, std::span<const std::byte> bytes,
                                         std::span<const int> descriptors) noexcept
    : socket_write_base(socket, write_kind::descriptors, bytes.size()), bytes_(bytes), descriptors_(descriptors) {
  if (bytes.empty() || descriptors.empty() || descriptors.size() > max_passed_descriptors) refuse(EINVAL);
}

void send_descriptors_op::point_at_rest() noexcept {
  const std::span<const std::byte> rest = bytes_.subspan(done());
  rest_ = {rest.data(), rest.size()};
  message_ = {.buffers = &rest_, .buffer_count = 1};
  address = &message_;
  if (done() > 0) return;  // the descriptors went with the first byte
  auto* const header = reinterpret_cast<cmsghdr*>(control_);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors_.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors_.data(), descriptors_.size_bytes());
  message_.control = control_;
  message_.control_length = CMSG_SPACE(descriptors_.size_bytes());
}

receive_descriptors_op::receive_descriptors_op(socket_state& socket, std::span<std::byte> buffer) noexcept
    : buffer_(buffer) {
  code = io::opcode::receive_message;
  target = &socket.descriptor();
}

template <class F>
void receive_descriptors_op::for_each_descriptor(F f) const noexcept {
  msghdr header{};
  header.msg_control = message_.control;
  header.msg_controllen = message_.control_length;
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(each) + i * sizeof(fd), sizeof(fd));
      f(fd);
    }
  }
}

receive_descriptors_op::~receive_descriptors_op() {
  expect_ended(*this, "in the middle of receive_descriptors");
  if (holds_descriptors_) for_each_descriptor([](int fd) noexcept { io::files().close(fd); });
}

void receive_descriptors_op::prepare() noexcept {
  piece_ = {buffer_.data(), buffer_.size()};
  message_ = {.buffers = &piece_, .buffer_count = 1, .control = control_, .control_length = sizeof(control_)};
  address = &message_;
}

bool receive_descriptors_op::try_now() noexcept {
  if (buffer_.empty()) return true;
  socket_state& socket = socket_state::of(*this);
  if (socket.waiting_reader != nullptr) return false;
  io::receive_queue& received = socket.received;
  if (received.has_bytes()) {  // put back by a cancelled read
    result = static_cast<int>(received.copy_to(buffer_));
    return true;
  }
  if (received.end() != io::receive_queue::open || received.armed()) {
    result = received.armed() ? -EBUSY : received.end();
    return true;
  }
  if (!target->readable) return false;
  prepare();
  if (!event_loop::current().backend().attempt(*this)) return false;
  holds_descriptors_ = result > 0;
  return true;
}

void receive_descriptors_op::start() noexcept {
  complete = call_member<&receive_descriptors_op::on_complete>;
  prepare();
  socket_state::of(*this).read_directly(*this, *this);
}

void receive_descriptors_op::on_complete() noexcept {
  holds_descriptors_ = result > 0;
  socket_state::of(*this).reader_ended();
  proceed(*this);
}

// If the list cannot be allocated, they stay in the control buffer and are closed with this object.
std::vector<owned_fd> receive_descriptors_op::take_descriptors() {
  std::vector<owned_fd> all;
  if (!holds_descriptors_) return all;
  std::size_t count = 0;
  for_each_descriptor([&](int) noexcept { ++count; });
  all.reserve(count);
  for_each_descriptor([&](int fd) noexcept { all.emplace_back(fd); });
  holds_descriptors_ = false;
  return all;
}

std::expected<received_descriptors, std::error_code> receive_descriptors_op::take_result() {
  const int outcome = socket_state::of(*this).true_end(result);
  if (outcome < 0) return std::unexpected(error_of(outcome));
  const auto size = static_cast<std::size_t>(outcome);
  const bool some_lost = holds_descriptors_ && (message_.flags & MSG_CTRUNC) != 0;
  received_descriptors all{size};
  try {
    all.descriptors = take_descriptors();
  } catch (const std::bad_alloc&) {
    socket_state::of(*this).received.put_back(buffer_.first(size));
    throw;
  }
  if (!some_lost) return all;
  socket_state::of(*this).received.put_back(buffer_.first(size));
  return std::unexpected(std::make_error_code(std::errc::too_many_files_open));
}

void receive_descriptors_op::fail(std::error_code reason) const {
  throw io_error(reason, "receive_descriptors", socket_state::of(*this).peer_name());
}

}  // namespace gyre
