#include "troupe/runtime/state/replica_clock.hpp"

#include <algorithm>

namespace troupe {

void replica_clock::set_step(request_id who, int64_t step, answers& done) {
  if (step < 0) {
    done.push_back(
        {who, invalid("replica clock '", name(), "': a step is at least 0, got ", step)});
    return;
  }
  step_ = step;
  done.push_back({who, {}});
  serve(done);
}

void replica_clock::await_step(request_id who, int64_t known, answers& done) {
  waiting_.push_back({who, -1, known});
  serve(done);
}

bool replica_clock::known(request_id who, int64_t replica, answers& done) const {
  if (replica >= 0 && replica < replicas_)
    return true;
  done.push_back({who, invalid("replica clock '", name(), "': there is no replica ", replica,
                               " of ", replicas_)});
  return false;
}

int64_t replica_clock::slowest() const {
  auto least = std::ranges::min_element(steps_, {}, [](const auto& one) { return one.second; });
  return least == steps_.end() ? 0 : least->second;
}

void replica_clock::join(request_id who, int64_t replica, answers& done) {
  if (!known(who, replica, done))
    return;
  steps_.try_emplace(replica, slowest());
  done.push_back({who, {}});
}

void replica_clock::leave(request_id who, int64_t replica, answers& done) {
  if (replica == -1)
    steps_.clear();
  else if (!known(who, replica, done))
    return;
  else
    steps_.erase(replica);
  done.push_back({who, {}});
  serve(done);
}

void replica_clock::tick(request_id who, int64_t replica, int64_t lead, answers& done) {
  if (!known(who, replica, done))
    return;
  if (lead < 0) {
    done.push_back(
        {who, invalid("replica clock '", name(), "': a lead is at least 0, got ", lead)});
    return;
  }
  ++steps_.try_emplace(replica, slowest()).first->second;
  waiting_.push_back({who, replica, lead});
  serve(done);
}

void replica_clock::serve(answers& done) {
  auto last = slowest();
  std::erase_if(waiting_, [&](const pending& one) {
    auto gives = step_;
    if (one.replica < 0) {
      if (step_ < 0 || step_ == one.limit)
        return false;
    } else if (auto it = steps_.find(one.replica); it != steps_.end()) {
      if (it->second - last > one.limit)
        return false;
      gives = it->second;
    } else { // it has left meanwhile
      gives = last;
    }
    done.push_back({one.who, {}, {tensor::scalar(gives)}});
    return true;
  });
}

status replica_clock::declare_again(const responder& other) const {
  auto again = static_cast<const replica_clock&>(other).replicas_;
  if (again == replicas_)
    return {};
  return invalid("replica clock '", name(), "' exists for ", replicas_,
                 " replicas, and is declared again for ", again);
}

void replica_clock::cancel(const which_requests& which, const status& why, answers& done) {
  give_up(waiting_, which, why, done);
}

void replica_clock::reset(const status& why, answers& done) {
  give_up(waiting_, which_requests::all(), why, done);
  step_ = -1;
  steps_.clear();
}

std::string replica_clock::describe() const {
  std::string text = step_ < 0 ? "no step yet" : concat("step ", step_);
  if (!steps_.empty()) {
    auto slow = std::ranges::min_element(steps_, {}, [](const auto& one) { return one.second; });
    auto fast = std::ranges::max_element(steps_, {}, [](const auto& one) { return one.second; });
    text = concat(steps_.size(), " replicas, the slowest, ", slow->first, ", has done ",
                  slow->second, " steps, the fastest ", fast->second);
  }
  return waiting_.empty() ? text : concat(text, ", ", waiting_.size(), " wait");
}

} // namespace troupe
