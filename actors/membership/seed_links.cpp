#include "troupe/actors/membership/seed_links.hpp"

#include "troupe/actors/base/random_id.hpp"
#include "troupe/runtime/simulation.hpp"

#include <algorithm>

namespace troupe {
namespace {

// A machine that is switched off does not answer. A call must end soon, so that the next call can
// reach a machine that is back.
constexpr std::chrono::milliseconds longest_call{1'000};
// A coordinator that has just started waits two seconds (`settle`) for members that know the list.
// A member without a connection to a coordinator must call within that time, and so must an elected
// coordinator. Other members have no list that the coordinator needs.
constexpr std::chrono::milliseconds longest_call_pause{1'000},
    longest_call_pause_of_followers{8'000};

} // namespace

seed_links::seed_links(caf::event_based_actor* self, const std::vector<std::string>& seeds,
                       const std::string& own_address, transport calls)
    : self_(self), seeds_(seeds), own_address_(own_address), transport_(std::move(calls)) {
  for (const auto& address : seeds)
    if (address != own_address)
      links_.push_back({.address = address});
}

seed_links::~seed_links() {
  for (auto& link : links_)
    *link.stop = true;
}

void seed_links::call_all() {
  for (size_t i = 0; i < links_.size(); ++i)
    dial(i);
}

void seed_links::dial(size_t index) {
  auto& link = links_[index];
  link.waiting = false;
  link.calling = link.wanted;
  if (!link.wanted)
    return;
  link.called = self_->clock().now();
  transport_.dial({.to = {{}, static_cast<int>(index)},
                   .deadline = link.called + longest_call,
                   .outcome = {},
                   .socket = {},
                   .address = link.address,
                   .single_attempt = true},
                  link.stop);
}

void seed_links::schedule_call(size_t index) {
  auto& link = links_[index];
  auto spent =
      std::chrono::duration_cast<std::chrono::milliseconds>(self_->clock().now() - link.called);
  auto longest = transport_.follows() ? longest_call_pause_of_followers : longest_call_pause;
  link.calling = link.waiting = true;
  self_->delayed_send(self_, link.pause.next(spent, longest, random_id()),
                      call_seed{index, ++link.calls});
}

void seed_links::connected(dial_result& call) {
  auto index = static_cast<size_t>(call.to.task);
  if (!call.outcome)
    return schedule_call(index);
  auto& link = links_[index];
  link.calling = false;
  link.pause.reset();
  link.exchange = transport_.open(call);
  self_->monitor(link.exchange);
}

void seed_links::call(const call_seed& due) {
  if (const auto& link = links_[due.seed]; link.waiting && link.calls == due.calls)
    dial(due.seed);
}

void seed_links::lost(const caf::actor_addr& exchange) {
  for (size_t i = 0; i < links_.size(); ++i)
    if (links_[i].exchange && links_[i].exchange.address() == exchange) {
      links_[i].exchange = nullptr;
      links_[i].called = self_->clock().now();
      schedule_call(i);
    }
}

void seed_links::keep(const std::string& address) {
  for (auto& link : links_)
    link.wanted =
        link.address == address || std::ranges::find(seeds_, link.address) != seeds_.end();
  if (address == own_address_)
    return;
  auto known = std::ranges::find(links_, address, &link::address);
  auto index = static_cast<size_t>(known - links_.begin());
  if (known == links_.end())
    links_.push_back({.address = address});
  if (auto& kept = links_[index]; !kept.exchange && !kept.calling)
    dial(index);
}

void seed_links::expect(size_t index) {
  links_[index].pause.reset();
  if (links_[index].waiting)
    dial(index);
}

void seed_links::expect(const std::string& address) {
  for (size_t i = 0; i < links_.size(); ++i)
    if (links_[i].address == address && !links_[i].exchange) {
      TROUPE_REACHED("a seed that was away is heard of");
      expect(i);
    }
}

void seed_links::check_coordinator() {
  if (!std::exchange(followed_, transport_.follows()) || followed_)
    return;
  for (size_t i = 0; i < links_.size(); ++i)
    if (!links_[i].exchange)
      expect(i);
}

bool seed_links::is_first(const caf::actor_addr& exchange) const {
  return !links_.empty() && links_[0].address == seeds_[0] && links_[0].exchange &&
         links_[0].exchange.address() == exchange;
}

std::vector<caf::actor> seed_links::exchanges() const {
  std::vector<caf::actor> open_exchanges;
  for (const auto& link : links_)
    if (link.exchange)
      open_exchanges.push_back(link.exchange);
  return open_exchanges;
}

} // namespace troupe
