// examples/rest_store.cpp: a REST service over a store in memory. RFC 9110.
//
//   curl -i localhost:8080/items --json '{"name": "tea"}'          201, Location: /items/1, ETag
//   curl -i localhost:8080/items/1 -X PUT -H 'If-Match: "1"' --json '{}'   200, or 412 when someone else was faster
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace http = gyre::http;

bool is_utf8(std::string_view text) {
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // the least code that needs this many bytes
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0x80   ? 1
                             : first < 0xC0 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF8 ? 4
                                            : 0;
    if (size == 0 || size > text.size()) return false;
    std::uint32_t code = size == 1 ? first : first & (0x7FU >> size);
    for (const char c : text.substr(1, size - 1)) {
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80) return false;
      code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    }
    if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    text.remove_prefix(size);
  }
  return true;
}

// The text of a JSON value is stored as received.
gyre::task<std::string> read_json(http::request& request) {
  request.body().set_limit(65'536);
  std::string text = co_await request.json_text();
  if (text.empty() || !is_utf8(text)) throw http::status_error(400, "this is not JSON in UTF-8");
  co_return text;
}

class store {
 public:
  void add_routes(http::router& routes) {
    routes.get("/items", [this](http::request&) { return list(); });
    routes.post("/items", [this](http::request& r) -> gyre::task<http::response> { co_return co_await add(r); });
    routes.get("/items/{id}", [this](http::request& r) { return get(r); });
    routes.put("/items/{id}", [this](http::request& r) -> gyre::task<http::response> { co_return co_await put(r); });
    routes.del("/items/{id}", [this](http::request& r) { return remove(r); });
  }

 private:
  struct item {
    std::string text;
    std::string etag;
  };
  using items = std::map<std::uint64_t, item>;

  http::response list() const {
    std::string all = "[";
    for (const auto& [id, each] : items_) all += (all.size() > 1 ? ",\"" : "\"") + location(id) + '"';
    return http::response::json(all + ']');
  }
  static std::string location(std::uint64_t id) { return "/items/" + std::to_string(id); }

  gyre::task<http::response> add(http::request& request) {
    std::string text = co_await read_json(request);
    if (items_.size() >= 10'000) throw http::status_error(507, "the store is full");
    const std::uint64_t id = ++last_id_;
    const item& made = items_[id] = {std::move(text), next_etag()};
    co_return show(made, 201).add_field("Location", location(id));
  }

  http::response get(http::request& request) {
    const item& wanted = find(request)->second;
    if (state_wanted(request, wanted) == http::precondition::not_modified)
      return http::response(304).add_field("ETag", wanted.etag);
    return show(wanted, 200);
  }

  gyre::task<http::response> put(http::request& request) {
    std::string text = co_await read_json(request);
    item& changed = find(request)->second;  // after the await: another request may have removed it meanwhile
    state_wanted(request, changed);
    changed = {std::move(text), next_etag()};
    co_return show(changed, 200);
  }

  http::response remove(http::request& request) {
    const auto doomed = find(request);
    state_wanted(request, doomed->second);
    items_.erase(doomed);
    return http::response::no_content();
  }

  items::iterator find(http::request& request) {
    const auto found = items_.find(request.path_parameter<std::uint64_t>("id"));
    if (found == items_.end()) throw http::status_error(404, "there is no such item");
    return found;
  }
  static http::precondition state_wanted(http::request& request, const item& present) {
    const http::resource_state state{.etag = present.etag};
    const auto verdict = http::evaluate_preconditions(request.method(), request.fields(), state, std::time(nullptr));
    if (verdict == http::precondition::failed) throw http::status_error(412, "the item is another one by now");
    return verdict;
  }
  static http::response show(const item& shown, int status) {
    return http::response::json(shown.text).set_status(status).add_field("ETag", shown.etag);
  }
  std::string next_etag() { return '"' + std::to_string(++last_version_) + '"'; }

  items items_;
  std::uint64_t last_id_ = 0;
  std::uint64_t last_version_ = 0;
};

gyre::task<> serve(std::string where) {
  store kept;
  http::router routes;
  kept.add_routes(routes);
  http::server_options options;
  options.listen = std::move(where);
  options.routes = std::move(routes);
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);
  co_await server.run();
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: rest_store [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(has_address ? arguments[2] : "127.0.0.1:8080"));
}
