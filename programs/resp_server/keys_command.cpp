// programs/resp_server/keys_command.cpp: KEYS.
#include "programs/resp_server/glob.hpp"
#include "programs/resp_server/handlers.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace resp {
namespace {

// Visits the entries from newest to oldest. A key longer than a step takes several steps.
class keys_by_pattern : public unfinished_command {
 public:
  explicit keys_by_pattern(std::string_view pattern) : text_(pattern) {}

  bool step(keyspace& keys, unix_ms now, reply_buffer& reply) override {
    if (!cursor_) {
      begin(keys, reply);
      // Compiling is its own step, even when there are no keys: a client may send one pattern after the other.
      if (text_.size() > compiled_at_once) return false;
    }
    for (std::size_t spent = 0; spent < budget;) {
      entry* const item = cursor_->at();  // NOLINT(bugprone-unchecked-optional-access): begin() set it
      if (item == nullptr) {
        reply.finish_array(mark_, found_);
        if (reply.overflowed()) reply.drop_from(mark_);
        return true;
      }
      spent += look_at(*item, now, reply, budget - spent);
    }
    return false;
  }

 private:
  static constexpr std::size_t work_of_an_entry = 64;
  static constexpr std::size_t compiled_at_once = 32;

  void begin(keyspace& keys, reply_buffer& reply) {
    pattern_ = std::make_unique<const glob_pattern>(text_);
    mark_ = reply.begin_array();
    cursor_.emplace(keys.all());
  }

  // Returns the amount of work done.
  std::size_t look_at(entry& item, unix_ms now, reply_buffer& reply, std::size_t budget_left) {
    if (&item != partly_read_) state_ = {};
    partly_read_ = &item;
    const std::size_t before = state_.bytes_read();
    auto verdict = glob_pattern::verdict::differs;
    if (item.second.expires_at >= now)
      verdict = pattern_->read(state_, item.first, budget_left / pattern_->words() + 1);
    std::size_t work = work_of_an_entry + (state_.bytes_read() - before) * pattern_->words();
    if (verdict == glob_pattern::verdict::unknown) return work;
    if (verdict == glob_pattern::verdict::matches) {
      reply.append_bulk(item.first);
      ++found_;
      work += item.first.size() / 16;
    }
    partly_read_ = nullptr;
    cursor_->advance();
    return work;
  }

  std::string text_;
  std::unique_ptr<const glob_pattern> pattern_;  // set once the command has begun
  glob_pattern::progress state_;
  entry* partly_read_ = nullptr;
  std::optional<entry_cursor> cursor_;
  std::size_t mark_ = 0;
  std::size_t found_ = 0;
};

}  // namespace

void keys_command(command_call& call) {
  const std::string_view pattern = call.arguments[1];
  if (pattern.size() > glob_pattern::max_bytes) return reply_long_pattern(call.reply);
  call.connection.unfinished = std::make_unique<keys_by_pattern>(pattern);
}

}  // namespace resp
