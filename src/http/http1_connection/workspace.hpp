// src/http/http1_connection/workspace.hpp: memory for requests, which idle connections do not have.
#pragma once

#include <gyre/http/framing.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/server_limits.hpp>
#include <gyre/sync/mutex.hpp>

#include "exchange/served_request.hpp"
#include "http1_body_sink.hpp"
#include "http1_body_source.hpp"
#include "message_input.hpp"
#include "message_output.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace gyre::http {

struct workspace {
  workspace(const server_limits& limits, const server_timeouts& timeouts)
      : parser(head_parser::kind::request, limits.head), input(timeouts.body), output(timeouts.write) {}

  /// Forgets the request that was answered.
  void begin_next_request() {
    parser.reset();
    input.begin_next_message();
  }

  head_parser parser;
  parse_error error = parse_error::none;
  http::framing framing;
  message_input input;
  http1_body_source body{input};
  message_output output;
  mutex interim;                        // held while an interim response is sent
  std::optional<http1_body_sink> sink;  // of the response that follows its head
  served_request request;
  std::optional<started_response> started;  // until it is sent or awaited
  workspace* next_free = nullptr;
};

/// Lends workspaces. Keeps as many as have been in use at the same time, within a bound.
class workspaces {
 public:
  /// Returns the workspace when it is destroyed.
  class lent {
   public:
    [[gnu::always_inline]] lent(workspaces& all, const server_limits& limits, const server_timeouts& timeouts,
                                transport& use)
        : all_(all), work_(&all.take(limits, timeouts)) {
      work_->parser.reset();
      work_->input.attach(use);
      work_->output.attach(use);
    }
    /// Takes over what release() gave up.
    lent(workspaces& all, workspace& work) noexcept : all_(all), work_(&work) {}
    lent(const lent&) = delete;
    lent& operator=(const lent&) = delete;
    [[gnu::always_inline]] ~lent() {
      if (work_ == nullptr) return;
      work_->started.reset();
      work_->output.detach();
      work_->input.detach();
      all_.give_back(*work_);
    }
    workspace& operator*() const noexcept { return *work_; }
    [[nodiscard]] workspace& release() noexcept { return *std::exchange(work_, nullptr); }

   private:
    workspaces& all_;
    workspace* work_;
  };

  workspaces() = default;
  workspaces(const workspaces&) = delete;
  workspaces& operator=(const workspaces&) = delete;
  ~workspaces() {
    while (free_ != nullptr) delete std::exchange(free_, free_->next_free);
  }

 private:
  static constexpr std::size_t max_kept = 256;
  workspace& take(const server_limits& limits, const server_timeouts& timeouts) {
    if (free_ == nullptr) [[unlikely]]
      return *new workspace(limits, timeouts);
    --count_;
    return *std::exchange(free_, free_->next_free);
  }
  void give_back(workspace& work) noexcept {
    if (count_ == max_kept) {
      delete &work;
      return;
    }
    ++count_;
    work.next_free = std::exchange(free_, &work);
  }
  workspace* free_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace gyre::http
