// src/http/files/static_files.cpp: leads from a path to an open file and its response.
#include <gyre/coro/misuse.hpp>
#include <gyre/fs/found_file.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/http/target.hpp>
#include <gyre/io/printable.hpp>

#include "directory_listing.hpp"
#include "exchange/served_request.hpp"
#include "exchange/vary.hpp"
#include "file_access.hpp"
#include "file_answer.hpp"
#include "served_root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

// A client with another Accept gets the fallback, so caches need the Vary field.
response refuse_this_client(int error, std::string_view path) {
  try {
    fail_to_open(error, path);
  } catch (const status_error& refusal) {
    response made = response::error(refusal);
    add_vary(made, "Accept");
    return made;
  }
}

// True for a path that names a file as it is: no escapes, no dot segments, not a directory.
bool is_plain(std::string_view path) noexcept {
  return path.size() > 1 && path.front() == '/' && path.back() != '/' && path.find('%') == std::string_view::npos &&
         path.find("/.") == std::string_view::npos && path.find("//") == std::string_view::npos;
}

// Rejects names that no request could find, and a field that no response may have.
static_files_options&& checked(static_files_options&& options) {
  if (options.index.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
    throw std::invalid_argument("static_files: index \"" + printable(options.index) + "\" is not the name of a file");
  const std::string slashed = '/' + options.fallback + '/';
  const bool leads_out =
      slashed.starts_with("//") || slashed.find("/../") != std::string::npos || slashed.find('\0') != std::string::npos;
  if (!options.fallback.empty() && leads_out)
    throw std::invalid_argument("static_files: fallback \"" + printable(options.fallback) +
                                "\" is not a path below the directory: leave out \"/\" at its beginning, and \"..\"");
  if (!options.cache_control.empty() && !is_field_value(options.cache_control))
    throw std::invalid_argument("static_files: cache_control holds a control character, or white space around it");
  return std::move(options);
}

struct neighbour {
  std::string_view coding;
  std::string_view extension;
};
constexpr std::array<neighbour, 3> neighbours = {{{"br", ".br"}, {"zstd", ".zst"}, {"gzip", ".gz"}}};

task<bool> has_neighbours(int root, const std::string& path) {
  for (const neighbour& each : neighbours) {
    const std::string beside = path + std::string(each.extension);
    const fs::found_file found = co_await fs::find_below(root, beside);
    if (found.error == 0 && found.facts.kind == fs::file_kind::regular) co_return true;
  }
  co_return false;
}

file_answer answer_for(const static_files_options& options, const open_file& plain) {
  return {.media_type = plain.media_type,
          .cache_control = options.cache_control,
          .varies = options.precompressed && plain.is_compressible};
}

bool may_be_compressed(const file_answer& how, const request& r) noexcept {
  return how.varies && !r.field("Accept-Encoding").empty();
}

open_files& files_of(request& r) noexcept { return served_request::of(r).app().files; }

std::string_view last_segment(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

// Relative, so that the redirect works wherever the tree is mounted and never leads to another host.
response redirect_to(const request& r, std::string where) {
  if (!r.query().empty()) where.append("?").append(r.query());
  return response::redirect(where, 308);
}

response redirect_to_directory(const request& r, std::string_view encoded_name) {
  return redirect_to(r, "./" + std::string(encoded_name) + "/");
}

// From "/a//b" to "../../a/b".
response redirect_without_empty_segments(const request& r, std::string_view path) {
  std::string up;
  std::string down;
  path.remove_prefix(1);
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    up += "../";
    if (slash > 0) down.append(path.substr(0, slash + 1));
    path.remove_prefix(slash + 1);
  }
  return redirect_to(r, up.append(down).append(path));
}

bool has_dot_segment(std::string_view path) noexcept {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

}  // namespace

static_files::static_files(std::string_view root, static_files_options options)
    : root_(new served_root(root)), options_(checked(std::move(options))) {}

void static_files::destroy(served_root* root) noexcept { delete root; }

served_root& static_files::root() const noexcept {
  if (!root_) [[unlikely]]
    misuse("http::static_files was used that was moved from");
  return *root_;
}

started_response static_files::start(request& r) const {
  const std::string_view path = r.rest_of_path();
  const served_root& from = root();
  const bool may_be_known = options_.keep_open && is_plain(path) && !from.is_due();
  const open_file* const known = may_be_known ? files_of(r).find(from.number(), path.substr(1)) : nullptr;
  if (known == nullptr) return serve(r);
  const file_answer how = answer_for(options_, *known);
  if (known->alone || !may_be_compressed(how, r)) return answer_with_file(r, *known, how);
  return serve_known(r, std::string(path.substr(1)), *known);
}

task<response> static_files::serve_known(request& r, std::string path, open_file plain) const {
  const served_root::opened root = root_->current();
  co_return co_await serve_open(r, *root, std::move(path), std::move(plain));
}

// Returns an open file of this tree, without a descriptor when there is none.
task<open_file> static_files::open(request& r, const opened_root& root, std::string path) const {
  if (options_.keep_open)
    if (const open_file* const known = files_of(r).find(root.number, path)) co_return *known;
  fs::found_file found = co_await fs::find_below(root.descriptor.get(), path);
  if (found.error != 0 || found.facts.kind != fs::file_kind::regular) co_return open_file();
  const open_file opened(std::move(found), path);
  if (options_.keep_open) files_of(r).keep(root.number, path, opened);
  co_return opened;
}

// Returns the compressed neighbour that the client prefers, with its coding; without a descriptor when there is none.
task<open_file> static_files::open_compressed(request& r, const opened_root& root, const std::string& path,
                                              std::string_view& coding) const {
  std::array<std::string_view, neighbours.size()> left = {};
  std::transform(neighbours.begin(), neighbours.end(), left.begin(), [](const neighbour& each) { return each.coding; });
  for (auto end = left.end(); end != left.begin();) {
    coding = choose_coding(r.fields(), std::span<const std::string_view>(left.begin(), end));
    const auto which = std::find_if(neighbours.begin(), neighbours.end(),
                                    [&](const neighbour& each) { return each.coding == coding; });
    if (which == neighbours.end()) break;
    const std::string beside = path + std::string(which->extension);
    open_file found = co_await open(r, root, beside);
    if (found.descriptor) co_return found;
    end = std::remove(left.begin(), end, which->coding);
  }
  coding = {};
  co_return open_file();
}

task<response> static_files::serve_regular(request& r, const opened_root& root, std::string path,
                                           fs::found_file file) const {
  open_file opened(std::move(file), path);
  if (options_.keep_open) {
    if (answer_for(options_, opened).varies) opened.alone = !co_await has_neighbours(root.descriptor.get(), path);
    files_of(r).keep(root.number, path, opened);
  }
  co_return co_await serve_open(r, root, std::move(path), std::move(opened));
}

task<response> static_files::serve_open(request& r, const opened_root& root, std::string path, open_file plain) const {
  file_answer how = answer_for(options_, plain);
  if (!plain.alone && may_be_compressed(how, r)) {
    const open_file smaller = co_await open_compressed(r, root, path, how.content_coding);
    if (smaller.descriptor) co_return answer_with_file(r, smaller, how);
  }
  co_return answer_with_file(r, plain, how);
}

task<response> static_files::serve(request& r) const {
  std::optional<std::string> path = normalize_path(r.rest_of_path());
  if (!path) throw status_error(404);
  // A file has exactly one path, the one that routes are matched with. So "/x/../" and "//" cannot
  // bypass the middleware of another route. Clients resolve dots before they send a path; an extra
  // slash comes from joining addresses.
  const std::string sent = percent_decode(r.rest_of_path()).value_or(std::string());
  const bool is_clean = sent == *path;
  if (!is_clean && has_dot_segment(sent)) throw status_error(404);
  path->erase(0, 1);
  const bool as_directory = path->empty() || path->back() == '/';
  if (as_directory && !path->empty()) path->pop_back();
  if (!options_.hidden && has_hidden_segment(*path)) throw status_error(404);
  if (!is_clean) co_return redirect_without_empty_segments(r, r.rest_of_path());
  // The path is "/files" of "/files/{path...}": relative links in its page would lead elsewhere.
  if (path->empty() && !r.path().ends_with('/')) co_return redirect_to_directory(r, last_segment(r.path()));

  const std::string below = path->empty() ? "." : *path;  // named, as in all awaits here, or g++ 12 destroys it twice
  served_root::opened root = root_->current();
  if (root_->is_due()) root = co_await root_->look_again();
  fs::found_file found = co_await fs::find_below(root->descriptor.get(), below);
  if (found.error == ENOENT || found.error == ENOTDIR || found.error == ESTALE) {
    // Perhaps the root has been replaced since, and this one is being removed.
    const served_root::opened other = co_await root_->look_again();
    if (other != root) {
      root = other;
      found = co_await fs::find_below(root->descriptor.get(), below);
    }
  }
  if (found.error != 0) co_return co_await serve_missing(r, *root, found.error);
  if (found.facts.kind == fs::file_kind::directory) {
    if (!as_directory) {
      const std::string name = percent_encode(last_segment(*path), encode_for::path_segment);
      co_return redirect_to_directory(r, name);
    }
    co_return co_await serve_directory(r, *root, std::move(found.descriptor), *std::move(path));
  }
  if (found.facts.kind != fs::file_kind::regular || as_directory) co_return co_await serve_missing(r, *root, ENOENT);
  co_return co_await serve_regular(r, *root, *std::move(path), std::move(found));
}

task<response> static_files::serve_directory(request& r, const opened_root& root, owned_fd directory,
                                             std::string path) const {
  if (!options_.index.empty()) {
    const std::string index = path.empty() ? options_.index : path + "/" + options_.index;
    fs::found_file found = co_await fs::find_below(root.descriptor.get(), index);
    if (found.error == 0 && found.facts.kind == fs::file_kind::regular)
      co_return co_await serve_regular(r, root, index, std::move(found));
    if (found.error == EXDEV) throw status_error(403);
    if (found.error != 0 && found.error != ENOENT) fail_to_open(found.error, index);
  }
  if (!options_.listing) co_return co_await serve_missing(r, root, ENOENT);
  wanted_directory wanted{.tree = root.number,
                          .root = root.descriptor.get(),
                          .descriptor = directory.get(),
                          .path = std::move(path),
                          .hidden = options_.hidden};
  co_return co_await list_as_response(r, served_request::of(r).app().listings, std::move(wanted));
}

task<response> static_files::serve_missing(request& r, const opened_root& root, int error) const {
  // A browser that navigates to a page accepts text/html by name. For scripts, styles and pictures it accepts anything.
  constexpr std::array<std::string_view, 2> kinds = {"application/octet-stream", "text/html"};
  if (options_.fallback.empty() || error == EACCES) fail_to_open(error, r.path());
  if (choose_media_type(r.fields(), kinds) != kinds[1]) co_return refuse_this_client(error, r.path());
  fs::found_file found = co_await fs::find_below(root.descriptor.get(), options_.fallback);
  if (found.error != 0) fail_to_open(found.error, options_.fallback);
  response made = co_await serve_regular(r, root, options_.fallback, std::move(found));
  add_vary(made, "Accept");
  co_return made;
}

}  // namespace gyre::http
