// src/http/semantics/status_error.cpp: the exception by which a handler answers with a status.
#include <gyre/http/status.hpp>
#include <gyre/http/status_error.hpp>

namespace gyre::http {

status_error::status_error(int status, const std::string& message)
    : std::runtime_error(message.empty() ? std::string(reason_phrase(status)) : message),
      status_(status >= 200 && status <= 999 ? status : 500) {}

status_error::~status_error() = default;

}  // namespace gyre::http
