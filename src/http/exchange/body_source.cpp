// src/http/exchange/body_source.cpp: sources without trailers, 100-continue or bulk.
#include <gyre/http/body_source.hpp>

namespace gyre::http {

std::vector<field> body_source::trailers() const { return {}; }
task<> body_source::ask_for_it() { co_return; }
socket_state* body_source::bulk_socket() const noexcept { return nullptr; }
task<std::size_t> body_source::receive_bulk(socket_bulk& /*bulk*/) { co_return std::size_t{0}; }

}  // namespace gyre::http
