// src/client/client_state.cpp: keeps, finds and ends connections.
#include "client_state.hpp"

#include <gyre/http/field.hpp>
#include <gyre/io/random_bytes.hpp>
#include <gyre/net/unix_address.hpp>

#include "client_exchange.hpp"
#include "connecting.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t max_free_exchanges = 256;

void refuse(const std::string& option, const char* reason) {
  throw std::invalid_argument("client_options: " + option + ' ' + reason);
}

void expect_time(const std::string& option, std::chrono::nanoseconds value) {
  if (value < std::chrono::nanoseconds::zero()) refuse(option, "is negative");
}

// Rejects options under which no request would ever be answered, and those without a meaning.
client_options&& checked(client_options&& options) {
  const client_limits& limits = options.limits;
  if (limits.head.size == 0) refuse("limits.head.size", "is 0: every response would be refused");
  if (limits.head.fields == 0) refuse("limits.head.fields", "is 0: nearly every response would be refused");
  if (limits.head.target == 0) refuse("limits.head.target", "must be at least 1, even though a response has no target");
  if (limits.expansion == 0) refuse("limits.expansion", "must be at least 1");
  if (limits.connections_per_origin == 0) refuse("limits.connections_per_origin", "must be at least 1");
  if (options.retries.attempts == 0) refuse("retries.attempts", "must be at least 1");
  for (const auto& [name, value] : {std::pair("user_agent", &options.user_agent), std::pair("accept", &options.accept)})
    if (!value->empty() && !is_field_value(*value)) refuse(name, "holds a control character, or white space around it");
  if (!options.unix_socket.empty() && !unix_address::parse(options.unix_socket))
    refuse("unix_socket", "is not the address of a Unix socket: at most 107 bytes, without NUL");
  const client_timeouts& times = options.timeouts;
  expect_time("timeouts.queue", times.queue);
  expect_time("timeouts.connect", times.connect);
  expect_time("timeouts.tls", times.tls);
  expect_time("timeouts.first_byte", times.first_byte);
  expect_time("timeouts.between_bytes", times.between_bytes);
  expect_time("timeouts.expect", times.expect);
  expect_time("timeouts.total", times.total);
  expect_time("limits.idle", limits.idle);
  expect_time("limits.age", limits.age);
  expect_time("limits.names", limits.names);
  expect_time("retries.backoff", options.retries.backoff);
  expect_time("retries.max_backoff", options.retries.max_backoff);
  expect_time("retries.max_retry_after", options.retries.max_retry_after);
  expect_time("connecting.attempt_delay", options.connecting.attempt_delay);
  for (const std::optional<url>* const each : {&options.proxies.for_http, &options.proxies.for_https})
    if (*each && (*each)->scheme() == "https")
      throw std::invalid_argument("proxy \"" + (*each)->string() + "\": proxies with TLS are not supported");
  return std::move(options);
}

}  // namespace

client_state::client_state(client_options options)
    : options_(checked(std::move(options))),
      fields_(options_.user_agent, options_.accept, known_codings()),
      tls_(options_.tls),
      budget_(options_.retries.budget != nullptr ? *options_.retries.budget : own_budget_),
      random_(io::random_secret() | 1U) {
  fire = [](timer& t) noexcept { static_cast<client_state&>(t).sweep(); };
}

client_state::~client_state() {
  for (client_exchange* const each : free_) delete each;
}

void client_state::release() noexcept {
  if (--references_ == 0) delete this;
}

void client_state::close() noexcept {
  closed_ = true;
  close_idle();
  if (armed()) event_loop::current().timers().disarm(*this);
  release();
}

const tls::client_config& client_state::tls_config() {
  if (!tls_) tls_.emplace(tls::client_options{.protocols = spoken_protocols()});
  return *tls_;
}

const tls::client_config& client_state::tls_config_without_identity() {
  if (!tls_without_identity_) tls_without_identity_.emplace(tls_config().without_identity());
  return *tls_without_identity_;
}

origin& client_state::join(std::string_view name) {
  auto found = origins_.find(name);
  if (found == origins_.end())
    found = origins_.emplace(name, std::make_unique<origin>(name, options_.limits.connections_per_origin)).first;
  ++found->second->users;
  return *found->second;
}

void client_state::leave(origin& left) noexcept {
  --left.users;
  if (left.users == 0 && left.idle.empty()) origins_.erase(origins_.find(std::string_view(left.key)));
}

client_connection* client_state::pop_idle(origin& from) noexcept {
  const io::monotonic_time now = event_loop::current().recent();
  const auto age = options_.limits.age;
  while (!from.idle.empty()) {
    client_connection* const last = from.idle.back();
    from.idle.pop_back();
    --idle_;
    last->forget_owner();
    const bool too_old = age != std::chrono::nanoseconds::max() && now - last->made() >= age.count();
    if (!too_old && now < last->idle_until && !closed_) return last;
    last->discard();
  }
  return nullptr;
}

void client_state::keep(origin& at, connection_owner kept, std::chrono::nanoseconds limit) noexcept {
  const client_limits& limits = options_.limits;
  if (closed_ || limit <= std::chrono::nanoseconds::zero() || at.idle.size() >= limits.idle_connections_per_origin)
    return;
  const io::monotonic_time now = event_loop::current().recent();
  kept->idle_since = now;
  kept->idle_until = limit.count() < io::wait_forever - now ? now + limit.count() : io::wait_forever;
  kept->home = &at;
  kept->reused = true;
  try {
    at.idle.push_back(kept.get());
  } catch (const std::bad_alloc&) {
    return;
  }
  try {
    kept->watch(*this);
  } catch (const std::bad_alloc&) {
    at.idle.pop_back();
    return;
  }
  arm_until(kept->idle_until);
  (void)kept.release();
  if (++idle_ > limits.idle_connections) discard_oldest();
}

void client_state::drop(client_connection& ended) noexcept {
  origin& home = *ended.home;
  std::erase(home.idle, &ended);
  --idle_;
  ended.discard();
  ++home.users;
  leave(home);
}

void client_state::discard_oldest() noexcept {
  client_connection* oldest = nullptr;
  for (const auto& [name, each] : origins_)
    if (!each->idle.empty() && (oldest == nullptr || each->idle.front()->idle_since < oldest->idle_since))
      oldest = each->idle.front();
  if (oldest != nullptr) drop(*oldest);
}

void client_state::close_idle() noexcept {
  while (idle_ > 0) discard_oldest();
}

void client_state::arm_until(io::monotonic_time when) noexcept {
  if (when == io::wait_forever || (armed() && deadline <= when)) return;
  timer_wheel& timers = event_loop::current().timers();
  timers.disarm(*this);
  deadline = when;
  timers.arm(*this);
}

void client_state::sweep() noexcept {
  const io::monotonic_time now = event_loop::current().now();
  io::monotonic_time next = io::wait_forever;
  client_connection* over = nullptr;
  do {
    next = io::wait_forever;
    over = nullptr;
    for (const auto& [name, each] : origins_)
      for (client_connection* const idle : each->idle)
        if (idle->idle_until > now)
          next = std::min(next, idle->idle_until);
        else
          over = idle;
    if (over != nullptr) drop(*over);  // may remove its origin
  } while (over != nullptr);
  arm_until(next);
}

client_exchange& client_state::take_exchange() {
  client_exchange* taken = nullptr;
  if (free_.empty()) {
    free_.reserve(max_free_exchanges);
    taken = new client_exchange(*this);
  } else {
    taken = free_.back();
    free_.pop_back();
  }
  add_reference();
  return *taken;
}

void client_state::give_back(client_exchange& used) noexcept {
  if (closed_ || free_.size() >= max_free_exchanges)
    delete &used;
  else
    free_.push_back(&used);
  release();
}

// xorshift64*: waits need no secrets, only to differ.
double client_state::random() noexcept {
  random_ ^= random_ >> 12U;
  random_ ^= random_ << 25U;
  random_ ^= random_ >> 27U;
  return static_cast<double>((random_ * 0x2545F4914F6CDD1DULL) >> 11U) * 0x1.0p-53;
}

client_counts client_state::counts() const noexcept {
  client_counts all{.idle = idle_, .opened = opened, .retried = retried};
  for (const auto& [name, each] : origins_) {
    all.waiting += each->waiting;
    all.in_use += each->users - each->waiting;
  }
  return all;
}

}  // namespace gyre::http
