#include "troupe/actors/membership/membership.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"

namespace troupe::test::membership_test {

using namespace std::chrono_literals;

namespace {

const task_name worker_1{"worker", 1}, absent_worker{"worker", 9};

// A membership without a network: the test answers its calls and speaks for its exchanges.
struct membership_world : actor_world {
  std::vector<dial_result> calls;
  std::vector<caf::actor> exchanges;
  int ended_exchanges = 0; // exchanges that were asked to end
  caf::actor membership;

  explicit membership_world(std::optional<task_name> self_name = {}) {
    membership_options options;
    if (self_name) {
      options.self = *self_name;
      options.role = "task";
    }
    options.cluster = cluster_spec{{{"worker", {"127.0.0.1:1", "127.0.0.1:2"}}}};
    if (!self_name)
      options.role = "client";
    options.transport = {
        .dial =
            [this](caf::actor_system&, dial_result call, const std::string& address,
                   const std::shared_ptr<std::atomic<bool>>&, const caf::actor&) {
              CHECK(address == "127.0.0.1:2");
              calls.push_back(std::move(call));
            },
        .open =
            [this](caf::actor_system& system, dial_result&,
                   const exchange_options& exchange_settings) {
              CHECK(exchange_settings.expected == worker_1);
              exchanges.push_back(
                  system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
                    self->set_exit_handler([this, self](const caf::exit_msg& exit_message) {
                      ++ended_exchanges;
                      self->quit(exit_message.reason);
                    });
                    return {[](const outgoing&) {}};
                  }));
              return exchanges.back();
            }};
    membership = spawn_membership(system(), std::move(options));
  }
  ~membership_world() { close(); }
  void close() {
    if (membership)
      caf::anon_send_exit(membership, caf::exit_reason::user_shutdown);
    membership = nullptr;
    run();
    exchanges.clear();
  }

  awaited_answer<peer_link> connect(const task_name& target,
                                    std::chrono::milliseconds timeout = 1s) {
    auto answer = ask<peer_link>(membership, connect_request{target, now() + timeout});
    run();
    return answer;
  }
  awaited_answer<peer_link> connect_once(std::chrono::milliseconds timeout = 10s) {
    auto answer =
        ask<peer_link>(membership, connect_request{worker_1, now() + timeout, false, true});
    run();
    return answer;
  }
  // Fails the last call.
  void fail_call() {
    REQUIRE(!calls.empty());
    auto call = calls.back();
    call.outcome = failure(error_kind::unavailable, "refused");
    tell(std::move(call));
  }
  template <class What>
  void tell(What content) {
    caf::anon_send(membership, std::move(content));
    run();
  }
  // Answers the last call; the peer then introduces itself.
  void answer_call() {
    REQUIRE(!calls.empty());
    auto call = calls.back();
    call.socket = std::make_shared<socket_handle>();
    tell(std::move(call));
  }
  // The task calls by itself and introduces itself.
  connection_ptr call_in(uint64_t incarnation) {
    exchanges.push_back(system().spawn(
        [](caf::event_based_actor*) -> caf::behavior { return {[](const outgoing&) {}}; }));
    auto connection = std::make_shared<peer_connection>();
    connection->exchange = exchanges.back().address();
    tell(peer_ready{hello_of(incarnation), connection, true});
    return connection;
  }
  static hello hello_of(uint64_t incarnation) {
    hello peer_hello;
    peer_hello.role = "task";
    peer_hello.job = worker_1.job;
    peer_hello.task = worker_1.task;
    peer_hello.incarnation = incarnation;
    return peer_hello;
  }
  awaited_answer<peer_link> connect_mutually(const task_name& target) {
    auto answer = ask<peer_link>(membership, connect_request{target, now() + 5s, true});
    run();
    return answer;
  }
  void introduce(uint64_t incarnation) {
    hello sent_hello;
    sent_hello.role = "task";
    sent_hello.job = worker_1.job;
    sent_hello.task = worker_1.task;
    sent_hello.incarnation = incarnation;
    tell(peer_ready{sent_hello});
  }
};

status outcome_of(const awaited_answer<peer_link>& answer) {
  REQUIRE(*answer);
  return (**answer).status();
}

} // namespace

TEST_CASE("a link exists after its peer has introduced itself, once for all requests") {
  membership_world world;
  auto first = world.connect(worker_1), second = world.connect(worker_1);
  CHECK(world.calls.size() == 1);
  world.answer_call();
  CHECK(!*first); // another process may listen there
  world.introduce(5);
  for (const auto& answer : {first, second, world.connect(worker_1)}) {
    REQUIRE(*answer);
    REQUIRE(**answer);
    CHECK((**answer)->incarnation == 5);
    CHECK((**answer)->exchange == world.exchanges.at(0));
  }
  CHECK(world.calls.size() == 1);
}

TEST_CASE("a request of one attempt is answered by a refused connection, before its deadline") {
  membership_world world;
  auto answer = world.connect_once();
  REQUIRE(world.calls.size() == 1);
  CHECK(world.calls.back().single_attempt);
  world.fail_call();
  CHECK(outcome_of(answer).message() == "refused");
  CHECK(world.calls.size() == 1);
}

TEST_CASE(
    "a request of one attempt does not wait for a call that is repeated; the call continues") {
  membership_world world;
  auto patient_link = world.connect(worker_1, 1h);
  REQUIRE(world.calls.size() == 1);
  CHECK(!world.calls.back().single_attempt);
  auto answer = world.connect_once();
  world.fail_call(); // the task answers that it stops
  REQUIRE(world.calls.size() == 2);
  CHECK(world.calls.back().single_attempt);
  auto late_link = world.connect_once();
  world.fail_call();
  CHECK(outcome_of(answer).message() == "refused");
  CHECK(outcome_of(late_link).message() == "refused");
  CHECK(!*patient_link);
  REQUIRE(world.calls.size() == 3);
  CHECK(!world.calls.back().single_attempt);
  world.answer_call();
  world.introduce(5);
  REQUIRE(*patient_link);
  CHECK((**patient_link)->incarnation == 5);
}

TEST_CASE("answered requests leave no timers behind, however late their deadlines are") {
  membership_world world;
  auto before = world.timers();
  for (int i = 0; i < 100; ++i)
    world.connect(worker_1, 1h);
  world.answer_call();
  world.introduce(5);
  CHECK(world.timers() <= before + 1);
}

TEST_CASE("a watcher is notified of programs that a task with a link cannot run any more") {
  membership_world world;
  std::vector<part_lost> losses;
  auto watcher = world.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->send(world.membership, watch_atom::value);
    return {[&](const part_lost& loss) { losses.push_back(loss); }};
  });
  world.connect(worker_1);
  world.answer_call();
  auto connection = std::make_shared<peer_connection>();
  world.tell(peer_ready{membership_world::hello_of(5), connection});
  world.tell(incoming{program_lost{7}, {}, connection});
  world.tell(incoming{program_lost{8}, {}, std::make_shared<peer_connection>()});
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].task == worker_1);
  CHECK(losses[0].handle == 7);
  caf::anon_send_exit(watcher, caf::exit_reason::user_shutdown);
}

TEST_CASE("a request that waits for a task is answered when the membership ends") {
  membership_world world;
  auto answer = world.connect(worker_1, 1h);
  CHECK(!*answer);
  world.close();
  REQUIRE(*answer);
  CHECK(answer->value().status().kind() == error_kind::cancelled);
  CHECK(answer->value().status().origin().task == "/job:worker/task:1");
}

TEST_CASE("a request for a task that the cluster does not have fails at once") {
  membership_world world;
  CHECK(outcome_of(world.connect(absent_worker)).kind() == error_kind::not_found);
  CHECK(world.calls.empty());
}

TEST_CASE("each request waits until its own deadline, and the dialer until the latest") {
  membership_world world;
  auto hasty_link = world.connect(worker_1, 100ms), patient_link = world.connect(worker_1, 10s);
  world.advance_and_run(110ms);
  CHECK(outcome_of(hasty_link).kind() == error_kind::unavailable);
  CHECK(outcome_of(hasty_link).message().find("/job:worker/task:1") != std::string::npos);
  CHECK(!*patient_link);
  // The first call began for the first request; it continues for the second.
  auto call = world.calls.at(0);
  call.outcome = failure(error_kind::unavailable, "nobody answers");
  world.tell(call);
  REQUIRE(world.calls.size() == 2);
  CHECK(world.calls[1].deadline > world.calls[0].deadline);
  world.answer_call();
  world.introduce(1);
  REQUIRE(*patient_link);
  CHECK((**patient_link).ok());
}

TEST_CASE("a peer that does not introduce itself in time is given up") {
  membership_world world;
  auto answer = world.connect(worker_1);
  world.answer_call();
  world.advance_and_run(1100ms);
  CHECK(outcome_of(answer).message().find("did not introduce itself") != std::string::npos);
}

TEST_CASE("after a loss the next request makes a new call, and finds another incarnation") {
  membership_world world;
  world.connect(worker_1);
  world.answer_call();
  world.introduce(1);
  auto waiting = world.connect(worker_1);
  REQUIRE(**waiting);
  world.tell(peer_gone{to_string(worker_1), failure(error_kind::unavailable, "it crashed")});
  auto next = world.connect(worker_1);
  CHECK(!*next);
  REQUIRE(world.calls.size() == 2);
  world.answer_call();
  world.introduce(2);
  REQUIRE(**next);
  CHECK((**next)->incarnation == 2);
  CHECK((**next)->exchange == world.exchanges.at(1));
}

TEST_CASE("a request for a peer that is lost before its hello gets the reason") {
  membership_world world;
  auto answer = world.connect(worker_1, 10s);
  world.answer_call();
  world.tell(
      peer_gone{to_string(worker_1), failure(error_kind::failed_precondition, "another version")});
  CHECK(outcome_of(answer).kind() == error_kind::failed_precondition);
  CHECK(outcome_of(answer).message().find("another version") != std::string::npos);
}

TEST_CASE(
    "a connection that ends before the peer's hello is made again for requests with time left") {
  membership_world world;
  auto hasty_link = world.connect(worker_1, 50ms), patient_link = world.connect(worker_1, 10s);
  world.answer_call();
  world.tell(peer_gone{to_string(worker_1), failure(error_kind::unavailable, "closed")});
  CHECK(!*patient_link);
  world.advance_and_run(60ms);
  CHECK(outcome_of(hasty_link).kind() == error_kind::unavailable);
  CHECK(outcome_of(hasty_link).message().find("closed") != std::string::npos);
  world.advance_and_run(50ms);
  REQUIRE(world.calls.size() == 2);
  world.answer_call();
  world.introduce(2);
  REQUIRE(*patient_link);
  CHECK((**patient_link)->incarnation == 2);
}

TEST_CASE("a task that has called is not called") {
  membership_world world{task_name{"worker", 0}};
  auto connection = world.call_in(5);
  auto answer = world.connect(worker_1);
  CHECK(world.calls.empty());
  REQUIRE(*answer);
  REQUIRE(**answer);
  CHECK((**answer)->incarnation == 5);
  CHECK((**answer)->exchange == world.exchanges.at(0));
  CHECK((**answer)->connection == connection);
  // A second connection of the same process changes nothing, nor does its end.
  auto second = world.call_in(5);
  CHECK((**world.connect(worker_1))->connection == connection);
  world.tell(
      peer_gone{to_string(worker_1), failure(error_kind::unavailable, "gone"), second, true});
  CHECK((**world.connect(worker_1))->connection == connection);
  // The end of the first connection is the task's end.
  world.tell(
      peer_gone{to_string(worker_1), failure(error_kind::unavailable, "gone"), connection, true});
  world.connect(worker_1);
  CHECK(world.calls.size() == 1);
}

TEST_CASE("of two tasks that need each other, the one with the smaller name calls") {
  SECTION("the task has the smaller name") {
    membership_world world{task_name{"worker", 0}};
    world.connect_mutually(worker_1);
    CHECK(world.calls.size() == 1);
  }
  membership_world world{task_name{"worker", 7}};
  auto answer = world.connect_mutually(worker_1);
  CHECK(world.calls.empty());
  SECTION("its peer calls") {
    world.call_in(5);
    REQUIRE(*answer);
    CHECK(**answer);
    world.advance_and_run(2s);
    CHECK(world.calls.empty());
  }
  SECTION("its peer does not call") {
    world.advance_and_run(1100ms);
    CHECK(world.calls.size() == 1);
    world.answer_call();
    world.introduce(5);
    REQUIRE(*answer);
    CHECK(**answer);
  }
}

TEST_CASE(
    "a call that arrives during an outgoing call is accepted, and the outgoing one is closed") {
  membership_world world{task_name{"worker", 0}};
  auto answer = world.connect(worker_1);
  REQUIRE(world.calls.size() == 1);
  auto connection = world.call_in(5);
  REQUIRE(*answer);
  CHECK((**answer)->connection == connection);
  world.answer_call();
  CHECK(world.exchanges.size() == 1);
}

TEST_CASE("a call that arrives while another is answered leaves both open") {
  membership_world world{task_name{"worker", 0}};
  auto answer = world.connect(worker_1);
  world.answer_call();
  auto connection = world.call_in(5);
  CHECK(!*answer);
  world.introduce(5);
  REQUIRE(*answer);
  CHECK((**answer)->exchange == world.exchanges.at(0));
  CHECK(world.ended_exchanges == 0);
}

TEST_CASE("the call of a restarted task replaces the link to its earlier incarnation") {
  membership_world world{task_name{"worker", 0}};
  auto old = world.call_in(5), fresh = world.call_in(6);
  auto answer = world.connect(worker_1);
  REQUIRE(*answer);
  CHECK((**answer)->incarnation == 6);
  CHECK((**answer)->connection == fresh);
  world.tell(peer_gone{to_string(worker_1), failure(error_kind::unavailable, "gone"), old, true});
  CHECK((**world.connect(worker_1))->connection == fresh);
  CHECK(world.calls.empty());
}

TEST_CASE("a call of a client, or of a task that is not in the cluster, makes no link") {
  membership_world world{task_name{"worker", 0}};
  auto stranger = world.hello_of(5);
  stranger.task = 9;
  world.tell(peer_ready{stranger, std::make_shared<peer_connection>(), true});
  stranger = world.hello_of(5);
  stranger.role = "client";
  world.tell(peer_ready{stranger, std::make_shared<peer_connection>(), true});
  world.connect(worker_1);
  CHECK(world.calls.size() == 1);
}

TEST_CASE("a membership that ends also ends its exchanges") {
  membership_world world;
  world.connect(worker_1);
  world.answer_call();
  world.introduce(1);
  world.close();
  CHECK(world.ended_exchanges == 1);
}

} // namespace troupe::test::membership_test
