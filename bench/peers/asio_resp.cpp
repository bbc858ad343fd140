// bench/peers/asio_resp.cpp: Asio, for comparison: resp.
#include "bench/bare/protocol.hpp"
#include "bench/peers/asio_server.hpp"

int main(int argc, char** argv) { return peers::run_asio<bare::ping>(argc, argv); }
