// programs/resp_server/request_batch.cpp: the requests of one read, sent to their shards, and the replies in order.
#include "programs/resp_server/request_batch.hpp"

#include <gyre/loop/loop_group.hpp>

#include <utility>

namespace resp {

request_batch::request_batch(shard_set& shards, std::size_t home)
    : shards_(&shards), home_(home), messages_(std::make_unique<message[]>(shards.size())) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    messages_[i].batch = this;
    messages_[i].shard = static_cast<std::uint32_t>(i);
  }
}

void request_batch::add(const command& what, std::span<const std::string_view> arguments) {
  const auto add_part = [&](part::kind kind, std::uint32_t value = 0) { parts_.push_back({kind, value}); };
  std::span<const std::string_view> rest = arguments.subspan(1);
  const bool one = what.keys == key_use::none || what.keys == key_use::one;
  const std::size_t step = one ? rest.size() : what.keys == key_use::pairs ? 2 : 1;
  if (what.keys == key_use::values) add_part(part::kind::array, static_cast<std::uint32_t>(rest.size()));
  do {
    const std::size_t shard = what.keys == key_use::none ? home_ : shards_->shard_of(rest[0]);
    messages_[shard].add(what, arguments[0], rest.first(step));
    add_part(what.keys == key_use::counts  ? part::kind::number
             : what.keys == key_use::pairs ? part::kind::pair
                                           : part::kind::reply,
             static_cast<std::uint32_t>(shard));
    rest = rest.subspan(step);
  } while (!rest.empty());
  if (what.keys == key_use::counts) add_part(part::kind::sum);
  if (what.keys == key_use::pairs) add_part(part::kind::pairs);
}

bool exchange_op::try_now() noexcept {
  bool all_here = true;
  for (std::size_t i = 0; i < batch_->shards_->size(); ++i) {
    shard_message& each = batch_->messages_[i];
    if (!each.should_go()) continue;
    if (i == batch_->home_)
      each.execute((*batch_->shards_)[i]);
    else
      all_here = false;
  }
  return all_here;
}

void exchange_op::await_resume() {
  for (std::size_t i = 0; i < batch_->shards_->size(); ++i) batch_->messages_[i].rethrow_failure();
}

void request_batch::send(exchange_op& waiting) noexcept {
  waiting_ = &waiting;
  home_loop_ = &gyre::event_loop::current();
  for (std::size_t i = 0; i < shards_->size(); ++i) {
    message& each = messages_[i];
    if (i == home_ || !each.should_go()) continue;
    each.complete = &on_arrival;
    home_loop_->expect_post();
    (*home_loop_->group())[i].post(static_cast<gyre::io::completion&>(each));
    ++under_way_;
  }
  (*shards_)[home_].figures.messages += under_way_;
}

// On the loop of the shard.
void request_batch::on_arrival(gyre::io::completion& item) noexcept {
  auto& arrived = static_cast<message&>(item);
  arrived.execute((*arrived.batch->shards_)[arrived.shard]);
  arrived.complete = &on_return;
  arrived.batch->home_loop_->post(item);  // the batch may be gone when this returns
}

void request_batch::on_return(gyre::io::completion& item) noexcept {
  request_batch& batch = *static_cast<message&>(item).batch;
  batch.home_loop_->expected_post_arrived();
  if (--batch.under_way_ == 0) batch.waiting_->proceed(*batch.waiting_);
}

bool request_batch::join(reply_buffer& to) {
  while (next_ < parts_.size()) {
    const part& next = parts_[next_];
    if (next.what == part::kind::array) to.append_array(next.value);
    if (next.what == part::kind::sum) to.append_integer(std::exchange(sum_, 0));
    if (next.what == part::kind::pairs) to.append(reply_text::ok);
    if (next.what >= part::kind::array) {
      ++next_;
      continue;
    }
    const shard_message& from = messages_[next.value];
    if (!from.has_reply() || to.size() + from.next_reply().size() > max_pending_replies) return false;
    if (next.what == part::kind::reply) to.append(from.next_reply());
    if (next.what == part::kind::number) sum_ += from.next_reply()[1] - '0';
    skip();
  }
  return true;
}

std::size_t request_batch::allocated_bytes() const noexcept {
  std::size_t sum = parts_.capacity() * sizeof(part);
  for (std::size_t i = 0; i < shards_->size(); ++i) sum += messages_[i].allocated_bytes();
  return sum;
}

void request_batch::clear() noexcept {
  for (std::size_t i = 0; i < shards_->size(); ++i) messages_[i].clear();
  parts_.clear();
  next_ = 0;
  sum_ = 0;
}

}  // namespace resp
