// programs/resp_server/inline_request.hpp: splits a typed command line into its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace resp {

/// Splits a line by the rules of Redis' sdssplitargs: "double quotes" with \n \r \t \b \a \xHH and \c for any other c,
/// 'single quotes' with \' only, blanks between arguments; a NUL ends the line. Appends to `arguments`. Returns false
/// when a quote is not closed, or is not followed by a blank.
///
/// Lifetime: plain words are views into `line`, the others into `unquoted`, which is overwritten.
[[nodiscard]] bool split_inline_request(std::string_view line, std::string& unquoted,
                                        std::vector<std::string_view>& arguments);

}  // namespace resp
