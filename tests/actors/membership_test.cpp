#include "troupe/actors/membership.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/dial.hpp"
#include "troupe/actors/exchange.hpp"
#include "troupe/actors/messages.hpp"

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

  membership_world() {
    membership_options options;
    options.cluster.jobs["worker"] = {"127.0.0.1:1", "127.0.0.1:2"};
    options.role = "client";
    options.ways = {
        .dial =
            [this](caf::actor_system&, dialed call, const std::string& address,
                   const std::shared_ptr<std::atomic<bool>>&, const caf::actor&) {
              CHECK(address == "127.0.0.1:2");
              calls.push_back(std::move(call));
            },
        .open =
            [this](caf::actor_system& system, socket_handle&, const exchange_options& made) {
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

TEST_CASE("a membership that ends takes its exchanges with it") {
  membership_world world;
  world.connect(one);
  world.answer_call();
  world.introduce(1);
  world.close();
  CHECK(world.ended == 1);
}

} // namespace troupe::test::membership_test
