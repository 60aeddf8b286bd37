#include "troupe/actors/membership/joined_cluster.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/config/address_text.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr size_t max_address = 512;
constexpr size_t most_probes = 16; // at once
// Two ticks that are further apart: this process, or its machine, stood still meanwhile.
constexpr std::chrono::milliseconds longest_pause{2'000}, call_every{5'000};

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
    : options_(std::move(options)), self_(self), incarnation_(incarnation), host_(std::move(host)),
      succession_(self_, incarnation_, options_.succession, host_.now()), ticked_(host_.now()) {
  if (!options_.coordinates())
    return;
  decides_.emplace(self_, incarnation_, options_.address, options_.times, host_.now());
  decides_->reserve(options_.seeds.front());
  was_elected_ = !options_.is_first();
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
  if (made.task && made.task == copy_.coordinator())
    claim_own(made);
  publish();
}

void joined_cluster::reached_first(const connection_ptr& via) {
  auto it = peers_.find(via.get());
  if (it == peers_.end() || !it->second.task || options_.is_first())
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
  if (what.orderly && one.task && one.task == copy_.coordinator())
    succession_.left(copy_.epoch().term);
  // It does not let this process in again: its number is another's.
  if (is_coordinator(one) && !decides_ && !options_.address.empty() &&
      what.why.kind() == error_kind::failed_precondition)
    return host_.fail(what.why);
  publish();
}

void joined_cluster::send(const peer& to, message what) {
  caf::anon_send(to.exchange, outgoing{std::move(what)});
}

// The first seed counts also where another decides now: it may be back, and about to.
bool joined_cluster::is_coordinator(const peer& which) const {
  return which.is_first || (which.task && which.task == copy_.coordinator());
}

// What follows it at the first address decides as well, elsewhere it does not.
bool joined_cluster::hears_coordinator() const {
  const auto* known = copy_.find(copy_.coordinator());
  return known && std::ranges::any_of(peers_, [&](const auto& entry) {
           const auto& one = entry.second;
           return one.task == known->task && (one.incarnation == known->incarnation ||
                                              known->address == options_.seeds.front());
         });
}

// A task says to the coordinator who it is, whenever it reaches it, or the list says otherwise.
void joined_cluster::claim_own(const peer& to) {
  if (options_.address.empty() || decides_)
    return;
  send(to, number_claim{self_.job, self_.task, incarnation_, options_.address, true});
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
  else if (const auto* probe = std::get_if<probe_request>(&what.content))
    take_probe(it->second, *probe);
  else if (const auto* answer = std::get_if<probe_answer>(&what.content))
    take_answer(it->second, *answer);
  else if (const auto* asked = std::get_if<vote_request>(&what.content))
    take_vote_request(it->second, *asked);
  else if (const auto* given = std::get_if<vote>(&what.content))
    take_vote(it->second, *given);
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
    TROUPE_REACHED("a member of a former life of the coordinator calls late");
    if (!from.task) { // what a client knows is not asked for
      gossip_.note(from.id, {});
      return publish();
    }
    if (speaks()) // else it was asked already
      send(from, list_gossip::greeting(list(), true));
    return;
  }
  gossip_.note(from.id, what.epoch);
  if (former) {
    member_list heard;
    if (heard.take(what) == member_list::taken::gap) { // changes to what was not heard
      send(from, list_gossip::greeting(list(), true));
      return publish();
    }
    auto later = heard.epoch().term > list().epoch().term;
    if (later && (was_elected_ || decides_->settled(host_.now())))
      return step_down(what);
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
    made = refer(what);
  send(from, std::move(made));
  publish();
}

// Another task gives out numbers.
number_grant joined_cluster::refer(const number_claim& what) const {
  const auto* other = copy_.find(copy_.coordinator());
  number_grant made;
  // Whose process ended, and who follows it at its address.
  if (other && other->address == what.address && other->task.job == what.job && !what.holds &&
      !hears_coordinator())
    return {.outcome = {},
            .task = other->task,
            .incarnation = std::max(what.incarnation, other->incarnation + 1),
            .ask = what.address};
  made.ask = other ? other->address : "";
  made.outcome =
      failure(error_kind::unavailable, self_, " at ", options_.address, " gives out no numbers; ",
              other ? concat(other->task, " at ", other->address, " does, and ",
                             hears_coordinator() ? "is heard" : "is not heard")
                    : concat("the task at ", options_.seeds.front(), " does"));
  return made;
}

// Only who is asked has an answer.
void joined_cluster::take_grant(const peer& from, const number_grant& what) {
  if (!is_coordinator(from) || decides_ || options_.address.empty() ||
      what.outcome.kind() == error_kind::unavailable)
    return; // it is said again with the next list
  if (!what.outcome)
    return host_.fail(what.outcome);
  if (what.task != self_ || what.incarnation != incarnation_)
    host_.fail(failure(error_kind::failed_precondition, self_, " with the incarnation ",
                       incarnation_, " has been replaced by ", what.incarnation,
                       ": end the old process"));
}

// A coordinator asks about a member. What this process did not reach while it was late itself says
// nothing of the other.
void joined_cluster::take_probe(peer& from, const probe_request& what) {
  const auto* one = list().find(what.task);
  if (!from.task || !one || one->incarnation != what.incarnation || probing_ == most_probes ||
      TROUPE_BUGGIFY("a member has no time for a probe"))
    return;
  ++probing_;
  host_.reach(
      what.task, [this, what, exchange = from.exchange, began = host_.now()](uint64_t incarnation) {
        --probing_;
        auto reached = incarnation == what.incarnation;
        auto late = host_.now() - ticked_ > longest_pause || late_at_ >= began;
        if (reached || !late)
          caf::anon_send(exchange, outgoing{probe_answer{what.task, what.incarnation, reached}});
      });
}

void joined_cluster::take_answer(const peer& from, const probe_answer& what) {
  if (!decides_ || !from.task)
    return;
  decides_->hear(what, host_.now());
  publish();
}

void joined_cluster::ask_others() {
  for (const auto& probe : decides_->probes(host_.now()))
    send_to(probe.by, probe.about);
}

// Members that have no connection here may not know yet who decides now.
void joined_cluster::call_others() {
  if (host_.now() - called_ < call_every)
    return;
  called_ = host_.now();
  // In turn, from the one behind the last that was called: there may be more than are called at
  // once.
  auto all = decides_->unreachable();
  std::ranges::rotate(all, std::ranges::upper_bound(all, last_called_));
  for (const auto& task : all) {
    if (probing_ == most_probes)
      return;
    ++probing_;
    last_called_ = task;
    host_.reach(task, [this](uint64_t) { --probing_; });
  }
}

void joined_cluster::send_to(const task_name& task, const message& what) {
  for (const auto& [id, one] : by_id_)
    if (one->task == task)
      return send(*one, what);
}

void joined_cluster::tell(std::string_view event, std::string text) const {
  if (host_.tell)
    host_.tell(event, std::move(text));
}

// -- another coordinator when one is gone --------------------------------------------------------

void joined_cluster::stand() {
  if (decides_ || options_.address.empty())
    return;
  auto hears = hears_coordinator();
  auto asks = succession_.tick(copy_, hears, host_.now());
  if (options_.is_first() && succession_.is_left_alone(host_.now())) {
    tell("coordinator_returned", concat(self_, ", the first seed, gives out numbers again: ",
                                        copy_.coordinator(), " is not heard"));
    return begin_term();
  }
  if (std::exchange(told_of_silence_, told_of_silence_ && !hears) && hears)
    tell("coordinator_heard", concat(copy_.coordinator(), " is heard again"));
  if (!asks)
    return;
  TROUPE_REACHED("a member asks for votes");
  if (!std::exchange(told_of_silence_, true)) {
    auto votes = succession_.standing(copy_);
    tell("coordinator_silent",
         concat(copy_.coordinator(), " is not heard: ", self_, " asks ", votes->needs,
                " members, itself included, to let it give out numbers"));
  }
  if (auto term = succession_.elected(copy_))
    return decide(term);
  for (const auto& [task, one] : copy_.members())
    if (one.holds_number() && task != self_ && task != copy_.coordinator())
      host_.reach(task, [this, task, what = *asks](uint64_t incarnation) {
        if (incarnation != 0)
          send_to(task, what);
      });
}

void joined_cluster::take_vote_request(const peer& from, const vote_request& what) {
  if (!from.task || options_.address.empty())
    return;
  if (decides_ || hears_coordinator())
    return send(from, vote{list().epoch().term, false});
  send(from, succession_.answer(what, *from.task, from.incarnation, copy_, host_.now()));
}

void joined_cluster::take_vote(const peer& from, const vote& what) {
  if (decides_ || !from.task || options_.address.empty())
    return;
  succession_.count(what, *from.task, from.incarnation, copy_);
  if (auto term = succession_.elected(copy_))
    decide(term);
}

void joined_cluster::decide(uint64_t term) {
  TROUPE_REACHED("a member takes the place of the coordinator");
  auto left = succession_.coordinator_left(copy_);
  tell("coordinator_elected", concat(self_, " gives out numbers in the place of ",
                                     copy_.coordinator(), left ? ", which has left" : ""));
  decides_.emplace(self_, copy_, term, left, options_.times, host_.now());
  decides_->reserve(options_.seeds.front());
  was_elected_ = true;
  introduce();
}

// The list names the process that was at this address before as the one that decides.
bool joined_cluster::names_itself() const {
  const auto* own = copy_.find(self_);
  return own && copy_.coordinator() == self_ && own->address == options_.address;
}

// Whoever gave this process its number had not heard that the one before it was elected.
void joined_cluster::follow() {
  tell("coordinator_followed",
       concat(self_, " gives out numbers as ", self_, " did at ", options_.address, " before it"));
  begin_term();
}

// As a process does that has just started, with what it knows.
void joined_cluster::begin_term() {
  auto former = std::exchange(copy_, {});
  decides_.emplace(self_, incarnation_, options_.address, options_.times, host_.now());
  decides_->reserve(options_.seeds.front());
  was_elected_ = !options_.is_first();
  if (auto well = decides_->hear(former, host_.now()); !well)
    return host_.fail(std::move(well));
  introduce();
}

// All who are connected say what they know beyond the list here.
void joined_cluster::introduce() {
  for (const auto& [id, one] : by_id_) {
    if (one->task)
      decides_->connected(*one->task, one->incarnation);
    send(*one, list_gossip::greeting(list(), true));
  }
}

// Another one decides since: that this process was cut off, or the first seed is back.
void joined_cluster::step_down(const member_changes& later) {
  TROUPE_REACHED("a coordinator steps down");
  decides_.reset();
  was_elected_ = false;
  copy_ = {};
  copy_.take(later);
  tell("coordinator_replaced", concat(copy_.coordinator(), " gives out numbers since"));
  publish();
}

// Who is said to be gone, and has a connection here, is not.
void joined_cluster::object() {
  for (const auto& [id, one] : by_id_) {
    const auto* member = one->task ? copy_.find(*one->task) : nullptr;
    if (member && member->state == presence::gone && member->incarnation == one->incarnation)
      for (const auto& [other, to] : by_id_)
        if (is_coordinator(*to))
          send(*to, probe_answer{*one->task, one->incarnation, true});
  }
}

void joined_cluster::tick() {
  auto now = host_.now();
  if (now - ticked_ > longest_pause)
    late_at_ = now;
  ticked_ = now;
  if (decides_) {
    decides_->tick(now);
    ask_others();
    call_others();
  }
  if (decides_ || !names_itself())
    named_since_ = now;
  else if (now - named_since_ >= options_.times.settle)
    follow();
  stand();
  publish();
}

void joined_cluster::publish() {
  if (!speaks() || TROUPE_BUGGIFY_ORDER("news of members waits for the next moment"))
    return;
  for (auto& [id, changes] : gossip_.spread(list()))
    send(*by_id_.at(id), std::move(changes));
  if (list().epoch() == published_)
    return;
  tell_of_members();
  published_ = list().epoch();
  if (host_.show)
    host_.show(list());
  task_addresses now;
  for (const auto& [task, one] : list().members())
    if (one.holds_number())
      now.tasks.emplace(task, one.address);
  host_.learn(std::move(now));
  if (!decides_)
    object();
  if (!options_.address.empty())
    look_for_oneself();
}

// Who is there since the list that was published last.
void joined_cluster::tell_of_members() const {
  if (!host_.expect)
    return;
  auto other_term = list().epoch().term != published_.term;
  for (const auto& [task, one] : list().members())
    if (one.state == presence::here && (other_term || one.changed > published_.change))
      host_.expect(one.address);
}

// What the list says of this task.
void joined_cluster::look_for_oneself() {
  const auto* own = list().find(self_);
  if (own && own->incarnation > incarnation_ && own->holds_number())
    return host_.fail(failure(error_kind::failed_precondition, self_, " with the incarnation ",
                              incarnation_, " has been replaced by ", own->incarnation, " at ",
                              own->address, ": end the old process"));
  if (decides_)
    return;
  if (names_itself())
    return; // who decides now may not have been heard yet
  if (const auto* other = list().find(list().coordinator()); other && host_.keep)
    host_.keep(other->address);
  if (!own || own->incarnation != incarnation_ || own->state != presence::here)
    for (const auto& [id, one] : by_id_)
      if (is_coordinator(*one))
        claim_own(*one);
}

} // namespace troupe
