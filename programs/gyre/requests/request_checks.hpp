// programs/gyre/requests/request_checks.hpp: checks the options of commands that send HTTP requests.
#pragma once

#include <string>

namespace programs {

// Each returns an error message, or an empty string when there is no error.

[[nodiscard]] std::string check_url(const std::string& text);
/// A token other than CONNECT.
[[nodiscard]] std::string check_method(const std::string& text);
/// "Name: value", except the fields that the program itself sets.
[[nodiscard]] std::string check_request_header(const std::string& text);

/// The value of an option such as --data: the text, or the content of the file after an @.
/// Errors: std::runtime_error with the name of the file.
[[nodiscard]] std::string read_data(const std::string& text);

}  // namespace programs
