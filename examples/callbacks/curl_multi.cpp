// examples/callbacks/curl_multi.cpp: transfers of libcurl's multi interface as tasks; gyre watches sockets and timers.
#include <gyre/gyre.hpp>

#include <curl/curl.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct reply {
  long status = 0;
  std::string body;
};
/// A transfer, and the events that libcurl waits for. Each has its own multi handle, so that no other
/// call of libcurl can close a socket that a task waits for. (A shared one would reuse connections, but
/// need duplicates of the sockets.)
struct transfer {
  CURLM* multi = curl_multi_init();
  CURL* easy = curl_easy_init();
  std::map<curl_socket_t, int> sockets;
  gyre::time_point alarm = gyre::now();
  reply answer;
  explicit transfer(const std::string& url) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer.body);
    curl_multi_add_handle(multi, easy);
  }
  ~transfer() {  // also after a cancel
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<transfer*>(self)->sockets[socket] = what == CURL_POLL_REMOVE ? CURL_POLL_NONE : what;
    return 0;
  }
  static int on_timer(CURLM*, long delay, void* self) {  // milliseconds; -1 for no timer
    static_cast<transfer*>(self)->alarm = gyre::now() + std::chrono::milliseconds(delay < 0 ? 3'600'000 : delay);
    return 0;
  }
  static std::size_t on_body(const char* data, std::size_t size, std::size_t count, void* body) {
    static_cast<std::string*>(body)->append(data, size * count);
    return size * count;
  }
};

gyre::task<curl_socket_t> wait(curl_socket_t socket, int what, gyre::time_point alarm) {
  if (what == CURL_POLL_IN) co_await gyre::readable(socket);
  if (what == CURL_POLL_OUT) co_await gyre::writable(socket);
  if (what == CURL_POLL_NONE) co_await gyre::sleep_until(alarm);
  co_return socket;
}
gyre::task<reply> fetch(std::string url) {
  transfer one(url);
  int running = 1;
  while (running > 0) {
    std::vector<gyre::task<curl_socket_t>> waits;
    waits.push_back(wait(CURL_SOCKET_TIMEOUT, CURL_POLL_NONE, one.alarm));
    for (const auto& [socket, wanted] : one.sockets)
      for (const int what : {CURL_POLL_IN, CURL_POLL_OUT})
        if ((wanted & what) != 0) waits.push_back(wait(socket, what, one.alarm));
    const auto first = co_await gyre::race(std::move(waits));       // after it returns, no task waits for a socket
    curl_multi_socket_action(one.multi, first.value, 0, &running);  // 0: libcurl checks itself what has happened
  }
  const CURLcode code = curl_multi_info_read(one.multi, &running)->data.result;
  if (code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
  curl_easy_getinfo(one.easy, CURLINFO_RESPONSE_CODE, &one.answer.status);
  co_return std::move(one.answer);
}

gyre::task<> show(std::string url, int& failed) {
  try {
    auto fetching = gyre::timeout(std::chrono::seconds(2), fetch(url));
    const reply got = co_await std::move(fetching);
    std::printf("%s: %ld, %zu bytes\n", url.c_str(), got.status, got.body.size());
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", url.c_str(), error.what());
    failed = 1;
  }
}
gyre::task<int> show_all(std::vector<std::string> urls) {
  std::vector<gyre::task<>> shown;
  int failed = 0;
  for (const std::string& each : urls) shown.push_back(show(each, failed));
  co_await gyre::gather(std::move(shown));
  co_return failed;
}

}  // namespace

int main(int argc, char** argv) { return gyre::run_main(show_all({argv + 1, argv + argc})); }
