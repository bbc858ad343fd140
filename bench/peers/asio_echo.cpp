// bench/peers/asio_echo.cpp: Asio, for comparison: echo.
#include "bench/bare/protocol.hpp"
#include "bench/peers/asio_server.hpp"

int main(int argc, char** argv) { return peers::run_asio<bare::echo>(argc, argv); }
