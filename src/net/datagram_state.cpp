// src/net/datagram_state.cpp: the life of a datagram socket, and its received datagrams.
#include <gyre/io/kernel.hpp>
#include <gyre/net/datagram_operations.hpp>
#include <gyre/net/datagram_state.hpp>

#include <cerrno>
#include <utility>

namespace gyre {

namespace {
constinit operation_base nobody_receives{{.cancel = [](cancellable&) noexcept {}}};
}  // namespace

constinit datagram_state datagram_state::closed(nobody_receives);

datagram_state::datagram_state(int number, waiting for_room) noexcept
    : pool_(&loop_of(kind).backend().buffers()), for_room_(for_room) {
  retry_.socket = this;
  retry_.fire = call_member<&retry_timer::on_time>;
  fd = number;
  arrivals_.code = io::opcode::receive_messages_many;
  arrivals_.target = this;
  arrivals_.deliver = &deliver;
  arrivals_.complete = &received_something;
  arrivals_.layout.name_length = max_socket_address_size;
  arrivals_.layout.control_length = datagram_control_room;
  event_loop::current().backend().attach(*this);
}

void datagram_state::retry_timer::on_time() noexcept {
  socket->retrying_ = false;
  socket->first_sender->try_again();
}

datagram_state::~datagram_state() {
  if (this == &closed) return;
  while (has_arrivals()) pool_->release(take_first());
  event_loop::current().backend().detach(*this);
  io::files().close(fd);
}

void datagram_state::stop_for_wrong_use(const char* operation) const noexcept {
  expect_open(operation);
  stop_on_other_loop(operation, kind);
}

void datagram_state::stop_for_two_receivers(const char* operation) const noexcept {
  expect_usable(operation);
  misuse("two tasks receive from one datagram socket at the same time: let one task receive, and hand on what it gets");
}

void datagram_state::receive_many() noexcept {
  const bool directly = receiver != nullptr && arrived_ == nullptr;
  if (arrivals_.where == io::phase::idle && count_ < max_waiting && !directly)
    event_loop::current().backend().submit(arrivals_);
}

void datagram_state::wait_for_arrivals(operation_base& op, void (*told)(operation_base&) noexcept) noexcept {
  if (receiver != nullptr) stop_for_two_receivers("receive");
  expect_usable("receive");
  receiver = &op;
  arrived_ = told;
  receive_many();
}

void datagram_state::receive_directly(operation_base& op, io::request& call) noexcept {
  if (receiver != nullptr) stop_for_two_receivers("receive_from");
  expect_usable("receive_from");
  receiver = &op;
  arrived_ = nullptr;
  event_loop::current().backend().submit(call);
}

bool datagram_state::stop_waiting(const operation_base& op) noexcept {
  return receiver == &op && std::exchange(arrived_, nullptr) != nullptr;
}

void datagram_state::deliver(io::multishot& m, int result, std::uint32_t buffer) noexcept {
  datagram_state& self = of(m);
  if (result <= 0) {
    if (result != -ECANCELED) self.failure_ = -result;
    return;
  }
  io::buffer_pool::slot& slot = self.pool_->at(buffer);
  slot.next = io::buffer_pool::none;
  slot.length = static_cast<std::uint32_t>(result);
  (self.has_arrivals() ? self.pool_->at(self.last_).next : self.first_) = buffer;
  self.last_ = buffer;
  if (++self.count_ >= max_waiting && self.receives_many()) event_loop::current().backend().cancel(self.arrivals_);
}

void datagram_state::received_something(io::completion& c) noexcept {
  auto& many = static_cast<io::multishot&>(static_cast<io::request&>(c));
  datagram_state& self = of(many);
  many.listed = false;
  if (self.abandoned_) return self.release_when_quiet();
  // After its end, the multishot may still be in the ready list while a receiver has begun its own request.
  if (self.receiver == nullptr || self.arrived_ == nullptr) return;
  if (!self.has_arrivals() && self.failure_ == 0) return self.receive_many();  // it ended for no reason of its own
  operation_base& waiting = *std::exchange(self.receiver, nullptr);
  self.arrived_(waiting);
}

io::message_view datagram_state::arrival(std::uint32_t buffer) const noexcept {
  return io::view_message(arrivals_.layout, {pool_->data(buffer), pool_->at(buffer).length});
}

std::uint32_t datagram_state::take_first() noexcept {
  --count_;
  return std::exchange(first_, pool_->at(first_).next);
}

int datagram_state::take_failure() noexcept { return has_arrivals() ? 0 : std::exchange(failure_, 0); }

void datagram_state::retry_soon() noexcept {
  constexpr io::monotonic_time pause = 1'000'000;
  event_loop& loop = event_loop::current();
  retrying_ = true;
  retry_.deadline = loop.now() + pause;
  loop.timers().arm(retry_);
}

bool datagram_state::stop_retrying() noexcept {
  if (!retrying_) return false;
  retrying_ = false;
  event_loop::current().timers().disarm(retry_);
  return true;
}

void datagram_state::cancel_all() noexcept {
  if (this == &closed) return;
  expect_usable("cancel");
  if (receiver != nullptr) receiver->cancel(*receiver);
  while (last_sender != first_sender) last_sender->cancel(*last_sender);
  if (first_sender != nullptr) first_sender->cancel(*first_sender);
}

void datagram_state::abandon() noexcept {
  io::backend& backend = loop_of(kind).backend();
  if (pool_ != &backend.buffers()) [[unlikely]] {
    stop_destroyed_elsewhere(kind);
    io::files().close(fd);  // a forked child: the rest of this belongs to the parent's loop
    return;
  }
  if (receiver != nullptr || first_sender != nullptr)
    misuse(
        "a datagram socket was destroyed while another task sends or receives with it: cancel and await that task "
        "first");
  abandoned_ = true;
  if (receives_many()) backend.cancel(arrivals_);
  release_when_quiet();
}

void datagram_state::release_when_quiet() noexcept {
  if (in_flight == 0 && !arrivals_.listed) delete this;
}

}  // namespace gyre
