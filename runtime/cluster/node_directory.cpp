#include "troupe/runtime/cluster/node_directory.hpp"

#include "troupe/runtime/cluster/directory_calls.hpp"
#include "troupe/runtime/cluster/directory_link.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {

struct node_directory::state {
  state(directory_options settings, time_point now)
      : options(std::move(settings)), own{options.process, options.first_version, options.nodes},
        nodes(options.nodes), table(options.limits), claims(options.process, options.limits),
        calls(options.named, options.process, options.limits), told_at(now), last_tick(now) {
    assert(options.process != 0);
    [[maybe_unused]] auto listed = table.put(own_directory_link, own, true);
    assert(listed.ok());
  }

  // -- messages

  void introduce(link at, const directory_hello& hello, time_point now) {
    auto& to = links.at(at);
    auto process = hello.own.process;
    if (process == own.process) { // two ends of one connection
      for (const auto& address : to.called_addresses)
        calls.reached_self(address);
      next.close.push_back(at);
      return end_link(at, {}, false, now);
    }
    if (auto valid = check(to, hello); !valid)
      return refuse(at, valid, now);
    if (auto valid = table.put(at, hello.own, true); !valid)
      return refuse(at, valid, now);
    if (to.role)
      return; // repeated
    links.introduce(to, hello.role, process);
    for (const auto& address : to.called_addresses)
      calls.reached(address, process);
    restart(to);
    links.touch(process); // there is a link to it
  }

  // Fails for a process that may have no link to this one.
  status check(const directory_link& at, const directory_hello& hello) const {
    if (hello.cluster != options.cluster)
      return failure(error_kind::failed_precondition, "the node is of the cluster '",
                     hello.cluster.substr(0, 256), "', not '", options.cluster, "'");
    if (hello.role == directory_role::guest &&
        (options.role == directory_role::guest || !hello.own.nodes.empty()))
      return invalid("a guest has links to nodes only, and no address of its own");
    if (at.role)
      return at.process == hello.own.process && *at.role == hello.role
                 ? status{}
                 : invalid("the process on a link has changed");
    if (links.count_to(hello.own.process) == 2)
      return failure(error_kind::unavailable, "the process has two links already");
    const auto& limits = options.limits;
    std::set<uint64_t> nodes, guests;
    for (const auto& [id, other] : links)
      if (other.role && other.process != hello.own.process)
        (*other.role == directory_role::node ? nodes : guests).insert(other.process);
    if (hello.role == directory_role::node && nodes.size() + 1 >= limits.nodes)
      return failure(error_kind::resource_exhausted, "the cluster has ", limits.nodes,
                     " nodes, which is the limit");
    if (hello.role == directory_role::node)
      return {};
    return guests.size() < limits.guests ? status{}
                                         : failure(error_kind::resource_exhausted, "the node has ",
                                                   limits.guests, " guests, which is the limit");
  }

  void merge(link from, directory_list& list, time_point now) {
    auto& at = links.at(from);
    if (!at.role)
      return at.input.request_again(); // its hello was lost
    if (!at.input.accept(list, list.is_complete ? table.listed_by(from) : std::set<uint64_t>{}))
      return;
    auto unlisted = at.input.take_unlisted(list);
    unlisted.insert(list.lost.begin(), list.lost.end());
    unlisted.insert(list.left.begin(), list.left.end());
    unlisted.erase(at.process); // only it can say so
    for (auto process : unlisted)
      table.drop(process, from, now);
    for (auto process : list.left)
      if (process != own.process && links.count_to(process) == 0 &&
          *at.role == directory_role::node)
        table.leave(process, now);
    auto is_guest = *at.role == directory_role::guest;
    auto process_of_peer = at.process;
    const std::set<uint64_t> lost{list.lost.begin(), list.lost.end()};
    for (auto& row : list.rows) {
      auto is_own = row.process == process_of_peer;
      if (row.process == own.process)
        continue;
      if (is_guest && (!is_own || !row.nodes.empty()))
        return refuse(from, invalid("a guest lists other processes, or an address of its own"),
                      now);
      if (lost.contains(row.process) && !is_own)
        table.note_former(row, now);
      else if (auto valid = table.put(from, std::move(row), is_own); !valid)
        return refuse(from, valid, now);
    }
  }

  void restart(directory_link& to) const {
    auto processes =
        options.role == directory_role::node ? table.processes() : std::set<uint64_t>{own.process};
    processes.erase(to.process);
    to.output.restart(std::move(processes));
  }

  directory_hello hello() const { return {options.role, options.cluster, own}; }

  // -- ends of links

  void refuse(link from, const status& why, time_point now) {
    next.send.emplace_back(from, directory_refusal{why});
    next.close.push_back(from);
    end_link(from, why, true, now);
  }

  // `lasting`: an early repetition of the call is useless.
  void end_link(link ended, const status& why, bool lasting, time_point now) {
    auto former = links.take(ended);
    table.drop_link(ended, now);
    for (const auto& address : former.called_addresses)
      calls.failed(address, why, lasting, !links.peers().empty(), now);
    if (!former.role)
      return;
    links.touch(former.process); // there may be no link to it any longer
    if (links.count_to(former.process) == 0)
      calls.lost(former.process, why, lasting, !links.peers().empty(), now);
  }

  // The process at the other end has said that it ends.
  void end_peer(link from, time_point now) {
    static const auto reason = failure(error_kind::unavailable, "the node has ended");
    auto is_known = links.at(from).role.has_value();
    auto process = links.at(from).process;
    std::vector<link> ended;
    for (const auto& [id, other] : links)
      if (id == from || (is_known && other.role && other.process == process))
        ended.push_back(id);
    for (auto id : ended) {
      next.close.push_back(id);
      end_link(id, reason, false, now);
    }
    if (is_known)
      table.leave(process, now);
  }

  // -- questions

  // A process is listed to nodes by those that have a link to it; to guests, by all.
  bool is_listed_to(const directory_link& to, uint64_t process) const {
    if (process == own.process)
      return true;
    if (options.role == directory_role::guest)
      return false;
    return to.role == directory_role::guest ? table.is_listed(process)
                                            : links.count_to(process) > 0;
  }

  // -- actions

  // The nodes of a cluster call the addresses that its texts name. A node at such an address that
  // has not heard of them by then is the first one.
  void update_informed(time_point now) {
    auto is_told = links.are_informed();
    if (is_told)
      told_at = now;
    auto is_first =
        options.role == directory_role::node &&
        (!calls.names_others() || (calls.names_self() && now >= told_at + options.limits.keep));
    auto was_informed = std::exchange(informed, is_told || is_first);
    if (informed != was_informed)
      links.touch(own.process); // the next list tells others
  }

  void update_own_row(time_point now) {
    auto decisions = claims.review(table, informed, options.role == directory_role::node, now);
    std::ranges::move(decisions.decided, std::back_inserter(next.decided));
    std::ranges::move(decisions.replaced, std::back_inserter(next.replaced));
    auto tasks = claims.tasks();
    if (tasks == own.tasks && nodes == own.nodes)
      return;
    own.tasks = std::move(tasks);
    own.nodes = nodes;
    ++own.version;
    [[maybe_unused]] auto listed = table.put(own_directory_link, own, true);
    assert(listed.ok());
  }

  void send_lists(time_point now) {
    for (auto& [id, to] : links) {
      if (to.input.take_again(now))
        next.send.emplace_back(id, directory_again{});
      if (!to.role)
        continue;
      auto list = to.output.next_list(
          table, [&](uint64_t process) { return is_listed_to(to, process); }, now);
      if (!list)
        continue;
      list->is_informed = informed;
      next.send.emplace_back(id, *std::move(list));
    }
  }

  effects finish(time_point now) {
    update_informed(now);
    update_own_row(now);
    for (auto process : table.take_changed_rows()) {
      links.touch(process);
      const auto* row = table.find(process);
      if (!row)
        calls.forget(process, table.has_left(process), now);
      else if (process != own.process && !row->nodes.empty() && table.is_listed(process))
        calls.learn(process, row->nodes, now);
    }
    send_lists(now);
    next.dial = calls.take_due(now, links.room(options.role, options.limits),
                               [&](uint64_t process) { return links.count_to(process) > 0; });
    next.changed = table.take_changed_view();
    return std::exchange(next, {});
  }

  const directory_options options;
  directory_row own;
  std::vector<std::string> nodes; // of the next version of the own row
  directory_table table;
  directory_claims claims;
  directory_calls calls;
  directory_links links;
  bool informed = false; // the table has the tasks of the cluster
  time_point told_at;    // when another node was informed last
  time_point last_tick;
  effects next;
};

node_directory::node_directory(directory_options options, time_point now)
    : state_(std::make_unique<state>(std::move(options), now)) {}
node_directory::node_directory(node_directory&&) noexcept = default;
node_directory& node_directory::operator=(node_directory&&) noexcept = default;
node_directory::~node_directory() = default;

node_directory::effects node_directory::connected(link at, const std::string& dialed,
                                                  time_point now) {
  assert(at != own_directory_link);
  auto [entry, is_new] = state_->links.try_emplace(at, state_->options.limits, now);
  auto& added = entry->second;
  if (!dialed.empty() &&
      std::ranges::find(added.called_addresses, dialed) == added.called_addresses.end()) {
    added.called_addresses.push_back(dialed);
    if (added.role)
      state_->calls.reached(dialed, added.process);
  }
  const auto& limits = state_->options.limits;
  if (is_new && state_->links.size() > 2 * (limits.nodes + limits.guests)) {
    state_->refuse(at,
                   failure(error_kind::resource_exhausted, "the node has ",
                           state_->links.size() - 1, " links, which is the limit"),
                   now);
    return state_->finish(now);
  }
  if (is_new)
    state_->next.send.emplace_back(at, state_->hello());
  return state_->finish(now);
}

node_directory::effects node_directory::failed(const std::string& dialed, const status& why,
                                               time_point now) {
  state_->calls.failed(dialed, why, false, !state_->links.peers().empty(), now);
  return state_->finish(now);
}

node_directory::effects node_directory::reached_self(const std::string& dialed, time_point now) {
  state_->calls.reached_self(dialed);
  return state_->finish(now);
}

node_directory::effects node_directory::lost(link at, time_point now) {
  if (state_->links.contains(at))
    state_->end_link(at, failure(error_kind::unavailable, "the connection was lost"), false, now);
  return state_->finish(now);
}

node_directory::effects node_directory::take(link from, directory_message&& message,
                                             time_point now) {
  auto entry = state_->links.find(from);
  if (entry == state_->links.end())
    return {};
  auto& at = entry->second;
  at.heard(now);
  if (auto* hello = std::get_if<directory_hello>(&message)) {
    state_->introduce(from, *hello, now);
  } else if (auto* list = std::get_if<directory_list>(&message)) {
    state_->merge(from, *list, now);
  } else if (const auto* beat = std::get_if<directory_beat>(&message)) {
    at.input.accept(*beat);
  } else if (std::holds_alternative<directory_again>(message)) {
    if (at.grant_again(now)) {
      state_->next.send.emplace_back(from, state_->hello());
      if (at.role)
        state_->restart(at);
    }
  } else if (std::holds_alternative<directory_leave>(message)) {
    state_->end_peer(from, now);
  } else {
    auto& refusal = std::get<directory_refusal>(message);
    state_->next.close.push_back(from);
    state_->end_link(from, std::move(refusal.reason).with_context("it has refused the link"), true,
                     now);
  }
  return state_->finish(now);
}

node_directory::effects node_directory::reject(link from, const status& why, time_point now) {
  if (state_->links.contains(from))
    state_->refuse(from, why, now);
  return state_->finish(now);
}

node_directory::effects node_directory::tick(time_point now) {
  auto& s = *state_;
  const auto& limits = s.options.limits;
  auto gap = now - std::exchange(s.last_tick, now);
  auto was_suspended = gap > 2 * limits.beat; // and could not hear others
  if (was_suspended) {
    s.table.postpone(gap);
    s.told_at = now;
  }
  std::vector<std::pair<link, status>> silent;
  for (auto& [id, to] : s.links) {
    if (gap >= limits.silent) // the others have closed their ends
      silent.emplace_back(id, failure(error_kind::unavailable, "this process was suspended"));
    else if (was_suspended)
      to.restart_times(now);
    else if (auto outcome = to.check_silence(now); !outcome)
      silent.emplace_back(id, std::move(outcome));
    else if (to.take_beat(now))
      s.next.send.emplace_back(
          id, to.role ? directory_message{directory_beat{to.output.sequence(), s.informed}}
                      : directory_message{s.hello()});
  }
  for (const auto& [id, why] : silent) {
    s.next.close.push_back(id);
    s.end_link(id, why, false, now);
  }
  s.table.expire(now);
  return s.finish(now);
}

std::chrono::milliseconds node_directory::tick_period(time_point now) const {
  const auto& limits = state_->options.limits;
  auto is_linked = [&](uint64_t process) { return state_->links.count_to(process) > 0; };
  auto room = state_->links.room(state_->options.role, limits);
  auto has_work = std::ranges::any_of(state_->links, [](const auto& entry) {
    return !entry.second.role || entry.second.output.has_unsent();
  });
  return has_work || state_->claims.has_pending() ||
                 state_->calls.is_busy(now + limits.beat, room, is_linked)
             ? limits.batch
             : limits.beat;
}

node_directory::effects node_directory::set_nodes(std::vector<std::string> nodes, time_point now) {
  state_->nodes = std::move(nodes);
  return state_->finish(now);
}

node_directory::effects node_directory::claim(claim_id id, const number_claim& request,
                                              time_point now) {
  state_->claims.add(id, request, now);
  return state_->finish(now);
}

node_directory::effects node_directory::withdraw(claim_id id, time_point now) {
  state_->claims.withdraw(id);
  return state_->finish(now);
}

node_directory::effects node_directory::leave() {
  effects last;
  for (const auto& [id, to] : std::exchange(state_->links, {})) {
    last.send.emplace_back(id, directory_leave{});
    last.close.push_back(id);
  }
  return last;
}

const std::map<task_name, directory_entry>& node_directory::view() const noexcept {
  return state_->table.tasks().entries();
}

bool node_directory::is_informed() const { return state_->informed; }

status node_directory::problem() const {
  if (!state_->links.peers().empty())
    return {};
  auto causes = state_->calls.problems();
  return failure(error_kind::unavailable, "no node of the cluster has answered",
                 causes.empty() ? "" : ": ", causes);
}

} // namespace troupe
