// bench/peers/uv_resp.cpp: libuv, for comparison: resp.
#include "bench/bare/protocol.hpp"
#include "bench/peers/uv_server.hpp"

int main(int argc, char** argv) { return peers::run_uv<bare::ping>(argc, argv); }
