// gyre/http/precondition.hpp: entity tags, and requests that are meant for a certain state only. RFC 9110 §8.8, §13.
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

/// Lifetime: `opaque` lies where the text does.
struct entity_tag {
  std::string_view opaque;  ///< what stands between the quotes
  bool weak = false;        ///< as good as equal is enough for it
};

/// Reads `"xyzzy"` or `W/"xyzzy"`. Nothing for anything else, such as a list.
[[nodiscard]] GYRE_API std::optional<entity_tag> parse_entity_tag(std::string_view text) noexcept;

/// Whether both name the same bytes; and whether one may stand for the other. RFC 9110 §8.8.3.2.
[[nodiscard]] GYRE_API bool strongly_equal(entity_tag a, entity_tag b) noexcept;
[[nodiscard]] GYRE_API bool weakly_equal(entity_tag a, entity_tag b) noexcept;

/// What tells one version of a file from another.
struct file_version {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::uint64_t inode = 0;
  friend bool operator==(const file_version&, const file_version&) noexcept = default;
};
/// True once a change of the file would give it another time: two seconds after the last one, as file systems count in ticks
/// of up to two seconds. Before that the next change may leave size and time as they are.
[[nodiscard]] GYRE_API bool is_settled(file_version version, std::int64_t now_ns) noexcept;

/// An entity tag, with its quotes. It does not show the inode. Weak unless the version is settled; and then another one, so
/// that a client that has a copy from before asks for it once more.
[[nodiscard]] GYRE_API std::string make_entity_tag(file_version version, bool settled = true);

/// What a resource is at present.
/// Lifetime: names memory of whoever made it.
struct resource_state {
  std::string_view etag = {};                      ///< as in the field ETag; empty: it has none
  std::optional<unix_seconds> last_modified = {};  ///< nothing: not known
  bool exists = true;
};

enum class precondition : std::uint8_t {
  proceed,       ///< all hold
  not_modified,  ///< 304: the client has it already
  failed,        ///< 412
};

/// Judges If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since, in this order of RFC 9110 §13.2.2. If-Range
/// comes behind them: `range_applies`. To be asked for what would succeed otherwise, before anything is done.
///
/// A list of tags that cannot be read fails, so that nothing is overwritten by mistake; GET and HEAD get an answer all the
/// same. A date that cannot be read is ignored.
[[nodiscard]] GYRE_API precondition evaluate_preconditions(std::string_view method, std::span<const field> fields,
                                                           const resource_state& state, unix_seconds now) noexcept;

/// Whether a Range field with this If-Range is to be obeyed: it has the same strong tag, or exactly the same date, which
/// must have passed. RFC 9110 §13.1.5.
[[nodiscard]] GYRE_API bool range_applies(std::string_view if_range, const resource_state& state,
                                          unix_seconds now) noexcept;

}  // namespace gyre::http
