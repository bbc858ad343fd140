// src/testing/http_direct_state.hpp: an exchange in memory, which no protocol carries.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/body_sink.hpp>
#include <gyre/http/body_source.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/testing/http_direct.hpp>

#include "exchange/application.hpp"
#include "exchange/exchange_link.hpp"
#include "exchange/served_exchange.hpp"
#include "exchange/served_request.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace gyre::testing {

/// Queues in both directions between a client and a handler. Each waits while the other has not read 64 KiB, which is
/// what the buffers of a connection hold.
class http_direct_state final : private http::exchange_link, private http::end_source {
 public:
  http_direct_state(std::shared_ptr<http::application> app, http_direct_request&& request);
  http_direct_state& operator=(http_direct_state&&) = delete;
  ~http_direct_state() = default;

  /// Answers the request. The task owns the exchange together with its client.
  static task<> serve(std::shared_ptr<http_direct_state> self);

  // ---- For the client: see http_direct_exchange.
  task<http_direct_part> receive();
  task<> send(std::string piece);
  void finish(std::vector<std::pair<std::string, std::string>> trailers);
  void close_sending() noexcept;
  void reset() noexcept;

 private:
  using part = http_direct_part::part;
  static constexpr std::size_t max_unread = std::size_t{64} << 10U;

  /// The body of the request.
  class request_source final : public http::body_source {
   public:
    explicit request_source(http_direct_state& of) noexcept : of_(of) {}
    std::string_view take(std::size_t max) override;
    task<> wait() override;
    [[nodiscard]] bool at_end() const noexcept override;
    [[nodiscard]] bool failed() const noexcept override { return of_.sender_left_ && !at_end(); }
    [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override { return of_.length_; }
    [[nodiscard]] std::vector<http::field> trailers() const override;
    task<> ask_for_it() override;

   private:
    http_direct_state& of_;
    std::string now_;  // take() has returned its first bytes
    std::size_t used_ = 0;
    std::uint64_t taken_ = 0;
  };

  /// The body of the response.
  class response_sink final : public http::body_sink {
   public:
    explicit response_sink(http_direct_state& of) noexcept : of_(of) {}
    task<> write(std::string_view piece) override;
    void append(std::string_view piece) override;
    task<> flush() override;
    void send_head() override { of_.release_head(); }
    void add_trailer(std::string_view name, std::string_view value) override;
    [[nodiscard]] std::size_t waiting() const noexcept override {
      return of_.unread_ - std::min(of_.unread_, max_unread);
    }
    [[nodiscard]] std::error_code error() const noexcept override { return of_.gone(); }

   private:
    http_direct_state& of_;
  };

  // exchange_link
  task<bool> send_interim(int status, std::span<const http::field> fields) override;
  [[nodiscard]] const secure_session* security() const noexcept override { return nullptr; }
  task<takeover> prepare_takeover(io::monotonic_time limit) override;
  [[nodiscard]] bool end_interim() noexcept override;
  task<> interim_ended() override;
  begun begin(http::response_state& answer, const http::response_plan& plan, const circumstances& how) override;
  [[nodiscard]] bool holds_head() const noexcept override { return held_head_.has_value(); }
  task<std::error_code> send_bytes(std::string_view whole_body) override;
  task<std::error_code> send_file(int file, std::uint64_t offset, std::uint64_t count) override;
  task<> produce(http::body_producer& from, http::body_writer& writer) override;
  [[nodiscard]] http::body_sink& sink() noexcept override { return response_body_; }
  void finish() override;
  task<std::error_code> flush() override;
  [[nodiscard]] std::uint64_t taken() const noexcept override { return handed_over_; }
  [[nodiscard]] bool is_gone() const noexcept override { return was_reset_; }
  task<bool> take_over(http::protocol_handler& protocol) override;
  // end_source
  void watch_end(end_watch* watch) noexcept override;
  [[nodiscard]] bool is_broken() const noexcept override { return was_reset_; }

  void begin_request();
  task<std::exception_ptr> answer();
  void release_head();
  void hand_over(http_direct_part&& next);
  void hand_over(std::string_view piece);
  task<std::error_code> hand_over_in_turn(std::string_view bytes);
  void end_answer();
  void leave() noexcept;
  void conclude(std::exception_ptr failure) noexcept;
  [[nodiscard]] std::error_code gone() const noexcept;

  std::shared_ptr<http::application> app_;
  http_direct_request asked_;
  std::vector<http::field> fields_;
  http::served_request request_;

  // From the client.
  request_source request_body_{*this};
  std::optional<std::uint64_t> length_;
  std::uint64_t sent_ = 0;
  std::string arrived_;  // and not taken yet
  std::vector<std::pair<std::string, std::string>> request_trailers_;
  event arrival_;
  event room_for_request_;
  end_watch* watch_ = nullptr;
  bool body_ended_ = false;
  bool sender_left_ = false;  // nothing more comes, although the body may not have ended
  bool was_reset_ = false;
  bool waits_for_100_ = false;
  bool source_waits_ = false;

  // To the client.
  response_sink response_body_{*this};
  std::optional<http_direct_part> held_head_;
  std::deque<http_direct_part> parts_;
  std::vector<std::pair<std::string, std::string>> response_trailers_;
  std::size_t unread_ = 0;  // bytes of `parts_`
  std::uint64_t handed_over_ = 0;
  event part_came_;
  event room_for_response_;
  bool has_begun_ = false;  // no interim answer may follow
  bool answer_ended_ = false;
  bool switches_ = false;  // the application wants another protocol
  bool over_ = false;
  std::exception_ptr failure_;  // after the parts
};

}  // namespace gyre::testing
