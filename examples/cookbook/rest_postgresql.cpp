// examples/cookbook/rest_postgresql.cpp: a REST service over PostgreSQL, with the non-blocking interface of libpq.
//
//   rest_postgresql 'host=/var/run/postgresql dbname=notes'
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <libpq-fe.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace http = gyre::http;
using namespace std::chrono_literals;

struct free_result {
  void operator()(PGresult* result) const { PQclear(result); }
};
using query_result = std::unique_ptr<PGresult, free_result>;

/// One task at a time uses it. Destroying it closes it, also in the middle of a query.
class connection {
 public:
  /// Cancel: the attempt is abandoned. Errors: std::runtime_error with the reason.
  static gyre::task<connection> open(std::string where) {
    connection made(PQconnectStart(where.c_str()));  // looks a name up: give an address, or a socket's folder
    if (made.pg() == nullptr || PQstatus(made.pg()) == CONNECTION_BAD) made.fail();
    for (PostgresPollingStatusType wants = PGRES_POLLING_WRITING; wants != PGRES_POLLING_OK;) {
      const int socket = PQsocket(made.pg());  // may be another one after each step
      if (wants == PGRES_POLLING_READING) co_await gyre::readable(socket);
      if (wants == PGRES_POLLING_WRITING) co_await gyre::writable(socket);
      wants = PQconnectPoll(made.pg());
      if (wants == PGRES_POLLING_FAILED) made.fail();
    }
    if (PQsetnonblocking(made.pg(), 1) != 0) made.fail();
    co_return made;
  }

  /// Cancel: the connection cannot be used again, because an answer is on its way. Errors: std::runtime_error.
  gyre::task<query_result> query(std::string sql, std::vector<std::string> parameters) {
    std::vector<const char*> values;
    for (const std::string& each : parameters) values.push_back(each.c_str());
    const int count = static_cast<int>(values.size());
    if (PQsendQueryParams(pg(), sql.c_str(), count, nullptr, values.data(), nullptr, nullptr, 0) == 0) fail();
    for (int left = PQflush(pg()); left != 0; left = PQflush(pg())) {
      if (left < 0) fail();
      auto either = gyre::race(gyre::writable(PQsocket(pg())), gyre::readable(PQsocket(pg())));
      const auto ready = co_await std::move(either);
      if (ready.index == 1 && PQconsumeInput(pg()) == 0) fail();  // the server may have to write first
    }
    query_result last;
    for (;;) {
      while (PQisBusy(pg()) != 0) {
        co_await gyre::readable(PQsocket(pg()));
        if (PQconsumeInput(pg()) == 0) fail();
      }
      query_result next(PQgetResult(pg()));
      if (!next) break;
      last = std::move(next);
    }
    if (PQstatus(pg()) == CONNECTION_BAD) fail();
    co_return last;
  }

 private:
  struct close {
    void operator()(PGconn* opened) const { PQfinish(opened); }
  };
  explicit connection(PGconn* opened) : opened_(opened) {}
  [[nodiscard]] PGconn* pg() const { return opened_.get(); }
  [[noreturn]] void fail() const { throw std::runtime_error(std::string("PostgreSQL: ") + PQerrorMessage(pg())); }

  std::unique_ptr<PGconn, close> opened_;
};

/// Opens connections as they are needed, up to a limit, and keeps them.
class database {
 public:
  database(std::string where, std::size_t connections) : where_(std::move(where)), free_(connections) {}

  /// Returns the rows. A query has 5 s, including the wait for a connection.
  /// Errors: status_error with 400 for parameters that the database refuses; std::runtime_error; timed_out.
  gyre::task<query_result> query(std::string sql, std::vector<std::string> parameters = {}) {
    auto limited = gyre::timeout(5s, query_on_any(std::move(sql), std::move(parameters)));
    co_return co_await std::move(limited);
  }

 private:
  gyre::task<query_result> query_on_any(std::string sql, std::vector<std::string> parameters) {
    const auto permit = co_await free_.scoped_acquire();
    if (idle_.empty()) {
      auto opening = connection::open(where_);
      idle_.push_back(co_await std::move(opening));
    }
    connection used = std::move(idle_.back());
    idle_.pop_back();
    auto asking = used.query(std::move(sql), std::move(parameters));
    query_result result = co_await std::move(asking);
    idle_.push_back(std::move(used));  // not after an exception or a cancel: then it is closed
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) co_return result;
    const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    const std::string_view kind = std::string_view(state == nullptr ? "" : state).substr(0, 2);
    if (kind == "22" || kind == "23") throw http::status_error(400, "a note is an object with a text");
    throw std::runtime_error(std::string("PostgreSQL: ") + PQresultErrorMessage(result.get()));
  }

  std::string where_;
  gyre::counting_semaphore free_;
  std::vector<connection> idle_;
};

std::string first_value(const query_result& rows, std::string_view if_none) {
  if (PQntuples(rows.get()) == 0) throw http::status_error(404, "there is no such note");
  if (PQgetisnull(rows.get(), 0, 0) != 0) return std::string(if_none);
  return PQgetvalue(rows.get(), 0, 0);
}

// PostgreSQL reads and writes the JSON.
class notes {
 public:
  explicit notes(database& kept_in) : database_(&kept_in) {}

  gyre::task<> set_up() {
    (void)co_await database_->query("CREATE TABLE IF NOT EXISTS notes (id serial PRIMARY KEY, text text NOT NULL)");
  }
  void add_routes(http::router& routes) {
    routes.get("/notes", [this](http::request& r) -> gyre::task<http::response> { co_return co_await list(r); });
    routes.post("/notes", [this](http::request& r) -> gyre::task<http::response> { co_return co_await add(r); });
    routes.get("/notes/{id}", [this](http::request& r) -> gyre::task<http::response> { co_return co_await show(r); });
    routes.del("/notes/{id}", [this](http::request& r) -> gyre::task<http::response> { co_return co_await remove(r); });
  }

 private:
  gyre::task<http::response> list(http::request& /*request*/) {
    const query_result rows = co_await database_->query("SELECT json_agg(n ORDER BY id) FROM notes n");
    co_return http::response::json(first_value(rows, "[]"));
  }
  gyre::task<http::response> add(http::request& request) {
    std::vector<std::string> parameters;
    parameters.push_back(co_await request.json_text());
    const query_result rows = co_await database_->query(
        "INSERT INTO notes (text) VALUES ($1::json ->> 'text') RETURNING id", std::move(parameters));
    co_return http::response(201).add_field("Location", "/notes/" + first_value(rows, ""));
  }
  gyre::task<http::response> show(http::request& request) {
    const query_result rows =
        co_await database_->query("SELECT row_to_json(n) FROM notes n WHERE id = $1", id_of(request));
    co_return http::response::json(first_value(rows, ""));
  }
  gyre::task<http::response> remove(http::request& request) {
    const query_result rows = co_await database_->query("DELETE FROM notes WHERE id = $1 RETURNING id", id_of(request));
    (void)first_value(rows, "");
    co_return http::response::no_content();
  }
  static std::vector<std::string> id_of(const http::request& request) {
    return {std::to_string(request.path_parameter<int>("id"))};
  }

  database* database_;
};

gyre::task<> serve(std::string where, std::string listen) {
  database opened(std::move(where), 4);
  notes kept(opened);
  co_await kept.set_up();
  http::router routes;
  kept.add_routes(routes);
  http::server_options options;
  options.listen = std::move(listen);
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
    std::fprintf(stderr, "usage: rest_postgresql CONNECTION [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(arguments[1], has_address ? arguments[3] : "127.0.0.1:8080"));
}
