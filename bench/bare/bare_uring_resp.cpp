// bench/bare/bare_uring_resp.cpp: the bare uring loop, for comparison: resp.
#include "bench/bare/protocol.hpp"
#include "bench/bare/uring_loop.hpp"

int main(int argc, char** argv) { return bare::run_uring<bare::ping>(argc, argv); }
