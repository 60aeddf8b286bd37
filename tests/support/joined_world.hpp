// One process of a cluster that tasks join. The test simulates the other processes.
#pragma once
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/membership/joined_cluster.hpp"

#include <list>

namespace troupe::test {

using namespace std::chrono_literals;

inline const task_name first{"ps", 0}, zero{"worker", 0}, one{"worker", 1}, two{"worker", 2};

// Another process, as the tested process sees it.
struct simulated_process {
  std::vector<message> heard;
  caf::actor exchange;
  connection_ptr connection = std::make_shared<peer_connection>();

  template <class What>
  std::vector<What> all() const {
    std::vector<What> result;
    for (const auto& heard_message : heard)
      if (const auto* content = std::get_if<What>(&heard_message))
        result.push_back(*content);
    return result;
  }
};

struct joined_world : actor_world {
  std::vector<task_addresses> learned;
  std::vector<status> failed;
  std::vector<std::string> kept_addresses, logged_events;
  std::vector<member_list> shown_lists;
  std::vector<std::pair<task_name, std::function<void(uint64_t)>>> probed;
  std::list<simulated_process> others;
  std::unique_ptr<joined_cluster> joined;

  void start(const task_name& self, uint64_t incarnation, const std::string& address) {
    joined = std::make_unique<joined_cluster>(
        join_options{.seeds = {"h:10", "h:9"}, .address = address, .times = {}}, self, incarnation,
        join_host{.set_tasks = [this](task_addresses now) { learned.push_back(std::move(now)); },
                  .end_process = [this](status reason) { failed.push_back(std::move(reason)); },
                  .find_incarnation =
                      [this](const task_name& task, std::function<void(uint64_t)> answer) {
                        probed.emplace_back(task, std::move(answer));
                      },
                  .now = [this] { return now(); },
                  .keep_connection =
                      [this](const std::string& peer_address) {
                        if (kept_addresses.empty() || kept_addresses.back() != peer_address)
                          kept_addresses.push_back(peer_address);
                      },
                  .show_list = [this](const member_list& now) { shown_lists.push_back(now); },
                  .log = [this](std::string_view event,
                                const std::string&) { logged_events.emplace_back(event); }});
  }
  ~joined_world() {
    for (auto& other_process : others)
      caf::anon_send_exit(other_process.exchange, caf::exit_reason::user_shutdown);
    others.clear();
    run();
  }

  simulated_process& meet(std::optional<task_name> task, uint64_t incarnation,
                          bool is_first = false) {
    auto& joined_process = others.emplace_back();
    joined_process.exchange =
        system().spawn([&joined_process](caf::event_based_actor*) -> caf::behavior {
          return {[&joined_process](const outgoing& outgoing_message) {
            joined_process.heard.push_back(outgoing_message.content);
          }};
        });
    joined_process.connection->exchange = joined_process.exchange.address();
    hello peer_hello;
    peer_hello.role = task ? "task" : "client";
    if (task) {
      peer_hello.job = task->job;
      peer_hello.task = task->task;
    }
    peer_hello.incarnation = incarnation;
    joined->connected({peer_hello, joined_process.connection});
    if (is_first)
      joined->reached_first(joined_process.connection);
    run();
    return joined_process;
  }
  void say(simulated_process& sender, message content) {
    CHECK(joined->handle_message({std::move(content), sender.exchange, sender.connection}));
    run();
  }
  // The grant for a task that accepts any number.
  number_grant claim_any(uint64_t incarnation, const std::string& address) {
    auto& joiner = meet({}, incarnation);
    say(joiner, number_claim{"worker", -1, incarnation, address});
    return joiner.all<number_grant>().back();
  }
  void lose(simulated_process& lost_process, error_kind kind = error_kind::unavailable,
            bool orderly = false) {
    joined->disconnected({"", failure(kind, "gone"), lost_process.connection, false, orderly});
    run();
  }
  void advance_and_tick(std::chrono::milliseconds time) {
    for (auto end = now() + time; now() < end;) {
      advance(500ms);
      joined->tick();
    }
    run();
  }
};

// The member list of a coordinator with another term.
inline member_changes list_of(uint64_t term, std::vector<cluster_member> members,
                              const task_name& coordinator = {}) {
  member_list list;
  list.begin_term(term, coordinator);
  for (auto& member : members)
    list.put(std::move(member));
  return list.changes_since({});
}

} // namespace troupe::test
