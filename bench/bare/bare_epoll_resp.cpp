// bench/bare/bare_epoll_resp.cpp: the bare epoll loop, for comparison: resp.
#include "bench/bare/epoll_loop.hpp"
#include "bench/bare/protocol.hpp"

int main(int argc, char** argv) { return bare::run_epoll<bare::ping>(argc, argv); }
