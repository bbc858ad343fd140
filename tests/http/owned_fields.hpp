// tests/http/owned_fields.hpp: the fields of a request, as http_test_client takes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

using owned_fields = std::vector<std::pair<std::string, std::string>>;

}  // namespace gyre_test
