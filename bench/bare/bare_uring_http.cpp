// bench/bare/bare_uring_http.cpp: the bare uring loop, for comparison: http.
#include "bench/bare/protocol.hpp"
#include "bench/bare/uring_loop.hpp"

int main(int argc, char** argv) { return bare::run_uring<bare::hello>(argc, argv); }
