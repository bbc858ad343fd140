// src/net/resolver.cpp: lookups on a thread, and the owners of their results.
#include <gyre/coro/owned.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/net/host_port.hpp>
#include <gyre/net/resolver.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace gyre {
namespace {

class getaddrinfo_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "getaddrinfo"; }
  [[nodiscard]] std::string message(int code) const override { return ::gai_strerror(code); }
  [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
    if (code == EAI_AGAIN) return std::errc::resource_unavailable_try_again;
    if (code == EAI_MEMORY) return std::errc::not_enough_memory;
    return {code, *this};
  }
};

// RFC 6761 §6.3: these names mean this machine, also where no /etc/hosts says so.
bool is_localhost(std::string_view host) noexcept {
  if (host.ends_with('.')) host.remove_suffix(1);
  constexpr std::string_view name = "localhost";
  const std::size_t before = host.size() - std::min(name.size(), host.size());
  const auto equal = [](char a, char b) { return (a | 0x20) == b; };
  return std::ranges::equal(host.substr(before), name, equal) && (before == 0 || host[before - 1] == '.');
}

lookup_result look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;  // otherwise every address comes once per socket type
  addrinfo* found = nullptr;
  const int code = io::sockets().getaddrinfo(host.c_str(), nullptr, &hints, &found);
  lookup_result result;
  if (code == EAI_SYSTEM)
    result.error = {errno, std::generic_category()};
  else if (code != 0)
    result.error = {code, resolver_category()};
  const owned<addrinfo*, &::freeaddrinfo> list(code == 0 ? found : nullptr);
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next)
    if (const address a = address::from_raw(each->ai_addr, each->ai_addrlen); !a.empty()) result.addresses.push_back(a);
  const bool unknown = result.addresses.empty() && code != EAI_SYSTEM && code != EAI_MEMORY;
  if (unknown && is_localhost(host))
    return {.addresses = {address::loopback_v4(0), address::loopback_v6(0)}, .error = {}};
  return result;
}

// One lookup. On the heap, because its thread may outlive the task and the loop that requested it. `loop` determines
// who frees it: the task while it is set, otherwise the thread, which then touches no loop.
struct lookup_job : io::blocking_job, io::completion {
  const std::string host;
  lookup_result (*const function)(const std::string&);
  lookup_result result;
  std::exception_ptr failure;
  operation_base* waiter = nullptr;  // used only on the loop's thread

  std::mutex mutex;
  event_loop* loop = nullptr;  // guarded by mutex; null when nobody wants the result any more
  bool posted = false;         // guarded by mutex

  lookup_job(std::string_view name, lookup_result (*lookup)(const std::string&)) : host(name), function(lookup) {
    run = &run_on_thread;
    complete = &arrive;
  }

  // Runs on the pool's thread. The loop cannot end while the lock is held: `arrive` and `abandon` need it first.
  static void run_on_thread(io::blocking_job& j) noexcept {
    auto& job = static_cast<lookup_job&>(j);
    try {
      job.result = job.function(job.host);
    } catch (...) {  // rethrown where the lookup is awaited
      job.failure = std::current_exception();
    }
    std::unique_lock lock(job.mutex);
    if (job.loop == nullptr) {
      lock.unlock();
      delete &job;
      return;
    }
    job.posted = true;
    job.loop->post(static_cast<io::completion&>(job));
  }

  // Runs on the loop, when the result is there.
  static void arrive(io::completion& c) noexcept {
    auto& job = static_cast<lookup_job&>(c);
    event_loop::current().expected_post_arrived();
    {
      const std::scoped_lock thread_has_left(job.mutex);
    }
    job.waiter->proceed(*job.waiter);
  }

  // Runs on the loop. Returns true when the result will not come; the job is then deleted or belongs to the thread.
  // Returns false when the result is on its way.
  bool abandon() noexcept {
    const bool never_begun = io::blocking_pool::withdraw(*this);
    {
      const std::scoped_lock lock(mutex);
      if (posted) return false;
      event_loop::current().expected_post_arrived();
      loop = nullptr;
    }
    if (never_begun) delete this;
    return true;
  }
};

// Awaits a job. Takes it from its owner if the thread has to free it.
class lookup_op : public operation<lookup_op> {
 public:
  explicit lookup_op(std::unique_ptr<lookup_job>& job) noexcept : job_(&job) {}

  bool try_now() noexcept { return false; }
  void start() noexcept {
    lookup_job& job = **job_;
    job.waiter = this;
    job.loop = &event_loop::current();
    job.loop->expect_post();
    io::blocking_pool::for_names().submit(job);
  }
  void on_cancel() noexcept {
    if (*job_ == nullptr || !(*job_)->abandon()) return;  // abandoned before, or success beats cancel
    (void)job_->release();
    finish_soon();
  }
  void await_resume() const {
    if (*job_ == nullptr) throw_cancelled();
    if ((*job_)->failure) std::rethrow_exception((*job_)->failure);
  }

 private:
  std::unique_ptr<lookup_job>* job_;
};

// Returns the addresses with their port, without duplicates: getaddrinfo repeats duplicates of /etc/hosts.
std::vector<address> endpoints(const std::vector<address>& hosts, std::uint16_t port) {
  std::vector<address> all;
  for (const address& host : hosts)
    if (const address a = host.with_port(port); std::find(all.begin(), all.end(), a) == all.end()) all.push_back(a);
  return all;
}

// getaddrinfo accepts what inet_aton accepts, such as "1.2.3" and "127.1". Half an address is more likely a mistake. No
// name contains a colon, and text after a zero byte would be ignored.
bool can_be_name(std::string_view host) noexcept {
  return host.find_first_not_of("0123456789.") != std::string_view::npos &&
         host.find_first_of(std::string_view(":\0", 2)) == std::string_view::npos;
}

task<std::vector<address>> resolve_copied(std::string host, std::uint16_t port, resolve_options options) {
  if (const auto numeric = address::parse(host, port)) co_return std::vector<address>(1, *numeric);
  if (!can_be_name(host))
    throw io_error(std::make_error_code(std::errc::invalid_argument), "resolve", "\"" + host + "\"");

  auto job = std::make_unique<lookup_job>(host, options.lookup == nullptr ? look_up : options.lookup);
  co_await lookup_op(job);
  const lookup_result& found = job->result;
  if (found.error) throw io_error(found.error, "resolve", host);
  if (found.addresses.empty()) throw io_error({EAI_NONAME, resolver_category()}, "resolve", host);
  co_return endpoints(found.addresses, port);
}

// Invalid arguments are reported where the result is awaited, like every error.
task<std::vector<address>> reject(std::string text) {
  throw io_error(std::make_error_code(std::errc::invalid_argument), "resolve",
                 "\"" + text + "\": expected HOST:PORT, such as example.org:80 or [::1]:80");
  co_return std::vector<address>();
}

}  // namespace

const std::error_category& resolver_category() noexcept {
  // Never destroyed: a lookup may still run when the process ends.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): made when the program starts to resolve, or not at all
  static const getaddrinfo_category& instance = *new getaddrinfo_category;
  return instance;
}

task<std::vector<address>> resolve(std::string_view host, std::uint16_t port, resolve_options options) {
  return resolve_copied(std::string(host), port, options);
}

task<std::vector<address>> resolve(std::string_view host_and_port, resolve_options options) {
  const auto parts = host_port::parse(host_and_port);
  if (!parts) return reject(std::string(host_and_port));
  return resolve(parts->host.empty() ? "*" : parts->host, parts->port, options);
}

}  // namespace gyre
