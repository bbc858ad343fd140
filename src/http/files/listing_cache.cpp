// src/http/files/listing_cache.cpp: one reading of a directory for many requests.
#include "listing_cache.hpp"

#include <gyre/coro/cancelled.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/wall_clock.hpp>
#include <gyre/tasks/task_handle.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "open_files.hpp"

#include <utility>

namespace gyre::http {
namespace {

// File systems record times in ticks, at most 10 ms on Linux. Changes within one tick get the same time.
constexpr std::int64_t max_tick = 20'000'000;

owned_fd duplicate_of(int descriptor) {
  owned_fd own = owned_fd::duplicate_of(descriptor);
  if (!own) throw status_error(503);
  return own;
}

file_version version_of_directory(int descriptor) noexcept {
  const auto facts = fs::facts_of(descriptor);
  return facts ? version_of(*facts) : file_version{};
}

// Holds no reference to the cache or the server: both may be destroyed before the thread is done.
task<listing_cache::contents> read_directory(wanted_directory wanted, owned_fd root, owned_fd directory,
                                             std::weak_ptr<const directory_contents> before,
                                             std::shared_ptr<std::size_t> used) {
  std::unique_ptr<const directory_contents> made;
  const listing_cache::contents known = before.lock();
  bool same = false;
  auto read = [&] {
    made = std::make_unique<const directory_contents>(root.get(), directory.get(), wanted.path, wanted.hidden);
    same = known && *known == *made;
  };
  co_await to_thread(listing_cache::pool(), read);
  if (same) co_return known;  // so that it is in memory once, even while slow clients receive it
  const std::size_t size = made->memory();
  auto forget = [used, size](const directory_contents* gone) noexcept {
    *used -= size;
    delete gone;
  };
  *used += size;
  co_return listing_cache::contents(made.release(), std::move(forget));
}

}  // namespace

io::blocking_pool& listing_cache::pool() {
  static io::blocking_pool& threads = io::blocking_pool::make_lasting(2);
  return threads;
}

listing_cache::place& listing_cache::place_of(const wanted_directory& wanted) {
  for (auto each = places_.begin(); each != places_.end(); ++each) {
    if (each->tree != wanted.tree || each->path != wanted.path) continue;
    places_.splice(places_.begin(), places_, each);
    return places_.front();
  }
  if (places_.size() == max_places) places_.pop_back();
  places_.push_front({.tree = wanted.tree, .path = wanted.path, .version = {}});
  return places_.front();
}

// A reading is good if it began after the request came, or if it is recent and the directory has not changed since.
bool listing_cache::is_good(const place& where, file_version now, std::uint64_t readings_before) const noexcept {
  if (!where.reading) return false;
  if (where.number > readings_before) return true;
  if (!where.settled || where.version != now) return false;
  return !where.reading->done() || event_loop::current().now() < where.began + keeps;
}

void listing_cache::begin(place& where, const wanted_directory& wanted, file_version version) {
  if (*used_ > max_memory) throw status_error(503);
  wanted_directory copy = wanted;
  owned_fd root = duplicate_of(wanted.root);
  owned_fd directory = duplicate_of(wanted.descriptor);
  event_loop& loop = event_loop::current();
  where.reading.emplace(read_directory(std::move(copy), std::move(root), std::move(directory), where.last, used_));
  where.version = version;
  where.settled = version.modified_ns <= io::wall_clock_ns() - max_tick;
  where.began = loop.now();
  where.number = ++readings_;
  if (armed()) return;
  deadline = where.began + keeps;
  loop.timers().arm(*this);
}

task<listing_cache::contents> listing_cache::get(wanted_directory wanted) {
  const std::uint64_t readings_before = readings_;
  for (;;) {
    place& where = place_of(wanted);
    const file_version now = version_of_directory(wanted.descriptor);
    const bool good = is_good(where, now, readings_before);
    // A reading of an older state of the directory must end before the next one begins.
    if (!good && (!where.reading || where.reading->done())) begin(where, wanted, now);
    const bool is_wanted = good || where.number > readings_before;
    const std::uint64_t number = where.number;
    const shared_task<contents> reading = *where.reading;  // NOLINT(bugprone-unchecked-optional-access): begin() set it
    contents found;
    bool failed = false;
    try {
      found = co_await reading;
    } catch (const cancelled&) {
      throw;
    } catch (const task_cancelled&) {
      throw status_error(503);
    } catch (...) {
      if (is_wanted) {
        place& after = place_of(wanted);
        if (after.number == number) after.reading.reset();
        throw;
      }
      failed = true;
    }
    if (failed || !is_wanted) continue;
    place& after = place_of(wanted);
    if (after.number == number) after.last = found;
    co_return found;
  }
}

void listing_cache::drop_old() noexcept {
  event_loop& loop = event_loop::current();
  const io::monotonic_time now = loop.now();
  bool more = false;
  for (place& each : places_) {
    if (!each.reading) continue;
    if (each.reading->done() && each.began + keeps <= now)
      each.reading.reset();
    else
      more = true;
  }
  if (!more) return;
  deadline = now + keeps;
  loop.timers().arm(*this);
}

void listing_cache::clear() noexcept {
  if (armed()) event_loop::current().timers().disarm(*this);
  places_.clear();
}

}  // namespace gyre::http
