// src/http/http1_connection/response_sender.hpp: writes the head of a response of HTTP/1.
#pragma once

#include "exchange/exchange_link.hpp"
#include "exchange/response_plan.hpp"
#include "exchange/response_state.hpp"
#include "http1/response_head.hpp"
#include "message_output.hpp"

namespace gyre::http {

/// How the connection determines the framing of a response.
struct sending {
  const server_lines& lines;
  bool close = false;     // nothing follows this response
  bool http_1_0 = false;  // the client does not know chunks, and needs keep-alive announced
};

/// Appends the head of a response, and its body if that is in memory, when the connection goes on after it, the client
/// knows HTTP/1.1, and the length is known. Returns false, and appends nothing, if the response has fields that replace
/// those of the server.
[[nodiscard]] bool append_usual_head(std::string& out, const response_state& r, const response_plan& plan,
                                     const server_lines& lines);

/// Writes the head of a response.
class response_sender {
 public:
  response_sender(message_output& output, response_state& r, const response_plan& plan, const sending& how) noexcept
      : output_(output), response_(r), plan_(plan), how_(how) {}

  /// Appends the head, with the body if that is small and in memory. The head of a body that is made piece by piece
  /// goes to response_state::value, which has no other use then.
  exchange_link::begun begin();
  /// True if the body ends with the connection, or if the client was told that nothing follows.
  [[nodiscard]] bool closes() const noexcept { return how_.close; }
  [[nodiscard]] bool is_chunked() const noexcept { return plan_.is_open && !how_.http_1_0; }

 private:
  message_output& output_;
  response_state& response_;
  const response_plan& plan_;
  sending how_;
};

}  // namespace gyre::http
