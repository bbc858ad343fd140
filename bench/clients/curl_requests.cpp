// bench/clients/curl_requests.cpp: the same by libcurl's multi interface. Arguments: PORT CONNECTIONS SECONDS.
#include "bench/clients/outcome.hpp"

#include <curl/curl.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::size_t count_bytes(char* /*bytes*/, std::size_t size, std::size_t count, void* total) {
  *static_cast<std::size_t*>(total) += size * count;
  return size * count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  bench::outcome counted(std::atof(argv[3]));
  const std::string url = "http://127.0.0.1:" + std::string(argv[1]) + "/";
  const auto connections = static_cast<std::size_t>(std::atoi(argv[2]));
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM* const multi = curl_multi_init();
  std::vector<std::size_t> sizes(connections);
  for (std::size_t& size : sizes) {
    CURL* const easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &count_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &size);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &size);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_multi_add_handle(multi, easy);
  }
  for (std::size_t left = connections; left > 0;) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int queued = 0;
    while (CURLMsg* const message = curl_multi_info_read(multi, &queued)) {
      if (message->msg != CURLMSG_DONE) continue;
      if (message->data.result != CURLE_OK) std::abort();
      CURL* const easy = message->easy_handle;
      std::size_t* size = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &size);
      counted.add(*size);
      *size = 0;
      curl_multi_remove_handle(multi, easy);
      if (counted.over()) {
        curl_easy_cleanup(easy);
        --left;
      } else {
        curl_multi_add_handle(multi, easy);
        running = 1;
      }
    }
    if (left > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
  curl_multi_cleanup(multi);
  counted.print();
}
