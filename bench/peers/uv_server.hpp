// bench/peers/uv_server.hpp: the same work with libuv's callbacks: uv_try_write first, as good programs do.
#pragma once

#include "bench/bare/options.hpp"

#include <uv.h>

#include <cstdlib>
#include <string>

namespace peers {

template <class Protocol>
class uv_server {
  struct connection {
    uv_tcp_t handle;
    Protocol protocol;
  };
  struct pending_write {
    uv_write_t request;
    std::string bytes;
  };

 public:
  int run(int fd) {
    uv_loop_t* const loop = uv_default_loop();
    uv_tcp_init(loop, &listener_);
    uv_tcp_open(&listener_, fd);
    uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), 4096, on_connection);
    return uv_run(loop, UV_RUN_DEFAULT);
  }

 private:
  static void on_connection(uv_stream_t* listener, int) {
    auto* const c = new connection{};
    uv_tcp_init(listener->loop, &c->handle);
    c->handle.data = c;
    uv_accept(listener, reinterpret_cast<uv_stream_t*>(&c->handle));
    uv_tcp_nodelay(&c->handle, 1);
    uv_read_start(reinterpret_cast<uv_stream_t*>(&c->handle), on_buffer, on_read);
  }
  static void on_buffer(uv_handle_t*, std::size_t, uv_buf_t* out) {
    static char buffer[65'536];
    *out = uv_buf_init(buffer, sizeof(buffer));
  }
  static void on_read(uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer) {
    auto* const c = static_cast<connection*>(stream->data);
    if (n < 0) {
      uv_close(reinterpret_cast<uv_handle_t*>(stream),
               [](uv_handle_t* h) { delete static_cast<connection*>(h->data); });
      return;
    }
    static std::string scratch;
    std::string_view reply = c->protocol.answer({buffer->base, static_cast<std::size_t>(n)}, scratch);
    if (reply.empty()) return;
    uv_buf_t out = uv_buf_init(const_cast<char*>(reply.data()), static_cast<unsigned>(reply.size()));
    const int sent = uv_try_write(stream, &out, 1);
    if (sent > 0) reply.remove_prefix(static_cast<std::size_t>(sent));
    if (reply.empty()) return;
    auto* const later = new pending_write{{}, std::string(reply)};
    later->request.data = later;
    out = uv_buf_init(later->bytes.data(), static_cast<unsigned>(later->bytes.size()));
    uv_write(&later->request, stream, &out, 1, [](uv_write_t* w, int) { delete static_cast<pending_write*>(w->data); });
  }

  uv_tcp_t listener_{};
};

template <class Protocol>
int run_uv(int argc, char** argv) {
  return uv_server<Protocol>().run(bare::listen_as_told(argc, argv, "libuv"));
}

}  // namespace peers
