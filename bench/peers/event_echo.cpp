// bench/peers/event_echo.cpp: libevent's buffered events, for comparison: echo.
#include "bench/bare/options.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

namespace {

void on_read(bufferevent* peer, void* /*unused*/) {
  evbuffer_add_buffer(bufferevent_get_output(peer), bufferevent_get_input(peer));  // moves the bytes without copying
}
void on_event(bufferevent* peer, short /*what*/, void* /*unused*/) { bufferevent_free(peer); }

void on_connection(evconnlistener* listener, evutil_socket_t fd, sockaddr* /*from*/, int /*size*/, void* /*unused*/) {
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  bufferevent* const peer = bufferevent_socket_new(evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);
  bufferevent_setcb(peer, on_read, nullptr, on_event, nullptr);
  bufferevent_enable(peer, EV_READ | EV_WRITE);
}

}  // namespace

int main(int argc, char** argv) {
  event_base* const base = event_base_new();
  evconnlistener* const listener =
      evconnlistener_new(base, on_connection, nullptr, 0, 0, bare::listen_as_told(argc, argv, "libevent"));
  if (listener == nullptr) bare::fail("evconnlistener_new");
  return event_base_dispatch(base);
}
