// gyre/http/precondition.hpp: entity tags and conditional requests. RFC 9110 §8.8, §13.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/http_date.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gyre::http {

/// An entity tag. Lifetime: `opaque` points into the parsed text.
struct entity_tag {
  std::string_view opaque;  ///< the text between the quotes
  bool weak = false;        ///< matches representations that are equivalent, not only identical ones
};

/// Reads `"xyzzy"` or `W/"xyzzy"`. Nothing for anything else, such as a list.
[[nodiscard]] GYRE_API std::optional<entity_tag> parse_entity_tag(std::string_view text) noexcept;

/// Strong comparison: both tags name the same bytes. Weak comparison: one may replace the other. RFC 9110
/// §8.8.3.2.
[[nodiscard]] GYRE_API bool strongly_equal(entity_tag a, entity_tag b) noexcept;
[[nodiscard]] GYRE_API bool weakly_equal(entity_tag a, entity_tag b) noexcept;

/// Distinguishes the versions of a file.
struct file_version {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::uint64_t inode = 0;
  friend bool operator==(const file_version&, const file_version&) noexcept = default;
};
/// True once a further change would give the file another time. That is two seconds after the last change, because file
/// systems count in ticks of up to two seconds. Before that, the next change may leave size and time as they are.
[[nodiscard]] GYRE_API bool is_settled(file_version version, std::int64_t now_ns) noexcept;

/// Makes an entity tag, with its quotes. It does not reveal the inode. The tag of a version that is not settled is weak
/// and differs from the settled one, so a client that has an earlier copy requests it again.
[[nodiscard]] GYRE_API std::string make_entity_tag(file_version version, bool settled = true);

/// The current state of a resource. Lifetime: points to memory of its maker.
struct resource_state {
  std::string_view etag = {};                      ///< as in the ETag field; empty when it has none
  std::optional<unix_seconds> last_modified = {};  ///< nothing when it is not known
  bool exists = true;
};

enum class precondition : std::uint8_t {
  proceed,       ///< all conditions hold
  not_modified,  ///< 304: the client has it already
  failed,        ///< 412
};

/// Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since, in this order of RFC 9110 §13.2.2.
/// range_applies evaluates If-Range after them. Call this for requests that would succeed otherwise, before they have
/// any effect.
///
/// A list of tags that cannot be parsed counts as failed, so that nothing is overwritten by mistake; GET and HEAD are
/// answered nevertheless. A date that cannot be parsed is ignored.
[[nodiscard]] GYRE_API precondition evaluate_preconditions(std::string_view method, std::span<const field> fields,
                                                           const resource_state& state, unix_seconds now) noexcept;

/// Whether to honour a Range field that comes with this If-Range. The strong tag must be the same, or the date must be
/// exactly the same and in the past. RFC 9110 §13.1.5.
[[nodiscard]] GYRE_API bool range_applies(std::string_view if_range, const resource_state& state,
                                          unix_seconds now) noexcept;

}  // namespace gyre::http
