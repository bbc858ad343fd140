// tests/http/lines.hpp: texts that tests compare one by one.
#pragma once

#include <string>
#include <vector>

namespace gyre_test {

using lines = std::vector<std::string>;

}  // namespace gyre_test
