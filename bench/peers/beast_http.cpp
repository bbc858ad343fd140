// bench/peers/beast_http.cpp: "Hello, World!" by Boost.Beast with callbacks. The argument is the number of threads
// (default 1); each has an io_context and a listening socket of its own.
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

// The date that every server here sends. Formatted once per second.
const std::string& date() {
  static thread_local std::time_t second = 0;
  static thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    second = now;
    char buffer[32];
    std::strftime(buffer, sizeof(buffer), "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&now));
    text = buffer;
  }
  return text;
}

class session : public std::enable_shared_from_this<session> {
 public:
  explicit session(tcp::socket socket) : socket_(std::move(socket)) {}
  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->write();
    });
  }

 private:
  void write() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::date, date());
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "Hello, World!";
    response_.prepare_payload();
    http::async_write(socket_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error && self->response_.keep_alive()) self->read();
    });
  }

  tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](beast::error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<session>(std::move(socket))->read();
    }
    accept(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  tcp::endpoint where(boost::asio::ip::make_address("127.0.0.1"), 0);
  std::vector<std::unique_ptr<boost::asio::io_context>> contexts;
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors;
  for (int i = 0; i < threads; ++i) {
    auto& context = *contexts.emplace_back(std::make_unique<boost::asio::io_context>(1));
    auto& acceptor = *acceptors.emplace_back(std::make_unique<tcp::acceptor>(context));
    acceptor.open(where.protocol());
    const int on = 1;
    ::setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    acceptor.bind(where);
    acceptor.listen();
    where = acceptor.local_endpoint();
    accept(acceptor);
  }
  std::printf("listening on 127.0.0.1:%d\n", static_cast<int>(where.port()));
  std::fflush(stdout);
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back([&context = *contexts[static_cast<std::size_t>(i)]] { context.run(); });
  contexts.front()->run();
}
