// tests/http/trace_context_test.cpp: traceparent. W3C Trace Context.
#include <gyre/http/trace_context.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/http/http_client.hpp"

#include <gtest/gtest.h>

#include <string>

namespace http = gyre::http;
using http::trace_context;

namespace {

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent = "00f067aa0ba902b7";

std::string made_of(std::string_view version, std::string_view trace_id, std::string_view parent_id,
                    std::string_view flags) {
  std::string text(version);
  text.append("-").append(trace_id).append("-").append(parent_id).append("-").append(flags);
  return text;
}

const std::string field = made_of("00", trace, parent, "01");

/// Answers with the trace that the handler sees.
gyre::task<std::string> seen(bool trust_client, std::vector<std::pair<std::string, std::string>> fields) {
  http::router routes;
  routes.use(http::trace_requests(trust_client));
  routes.get("/", [](http::request& request) -> gyre::task<http::response> {
    const trace_context* const current = http::current_trace().get();
    if (current == nullptr || current->trace_id != request.attribute("trace_id"))
      co_return http::response::text("none");
    co_return http::response::text(current->traceparent() + " " + current->state);
  });
  gyre_test::http_test_client app(std::move(routes));
  const auto answer = co_await app.request("GET", "/", std::move(fields), "");
  co_return answer.body;
}

}  // namespace

TEST(trace_context, a_traceparent_is_read_and_written) {
  const auto read = trace_context::parse(field).value_or(trace_context{});
  EXPECT_EQ(read.trace_id, trace);
  EXPECT_EQ(read.parent_id, parent);
  EXPECT_TRUE(read.sampled);
  EXPECT_EQ(read.traceparent(), field);
  const std::string unsampled = made_of("00", trace, parent, "00");
  EXPECT_EQ(trace_context::parse(unsampled).value_or(trace_context{}).traceparent(), unsampled);
}

TEST(trace_context, later_versions_may_have_more_parts) {
  EXPECT_TRUE(trace_context::parse(made_of("cc", trace, parent, "01")));
  EXPECT_TRUE(trace_context::parse(made_of("cc", trace, parent, "01-what-the-future")));
  EXPECT_FALSE(trace_context::parse(made_of("cc", trace, parent, "01.what")));
  EXPECT_FALSE(trace_context::parse(made_of("00", trace, parent, "01-extra")));
}

TEST(trace_context, malformed_fields_are_refused) {
  const std::string no_trace(32, '0');
  const std::string no_parent(16, '0');
  for (const std::string& each :
       {std::string(), std::string("00"), made_of("ff", trace, parent, "01"), made_of("0x", trace, parent, "01"),
        made_of("00", no_trace, parent, "01"), made_of("00", trace, no_parent, "01"),
        made_of("00", trace, parent, "0g"), made_of("00", trace, parent, "1"), made_of("00", trace + "0", parent, "1"),
        made_of("00", "4BF92F3577B34DA6A3CE929D0E0E4736", parent, "01"), " " + field})
    EXPECT_FALSE(trace_context::parse(each)) << each;
}

TEST(trace_context, a_new_trace_is_valid_and_its_steps_share_the_trace) {
  const trace_context one = trace_context::begin();
  EXPECT_TRUE(trace_context::parse(one.traceparent()));
  const trace_context next = one.next_step();
  EXPECT_EQ(next.trace_id, one.trace_id);
  EXPECT_NE(next.parent_id, one.parent_id);
  EXPECT_NE(trace_context::begin().trace_id, one.trace_id);
}

TEST(trace_context, a_handler_runs_in_a_step_of_the_trace_of_its_client) {
  const std::string step = gyre::testing::run_test(seen(true, {{"traceparent", field}, {"tracestate", "a=1"}}));
  EXPECT_EQ(step.substr(0, 36), "00-" + trace + "-");
  EXPECT_EQ(step.substr(step.size() - 7), "-01 a=1");
  EXPECT_EQ(step.find(parent), std::string::npos);
}

TEST(trace_context, a_client_that_is_not_trusted_gets_a_new_trace) {
  for (const bool trusted : {false, true}) {
    const std::string step =
        gyre::testing::run_test(seen(trusted, {{"traceparent", trusted ? "nonsense" : field}, {"tracestate", "a=1"}}));
    EXPECT_TRUE(trace_context::parse(step.substr(0, 55))) << step;
    EXPECT_EQ(step.find(trace), std::string::npos);
    EXPECT_EQ(step.back(), ' ') << "the state belongs to the old trace";
  }
}
