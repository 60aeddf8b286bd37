// A program that sends to another task, while links to that task open and close.
#include "tests/support/worker_world.hpp"

namespace troupe::test::program_links_test {

namespace {

const char* sending_graph = R"(
x = Neg(f32[1, 2]) @"/job:worker/task:0"
y = Neg(x) @"/job:ps/task:0"
fetch y
)";

// A worker that reaches one parameter server, after the test permits it.
struct linked_world : worker_world {
  std::vector<caf::typed_response_promise<peer_link>> looking;
  caf::actor server_there;
  connection_ptr to_server = connect();

  linked_world()
      : worker_world([this](caf::actor_system& actor_system) {
          return actor_system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
            return {[=, this](const connect_request&) -> caf::result<peer_link> {
                      looking.push_back(self->make_response_promise<peer_link>());
                      return looking.back();
                    },
                    [](const actor_action& action) { action.act(); }};
          });
        }) {
    server_there = system().spawn(
        [](caf::event_based_actor*) -> caf::behavior { return {[](const outgoing&) {}}; });
    to_server->peer = "/job:ps/task:0";
    to_server->exchange = server_there.address();
    connection->exchange = peer.address();
  }
  ~linked_world() {
    looking.clear();
    caf::anon_send_exit(server_there, caf::exit_reason::user_shutdown);
    server_there = nullptr;
  }
  void let_find() {
    REQUIRE(!looking.empty());
    caf::anon_send(membership, actor_action{[this] {
                     looking.back().deliver(peer_link{{"ps", 0}, 7, server_there, to_server});
                   }});
    run();
  }
  std::vector<uint64_t> told_lost() const {
    std::vector<uint64_t> handles;
    for (const auto& message : sent_messages)
      if (const auto* lost = std::get_if<program_lost>(&message))
        handles.push_back(lost->handle);
    return handles;
  }
};

} // namespace

TEST_CASE("a step of a program whose task is still connecting to others is refused") {
  linked_world world;
  world.from_peer(world.graph_of(text_case{sending_graph}, 0));
  REQUIRE(world.looking.size() == 1);
  CHECK(world.sent_messages.empty());
  auto early_run = world.run_from_peer(1, 5);
  CHECK(early_run.kind() == error_kind::failed_precondition);
  CHECK(early_run.message().find("has not registered program 1 yet") != std::string::npos);
  world.let_find();
  REQUIRE(std::get_if<register_reply>(&world.sent_messages.back()));
  CHECK(world.run_from_peer(1, 6).ok());
}

TEST_CASE("the registrant of a program is notified once that a task to which it sends is lost") {
  linked_world world;
  world.from_peer(world.graph_of(text_case{sending_graph}, 0));
  world.let_find();
  text_case other_case{"x = Neg(f32[1, 2])\nfetch x"};
  auto kept_handle = world.register_from_peer(other_case);
  CHECK(world.told_lost().empty());
  world.lose(*world.to_server);
  CHECK(world.told_lost() == std::vector<uint64_t>{1});
  CHECK(world.run_from_peer(1, 5).kind() == error_kind::unavailable);
  CHECK(world.run_from_peer(kept_handle, 6).ok());
  world.lose(*world.to_server);
  CHECK(world.told_lost().size() == 1);
}

TEST_CASE(
    "the loss of a task before a program is linked is reported after the registration's answer") {
  linked_world world;
  world.from_peer(world.graph_of(text_case{sending_graph}, 0));
  world.to_server->is_closed = true;
  world.let_find();
  REQUIRE(world.sent_messages.size() == 2);
  CHECK(std::get_if<register_reply>(&world.sent_messages[0]));
  CHECK(world.told_lost() == std::vector<uint64_t>{1});
}

} // namespace troupe::test::program_links_test
