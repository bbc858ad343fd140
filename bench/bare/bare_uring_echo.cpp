// bench/bare/bare_uring_echo.cpp: the bare uring loop, for comparison: echo.
#include "bench/bare/protocol.hpp"
#include "bench/bare/uring_loop.hpp"

int main(int argc, char** argv) { return bare::run_uring<bare::echo>(argc, argv); }
