#include "troupe/runtime/state/step_mutex.hpp"

namespace troupe {
namespace {

// The op's output is a token without content, since the holder is stored here.
std::vector<tensor> lock_token() { return {tensor::scalar<std::string>("")}; }

} // namespace

void step_mutex::lock(request_id request, answers& done) {
  if (holder_ == request.step) {
    ++depth_;
    done.push_back({request, {}, lock_token()});
    return;
  }
  waiting_.push_back({request});
  grant_next(done);
}

void step_mutex::grant_next(answers& done) {
  if (holder_ || waiting_.empty())
    return;
  auto next = waiting_.front().id;
  holder_ = next.step;
  depth_ = 0;
  // Grants all requests of this step.
  for (const auto& pending : waiting_)
    if (pending.id.step == next.step) {
      ++depth_;
      done.push_back({pending.id, {}, lock_token()});
    }
  std::erase_if(waiting_, [&](const auto& pending) { return pending.id.step == next.step; });
}

void step_mutex::unlock(request_id request, answers& done) {
  if (holder_ != request.step) {
    done.push_back({request, failure(error_kind::failed_precondition, "mutex '", name(),
                                     "' is not held by this step")});
    return;
  }
  if (--depth_ == 0)
    holder_.reset();
  done.push_back({request, {}});
  grant_next(done);
}

void step_mutex::cancel(const request_filter& selected, const status& reason, answers& done) {
  fail_requests(waiting_, selected, reason, done);
}

void step_mutex::end_step(step_id step, bool, answers& done) {
  if (holder_ == step)
    holder_.reset();
  grant_next(done);
}

void step_mutex::reset(const status& reason, answers& done) {
  fail_requests(waiting_, request_filter::every(), reason, done);
  holder_.reset();
}

std::string step_mutex::describe() const {
  auto text = holder_ ? concat("held by step ", *holder_) : std::string{"free"};
  return waiting_.empty() ? text : concat(text, ", ", waiting_.size(), " wait");
}

} // namespace troupe
