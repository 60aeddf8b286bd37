// One process of a cluster that tasks join, among others that the test stands in for.
#pragma once
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/membership/joined_cluster.hpp"

#include <list>

namespace troupe::test {

using namespace std::chrono_literals;

inline const task_name first{"ps", 0}, zero{"worker", 0}, one{"worker", 1}, two{"worker", 2};

// Another process, as the one that is looked at sees it.
struct stand_in {
  std::vector<message> heard;
  caf::actor exchange;
  connection_ptr via = std::make_shared<peer_connection>();

  template <class What>
  std::vector<What> all() const {
    std::vector<What> found;
    for (const auto& each : heard)
      if (const auto* what = std::get_if<What>(&each))
        found.push_back(*what);
    return found;
  }
};

struct joined_world : actor_world {
  std::vector<task_addresses> learned;
  std::vector<status> failed;
  std::vector<std::string> kept, told;
  std::vector<member_list> shown;
  std::vector<std::pair<task_name, std::function<void(uint64_t)>>> probed;
  std::list<stand_in> others;
  std::unique_ptr<joined_cluster> joined;

  void start(const task_name& self, uint64_t incarnation, const std::string& address) {
    joined = std::make_unique<joined_cluster>(
        join_options{.seeds = {"h:10", "h:9"}, .address = address, .times = {}}, self, incarnation,
        join_host{.learn = [this](task_addresses now) { learned.push_back(std::move(now)); },
                  .fail = [this](status why) { failed.push_back(std::move(why)); },
                  .reach =
                      [this](const task_name& task, std::function<void(uint64_t)> then) {
                        probed.emplace_back(task, std::move(then));
                      },
                  .now = [this] { return now(); },
                  .keep =
                      [this](const std::string& to) {
                        if (kept.empty() || kept.back() != to)
                          kept.push_back(to);
                      },
                  .show = [this](const member_list& now) { shown.push_back(now); },
                  .tell = [this](std::string_view event,
                                 const std::string&) { told.emplace_back(event); }});
  }
  ~joined_world() {
    for (auto& each : others)
      caf::anon_send_exit(each.exchange, caf::exit_reason::user_shutdown);
    others.clear();
    run();
  }

  stand_in& meet(std::optional<task_name> task, uint64_t incarnation, bool is_first = false) {
    auto& made = others.emplace_back();
    made.exchange = system().spawn([&made](caf::event_based_actor*) -> caf::behavior {
      return {[&made](const outgoing& what) { made.heard.push_back(what.content); }};
    });
    made.via->exchange = made.exchange.address();
    hello who;
    who.role = task ? "task" : "client";
    if (task) {
      who.job = task->job;
      who.task = task->task;
    }
    who.incarnation = incarnation;
    joined->connected({who, made.via});
    if (is_first)
      joined->reached_first(made.via);
    run();
    return made;
  }
  void say(stand_in& by, message what) {
    CHECK(joined->take({std::move(what), by.exchange, by.via}));
    run();
  }
  // What a task that wants any number is answered.
  number_grant claim_any(uint64_t incarnation, const std::string& address) {
    auto& joiner = meet({}, incarnation);
    say(joiner, number_claim{"worker", -1, incarnation, address});
    return joiner.all<number_grant>().back();
  }
  void lose(stand_in& which, error_kind kind = error_kind::unavailable, bool orderly = false) {
    joined->disconnected({"", failure(kind, "gone"), which.via, false, orderly});
    run();
  }
  void pass_and_tick(std::chrono::milliseconds time) {
    for (auto end = now() + time; now() < end;) {
      advance(500ms);
      joined->tick();
    }
    run();
  }
};

// What a coordinator of another life has said.
inline member_changes list_of(uint64_t term, std::vector<cluster_member> members,
                              const task_name& coordinator = {}) {
  member_list made;
  made.begin_term(term, coordinator);
  for (auto& each : members)
    made.put(std::move(each));
  return made.changes_since({});
}

} // namespace troupe::test
