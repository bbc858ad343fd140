// src/net/resolver.cpp: lookups on a thread, and who still wants their result.
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/net/resolver.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <mutex>
#include <utility>

namespace gyre {
namespace {

class getaddrinfo_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "getaddrinfo"; }
  [[nodiscard]] std::string message(int code) const override { return ::gai_strerror(code); }
};

lookup_result look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  lookup_result result;
  if (code == EAI_SYSTEM)
    result.error = {errno, std::generic_category()};
  else if (code != 0)
    result.error = {code, resolver_category()};
  for (const addrinfo* each = found; code == 0 && each != nullptr; each = each->ai_next)
    if (address a = address::from_raw(each->ai_addr, each->ai_addrlen); !a.empty()) result.addresses.push_back(a);
  if (found != nullptr) ::freeaddrinfo(found);
  return result;
}

// One lookup. Shared by the thread that does it and the task that wants it: whoever lets go last frees it.
struct lookup_job : io::blocking_job, io::completion {
  std::string host;
  lookup_result (*function)(const std::string&);
  lookup_result result;

  std::mutex mutex;
  event_loop* loop = nullptr;      // null: nobody wants the result any more. Guarded by mutex.
  operation_base* waiter = nullptr;  // belongs to the loop's thread
  bool posted = false;             // guarded by mutex

  // On the pool's thread. The loop cannot end while the lock is held: its task must give up the job first.
  static void run_on_thread(io::blocking_job& j) noexcept {
    auto& job = static_cast<lookup_job&>(j);
    lookup_result found;
    try {
      found = job.function(job.host);
    } catch (...) {
      found.error = std::make_error_code(std::errc::not_enough_memory);  // what else a lookup could throw
    }
    std::unique_lock lock(job.mutex);
    if (job.loop == nullptr) {
      lock.unlock();
      delete &job;
      return;
    }
    job.result = std::move(found);
    job.posted = true;
    job.loop->post(static_cast<io::completion&>(job));
  }
};

class lookup_op : public operation<lookup_op> {
 public:
  lookup_op(std::string host, lookup_result (*function)(const std::string&)) : job_(new lookup_job) {
    job_->host = std::move(host);
    job_->function = function;
    job_->run = &lookup_job::run_on_thread;
  }
  lookup_op(const lookup_op&) = delete;
  lookup_op& operator=(const lookup_op&) = delete;
  ~lookup_op() { delete job_; }

  bool try_now() noexcept { return false; }
  void start() noexcept {
    operation_base::cancel = [](cancellable& c) noexcept { static_cast<lookup_op&>(c).give_up(); };
    event_loop& loop = event_loop::current();
    job_->waiter = this;
    job_->loop = &loop;
    job_->complete = [](io::completion& c) noexcept {
      auto& job = static_cast<lookup_job&>(c);
      event_loop::current().expected_post_arrived();
      { const std::scoped_lock thread_has_left(job.mutex); }
      if (job.waiter == nullptr)
        delete &job;
      else
        job.waiter->proceed(*job.waiter);
    };
    loop.expect_post();
    io::blocking_pool::process_wide().submit(*job_);
  }
  lookup_result await_resume() {
    if (job_ == nullptr) throw_cancelled();
    return std::move(job_->result);
  }

 private:
  void give_up() noexcept {
    if (job_ == nullptr) return;
    lookup_job* const job = std::exchange(job_, nullptr);
    const bool never_begun = io::blocking_pool::process_wide().withdraw(*job);
    if (never_begun) {
      event_loop::current().expected_post_arrived();
      delete job;
    } else {
      const std::scoped_lock lock(job->mutex);
      job->waiter = nullptr;
      if (!job->posted) {  // the thread frees it; the loop need not wait for that
        job->loop = nullptr;
        event_loop::current().expected_post_arrived();
      }
    }
    finish_soon();
  }

  lookup_job* job_;
};

bool is_numeric(std::string_view host) noexcept { return host.find_first_not_of("0123456789.") == std::string_view::npos; }

}  // namespace

const std::error_category& resolver_category() noexcept {
  static const getaddrinfo_category instance;
  return instance;
}

task<std::vector<address>> resolve(std::string host, std::uint16_t port, resolve_options options) {
  const bool v6 = host.find(':') != std::string::npos;
  const std::string text = (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  if (const auto numeric = address::parse(text); numeric && !host.empty()) co_return std::vector<address>{*numeric};
  if (host.empty() || v6 || is_numeric(host))
    throw io_error(std::make_error_code(std::errc::invalid_argument), "resolve", "\"" + host + "\"");

  lookup_op lookup(host, options.lookup == nullptr ? look_up : options.lookup);
  lookup_result found = co_await lookup;
  if (!found.error && found.addresses.empty()) found.error = {EAI_NONAME, resolver_category()};
  if (found.error) throw io_error(found.error, "resolve", host);
  for (address& each : found.addresses) each = each.with_port(port);
  co_return std::move(found.addresses);
}

task<std::vector<address>> resolve(std::string_view host_and_port, resolve_options options) {
  // Copied before the first suspension: the view need not live longer than the call.
  if (const auto numeric = address::parse(host_and_port)) return resolve(numeric->host(), numeric->port(), options);
  const std::size_t colon = host_and_port.rfind(':');
  std::string host(host_and_port.substr(0, colon == std::string_view::npos ? host_and_port.size() : colon));
  // A port that is none makes the address invalid whatever the host is.
  const auto port = colon == std::string_view::npos
                        ? std::unexpected(std::make_error_code(std::errc::invalid_argument))
                        : address::parse("0.0.0.0" + std::string(host_and_port.substr(colon)));
  if (!port) host = std::string(host_and_port) + "\": expected HOST:PORT, got \"" + std::string(host_and_port);
  return resolve(port ? std::move(host) : std::string(), port ? port->port() : std::uint16_t{0}, options);
}

}  // namespace gyre
