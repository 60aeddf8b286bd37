#include "troupe/actors/joined_cluster.hpp"

#include "troupe/serialization/files/address_text.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

constexpr size_t max_address = 512;

status check(const number_claim& what) {
  if (!is_job_name(what.job) || what.task < -1 || what.address.size() > max_address ||
      !is_address(what.address))
    return invalid("'", what.job.substr(0, max_address), "' at '",
                   what.address.substr(0, max_address), "' is no task that could join");
  return {};
}

bool is_understood(const member_changes& what) {
  return std::ranges::all_of(what.members, [](const auto& one) {
    return is_job_name(one.task.job) && one.address.size() <= max_address &&
           is_address(one.address);
  });
}

} // namespace

joined_cluster::joined_cluster(join_options options, const task_name& self, uint64_t incarnation,
                               join_host host)
    : options_(std::move(options)), self_(self), incarnation_(incarnation), host_(std::move(host)) {
  if (options_.coordinates())
    decides_.emplace(self_, incarnation_, options_.address, options_.times, host_.now());
}

bool joined_cluster::speaks() const { return !decides_ || decides_->settled(host_.now()); }

void joined_cluster::connected(const peer_ready& what) {
  if (!what.via)
    return;
  auto exchange = caf::actor_cast<caf::actor>(what.via->exchange);
  if (!exchange || what.via->gone)
    return;
  auto& made = peers_[what.via.get()];
  made.id = next_peer_++;
  by_id_[made.id] = &made;
  made.exchange = std::move(exchange);
  made.incarnation = what.who.incarnation;
  if (what.who.role == "task")
    made.task = task_name{what.who.job, what.who.task};
  gossip_.connected(made.id);
  if (decides_ && made.task)
    decides_->connected(*made.task, made.incarnation);
  send(made, list_gossip::greeting(list(), !speaks()));
  publish();
}

void joined_cluster::reached_first(const connection_ptr& via) {
  auto it = peers_.find(via.get());
  if (it == peers_.end() || !it->second.task)
    return;
  it->second.is_first = true;
  claim_own(it->second);
}

void joined_cluster::disconnected(const peer_gone& what) {
  auto it = peers_.find(what.via.get());
  if (it == peers_.end())
    return;
  const auto one = std::move(it->second);
  peers_.erase(it);
  gossip_.lost(one.id);
  by_id_.erase(one.id);
  if (decides_ && one.task) {
    decides_->lost(*one.task, one.incarnation, host_.now());
    if (what.orderly)
      decides_->left(*one.task, one.incarnation);
  }
  // It does not let this process in again: its number is another's.
  if (one.is_first && !decides_ && !options_.address.empty() &&
      what.why.kind() == error_kind::failed_precondition)
    return host_.fail(what.why);
  publish();
}

void joined_cluster::send(const peer& to, message what) {
  caf::anon_send(to.exchange, outgoing{std::move(what)});
}

// A task says to the first seed who it is, whenever it reaches it, or the list says otherwise.
void joined_cluster::claim_own(const peer& first) {
  if (options_.address.empty() || decides_)
    return;
  send(first, number_claim{self_.job, self_.task, incarnation_, options_.address, true});
}

bool joined_cluster::take(const incoming& what) {
  auto it = peers_.find(what.owner.get());
  if (it == peers_.end())
    return false;
  if (const auto* changes = std::get_if<member_changes>(&what.content))
    take_changes(it->second, *changes);
  else if (const auto* claim = std::get_if<number_claim>(&what.content))
    take_claim(it->second, *claim);
  else if (const auto* grant = std::get_if<number_grant>(&what.content))
    take_grant(it->second, *grant);
  else
    return false;
  return true;
}

// Clients say which list they have, and nothing that would change it.
void joined_cluster::take_changes(peer& from, const member_changes& what) {
  if ((!from.task && !list_gossip::is_greeting(what)) || !is_understood(what))
    return;
  if (!decides_) {
    auto heard = gossip_.hear(from.id, what, copy_);
    if (heard.answer)
      send(from, *std::move(heard.answer));
    return publish();
  }
  auto former = what.epoch.term != 0 && what.epoch.term != list().epoch().term;
  if (former && list_gossip::is_greeting(what)) {
    if (speaks()) // else it was asked already
      send(from, list_gossip::greeting(list(), true));
    return;
  }
  gossip_.note(from.id, what.epoch);
  if (former) {
    member_list heard;
    heard.take(what);
    if (auto well = decides_->hear(heard, host_.now()); !well)
      return host_.fail(std::move(well));
  }
  publish();
}

void joined_cluster::take_claim(peer& from, const number_claim& what) {
  number_grant made;
  if (auto well = check(what); !well)
    made.outcome = std::move(well);
  else if (decides_)
    made = decides_->claim(what, host_.now());
  else
    made.outcome = failure(error_kind::failed_precondition, self_, " at ", options_.address,
                           " gives out no numbers: the first of all addresses to join is that of "
                           "the task that does, ", options_.seeds.front());
  send(from, std::move(made));
  publish();
}

// Only who is asked has an answer.
void joined_cluster::take_grant(const peer& from, const number_grant& what) {
  if (!from.is_first || decides_ || options_.address.empty() ||
      what.outcome.kind() == error_kind::unavailable)
    return; // it is said again with the next list
  if (!what.outcome)
    return host_.fail(what.outcome);
  if (what.task != self_ || what.incarnation != incarnation_)
    host_.fail(failure(error_kind::failed_precondition, self_, " with the incarnation ",
                       incarnation_, " has been replaced by ", what.incarnation,
                       ": end the old process"));
}

void joined_cluster::tick() {
  if (decides_)
    decides_->tick(host_.now());
  publish();
}

void joined_cluster::publish() {
  if (!speaks())
    return;
  for (auto& [id, changes] : gossip_.spread(list()))
    send(*by_id_.at(id), std::move(changes));
  if (list().epoch() == published_)
    return;
  published_ = list().epoch();
  task_addresses now;
  for (const auto& [task, one] : list().members())
    if (one.holds_number())
      now.tasks.emplace(task, one.address);
  host_.learn(std::move(now));
  if (decides_ || options_.address.empty())
    return;
  const auto* own = list().find(self_);
  if (own && own->incarnation > incarnation_ && own->holds_number())
    return host_.fail(failure(error_kind::failed_precondition, self_, " with the incarnation ",
                              incarnation_, " has been replaced by ", own->incarnation, " at ",
                              own->address, ": end the old process"));
  if (!own || own->incarnation != incarnation_ || own->state != presence::here)
    for (auto& [via, one] : peers_)
      if (one.is_first)
        claim_own(one);
}

} // namespace troupe
