// programs/gyre/serve/upload.cpp: the upload form, PUT, and writing the uploaded files.
#include "programs/gyre/serve/upload.hpp"

#include "programs/gyre/serve/json_text.hpp"

#include <gyre/coro/exception_group.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/fs/status.hpp>
#include <gyre/http/multipart_reader.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace programs {
namespace {

namespace http = gyre::http;

constexpr std::string_view page = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Upload</title><style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1rem}
form{display:grid;gap:1rem}
progress{width:100%}
button{font:inherit;padding:.5rem 1rem}
li{overflow-wrap:anywhere}
</style></head><body>
<h1>Upload</h1>
<form method="post" enctype="multipart/form-data">
<input type="file" name="file" multiple required aria-label="Files">
<button>Upload</button>
<progress value="0" max="1" hidden></progress>
<p role="status"></p>
</form>
<ul></ul>
<script>
const form = document.querySelector("form"), bar = document.querySelector("progress");
const status = document.querySelector("[role=status]"), list = document.querySelector("ul");
form.addEventListener("submit", event => {
  event.preventDefault();
  const request = new XMLHttpRequest();
  const finish = text => { bar.hidden = true; status.textContent = text; };
  request.upload.addEventListener("progress", e => {
    if (!e.lengthComputable) return;
    bar.hidden = false;
    bar.value = e.loaded / e.total;
    status.textContent = Math.floor(100 * e.loaded / e.total) + " %";
  });
  request.addEventListener("load", () => {
    if (request.status !== 201) return finish("Refused: " + request.responseText);
    for (const name of JSON.parse(request.responseText).files) {
      const item = document.createElement("li");
      item.textContent = name;
      list.append(item);
    }
    finish("Done.");
    form.reset();
  });
  request.addEventListener("error", () => finish("The connection failed."));
  request.open("POST", location.href);
  request.setRequestHeader("Accept", "application/json");
  request.send(new FormData(form));
});
</script></body></html>
)";

[[noreturn]] void fail(const char* operation, const std::string& name) {
  throw gyre::io_error({errno, std::generic_category()}, operation, name);
}

// "photo.jpg", "photo (2).jpg". Cut to a valid length: the extension stays, and no character is split.
std::string numbered(const std::string& wanted, int number) {
  if (number == 1) return wanted;
  constexpr std::size_t longest = 255;  // NAME_MAX
  constexpr std::size_t longest_extension = 32;
  std::size_t dot = wanted.rfind('.');
  if (dot == std::string::npos || wanted.size() - dot > longest_extension) dot = wanted.size();
  const std::string end = fmt::format(" ({}){}", number, wanted.substr(dot));
  std::string stem = wanted.substr(0, dot);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  while (!stem.empty() && stem.size() + end.size() > longest) {
    while (stem.size() > 1 && continues(stem.back())) stem.pop_back();
    stem.pop_back();
  }
  return stem + end;
}

// A file without a name until it is complete, so that an interrupted upload leaves nothing
// behind. See O_TMPFILE in open(2).
class new_file {
 public:
  explicit new_file(const std::string& directory) : directory_(directory) {
    const int fd = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) fail("create a file in", directory);
    file_ = gyre::fs::file::from_fd(fd, directory);
  }
  gyre::fs::file& file() noexcept { return file_; }

  // Returns false if a file of that name exists. Blocks.
  bool link_as(const std::string& name) {
    const std::string source = fmt::format("/proc/self/fd/{}", file_.native_descriptor());
    const std::string target = directory_ + "/" + name;
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) fail("write", target);
    return false;
  }
  // Returns the name that the file got. Blocks.
  std::string keep_as(const std::string& wanted) {
    for (int number = 1; number <= most_of_a_name; number = next_free(wanted, number))
      if (const std::string name = numbered(wanted, number); link_as(name)) return name;
    throw http::status_error(409, "there are too many files of that name");
  }

 private:
  static constexpr int most_of_a_name = 10'000;

  bool is_there(const std::string& wanted, int number) const {
    struct stat found{};
    return ::lstat((directory_ + "/" + numbered(wanted, number)).c_str(), &found) == 0;
  }
  // Returns a number above `taken` whose name is free and whose predecessor's is not. The steps double, then halve: the
  // ten thousandth file with the same name costs a few look-ups, not ten thousand.
  int next_free(const std::string& wanted, int taken) const {
    int free = taken + 1;
    for (int step = 1; free <= most_of_a_name && is_there(wanted, free); free = taken + step) {
      taken = free;
      step *= 2;
    }
    free = std::min(free, most_of_a_name + 1);
    while (free - taken > 1) {
      const int middle = taken + (free - taken) / 2;
      (is_there(wanted, middle) ? taken : free) = middle;
    }
    return free;
  }

  std::string directory_;
  gyre::fs::file file_;
};

// Writes what `source` delivers: a form or a body. Each write goes through the ring or a thread, and a client can send
// pieces of one byte. So pieces are gathered into blocks, and a block is received while the previous one is written.
template <class Source>
class file_writer {
 public:
  file_writer(gyre::fs::file& out, Source& source) noexcept : out_(out), source_(source) {}

  // Returns at the end of the source, when everything is written.
  gyre::task<> run() {
    block now;
    block next;
    co_await fill(now, small_block);
    while (now.size == now.capacity) {
      try {
        co_await gyre::gather(out_.write_all(now.text()), fill(next, large_block));
      } catch (const gyre::exception_group& both) {
        std::rethrow_exception(*both.begin());
      }
      std::swap(now, next);
    }
    if (now.size > 0) (void)co_await out_.write_all(now.text());
  }

 private:
  // Most files are small, so the first block is. All blocks begin and end at multiples of its size, at whole pages.
  // See decision 0020 for the sizes.
  static constexpr std::size_t small_block = std::size_t{16} << 10U;
  static constexpr std::size_t large_block = std::size_t{256} << 10U;

  struct block {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    std::size_t size = 0;
    [[nodiscard]] std::string_view text() const noexcept { return {bytes.get(), size}; }
  };

  // The block is full, or the source has ended.
  gyre::task<> fill(block& into, std::size_t capacity) {
    if (into.capacity != capacity) into = {std::make_unique_for_overwrite<char[]>(capacity), capacity};
    into.size = 0;
    while (into.size < capacity) {
      if (piece_.empty()) piece_ = co_await source_.receive();
      if (piece_.empty()) co_return;
      const std::size_t count = piece_.copy(into.bytes.get() + into.size, capacity - into.size);
      into.size += count;
      piece_.remove_prefix(count);
    }
  }

  gyre::fs::file& out_;
  Source& source_;
  std::string_view piece_;  // received, but not copied yet
};

gyre::task<std::string> receive_file(http::multipart_reader& form, const std::string& directory, std::string name) {
  new_file out(directory);
  file_writer writer(out.file(), form);
  co_await writer.run();
  auto keep = [&] { return out.keep_as(name); };
  co_return co_await gyre::to_thread(keep);
}

bool is_full(std::error_code reason) noexcept {
  return reason == std::errc::no_space_on_device || reason == std::error_code(EDQUOT, std::generic_category());
}

// A refusal after some files names them, so that the client need not send them again.
http::status_error refusal(int status, std::string reason, const std::vector<std::string>& kept) {
  constexpr std::size_t most_named = 20;
  const std::size_t named = std::min(kept.size(), most_named);
  if (named == 0) reason += "; nothing was kept";
  for (std::size_t i = 0; i < named; ++i) reason.append(i == 0 ? "; kept: " : ", ").append(kept[i]);
  if (kept.size() > named) reason += fmt::format(" and {} more", kept.size() - named);
  return http::status_error(status, reason);
}

std::string json_list(const std::vector<std::string>& names) {
  std::string text = "{\"files\":[";
  for (const std::string& each : names) {
    if (&each != &names.front()) text += ',';
    append_json(text, each);
  }
  return text + "]}\n";
}

// A page of another site can make a browser submit a form here, and the Origin field
// reveals that. Programs send no Origin.
bool comes_from_another_site(const http::request& request) {
  std::string_view origin = request.field("Origin");
  if (origin.empty()) return false;
  const auto scheme = origin.find("://");
  if (scheme != std::string_view::npos) origin.remove_prefix(scheme + 3);
  return origin != request.host();
}

struct uploads {
  std::string directory;
  std::uint64_t limit;

  gyre::task<http::response> operator()(http::request& request) const {
    if (comes_from_another_site(request)) throw http::status_error(403, "this form belongs to another site");
    request.body().set_limit(limit);
    http::multipart_reader form(request);
    std::vector<std::string> names;
    try {
      co_await receive_files(form, names);
    } catch (const gyre::io_error& error) {
      if (is_full(error.code())) throw refusal(507, "the disk is full", names);
      throw;
    } catch (const http::status_error& error) {
      throw refusal(error.status(), error.what(), names);
    }
    if (names.empty()) throw http::status_error(400, "the form holds no file");
    constexpr std::array<std::string_view, 2> kinds = {"text/html", "application/json"};
    if (http::choose_media_type(request.fields(), kinds) != kinds[1]) co_return http::response::redirect("/_upload");
    co_return http::response::json(json_list(names)).set_status(201);
  }

  gyre::task<> receive_files(http::multipart_reader& form, std::vector<std::string>& names) const {
    for (;;) {
      const http::multipart_part* const part = co_await form.next_part();
      if (part == nullptr) co_return;
      if (!part->file_name || part->file_name->empty()) continue;
      std::string name = http::harmless_file_name(*part->file_name);
      std::string kept = co_await receive_file(form, directory, std::move(name));
      names.push_back(std::move(kept));
    }
  }
};

// PUT means "this file, by this name", so the name gets no number, and is not made harmless.
struct single_upload {
  std::string directory;
  std::uint64_t limit;

  gyre::task<http::response> operator()(http::request& request) const {
    if (comes_from_another_site(request)) throw http::status_error(403, "this upload belongs to another site");
    if (has_field(request, "Content-Range")) throw http::status_error(400, "a part of a file is not taken");
    const std::vector<std::string> names{std::string(request.path_parameter("name"))};
    if (names[0] != http::harmless_file_name(names[0]))
      throw http::status_error(400, "that is no name for a file here");
    request.body().set_limit(limit);
    co_await check_name(names[0]);
    if (has_field(request, "If-Match")) throw http::status_error(412, "there is no file of that name");
    new_file out(directory);
    try {
      file_writer writer(out.file(), request.body());
      co_await writer.run();
    } catch (const gyre::io_error& error) {
      if (is_full(error.code())) throw refusal(507, "the disk is full", {});
      throw;
    }
    auto keep = [&] { return out.link_as(names[0]); };
    if (!co_await gyre::to_thread(keep)) throw http::status_error(409, taken);
    co_return http::response::json(json_list(names)).set_status(201);
  }

 private:
  static constexpr const char* taken = "a file of that name exists";

  static bool has_field(const http::request& request, std::string_view name) {
    const auto is_it = [name](const http::field& each) { return http::equal_ignoring_case(each.name, name); };
    return std::ranges::any_of(request.fields(), is_it);
  }

  // Before the body is received. A client that waits for 100 Continue need not send it.
  gyre::task<> check_name(const std::string& name) const {
    const auto found = co_await gyre::as_expected(gyre::fs::stat_link(directory + "/" + name));
    if (found) throw http::status_error(409, taken);
  }
};

http::response form_page(http::request&) {
  http::response made = http::response::borrowed(page, "text/html; charset=utf-8");
  made.add_field("Content-Security-Policy",
                 "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
                 "form-action 'self'; frame-ancestors 'none'");
  return made;
}

}  // namespace

void add_upload(http::router& routes, const std::string& directory, std::uint64_t limit) {
  const new_file probe(directory);  // fails at start if files cannot be created there, not at the first upload
  routes.get("/_upload", form_page);
  routes.post("/_upload", uploads{.directory = directory, .limit = limit});
  routes.put("/_upload/{name}", single_upload{.directory = directory, .limit = limit});
}

}  // namespace programs
