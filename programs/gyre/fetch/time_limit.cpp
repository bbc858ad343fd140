// programs/gyre/fetch/time_limit.cpp
#include "programs/gyre/fetch/time_limit.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/tasks/timeout.hpp>

#include <fmt/format.h>

#include <utility>

namespace programs {

gyre::task<> time_limit::cover(gyre::task<> call, std::string_view output) const {
  if (!is_set()) {
    co_await std::move(call);
    co_return;
  }
  try {
    co_await gyre::timeout(left(), std::move(call));
  } catch (const gyre::timed_out&) {
    throw gyre::timed_out(length_, fmt::format("write {}", output));
  }
}

}  // namespace programs
