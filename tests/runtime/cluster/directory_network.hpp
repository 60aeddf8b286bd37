// Processes with directories, and the network between them, in virtual time.
#pragma once
#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/node_directory.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>

namespace troupe::test {

using directory_time = node_directory::time_point;

/// A process with one directory.
struct directory_process {
  uint64_t id = 0;
  std::string address; // at which it is called; empty for a guest
  std::unique_ptr<node_directory> directory;
  directory_time next_tick;
  std::map<uint64_t, number_grant> granted = {}; // by claim
  std::vector<status> refused = {};              // claims
  std::optional<directory_time> frozen_until = {};
  directory_time running_since = {};
};

/// How often the network misbehaves, of 1000 messages.
struct network_faults {
  int lost = 0, repeated = 0, late = 0;
  std::chrono::milliseconds longest_delay{50};
};

/// The connections between processes, and the messages on their way.
class directory_wire {
public:
  /// For one process: a message, or the end of a connection.
  struct event {
    uint64_t process = 0, link = 0;
    std::optional<directory_message> message = {};
    bool is_first = false; // the process has not heard of the connection before
  };

  directory_wire(uint32_t seed, network_faults faults) : faults(faults), dice(seed) {}

  size_t roll(size_t below) { return std::uniform_int_distribution<size_t>{0, below - 1}(dice); }
  std::chrono::milliseconds delay() {
    return std::chrono::milliseconds{1 + roll(static_cast<size_t>(faults.longest_delay.count()))};
  }

  /// Connects two processes, as CAF does: there is one connection between two actors.
  uint64_t open(uint64_t from, uint64_t to) {
    for (auto& other : connections_)
      if (!other->is_dead &&
          std::minmax(other->ends[0].process, other->ends[1].process) == std::minmax(from, to))
        return other->id;
    auto added = std::make_unique<connection>();
    added->id = ++last_id_;
    added->ends[0] = {.process = from, .is_known = true};
    added->ends[1].process = to;
    connections_.push_back(std::move(added));
    return last_id_;
  }
  void send(uint64_t from, uint64_t link, directory_message message, directory_time now) {
    auto* over = find(link);
    if (!over || over->is_dead || happens(faults.lost))
      return;
    auto& queue = over->other_end(from).incoming;
    auto at = now + delay();
    if (!queue.empty() && !happens(faults.late))
      at = std::max(at, queue.back().at);
    if (happens(faults.repeated))
      queue.push_back({at, message});
    queue.push_back({at, std::move(message)});
    std::ranges::stable_sort(queue, {}, &sent_message::at);
  }
  /// The messages that have left arrive before.
  void close(uint64_t from, uint64_t link, directory_time now) {
    auto* closed = find(link);
    if (!closed || closed->is_dead)
      return;
    closed->is_dead = true;
    auto& other = closed->other_end(from);
    other.closed_at = std::max(now + delay(), other.incoming.empty() ? directory_time{}
                                                                     : other.incoming.back().at);
  }
  /// A process has ended. If it has ended `silently`, no other process notices it.
  void end_process(uint64_t ended, bool silently, directory_time now) {
    for (auto& open : connections_)
      if (open->ends[0].process == ended || open->ends[1].process == ended) {
        close(ended, open->id, now);
        if (silently)
          open->other_end(ended).closed_at.reset();
      }
  }

  /// Returns the next event of a process that `receives`.
  template <class Receives>
  std::optional<event> take_event(Receives receives, directory_time now) {
    std::erase_if(connections_, [&](const auto& over) {
      return over->is_dead && !over->ends[0].closed_at && !over->ends[1].closed_at;
    });
    for (auto& over : connections_)
      for (auto& end : over->ends) {
        if (is_cut(over->ends[0].process, over->ends[1].process) || !receives(end.process))
          continue;
        if (!end.incoming.empty() && end.incoming.front().at <= now) {
          event next{end.process, over->id, std::move(end.incoming.front().content),
                     !std::exchange(end.is_known, true)};
          end.incoming.pop_front();
          return next;
        }
        if (end.closed_at && now >= *end.closed_at) {
          end.closed_at.reset();
          return event{end.process, over->id};
        }
      }
    return {};
  }

  /// The number of connections of a process.
  size_t count_of(uint64_t process) const {
    return static_cast<size_t>(std::ranges::count_if(connections_, [&](const auto& open) {
      return !open->is_dead &&
             (open->ends[0].process == process || open->ends[1].process == process);
    }));
  }
  bool is_cut(uint64_t one_end, uint64_t other_end) const {
    return cut.contains(std::minmax(one_end, other_end));
  }

  network_faults faults;
  std::mt19937_64 dice;
  std::set<std::pair<uint64_t, uint64_t>> cut; // pairs of processes, the lesser first

private:
  struct sent_message {
    directory_time at;
    directory_message content;
  };
  struct connection_end {
    uint64_t process = 0;
    std::deque<sent_message> incoming = {};
    std::optional<directory_time> closed_at = {}; // when it notices that the other end has closed
    bool is_known = false;                        // to the process
  };
  struct connection {
    connection_end& other_end(uint64_t process) { return ends[ends[0].process == process ? 1 : 0]; }
    uint64_t id = 0; // also the number of the link at both ends
    connection_end ends[2];
    bool is_dead = false; // one end has closed it
  };

  bool happens(int of_thousand) { return static_cast<int>(roll(1000)) < of_thousand; }
  connection* find(uint64_t id) {
    auto entry = std::ranges::find(connections_, id, [](const auto& c) { return c->id; });
    return entry == connections_.end() ? nullptr : entry->get();
  }

  uint64_t last_id_ = 0;
  std::vector<std::unique_ptr<connection>> connections_;
};

/// Processes in virtual time.
class directory_network {
public:
  directory_network(uint32_t seed, network_faults faults) : wire(seed, faults) {}

  directory_process& start(directory_options options, const std::string& address) {
    while (options.process == 0 || find(options.process))
      options.process = wire.dice() | 1;
    if (!address.empty())
      options.nodes = {address};
    auto process = std::make_unique<directory_process>();
    process->id = options.process;
    process->address = address;
    process->directory = std::make_unique<node_directory>(std::move(options), now);
    process->next_tick = process->running_since = now;
    processes.push_back(std::move(process));
    return *processes.back();
  }
  void claim(directory_process& by, const number_claim& request) {
    act(by, by.directory->claim(++last_claim_, request, now));
  }
  void kill(directory_process& ending, bool silently = false) {
    wire.end_process(ending.id, silently, now);
    died[ending.id] = now;
    std::erase_if(processes, [&](const auto& process) { return process.get() == &ending; });
  }
  void leave(directory_process& ending) {
    act(ending, ending.directory->leave());
    kill(ending);
  }
  void heal() {
    wire.cut.clear();
    wire.faults.lost = wire.faults.repeated = wire.faults.late = 0;
    for (auto& process : processes)
      if (process->frozen_until)
        process->frozen_until = now;
  }

  void run(std::chrono::milliseconds time) {
    for (auto end = now + time; now < end;) {
      now += std::chrono::milliseconds{10};
      for (auto& process : processes)
        if (process->frozen_until && now >= *process->frozen_until) {
          process->frozen_until.reset();
          process->running_since = now;
          process->next_tick = now;
        }
      answer_calls();
      deliver();
      for (auto& process : processes)
        if (!process->frozen_until && now >= process->next_tick) {
          process->next_tick = directory_time::max();
          act(*process, process->directory->tick(now));
        }
    }
  }

  directory_process* find(uint64_t id) {
    auto entry = std::ranges::find(processes, id, [](const auto& p) { return p->id; });
    return entry == processes.end() ? nullptr : entry->get();
  }

  directory_wire wire;
  directory_time now{std::chrono::hours{1}};
  std::vector<std::unique_ptr<directory_process>> processes;
  std::map<uint64_t, directory_time> died;
  size_t message_count = 0, replaced_count = 0;

private:
  struct call {
    uint64_t from = 0;
    std::string address;
    directory_time at;
  };

  void act(directory_process& process, node_directory::effects effects) {
    for (auto& [link, message] : effects.send)
      wire.send(process.id, link, std::move(message), now);
    message_count += effects.send.size();
    for (auto link : effects.close)
      wire.close(process.id, link, now);
    for (auto& address : effects.dial)
      calls_.push_back({process.id, std::move(address), now + wire.delay()});
    for (auto& [claim, grant] : effects.decided)
      if (grant.outcome)
        process.granted[claim] = grant;
      else
        process.refused.push_back(grant.outcome);
    for (auto& [claim, why] : effects.replaced) {
      CHECK(process.granted.erase(claim) == 1);
      ++replaced_count;
    }
    process.next_tick = std::min(process.next_tick, now + process.directory->tick_period(now));
    // A directory shows its own tasks until another process has them.
    for (const auto& [claim, grant] : process.granted) {
      auto shown = process.directory->view().find(grant.task);
      REQUIRE(shown != process.directory->view().end());
      CHECK(shown->second.process == process.id);
    }
  }

  void answer_calls() {
    auto calls = std::exchange(calls_, {});
    for (auto& next : calls) {
      auto* from = find(next.from);
      if (from && (next.at > now || from->frozen_until))
        calls_.push_back(std::move(next));
      else if (from)
        answer(*from, next.address);
    }
  }
  void answer(directory_process& from, const std::string& address) {
    auto target = std::ranges::find(processes, address, [](const auto& p) { return p->address; });
    if (target != processes.end() && target->get() == &from)
      return act(from, from.directory->reached_self(address, now));
    if (target == processes.end() || (*target)->frozen_until || wire.is_cut(from.id, (*target)->id))
      return act(from, from.directory->failed(address,
                                              failure(error_kind::unavailable, "no answer"), now));
    act(from, from.directory->connected(wire.open(from.id, (*target)->id), address, now));
  }

  void deliver() {
    auto receives = [&](uint64_t id) {
      auto* process = find(id);
      return process && !process->frozen_until;
    };
    while (auto next = wire.take_event(receives, now)) {
      auto& process = *find(next->process);
      if (next->is_first)
        act(process, process.directory->connected(next->link, "", now));
      act(process, next->message
                       ? process.directory->take(next->link, *std::move(next->message), now)
                       : process.directory->lost(next->link, now));
    }
  }

  uint64_t last_claim_ = 0;
  std::vector<call> calls_;
};

} // namespace troupe::test
