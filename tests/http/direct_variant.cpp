// tests/http/direct_variant.cpp: the tests of HTTP that need a server, or text of HTTP/1.1, and skip themselves in the
// variant GYRE_TEST_DIRECT.
#include "tests/http/direct_front.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace gyre_test {
namespace {

struct not_direct {
  std::string_view name;  // of a suite and a test; an asterisk at the end stands for all that begin so
  const char* reason;
};

constexpr not_direct about_more[] = {
    {"access_log.a_client_can_forge_no_line", "refusals of malformed text"},
    {"access_log.json_stays_json_whatever_comes", "refusals of malformed text"},
    {"access_log.passwords_of_urls_are_not_logged", "refusals of malformed text"},
    {"access_log.requests_of_one_turn_are_one_write", "sockets"},
    {"adopted_task.has_ended_when_the_task_of_its_connection_that_was_cancelled_has", "the task of a connection"},
    {"back_pressure.a_writer_that_goes_on_after_a_failure_fills_no_buffer", "the time limit of a write"},
    {"back_pressure.appending_without_awaiting_fails_once_64_KiB_wait_and_works_again_after_a_flush", "sockets"},
    {"coalesced_response.a_producer_waits_for_a_stream_that_takes_nothing", "the bytes of a connection"},
    {"connection_limits.*", "the limits of connections"},
    {"early_answer.ends_the_connection_when_the_rest_does_not_come_in_time", "the end of a connection"},
    {"early_answer.gives_the_rest_only_the_time_that_the_handler_has_left", "the end of a connection"},
    {"early_answer.to_a_body_that_is_too_long_to_be_skipped_says_that_the_connection_ends", "the end of a connection"},
    {"http_test_client.*", "the test client itself"},
    {"interim_response.an_interim_response_on_its_way_is_complete_before_the_final_one_begins",
     "the bytes of a connection"},
    {"late_bytes.*", "the time limits of a connection"},
    {"protocol_switch.a_client_that_has_not_asked_is_offered_the_protocol_with_426",
     "another protocol on a connection"},
    {"protocol_switch.a_client_that_waits_for_100_with_its_body_gets_it_before_101",
     "another protocol on a connection"},
    {"protocol_switch.a_request_whose_body_cannot_be_passed_over_is_answered_with_400_and_the_end",
     "another protocol on a connection"},
    {"protocol_switch.a_version_that_the_server_names_is_to_be_asked_for", "another protocol on a connection"},
    {"protocol_switch.an_answer_that_names_a_protocol_says_that_the_field_is_for_this_connection",
     "another protocol on a connection"},
    {"protocol_switch.connect_opens_a_tunnel_with_200_whatever_status_was_left", "another protocol on a connection"},
    {"protocol_switch.connect_that_is_answered_like_another_method_is_refused_with_501_and_the_end",
     "another protocol on a connection"},
    {"protocol_switch.the_other_protocol_begins_behind_the_body_of_its_request", "another protocol on a connection"},
    {"protocol_switch.the_protocol_may_be_any_of_those_asked_for_in_any_case_and_with_a_version",
     "another protocol on a connection"},
    {"protocol_switch.an_exception_of_the_other_protocol_is_reported_and_ends_the_connection",
     "another protocol on a connection"},
    {"protocol_switch.works_over_any_stream_and_behind_other_answers", "another protocol on a connection"},
    {"request.shows_the_protocols_of_all_fields_that_ask_for_another_one", "another protocol on a connection"},
    {"request_body.a_large_one_that_nobody_wants_ends_the_connection_behind_the_answer", "the end of a connection"},
    {"request_body.long_extensions_do_not_pass_the_limit", "chunks"},
    {"request_body.malformed_chunks_are_answered_with_400_and_end_the_connection", "chunks"},
    {"request_body.malformed_chunks_that_nobody_reads_end_the_connection_behind_the_answer", "chunks"},
    {"request_body.one_that_is_large_by_its_frames_is_not_skipped_either", "chunks"},
    {"request_body.two_tasks_that_read_one_body_stop_the_program", "a client that ends its sending side at once"},
    {"request_body_timing.a_byte_now_and_then_does_not_keep_a_slow_sender_alive", "the time limits of a connection"},
    {"request_body_timing.one_that_stops_coming_is_answered_with_408", "the time limits of a connection"},
    {"response_body.a_response_that_wants_the_connection_closed_says_so", "the end of a connection"},
    {"response_body.a_value_arrives_with_its_length_and_the_fields", "the fields of a connection"},
    {"response_body.head_is_answered_with_the_head_of_get_and_no_body_of_any_kind", "chunks"},
    {"server.announces_how_long_it_keeps_an_idle_connection", "the time limits of a connection"},
    {"server.keeps_a_connection_for_many_requests", "the end of a connection"},
    {"server_drain.the_observer_hears_of_a_*", "the end of a server"},
    {"server_failure.a_large_value_whose_time_is_over_is_cut_off", "the end of a connection"},
    {"server_input.*", "text"},
    {"server_limits.*", "the limits of connections"},
    {"stream_failure.a_request_body_that_came_too_slowly_is_answered_with_408", "the time limits of a connection"},
    {"successive_requests.have_nothing_of_the_previous_one", "another protocol on a connection"},
};

bool matches(std::string_view pattern, std::string_view name) noexcept {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string name_of(const testing::TestInfo& test) { return std::string(test.test_suite_name()) + '.' + test.name(); }

class direct_variant final : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest& all) override {
    for (const not_direct& each : about_more)
      if (!has_test(all, each.name)) ADD_FAILURE() << "direct_variant.cpp: no test is named " << each.name;
  }
  void OnTestStart(const testing::TestInfo& test) override {
    before_ = direct_exchanges;
    const std::string name = name_of(test);
    for (const not_direct& each : about_more)
      if (matches(each.name, name)) GTEST_SKIP() << "direct: it is about " << each.reason;
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (test.result()->Skipped())
      ++skipped_;
    else if (direct_exchanges > before_)
      ++direct_;
  }
  void OnTestProgramEnd(const testing::UnitTest& /*all*/) override {
    std::printf("direct: %d tests with direct exchanges, %d skipped\n", direct_, skipped_);
  }

  static bool has_test(const testing::UnitTest& all, std::string_view pattern) {
    for (int i = 0; i < all.total_test_suite_count(); ++i)
      for (int k = 0; k < all.GetTestSuite(i)->total_test_count(); ++k)
        if (matches(pattern, name_of(*all.GetTestSuite(i)->GetTestInfo(k)))) return true;
    return false;
  }

  int before_ = 0;
  int direct_ = 0;
  int skipped_ = 0;
};

// NOLINTNEXTLINE(cert-err58-cpp): it ends the program, as a test that fails to start should
[[maybe_unused]] const bool added = [] {
  if (directly()) testing::UnitTest::GetInstance()->listeners().Append(new direct_variant);
  return true;
}();

}  // namespace
}  // namespace gyre_test
