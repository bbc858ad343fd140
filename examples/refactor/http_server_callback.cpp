// examples/refactor/http_server_callback.cpp: the files of a directory over HTTP/1.1, with the callbacks of Asio.
#include "http_files.hpp"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace {

using asio::ip::tcp;
using http_files::answer;
using http_files::answer_to;
using http_files::settings;

/// A connection. Each waiting handler holds a pointer to it, so it lives as long as one waits.
class session : public std::enable_shared_from_this<session> {
 public:
  session(tcp::socket peer, const settings& chosen, std::set<session*>& all)
      : peer_(std::move(peer)), deadline_(peer_.get_executor()), settings_(chosen), all_(all) {
    all_.insert(this);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() { all_.erase(this); }

  void start() { read_head(); }

  /// Lets the session read the bytes that have arrived, then the end.
  void finish_reading() {
    std::error_code left_already;
    peer_.shutdown(tcp::socket::shutdown_receive, left_already);
  }

 private:
  void read_head() {
    set_deadline();
    asio::async_read_until(peer_, asio::dynamic_buffer(received_, http_files::max_head_size), "\r\n\r\n",
                           [self = shared_from_this()](std::error_code error, std::size_t size) {
                             if (error == asio::error::not_found) {  // the head is too long
                               self->answer_.emplace(400, false);
                             } else if (error) {  // the peer has finished or left, or the deadline has passed
                               return;
                             } else {
                               self->answer_ = answer_to(self->received_.substr(0, size), self->settings_.root);
                               self->received_.erase(0, size);
                             }
                             self->write_piece();
                           });
  }

  void write_piece() {
    const std::string_view piece = answer_->next_piece();
    if (piece.empty()) {
      if (answer_->keep_alive()) return read_head();
      return finish();
    }
    set_deadline();
    asio::async_write(peer_, asio::buffer(piece), [self = shared_from_this()](std::error_code error, std::size_t) {
      if (!error) self->write_piece();
    });
  }

  // Closing with unread bytes would reset the connection, and the answer could get lost.
  void finish() {
    std::error_code left_already;
    peer_.shutdown(tcp::socket::shutdown_send, left_already);
    if (left_already) return;
    set_deadline();
    discard();
  }
  void discard() {
    peer_.async_read_some(asio::buffer(discarded_), [self = shared_from_this()](std::error_code error, std::size_t) {
      if (!error) self->discard();
    });
  }

  // Closing ends the waiting operation, whose handler is the last owner of this object.
  void set_deadline() {
    deadline_.expires_after(settings_.patience);
    deadline_.async_wait([weak = weak_from_this()](std::error_code) {
      const auto self = weak.lock();  // a deadline alone does not keep a connection alive
      if (self && self->deadline_.expiry() <= std::chrono::steady_clock::now()) self->peer_.close();
    });
  }

  tcp::socket peer_;
  asio::steady_timer deadline_;
  const settings& settings_;
  std::set<session*>& all_;
  std::string received_;
  std::optional<answer> answer_;
  std::array<char, 4096> discarded_;
};

// An exception of a handler leaves run(). It also ends the connection, whose last owner that handler was.
template <class F>
void report_failures(F run) {
  for (;;) {
    try {
      run();
      return;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
    }
  }
}

class server {
 public:
  explicit server(const settings& chosen)
      : settings_(chosen), acceptor_(context_, tcp::endpoint(asio::ip::make_address(chosen.host), chosen.port)) {
    signals_.async_wait([this](std::error_code, int) { context_.stop(); });
    accept();
  }

  [[nodiscard]] std::string where() const {
    return settings_.host + ':' + std::to_string(acceptor_.local_endpoint().port());
  }

  void run() {
    report_failures([this] { context_.run(); });  // until the first signal; the next one kills the program
    signals_.clear();
    acceptor_.close();
    for (session* const each : sessions_) each->finish_reading();
    context_.restart();
    const auto limit = std::chrono::steady_clock::now() + settings::drain;
    report_failures([&] { context_.run_until(limit); });
  }

 private:
  void accept() {
    acceptor_.async_accept([this](std::error_code error, tcp::socket peer) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        std::fprintf(stderr, "accept: %s\n", error.message().c_str());
        return accept_later();
      }
      peer.set_option(tcp::no_delay(true), error);
      std::make_shared<session>(std::move(peer), settings_, sessions_)->start();
      accept();
    });
  }
  // Out of descriptors: retry, since a connection may end.
  void accept_later() {
    retry_.expires_after(std::chrono::milliseconds(100));
    retry_.async_wait([this](std::error_code) {
      if (acceptor_.is_open()) accept();
    });
  }

  const settings& settings_;
  std::set<session*> sessions_;  // declared before the context, whose destructor destroys the last sessions
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer retry_{context_};
  asio::signal_set signals_{context_, SIGINT, SIGTERM};
};

void serve(const settings& chosen) {
  server files(chosen);
  std::fprintf(stderr, "serving on http://%s\n", files.where().c_str());
  files.run();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto chosen = http_files::read_arguments(std::span(arguments, static_cast<std::size_t>(count)));
    if (!chosen) {
      std::fprintf(stderr, "usage: http_server_callback [--root DIR] [--listen HOST:PORT] [--idle SECONDS]\n");
      return 2;
    }
    serve(*chosen);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
