#include "troupe/actors/base/supervisor.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/base/system.hpp"

namespace troupe::test::supervisor_test {

namespace {

struct supervised_world : actor_world {
  caf::actor good, bad, supervisor;
  std::vector<status> told;

  supervised_world() {
    auto behavior = [](caf::event_based_actor* self) -> caf::behavior {
      end_with_exceptions(self);
      return {[](const deed& what) { what.act(); }};
    };
    good = system().spawn(behavior);
    bad = system().spawn(behavior);
    supervisor = spawn_supervisor(system(), {{"good", good}, {"bad", bad}},
                                  [&](const status& why) { told.push_back(why); });
    run();
  }
  ~supervised_world() {
    for (const auto& one : {good, bad, supervisor})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    run();
  }
};

} // namespace

TEST_CASE("a supervisor tells once when an actor ends by an exception, and what it was") {
  supervised_world world;
  for (const auto& one : {world.bad, world.good})
    caf::anon_send(one, deed{[] { throw std::runtime_error("a defect"); }});
  world.run();
  REQUIRE(world.told.size() == 1);
  CHECK(world.told[0].message().starts_with("bad has ended"));
  CHECK(world.told[0].message().find("a defect") != std::string::npos);
}

TEST_CASE("a supervisor says nothing of actors that are shut down") {
  supervised_world world;
  caf::anon_send_exit(world.bad, caf::exit_reason::user_shutdown);
  world.run();
  CHECK(world.told.empty());
}

} // namespace troupe::test::supervisor_test
