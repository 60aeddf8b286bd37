// What becomes of a program that sends to another task, as links to that come and go.
#include "tests/support/worker_world.hpp"

namespace troupe::test::program_links_test {

namespace {

const char* sends = R"(
x = Neg(f32[1, 2]) @"/job:worker/task:0"
y = Neg(x) @"/job:ps/task:0"
fetch y
)";

// A worker that reaches one parameter server, once it is let.
struct linked_world : worker_world {
  std::vector<caf::typed_response_promise<peer_link>> looking;
  caf::actor server_there;
  connection_ptr to_server = connect();

  linked_world()
      : worker_world([this](caf::actor_system& in) {
          return in.spawn([this](caf::event_based_actor* self) -> caf::behavior {
            return {[=, this](const connect_request&) -> caf::result<peer_link> {
                      looking.push_back(self->make_response_promise<peer_link>());
                      return looking.back();
                    },
                    [](const deed& what) { what.act(); }};
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
    caf::anon_send(membership, deed{[this] {
                     looking.back().deliver(peer_link{{"ps", 0}, 7, server_there, to_server});
                   }});
    run();
  }
  std::vector<uint64_t> told_lost() const {
    std::vector<uint64_t> handles;
    for (const auto& one : sent)
      if (const auto* lost = std::get_if<program_lost>(&one))
        handles.push_back(lost->handle);
    return handles;
  }
};

} // namespace

TEST_CASE("a step of a program whose task still looks for others is refused") {
  linked_world world;
  world.from_peer(world.graph_of(text_case{sends}, 0));
  REQUIRE(world.looking.size() == 1);
  CHECK(world.sent.empty());
  auto early = world.run_from_peer(1, 5);
  CHECK(early.kind() == error_kind::failed_precondition);
  CHECK(early.message().find("has not registered program 1 yet") != std::string::npos);
  world.let_find();
  REQUIRE(std::get_if<register_reply>(&world.sent.back()));
  CHECK(world.run_from_peer(1, 6).ok());
}

TEST_CASE("whoever registered a program is told, once, that a task which it sends to is lost") {
  linked_world world;
  world.from_peer(world.graph_of(text_case{sends}, 0));
  world.let_find();
  text_case other{"x = Neg(f32[1, 2])\nfetch x"};
  auto stays = world.register_from_peer(other);
  CHECK(world.told_lost().empty());
  world.lose(*world.to_server);
  CHECK(world.told_lost() == std::vector<uint64_t>{1});
  CHECK(world.run_from_peer(1, 5).kind() == error_kind::unavailable);
  CHECK(world.run_from_peer(stays, 6).ok());
  world.lose(*world.to_server);
  CHECK(world.told_lost().size() == 1);
}

TEST_CASE("a task that is lost before a program is linked is told behind the answer") {
  linked_world world;
  world.from_peer(world.graph_of(text_case{sends}, 0));
  world.to_server->gone = true;
  world.let_find();
  REQUIRE(world.sent.size() == 2);
  CHECK(std::get_if<register_reply>(&world.sent[0]));
  CHECK(world.told_lost() == std::vector<uint64_t>{1});
}

} // namespace troupe::test::program_links_test
