#include "troupe/actors/membership/membership.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"

namespace troupe::test::membership_test {

using namespace std::chrono_literals;

namespace {

const task_name one{"worker", 1}, nobody{"worker", 9};

// A membership that reaches nothing: the test answers its calls and speaks for its exchanges.
struct membership_world : actor_world {
  std::vector<dialed> calls;
  std::vector<caf::actor> exchanges;
  int ended = 0; // exchanges that were told to
  caf::actor membership;

  explicit membership_world(std::optional<task_name> of = {}) {
    membership_options options;
    if (of) {
      options.self = *of;
      options.role = "task";
    }
    options.cluster = cluster_spec{{{"worker", {"127.0.0.1:1", "127.0.0.1:2"}}}};
    if (!of)
      options.role = "client";
    options.ways = {.dial =
                        [this](caf::actor_system&, dialed call, const std::string& address,
                               const std::shared_ptr<std::atomic<bool>>&, const caf::actor&) {
                          CHECK(address == "127.0.0.1:2");
                          calls.push_back(std::move(call));
                        },
                    .open =
                        [this](caf::actor_system& system, dialed&, const exchange_options& made) {
                          CHECK(made.expected == one);
                          exchanges.push_back(
                              system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
                                self->set_exit_handler([this, self](const caf::exit_msg& what) {
                                  ++ended;
                                  self->quit(what.reason);
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

  answer_box<peer_link> connect(const task_name& to, std::chrono::milliseconds patience = 1s) {
    auto box = ask<peer_link>(membership, connect_request{to, now() + patience});
    run();
    return box;
  }
  answer_box<peer_link> connect_once(std::chrono::milliseconds patience = 10s) {
    auto box = ask<peer_link>(membership, connect_request{one, now() + patience, false, true});
    run();
    return box;
  }
  // The call that was made last has found nobody.
  void fail_call() {
    REQUIRE(!calls.empty());
    auto call = calls.back();
    call.outcome = failure(error_kind::unavailable, "refused");
    tell(std::move(call));
  }
  template <class What>
  void tell(What what) {
    caf::anon_send(membership, std::move(what));
    run();
  }
  // The call that was made last reaches somebody, who then says who it is.
  void answer_call() {
    REQUIRE(!calls.empty());
    auto call = calls.back();
    call.socket = std::make_shared<socket_handle>();
    tell(std::move(call));
  }
  // The task calls by itself, and says who it is.
  connection_ptr call_in(uint64_t incarnation) {
    exchanges.push_back(system().spawn(
        [](caf::event_based_actor*) -> caf::behavior { return {[](const outgoing&) {}}; }));
    auto via = std::make_shared<peer_connection>();
    via->exchange = exchanges.back().address();
    tell(peer_ready{who(incarnation), via, true});
    return via;
  }
  static hello who(uint64_t incarnation) {
    hello made;
    made.role = "task";
    made.job = one.job;
    made.task = one.task;
    made.incarnation = incarnation;
    return made;
  }
  answer_box<peer_link> connect_mutually(const task_name& to) {
    auto box = ask<peer_link>(membership, connect_request{to, now() + 5s, true});
    run();
    return box;
  }
  void introduce(uint64_t incarnation) {
    hello who;
    who.role = "task";
    who.job = one.job;
    who.task = one.task;
    who.incarnation = incarnation;
    tell(peer_ready{who});
  }
};

status why(const answer_box<peer_link>& box) {
  REQUIRE(*box);
  return (**box).status();
}

} // namespace

TEST_CASE("a link is there when its peer has introduced itself, once for all who ask") {
  membership_world world;
  auto first = world.connect(one), second = world.connect(one);
  CHECK(world.calls.size() == 1);
  world.answer_call();
  CHECK(!*first); // it might be somebody else
  world.introduce(5);
  for (const auto& box : {first, second, world.connect(one)}) {
    REQUIRE(*box);
    REQUIRE(**box);
    CHECK((**box)->incarnation == 5);
    CHECK((**box)->exchange == world.exchanges.at(0));
  }
  CHECK(world.calls.size() == 1);
}

TEST_CASE("a request of one attempt is answered by a refused connection, before its deadline") {
  membership_world world;
  auto box = world.connect_once();
  REQUIRE(world.calls.size() == 1);
  CHECK(world.calls.back().once);
  world.fail_call();
  CHECK(why(box).message() == "refused");
  CHECK(world.calls.size() == 1);
}

TEST_CASE("a request of one attempt does not wait for a call that is repeated, which goes on") {
  membership_world world;
  auto patient = world.connect(one, 1h);
  REQUIRE(world.calls.size() == 1);
  CHECK(!world.calls.back().once);
  auto box = world.connect_once();
  world.fail_call(); // it is told to stop, and says so
  REQUIRE(world.calls.size() == 2);
  CHECK(world.calls.back().once);
  auto late = world.connect_once();
  world.fail_call();
  CHECK(why(box).message() == "refused");
  CHECK(why(late).message() == "refused");
  CHECK(!*patient);
  REQUIRE(world.calls.size() == 3);
  CHECK(!world.calls.back().once);
  world.answer_call();
  world.introduce(5);
  REQUIRE(*patient);
  CHECK((**patient)->incarnation == 5);
}

TEST_CASE("who has been answered leaves no timers behind, however late the deadlines are") {
  membership_world world;
  auto before = world.timers();
  for (int i = 0; i < 100; ++i)
    world.connect(one, 1h);
  world.answer_call();
  world.introduce(5);
  CHECK(world.timers() <= before + 1);
}

TEST_CASE("what a task cannot run any more is told to who watches, of a link that is there") {
  membership_world world;
  std::vector<part_lost> told;
  auto watcher = world.system().spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->send(world.membership, watch_atom::value);
    return {[&](const part_lost& what) { told.push_back(what); }};
  });
  world.connect(one);
  world.answer_call();
  auto via = std::make_shared<peer_connection>();
  world.tell(peer_ready{membership_world::who(5), via});
  world.tell(incoming{program_lost{7}, {}, via});
  world.tell(incoming{program_lost{8}, {}, std::make_shared<peer_connection>()});
  REQUIRE(told.size() == 1);
  CHECK(told[0].task == one);
  CHECK(told[0].handle == 7);
  caf::anon_send_exit(watcher, caf::exit_reason::user_shutdown);
}

TEST_CASE("who waits for a task when the membership ends is told, and does not wait on") {
  membership_world world;
  auto box = world.connect(one, 1h);
  CHECK(!*box);
  world.close();
  REQUIRE(*box);
  CHECK(box->value().status().kind() == error_kind::cancelled);
  CHECK(box->value().status().origin().task == "/job:worker/task:1");
}

TEST_CASE("who asks for a task that the cluster does not have is told at once") {
  membership_world world;
  CHECK(why(world.connect(nobody)).kind() == error_kind::not_found);
  CHECK(world.calls.empty());
}

TEST_CASE("everybody waits as long as they said, and the dialer for the most patient") {
  membership_world world;
  auto hasty = world.connect(one, 100ms), patient = world.connect(one, 10s);
  world.pass(110ms);
  CHECK(why(hasty).kind() == error_kind::unavailable);
  CHECK(why(hasty).message().find("/job:worker/task:1") != std::string::npos);
  CHECK(!*patient);
  // The first call was for the first who asked; it goes on for the other.
  auto call = world.calls.at(0);
  call.outcome = failure(error_kind::unavailable, "nobody answers");
  world.tell(call);
  REQUIRE(world.calls.size() == 2);
  CHECK(world.calls[1].deadline > world.calls[0].deadline);
  world.answer_call();
  world.introduce(1);
  REQUIRE(*patient);
  CHECK((**patient).ok());
}

TEST_CASE("a peer that does not introduce itself in time is not waited for") {
  membership_world world;
  auto box = world.connect(one);
  world.answer_call();
  world.pass(1100ms);
  CHECK(why(box).message().find("did not introduce itself") != std::string::npos);
}

TEST_CASE("after a loss the next who asks makes a new call, and finds another incarnation") {
  membership_world world;
  world.connect(one);
  world.answer_call();
  world.introduce(1);
  auto waiting = world.connect(one);
  REQUIRE(**waiting);
  world.tell(peer_gone{to_string(one), failure(error_kind::unavailable, "it crashed")});
  auto next = world.connect(one);
  CHECK(!*next);
  REQUIRE(world.calls.size() == 2);
  world.answer_call();
  world.introduce(2);
  REQUIRE(**next);
  CHECK((**next)->incarnation == 2);
  CHECK((**next)->exchange == world.exchanges.at(1));
}

TEST_CASE("who waits for a peer that is lost before it has spoken hears why") {
  membership_world world;
  auto box = world.connect(one, 10s);
  world.answer_call();
  world.tell(
      peer_gone{to_string(one), failure(error_kind::failed_precondition, "another version")});
  CHECK(why(box).kind() == error_kind::failed_precondition);
  CHECK(why(box).message().find("another version") != std::string::npos);
}

TEST_CASE("a connection that ends before its peer has spoken is made again for who has time") {
  membership_world world;
  auto hasty = world.connect(one, 50ms), patient = world.connect(one, 10s);
  world.answer_call();
  world.tell(peer_gone{to_string(one), failure(error_kind::unavailable, "closed")});
  CHECK(!*patient);
  world.pass(60ms);
  CHECK(why(hasty).kind() == error_kind::unavailable);
  CHECK(why(hasty).message().find("closed") != std::string::npos);
  world.pass(50ms);
  REQUIRE(world.calls.size() == 2);
  world.answer_call();
  world.introduce(2);
  REQUIRE(*patient);
  CHECK((**patient)->incarnation == 2);
}

TEST_CASE("a task that has called need not be called") {
  membership_world world{task_name{"worker", 0}};
  auto via = world.call_in(5);
  auto box = world.connect(one);
  CHECK(world.calls.empty());
  REQUIRE(*box);
  REQUIRE(**box);
  CHECK((**box)->incarnation == 5);
  CHECK((**box)->exchange == world.exchanges.at(0));
  CHECK((**box)->via == via);
  // Another call of the same process changes nothing, nor does the end of that.
  auto second = world.call_in(5);
  CHECK((**world.connect(one))->via == via);
  world.tell(peer_gone{to_string(one), failure(error_kind::unavailable, "gone"), second, true});
  CHECK((**world.connect(one))->via == via);
  // Its own end does.
  world.tell(peer_gone{to_string(one), failure(error_kind::unavailable, "gone"), via, true});
  world.connect(one);
  CHECK(world.calls.size() == 1);
}

TEST_CASE("of two tasks that need each other, the one whose name is less calls") {
  SECTION("it is this one") {
    membership_world world{task_name{"worker", 0}};
    world.connect_mutually(one);
    CHECK(world.calls.size() == 1);
  }
  membership_world world{task_name{"worker", 7}};
  auto box = world.connect_mutually(one);
  CHECK(world.calls.empty());
  SECTION("it calls") {
    world.call_in(5);
    REQUIRE(*box);
    CHECK(**box);
    world.pass(2s);
    CHECK(world.calls.empty());
  }
  SECTION("it does not") {
    world.pass(1100ms);
    CHECK(world.calls.size() == 1);
    world.answer_call();
    world.introduce(5);
    REQUIRE(*box);
    CHECK(**box);
  }
}

TEST_CASE("a call that comes while one goes out is taken, and the other is closed unused") {
  membership_world world{task_name{"worker", 0}};
  auto box = world.connect(one);
  REQUIRE(world.calls.size() == 1);
  auto via = world.call_in(5);
  REQUIRE(*box);
  CHECK((**box)->via == via);
  world.answer_call();
  CHECK(world.exchanges.size() == 1);
}

TEST_CASE("a call that comes while one is answered leaves both") {
  membership_world world{task_name{"worker", 0}};
  auto box = world.connect(one);
  world.answer_call();
  auto via = world.call_in(5);
  CHECK(!*box);
  world.introduce(5);
  REQUIRE(*box);
  CHECK((**box)->exchange == world.exchanges.at(0));
  CHECK(world.ended == 0);
}

TEST_CASE("the call of a restarted task takes the place of what led to the one before") {
  membership_world world{task_name{"worker", 0}};
  auto old = world.call_in(5), fresh = world.call_in(6);
  auto box = world.connect(one);
  REQUIRE(*box);
  CHECK((**box)->incarnation == 6);
  CHECK((**box)->via == fresh);
  world.tell(peer_gone{to_string(one), failure(error_kind::unavailable, "gone"), old, true});
  CHECK((**world.connect(one))->via == fresh);
  CHECK(world.calls.empty());
}

TEST_CASE("a call of a client, or of a task that the cluster does not have, is nobody's link") {
  membership_world world{task_name{"worker", 0}};
  auto stranger = world.who(5);
  stranger.task = 9;
  world.tell(peer_ready{stranger, std::make_shared<peer_connection>(), true});
  stranger = world.who(5);
  stranger.role = "client";
  world.tell(peer_ready{stranger, std::make_shared<peer_connection>(), true});
  world.connect(one);
  CHECK(world.calls.size() == 1);
}

TEST_CASE("a membership that ends takes its exchanges with it") {
  membership_world world;
  world.connect(one);
  world.answer_call();
  world.introduce(1);
  world.close();
  CHECK(world.ended == 1);
}

} // namespace troupe::test::membership_test
