#include "troupe/runtime/cluster/succession.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Members far down the list take turns together: those before them are gone as well.
constexpr int last_turn = 15;

bool is_that(const cluster_member* one, uint64_t incarnation) {
  return one && one->incarnation == incarnation && one->holds_number();
}

} // namespace

std::optional<vote_request> succession::tick(const member_list& list, bool hears, time_point now) {
  if (auto gap = now - ticked_; gap > options_.longest_pause) {
    silent_since_ = std::min(now, silent_since_ + gap);
    asks_ = 0;
  }
  ticked_ = now;
  hears_ = hears;
  if (hears || list.epoch().term != term_) {
    term_ = list.epoch().term;
    silent_since_ = now;
    asks_ = 0;
    return {};
  }
  if (list.coordinator().job.empty() || !is_that(list.find(self_), incarnation_))
    return {};
  auto turn = 0;
  for (const auto& [task, one] : list.members()) {
    if (task == self_ || turn == last_turn)
      break;
    turn += one.holds_number() && task != list.coordinator();
  }
  if (now < next_ || now < silent_since_ + options_.asks_after + turn * options_.turn)
    return {};
  auto last = std::max(promised_, term_);
  if (last >= last_term)
    return {};
  promised_ = asks_ = last + 1;
  voters_ = {self_};
  next_ = now + options_.again + turn * options_.turn;
  return vote_request{asks_, list.epoch()};
}

vote succession::answer(const vote_request& what, const task_name& from, uint64_t incarnation,
                        const member_list& list, time_point now) {
  auto silent = !hears_ && now - ticked_ <= options_.longest_pause &&
                now - silent_since_ >= options_.doubts_after;
  auto known = what.has > list.epoch() || is_that(list.find(from), incarnation);
  auto granted = silent && known && what.has >= list.epoch() && what.term > promised_ &&
                 what.term > list.epoch().term && what.term <= last_term;
  if (granted) {
    promised_ = what.term;
    asks_ = 0;
    next_ = now + options_.again;
  }
  return {std::max(promised_, list.epoch().term), granted};
}

void succession::count(const vote& what, const task_name& from, uint64_t incarnation,
                       const member_list& list) {
  if (!what.granted)
    promised_ = std::max(promised_, what.term < last_term ? what.term : 0);
  else if (what.term == asks_ && is_that(list.find(from), incarnation))
    voters_.insert(from);
}

uint64_t succession::elected(const member_list& list) const {
  auto made = standing(list);
  return made && made->has >= made->needs ? asks_ : 0;
}

std::optional<succession::votes> succession::standing(const member_list& list) const {
  if (asks_ == 0)
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
