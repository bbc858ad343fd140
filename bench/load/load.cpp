// bench/load/load.cpp: a load on one thread: each connection sends a batch, waits for all answers, repeats.
//
// load PORT echo[:BYTES]|resp|set:BYTES|get:BYTES|http:/PATH CONNECTIONS DEPTH SECONDS [RATE]: prints one line of JSON.
// With RATE, so many batches are sent per second, evenly, by the connections in turn. A latency then begins when the
// batch was due, also when its connection was still waiting for the previous answers.
//
// set, get and an echo of more than 64 KiB keep the load from being the limit: they send a large batch without copying
// it (sendfile), and compare only the first answer of each connection. The kernel drops the others, which are counted.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

struct connection {
  int fd = -1;
  std::size_t received = 0;
  bool checked = false;
  bool waits = false;  // for answers
  clock_type::time_point due;
  std::deque<clock_type::time_point> overdue;  // batches that wait for their turn
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

int connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0) fail("connect");
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  return fd;
}

std::size_t receive_some(int fd, char* buffer, std::size_t size) {
  const ssize_t n = ::recv(fd, buffer, size, 0);
  if (n <= 0) fail("recv: the server has closed a connection");
  return static_cast<std::size_t>(n);
}

// Sends the bytes, which are also in a file. A large batch is sent from there.
void send_all(int fd, const std::string& bytes, int file) {
  constexpr std::size_t large = 16'384;
  off_t at = 0;
  if (file >= 0 && bytes.size() >= large)
    while (static_cast<std::size_t>(at) < bytes.size())
      if (::sendfile(fd, file, &at, bytes.size() - static_cast<std::size_t>(at)) <= 0) fail("sendfile");
  const std::size_t left = bytes.size() - static_cast<std::size_t>(at);
  if (left != 0 && ::send(fd, bytes.data(), left, MSG_NOSIGNAL) != static_cast<ssize_t>(left)) fail("send");
}

int file_with(const std::string& bytes) {
  const int fd = ::memfd_create("batch", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) fail("memfd");
  return fd;
}

// A value whose pieces differ, so that none is taken for another.
std::string make_value(std::size_t size) {
  std::string value(size, 'v');
  for (std::size_t i = 0; i < size; ++i) value[i] = static_cast<char>('a' + (i + i / 251) % 26);
  return value;
}

std::string bulk(const std::string& bytes) { return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n"; }

void store(int port, const std::string& set) {
  const int fd = connect_to(port);
  char reply[5];
  send_all(fd, set, -1);
  if (::recv(fd, reply, sizeof(reply), MSG_WAITALL) != 5 || std::memcmp(reply, "+OK\r\n", 5) != 0) fail("SET");
  ::close(fd);
}

// Sends one request, and returns the size of the whole response. Its date changes, but its length does not.
std::size_t http_response_size(int port, const std::string& request) {
  const int fd = connect_to(port);
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("send");
  std::string head;
  char buffer[4096];
  while (head.find("\r\n\r\n") == std::string::npos) head.append(buffer, receive_some(fd, buffer, sizeof(buffer)));
  const std::size_t end = head.find("\r\n\r\n") + 4;
  std::string lower = head.substr(0, end);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t length = lower.find("content-length:");
  if (!head.starts_with("HTTP/1.1 200 ") || length == std::string::npos) {
    std::fprintf(stderr, "load: no 200 with a length: %s\n", head.c_str());
    std::exit(1);
  }
  ::close(fd);
  return end + std::strtoull(lower.c_str() + length + 15, nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fprintf(
        stderr, "usage: load PORT echo[:BYTES]|resp|set:BYTES|get:BYTES|http:/PATH CONNECTIONS DEPTH SECONDS [RATE]\n");
    return 2;
  }
  const int port = std::atoi(argv[1]);
  const bool echo = std::strncmp(argv[2], "echo", 4) == 0;
  const int echo_size = echo && argv[2][4] == ':' ? std::atoi(argv[2] + 5) : 106;
  if (echo && echo_size < 1) {
    std::fprintf(stderr, "load: echo:BYTES needs a number of at least 1\n");
    return 2;
  }
  const auto count = static_cast<std::size_t>(std::atoi(argv[3]));
  const int depth = std::atoi(argv[4]);
  const std::chrono::duration<double> length(std::atof(argv[5]));
  const double rate = argc == 7 ? std::atof(argv[6]) : 0;
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const bool http = std::strncmp(argv[2], "http:", 5) == 0;
  const bool set = std::strncmp(argv[2], "set:", 4) == 0;
  const bool get_value = std::strncmp(argv[2], "get:", 4) == 0;
  if (!echo && !http && !set && !get_value && std::strcmp(argv[2], "resp") != 0) {
    std::fprintf(stderr, "load: no protocol \"%s\": echo[:BYTES], resp, set:BYTES, get:BYTES or http:/PATH\n", argv[2]);
    return 2;
  }
  const std::string value = set || get_value ? make_value(std::strtoull(argv[2] + 4, nullptr, 10)) : "";
  const std::string set_request = "*3\r\n$3\r\nSET\r\n$5\r\nbench\r\n" + bulk(value);
  if (get_value) store(port, set_request);
  const std::string get =
      http ? std::string("GET ") + (argv[2] + 5) + " HTTP/1.1\r\nHost: 127.0.0.1:" + argv[1] + "\r\n\r\n" : "";
  const std::string request = repeat(http        ? get
                                     : echo      ? std::string(static_cast<std::size_t>(echo_size), 'g')
                                     : set       ? set_request
                                     : get_value ? "*2\r\n$3\r\nGET\r\n$5\r\nbench\r\n"
                                                 : "PING\r\n",
                                     depth);
  const std::string expected = http        ? ""
                               : echo      ? request
                               : set       ? repeat("+OK\r\n", depth)
                               : get_value ? repeat(bulk(value), depth)
                                           : repeat("+PONG\r\n", depth);
  const bool large_echo = echo && request.size() > 65'536;
  const int request_file = set || large_echo ? file_with(request) : -1;
  const std::size_t expected_size =
      http ? http_response_size(port, get) * static_cast<std::size_t>(depth) : expected.size();

  const int ep = ::epoll_create1(0);
  std::vector<connection> connections(count);
  const auto send_batch = [&](connection& c, clock_type::time_point due) {
    c.due = due;
    c.waits = true;
    send_all(c.fd, request, request_file);
  };
  for (connection& c : connections) {
    c.fd = connect_to(port);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &c}};
    ::epoll_ctl(ep, EPOLL_CTL_ADD, c.fd, &event);
  }
  std::array<epoll_event, 256> events;
  static char buffer[65'536];
  std::vector<float> latencies;
  latencies.reserve(4'000'000);
  std::size_t batches = 0;
  const auto begin = clock_type::now();
  auto now = begin;
  const auto time_of = [&](std::size_t batch) {
    return begin + std::chrono::duration_cast<clock_type::duration>(
                       std::chrono::duration<double>(static_cast<double>(batch) / rate));
  };
  std::size_t next = 0;  // batch, when there is a rate
  if (rate <= 0)
    for (connection& c : connections) send_batch(c, begin);
  while (now - begin < length) {
    for (; rate > 0 && time_of(next) <= now; ++next) {
      connection& c = connections[next % count];
      if (c.waits)
        c.overdue.push_back(time_of(next));
      else
        send_batch(c, time_of(next));
    }
    const auto left = rate > 0 ? time_of(next) - clock_type::now() : clock_type::duration(std::chrono::seconds(1));
    const timespec until{.tv_sec = left.count() <= 0 ? 0 : left.count() / 1'000'000'000,
                         .tv_nsec = left.count() <= 0 ? 0 : left.count() % 1'000'000'000};
    const int ready = ::epoll_pwait2(ep, events.data(), static_cast<int>(events.size()), &until, nullptr);
    for (int i = 0; i < ready; ++i) {
      auto& c = *static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      const bool drop = c.checked && (get_value || large_echo);
      const std::size_t most = drop ? expected_size - c.received + 1 : sizeof(buffer);
      const ssize_t n = ::recv(c.fd, buffer, most, drop ? MSG_DONTWAIT | MSG_TRUNC : MSG_DONTWAIT);
      if (n <= 0) fail("recv: the server has closed a connection");
      if (!http && !c.checked && std::memcmp(buffer, expected.data() + c.received, static_cast<std::size_t>(n)) != 0) {
        std::fprintf(stderr, "load: a wrong reply\n");
        return 1;
      }
      c.received += static_cast<std::size_t>(n);
      if (c.received < expected_size) continue;
      if (c.received > expected_size) {
        std::fprintf(stderr, "load: a response is longer than the first one\n");
        return 1;
      }
      c.received = 0;
      c.checked = true;
      c.waits = false;
      ++batches;
      const auto ended = clock_type::now();
      if (latencies.size() < latencies.capacity())
        latencies.push_back(std::chrono::duration<float, std::micro>(ended - c.due).count());
      if (rate <= 0) {
        send_batch(c, ended);
      } else if (!c.overdue.empty()) {
        send_batch(c, c.overdue.front());
        c.overdue.pop_front();
      }
    }
    now = clock_type::now();
  }
  const double seconds = std::chrono::duration<double>(now - begin).count();
  std::sort(latencies.begin(), latencies.end());
  const auto percentile = [&](double p) {
    return latencies.empty() ? 0.0F
                             : latencies[static_cast<std::size_t>(p * static_cast<double>(latencies.size() - 1))];
  };
  std::printf("{\"requests\": %zu, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
              batches * static_cast<std::size_t>(depth), seconds, percentile(0.5), percentile(0.99));
  return 0;
}
