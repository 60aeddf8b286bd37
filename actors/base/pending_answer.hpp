// The answer of an actor to a request that it can answer only after the answers of other actors.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/stop_request.hpp"

#include <caf/typed_response_promise.hpp>

#include <memory>
#include <utility>

namespace troupe {

/// A pending answer of any type, for code that can only fail it.
class pending_answer_base {
public:
  virtual ~pending_answer_base() = default;
  virtual void fail(const status& why) = 0;
};

/// Answers once: with the result, or with the first error. Later calls do nothing. Used on the
/// actor's thread only.
template <class Result>
class pending_answer final : public pending_answer_base {
public:
  explicit pending_answer(caf::typed_response_promise<Result> reply) : reply_(std::move(reply)) {}
  void deliver(Result result) {
    if (mark_answered())
      reply_.deliver(std::move(result));
  }
  void fail(const status& why) override {
    if (mark_answered())
      reply_.deliver(to_caf(why));
  }
  bool is_answered() const noexcept { return answered_; }
  /// Keeps `request` alive until the answer.
  void keep(std::shared_ptr<stop_request> request) { stop_ = std::move(request); }

private:
  bool mark_answered() {
    stop_ = nullptr;
    return !std::exchange(answered_, true);
  }

  bool answered_ = false;
  std::shared_ptr<stop_request> stop_;
  caf::typed_response_promise<Result> reply_;
};

} // namespace troupe
