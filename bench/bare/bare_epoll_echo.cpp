// bench/bare/bare_epoll_echo.cpp: the bare epoll loop, for comparison: echo.
#include "bench/bare/epoll_loop.hpp"
#include "bench/bare/protocol.hpp"

int main(int argc, char** argv) { return bare::run_epoll<bare::echo>(argc, argv); }
