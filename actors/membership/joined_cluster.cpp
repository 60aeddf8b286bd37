#include "troupe/actors/membership/joined_cluster.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/config/address_text.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr size_t max_address = 512;
constexpr size_t max_pending_lookups = 16; // concurrent calls of join_host::find_incarnation
// If two ticks are further apart, this process or its machine was suspended.
constexpr std::chrono::milliseconds longest_pause{2'000}, call_every{5'000};

status check(const number_claim& claim) {
  if (!is_job_name(claim.job) || claim.task < -1 || claim.address.size() > max_address ||
      !is_address(claim.address))
    return invalid("'", claim.job.substr(0, max_address), "' at '",
                   claim.address.substr(0, max_address), "' is not a valid task and address");
  return {};
}

bool is_valid(const member_changes& changes) {
  return std::ranges::all_of(changes.members, [](const auto& member) {
    return is_job_name(member.task.job) && member.address.size() <= max_address &&
           is_address(member.address);
  });
}

} // namespace

joined_cluster::joined_cluster(join_options options, const task_name& self, uint64_t incarnation,
                               join_host host)
    : options_(std::move(options)), self_(self), incarnation_(incarnation), host_(std::move(host)),
      succession_(self_, incarnation_, options_.succession, host_.now()), last_tick_(host_.now()) {
  if (!options_.coordinates())
    return;
  coordinator_.emplace(self_, incarnation_, options_.address, options_.times, host_.now());
  coordinator_->reserve(options_.seeds.front());
  was_elected_ = !options_.is_first();
}

bool joined_cluster::shares_list() const {
  return !coordinator_ || coordinator_->settled(host_.now());
}

void joined_cluster::connected(const peer_ready& ready) {
  if (!ready.connection)
    return;
  auto exchange = caf::actor_cast<caf::actor>(ready.connection->exchange);
  if (!exchange || ready.connection->is_closed)
    return;
  auto& added = peers_[ready.connection.get()];
  added.id = next_peer_++;
  by_id_[added.id] = &added;
  added.exchange = std::move(exchange);
  added.incarnation = ready.peer_hello.incarnation;
  if (ready.peer_hello.role == "task")
    added.task = task_name{ready.peer_hello.job, ready.peer_hello.task};
  gossip_.connected(added.id);
  if (coordinator_ && added.task)
    coordinator_->connected(*added.task, added.incarnation);
  send(added, list_gossip::greeting(list(), !shares_list()));
  if (added.task && added.task == copy_.coordinator())
    claim_own(added);
  publish();
}

void joined_cluster::reached_first(const connection_ptr& connection) {
  auto entry = peers_.find(connection.get());
  if (entry == peers_.end() || !entry->second.task || options_.is_first())
    return;
  entry->second.is_first = true;
  claim_own(entry->second);
}

void joined_cluster::disconnected(const peer_gone& gone) {
  auto entry = peers_.find(gone.connection.get());
  if (entry == peers_.end())
    return;
  const auto lost = std::move(entry->second);
  peers_.erase(entry);
  gossip_.lost(lost.id);
  by_id_.erase(lost.id);
  if (coordinator_ && lost.task) {
    coordinator_->lost(*lost.task, lost.incarnation, host_.now());
    if (gone.orderly)
      coordinator_->left(*lost.task, lost.incarnation);
  }
  if (gone.orderly && lost.task && lost.task == copy_.coordinator())
    succession_.left(copy_.epoch().term);
  // The coordinator refuses this process: another process has its number.
  if (is_coordinator(lost) && !coordinator_ && !options_.address.empty() &&
      gone.reason.kind() == error_kind::failed_precondition)
    return host_.end_process(gone.reason);
  publish();
}

void joined_cluster::send(const peer& receiver, message content) {
  caf::anon_send(receiver.exchange, outgoing{std::move(content)});
}

// The first seed counts even while another task is the coordinator: it may have restarted, and may
// soon be the coordinator again.
bool joined_cluster::is_coordinator(const peer& other) const {
  return other.is_first || (other.task && other.task == copy_.coordinator());
}

// A new process at the first address is a coordinator as well; at another address it is not.
bool joined_cluster::reaches_coordinator() const {
  const auto* known = copy_.find(copy_.coordinator());
  return known && std::ranges::any_of(peers_, [&](const auto& entry) {
           const auto& other = entry.second;
           return other.task == known->task && (other.incarnation == known->incarnation ||
                                                known->address == options_.seeds.front());
         });
}

// A task claims its own number at the coordinator when it connects, and when the list differs.
void joined_cluster::claim_own(const peer& receiver) {
  if (options_.address.empty() || coordinator_)
    return;
  send(receiver, number_claim{self_.job, self_.task, incarnation_, options_.address, true});
}

bool joined_cluster::handle_message(const incoming& received) {
  auto from = peers_.find(received.owner.get());
  if (from == peers_.end())
    return false;
  if (const auto* changes = std::get_if<member_changes>(&received.content))
    take_changes(from->second, *changes);
  else if (const auto* claim = std::get_if<number_claim>(&received.content))
    take_claim(from->second, *claim);
  else if (const auto* grant = std::get_if<number_grant>(&received.content))
    take_grant(from->second, *grant);
  else if (const auto* probe = std::get_if<probe_request>(&received.content))
    take_probe(from->second, *probe);
  else if (const auto* answer = std::get_if<probe_answer>(&received.content))
    take_answer(from->second, *answer);
  else if (const auto* request = std::get_if<vote_request>(&received.content))
    take_vote_request(from->second, *request);
  else if (const auto* received_vote = std::get_if<vote>(&received.content))
    take_vote(from->second, *received_vote);
  else
    return false;
  return true;
}

// A client may send the epoch of its list. Only tasks may send changes.
void joined_cluster::take_changes(peer& from, const member_changes& changes) {
  if ((!from.task && !list_gossip::is_greeting(changes)) || !is_valid(changes))
    return;
  if (!coordinator_) {
    auto reply = gossip_.merge(from.id, changes, copy_);
    if (reply.answer)
      send(from, *std::move(reply.answer));
    return publish();
  }
  auto former = changes.epoch.term != 0 && changes.epoch.term != list().epoch().term;
  if (former && list_gossip::is_greeting(changes)) {
    TROUPE_REACHED("a member of a former life of the coordinator calls late");
    if (!from.task) { // clients are not asked for their lists
      gossip_.set_epoch(from.id, {});
      return publish();
    }
    if (shares_list()) // else greet_peers() has asked already
      send(from, list_gossip::greeting(list(), true));
    return;
  }
  gossip_.set_epoch(from.id, changes.epoch);
  if (former) {
    member_list heard;
    // The changes are based on a list that is not known here: ask for the complete list.
    if (heard.merge(changes) == member_list::merge_outcome::gap) {
      send(from, list_gossip::greeting(list(), true));
      return publish();
    }
    auto later = heard.epoch().term > list().epoch().term;
    if (later && (was_elected_ || coordinator_->settled(host_.now())))
      return step_down(changes);
    if (auto accepted = coordinator_->merge(heard, host_.now()); !accepted)
      return host_.end_process(std::move(accepted));
  }
  publish();
}

void joined_cluster::take_claim(peer& from, const number_claim& claim) {
  number_grant grant;
  if (auto valid = check(claim); !valid)
    grant.outcome = std::move(valid);
  else if (coordinator_)
    grant = coordinator_->claim(claim, host_.now());
  else
    grant = refer(claim);
  send(from, std::move(grant));
  publish();
}

// Refers a claim to the task that assigns numbers.
number_grant joined_cluster::refer(const number_claim& claim) const {
  const auto* coordinator = copy_.find(copy_.coordinator());
  number_grant grant;
  // The claim follows the ended process of the coordinator at its address.
  if (coordinator && coordinator->address == claim.address && coordinator->task.job == claim.job &&
      !claim.is_confirmed && !reaches_coordinator())
    return {.outcome = {},
            .task = coordinator->task,
            .incarnation = std::max(claim.incarnation, coordinator->incarnation + 1),
            .coordinator_address = claim.address};
  grant.coordinator_address = coordinator ? coordinator->address : "";
  grant.outcome =
      failure(error_kind::unavailable, self_, " at ", options_.address, " assigns no numbers; ",
              coordinator ? concat(coordinator->task, " at ", coordinator->address, " does, and ",
                                   reaches_coordinator() ? "is connected" : "is not connected")
                          : concat("the task at ", options_.seeds.front(), " does"));
  return grant;
}

// Only a coordinator has the right to answer a claim.
void joined_cluster::take_grant(const peer& from, const number_grant& grant) {
  if (!is_coordinator(from) || coordinator_ || options_.address.empty() ||
      grant.outcome.kind() == error_kind::unavailable)
    return; // the claim is repeated with the next list
  if (!grant.outcome)
    return host_.end_process(grant.outcome);
  if (grant.task != self_ || grant.incarnation != incarnation_)
    host_.end_process(failure(error_kind::failed_precondition, self_, " with the incarnation ",
                              incarnation_, " has been replaced by ", grant.incarnation,
                              ": end the old process"));
}

// A coordinator asks whether this task reaches a member. If this process was suspended meanwhile,
// a failure to reach the member proves nothing.
void joined_cluster::take_probe(peer& from, const probe_request& request) {
  const auto* member = list().find(request.task);
  if (!from.task || !member || member->incarnation != request.incarnation ||
      pending_lookups_ == max_pending_lookups || TROUPE_BUGGIFY("a member has no time for a probe"))
    return;
  ++pending_lookups_;
  host_.find_incarnation(request.task, [this, request, exchange = from.exchange,
                                        began = host_.now()](uint64_t incarnation) {
    --pending_lookups_;
    auto reached = incarnation == request.incarnation;
    auto was_suspended = host_.now() - last_tick_ > longest_pause || resumed_at_ >= began;
    if (reached || !was_suspended)
      caf::anon_send(exchange, outgoing{probe_answer{request.task, request.incarnation, reached}});
  });
}

void joined_cluster::take_answer(const peer& from, const probe_answer& answer) {
  if (!coordinator_ || !from.task)
    return;
  coordinator_->record(answer, host_.now());
  publish();
}

void joined_cluster::send_probes() {
  for (const auto& probe : coordinator_->probes(host_.now()))
    send_to(probe.prober, probe.subject);
}

// Connects to members without a connection here, which may not know the new coordinator yet.
void joined_cluster::call_unreachable() {
  if (host_.now() - last_call_ < call_every)
    return;
  last_call_ = host_.now();
  // Continues after the last called task, because not all may be called at the same time.
  auto tasks = coordinator_->unreachable();
  std::ranges::rotate(tasks, std::ranges::upper_bound(tasks, last_called_));
  for (const auto& task : tasks) {
    if (pending_lookups_ == max_pending_lookups)
      return;
    ++pending_lookups_;
    last_called_ = task;
    host_.find_incarnation(task, [this](uint64_t) { --pending_lookups_; });
  }
}

void joined_cluster::send_to(const task_name& task, const message& content) {
  for (const auto& [id, other] : by_id_)
    if (other->task == task)
      return send(*other, content);
}

void joined_cluster::log(std::string_view event, std::string text) const {
  if (host_.log)
    host_.log(event, std::move(text));
}

// -- election of another coordinator -------------------------------------------------------------

void joined_cluster::check_election() {
  if (coordinator_ || options_.address.empty())
    return;
  auto hears = reaches_coordinator();
  auto request = succession_.tick(copy_, hears, host_.now());
  if (options_.is_first() && succession_.is_isolated(host_.now())) {
    log("coordinator_returned", concat(self_, ", the first seed, assigns numbers again: ",
                                       copy_.coordinator(), " is not connected"));
    return begin_term();
  }
  if (std::exchange(reported_silence_, reported_silence_ && !hears) && hears)
    log("coordinator_reconnected", concat(copy_.coordinator(), " is connected again"));
  if (!request)
    return;
  TROUPE_REACHED("a member asks for votes");
  if (!std::exchange(reported_silence_, true)) {
    auto votes = succession_.vote_count(copy_);
    log("coordinator_unreachable",
        concat(copy_.coordinator(), " is not connected: ", self_, " requests the votes of ",
               votes->needs, " members, itself included, to assign numbers in its place"));
  }
  if (auto term = succession_.elected(copy_))
    return become_elected(term);
  for (const auto& [task, member] : copy_.members())
    if (member.holds_number() && task != self_ && task != copy_.coordinator())
      host_.find_incarnation(task, [this, task, to_send = *request](uint64_t incarnation) {
        if (incarnation != 0)
          send_to(task, to_send);
      });
}

void joined_cluster::take_vote_request(const peer& from, const vote_request& request) {
  if (!from.task || options_.address.empty())
    return;
  if (coordinator_ || reaches_coordinator())
    return send(from, vote{list().epoch().term, false});
  send(from, succession_.answer(request, *from.task, from.incarnation, copy_, host_.now()));
}

void joined_cluster::take_vote(const peer& from, const vote& received) {
  if (coordinator_ || !from.task || options_.address.empty())
    return;
  succession_.count(received, *from.task, from.incarnation, copy_);
  if (auto term = succession_.elected(copy_))
    become_elected(term);
}

void joined_cluster::become_elected(uint64_t term) {
  TROUPE_REACHED("a member takes the place of the coordinator");
  auto left = succession_.coordinator_left(copy_);
  log("coordinator_elected", concat(self_, " assigns numbers in the place of ", copy_.coordinator(),
                                    left ? ", which has left" : ""));
  coordinator_.emplace(self_, copy_, term, left, options_.times, host_.now());
  coordinator_->reserve(options_.seeds.front());
  was_elected_ = true;
  greet_peers();
}

// Returns whether the list names the former process at this address as the coordinator.
bool joined_cluster::lists_predecessor() const {
  const auto* own_entry = copy_.find(self_);
  return own_entry && copy_.coordinator() == self_ && own_entry->address == options_.address;
}

// The task that gave this process its number did not know that the former process was elected.
void joined_cluster::follow_predecessor() {
  log("coordinator_followed", concat(self_, " assigns numbers, as the former process of ", self_,
                                     " did at ", options_.address));
  begin_term();
}

// Becomes the coordinator as a process that has just started does, with the list that it knows.
void joined_cluster::begin_term() {
  auto former = std::exchange(copy_, {});
  coordinator_.emplace(self_, incarnation_, options_.address, options_.times, host_.now());
  coordinator_->reserve(options_.seeds.front());
  was_elected_ = !options_.is_first();
  if (auto accepted = coordinator_->merge(former, host_.now()); !accepted)
    return host_.end_process(std::move(accepted));
  greet_peers();
}

// Asks all connected peers for members that the list does not have.
void joined_cluster::greet_peers() {
  for (const auto& [id, other] : by_id_) {
    if (other->task)
      coordinator_->connected(*other->task, other->incarnation);
    send(*other, list_gossip::greeting(list(), true));
  }
}

// Another task coordinates in a later term: this process was cut off, or the first seed is back.
void joined_cluster::step_down(const member_changes& later) {
  TROUPE_REACHED("a coordinator steps down");
  coordinator_.reset();
  was_elected_ = false;
  copy_ = {};
  copy_.merge(later);
  log("coordinator_replaced", concat(copy_.coordinator(), " assigns numbers now"));
  publish();
}

// Reports to the coordinators each member that the list counts as gone but that is connected here.
void joined_cluster::contradict_losses() {
  for (const auto& [id, other] : by_id_) {
    const auto* member = other->task ? copy_.find(*other->task) : nullptr;
    if (member && member->state == presence::gone && member->incarnation == other->incarnation)
      for (const auto& [coordinator_id, coordinator] : by_id_)
        if (is_coordinator(*coordinator))
          send(*coordinator, probe_answer{*other->task, other->incarnation, true});
  }
}

void joined_cluster::tick() {
  auto now = host_.now();
  if (now - last_tick_ > longest_pause)
    resumed_at_ = now;
  last_tick_ = now;
  if (coordinator_) {
    coordinator_->tick(now);
    send_probes();
    call_unreachable();
  }
  if (coordinator_ || !lists_predecessor())
    predecessor_named_since_ = now;
  else if (now - predecessor_named_since_ >= options_.times.settle)
    follow_predecessor();
  check_election();
  publish();
}

void joined_cluster::publish() {
  if (!shares_list() || TROUPE_BUGGIFY_ORDER("news of members waits for the next moment"))
    return;
  for (auto& [id, changes] : gossip_.take_messages(list()))
    send(*by_id_.at(id), std::move(changes));
  if (list().epoch() == published_)
    return;
  expect_members();
  published_ = list().epoch();
  if (host_.show_list)
    host_.show_list(list());
  task_addresses addresses;
  for (const auto& [task, member] : list().members())
    if (member.holds_number())
      addresses.tasks.emplace(task, member.address);
  host_.set_tasks(std::move(addresses));
  if (!coordinator_)
    contradict_losses();
  if (!options_.address.empty())
    check_own_entry();
}

// Reports the members that have become reachable since the last published list.
void joined_cluster::expect_members() const {
  if (!host_.expect_member)
    return;
  auto other_term = list().epoch().term != published_.term;
  for (const auto& [task, member] : list().members())
    if (member.state == presence::here && (other_term || member.changed > published_.change))
      host_.expect_member(member.address);
}

// Compares the list's entry of this task with this process.
void joined_cluster::check_own_entry() {
  const auto* own_entry = list().find(self_);
  if (own_entry && own_entry->incarnation > incarnation_ && own_entry->holds_number())
    return host_.end_process(failure(error_kind::failed_precondition, self_,
                                     " with the incarnation ", incarnation_,
                                     " has been replaced by ", own_entry->incarnation, " at ",
                                     own_entry->address, ": end the old process"));
  if (coordinator_)
    return;
  if (lists_predecessor())
    return; // the new coordinator may not be known yet
  if (const auto* known = list().find(list().coordinator()); known && host_.keep_connection)
    host_.keep_connection(known->address);
  if (!own_entry || own_entry->incarnation != incarnation_ || own_entry->state != presence::here)
    for (const auto& [id, other] : by_id_)
      if (is_coordinator(*other))
        claim_own(*other);
}

} // namespace troupe
