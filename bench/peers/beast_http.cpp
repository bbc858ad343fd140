// bench/peers/beast_http.cpp: "Hello, World!" by Boost.Beast on one thread, with callbacks.
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

// The date that every server here sends. Formatted once per second.
const std::string& date() {
  static std::time_t second = 0;
  static std::string text;
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

int main() {
  boost::asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0));
  std::printf("listening on 127.0.0.1:%d\n", static_cast<int>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  accept(acceptor);
  context.run();
}
