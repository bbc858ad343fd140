// programs/resp_server/exchange_op.hpp: waits for the messages of a batch.
#pragma once

#include "programs/resp_server/request_batch.hpp"

namespace resp {

/// The operation of request_batch::exchange(). A cancel does not end it: the messages refer to the batch.
class [[nodiscard("co_await it")]] exchange_op : public gyre::operation<exchange_op> {
 public:
  explicit exchange_op(request_batch& batch) noexcept : batch_(&batch) {}

  bool try_now() noexcept {
    for (const shard_message& each : batch_->messages())
      if (each.should_go()) return false;
    return true;
  }
  void start() noexcept { batch_->send(*this); }
  void on_cancel() noexcept {}
  void await_resume() {
    for (shard_message& each : batch_->messages()) each.rethrow_failure();
  }

 private:
  request_batch* batch_;
};

inline exchange_op request_batch::exchange() noexcept { return exchange_op(*this); }

}  // namespace resp
