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

int fetched_int(const answer_box<step_result>& box) {
  REQUIRE(*box);
  REQUIRE(**box);
  INFO((**box)->outcome);
  REQUIRE((**box)->outcome.ok());
  return *(**box)->fetches.at(0).value.data<int32_t>();
}

status outcome_of(const answer_box<step_result>& box) {
  REQUIRE(*box);
  return **box ? (**box)->outcome : (**box).status();
}

} // namespace

TEST_CASE("a worker runs what was registered, as often as asked") {
  worker_world world;
  text_case text{"x = Placeholder dtype=i32 shape=[]\ny = Neg(x)\nfeed x = i32(1)\nfetch y"};
  auto made = world.register_it(text);
  REQUIRE(made);
  CHECK(fetched_int(world.begin(made->handle, 1, {{0, tensor::scalar(5)}})) == -5);
  CHECK(fetched_int(world.begin(made->handle, 2, {{0, tensor::scalar(6)}})) == -6);
  CHECK(world.steps.size() == 0);
  made = status{error_kind::cancelled, ""};
}

TEST_CASE("instances that no step has used for a while go") {
  worker_world world;
  auto made = world.register_it(text_case{queue}, 0);
  auto put = world.register_it(text_case{queue}, 1);
  REQUIRE(made);
  REQUIRE(put);
  for (uint64_t step = 1; step <= 5; ++step)
    world.begin(made->handle, step);
  for (uint64_t step = 11; step <= 15; ++step)
    world.begin(put->handle, step);
  CHECK(made->program->idle() == 5);
  world.pass(9s);
  CHECK(made->program->idle() == 5);
  for (int i = 0; i < 3; ++i)
    world.pass(10s);
  CHECK(made->program->idle() == 0);
  made = put = status{error_kind::cancelled, ""};
}

TEST_CASE("a worker does not believe the feeds that it is sent") {
  worker_world world;
  text_case text{"x = Placeholder dtype=i32 shape=[]\ny = Neg(x)\nfeed x = i32(1)\nfetch y"};
  auto made = world.register_it(text);
  REQUIRE(made);
  CHECK(outcome_of(world.begin(made->handle, 1)).kind() == error_kind::invalid_argument);
  auto wrong = outcome_of(world.begin(made->handle, 2, {{0, tensor::scalar(1.0f)}}));
  INFO(wrong);
  CHECK(wrong.message().find("must be fed with i32[]") != std::string::npos);
  CHECK(wrong.message().find("/job:worker/task:0") != std::string::npos);
  auto shaped = outcome_of(world.begin(made->handle, 3, {{0, tensor::vector<int32_t>({1, 2})}}));
  CHECK(shaped.kind() == error_kind::invalid_argument);
  made = status{error_kind::cancelled, ""};
}

TEST_CASE("a program that a worker does not know may be one from before its restart") {
  worker_world world;
  auto why = outcome_of(world.begin(99, 1));
  CHECK(why.kind() == error_kind::aborted);
  CHECK(why.message().find("/job:worker/task:0") != std::string::npos);
}

TEST_CASE("a step that nobody waits for any more ends soon after its deadline") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = 1, .feeds = {}});
  CHECK(world.steps.size() == 1);
  world.from_peer(cancel_step{{0, 1}, failure(error_kind::deadline_exceeded, "not wanted")});
  CHECK(world.steps.size() == 0);
  auto* done = std::get_if<step_done>(&world.sent.back());
  REQUIRE(done);
  CHECK(done->request == 3);
  CHECK(done->outcome.kind() == error_kind::deadline_exceeded);
}

TEST_CASE("a step that is cancelled before it comes does not run") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(cancel_step{{0, 8}, failure(error_kind::cancelled, "not wanted")});
  world.from_peer(
      run_step{.request = 4, .handle = handle, .step = {0, 8}, .deadline_ms = 1000, .feeds = {}});
  auto* done = std::get_if<step_done>(&world.sent.back());
  REQUIRE(done);
  CHECK(done->outcome.message().find("not wanted") != std::string::npos);
  CHECK(world.steps.size() == 0);
}

TEST_CASE(
    "a client that is gone takes its steps and programs with it, and leaves queues as they were") {
  worker_world world;
  text_case text{queue};
  auto mine = world.register_it(text, 1), asks = world.register_it(text, 2);
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 4, .handle = handle, .step = {0, 8}, .deadline_ms = 60'000, .feeds = {}});
  CHECK(world.steps.size() == 1);
  world.lose(*world.connection);
  CHECK(world.steps.size() == 0);
  CHECK(outcome_of(world.begin(mine->handle, 9)).ok());
  CHECK(fetched_int(world.begin(asks->handle, 10)) == 1);
  CHECK(world.run_from_peer(handle, 11).kind() == error_kind::aborted);
  mine = asks = status{error_kind::cancelled, ""};
}

TEST_CASE("the end of an old connection leaves what came by a new one of the same peer") {
  worker_world world;
  text_case text{queue};
  auto old = world.register_from_peer(text, 1);
  auto before = std::exchange(world.connection, worker_world::connect());
  auto handle = world.register_from_peer(text, 1);
  world.from_peer(deregister_graph{old}); // not its own
  world.lose(*before);
  CHECK(world.run_from_peer(handle, 1).ok());
  CHECK(world.run_from_peer(old, 2).kind() == error_kind::aborted);
  world.lose(*world.connection);
  CHECK(world.run_from_peer(handle, 3).kind() == error_kind::aborted);
}

TEST_CASE("programs run for the connection that registered them, and for no other") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text, 1);
  auto owner = std::exchange(world.connection, worker_world::connect());
  CHECK(world.run_from_peer(handle, 1).kind() == error_kind::aborted);
  world.from_peer(deregister_graph{handle});
  world.connection = owner;
  CHECK(world.run_from_peer(handle, 2).ok());
}

TEST_CASE("what is registered for a connection that has ended is dropped") {
  worker_world world;
  text_case text{queue};
  auto what = world.graph_of(text, 1);
  caf::anon_send(world.worker, incoming{what, world.peer, world.connection});
  world.lose(*world.connection); // before the worker has looked at it
  auto* reply = std::get_if<register_reply>(&world.sent.back());
  REQUIRE(reply);
  CHECK(reply->outcome.kind() == error_kind::aborted);
  CHECK(world.server->programs().size() == 0);
}

TEST_CASE("graphs of one connection that wait to be compiled are bounded") {
  worker_world world;
  text_case text{queue};
  auto what = world.graph_of(text, 1);
  for (int i = 0; i < 1100; ++i)
    caf::anon_send(world.worker, incoming{what, world.peer, world.connection});
  world.run();
  int registered = 0, refused = 0;
  for (const auto& one : world.sent) {
    const auto& outcome = std::get<register_reply>(one).outcome;
    registered += outcome.ok();
    refused += outcome.kind() == error_kind::resource_exhausted;
  }
  CHECK(registered >= 1024);
  CHECK(registered + refused == 1100);
  world.sent.clear();
  world.from_peer(what);
  CHECK(std::get<register_reply>(world.sent.back()).outcome.ok());
}

TEST_CASE("requests for another incarnation of a task are refused") {
  worker_world world;
  text_case text{queue};
  auto what = world.graph_of(text, 1);
  what.how.incarnation = incarnation - 1;
  world.from_peer(what);
  CHECK(std::get<register_reply>(world.sent.back()).outcome.kind() == error_kind::unavailable);
  auto handle = world.register_from_peer(text, 1);
  CHECK(world.run_from_peer(handle, 1, incarnation - 1).kind() == error_kind::aborted);
  CHECK(world.run_from_peer(handle, 2, incarnation).ok());
}

TEST_CASE("steps of two sessions may have one number") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text, 0); // of session 0
  world.from_peer(run_step{.request = 1, .handle = handle, .step = {0, 7}, .deadline_ms = 9'000});
  CHECK(world.steps.size() == 1);
  world.from_peer(cancel_step{{5, 7}, failure(error_kind::cancelled, "of another session")});
  CHECK(world.steps.size() == 1);
  world.from_peer(run_step{.request = 2, .handle = handle, .step = {5, 8}, .deadline_ms = 9'000});
  CHECK(std::get<step_done>(world.sent.back()).outcome.kind() == error_kind::invalid_argument);
  world.from_peer(cancel_step{{0, 7}, failure(error_kind::cancelled, "enough")});
  CHECK(world.steps.size() == 0);
}

TEST_CASE("a step whose deadline has passed when it comes does not begin") {
  worker_world world;
  text_case text{queue};
  auto put = world.register_from_peer(text, 1);
  auto size = world.register_it(text, 2);
  REQUIRE(size);
  auto run = [&](uint64_t step, uint64_t ms) {
    world.from_peer(run_step{.request = step, .handle = put, .step = {0, step}, .deadline_ms = ms});
    return std::get<step_done>(world.sent.back()).outcome;
  };
  auto late = run(1, 0);
  CHECK(late.kind() == error_kind::deadline_exceeded);
  CHECK(late.message().find("nothing of it has run") != std::string::npos);
  CHECK(world.steps.size() == 0);
  CHECK(fetched_int(world.begin(size->handle, 2)) == 0);
  CHECK(run(3, 1000).ok());
  CHECK(fetched_int(world.begin(size->handle, 4)) == 1);
  size = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that was cancelled before it came changes nothing") {
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
  auto init = world.register_it(text, 0), more = world.register_it(text, 1),
       now = world.register_it(text, 2);
  REQUIRE(outcome_of(world.begin(init->handle, 1)).ok());
  for (uint64_t step = 10; step < 30; ++step) {
    world.from_peer(cancel_step{{0, step}, failure(error_kind::cancelled, "not wanted")});
    CHECK(outcome_of(world.begin(more->handle, step)).kind() == error_kind::cancelled);
  }
  CHECK(fetched_int(world.begin(now->handle, 40)) == 0);
  CHECK(outcome_of(world.begin(more->handle, 40)).message().find("has run already") !=
        std::string::npos);
  init = more = now = status{error_kind::cancelled, ""};
}

TEST_CASE("a fetch of a huge index is refused before it takes memory") {
  worker_world world;
  graph nodes{library()};
  auto* value =
      *nodes.add({.op = "Const", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
  REQUIRE(nodes.add({.op = "_Fetch",
                     .inputs = {{value, 0}},
                     .attrs = {{"index", int64_t{4'294'967'294}}, {"T", dtype::i32}}}));
  register_graph what;
  what.partitions.push_back({"/job:worker/task:0/device:cpu:0", *write_graph(nodes)});
  world.from_peer(std::move(what));
  auto* reply = std::get_if<register_reply>(&world.sent.back());
  REQUIRE(reply);
  CHECK(reply->outcome.message().find("a fetch has index 4294967294, at most 65535 are allowed") !=
        std::string::npos);
}

TEST_CASE("a graph that was damaged on its way is refused, and the worker lives on") {
  worker_world world;
  register_graph what;
  auto noise = tensor::of<uint8_t>({5}, {1, 2, 3, 4, 5});
  what.request = 6;
  what.partitions.push_back({"/job:worker/task:0/device:cpu:0", noise});
  world.from_peer(what);
  auto* reply = std::get_if<register_reply>(&world.sent.back());
  REQUIRE(reply);
  CHECK(reply->request == 6);
  CHECK(!reply->outcome.ok());
  what.partitions[0].device = "/job:worker/task:0/device:gpu:7";
  world.from_peer(what);
  CHECK(!std::get<register_reply>(world.sent.back()).outcome.ok());
  text_case text{"x = Neg(i32(3))\nfetch x"};
  auto made = world.register_it(text);
  REQUIRE(made);
  CHECK(fetched_int(world.begin(made->handle, 1)) == -3);
  made = status{error_kind::cancelled, ""};
}

TEST_CASE("tensors from peers may come before their step, twice unwanted, or damaged") {
  worker_world world;
  text_case text{R"(
v = VariableV2 dtype=f32 shape=[2] @"/job:ps/task:0"
y = Neg(v) @"/job:worker/task:0"
fetch y
)"};
  auto made = world.register_it(text);
  REQUIRE(made);
  auto value = tensor::vector<float>({3, 3});
  auto push = [&](uint64_t step, uint32_t key, tensor with) {
    world.steps.push(tensor_push{{0, step}, key, false, std::move(with)}, nullptr);
    world.run();
  };
  uint32_t key = UINT32_MAX;
  for (const auto& part : world.cut_for(text))
    for (const auto& at : part.nodes->nodes())
      if (at->op().name == "_Recv")
        key = static_cast<uint32_t>(at->attr<int64_t>("key"));
  push(1, key, value);
  auto early = world.begin(made->handle, 1);
  INFO(outcome_of(early));
  REQUIRE(outcome_of(early).ok());
  CHECK((**early)->fetches.at(0).value.data<float>()[1] == -3.0f);
  push(1, key, value); // late: dropped
  auto wrong = world.begin(made->handle, 2);
  CHECK(!*wrong);
  push(2, key, tensor::scalar(1));
  CHECK(outcome_of(wrong).kind() == error_kind::invalid_argument);
  auto unknown = world.begin(made->handle, 3);
  push(3, key + 77, value);
  CHECK(outcome_of(unknown).kind() == error_kind::invalid_argument);
  auto lost = world.begin(made->handle, 4);
  auto ps = worker_world::connect();
  ps->peer = "/job:ps/task:0";
  world.lose(*ps);
  CHECK(outcome_of(lost).kind() == error_kind::unavailable);
  CHECK(outcome_of(lost).message().find("/job:ps/task:0") != std::string::npos);
  CHECK(world.steps.size() == 0);
  made = status{error_kind::cancelled, ""};
}

TEST_CASE("what comes early is kept, however many steps have ended before") {
  worker_world world;
  text_case text{R"(
v = VariableV2 dtype=f32 shape=[2] @"/job:ps/task:0"
y = Neg(v) @"/job:worker/task:0"
fetch y
)"};
  auto made = world.register_it(text);
  REQUIRE(made);
  uint32_t key = UINT32_MAX;
  for (const auto& part : world.cut_for(text))
    for (const auto& at : part.nodes->nodes())
      if (at->op().name == "_Recv")
        key = static_cast<uint32_t>(at->attr<int64_t>("key"));
  auto push = [&](uint64_t step) {
    world.steps.push(tensor_push{{0, step}, key, false, tensor::vector<float>({3, 3})}, nullptr);
  };
  constexpr uint64_t steps = 80'000; // more than a worker remembers
  for (uint64_t step = 1; step <= steps; ++step) {
    push(step);
    auto box = world.begin(made->handle, step);
    REQUIRE(*box);
    if (step % 20'000 == 0)
      world.pass(5s); // their deadlines pass
  }
  world.pass(5s);
  CHECK(world.timers() < 5);
  push(steps + 1);
  auto box = world.begin(made->handle, steps + 1);
  INFO(outcome_of(box));
  CHECK(outcome_of(box).ok());
  made = status{error_kind::cancelled, ""};
}

TEST_CASE(
    "a step that came from another process ends soon after its deadline, with nobody asking") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(
      run_step{.request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = 2000, .feeds = {}});
  for (int i = 0; i < 10; ++i)
    world.pass(250ms);
  CHECK(world.steps.size() == 1);
  for (int i = 0; i < 4; ++i)
    world.pass(250ms);
  CHECK(world.steps.size() == 0);
  auto* done = std::get_if<step_done>(&world.sent.back());
  REQUIRE(done);
  CHECK(done->outcome.kind() == error_kind::deadline_exceeded);
}

TEST_CASE("a step without a deadline is not overdue") {
  worker_world world;
  text_case text{queue};
  auto handle = world.register_from_peer(text);
  world.from_peer(run_step{
      .request = 3, .handle = handle, .step = {0, 1}, .deadline_ms = UINT64_MAX, .feeds = {}});
  for (int i = 0; i < 10; ++i)
    world.pass(1h);
  CHECK(world.steps.size() == 1);
}

TEST_CASE("what a step took waits for the end of the whole step, which its connection says") {
  worker_world world;
  text_case text{queue};
  enum { get, put };
  auto other = worker_world::connect();
  auto take = world.register_from_peer(text, get), give = world.register_from_peer(text, put);
  world.from_peer(world.graph_of(text, get), other);
  auto take_too = std::get<register_reply>(world.sent.back()).handle;
  uint64_t step = 0;
  auto begin = [&](uint64_t handle, const connection_ptr& from) {
    ++step;
    world.from_peer(
        run_step{.request = step, .handle = handle, .step = {0, step}, .deadline_ms = 9000}, from);
    return std::get<step_done>(world.sent.back());
  };
  auto answers = [&] {
    return std::ranges::count_if(
        world.sent, [](const auto& one) { return std::holds_alternative<step_done>(one); });
  };
  CHECK(!begin(give, world.connection).holds);
  auto taken = begin(take, world.connection);
  CHECK(taken.outcome.ok());
  CHECK(taken.holds);
  CHECK(world.server->unsettled() == 1);
  CHECK(world.connection->running == 1);

  // Another waits, and gets it when the step has failed elsewhere.
  auto before = answers();
  begin(take_too, other);
  CHECK(answers() == before);
  world.from_peer(cancel_step{{0, 2}, failure(error_kind::cancelled, "elsewhere")});
  CHECK(answers() == before + 1);
  CHECK(std::get<step_done>(world.sent.back()).fetches.at(0).value.data<int32_t>()[0] == 7);
  CHECK(world.connection->running == 0);

  // Its connection ends before it has said how the step ended.
  before = answers();
  begin(take, world.connection);
  CHECK(answers() == before);
  world.lose(*other);
  CHECK(answers() == before + 1);
  CHECK(other->running == 0);

  // All has ended well: it does not come again.
  world.from_peer(settle_step{{0, step}, 5});
  CHECK(std::get<reply>(world.sent.back()).request == 5);
  CHECK(std::get<reply>(world.sent.back()).outcome.ok());
  world.from_peer(settle_step{{0, step}, 6}); // as if it had gone back meanwhile
  CHECK(std::get<reply>(world.sent.back()).outcome.kind() == error_kind::aborted);
  world.from_peer(cancel_step{{0, step}, failure(error_kind::cancelled, "too late")});
  CHECK(world.server->unsettled() == 0);
  CHECK(world.connection->running == 0);
  world.sent.push_back(step_done{}); // what begin() looks at
  before = answers();
  begin(take, world.connection);
  CHECK(answers() == before);
}

// Somebody on an access list.
connection_ptr client_named(const std::string& name, size_t programs = 0) {
  auto made = worker_world::connect();
  made->account = std::make_shared<peer_account>(
      name, access_rights{.registers = true, .runs = true, .programs = programs});
  return made;
}

TEST_CASE("a client ends no steps of others, and cannot take their session") {
  worker_world world;
  const text_case waits{queue}, other{"x = Add(i32(1), i32(2))\nfetch x"};
  world.connection = client_named("alice");
  auto bob = client_named("bob");
  auto handle = world.register_from_peer(waits, 0), next = world.register_from_peer(other, 0);
  world.from_peer(run_step{.request = 1, .handle = handle, .step = {0, 7}, .deadline_ms = 9'000});
  REQUIRE(world.steps.size() == 1);

  auto same = world.graph_of(other, 0), own = world.graph_of(other, 0);
  world.from_peer(same, bob);
  auto refused = std::get<register_reply>(world.sent.back()).outcome;
  CHECK(refused.kind() == error_kind::failed_precondition);
  CHECK(refused.message().find("client 'bob' names a session") != std::string::npos);
  own.how.session = 5;
  world.from_peer(own, bob);
  auto bobs = std::get<register_reply>(world.sent.back());
  REQUIRE(bobs.outcome);

  world.from_peer(cancel_step{{0, 7}, failure(error_kind::cancelled, "of another")}, bob);
  CHECK(world.steps.size() == 1);
  world.from_peer(cancel_step{{0, 8}, failure(error_kind::cancelled, "of another")}, bob);
  world.from_peer(settle_step{{0, 7}, 9}, bob);
  CHECK(std::get<reply>(world.sent.back()).outcome.kind() == error_kind::failed_precondition);
  CHECK(world.run_from_peer(next, 8));

  // What bob cancels in advance takes little room, and none of others.
  constexpr uint64_t many = 70'000;
  for (uint64_t i = 0; i < many; ++i) {
    world.from_peer(cancel_step{{i % 2 ? 5 : 1000 + i, i}, failure(error_kind::cancelled, "x")},
                    bob);
  }
  CHECK(world.steps.sizes().early_steps == 0);
  CHECK(world.run_from_peer(next, 9));
  auto run_bobs = [&](uint64_t number) {
    world.from_peer(
        run_step{.request = 2, .handle = bobs.handle, .step = {5, number}, .deadline_ms = 1000},
        bob);
    return std::get<step_done>(world.sent.back()).outcome;
  };
  CHECK(run_bobs(many - 1).kind() == error_kind::cancelled);
  CHECK(run_bobs(many + 1));
  CHECK(bob->running == 0);

  world.from_peer(cancel_step{{0, 7}, failure(error_kind::cancelled, "enough")});
  CHECK(world.steps.size() == 0);
  world.lose(*bob); // whose session another may have then
  world.from_peer(own);
  CHECK(std::get<register_reply>(world.sent.back()).outcome);
}

TEST_CASE("a client has no more graphs wait than it may register") {
  worker_world world;
  const text_case text{"x = Add(i32(1), i32(2))\nfetch x"};
  world.connection = client_named("bob", 2);
  auto what = world.graph_of(text, 0);
  for (uint64_t i = 1; i <= 4; ++i) {
    what.request = i;
    caf::anon_send(world.worker, incoming{what, world.peer, world.connection});
  }
  world.run();
  std::map<uint64_t, status> outcome;
  for (const auto& each : world.sent)
    outcome[std::get<register_reply>(each).request] = std::get<register_reply>(each).outcome;
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
    return std::get<positions_reply>(world.sent.back()).outcome;
  };
  for (uint64_t session = 1; session <= 64; ++session)
    CHECK(outcome_of(session));
  CHECK(outcome_of(65).kind() == error_kind::resource_exhausted);
  CHECK(outcome_of(64));
}

TEST_CASE("a worker that ends answers what it was asked, and nothing runs any more") {
  worker_world world;
  text_case text{queue};
  auto made = world.register_it(text);
  REQUIRE(made);
  auto box = world.begin(made->handle, 1);
  CHECK(!*box);
  caf::anon_send_exit(world.worker, caf::exit_reason::user_shutdown);
  world.run();
  CHECK(outcome_of(box).kind() == error_kind::unavailable);
  CHECK(world.steps.size() == 0);
  made = status{error_kind::cancelled, ""};
}

} // namespace troupe::test::worker_test
