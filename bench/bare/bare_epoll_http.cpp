// bench/bare/bare_epoll_http.cpp: the bare epoll loop, for comparison: http.
#include "bench/bare/epoll_loop.hpp"
#include "bench/bare/protocol.hpp"

int main(int argc, char** argv) { return bare::run_epoll<bare::hello>(argc, argv); }
