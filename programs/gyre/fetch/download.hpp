// programs/gyre/fetch/download.hpp: gets one URL into a file, in as many requests as that takes.
#pragma once

#include "programs/gyre/fetch/partial_file.hpp"
#include "programs/gyre/fetch/progress.hpp"
#include "programs/gyre/fetch/settings.hpp"
#include "programs/gyre/fetch/time_limit.hpp"

#include <gyre/client/client_request.hpp>
#include <gyre/client/client_response.hpp>
#include <gyre/coro/task.hpp>

#include <functional>
#include <string>

namespace programs {

/// Continues what an earlier call has left, if the settings ask for that, and goes on after a failure that may pass.
/// Lifetime: all references must outlive it.
class download {
 public:
  /// `url` has no user name and password. `make_request` returns a request as the settings describe it, without a
  /// range.
  download(const fetch_settings& settings, progress& shown, std::string url, std::string path,
           std::function<gyre::http::client_request()> make_request);

  /// Returns when the file is complete and has its name. Cancel: what has arrived stays in the partial file.
  /// Errors: same as client_request::send(); output_failure; status_failure.
  gyre::task<> run();

 private:
  gyre::task<> receive(download_progress& bar);
  [[nodiscard]] gyre::http::client_request next_request() const;
  gyre::task<> write_body(const gyre::http::client_response& response, download_progress& bar);
  void report(const download_progress& bar);

  const fetch_settings& settings_;
  progress& shown_;
  std::string url_;
  std::string path_;
  std::function<gyre::http::client_request()> make_request_;
  partial_file file_;
  bool is_whole_;       // the file is the body of a whole response, and so can be continued
  bool begun_ = false;  // a response has begun
  time_limit time_;
};

}  // namespace programs
