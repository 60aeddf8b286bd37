// A worker that must be initialized before it serves, and the connections that initialize it.
#include "tests/support/worker_world.hpp"

namespace troupe::test::initialization_test {

using Catch::Matchers::Contains;

namespace {

const text_case puts{"q = FIFOQueue component_types=[i32] shapes=[[]] shared_name=\"rows\"\n"
                     "n = QueueEnqueue(q, i32(7))\ntarget n"};

struct waiting_world : worker_world {
  waiting_world() { server->initialization().await(now(), 60s); }
  status run_as(const connection_ptr& initializer, bool initializes) {
    from_peer(graph_of(puts, 0), initializer);
    auto handle = std::get<register_reply>(sent_messages.back()).handle;
    from_peer(run_step{.request = ++steps_run,
                       .handle = handle,
                       .step = {0, steps_run},
                       .deadline_ms = 1000,
                       .feeds = {},
                       .initializes_task = initializes},
              initializer);
    return std::get<step_done>(sent_messages.back()).outcome;
  }
  initialization_stage last_stage() const {
    return std::get<step_done>(sent_messages.back()).initialization;
  }
  uint64_t steps_run = 0;
};

} // namespace

TEST_CASE("a client that has disconnected initializes a task no longer, and the next client may") {
  waiting_world world;
  auto second = worker_world::connect();
  second->peer = "client 6";
  CHECK(world.run_as(world.connection, false).kind() == error_kind::unavailable);
  CHECK(world.last_stage() == initialization_stage::awaited);
  CHECK(world.run_as(world.connection, true));
  CHECK(world.last_stage() == initialization_stage::by_requester);
  auto refused_run = world.run_as(second, true);
  CHECK(world.last_stage() == initialization_stage::by_another);
  CHECK(refused_run.kind() == error_kind::unavailable);
  CHECK_THAT(refused_run.message(),
             Contains("/job:worker/task:0") && Contains("client 5 has been doing so"));
  world.lose(*world.connection);
  CHECK(world.server->initialization().closed()); // the initialization had not ended
  CHECK(world.run_as(second, true));
  CHECK(world.run_as(second, false).kind() == error_kind::unavailable);
  world.from_peer(initialization_end{77, true}, second);
  CHECK(std::get<reply>(world.sent_messages.back()).request == 77);
  CHECK(world.run_as(second, false));
  CHECK(world.last_stage() == initialization_stage::over);
  CHECK(world.run_as(worker_world::connect(), false));
}

TEST_CASE("a connection that ends while its step is admitted initializes a task no longer") {
  waiting_world world;
  world.from_peer(world.graph_of(puts, 0), world.connection);
  auto handle = std::get<register_reply>(world.sent_messages.back()).handle;
  world.at_next_look = [&] { world.lose(*world.connection); };
  run_request step{handle, {0, ++world.steps_run}, step_clock::time_point::max(), {}};
  step.initializes = true;
  world.server->begin(std::move(step), world.connection, [](const step_result&) {});
  world.run();
  CHECK(!world.at_next_look);
  CHECK(world.server->initialization().initializer().empty());
  auto second = worker_world::connect();
  CHECK(world.run_as(second, true));
}

TEST_CASE("a report of an initialization by a client that has initialized nothing is ignored") {
  waiting_world world;
  world.from_peer(initialization_end{77, true});
  CHECK(std::get<reply>(world.sent_messages.back()).outcome.ok());
  CHECK(world.run_as(world.connection, false).kind() == error_kind::unavailable);
}

} // namespace troupe::test::initialization_test
