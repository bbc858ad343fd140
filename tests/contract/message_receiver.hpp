// tests/contract/message_receiver.hpp: a multishot that records the datagrams it is given.
#pragma once

#include <gyre/io/backend.hpp>
#include <gyre/io/message_multishot.hpp>

#include "tests/contract/sockets.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace gyre::contract {

struct message_receiver : io::message_multishot {
  std::vector<std::string> texts;
  std::vector<std::uint16_t> ports;  // of the senders
  std::vector<bool> truncated;
  std::vector<std::uint32_t> kept;  // buffers, while `keeps`
  bool keeps = false;
  int last_result = 1;  // 1 while it has not ended
  io::backend* backend;

  message_receiver(io::backend& performer, io::descriptor& d) : backend(&performer) {
    code = io::opcode::receive_messages_many;
    target = &d;
    layout.name_length = sizeof(sockaddr_in);
    layout.control_length = 24;
    deliver = &write_down;
    complete = [](io::completion& c) noexcept {
      static_cast<message_receiver&>(static_cast<io::request&>(c)).listed = false;
    };
  }
  message_receiver(const message_receiver&) = delete;
  message_receiver& operator=(const message_receiver&) = delete;
  ~message_receiver() { EXPECT_EQ(where, io::phase::idle) << "destroyed in flight"; }

  [[nodiscard]] bool ended() const noexcept { return where == io::phase::idle && last_result != 1; }
  void release_kept() {
    for (const std::uint32_t each : std::exchange(kept, {})) backend->buffers().release(each);
  }

 private:
  static void write_down(io::multishot& m, int result, std::uint32_t buffer) noexcept {
    auto& self = static_cast<message_receiver&>(m);
    if (result <= 0) {
      self.last_result = result;
      return;
    }
    io::buffer_pool& pool = self.backend->buffers();
    const auto view = io::view_message(self.layout, {pool.data(buffer), static_cast<std::size_t>(result)});
    self.texts.emplace_back(reinterpret_cast<const char*>(view.payload.data()), view.payload.size());
    self.truncated.push_back((view.flags & MSG_TRUNC) != 0);
    if (view.name.size() == sizeof(sockaddr_in))
      self.ports.push_back(reinterpret_cast<const sockaddr_in*>(view.name.data())->sin_port);
    self.keeps ? self.kept.push_back(buffer) : pool.release(buffer);
  }
};

}  // namespace gyre::contract
