// src/tls/cipher_io.cpp: a BIO that is pointed at the connection in progress.
#include "cipher_io.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace gyre::tls {

struct cipher_bio {
  static constinit thread_local cipher_io* current;

  static int read(BIO* bio, char* to, std::size_t size, std::size_t* count) noexcept {
    BIO_clear_retry_flags(bio);
    buffer_lease& in = *current->in_;
    *count = std::min(size, in.size());
    if (*count == 0) {
      if (!current->ended_) BIO_set_retry_read(bio);
      return 0;
    }
    std::memcpy(to, in.data(), *count);
    in.consume(*count);
    return 1;
  }
  static int write(BIO* bio, const char* from, std::size_t size, std::size_t* count) noexcept {
    BIO_clear_retry_flags(bio);
    try {
      current->out_->append(from, size);
    } catch (const std::bad_alloc&) {
      return 0;  // a failure of the connection
    }
    *count = size;
    return 1;
  }
  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) noexcept {
    if (command == BIO_CTRL_EOF) return current != nullptr && current->ended_ && current->in_->empty() ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }
  static BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "gyre");
      if (m == nullptr) throw std::bad_alloc();
      BIO_meth_set_read_ex(m, &read);
      BIO_meth_set_write_ex(m, &write);
      BIO_meth_set_ctrl(m, &control);
      BIO_meth_set_create(m, [](BIO* bio) {
        BIO_set_init(bio, 1);
        return 1;
      });
      return m;
    }();
    return made;
  }
};
constinit thread_local cipher_io* cipher_bio::current = nullptr;

cipher_io::cipher_io(buffer_lease& in, bool ended, std::string& out) noexcept : in_(&in), ended_(ended), out_(&out) {
  cipher_bio::current = this;
}
cipher_io::~cipher_io() { cipher_bio::current = nullptr; }

void cipher_io::attach(SSL& connection) {
  static thread_local const bio_owner shared(BIO_new(cipher_bio::method()));
  if (!shared) throw std::bad_alloc();
  BIO_up_ref(shared.get());
  SSL_set_bio(&connection, shared.get(), shared.get());  // takes one reference when both are the same
}

}  // namespace gyre::tls
