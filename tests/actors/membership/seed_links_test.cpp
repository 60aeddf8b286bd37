// The rate at which a membership calls seed addresses at which no process listens.
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

// A membership of worker 2. Its seeds are "h:1" (the coordinator's address), "h:2" and its own
// address.
struct seed_world : actor_world {
  std::map<std::string, int> calls;
  std::map<std::string, bool> is_up;
  std::vector<caf::actor> exchanges;
  std::map<std::string, connection_ptr> connections; // by called address
  caf::actor membership;

  explicit seed_world(std::map<std::string, bool> addresses_up) : is_up(std::move(addresses_up)) {
    membership_options options;
    options.role = "task";
    options.self = two;
    options.incarnation = 7;
    options.join = {.seeds = {"h:1", "h:2", "h:3"}, .address = "h:3", .times = {}};
    options.transport = {
        .dial =
            [this](caf::actor_system&, dial_result call, const std::string& address,
                   const std::shared_ptr<std::atomic<bool>>&, const caf::actor& reply) {
              ++calls[address];
              if (is_up[address])
                call.socket = std::make_shared<socket_handle>();
              else
                call.outcome = failure(error_kind::unavailable, "nothing is there");
              caf::anon_send(reply, std::move(call));
            },
        .open =
            [this](caf::actor_system& system, dial_result& dialed_peer, const exchange_options&) {
              exchanges.push_back(system.spawn([](caf::event_based_actor*) -> caf::behavior {
                return {[](const outgoing&) {}};
              }));
              auto connection = std::make_shared<peer_connection>();
              connection->exchange = exchanges.back().address();
              connections[dialed_peer.address] = connection;
              return exchanges.back();
            }};
    membership = spawn_membership(system(), std::move(options));
    run();
  }
  ~seed_world() {
    caf::anon_send_exit(membership, caf::exit_reason::user_shutdown);
    membership = nullptr;
    run();
    for (const auto& exchange : exchanges)
      caf::anon_send_exit(exchange, caf::exit_reason::user_shutdown);
    exchanges.clear();
    run();
  }

  void advance_and_run(std::chrono::seconds time) {
    for (auto end = now() + time; now() < end;)
      actor_world::advance_and_run(50ms);
  }
  int calls_within(const std::string& called_address, std::chrono::seconds time) {
    auto before = calls[called_address];
    advance_and_run(time);
    return calls[called_address] - before;
  }
  template <class What>
  void tell(What content) {
    caf::anon_send(membership, std::move(content));
    run();
  }
  void introduce(const std::string& peer_address, const task_name& task, bool inbound = false) {
    hello peer_hello;
    peer_hello.role = "task";
    peer_hello.job = task.job;
    peer_hello.task = task.task;
    peer_hello.incarnation = term;
    tell(peer_ready{peer_hello, connections.at(peer_address), inbound});
  }
  // Delivers the member list of the task at that address.
  void hear_list(const std::string& from, std::vector<cluster_member> members) {
    member_list list;
    list.begin_term(term, first);
    for (auto& member : members)
      list.put(std::move(member));
    auto connection = connections.at(from);
    tell(incoming{list.changes_since({}), caf::actor_cast<caf::actor>(connection->exchange),
                  connection});
  }
};

const cluster_member coordinator{.task = first, .incarnation = term, .address = "h:1"};
const cluster_member own_member{.task = two, .incarnation = 7, .address = "h:3"};
cluster_member other_member(presence state) {
  return {.task = zero, .incarnation = 5, .address = "h:2", .state = state};
}

} // namespace

TEST_CASE("a member that hears the coordinator calls a dead seed a few times a minute") {
  seed_world world{{{"h:1", true}, {"h:2", false}}};
  world.introduce("h:1", first);
  world.hear_list("h:1", {coordinator, own_member});
  world.advance_and_run(60s);
  CHECK(world.calls["h:1"] == 1);
  auto calls = world.calls_within("h:2", 120s);
  CHECK(calls >= 14); // every 4 to 8 seconds
  CHECK(calls <= 31);
}

TEST_CASE("a member that hears no coordinator calls each seed about once a second") {
  seed_world world{{{"h:1", false}, {"h:2", false}}};
  world.advance_and_run(10s);
  for (const auto* address : {"h:1", "h:2"}) {
    auto calls = world.calls_within(address, 60s);
    CHECK(calls >= 55); // a coordinator that returns waits two seconds for its members
    CHECK(calls <= 125);
  }
}

TEST_CASE("a dead seed is called at once when the list has a member at its address") {
  seed_world world{{{"h:1", true}, {"h:2", false}}};
  world.introduce("h:1", first);
  world.hear_list("h:1", {coordinator, own_member, other_member(presence::unreachable)});
  world.advance_and_run(60s);
  auto before = world.calls["h:2"];
  world.is_up["h:2"] = true;
  world.hear_list("h:1", {coordinator, own_member, other_member(presence::unreachable),
                          other_member(presence::here)});
  CHECK(world.calls["h:2"] == before + 1);
  CHECK(world.connections.contains("h:2"));
  CHECK(world.calls_within("h:2", 30s) == 0); // an address that it waited for is not called again
}

TEST_CASE("dead seeds are called at once when the coordinator is lost") {
  seed_world world{{{"h:1", true}, {"h:2", false}}};
  world.introduce("h:1", first);
  world.hear_list("h:1", {coordinator, own_member});
  world.advance_and_run(60s);
  auto before = world.calls["h:2"];
  auto connection = world.connections.at("h:1");
  world.is_up["h:1"] = false;
  world.tell(peer_gone{to_string(first), failure(error_kind::unavailable, "gone"), connection});
  CHECK(world.calls["h:2"] == before + 1);
  CHECK(world.calls_within("h:2", 3s) >= 3);
}

} // namespace troupe::test::seed_links_test
