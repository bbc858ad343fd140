// expect: gyre needs exceptions, which report errors and cancel tasks
// flags: -fno-exceptions
#include <gyre/http.hpp>

int main() {
  return gyre::run_main([]() -> gyre::task<> { co_return; });
}
