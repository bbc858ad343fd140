// src/http/files/file_answer.cpp: evaluates conditions, then ranges: RFC 9110 §13.2.2.
#include <gyre/http/byte_range.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/io/random_bytes.hpp>
#include <gyre/io/wall_clock.hpp>

#include "exchange/response_state.hpp"
#include "file_answer.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre::http {
namespace {

// Produces multipart/byteranges. RFC 9110 §14.6.
struct range_parts {
  std::shared_ptr<const owned_fd> file;
  std::vector<byte_range> ranges;
  std::vector<std::string> heads;
  std::string end;

  range_parts(std::shared_ptr<const owned_fd> from, std::vector<byte_range>&& wanted, std::string_view media_type,
              const std::string& boundary, std::uint64_t size)
      : file(std::move(from)), ranges(std::move(wanted)), end("\r\n--" + boundary + "--\r\n") {
    for (const byte_range& each : ranges) {
      std::string head = heads.empty() ? "--" : "\r\n--";
      head.append(boundary).append("\r\nContent-Type: ").append(media_type);
      head.append("\r\nContent-Range: ").append(content_range(each, size)).append("\r\n\r\n");
      heads.push_back(std::move(head));
    }
  }
  [[nodiscard]] std::uint64_t length() const noexcept {
    std::uint64_t sum = end.size();
    for (const std::string& each : heads) sum += each.size();
    for (const byte_range& each : ranges) sum += each.length;
    return sum;
  }
  task<> operator()(body_writer& out) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      co_await out.write(heads[i]);
      co_await out.send_file(file->get(), ranges[i].first, ranges[i].length);
    }
    co_await out.write(end);
  }
};

response several_ranges(const open_file& file, std::vector<byte_range>&& ranges, std::string_view media_type) {
  const std::uint64_t size = file.version.size;
  // Must be unguessable: a file that contained it could fake the end of a part.
  const std::string boundary = "gyre-" + io::random_hex(12);
  range_parts parts(file.descriptor, std::move(ranges), media_type, boundary, size);
  const std::uint64_t length = parts.length();
  response made = response::stream(std::move(parts), "multipart/byteranges; boundary=" + boundary);
  made.set_length(length);
  made.state().ends_by_itself = true;
  made.set_status(206);
  return made;
}

// The type must be a string literal, as those of media_type_of are.
response one_part(const open_file& file, byte_range part, std::string_view media_type, int status) {
  response made(status);
  response_state& state = made.state();
  state.source = body_origin::file;
  state.descriptor = file.descriptor;
  state.file_offset = part.first;
  state.length = part.length;
  state.media_type = media_type;
  return made;
}

response whole_or_part(const request& r, const open_file& file, const file_answer& how, const resource_state& state) {
  const std::uint64_t size = file.version.size;
  const std::string_view range = r.field("Range");
  const field* const condition = find_field(r.fields(), "If-Range");
  const bool wants_part = !range.empty() && r.method() == "GET" &&
                          (condition == nullptr || range_applies(condition->value, state, io::wall_clock().tv_sec));
  range_request wanted;
  if (wants_part) wanted = parse_range(range, size);
  if (wanted.kind == range_kind::unsatisfiable) {
    response made = response::error(416);
    made.add_field("Content-Range", unsatisfied_range(size));
    return made;
  }
  // A coded file is not sent in several parts: by RFC 9110 §8.4 the coding would apply to
  // the multipart message as a whole.
  const bool in_parts = wanted.ranges.size() > 1;
  if (wanted.kind == range_kind::whole || (in_parts && !how.content_coding.empty()))
    return one_part(file, {.first = 0, .length = size}, how.media_type, 200);
  if (in_parts) return several_ranges(file, std::move(wanted.ranges), how.media_type);
  const byte_range part = wanted.ranges.front();
  response made = one_part(file, part, how.media_type, 206);
  made.add_field("Content-Range", content_range(part, size));
  return made;
}

}  // namespace

response answer_with_file(const request& r, const open_file& file, const file_answer& how) {
  const resource_state state{.etag = file.etag, .last_modified = file.modified};
  const precondition judged = evaluate_preconditions(r.method(), r.fields(), state, io::wall_clock().tv_sec);
  if (judged == precondition::failed) return response::error(412);
  response made = judged == precondition::not_modified ? response(304) : whole_or_part(r, file, how, state);
  if (made.status() == 416) return made;
  made.state().fields.append(file.fields);
  if (!how.cache_control.empty()) made.add_field("Cache-Control", how.cache_control);
  if (how.varies) made.add_field("Vary", "Accept-Encoding");
  if (judged == precondition::not_modified) return made;
  // A browser must trust the declared type and not sniff the content: untrusted text must not run as a script.
  made.state().fields.append("Accept-Ranges: bytes\r\nX-Content-Type-Options: nosniff\r\n");
  if (!how.content_coding.empty()) made.add_field("Content-Encoding", how.content_coding);
  return made;
}

}  // namespace gyre::http
