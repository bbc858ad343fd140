// bench/peers/uv_echo.cpp: libuv, for comparison: echo.
#include "bench/bare/protocol.hpp"
#include "bench/peers/uv_server.hpp"

int main(int argc, char** argv) { return peers::run_uv<bare::echo>(argc, argv); }
