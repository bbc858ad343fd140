// src/client/recorded_exchanges.cpp: a file of exchanges. Each one has the line "METHOD URL SIZE" and the body of the
// request, then the line "STATUS FIELDS SIZE", its fields, a line each, and the body of the response.
#include <gyre/client/recorded_exchanges.hpp>

#include <gyre/fs/file.hpp>
#include <gyre/fs/whole_file.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/tasks/as_expected.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "text_map.hpp"

namespace gyre::http {
namespace {

constexpr std::string_view first_line = "gyre exchanges 1\n";

struct recorded {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
};

struct known {
  std::vector<recorded> all;
  std::size_t used = 0;
};

/// Takes the text apart. Every function returns nothing when the text is something else.
class exchange_reader {
 public:
  explicit exchange_reader(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  std::optional<std::string_view> line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  /// So many bytes and a line end.
  std::optional<std::string_view> block(std::string_view size) {
    const auto count = value_from_text<std::size_t>(size);
    if (!count || *count >= rest_.size() || rest_[*count] != '\n') return std::nullopt;
    const std::string_view found = rest_.substr(0, *count);
    rest_.remove_prefix(*count + 1);
    return found;
  }

 private:
  std::string_view rest_;
};

std::array<std::string_view, 3> words_of(std::string_view line) {
  std::array<std::string_view, 3> words;
  for (std::string_view& each : words) {
    each = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(each.size() + 1, line.size()));
  }
  return words;
}

std::string key_of(std::string_view method, std::string_view url, std::string_view body) {
  std::string key(method);
  return key.append(" ").append(url).append("\n").append(body);
}

std::optional<std::pair<std::string, recorded>> read_one(exchange_reader& reader) {
  const auto request = reader.line();
  if (!request) return std::nullopt;
  const auto [method, url, request_size] = words_of(*request);
  const auto request_body = reader.block(request_size);
  const auto response = reader.line();
  if (!request_body || !response) return std::nullopt;
  const auto [status, count, size] = words_of(*response);
  recorded made{.status = value_from_text<int>(status).value_or(0), .fields = {}, .body = {}};
  for (std::size_t left = value_from_text<std::size_t>(count).value_or(0); left > 0; --left) {
    const std::string_view line = reader.line().value_or(std::string_view());
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return std::nullopt;
    made.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  const auto body = reader.block(size);
  if (!body || made.status < 200) return std::nullopt;
  made.body = *body;
  return std::pair(key_of(method, url, *request_body), std::move(made));
}

std::string text_of(std::string_view method, std::string_view url, std::string_view body, const recorded& response) {
  std::string text(method);
  text.append(" ").append(url).append(" ").append(std::to_string(body.size())).append("\n");
  text.append(body).append("\n");
  text.append(std::to_string(response.status)).append(" ").append(std::to_string(response.fields.size()));
  text.append(" ").append(std::to_string(response.body.size())).append("\n");
  for (const auto& [name, value] : response.fields) text.append(name).append(": ").append(value).append("\n");
  return text.append(response.body).append("\n");
}

client_response answer_with(client_request request, const recorded& response) {
  std::vector<field> fields;
  fields.reserve(response.fields.size());
  for (const auto& [name, value] : response.fields) fields.push_back({.name = name, .value = value});
  return std::move(request).answer(response.status, fields, response.body);
}

class exchanges {
 public:
  exchanges(std::string file, recording mode) : file_(std::move(file)), mode_(mode) {}

  task<client_response> answer(client_request request, next_sender next) {
    // One at a time, so that the same requests get the responses in the same order.
    const mutex_guard alone = co_await busy_.scoped_lock();
    if (!loaded_) co_await load();
    const std::string method(request.method());
    const std::string url(request.url().without_fragment());
    client_request kept = request.copy();
    const std::string body(request.body_text());
    const std::string key = key_of(method, url, body);
    if (mode_ != recording::renew) {
      const auto found = known_.find(key);
      if (found != known_.end()) {
        known& its = found->second;
        const std::size_t which = std::min(its.used++, its.all.size() - 1);
        co_return answer_with(std::move(kept), its.all[which]);
      }
    }
    if (mode_ == recording::replay)
      throw std::runtime_error("recorded_exchanges " + file_ + ": there is no response to " + method + " " + url +
                               "; use recording::missing to add it");
    auto sending = next(std::move(request));
    client_response response = co_await std::move(sending);
    recorded made{.status = response.status(), .fields = {}, .body = {}};
    for (const field& each : response.fields())
      if (!is_left_out(each.name)) made.fields.emplace_back(each.name, each.value);
    made.body = co_await response.read_all();
    const std::string text = text_of(method, url, body, made);
    auto writing = append(text);
    co_await std::move(writing);
    known& its = known_[key];
    its.all.push_back(std::move(made));
    its.used = its.all.size();
    co_return answer_with(std::move(kept), its.all.back());
  }

 private:
  static bool is_left_out(std::string_view name) noexcept {
    for (const std::string_view each :
         {"Set-Cookie", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive"})
      if (equal_ignoring_case(name, each)) return true;
    return false;
  }

  task<> load() {
    if (mode_ == recording::renew) {
      auto writing = fs::write_all_to(file_, first_line);
      co_await std::move(writing);
    } else {
      auto reading = fs::read_all(file_);
      const auto text = co_await as_expected(std::move(reading));
      const bool is_new = !text && text.error() == std::errc::no_such_file_or_directory;
      if (is_new && mode_ == recording::missing) {
        auto writing = fs::write_all_to(file_, first_line);
        co_await std::move(writing);
      } else if (!text) {
        throw io_error(text.error(), "recorded_exchanges", file_);
      } else {
        read(*text);
      }
    }
    loaded_ = true;
  }

  void read(std::string_view text) {
    if (!text.starts_with(first_line))
      throw std::runtime_error("recorded_exchanges " + file_ + ": this is no file of exchanges");
    exchange_reader reader(text.substr(first_line.size()));
    text_map<known> all;
    for (std::size_t number = 1; !reader.at_end(); ++number) {
      auto one = read_one(reader);
      if (!one)
        throw std::runtime_error("recorded_exchanges " + file_ + ": exchange " + std::to_string(number) +
                                 " is malformed");
      all[one->first].all.push_back(std::move(one->second));
    }
    known_ = std::move(all);
  }

  task<> append(const std::string& text) {
    auto file = co_await fs::file::open(file_, fs::for_appending);
    (void)co_await file.write_all(text);
  }

  std::string file_;
  recording mode_;
  mutex busy_;
  bool loaded_ = false;
  text_map<known> known_;
};

}  // namespace

client_middleware recorded_exchanges(std::string file, recording mode) {
  return [all = std::make_unique<exchanges>(std::move(file), mode)](client_request request,
                                                                    next_sender next) -> task<client_response> {
    co_return co_await all->answer(std::move(request), next);
  };
}

}  // namespace gyre::http
