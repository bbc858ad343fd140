// tests/contract/requests.hpp: descriptors and requests that record their results.
#pragma once

#include "tests/contract/sockets.hpp"
#include "tests/contract/turning_backend.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gyre::contract {

/// A descriptor that owns its socket and is attached to a backend while it exists.
class endpoint : public io::descriptor {
 public:
  endpoint(turning_backend& backend, owned_fd socket, bool attach_now = true)
      : socket_(std::move(socket)), backend_(&backend) {
    fd = socket_.get();
    if (attach_now) backend->attach(*this);
  }
  /// Our end of a connection, and the other one.
  endpoint(turning_backend& backend, connection c, bool attach_now = true)
      : endpoint(backend, std::move(c.ours), attach_now) {
    peer = std::move(c.peer);
  }
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;
  ~endpoint() { close(); }

  void close() {
    if (fd < 0) return;
    EXPECT_EQ(in_flight, 0U) << "closed with a request in flight";
    if (*backend_) (*backend_)->detach(*this);
    socket_.close();
    fd = -1;
  }
  [[nodiscard]] const owned_fd& socket() const noexcept { return socket_; }

  owned_fd peer;

 private:
  owned_fd socket_;
  turning_backend* backend_;
};

/// Our end of a connection that accepts no more bytes.
struct full_endpoint : endpoint {
  full_endpoint(turning_backend& performer, connection c)
      : endpoint(performer, std::move(c)), stuffed(fill(socket())) {}
  std::size_t stuffed;  // the number of bytes that the peer has not read
};

/// A one-shot request that counts its completions.
struct one_shot : io::request {
  int completions = 0;
  int submissions = 0;

  one_shot(io::opcode operation, io::descriptor& d, const void* data = nullptr, std::size_t size = 0) {
    code = operation;
    target = &d;
    address = const_cast<void*>(data);
    length = static_cast<std::uint32_t>(size);
    result = -12345;
    complete = [](io::completion& c) noexcept { ++static_cast<one_shot&>(static_cast<io::request&>(c)).completions; };
  }
  one_shot(const one_shot&) = delete;
  one_shot& operator=(const one_shot&) = delete;
  ~one_shot() { EXPECT_LE(completions, submissions) << "completed more often than submitted"; }

  [[nodiscard]] bool done() const noexcept { return completions == submissions; }
};

/// A request that records what it is given until it ends. A one-shot operation is submitted again after each result, so
/// that it can be tested like the multishot one.
struct many : io::multishot {
  std::vector<int> results;        // of all deliveries except the last
  std::vector<std::size_t> sizes;  // received with each delivery
  std::string bytes;               // received, in order
  int last_result = 1;             // 1 while it has not ended
  int completions = 0;
  bool keeps_buffers = false;  // in `kept`, until the test releases them
  std::vector<std::uint32_t> kept;
  std::function<void(int)> on_delivery;  // called last
  turning_backend* backend;

  many(turning_backend& performer, io::opcode operation, io::descriptor& d) : backend(&performer) {
    code = operation;
    target = &d;
    deliver = &keep;
    complete = &completed;
  }
  many(const many&) = delete;
  many& operator=(const many&) = delete;
  ~many() {
    EXPECT_EQ(where, io::phase::idle) << "destroyed in flight";
    if (accepts())
      for (const int accepted : results) ::close(accepted);
  }

  void submit() noexcept {
    last_result = 1;
    submit_once();
  }
  void cancel() noexcept {
    stopping_ = true;
    (*backend)->cancel(*this);
  }
  [[nodiscard]] bool ended() const noexcept { return io::is_multishot(code) ? where == io::phase::idle : !goes_on_; }

  void release_kept(std::size_t count = ~std::size_t{0}) {
    for (; count > 0 && !kept.empty(); --count) {
      (*backend)->buffers().release(kept.front());
      kept.erase(kept.begin());
    }
  }

 private:
  [[nodiscard]] bool accepts() const noexcept { return code == io::opcode::accept || code == io::opcode::accept_many; }

  void submit_once() noexcept {
    stopping_ = false;
    goes_on_ = true;
    if (code == io::opcode::receive_into) {
      address = room_.data();
      length = static_cast<std::uint32_t>(room_.size());
    }
    (*backend)->submit(*this);
  }

  static void keep(io::multishot& m, int result, std::uint32_t buffer) noexcept {
    auto& self = static_cast<many&>(m);
    EXPECT_EQ(buffer != no_buffer, result > 0 && !self.accepts());
    if (buffer != no_buffer) self.take(buffer, static_cast<std::size_t>(result));
    if (!self.note(result)) EXPECT_EQ(m.where, io::phase::idle) << "went on after " << result;
    if (self.on_delivery) self.on_delivery(result);
  }

  static void completed(io::completion& c) noexcept {
    auto& self = static_cast<many&>(static_cast<io::request&>(c));
    ++self.completions;
    self.listed = false;
    if (!io::is_multishot(self.code)) self.completed_once();
  }
  void completed_once() noexcept {
    const int came = result;
    if (came > 0 && !accepts()) take(room_.data(), static_cast<std::size_t>(came));
    if (!tell(came)) return;
    if (stopping_)
      tell(-ECANCELED);
    else
      submit_once();
  }
  bool tell(int came) {
    const bool carries_data = note(came);
    goes_on_ = carries_data;
    if (on_delivery) on_delivery(came);  // may submit it again
    return carries_data;
  }

  /// Returns false for the last result.
  bool note(int came) {
    const bool carries_data = came > 0 || (came == 0 && accepts());
    if (carries_data)
      results.push_back(came);
    else
      last_result = came;
    return carries_data;
  }

  void take(const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    sizes.push_back(size);
  }
  void take(std::uint32_t buffer, std::size_t size) {
    io::buffer_pool& pool = (*backend)->buffers();
    take(pool.data(buffer), size);
    if (keeps_buffers)
      kept.push_back(buffer);
    else
      pool.release(buffer);
  }

  bool stopping_ = false;
  bool goes_on_ = false;         // a one-shot operation
  std::array<char, 4096> room_;  // of receive_into
};

/// A connection, and a request that receives from it.
struct receiver : endpoint, many {
  receiver(turning_backend& performer, io::opcode operation, connection c)
      : endpoint(performer, std::move(c)), many(performer, operation, static_cast<io::descriptor&>(*this)) {}
};

}  // namespace gyre::contract
