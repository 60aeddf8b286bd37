// How often a membership calls addresses of seeds where nobody is.
#include "troupe/actors/membership/seed_links.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"

#include <caf/event_based_actor.hpp>

namespace troupe::test::seed_links_test {

using namespace std::chrono_literals;

namespace {

const task_name first{"ps", 0}, zero{"worker", 0}, two{"worker", 2};
constexpr uint64_t term = 1000;

// A membership of worker 2, whose seeds are "h:1", the coordinator's, "h:2" and its own.
struct seed_world : actor_world {
  std::map<std::string, int> calls;
  std::map<std::string, bool> is_up;
  std::vector<caf::actor> exchanges;
  std::map<std::string, connection_ptr> connections; // by the address that was called
  caf::actor membership;

  explicit seed_world(std::map<std::string, bool> up) : is_up(std::move(up)) {
    membership_options options;
    options.role = "task";
    options.self = two;
    options.incarnation = 7;
    options.join = {.seeds = {"h:1", "h:2", "h:3"}, .address = "h:3", .times = {}};
    options.ways = {.dial =
                        [this](caf::actor_system&, dialed call, const std::string& address,
                               const std::shared_ptr<std::atomic<bool>>&, const caf::actor& reply) {
                          ++calls[address];
                          if (is_up[address])
                            call.socket = std::make_shared<socket_handle>();
                          else
                            call.outcome = failure(error_kind::unavailable, "nothing is there");
                          caf::anon_send(reply, std::move(call));
                        },
                    .open =
                        [this](caf::actor_system& system, dialed& what, const exchange_options&) {
                          exchanges.push_back(
                              system.spawn([](caf::event_based_actor*) -> caf::behavior {
                                return {[](const outgoing&) {}};
                              }));
                          auto via = std::make_shared<peer_connection>();
                          via->exchange = exchanges.back().address();
                          connections[what.address] = via;
                          return exchanges.back();
                        }};
    membership = spawn_membership(system(), std::move(options));
    run();
  }
  ~seed_world() {
    caf::anon_send_exit(membership, caf::exit_reason::user_shutdown);
    membership = nullptr;
    run();
    for (const auto& one : exchanges)
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    exchanges.clear();
    run();
  }

  void pass(std::chrono::seconds time) {
    for (auto end = now() + time; now() < end;)
      actor_world::pass(50ms);
  }
  int calls_within(const std::string& to, std::chrono::seconds time) {
    auto before = calls[to];
    pass(time);
    return calls[to] - before;
  }
  template <class What>
  void tell(What what) {
    caf::anon_send(membership, std::move(what));
    run();
  }
  void introduce(const std::string& at, const task_name& task, bool inbound = false) {
    hello who;
    who.role = "task";
    who.job = task.job;
    who.task = task.task;
    who.incarnation = term;
    tell(peer_ready{who, connections.at(at), inbound});
  }
  // The list as the task at that address has it.
  void hear_list(const std::string& from, std::vector<cluster_member> members) {
    member_list made;
    made.begin_term(term, first);
    for (auto& one : members)
      made.put(std::move(one));
    auto via = connections.at(from);
    tell(incoming{made.changes_since({}), caf::actor_cast<caf::actor>(via->exchange), via});
  }
};

const cluster_member coordinator{.task = first, .incarnation = term, .address = "h:1"};
const cluster_member own{.task = two, .incarnation = 7, .address = "h:3"};
cluster_member other(presence state) {
  return {.task = zero, .incarnation = 5, .address = "h:2", .state = state};
}

} // namespace

TEST_CASE("who hears the coordinator calls a seed that is dead some times a minute") {
  seed_world world{{{"h:1", true}, {"h:2", false}}};
  world.introduce("h:1", first);
  world.hear_list("h:1", {coordinator, own});
  world.pass(60s);
  CHECK(world.calls["h:1"] == 1);
  auto calls = world.calls_within("h:2", 120s);
  CHECK(calls >= 14); // each 8 s at the latest, and 4 s at the earliest
  CHECK(calls <= 31);
}

TEST_CASE("who hears no coordinator calls each seed about once a second") {
  seed_world world{{{"h:1", false}, {"h:2", false}}};
  world.pass(10s);
  for (const auto* address : {"h:1", "h:2"}) {
    auto calls = world.calls_within(address, 60s);
    CHECK(calls >= 55); // a coordinator that is back waits two seconds for its members
    CHECK(calls <= 125);
  }
}

TEST_CASE("a dead seed is called at once when the list says that a member is there") {
  seed_world world{{{"h:1", true}, {"h:2", false}}};
  world.introduce("h:1", first);
  world.hear_list("h:1", {coordinator, own, other(presence::unreachable)});
  world.pass(60s);
  auto before = world.calls["h:2"];
  world.is_up["h:2"] = true;
  world.hear_list("h:1", {coordinator, own, other(presence::unreachable), other(presence::here)});
  CHECK(world.calls["h:2"] == before + 1);
  CHECK(world.connections.contains("h:2"));
  CHECK(world.calls_within("h:2", 30s) == 0); // that it waited for is not called again
}

TEST_CASE("dead seeds are called at once when the coordinator is lost") {
  seed_world world{{{"h:1", true}, {"h:2", false}}};
  world.introduce("h:1", first);
  world.hear_list("h:1", {coordinator, own});
  world.pass(60s);
  auto before = world.calls["h:2"];
  auto via = world.connections.at("h:1");
  world.is_up["h:1"] = false;
  world.tell(peer_gone{to_string(first), failure(error_kind::unavailable, "gone"), via});
  CHECK(world.calls["h:2"] == before + 1);
  CHECK(world.calls_within("h:2", 3s) >= 3);
}

} // namespace troupe::test::seed_links_test
