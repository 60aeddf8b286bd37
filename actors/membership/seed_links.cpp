#include "troupe/actors/membership/seed_links.hpp"

#include "troupe/actors/base/random_id.hpp"
#include "troupe/runtime/simulation.hpp"

#include <algorithm>

namespace troupe {
namespace {

// A host that is switched off does not answer: what comes back there is called within that time.
constexpr std::chrono::milliseconds longest_call{1'000};
// A coordinator that has just started waits two seconds for those who know the list (`settle`): who
// hears no coordinator calls in time for that, and so does the one that decides in its place. All
// others have nothing to tell.
constexpr std::chrono::milliseconds longest_call_pause{1'000},
    longest_call_pause_of_followers{8'000};

} // namespace

seed_links::seed_links(caf::event_based_actor* self, const std::vector<std::string>& seeds,
                       const std::string& own_address, way by)
    : self_(self), seeds_(seeds), own_address_(own_address), by_(std::move(by)) {
  for (const auto& address : seeds)
    if (address != own_address)
      links_.push_back({.address = address});
}

seed_links::~seed_links() {
  for (auto& one : links_)
    *one.stop = true;
}

void seed_links::call_all() {
  for (size_t i = 0; i < links_.size(); ++i)
    dial(i);
}

void seed_links::dial(size_t which) {
  auto& one = links_[which];
  one.waiting = false;
  one.calling = one.wanted;
  if (!one.wanted)
    return;
  one.called = self_->clock().now();
  by_.dial({.to = {{}, static_cast<int>(which)},
            .deadline = one.called + longest_call,
            .outcome = {},
            .socket = {},
            .address = one.address,
            .once = true},
           one.stop);
}

void seed_links::wait(size_t which) {
  auto& one = links_[which];
  auto spent =
      std::chrono::duration_cast<std::chrono::milliseconds>(self_->clock().now() - one.called);
  auto longest = by_.follows() ? longest_call_pause_of_followers : longest_call_pause;
  one.calling = one.waiting = true;
  self_->delayed_send(self_, one.pause.next(spent, longest, random_id()),
                      call_seed{which, ++one.calls});
}

void seed_links::connected(dialed& what) {
  auto which = static_cast<size_t>(what.to.task);
  if (!what.outcome)
    return wait(which);
  auto& one = links_[which];
  one.calling = false;
  one.pause.reset();
  one.exchange = by_.open(what);
  self_->monitor(one.exchange);
}

void seed_links::call(const call_seed& what) {
  if (const auto& one = links_[what.which]; one.waiting && one.calls == what.calls)
    dial(what.which);
}

void seed_links::lost(const caf::actor_addr& exchange) {
  for (size_t i = 0; i < links_.size(); ++i)
    if (links_[i].exchange && links_[i].exchange.address() == exchange) {
      links_[i].exchange = nullptr;
      links_[i].called = self_->clock().now();
      wait(i);
    }
}

void seed_links::keep(const std::string& address) {
  for (auto& one : links_)
    one.wanted = one.address == address || std::ranges::find(seeds_, one.address) != seeds_.end();
  if (address == own_address_)
    return;
  auto it = std::ranges::find(links_, address, &link::address);
  auto which = static_cast<size_t>(it - links_.begin());
  if (it == links_.end())
    links_.push_back({.address = address});
  if (auto& one = links_[which]; !one.exchange && !one.calling)
    dial(which);
}

void seed_links::expect(size_t which) {
  links_[which].pause.reset();
  if (links_[which].waiting)
    dial(which);
}

void seed_links::expect(const std::string& address) {
  for (size_t i = 0; i < links_.size(); ++i)
    if (links_[i].address == address && !links_[i].exchange) {
      TROUPE_REACHED("a seed that was away is heard of");
      expect(i);
    }
}

void seed_links::look() {
  if (!std::exchange(followed_, by_.follows()) || followed_)
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
  std::vector<caf::actor> found;
  for (const auto& one : links_)
    if (one.exchange)
      found.push_back(one.exchange);
  return found;
}

} // namespace troupe
