// What a master owes to whoever asks, while it asks others.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/stop_request.hpp"

#include <caf/typed_response_promise.hpp>

#include <memory>
#include <utility>

namespace troupe {

/// Somebody who waits for an answer that needs the answers of others.
class unanswered {
public:
  virtual ~unanswered() = default;
  virtual void fail(const status& why) = 0;
};

/// Answers once: all together, or the first error.
template <class Result>
class pending_answer final : public unanswered {
public:
  explicit pending_answer(caf::typed_response_promise<Result> reply) : reply_(std::move(reply)) {}
  void deliver(Result what) {
    if (answers_now())
      reply_.deliver(std::move(what));
  }
  void fail(const status& why) override {
    if (answers_now())
      reply_.deliver(to_caf(why));
  }
  bool is_answered() const noexcept { return answered_; }
  /// It is let go of with the answer.
  void keep(std::shared_ptr<stop_request> what) { stop_ = std::move(what); }

private:
  bool answers_now() {
    stop_ = nullptr;
    return !std::exchange(answered_, true);
  }

  bool answered_ = false;
  std::shared_ptr<stop_request> stop_;
  caf::typed_response_promise<Result> reply_;
};

} // namespace troupe
