// expect: gyre needs C++23: compile with -std=c++23
// flags: -std=c++20
#include <gyre/gyre.hpp>

int main() {
  return gyre::run_main([]() -> gyre::task<> { co_return; });
}
