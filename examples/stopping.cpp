// examples/stopping.cpp: a server, a worker behind it, and a file that is written at the end. SIGTERM loses nothing.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace http = gyre::http;

struct journal {
  gyre::queue<std::string> lines{1000};  // accepted, not yet processed
  std::string text;
};

// Ends when the queue has been shut down and is empty.
gyre::task<> process(journal& mine) {
  try {
    for (;;) {
      mine.text += co_await mine.lines.get();
      mine.text += '\n';
    }
  } catch (const gyre::queue_shut_down&) {
  }
}

gyre::task<> serve(std::string where, std::string file) {
  journal mine;
  http::server_options options;
  options.listen = std::move(where);
  options.routes = [&mine](http::request& request) -> gyre::task<http::response> {
    std::string line = co_await request.body().read_all();
    co_await mine.lines.put(std::move(line));
    co_return http::response(202);
  };
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);

  auto both = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(process(mine), {.name = "worker"});
    co_await server.run();   // SIGTERM: answers what it has accepted, then returns
    mine.lines.shut_down();  // no handler is left that could add a line
  };
  co_await gyre::task_group::scope(both);            // the worker has finished
  co_await gyre::fs::write_all_to(file, mine.text);  // nothing is cancelled
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 4 && std::string_view(arguments[2]) == "--listen";
  if (count != 2 && !has_address) {
    std::fprintf(stderr, "usage: stopping FILE [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(has_address ? arguments[3] : "127.0.0.1:8080", arguments[1]));
}
