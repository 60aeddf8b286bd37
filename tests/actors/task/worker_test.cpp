#include "troupe/actors/task/worker.hpp"

#include "tests/support/worker_world.hpp"

namespace troupe::test::worker_test {

using namespace std::chrono_literals;

namespace {

const char* queue = R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
get = QueueDequeue(q) component_types=[i32]
fetch get
run
put = QueueEnqueue(q, i32(7))
target put
run
size = QueueSize(q)
fetch size
)";

int fetched_int(const awaited_answer<step_result>& answer) {
  REQUIRE(*answer);
  REQUIRE(**answer);
  INFO((**answer)->outcome);
  REQUIRE((**answer)->outcome.ok());
  return *(**answer)->fetches.at(0).value.data<int32_t>();
}

status outcome_of(const awaited_answer<step_result>& answer) {
  REQUIRE(*answer);
  return **answer ? (**answer)->outcome : (**answer).status();
}

} // namespace

TEST_CASE("a worker runs a registered program as often as requested") {
  worker_world world;
  text_case text{"x = Placeholder dtype=i32 shape=[]\ny = Neg(x)\nfeed x = i32(1)\nfetch y"};
  auto registration = world.register_it(text);
  REQUIRE(registration);
  CHECK(fetched_int(world.begin(registration->handle, 1, {{0, tensor::scalar(5)}})) == -5);
  CHECK(fetched_int(world.begin(registration->handle, 2, {{0, tensor::scalar(6)}})) == -6);
  CHECK(world.steps.size() == 0);
  registration = status{error_kind::cancelled, ""};
}

TEST_CASE("instances that no step has used for a while are released") {
  worker_world world;
  auto get_program = world.register_it(text_case{queue}, 0);
  auto put_program = world.register_it(text_case{queue}, 1);
  REQUIRE(get_program);
  REQUIRE(put_program);
  for (uint64_t step = 1; step <= 5; ++step)
    world.begin(get_program->handle, step);
  for (uint64_t step = 11; step <= 15; ++step)
    world.begin(put_program->handle, step);
  CHECK(get_program->program->idle() == 5);
  world.advance_and_run(9s);
  CHECK(get_program->program->idle() == 5);
  for (int i = 0; i < 3; ++i)
    world.advance_and_run(10s);
  CHECK(get_program->program->idle() == 0);
  get_program = put_program = status{error_kind::cancelled, ""};
}

TEST_CASE("a worker checks the feeds that it receives") {
  worker_world world;
  text_case text{"x = Placeholder dtype=i32 shape=[]\ny = Neg(x)\nfeed x = i32(1)\nfetch y"};
  auto registration = world.register_it(text);
  REQUIRE(registration);
  CHECK(outcome_of(world.begin(registration->handle, 1)).kind() == error_kind::invalid_argument);
  auto outcome = outcome_of(world.begin(registration->handle, 2, {{0, tensor::scalar(1.0f)}}));
  INFO(outcome);
  CHECK(outcome.message().find("must be fed with i32[]") != std::string::npos);
  CHECK(outcome.message().find("/job:worker/task:0") != std::string::npos);
  auto shaped =
      outcome_of(world.begin(registration->handle, 3, {{0, tensor::vector<int32_t>({1, 2})}}));
  CHECK(shaped.kind() == error_kind::invalid_argument);
  registration = status{error_kind::cancelled, ""};
}

TEST_CASE("a handle that a worker does not know may be from before its restart") {
  worker_world world;
  auto outcome = outcome_of(world.begin(99, 1));
  CHECK(outcome.kind() == error_kind::aborted);
  CHECK(outcome.message().find("/job:worker/task:0") != std::string::npos);
}

TEST_CASE("a step without a waiting requester ends soon after its deadline") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = 1, .feeds = {}});
  CHECK(world.steps.size() == 1);
  world.from_peer(cancel_step{{0, 1}, failure(error_kind::deadline_exceeded, "not wanted")});
  CHECK(world.steps.size() == 0);
  auto* reply = std::get_if<step_done>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->request == 3);
  CHECK(reply->outcome.kind() == error_kind::deadline_exceeded);
}

TEST_CASE("a step that is cancelled before it arrives does not run") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(cancel_step{{0, 8}, failure(error_kind::cancelled, "not wanted")});
  world.from_peer(
      run_step{.request = 4, .handle = handle, .step = {0, 8}, .deadline_ms = 1000, .feeds = {}});
  auto* reply = std::get_if<step_done>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->outcome.message().find("not wanted") != std::string::npos);
  CHECK(world.steps.size() == 0);
}

TEST_CASE("a client that disconnects ends its steps and programs, and leaves queues as they were") {
  worker_world world;
  text_case text{queue};
  auto own_program = world.register_it(text, 1), asks = world.register_it(text, 2);
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 4, .handle = handle, .step = {0, 8}, .deadline_ms = 60'000, .feeds = {}});
  CHECK(world.steps.size() == 1);
  world.lose(*world.connection);
  CHECK(world.steps.size() == 0);
  CHECK(outcome_of(world.begin(own_program->handle, 9)).ok());
  CHECK(fetched_int(world.begin(asks->handle, 10)) == 1);
  CHECK(world.run_from_peer(handle, 11).kind() == error_kind::aborted);
  own_program = asks = status{error_kind::cancelled, ""};
}

TEST_CASE("the end of an old connection keeps the programs of a new connection of the same peer") {
  worker_world world;
  text_case text{queue};
  auto old = world.register_from_peer(text, 1);
  auto before = std::exchange(world.connection, worker_world::connect());
  auto handle = world.register_from_peer(text, 1);
  world.from_peer(deregister_graph{old}); // a program of another owner
  world.lose(*before);
  CHECK(world.run_from_peer(handle, 1).ok());
  CHECK(world.run_from_peer(old, 2).kind() == error_kind::aborted);
  world.lose(*world.connection);
  CHECK(world.run_from_peer(handle, 3).kind() == error_kind::aborted);
}

TEST_CASE("programs run only for the connection that registered them") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text, 1);
  auto owner = std::exchange(world.connection, worker_world::connect());
  CHECK(world.run_from_peer(handle, 1).kind() == error_kind::aborted);
  world.from_peer(deregister_graph{handle});
  world.connection = owner;
  CHECK(world.run_from_peer(handle, 2).ok());
}

TEST_CASE("a registration for a connection that has ended is dropped") {
  worker_world world;
  text_case text{queue};
  auto registration = world.graph_of(text, 1);
  caf::anon_send(world.worker, incoming{registration, world.peer, world.connection});
  world.lose(*world.connection); // before the worker has noticed the loss
  auto* reply = std::get_if<register_reply>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->outcome.kind() == error_kind::aborted);
  CHECK(world.server->programs().size() == 0);
}

TEST_CASE("the number of graphs of one connection that wait to be compiled is limited") {
  worker_world world;
  text_case text{queue};
  auto registration = world.graph_of(text, 1);
  for (int i = 0; i < 1100; ++i)
    caf::anon_send(world.worker, incoming{registration, world.peer, world.connection});
  world.run();
  int registered = 0, refused = 0;
  for (const auto& message : world.sent_messages) {
    const auto& outcome = std::get<register_reply>(message).outcome;
    registered += outcome.ok();
    refused += outcome.kind() == error_kind::resource_exhausted;
  }
  CHECK(registered >= 1024);
  CHECK(registered + refused == 1100);
  world.sent_messages.clear();
  world.from_peer(registration);
  CHECK(std::get<register_reply>(world.sent_messages.back()).outcome.ok());
}

TEST_CASE("requests for another incarnation of a task are refused") {
  worker_world world;
  text_case text{queue};
  auto registration = world.graph_of(text, 1);
  registration.settings.incarnation = incarnation - 1;
  world.from_peer(registration);
  CHECK(std::get<register_reply>(world.sent_messages.back()).outcome.kind() ==
        error_kind::unavailable);
  auto handle = world.register_from_peer(text, 1);
  CHECK(world.run_from_peer(handle, 1, incarnation - 1).kind() == error_kind::aborted);
  CHECK(world.run_from_peer(handle, 2, incarnation).ok());
}

TEST_CASE("steps of two sessions may have the same number") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text, 0); // of session 0
  world.from_peer(run_step{.request = 1, .handle = handle, .step = {0, 7}, .deadline_ms = 9'000});
  CHECK(world.steps.size() == 1);
  world.from_peer(cancel_step{{5, 7}, failure(error_kind::cancelled, "of another session")});
  CHECK(world.steps.size() == 1);
  world.from_peer(run_step{.request = 2, .handle = handle, .step = {5, 8}, .deadline_ms = 9'000});
  CHECK(std::get<step_done>(world.sent_messages.back()).outcome.kind() ==
        error_kind::invalid_argument);
  world.from_peer(cancel_step{{0, 7}, failure(error_kind::cancelled, "enough")});
  CHECK(world.steps.size() == 0);
}

TEST_CASE("a step whose deadline has passed on arrival does not begin") {
  worker_world world;
  text_case text{queue};
  auto put_handle = world.register_from_peer(text, 1);
  auto size = world.register_it(text, 2);
  REQUIRE(size);
  auto run = [&](uint64_t step, uint64_t ms) {
    world.from_peer(
        run_step{.request = step, .handle = put_handle, .step = {0, step}, .deadline_ms = ms});
    return std::get<step_done>(world.sent_messages.back()).outcome;
  };
  auto late_outcome = run(1, 0);
  CHECK(late_outcome.kind() == error_kind::deadline_exceeded);
  CHECK(late_outcome.message().find("nothing of it has run") != std::string::npos);
  CHECK(world.steps.size() == 0);
  CHECK(fetched_int(world.begin(size->handle, 2)) == 0);
  CHECK(run(3, 1000).ok());
  CHECK(fetched_int(world.begin(size->handle, 4)) == 1);
  size = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that was cancelled before it arrived changes nothing") {
  worker_world world;
  text_case text{R"(
v = VariableV2 dtype=i32 shape=[]
init = Assign(v, i32(0))
target init
run
more = AssignAdd(v, i32(1))
target more
run
now = Identity(v)
fetch now
)"};
  auto init = world.register_it(text, 0), second_program = world.register_it(text, 1),
       now = world.register_it(text, 2);
  REQUIRE(outcome_of(world.begin(init->handle, 1)).ok());
  for (uint64_t step = 10; step < 30; ++step) {
    world.from_peer(cancel_step{{0, step}, failure(error_kind::cancelled, "not wanted")});
    CHECK(outcome_of(world.begin(second_program->handle, step)).kind() == error_kind::cancelled);
  }
  CHECK(fetched_int(world.begin(now->handle, 40)) == 0);
  CHECK(outcome_of(world.begin(second_program->handle, 40)).message().find("has run already") !=
        std::string::npos);
  init = second_program = now = status{error_kind::cancelled, ""};
}

TEST_CASE("a fetch with a huge index is refused before it takes memory") {
  worker_world world;
  graph nodes{library()};
  auto* value =
      *nodes.add({.op = "Const", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
  REQUIRE(nodes.add({.op = "_Fetch",
                     .inputs = {{value, 0}},
                     .attrs = {{"index", int64_t{4'294'967'294}}, {"T", dtype::i32}}}));
  register_graph registration;
  registration.partitions.push_back({"/job:worker/task:0/device:cpu:0", *write_graph(nodes)});
  world.from_peer(std::move(registration));
  auto* reply = std::get_if<register_reply>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->outcome.message().find("a fetch has index 4294967294, at most 65535 are allowed") !=
        std::string::npos);
}

TEST_CASE("a damaged graph is refused, and the worker lives on") {
  worker_world world;
  register_graph registration;
  auto noise = tensor::from_values<uint8_t>({5}, {1, 2, 3, 4, 5});
  registration.request = 6;
  registration.partitions.push_back({"/job:worker/task:0/device:cpu:0", noise});
  world.from_peer(registration);
  auto* reply = std::get_if<register_reply>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->request == 6);
  CHECK(!reply->outcome.ok());
  registration.partitions[0].device = "/job:worker/task:0/device:gpu:7";
  world.from_peer(registration);
  CHECK(!std::get<register_reply>(world.sent_messages.back()).outcome.ok());
  text_case text{"x = Neg(i32(3))\nfetch x"};
  auto registered_program = world.register_it(text);
  REQUIRE(registered_program);
  CHECK(fetched_int(world.begin(registered_program->handle, 1)) == -3);
  registered_program = status{error_kind::cancelled, ""};
}

TEST_CASE("tensors from peers may arrive before their step, twice, or damaged") {
  worker_world world;
  text_case text{R"(
v = VariableV2 dtype=f32 shape=[2] @"/job:ps/task:0"
y = Neg(v) @"/job:worker/task:0"
fetch y
)"};
  auto registration = world.register_it(text);
  REQUIRE(registration);
  auto value = tensor::vector<float>({3, 3});
  auto push = [&](uint64_t step, uint32_t key, tensor pushed) {
    world.steps.deliver(tensor_push{{0, step}, key, false, std::move(pushed)}, nullptr);
    world.run();
  };
  uint32_t key = UINT32_MAX;
  for (const auto& part : world.cut_for(text))
    for (const auto& graph_node : part.nodes->nodes())
      if (graph_node->op().name == "_Recv")
        key = static_cast<uint32_t>(graph_node->attr<int64_t>("key"));
  push(1, key, value);
  auto early_answer = world.begin(registration->handle, 1);
  INFO(outcome_of(early_answer));
  REQUIRE(outcome_of(early_answer).ok());
  CHECK((**early_answer)->fetches.at(0).value.data<float>()[1] == -3.0f);
  push(1, key, value); // late: dropped
  auto outcome = world.begin(registration->handle, 2);
  CHECK(!*outcome);
  push(2, key, tensor::scalar(1));
  CHECK(outcome_of(outcome).kind() == error_kind::invalid_argument);
  auto unknown = world.begin(registration->handle, 3);
  push(3, key + 77, value);
  CHECK(outcome_of(unknown).kind() == error_kind::invalid_argument);
  auto lost = world.begin(registration->handle, 4);
  auto ps = worker_world::connect();
  ps->peer = "/job:ps/task:0";
  world.lose(*ps);
  CHECK(outcome_of(lost).kind() == error_kind::unavailable);
  CHECK(outcome_of(lost).message().find("/job:ps/task:0") != std::string::npos);
  CHECK(world.steps.size() == 0);
  registration = status{error_kind::cancelled, ""};
}

TEST_CASE("tensors that arrive early are kept, however many steps have ended before") {
  worker_world world;
  text_case text{R"(
v = VariableV2 dtype=f32 shape=[2] @"/job:ps/task:0"
y = Neg(v) @"/job:worker/task:0"
fetch y
)"};
  auto registration = world.register_it(text);
  REQUIRE(registration);
  uint32_t key = UINT32_MAX;
  for (const auto& part : world.cut_for(text))
    for (const auto& graph_node : part.nodes->nodes())
      if (graph_node->op().name == "_Recv")
        key = static_cast<uint32_t>(graph_node->attr<int64_t>("key"));
  auto push = [&](uint64_t step) {
    world.steps.deliver(tensor_push{{0, step}, key, false, tensor::vector<float>({3, 3})}, nullptr);
  };
  constexpr uint64_t steps = 80'000; // more than a worker remembers
  for (uint64_t step = 1; step <= steps; ++step) {
    push(step);
    auto answer = world.begin(registration->handle, step);
    REQUIRE(*answer);
    // Their deadlines pass.
    if (step % 20'000 == 0)
      world.advance_and_run(5s);
  }
  world.advance_and_run(5s);
  CHECK(world.timers() < 5);
  push(steps + 1);
  auto answer = world.begin(registration->handle, steps + 1);
  INFO(outcome_of(answer));
  CHECK(outcome_of(answer).ok());
  registration = status{error_kind::cancelled, ""};
}

TEST_CASE("a step from another process ends soon after its deadline, without a request") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = 2000, .feeds = {}});
  for (int i = 0; i < 10; ++i)
    world.advance_and_run(250ms);
  CHECK(world.steps.size() == 1);
  for (int i = 0; i < 4; ++i)
    world.advance_and_run(250ms);
  CHECK(world.steps.size() == 0);
  auto* reply = std::get_if<step_done>(&world.sent_messages.back());
  REQUIRE(reply);
  CHECK(reply->outcome.kind() == error_kind::deadline_exceeded);
}

TEST_CASE("a step without a deadline is not overdue") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(run_step{
      .request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = UINT64_MAX, .feeds = {}});
  for (int i = 0; i < 10; ++i)
    world.advance_and_run(1h);
  CHECK(world.steps.size() == 1);
}

TEST_CASE(
    "an element that a step took stays reserved until its connection reports the step's end") {
  worker_world world;
  text_case text{queue};
  enum { get, put };
  auto other_connection = worker_world::connect();
  auto take = world.register_from_peer(text, get), give = world.register_from_peer(text, put);
  world.from_peer(world.graph_of(text, get), other_connection);
  auto take_too = std::get<register_reply>(world.sent_messages.back()).handle;
  uint64_t step = 0;
  auto begin = [&](uint64_t handle, const connection_ptr& from) {
    ++step;
    world.from_peer(
        run_step{.request = step, .handle = handle, .step = {0, step}, .deadline_ms = 9000}, from);
    return std::get<step_done>(world.sent_messages.back());
  };
  auto answers = [&] {
    return std::ranges::count_if(world.sent_messages, [](const auto& message) {
      return std::holds_alternative<step_done>(message);
    });
  };
  CHECK(!begin(give, world.connection).is_revocable);
  auto take_answer = begin(take, world.connection);
  CHECK(take_answer.outcome.ok());
  CHECK(take_answer.is_revocable);
  CHECK(world.server->unsettled() == 1);
  CHECK(world.connection->running == 1);

  // Another step waits, and gets the element after the first has failed elsewhere.
  auto before = answers();
  begin(take_too, other_connection);
  CHECK(answers() == before);
  world.from_peer(cancel_step{{0, 2}, failure(error_kind::cancelled, "elsewhere")});
  CHECK(answers() == before + 1);
  CHECK(std::get<step_done>(world.sent_messages.back()).fetches.at(0).value.data<int32_t>()[0] ==
        7);
  CHECK(world.connection->running == 0);

  // The connection ends before it has reported how the step ended.
  before = answers();
  begin(take, world.connection);
  CHECK(answers() == before);
  world.lose(*other_connection);
  CHECK(answers() == before + 1);
  CHECK(other_connection->running == 0);

  // The step has succeeded everywhere: the element does not return.
  world.from_peer(settle_step{{0, step}, 5});
  CHECK(std::get<reply>(world.sent_messages.back()).request == 5);
  CHECK(std::get<reply>(world.sent_messages.back()).outcome.ok());
  world.from_peer(settle_step{{0, step}, 6}); // as if the element had been returned meanwhile
  CHECK(std::get<reply>(world.sent_messages.back()).outcome.kind() == error_kind::aborted);
  world.from_peer(cancel_step{{0, step}, failure(error_kind::cancelled, "too late")});
  CHECK(world.server->unsettled() == 0);
  CHECK(world.connection->running == 0);
  world.sent_messages.push_back(step_done{}); // begin() looks at the last message
  before = answers();
  begin(take, world.connection);
  CHECK(answers() == before);
}

// A client from an access list.
connection_ptr client_named(const std::string& name, size_t programs = 0) {
  auto client_connection = worker_world::connect();
  client_connection->account = std::make_shared<peer_account>(
      name, access_rights{.may_register = true, .may_run = true, .programs = programs});
  return client_connection;
}

TEST_CASE("a client cannot end steps of other clients, and cannot use their session") {
  worker_world world;
  const text_case waiting_case{queue}, other_case{"x = Add(i32(1), i32(2))\nfetch x"};
  world.connection = client_named("alice");
  auto bob = client_named("bob");
  auto handle = world.register_from_peer(waiting_case, 0),
       next = world.register_from_peer(other_case, 0);
  world.from_peer(run_step{.request = 1, .handle = handle, .step = {0, 7}, .deadline_ms = 9'000});
  REQUIRE(world.steps.size() == 1);

  auto same_graph = world.graph_of(other_case, 0), own_graph = world.graph_of(other_case, 0);
  world.from_peer(same_graph, bob);
  auto refused = std::get<register_reply>(world.sent_messages.back()).outcome;
  CHECK(refused.kind() == error_kind::failed_precondition);
  CHECK(refused.message().find("client 'bob' names a session") != std::string::npos);
  own_graph.settings.session = 5;
  world.from_peer(own_graph, bob);
  auto bobs = std::get<register_reply>(world.sent_messages.back());
  REQUIRE(bobs.outcome);

  world.from_peer(cancel_step{{0, 7}, failure(error_kind::cancelled, "of another")}, bob);
  CHECK(world.steps.size() == 1);
  world.from_peer(cancel_step{{0, 8}, failure(error_kind::cancelled, "of another")}, bob);
  world.from_peer(settle_step{{0, 7}, 9}, bob);
  CHECK(std::get<reply>(world.sent_messages.back()).outcome.kind() ==
        error_kind::failed_precondition);
  CHECK(world.run_from_peer(next, 8));

  // Steps that bob cancels in advance take little memory, and none of other clients.
  constexpr uint64_t many_steps = 70'000;
  for (uint64_t i = 0; i < many_steps; ++i) {
    world.from_peer(cancel_step{{i % 2 ? 5 : 1000 + i, i}, failure(error_kind::cancelled, "x")},
                    bob);
  }
  CHECK(world.steps.sizes().early_steps == 0);
  CHECK(world.run_from_peer(next, 9));
  auto run_bobs = [&](uint64_t number) {
    world.from_peer(
        run_step{.request = 2, .handle = bobs.handle, .step = {5, number}, .deadline_ms = 1000},
        bob);
    return std::get<step_done>(world.sent_messages.back()).outcome;
  };
  CHECK(run_bobs(many_steps - 1).kind() == error_kind::cancelled);
  CHECK(run_bobs(many_steps + 1));
  CHECK(bob->running == 0);

  world.from_peer(cancel_step{{0, 7}, failure(error_kind::cancelled, "enough")});
  CHECK(world.steps.size() == 0);
  world.lose(*bob); // its session may then be opened by another connection
  world.from_peer(own_graph);
  CHECK(std::get<register_reply>(world.sent_messages.back()).outcome);
}

TEST_CASE("a client has no more graphs waiting than it may register") {
  worker_world world;
  const text_case text{"x = Add(i32(1), i32(2))\nfetch x"};
  world.connection = client_named("bob", 2);
  auto registration = world.graph_of(text, 0);
  for (uint64_t i = 1; i <= 4; ++i) {
    registration.request = i;
    caf::anon_send(world.worker, incoming{registration, world.peer, world.connection});
  }
  world.run();
  std::map<uint64_t, status> outcome;
  for (const auto& message : world.sent_messages)
    outcome[std::get<register_reply>(message).request] = std::get<register_reply>(message).outcome;
  REQUIRE(outcome.size() == 4);
  CHECK(outcome[1]);
  CHECK(outcome[2]);
  for (uint64_t i : {3, 4})
    CHECK(outcome[i].message().find("2 graphs that wait to be compiled") != std::string::npos);
  CHECK(world.connection->registering == 0);
  CHECK(world.connection->account->registering == 0);
}

TEST_CASE("positions are kept for a bounded number of sessions of one connection") {
  worker_world world;
  auto outcome_of = [&](uint64_t session) {
    world.from_peer(positions_request{session, session, {{"a", "1 2 3"}}});
    return std::get<positions_reply>(world.sent_messages.back()).outcome;
  };
  for (uint64_t session = 1; session <= 64; ++session)
    CHECK(outcome_of(session));
  CHECK(outcome_of(65).kind() == error_kind::resource_exhausted);
  CHECK(outcome_of(64));
}

TEST_CASE("a worker that ends answers its open requests, and no step runs any more") {
  worker_world world;
  text_case text{queue};
  auto registration = world.register_it(text);
  REQUIRE(registration);
  auto answer = world.begin(registration->handle, 1);
  CHECK(!*answer);
  caf::anon_send_exit(world.worker, caf::exit_reason::user_shutdown);
  world.run();
  CHECK(outcome_of(answer).kind() == error_kind::unavailable);
  CHECK(world.steps.size() == 0);
  registration = status{error_kind::cancelled, ""};
}

} // namespace troupe::test::worker_test
