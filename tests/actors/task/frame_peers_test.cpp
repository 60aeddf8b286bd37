// Peers' messages about loop frames: registrations, and iterations that peers begin.
#include "tests/support/worker_world.hpp"
#include "troupe/actors/execution/frames.hpp"

namespace troupe::test::frame_peers_test {
namespace {

constexpr const char* own_device = "/job:worker/task:0/device:cpu:0";

registered_partition part_of(const graph& nodes, uint32_t frame = 0, uint32_t function = 0) {
  return {own_device, value_or_throw(write_graph(nodes)), frame, function,
          "While 'train' (model.cpp:12)"};
}

// A graph of one node without inputs.
registered_partition part_of(node_spec spec, uint32_t frame = 0, uint32_t function = 0) {
  graph nodes{library()};
  throw_if_failed(nodes.add(std::move(spec)).status());
  return part_of(nodes, frame, function);
}

node_spec frame_node(int64_t number, int64_t orders = 0, std::vector<int64_t> unchanged = {}) {
  return {.op = "_Frame",
          .attrs = {{"Tin", std::vector<dtype>{}},
                    {"Tout", std::vector<dtype>{}},
                    {"shapes", std::vector<partial_shape>{}},
                    {"frame", number},
                    {"kind", "While"},
                    {"orders", orders},
                    {"unchanged", unchanged},
                    {"parallel_iterations", 10},
                    {"tasks", std::vector<std::string>{}}}};
}

tensor iteration(int64_t function, int64_t number) {
  return tensor::vector<int64_t>({function, number});
}

// A worker with a loop of two tasks: key 5 is received outside the loop, key 6 in its body.
struct looping_worker {
  looping_worker() {
    register_graph registration;
    registration.partitions = {received(5, 0, 0), received(6, 1, 1)};
    world.from_peer(std::move(registration));
    const auto reply = std::get<register_reply>(world.sent_messages.back());
    INFO(reply.outcome);
    REQUIRE(reply.outcome.ok());
    handle = reply.handle;
  }

  static registered_partition received(int key, uint32_t frame, uint32_t function) {
    return part_of(
        {.op = "_RecvControl", .attrs = {{"key", key}, {"from", "/job:ps/task:0/device:cpu:0"}}},
        frame, function);
  }
  void begin() {
    world.from_peer(run_step{
        .request = ++last, .handle = handle, .step = {0, last}, .deadline_ms = 1000, .feeds = {}});
  }
  void push(uint32_t key, uint64_t frame, uint64_t run, tensor value = {}) {
    world.steps.deliver({{0, last}, key, false, std::move(value), frame, run}, nullptr);
    world.run();
  }
  std::string outcome() const {
    const auto* done_reply = std::get_if<step_done>(&world.sent_messages.back());
    return !done_reply || done_reply->request != last ? "it runs"
           : done_reply->outcome                      ? ""
                                                      : done_reply->outcome.message();
  }

  worker_world world;
  uint64_t handle = 0;
  uint64_t last = 0;
};

} // namespace

TEST_CASE("a worker rejects invalid frame registrations of peers") {
  worker_world world;
  auto refusal = [&](std::vector<registered_partition> parts) {
    register_graph registration;
    registration.partitions = std::move(parts);
    world.from_peer(std::move(registration));
    const auto& reply = std::get<register_reply>(world.sent_messages.back());
    CHECK(!reply.outcome.ok());
    return reply.outcome.message();
  };
  auto empty_part = [](uint32_t frame, uint32_t function) {
    return part_of({.op = "NoOp"}, frame, function);
  };
  CHECK_THAT(refusal({empty_part(0, 0), empty_part(1, UINT32_MAX)}),
             Catch::Contains("there is no function 4294967295 of frame 1"));
  CHECK_THAT(refusal({empty_part(0, 0), empty_part(0, 1)}),
             Catch::Contains("there is no function 1 of frame 0"));
  CHECK_THAT(refusal({part_of(frame_node(1))}), Catch::Contains("functions are missing"));
  CHECK_THAT(refusal({part_of(frame_node(1)), empty_part(1, 0)}),
             Catch::Contains("its functions are not those of a While"));
  CHECK_THAT(refusal({part_of(frame_node(1)), empty_part(1, 0), empty_part(1, 1)}),
             Catch::Contains("function 0 gives 0 results, must give 1"));
  CHECK_THAT(refusal({part_of(frame_node(1, 0, {0})), empty_part(1, 0), empty_part(1, 1)}),
             Catch::Contains("result 0 cannot be unchanged"));
  CHECK_THAT(
      refusal({part_of(frame_node(1, int64_t{1} << 62)), empty_part(1, 0), empty_part(1, 1)}),
      Catch::Contains("for their order"));
  CHECK_THAT(refusal({part_of(frame_node(1)), empty_part(1, 0), part_of(frame_node(1), 1, 1)}),
             Catch::Contains("frame 1 lies within frame 1"));
}

TEST_CASE_METHOD(looping_worker,
                 "a worker takes part in loop iterations, in any order of messages") {
  begin();
  push(begin_run_key, 1, 1, iteration(0, -1)); // other tasks have work in this iteration
  push(6, 1, 2);
  push(begin_run_key, 1, 2, iteration(1, 0));
  push(5, 0, 0);
  CHECK(outcome() == "");
  begin();
  push(begin_run_key, 1, 1, iteration(1, 0));
  push(5, 0, 0);
  CHECK(outcome() == "it runs"); // an iteration is under way
  push(6, 1, 1);
  CHECK(outcome() == "");
  CHECK(world.steps.size() == 0);
}

TEST_CASE_METHOD(looping_worker, "a worker rejects invalid loop iterations of peers") {
  begin();
  push(begin_run_key, 1, 1, tensor::scalar(1));
  CHECK_THAT(outcome(), Catch::Contains("without the number of a function"));
  begin();
  push(begin_run_key, 2, 1, iteration(1, 0));
  CHECK_THAT(outcome(), Catch::Contains("frame 2, which the step does not have"));
  begin();
  push(begin_run_key, 1, 1, iteration(1, 0));
  push(begin_run_key, 1, 1, iteration(1, 0));
  CHECK_THAT(outcome(), Catch::Contains("began twice"));
  begin();
  push(7, 1, 1);
  CHECK_THAT(outcome(), Catch::Contains("unknown key 7 of frame 1"));
  begin();
  push(6, 1, 1);
  push(6, 1, 1);
  CHECK_THAT(outcome(), Catch::Contains("twice for key 6 of frame 1"));
  CHECK(world.steps.size() == 0);
}

} // namespace troupe::test::frame_peers_test
