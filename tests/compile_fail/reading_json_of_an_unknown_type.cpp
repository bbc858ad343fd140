// tests/compile_fail/reading_json_of_an_unknown_type.cpp: JSON becomes a value by a json_format.
// expect: request::json gives values of types for which gyre::http::json_format is specialized with read()
#include <gyre/http/request.hpp>

struct point {};
gyre::task<> handle(gyre::http::request& request) { (void)co_await request.json<point>(); }
