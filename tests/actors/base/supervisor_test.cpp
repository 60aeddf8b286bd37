#include "troupe/actors/base/supervisor.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/base/system.hpp"

namespace troupe::test::supervisor_test {

namespace {

struct supervised_world : actor_world {
  caf::actor good, bad, supervisor;
  std::vector<status> reported;

  supervised_world() {
    auto behavior = [](caf::event_based_actor* self) -> caf::behavior {
      end_on_exceptions(self);
      return {[](const actor_action& action) { action.act(); }};
    };
    good = system().spawn(behavior);
    bad = system().spawn(behavior);
    supervisor = spawn_supervisor(system(), {{"good", good}, {"bad", bad}},
                                  [&](const status& reason) { reported.push_back(reason); });
    run();
  }
  ~supervised_world() {
    for (const auto& actor_handle : {good, bad, supervisor})
      caf::anon_send_exit(actor_handle, caf::exit_reason::user_shutdown);
    run();
  }
};

} // namespace

TEST_CASE(
    "a supervisor reports once that an actor ended by an exception, with the exception's text") {
  supervised_world world;
  for (const auto& actor_handle : {world.bad, world.good})
    caf::anon_send(actor_handle, actor_action{[] { throw std::runtime_error("a defect"); }});
  world.run();
  REQUIRE(world.reported.size() == 1);
  CHECK(world.reported[0].message().starts_with("bad has ended"));
  CHECK(world.reported[0].message().find("a defect") != std::string::npos);
}

TEST_CASE("a supervisor reports nothing about actors that are shut down") {
  supervised_world world;
  caf::anon_send_exit(world.bad, caf::exit_reason::user_shutdown);
  world.run();
  CHECK(world.reported.empty());
}

} // namespace troupe::test::supervisor_test
