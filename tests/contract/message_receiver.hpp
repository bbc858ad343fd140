// tests/contract/message_receiver.hpp: a request that records the datagrams it is given.
#pragma once

#include <gyre/io/message_multishot.hpp>

#include "tests/contract/requests.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <vector>

namespace gyre::contract {

/// A UDP socket, and a request that receives datagrams until it ends. opcode::receive_message is submitted again after
/// each of them, so that it can be tested like the multishot one.
struct message_receiver : endpoint, io::message_multishot {
  std::vector<std::string> texts;
  std::vector<std::uint16_t> ports;  // of the senders
  std::vector<bool> truncated;
  std::vector<std::uint32_t> kept;  // buffers, while `keeps`
  bool keeps = false;
  int last_result = 1;  // 1 while it has not ended

  message_receiver(turning_backend& performer, io::opcode operation, connection c = udp_pair())
      : endpoint(performer, std::move(c)), backend_(&performer) {
    code = operation;
    target = this;
    layout.name_length = sizeof(sockaddr_in);
    layout.control_length = 24;
    deliver = &write_down;
    complete = &completed;
  }
  message_receiver(const message_receiver&) = delete;
  message_receiver& operator=(const message_receiver&) = delete;
  ~message_receiver() { EXPECT_EQ(where, io::phase::idle) << "destroyed in flight"; }

  void submit() noexcept {
    last_result = 1;
    stopping_ = false;
    if (code == io::opcode::receive_message) prepare();
    (*backend_)->submit(*this);
  }
  void cancel() noexcept {
    stopping_ = true;
    (*backend_)->cancel(*this);
  }
  [[nodiscard]] bool ended() const noexcept { return where == io::phase::idle && last_result != 1; }
  void release_kept() {
    for (const std::uint32_t each : std::exchange(kept, {})) (*backend_)->buffers().release(each);
  }

 private:
  void prepare() noexcept {
    whole_ = {};
    whole_.name = &from_;
    whole_.name_length = sizeof(from_);
    whole_.buffers = &piece_;
    whole_.buffer_count = 1;
    address = &whole_;
  }

  static void completed(io::completion& c) noexcept {
    auto& self = static_cast<message_receiver&>(static_cast<io::message_multishot&>(static_cast<io::request&>(c)));
    self.listed = false;
    if (self.code != io::opcode::receive_message) return;
    if (self.result < 0) {
      self.last_result = self.result;
      return;
    }
    self.note({self.room_.data(), static_cast<std::size_t>(self.result)},
              {reinterpret_cast<const char*>(&self.from_), self.whole_.name_length}, self.whole_.flags);
    if (self.stopping_)
      self.last_result = -ECANCELED;
    else
      self.submit();
  }

  static void write_down(io::multishot& m, int result, std::uint32_t buffer) noexcept {
    auto& self = static_cast<message_receiver&>(static_cast<io::message_multishot&>(m));
    if (result <= 0) {
      self.last_result = result;
      return;
    }
    io::buffer_pool& pool = (*self.backend_)->buffers();
    const auto view = io::view_message(self.layout, {pool.data(buffer), static_cast<std::size_t>(result)});
    self.note({reinterpret_cast<const char*>(view.payload.data()), view.payload.size()},
              {reinterpret_cast<const char*>(view.name.data()), view.name.size()}, static_cast<int>(view.flags));
    self.keeps ? self.kept.push_back(buffer) : pool.release(buffer);
  }

  void note(std::string_view text, std::string_view name, int flags) {
    texts.emplace_back(text);
    truncated.push_back((flags & MSG_TRUNC) != 0);
    if (name.size() == sizeof(sockaddr_in))
      ports.push_back(reinterpret_cast<const sockaddr_in*>(name.data())->sin_port);
  }

  turning_backend* backend_;
  bool stopping_ = false;
  std::array<char, 1024> room_{};  // of receive_message
  io::const_buffer piece_{room_.data(), room_.size()};
  sockaddr_storage from_{};
  io::message whole_;
};

}  // namespace gyre::contract
