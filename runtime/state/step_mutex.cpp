#include "troupe/runtime/state/step_mutex.hpp"

namespace troupe {
namespace {

// What the op's output carries: who holds the lock is known here.
std::vector<tensor> proof() { return {tensor::scalar<std::string>("")}; }

} // namespace

void step_mutex::lock(request_id who, answers& done) {
  if (holder_ == who.step) {
    ++depth_;
    done.push_back({who, {}, proof()});
    return;
  }
  waiting_.push_back({who});
  pass_on(done);
}

void step_mutex::pass_on(answers& done) {
  if (holder_ || waiting_.empty())
    return;
  auto next = waiting_.front().who;
  holder_ = next.step;
  depth_ = 0;
  // All that this step waits for here.
  for (const auto& one : waiting_)
    if (one.who.step == next.step) {
      ++depth_;
      done.push_back({one.who, {}, proof()});
    }
  std::erase_if(waiting_, [&](const auto& one) { return one.who.step == next.step; });
}

void step_mutex::unlock(request_id who, answers& done) {
  if (holder_ != who.step) {
    done.push_back({who, failure(error_kind::failed_precondition, "mutex '", name(),
                                 "' is not held by this step")});
    return;
  }
  if (--depth_ == 0)
    holder_.reset();
  done.push_back({who, {}});
  pass_on(done);
}

void step_mutex::cancel(const which_requests& which, const status& why, answers& done) {
  give_up(waiting_, which, why, done);
}

void step_mutex::settle(step_id step, bool, answers& done) {
  if (holder_ == step)
    holder_.reset();
  pass_on(done);
}

void step_mutex::reset(const status& why, answers& done) {
  give_up(waiting_, which_requests::all(), why, done);
  holder_.reset();
}

std::string step_mutex::describe() const {
  auto text = holder_ ? concat("held by step ", *holder_) : std::string{"free"};
  return waiting_.empty() ? text : concat(text, ", ", waiting_.size(), " wait");
}

} // namespace troupe
