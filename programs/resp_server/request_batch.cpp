// programs/resp_server/request_batch.cpp: the requests of one read, sent to their shards, and the replies in order.
#include "programs/resp_server/request_batch.hpp"

#include "programs/resp_server/commands.hpp"
#include "programs/resp_server/exchange_op.hpp"
#include "programs/resp_server/joined_replies.hpp"

#include <gyre/loop/loop_group.hpp>

#include <algorithm>
#include <utility>

namespace resp {

request_batch::request_batch(shard_set& shards, std::size_t home)
    : shards_(&shards), home_(home), messages_(std::make_unique<message[]>(shards.size())) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    messages_[i].batch = this;
    messages_[i].target = &shards[i];
  }
}

void request_batch::add(std::span<const std::string_view> arguments, command_spread spread, connection_state& client) {
  client_ = &client;
  message& here = messages_[home_];
  if (spread == command_spread::no_key || spread == command_spread::one_key) {
    message& to = plan_one_part(spread == command_spread::no_key ? home_ : shards_->shard_of(arguments[1]));
    to.add_request(arguments[0]);
    for (const std::string_view each : arguments.subspan(1)) to.add_argument(each);
  } else if (spread == command_spread::all_set && refused_for_memory(here.target->keys, wall_clock(), client)) {
    ++here.target->info.commands_processed;
    plan_one_part(home_).add_answer(reply_text::out_of_memory);
  } else {
    add_parts(arguments, spread, spread == command_spread::all_set);
  }
  if (here.is_left()) here.execute(*here.target, client_);
}

request_batch::message& request_batch::plan_one_part(std::size_t shard) {
  plans_.push_back({command_spread::one_key, static_cast<std::uint32_t>(parts_.size()), 1, 0, 0});
  parts_.push_back(static_cast<std::uint32_t>(shard));
  return messages_[shard];
}

void request_batch::add_parts(std::span<const std::string_view> arguments, command_spread spread, bool admitted) {
  const std::size_t step = spread == command_spread::all_set ? 2 : 1;
  plan& added = plans_.emplace_back(
      plan{spread, static_cast<std::uint32_t>(parts_.size()), 0, static_cast<std::uint32_t>(key_shards_.size()), 0});
  for (std::size_t i = 1; i < arguments.size(); i += step) {
    const auto shard = static_cast<std::uint32_t>(shards_->shard_of(arguments[i]));
    message& to = messages_[shard];
    if (to.last_plan != plans_.size()) {
      to.last_plan = plans_.size();
      to.add_request(arguments[0], added.parts == 0, admitted);
      parts_.push_back(shard);
      ++added.parts;
    }
    for (std::size_t k = 0; k < step; ++k) to.add_argument(arguments[i + k]);
    if (spread != command_spread::values) continue;
    key_shards_.push_back(shard);
    ++added.keys;
  }
}

void request_batch::send(exchange_op& waiting) noexcept {
  waiting_ = &waiting;
  home_loop_ = &gyre::event_loop::current();
  under_way_ = 0;
  for (const shard_message& each : messages()) under_way_ += each.should_go() ? 1 : 0;
  server_info& info = (*shards_)[home_].info;
  for (std::size_t i = 0; i < shards_->size(); ++i) {
    message& each = messages_[i];
    if (!each.should_go()) continue;
    if (i != home_) {
      ++info.shard_messages;
      info.shard_commands += each.left();
    }
    each.complete = &on_arrival;
    home_loop_->expect_post();
    (*home_loop_->group())[i].post(static_cast<gyre::io::completion&>(each));
  }
}

// On the loop of the shard.
void request_batch::on_arrival(gyre::io::completion& item) noexcept {
  auto& arrived = static_cast<message&>(item);
  request_batch& batch = *arrived.batch;
  const bool at_home = arrived.target == &(*batch.shards_)[batch.home_];
  arrived.execute(*arrived.target, at_home ? batch.client_ : nullptr);
  arrived.complete = &on_return;
  batch.home_loop_->post(item);  // the batch may be gone when this returns
}

void request_batch::on_return(gyre::io::completion& item) noexcept {
  request_batch& batch = *static_cast<message&>(item).batch;
  batch.home_loop_->expected_post_arrived();
  if (--batch.under_way_ == 0) batch.waiting_->proceed(*batch.waiting_);
}

bool request_batch::has_replies(const plan& of) const noexcept {
  for (const std::uint32_t shard : shards_of(of))
    if (!messages_[shard].has_reply()) return false;
  return true;
}

bool request_batch::next_overflowed() const noexcept {
  if (is_joined()) return false;
  for (const std::uint32_t shard : shards_of(plans_[joined_]))
    if (messages_[shard].overflowed()) return true;
  return false;
}

std::size_t request_batch::next_size() const noexcept {
  std::size_t sum = 0;
  for (const std::uint32_t shard : shards_of(plans_[joined_])) {
    const message& part = messages_[shard];
    if (part.overflowed())
      sum += part.wanted();
    else if (part.has_reply())
      sum += part.next_reply().size();
  }
  return sum;
}

std::size_t request_batch::next_growth() const noexcept {
  std::size_t sum = 0;
  for (const std::uint32_t shard : shards_of(plans_[joined_]))
    if (messages_[shard].overflowed()) sum += messages_[shard].growth();
  return sum;
}

void request_batch::raise_next(std::size_t slack) noexcept {
  const plan& next = plans_[joined_];
  for (const std::uint32_t shard : shards_of(next))
    if (message& part = messages_[shard]; part.overflowed())  // the limit also applies to the requests after it
      part.raise_limit(std::max(shard_message::min_limit, part.wanted() + slack / next.parts));
}

void request_batch::refuse_next() {
  for (const std::uint32_t shard : shards_of(plans_[joined_]))
    if (message& part = messages_[shard]; part.overflowed()) part.refuse(reply_text::too_large);
}

void request_batch::release_joined() noexcept {
  for (shard_message& each : messages()) each.release_taken();
}

void request_batch::join(reply_buffer& to, std::size_t most, std::size_t largest) {
  while (!is_joined() && to.size() <= most && has_replies(plans_[joined_])) {
    to.set_limit(reply_buffer::no_limit);  // a buffer that was taken from a message brings the limit of that
    if (!join_one(plans_[joined_], to, most, largest)) return;
    ++joined_;
  }
}

bool request_batch::join_one(const plan& of, reply_buffer& to, std::size_t most, std::size_t largest) {
  if (in_pieces_) return join_values(of, to, most);
  if (of.parts != 1) return join_parts(of, to, most, largest);
  message& only = messages_[parts_[of.first_part]];
  if (to.empty() && only.has_one_reply())
    only.swap_reply(to);  // may be large
  else
    to.append(only.take_reply());
  return true;
}

bool request_batch::join_parts(const plan& of, reply_buffer& to, std::size_t most, std::size_t largest) {
  const std::span<const std::uint32_t> shards = shards_of(of);
  std::string_view failed;
  std::int64_t sum = 0;
  std::size_t bytes = 0;
  for (const std::uint32_t shard : shards) {
    std::string_view& part = messages_[shard].part;
    part = messages_[shard].next_reply();
    bytes += part.size();
    if (part.starts_with('-') && failed.empty()) failed = part;
    if (of.spread == command_spread::sum && failed.empty()) sum += number_in(part);
  }
  in_pieces_ = of.spread == command_spread::values && failed.empty() && bytes > most && bytes <= largest;
  if (!in_pieces_)
    for (const std::uint32_t shard : shards) (void)messages_[shard].take_reply();
  if (!failed.empty())
    to.append(failed);
  else if (of.spread == command_spread::sum)
    to.append_integer(sum);
  else if (of.spread == command_spread::all_set)
    to.append(messages_[shards.front()].part);
  else if (bytes > largest)
    to.append(reply_text::too_large);
  else
    return begin_values(of, to, most);
  return true;
}

bool request_batch::begin_values(const plan& of, reply_buffer& to, std::size_t most) {
  to.append_array(of.keys);
  for (const std::uint32_t shard : shards_of(of)) (void)take_array_header(messages_[shard].part);
  next_value_ = 0;
  return join_values(of, to, most);
}

bool request_batch::join_values(const plan& of, reply_buffer& to, std::size_t most) {
  for (; next_value_ < of.keys; ++next_value_) {
    std::string_view& part = part_with_value(of, next_value_);
    std::string_view rest = part;
    const std::string_view value = take_bulk(rest);
    if (in_pieces_ && (to.size() > most || value.size() > most)) return false;
    to.append(value);
    part = rest;
  }
  if (std::exchange(in_pieces_, false))
    for (const std::uint32_t shard : shards_of(of)) (void)messages_[shard].take_reply();
  return true;
}

std::string_view request_batch::take_large_value(std::size_t most) noexcept {
  if (!in_pieces_ || next_value_ == plans_[joined_].keys) return {};
  std::string_view& part = part_with_value(plans_[joined_], next_value_);
  std::string_view rest = part;
  const std::string_view value = take_bulk(rest);
  if (value.size() <= most) return {};
  part = rest;
  ++next_value_;
  return value;
}

void request_batch::move_arguments(std::string_view from, const char* to) noexcept {
  for (shard_message& each : messages()) each.move_arguments(from, to);
}

std::size_t request_batch::allocated_bytes() const noexcept {
  std::size_t sum =
      (parts_.capacity() + key_shards_.capacity()) * sizeof(std::uint32_t) + plans_.capacity() * sizeof(plan);
  for (std::size_t i = 0; i < shards_->size(); ++i) sum += messages_[i].allocated_bytes();
  return sum;
}

void request_batch::clear() noexcept {
  for (shard_message& each : messages()) each.clear();
  constexpr std::size_t max_kept = 4096;
  if (key_shards_.capacity() > max_kept) std::vector<std::uint32_t>().swap(key_shards_);
  plans_.clear();
  parts_.clear();
  key_shards_.clear();
  joined_ = 0;
  in_pieces_ = false;
}

}  // namespace resp
