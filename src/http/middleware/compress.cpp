// src/http/middleware/compress.cpp: decides which responses are compressed, and sets their fields.
#include <gyre/coro/cancelled.hpp>
#include <gyre/http/compress.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/http/status.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "compressed_body.hpp"
#include "content_encoder.hpp"
#include "exchange/response_state.hpp"
#include "exchange/vary.hpp"

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::string_view as_it_is = "identity";

// Produces a file whose bytes have to pass through the encoder.
class file_producer final : public body_producer {
 public:
  explicit file_producer(response_state& from) noexcept
      : file_(std::move(from.file)),
        descriptor_(std::move(from.descriptor)),
        offset_(from.file_offset),
        length_(from.length.value_or(0)) {}
  task<> produce(body_writer& out) override {
    co_await out.send_file(descriptor_ ? descriptor_->get() : file_.native_descriptor(), offset_, length_);
  }

 private:
  fs::file file_;
  std::shared_ptr<const owned_fd> descriptor_;
  std::uint64_t offset_;
  std::uint64_t length_;
};

bool may_be_changed(const response& r) noexcept {
  const body_origin source = r.state().source;
  if (source == body_origin::none || source == body_origin::protocol) return false;
  if (is_bodyless(r.status()) || r.status() == 206 || !is_compressible(r.media_type())) return false;
  for (const std::string_view name :
       {"Content-Encoding", "Content-Range", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest"})
    if (r.field(name)) return false;
  return !lists(r, "Cache-Control", "no-transform");
}

// A part (206) and a 304 vary the same way as the whole response: RFC 9110 §15.3.7, §15.4.5. A 304 seldom has a type,
// and a response with several parts has none of their types.
bool stands_for_the_whole(const response& r) noexcept {
  if (r.status() != 206 && r.status() != 304) return false;
  const std::string_view type = r.media_type();
  const bool may_be_any = type.empty() || type.starts_with("multipart/byteranges");
  return (may_be_any || is_compressible(type)) && !r.field("Content-Encoding") &&
         !lists(r, "Cache-Control", "no-transform");
}

// The content is the same, its bytes are not. RFC 9110 §8.8.1.
void weaken_tag(response& r) {
  const auto tag = r.field("ETag");
  if (tag && tag->starts_with('"')) r.set_field("ETag", "W/" + std::string(*tag));
}

// Compresses a body that is in memory.
class whole_body {
 public:
  whole_body(std::string_view body, std::string_view coding, const encoder_options& how) noexcept
      : body_(body), coding_(coding), how_(how) {}

  // Ends early when the output is no longer smaller than the body. Thread: any. Errors: std::bad_alloc; `cancelled`
  // soon after stop().
  void operator()() {
    constexpr std::size_t between_looks = std::size_t{64} << 10U;  // a millisecond of gzip
    const std::unique_ptr<content_encoder> encoder = make_encoder(coding_, how_);
    std::string_view rest = body_;
    do {
      if (stopped_.load(std::memory_order_relaxed)) throw cancelled();
      const std::string_view piece = rest.substr(0, between_looks);
      rest.remove_prefix(piece.size());
      encoder->encode(piece, rest.empty() ? encode_until::end : encode_until::more, out_);
    } while (!rest.empty() && out_.size() < body_.size());
  }
  // Thread: any, also while another one compresses.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::string& out() noexcept { return out_; }

 private:
  std::string_view body_;
  std::string_view coding_;
  encoder_options how_;
  std::string out_;
  std::atomic<bool> stopped_ = false;
};

// Compresses on a thread. A cancel stops the thread at its next look, and the await waits for that.
class [[nodiscard("co_await it")]] whole_body_op : public to_thread_op<std::reference_wrapper<whole_body>> {
 public:
  explicit whole_body_op(whole_body& work)
      : to_thread_op(io::blocking_pool::for_calls(), std::ref(work)), work_(work) {}
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    to_thread_op::await_suspend(caller);
    cancel = call_member<&whole_body_op::on_cancel>;
  }
  void on_cancel() noexcept {
    work_.stop();
    to_thread_op::on_cancel();
  }

 private:
  whole_body& work_;
};

class compressor {
 public:
  explicit compressor(compress_options&& options) : options_(std::move(options)) {
    const auto expect = [](const char* option, int value, int min, int max) {
      if (value < min || value > max)
        throw std::invalid_argument("compress: " + std::string(option) + " is " + std::to_string(value) +
                                    ", and must be from " + std::to_string(min) + " to " + std::to_string(max));
    };
    expect("gzip_level", options_.gzip_level, 1, 9);
    expect("brotli_quality", options_.brotli_quality, 0, 11);
    expect("zstd_level", options_.zstd_level, 1, 19);
    for (const std::string& each : options_.codings) {
      if (each != "zstd" && each != "br" && each != "gzip")
        throw std::invalid_argument("compress: no coding is called \"" + each + "\"");
      for (const std::string_view built_in : built_in_codings())
        if (each == built_in) codings_.push_back(built_in);
    }
  }

  task<response> operator()(request& r, next_handler next) const {
    response made = co_await next(r);
    if (made.status() == 304) confirm(r, made);
    if (!codings_.empty() && stands_for_the_whole(made)) add_vary(made, "Accept-Encoding");
    const auto length = made.length();
    if (codings_.empty() || r.method() == "CONNECT" || !may_be_changed(made)) co_return made;
    if (length && *length < options_.min_size) co_return made;
    add_vary(made, "Accept-Encoding");
    const std::string_view coding = choose_coding(r.fields(), codings_);
    if (coding.empty() || coding == as_it_is) co_return made;
    const auto body = made.body();
    if (!body)
      compress_on_its_way(made, coding);
    else if (const bool smaller = co_await compress_value(made, *body, coding); !smaller)
      co_return made;
    made.add_field("Content-Encoding", coding);
    made.remove_field("Accept-Ranges");
    weaken_tag(made);
    co_return made;
  }

 private:
  [[nodiscard]] encoder_options how(std::optional<std::uint64_t> size) const noexcept {
    return {.gzip_level = options_.gzip_level,
            .brotli_quality = options_.brotli_quality,
            .zstd_level = options_.zstd_level,
            .size = size};
  }

  // The client's copy may be the compressed one. Then the 304 carries the tag that
  // the client knows. RFC 9110 §15.4.5.
  static void confirm(const request& r, response& made) {
    const std::string_view known = r.field("If-None-Match");
    const auto tag = made.field("ETag");
    if (!tag || known.find("W/" + std::string(*tag)) == std::string_view::npos) return;
    weaken_tag(made);
    add_vary(made, "Accept-Encoding");
  }

  // Returns false when the body does not become smaller.
  task<bool> compress_value(response& made, std::string_view body, std::string_view coding) const {
    whole_body work(body, coding, how(body.size()));
    if (body.size() < options_.on_thread_from)
      work();
    else
      co_await whole_body_op(work);
    if (work.out().size() >= body.size()) co_return false;
    made.set_body(std::move(work.out()));
    co_return true;
  }

  void compress_on_its_way(response& made, std::string_view coding) const {
    const auto length = made.length();
    const bool ends_by_itself = made.state().ends_by_itself || made.state().source == body_origin::file;
    std::unique_ptr<body_producer> inner(made.release_producer());
    if (inner == nullptr) inner = std::make_unique<file_producer>(made.state());
    auto producer = std::make_unique<compressing_producer>(std::move(inner), length, std::string(coding), how({}),
                                                           options_.on_thread_from);
    made.set_producer(producer.release());
    made.state().ends_by_itself = ends_by_itself;
  }

  compress_options options_;
  std::vector<std::string_view> codings_;
};

}  // namespace

std::span<const std::string_view> available_codings() noexcept { return built_in_codings(); }

middleware compress(compress_options options) { return compressor(std::move(options)); }

}  // namespace gyre::http
