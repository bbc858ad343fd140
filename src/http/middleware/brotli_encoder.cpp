// src/http/middleware/brotli_encoder.cpp: encodes with brotli. RFC 7932.
#include "content_encoder.hpp"

#include <brotli/encode.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <limits>
#include <new>

namespace gyre::http {
namespace {

// The memory of one encoder. Some builds of brotli (Debian's, for one) call exit() when the allocator returns null.
// So on a shortage `allocate` does not return: it jumps out of the call. After that the encoder is unusable, and
// its blocks are freed one by one.
class encoder_memory {
 public:
  encoder_memory() = default;
  encoder_memory(const encoder_memory&) = delete;
  encoder_memory& operator=(const encoder_memory&) = delete;
  ~encoder_memory() {
    while (blocks_.next != &blocks_) release(&blocks_, blocks_.next + 1);
  }

  /// Calls `f()`, which calls brotli. Returns false when memory ran out. No object with a destructor may live in `f`.
  template <class F>
  bool perform(F f) noexcept {
    if (setjmp(way_out_) != 0) {  // NOLINT(cert-err52-cpp): through C, which has no exceptions
      can_leave_ = false;
      return false;
    }
    can_leave_ = true;
    f();
    can_leave_ = false;
    return true;
  }

  static void* allocate(void* opaque, std::size_t size) noexcept {
    auto& self = *static_cast<encoder_memory*>(opaque);
    void* const memory = ::operator new(sizeof(block) + size, std::nothrow);
    if (memory == nullptr) {
      if (self.can_leave_) std::longjmp(self.way_out_, 1);  // NOLINT(cert-err52-cpp)
      return nullptr;
    }
    block& added = *::new (memory) block{.next = self.blocks_.next, .previous = &self.blocks_};
    added.next->previous = added.previous->next = &added;
    return &added + 1;
  }
  static void release(void* /*opaque*/, void* memory) noexcept {
    if (memory == nullptr) return;
    block* const freed = static_cast<block*>(memory) - 1;
    freed->previous->next = freed->next;
    freed->next->previous = freed->previous;
    ::operator delete(freed);
  }

 private:
  struct alignas(std::max_align_t) block {
    block* next = this;
    block* previous = this;
  };
  block blocks_;  // the head of a ring
  std::jmp_buf way_out_;
  bool can_leave_ = false;
};

class brotli_encoder final : public content_encoder {
 public:
  explicit brotli_encoder(const encoder_options& how)
      : state_(::BrotliEncoderCreateInstance(&encoder_memory::allocate, &encoder_memory::release, &memory_)) {
    constexpr std::uint32_t stream_window = 18;  // 256 KiB, kept for as long as the stream lasts
    constexpr std::uint32_t window = 22;
    if (state_ == nullptr) throw std::bad_alloc();
    const int quality = std::clamp(how.brotli_quality, BROTLI_MIN_QUALITY, BROTLI_MAX_QUALITY);
    set(BROTLI_PARAM_QUALITY, static_cast<std::uint32_t>(quality));
    set(BROTLI_PARAM_MODE, BROTLI_MODE_TEXT);
    set(BROTLI_PARAM_LGWIN, how.size ? window : stream_window);
    constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
    if (how.size) set(BROTLI_PARAM_SIZE_HINT, static_cast<std::uint32_t>(std::min(*how.size, largest)));
  }
  brotli_encoder(const brotli_encoder&) = delete;
  brotli_encoder& operator=(const brotli_encoder&) = delete;
  ~brotli_encoder() override {
    if (!broken_) ::BrotliEncoderDestroyInstance(state_);
  }

  void encode(std::string_view in, encode_until until, std::string& out) override {
    const auto operation = until == encode_until::end       ? BROTLI_OPERATION_FINISH
                           : until == encode_until::flushed ? BROTLI_OPERATION_FLUSH
                                                            : BROTLI_OPERATION_PROCESS;
    if (broken_) throw std::bad_alloc();
    const auto* next = reinterpret_cast<const std::uint8_t*>(in.data());
    std::size_t left = in.size();
    do {
      broken_ = !run(operation, left, next);
      if (broken_) throw std::bad_alloc();  // brotli has no other failure
      std::size_t size = 0;
      const std::uint8_t* const bytes = ::BrotliEncoderTakeOutput(state_, &size);
      out.append(reinterpret_cast<const char*>(bytes), size);
    } while (left > 0 || ::BrotliEncoderHasMoreOutput(state_) != BROTLI_FALSE);
  }

 private:
  bool run(BrotliEncoderOperation operation, std::size_t& left, const std::uint8_t*& next) noexcept {
    BROTLI_BOOL succeeded = BROTLI_FALSE;
    const bool returned = memory_.perform([&] {
      std::size_t no_room = 0;
      succeeded = ::BrotliEncoderCompressStream(state_, operation, &left, &next, &no_room, nullptr, nullptr);
    });
    return returned && succeeded == BROTLI_TRUE;
  }
  void set(BrotliEncoderParameter what, std::uint32_t value) noexcept {
    (void)::BrotliEncoderSetParameter(state_, what, value);
  }

  encoder_memory memory_;  // declared before state_, which lives in it
  BrotliEncoderState* state_;
  bool broken_ = false;  // memory ran out during a call
};

}  // namespace

std::unique_ptr<content_encoder> make_brotli_encoder(const encoder_options& how) {
  return std::make_unique<brotli_encoder>(how);
}

}  // namespace gyre::http
