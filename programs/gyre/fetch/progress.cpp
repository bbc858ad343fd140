// programs/gyre/fetch/progress.cpp: draws bars.
#include "programs/gyre/fetch/progress.hpp"

#include "programs/gyre/requests/size_text.hpp"

#include <gyre/coro/scope_exit.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/sleep.hpp>

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace programs {

std::string bar(const download_progress& of, gyre::time_point now, std::size_t columns) {
  constexpr std::size_t width = 20;
  const double seconds = std::max(std::chrono::duration<double>(now - of.began).count(), 1e-3);
  const double rate = static_cast<double>(of.done - of.before) / seconds;
  std::string text;
  if (of.total && *of.total > 0) {
    const double part = std::min(static_cast<double>(of.done) / static_cast<double>(*of.total), 1.0);
    const auto full = static_cast<std::size_t>(part * width);
    text = fmt::format("[{}{}] {:3.0f} %  {} of {}  {}/s", std::string(full, '#'), std::string(width - full, '-'),
                       part * 100, size_text(static_cast<double>(of.done)), size_text(static_cast<double>(*of.total)),
                       size_text(rate));
    if (rate > 0 && of.done < *of.total)
      text += fmt::format("  {:.0f} s left", static_cast<double>(*of.total - of.done) / rate);
  } else {
    text = fmt::format("{}  {}/s", size_text(static_cast<double>(of.done)), size_text(rate));
  }
  text += "  " + gyre::printable(of.name);
  if (text.size() > columns) text.resize(columns);
  return text;
}

progress::entry::entry(progress& in, std::string name) : all_(in) {
  here_ = all_.running_.insert(all_.running_.end(), {.name = std::move(name), .began = gyre::now()});
}

gyre::task<> progress::show() {
  if (::isatty(STDERR_FILENO) != 1) co_return;
  const gyre::scope_exit clean([this] { erase(); });
  for (;;) {
    co_await gyre::sleep(std::chrono::milliseconds(100));
    draw();
  }
}

void progress::say(const std::string& line) {
  erase();
  gyre::print_diagnostic({line});
}

void progress::erase() {
  if (drawn_ > 0) gyre::write_diagnostic(fmt::format("\033[{}F\033[J", std::exchange(drawn_, 0)));
}

void progress::draw() {
  winsize size{};
  std::size_t columns = 80;
  std::size_t rows = 24;
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1) {
    columns = size.ws_col;
    rows = size.ws_row;
  }
  erase();
  std::string text;
  for (const download_progress& each : running_) {
    if (++drawn_ == rows) {
      --drawn_;
      break;
    }
    text += bar(each, gyre::now(), columns - 1) + "\n";
  }
  gyre::write_diagnostic(text);
}

}  // namespace programs
