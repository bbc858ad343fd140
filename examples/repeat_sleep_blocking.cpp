// examples/repeat_sleep_blocking.cpp: one connection at a time, on plain sockets; others wait until it has ended.
// GET /repeat?count=N answers N letters, GET /sleep?ms=X answers after X milliseconds.
#include "repeat_sleep_plain.hpp"

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: repeat_sleep_blocking [--listen HOST:PORT]\n");
    return 2;
  }
  try {
    plain::listener listener(has_address ? arguments[2] : "127.0.0.1:8080");
    std::printf("listening on http://%s\n", listener.where().c_str());
    std::fflush(stdout);
    for (int peer = listener.accept(); peer >= 0; peer = listener.accept()) plain::serve(listener, peer);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
