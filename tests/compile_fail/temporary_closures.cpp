// tests/compile_fail/temporary_closures.cpp: g++ 12 destroys the captures of a temporary closure twice.
// compiler: g++
// expect: name it first
#include <gyre/gyre.hpp>

#include <string>

// case: rvalue_aggregate_to_thread
struct measure {
  std::string text;
  std::size_t operator()() const { return text.size(); }
};
gyre::task<> caller(std::string text) { (void)co_await gyre::to_thread(measure{text}); }

// case: rvalue_closure_condition
gyre::task<> caller(gyre::condition_variable& changed, std::string text) {
  co_await changed.wait([text] { return !text.empty(); });
}

// case: rvalue_closure_from_callback
gyre::task<> caller(std::string text) {
  (void)co_await gyre::from_callback<std::size_t>([text](auto done) { done(text.size()); });
}

// case: rvalue_closure_on
gyre::task<> caller(gyre::event_loop& other, std::string text) {
  (void)co_await gyre::on(other, [text] { return text.size(); });
}

// case: rvalue_closure_scope
gyre::task<> caller(std::string text) {
  co_await gyre::task_group::scope([text](gyre::task_group&) -> gyre::task<> { co_return; });
}

// case: rvalue_closure_serve
gyre::task<> caller(gyre::tcp_listener& listener, std::string text) {
  co_await listener.serve([text](gyre::tcp_stream) -> gyre::task<> { co_return; });
}

// case: rvalue_closure_shield
gyre::task<> caller(std::string text) {
  co_await gyre::shield([text]() -> gyre::task<> { co_return; });
}

// case: rvalue_closure_start_server
gyre::task<> caller(std::string text) {
  co_await gyre::start_server([text](gyre::stream_reader&, gyre::stream_writer&) -> gyre::task<> { co_return; }, ":0");
}

// case: rvalue_closure_timeout
gyre::task<> caller(std::string text) {
  co_await gyre::timeout(std::chrono::seconds(1), [text]() -> gyre::task<> { co_return; });
}

// case: rvalue_closure_to_thread
gyre::task<> caller(std::string text) {
  (void)co_await gyre::to_thread([text] { return text.size(); });
}
