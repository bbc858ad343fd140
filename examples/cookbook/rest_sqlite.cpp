// examples/cookbook/rest_sqlite.cpp: a REST service over SQLite, whose statements run on a thread of their own.
//
//   curl -i localhost:8080/notes --json '{"text": "buy tea"}'    201, Location: /notes/1
//   curl localhost:8080/notes                                    [{"id":1,"text":"buy tea"}]
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <sqlite3.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace http = gyre::http;

class database {
 public:
  explicit database(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    connection_.reset(opened);
    if (code != SQLITE_OK) fail();
    const char* const set_up =
        "PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;"
        "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
    if (sqlite3_exec(connection_.get(), set_up, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  /// Runs a statement with parameters. Returns the first column of its first row, if it has one.
  ///
  /// Cancel: a statement that has begun is executed; the await ends after it.
  gyre::task<std::optional<std::string>> query(std::string sql, std::vector<std::string> parameters = {}) {
    auto run = [&] { return query_now(sql, parameters); };  // the await outlasts it, so it may refer to this frame
    co_return co_await gyre::to_thread(thread_, run);
  }

 private:
  struct close {
    void operator()(sqlite3* opened) const { sqlite3_close(opened); }
    void operator()(sqlite3_stmt* prepared) const { sqlite3_finalize(prepared); }
  };

  [[noreturn]] void fail() { throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(connection_.get())); }

  // On the thread.
  std::optional<std::string> query_now(const std::string& sql, const std::vector<std::string>& parameters) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(connection_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail();
    const std::unique_ptr<sqlite3_stmt, close> statement(prepared);
    int number = 0;
    for (const std::string& each : parameters)
      sqlite3_bind_text(prepared, ++number, each.data(), static_cast<int>(each.size()), SQLITE_STATIC);
    std::optional<std::string> found;
    int code = sqlite3_step(prepared);
    if (code == SQLITE_ROW) {
      const unsigned char* const text = sqlite3_column_text(prepared, 0);
      found.emplace(text == nullptr ? "" : reinterpret_cast<const char*>(text));
      code = sqlite3_step(prepared);  // an INSERT with RETURNING is complete only now
    }
    if (code != SQLITE_DONE && code != SQLITE_ROW) fail();
    return found;
  }

  std::unique_ptr<sqlite3, close> connection_;
  gyre::thread_pool thread_{1};  // one statement at a time; destroyed first, when no call is left
};

// SQLite reads and writes the JSON.
class notes {
 public:
  explicit notes(database& kept_in) : database_(&kept_in) {}

  void add_routes(http::router& routes) {
    routes.get("/notes", [this](http::request& r) -> gyre::task<http::response> { co_return co_await list(r); });
    routes.post("/notes", [this](http::request& r) -> gyre::task<http::response> { co_return co_await add(r); });
    routes.get("/notes/{id}", [this](http::request& r) -> gyre::task<http::response> { co_return co_await show(r); });
    routes.del("/notes/{id}", [this](http::request& r) -> gyre::task<http::response> { co_return co_await remove(r); });
  }

 private:
  gyre::task<http::response> list(http::request& /*request*/) {
    auto all = co_await database_->query("SELECT json_group_array(json_object('id', id, 'text', text)) FROM notes");
    co_return http::response::json(std::move(all).value_or("[]"));
  }

  gyre::task<http::response> add(http::request& request) {
    std::vector<std::string> parameters;
    parameters.push_back(co_await request.json_text());
    const auto id = co_await database_->query(
        "INSERT INTO notes (text) SELECT json_extract(?1, '$.text')"
        " WHERE CASE WHEN json_valid(?1) THEN json_type(?1, '$.text') = 'text' END RETURNING id",
        std::move(parameters));
    if (!id) throw http::status_error(400, "a note is an object with a text");
    co_return http::response(201).add_field("Location", "/notes/" + *id);
  }

  gyre::task<http::response> show(http::request& request) {
    auto found = co_await database_->query("SELECT json_object('id', id, 'text', text) FROM notes WHERE id = ?1",
                                           id_of(request));
    if (!found) throw http::status_error(404, "there is no such note");
    co_return http::response::json(*std::move(found));
  }

  gyre::task<http::response> remove(http::request& request) {
    const auto removed = co_await database_->query("DELETE FROM notes WHERE id = ?1 RETURNING id", id_of(request));
    if (!removed) throw http::status_error(404, "there is no such note");
    co_return http::response::no_content();
  }

  static std::vector<std::string> id_of(const http::request& request) {
    return {std::to_string(request.path_parameter<unsigned>("id"))};
  }

  database* database_;
};

gyre::task<> serve(std::string file, std::string where) {
  database opened(file);
  notes kept(opened);
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
  const bool has_address = count == 4 && std::string_view(arguments[2]) == "--listen";
  if (count != 2 && !has_address) {
    std::fprintf(stderr, "usage: rest_sqlite FILE [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(arguments[1], has_address ? arguments[3] : "127.0.0.1:8080"));
}
