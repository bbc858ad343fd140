// programs/gyre/serve/upload.cpp: takes uploads by the form and by PUT.
#include "programs/gyre/serve/upload.hpp"

#include "programs/gyre/serve/file_writer.hpp"
#include "programs/gyre/serve/json_text.hpp"
#include "programs/gyre/serve/new_file.hpp"

#include <gyre/fs/status.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/multipart_reader.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
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
  constexpr std::size_t max_named = 20;
  const std::size_t named = std::min(kept.size(), max_named);
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
    if (http::find_field(request.fields(), "Content-Range") != nullptr)
      throw http::status_error(400, "a part of a file is not taken");
    const std::string name(request.path_parameter("name"));
    if (name != http::harmless_file_name(name)) throw http::status_error(400, "that is no name for a file here");
    request.body().set_limit(limit);
    co_await check_name(name);
    if (http::find_field(request.fields(), "If-Match") != nullptr)
      throw http::status_error(412, "there is no file of that name");
    new_file out(directory);
    try {
      file_writer writer(out.file(), request.body());
      co_await writer.run();
    } catch (const gyre::io_error& error) {
      if (is_full(error.code())) throw refusal(507, "the disk is full", {});
      throw;
    }
    auto keep = [&] { return out.link_as(name); };
    if (!co_await gyre::to_thread(keep)) throw http::status_error(409, taken);
    co_return http::response::json(json_list({name})).set_status(201);
  }

 private:
  static constexpr const char* taken = "a file of that name exists";

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
