// examples/05_chat_server.cpp: everybody reads every message. Try it with several: nc 127.0.0.1 8889
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>

namespace {

struct message {
  int from;
  std::string text;
};

struct chat_room {
  gyre::broadcast<message> messages{256};  // a reader that is more than 256 behind learns that it missed some
  int guests = 0;

  gyre::task<> welcome(gyre::stream_reader& reader, gyre::stream_writer& writer) {
    const int guest = ++guests;
    writer.write("welcome, guest " + std::to_string(guest) + "\n");
    messages.send({guest, "joined"});
    // Whichever ends first, the reading (the guest left) or the writing (the connection broke), ends the other.
    auto talk = gyre::race(listen(guest, reader), tell(guest, messages.subscribe(), writer));
    co_await std::move(talk);
    messages.send({guest, "left"});
  }

  gyre::task<> listen(int guest, gyre::stream_reader& reader) {
    while (co_await reader.next_or_stop()) {  // false when the guest leaves, and on SIGTERM
      const auto line = co_await reader.read_line();
      if (line) messages.send({guest, *line});
    }
  }

  gyre::task<> tell(int guest, gyre::broadcast_subscription<message> news, gyre::stream_writer& writer) {
    while (auto item = co_await news.receive()) {
      if (item->missed > 0) writer.write("(" + std::to_string(item->missed) + " messages missed)\n");
      if (item->value.from != guest)
        writer.write("guest " + std::to_string(item->value.from) + ": " + item->value.text + "\n");
      co_await writer.drain();
    }
  }
};

gyre::task<> serve(std::string where) {
  chat_room room;
  auto welcome = [&](gyre::stream_reader& reader, gyre::stream_writer& writer) -> gyre::task<> {
    co_await room.welcome(reader, writer);
  };
  std::fprintf(stderr, "chatting on %s\n", where.c_str());
  co_await gyre::start_server(welcome, where);
}

}  // namespace

int main(int argc, char** argv) { return gyre::run_main(serve(argc > 1 ? argv[1] : "127.0.0.1:8889")); }
