// examples/repeat_sleep_threads.cpp: one thread per connection, on plain sockets.
// GET /repeat?count=N answers N letters, GET /sleep?ms=X answers after X milliseconds.
#include "repeat_sleep_plain.hpp"

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: repeat_sleep_threads [--listen HOST:PORT]\n");
    return 2;
  }
  try {
    plain::listener listener(has_address ? arguments[2] : "127.0.0.1:8080");
    std::printf("listening on http://%s\n", listener.where().c_str());
    std::fflush(stdout);
    for (int peer = listener.accept(); peer >= 0; peer = listener.accept()) {
      try {
        std::thread([&listener, peer] { plain::serve(listener, peer); }).detach();
      } catch (const std::system_error&) {  // no more threads
        listener.close(peer);
      }
    }
    listener.wait_until_all_are_closed();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
