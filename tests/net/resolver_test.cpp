// tests/net/resolver_test.cpp: results and error messages of lookups.
#include <gyre/io/kernel.hpp>
#include <gyre/net/resolver.hpp>

#include "tests/net/connected_pair.hpp"

#include <netdb.h>

#include <cerrno>
#include <new>
#include <stdexcept>

using namespace gyre_test;
using gyre::address;

namespace {

gyre::lookup_result must_not_be_called(const std::string& host) {
  ADD_FAILURE() << "looked up " << host;
  return {};
}

gyre::lookup_result two_addresses(const std::string&) {
  return {{address::loopback_v6(1), address::loopback_v4(2), address::loopback_v6(3)}, {}};
}

template <int Code>
gyre::lookup_result fail(const std::string&) {
  return {{}, {Code, gyre::resolver_category()}};
}

gyre::task<std::string> text_of_addresses(gyre::task<std::vector<address>> lookup) {
  std::string all;
  const auto found = co_await std::move(lookup);
  for (const address& a : found) all += a.string() + " ";
  co_return all;
}

void expect_error(gyre::task<std::vector<address>> lookup, const std::string& text) {
  EXPECT_EQ(gyre::run(error_of(std::move(lookup))), text);
}

}  // namespace

TEST(resolver, a_numeric_address_is_answered_without_a_lookup) {
  const gyre::resolve_options options{.lookup = must_not_be_called};
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("10.0.0.7", 80, options))), "10.0.0.7:80 ");
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("::1", 80, options))), "[::1]:80 ");
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("fe80::1%lo", 80, options))), "[fe80::1%lo]:80 ");
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("10.0.0.7:80", options))), "10.0.0.7:80 ");
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("[::1]:80", options))), "[::1]:80 ");
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve(":80", options))), "0.0.0.0:80 ");
}

TEST(resolver, a_numeric_address_does_not_suspend) {
  run_test([]() -> gyre::task<> {
    bool others_ran = false;
    auto other = [&]() -> gyre::task<> {
      others_ran = true;
      co_return;
    };
    auto handle = gyre::spawn(other);
    (void)co_await gyre::resolve("127.0.0.1:80");
    EXPECT_FALSE(others_ran);
    co_await handle;
  });
}

TEST(resolver, every_address_gets_the_port_and_comes_once) {
  const gyre::resolve_options options{.lookup = two_addresses};
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("example.test", 443, options))), "[::1]:443 127.0.0.1:443 ");
  EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve("example.test:443", options))), "[::1]:443 127.0.0.1:443 ");
}

TEST(resolver, the_system_knows_localhost) {
  run_test([]() -> gyre::task<> {
    const auto found = co_await gyre::resolve("localhost", 80);
    EXPECT_FALSE(found.empty());
    for (const address& a : found) EXPECT_TRUE(a == address::loopback_v4(80) || a == address::loopback_v6(80));
  });
}

TEST(resolver, a_name_that_the_system_does_not_know_is_an_error_that_names_it) {
  const std::string label_too_long(70, 'a');  // refused without a query to the network
  const std::string text = gyre::run(error_of(gyre::resolve(label_too_long, 80)));
  EXPECT_EQ(text.substr(0, 8 + 70 + 2), "resolve " + label_too_long + ": ");
}

TEST(resolver, the_text_is_copied) {
  run_test([]() -> gyre::task<> {
    static std::string seen;
    const gyre::resolve_options options{.lookup = [](const std::string& host) {
      seen = host;
      return two_addresses(host);
    }};
    std::string host = "a-name-that-is-too-long-to-be-stored-in-the-string-object";
    std::string pair = host + ":80";
    auto first = gyre::resolve(host, 80, options);
    auto second = gyre::resolve(pair, options);
    const std::string expected = host;
    host.assign(host.size(), 'x');
    pair.assign(pair.size(), 'x');
    (void)co_await std::move(first);
    EXPECT_EQ(seen, expected);
    seen.clear();
    (void)co_await std::move(second);
    EXPECT_EQ(seen, expected);
  });
}

TEST(resolver, errors_of_the_resolver_name_the_host_and_the_reason) {
  expect_error(gyre::resolve("a.test", 80, {.lookup = fail<EAI_NONAME>}), "resolve a.test: Name or service not known");
  expect_error(gyre::resolve("a.test:80", {.lookup = fail<EAI_AGAIN>}),
               "resolve a.test: Temporary failure in name resolution");
}

TEST(resolver, errors_of_the_system_keep_their_code) {
  const auto lookup = [](const std::string&) -> gyre::lookup_result { return {{}, {EMFILE, std::generic_category()}}; };
  expect_error(gyre::resolve("a.test", 80, {.lookup = lookup}), "resolve a.test: Too many open files");
}

TEST(resolver, no_address_at_all_is_an_error) {
  const auto lookup = [](const std::string&) -> gyre::lookup_result { return {}; };
  expect_error(gyre::resolve("a.test", 80, {.lookup = lookup}), "resolve a.test: Name or service not known");
}

TEST(resolver, an_exception_of_the_lookup_arrives_at_the_await) {
  const auto lookup = [](const std::string&) -> gyre::lookup_result { throw std::runtime_error("no table of hosts"); };
  expect_error(gyre::resolve("a.test", 80, {.lookup = lookup}), "no table of hosts");
  const auto exhausted = [](const std::string&) -> gyre::lookup_result { throw std::bad_alloc(); };
  EXPECT_THROW(gyre::run(gyre::resolve("a.test", 80, {.lookup = exhausted})), std::bad_alloc);
}

TEST(resolver, refuses_a_text_that_can_be_no_host_without_a_lookup) {
  const gyre::resolve_options options{.lookup = must_not_be_called};
  for (const char* host : {"", "1.2.3", "1.2.3.256", "127.1", "300", "::1::", "[::1]", "a:80"})
    expect_error(gyre::resolve(host, 80, options), "resolve \"" + std::string(host) + "\": Invalid argument");
  expect_error(gyre::resolve(std::string_view("a\0b", 3), 80, options),
               std::string("resolve \"a"));  // what() ends at the null byte
}

TEST(resolver, refuses_a_text_that_is_not_host_and_port_with_an_example) {
  const gyre::resolve_options options{.lookup = must_not_be_called};
  for (const char* text :
       {"", "localhost", "localhost:", "localhost:http", "localhost:65536", "::1:80", "[a]:80", "a b:80"})
    expect_error(gyre::resolve(text, options), "resolve \"" + std::string(text) +
                                                   "\": expected HOST:PORT, such as example.org:80 or [::1]:80: "
                                                   "Invalid argument");
}

TEST(resolver, an_error_in_the_argument_is_thrown_by_the_await_not_by_the_call) {
  EXPECT_NO_THROW((void)gyre::resolve("no port"));
}

TEST(resolver, localhost_is_this_machine_even_where_no_file_says_so) {
  gyre::io::kernel without_files = gyre::io::kernel::real();
  without_files.sockets.getaddrinfo = [](const char*, const char*, const addrinfo*, addrinfo**) { return EAI_AGAIN; };
  const gyre::io::kernel_scope scope(without_files);
  for (const char* const name : {"localhost", "LocalHost.", "app.localhost"})
    EXPECT_EQ(gyre::run(text_of_addresses(gyre::resolve(name, 80))), "127.0.0.1:80 [::1]:80 ") << name;
  for (const char* const name : {"mylocalhost", "localhost.example", "host", "l"})
    expect_error(gyre::resolve(name, 80), "resolve " + std::string(name) + ": Temporary failure in name resolution");
}

TEST(resolver_category, tells_failures_that_may_pass) {
  const std::error_category& category = gyre::resolver_category();
  EXPECT_STREQ(category.name(), "getaddrinfo");
  EXPECT_EQ(category.message(EAI_NONAME), "Name or service not known");
  EXPECT_EQ(std::error_code(EAI_AGAIN, category), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(std::error_code(EAI_MEMORY, category), std::errc::not_enough_memory);
  EXPECT_NE(std::error_code(EAI_NONAME, category), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(std::error_code(EAI_NONAME, category), std::error_condition(EAI_NONAME, category));
}
