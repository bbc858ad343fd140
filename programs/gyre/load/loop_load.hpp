// programs/gyre/load/loop_load.hpp: the connections of one loop.
#pragma once

#include "programs/gyre/load/counts.hpp"
#include "programs/gyre/load/plan.hpp"
#include "programs/gyre/load/response_reader.hpp"

#include <gyre/coro/task.hpp>
#include <gyre/loop/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace programs {

/// Sends requests over the connections of one loop until the plan is fulfilled. Belongs to that loop.
class loop_load {
 public:
  /// `index` of plan.loops. `start` is the same for all.
  loop_load(const load_plan& plan, std::size_t index, gyre::time_point start);

  /// Returns when all requests are done. Cancel: requests that wait for a response are counted as unfinished.
  gyre::task<> run();

  [[nodiscard]] const load_counts& counts() const noexcept { return counts_; }
  /// Returns the latencies since the previous call.
  [[nodiscard]] latency_histogram take_recent() noexcept;

 private:
  enum class outcome : bool { connection_usable, connection_over };

  template <class Stream>
  gyre::task<> drive();
  template <class Stream>
  gyre::task<Stream> connect();
  template <class Stream>
  gyre::task<outcome> exchange(Stream& stream, response_reader& reader, gyre::time_point due);

  [[nodiscard]] std::chrono::nanoseconds left_since(gyre::time_point begin) const;
  /// The time when the next request is due: now, unless there is a rate. Nothing when no request is left.
  [[nodiscard]] std::optional<gyre::time_point> next_due() noexcept;
  [[nodiscard]] outcome note_response(const response_reader& reader, gyre::time_point due);

  const load_plan& plan_;
  std::size_t connections_;  // on this loop
  std::uint64_t left_;       // requests that may still begin
  gyre::time_point start_;
  double offset_ = 0;    // with a rate: of the first request, in nanoseconds
  double interval_ = 0;  // with a rate: between two requests of this loop
  std::uint64_t begun_ = 0;
  load_counts counts_;
  latency_histogram recent_;
};

}  // namespace programs
