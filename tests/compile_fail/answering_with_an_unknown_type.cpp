// tests/compile_fail/answering_with_an_unknown_type.cpp: a value becomes JSON by a json_format.
// expect: response::json takes text, or a value of a type for which gyre::http::json_format is specialized with write()
#include <gyre/http/response.hpp>

struct point {};
gyre::http::response answer() { return gyre::http::response::json(point()); }
