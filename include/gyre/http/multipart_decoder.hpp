// gyre/http/multipart_decoder.hpp: decodes a form with files (multipart/form-data), in pieces of any size. RFC 7578.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

struct multipart_limits {
  std::size_t header = 8192;    ///< bytes of the fields of one part
  std::size_t parts = 1000;     ///< more: too_many_parts
  std::size_t preamble = 1024;  ///< bytes before the first delimiter, which are ignored
};

enum class multipart_error : std::uint8_t {
  none,
  bad_boundary,  ///< not 1 to 70 of the characters that RFC 2046 §5.1.1 allows
  preamble_too_large,
  bad_delimiter,     ///< something other than white space after a delimiter
  bad_header,        ///< a line that is not a field, or does not end with CR LF
  bad_disposition,   ///< Content-Disposition is missing, repeated, malformed, not form-data, or has no name
  bad_content_type,  ///< repeated
  unknown_encoding,  ///< a Content-Transfer-Encoding that would change the data: RFC 7578 §4.7
  header_too_large,
  too_many_parts,
  missing_end,  ///< the body ends before its last delimiter
};

/// The status that a server answers with.
[[nodiscard]] GYRE_API int status_for(multipart_error error) noexcept;
/// For logs: "the body ends before its last delimiter".
[[nodiscard]] GYRE_API std::string_view describe(multipart_error error) noexcept;

/// The fields of a part. In names, %22, %0D and %0A, which browsers send, and \" and \\ are decoded.
struct multipart_part {
  std::string name;
  std::optional<std::string> file_name = {};  ///< the client's name for the file; never a path to write to
  std::string content_type = {};              ///< empty: not sent, which means text/plain. RFC 7578 §4.4
};

/// Makes a name that a client sent safe to use in a directory. Takes its last segment without slashes, backslashes,
/// ASCII control characters and leading dots, and cuts it between characters to 255 bytes. Returns "unnamed" when
/// nothing is left. Characters that hide or reorder text (C1 and bidirectional controls, invisible characters other
/// than joiners) become "_".
[[nodiscard]] GYRE_API std::string harmless_file_name(std::string_view sent);

/// The boundary in a Content-Type value. Nothing when it is not multipart/form-data, or has no valid boundary.
[[nodiscard]] GYRE_API std::optional<std::string> multipart_boundary(std::string_view content_type);

/// Decodes a multipart/form-data body without copying its data. RFC 2046 §5.1.
///
/// Strict, as head_parser is: anything that two recipients could understand differently is an error. A line is judged
/// once it is complete, so the result does not depend on the pieces in which bytes arrive.
/// Thread: one at a time.
class GYRE_API multipart_decoder {
 public:
  /// With an invalid boundary every step is `failed`. Errors: std::invalid_argument for limits that refuse every form.
  explicit multipart_decoder(std::string_view boundary, const multipart_limits& limits = {});

  enum class state : std::uint8_t { more, part_begin, data, part_end, complete, failed };

  struct step {
    /// more: needs further bytes; complete: the rest, the epilogue, is ignored
    state what;
    std::size_t consumed;  ///< bytes of `input` that are processed, `data` included
    std::string_view data = {};
  };

  /// Decodes the next bytes and returns the next step. Call it again with the rest of the input. `last` means that no
  /// bytes follow `input`. A part is one part_begin, any number of data, and one part_end, which is not reported when
  /// the line of its delimiter is invalid.
  /// Lifetime: `data` points into `input`, or, if it looked like a delimiter but was none, into the decoder until the
  /// next call.
  step next(std::string_view input, bool last);

  /// The current part, valid since part_begin. Lifetime: until the next part_begin.
  [[nodiscard]] const multipart_part& part() const noexcept { return part_; }
  [[nodiscard]] multipart_error error() const noexcept { return error_; }
  /// Prepares for another body with the same boundary.
  void reset() noexcept;

 private:
  enum class place : std::uint8_t { preamble, delimiter_line, header, data, end };
  [[nodiscard]] state advance(std::string_view& input, std::string_view& content);
  [[nodiscard]] state finish() noexcept;
  [[nodiscard]] bool take_line(std::string_view& input, std::size_t limit, std::string_view& line);
  [[nodiscard]] std::string_view take_content(std::string_view& input) noexcept;
  [[nodiscard]] bool go_on_matching(std::string_view& input, std::string_view& content) noexcept;
  void expect_delimiter_or_data() noexcept;
  [[nodiscard]] bool skip_preamble(std::string_view& input) noexcept;
  [[nodiscard]] bool see_delimiter_line(std::string_view line);
  [[nodiscard]] bool see_header_line(std::string_view line);
  [[nodiscard]] bool see_field(std::string_view line);
  [[nodiscard]] bool fail(multipart_error error) noexcept {
    error_ = error;
    return false;
  }

  std::string delimiter_;  // CR LF -- boundary
  multipart_limits limits_;
  place place_ = place::preamble;
  multipart_error error_ = multipart_error::none;
  bool has_disposition_ = false;
  bool has_type_ = false;
  bool ends_part_ = false;    // reported once the line of the delimiter is valid: until then, the part may be cut off
  std::size_t matched_ = 2;   // bytes of the delimiter that have arrived
  std::size_t not_data_ = 2;  // of these: the line end before a body, which can belong to a delimiter, too
  std::size_t header_ = 0;    // bytes of fields seen
  std::size_t preamble_ = 0;
  std::size_t parts_ = 0;
  std::string partial_;  // a line whose end has not arrived
  multipart_part part_;
};

}  // namespace gyre::http
