#include "troupe/runtime/cluster/succession.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Members far down the list are candidates at the same time, because all members before them are
// probably gone as well.
constexpr int max_candidate_rank = 15;

bool is_current(const cluster_member* member, uint64_t incarnation) {
  return member && member->incarnation == incarnation && member->holds_number();
}

} // namespace

std::optional<vote_request> succession::tick(const member_list& list, bool hears, time_point now) {
  if (auto gap = now - last_tick_; gap > options_.longest_pause) {
    silent_since_ = std::min(now, silent_since_ + gap);
    candidate_term_ = 0;
  }
  last_tick_ = now;
  hears_ = hears;
  if (hears || list.epoch().term != term_) {
    term_ = list.epoch().term;
    silent_since_ = now;
    candidate_term_ = 0;
    return {};
  }
  if (list.coordinator().job.empty() || !is_current(list.find(self_), incarnation_))
    return {};
  auto rank = 0;
  for (const auto& [task, member] : list.members()) {
    if (task == self_ || rank == max_candidate_rank)
      break;
    rank += member.holds_number() && task != list.coordinator();
  }
  if (now < next_request_ ||
      now < silent_since_ + options_.candidate_after + rank * options_.rank_delay)
    return {};
  auto latest_term = std::max(promised_term_, term_);
  if (latest_term >= last_term)
    return {};
  promised_term_ = candidate_term_ = latest_term + 1;
  voters_ = {self_};
  next_request_ = now + options_.retry_after + rank * options_.rank_delay;
  return vote_request{candidate_term_, list.epoch()};
}

vote succession::answer(const vote_request& request, const task_name& from, uint64_t incarnation,
                        const member_list& list, time_point now) {
  auto silent = !hears_ && now - last_tick_ <= options_.longest_pause &&
                now - silent_since_ >= options_.vote_after;
  auto known = request.candidate_epoch > list.epoch() || is_current(list.find(from), incarnation);
  auto granted = silent && known && request.candidate_epoch >= list.epoch() &&
                 request.term > promised_term_ && request.term > list.epoch().term &&
                 request.term <= last_term;
  if (granted) {
    promised_term_ = request.term;
    candidate_term_ = 0;
    next_request_ = now + options_.retry_after;
  }
  return {std::max(promised_term_, list.epoch().term), granted};
}

void succession::count(const vote& received, const task_name& from, uint64_t incarnation,
                       const member_list& list) {
  if (!received.granted)
    promised_term_ = std::max(promised_term_, received.term < last_term ? received.term : 0);
  else if (received.term == candidate_term_ && is_current(list.find(from), incarnation))
    voters_.insert(from);
}

uint64_t succession::elected(const member_list& list) const {
  auto result = vote_count(list);
  return result && result->has >= result->needs ? candidate_term_ : 0;
}

std::optional<succession::votes> succession::vote_count(const member_list& list) const {
  if (candidate_term_ == 0)
    return {};
  return votes{voters_.size(), electorate(list) / 2 + 1};
}

size_t succession::electorate(const member_list& list) const {
  return static_cast<size_t>(std::ranges::count_if(list.members(), [&](const auto& entry) {
    return entry.second.holds_number() &&
           !(coordinator_left(list) && entry.first == list.coordinator());
  }));
}

} // namespace troupe
