// programs/gyre/requests/request_options.hpp: checks and reads the options of commands that send HTTP requests.
#pragma once

#include <gyre/client/client_response.hpp>
#include <gyre/tls/client_config.hpp>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {

// Each returns an error message, or an empty string when there is no error.

[[nodiscard]] std::string check_url(const std::string& text);
/// See gyre::http::proxy_options::parse. An empty text is accepted.
[[nodiscard]] std::string check_proxy(const std::string& text);
/// A token other than CONNECT.
[[nodiscard]] std::string check_method(const std::string& text);
/// "Name: value", except the fields that the client itself sets.
[[nodiscard]] std::string check_request_header(const std::string& text);

/// The parts of such a field, without white space around the value. Lifetime: same as the text.
[[nodiscard]] std::pair<std::string_view, std::string_view> split_header(std::string_view text) noexcept;
/// True when one of these fields has this name.
[[nodiscard]] bool has_header(const std::vector<std::string>& headers, std::string_view name) noexcept;

/// The value of an option such as --data: the text, or the content of the file after an @ (@-: standard input), of at
/// most 1 GiB. Errors: std::runtime_error with the names of the option and the file.
[[nodiscard]] std::string read_data(const std::string& option, const std::string& text);

/// The status line and the fields of a response, as they came, with the empty line after them.
[[nodiscard]] std::string head_text(const gyre::http::client_response& response);

/// The rules for the certificates of servers, from --insecure and the file of --cacert. Nothing when both are absent:
/// the authorities of the system. Errors: std::runtime_error with the name of the file.
[[nodiscard]] std::optional<gyre::tls::client_config> trusted_by(bool insecure, const std::string& authorities);
/// The message of a failure. When the server's certificate was refused, it also names these options.
[[nodiscard]] std::string explain(const std::exception& failure);

}  // namespace programs
