// Sequences of valid messages to a worker, in any order and with any numbers: two bytes each, an
// action and its number. The worker must survive, answer each request, and hold nothing at the end.
#include "troupe/actors/task/worker.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/actor_world.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/placement/partition.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <array>

namespace troupe::fuzz::worker {

namespace {

using namespace std::chrono_literals;

const task_name self{"worker", 0};
constexpr const char* this_device = "/job:worker/task:0/device:cpu:0";
constexpr const char* elsewhere = "/job:ps/task:0/device:cpu:0";

node* add(graph& nodes, node_spec spec) {
  auto added = nodes.add(std::move(spec));
  require(added.ok());
  return *added;
}

// A partition that counts in a variable, waits for a tensor, or waits for a queue, or first puts an
// element into the queue.
tensor make_graph(int kind) {
  graph nodes{all_ops()};
  if (kind == 0) {
    auto* counter = add(nodes, {.op = "VariableV2",
                                .name = "v",
                                .attrs = {{"dtype", dtype::i32}, {"shape", partial_shape{}}}});
    auto* increment =
        add(nodes, {.op = "Const", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
    auto* set = add(nodes, {.op = "Assign", .inputs = {{counter, 0}, {increment, 0}}});
    add(nodes, {.op = "_Fetch",
                .inputs = {{set, 0}},
                .attrs = {{"index", int64_t{0}}, {"T", dtype::i32}}});
  } else if (kind == 1) {
    auto* received = add(nodes, {.op = "_Recv",
                                 .attrs = {{"key", int64_t{3}},
                                           {"from", std::string{elsewhere}},
                                           {"dtype", dtype::f32},
                                           {"shape", partial_shape{}}}});
    auto* negated = add(nodes, {.op = "Neg", .inputs = {{received, 0}}});
    add(nodes, {.op = "_Fetch",
                .inputs = {{negated, 0}},
                .attrs = {{"index", int64_t{0}}, {"T", dtype::f32}}});
  } else {
    auto* queue = add(
        nodes,
        {.op = "FIFOQueue", .name = "q", .attrs = {{"component_types", std::vector{dtype::i32}}}});
    std::vector<node*> predecessors;
    if (kind == 3) {
      auto* element = add(
          nodes, {.op = "Const", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
      predecessors.push_back(
          add(nodes, {.op = "QueueEnqueue", .inputs = {{queue, 0}, {element, 0}}}));
    }
    auto* dequeued = add(nodes, {.op = "QueueDequeue",
                                 .inputs = {{queue, 0}},
                                 .attrs = {{"component_types", std::vector{dtype::i32}}},
                                 .controls = predecessors});
    add(nodes, {.op = "_Fetch",
                .inputs = {{dequeued, 0}},
                .attrs = {{"index", int64_t{0}}, {"T", dtype::i32}}});
  }
  auto bytes = write_graph(nodes);
  require(bytes.ok());
  return *bytes;
}

const tensor& graph_of(int kind) {
  static const std::array graphs{make_graph(0), make_graph(1), make_graph(2), make_graph(3)};
  return graphs[static_cast<size_t>(kind) % graphs.size()];
}

struct world : test::actor_world {
  std::shared_ptr<step_server> server = std::make_shared<step_server>(self, 9, clock_of(system()));
  caf::actor task, peer;
  std::array<connection_ptr, 2> connections{connect(0), connect(1)};
  size_t requests = 0, answers = 0;

  world() {
    worker_options options{.ops = &library(), .devices = {}, .membership = {}, .server = server};
    auto devices = make_devices({.intra_op_threads = 1, .gpus = 0});
    require(devices.ok());
    options.devices = *std::move(devices);
    task = spawn_worker(system(), std::move(options));
    peer = system().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](const outgoing& sent) {
        answers += std::holds_alternative<step_done>(sent.content) ||
                   std::holds_alternative<register_reply>(sent.content) ||
                   std::holds_alternative<reply>(sent.content) ||
                   std::holds_alternative<device_list_reply>(sent.content) ||
                   std::holds_alternative<state_list_reply>(sent.content) ||
                   std::holds_alternative<positions_reply>(sent.content) ||
                   std::holds_alternative<inspect_reply>(sent.content);
      }};
    });
  }
  ~world() {
    caf::anon_send_exit(task, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(peer, caf::exit_reason::user_shutdown);
    task = peer = nullptr;
    run();
  }
  static connection_ptr connect(int number) {
    auto new_connection = std::make_shared<peer_connection>();
    new_connection->peer = concat("client ", number);
    return new_connection;
  }
  void tell(message content, const connection_ptr& from) {
    if (!server->serve(content, from, peer))
      caf::anon_send(task, incoming{std::move(content), peer, from});
  }
};

// A request that does not belong to a step.
void ask(world& in, uint8_t number, const connection_ptr& from) {
  if (number % 2)
    in.tell(container_reset{number, number % 4 ? "" : "other"}, from);
  else if (number % 16 == 2)
    in.tell(positions_request{number, number / 64u, {{"x", number % 32 == 2 ? "1 2 3" : "-"}}},
            from);
  else if (number % 16 == 6)
    in.tell(inspect_request{number, number % 32 == 6 ? "/job:worker/task:0" : "/job:%",
                            number / 16u, "step"},
            from);
  else if (number % 8)
    in.tell(device_list_request{number}, from);
  else
    in.tell(state_list_request{number}, from);
}

void act(world& in, uint8_t action, uint8_t number) {
  auto& from = in.connections[number % 2];
  step_id step{uint64_t{number} / 64u, uint64_t{number} / 2u % 8u};
  switch (action % 10) {
    case 0:
    case 1: {
      ++in.requests;
      register_graph graph;
      graph.request = number;
      graph.settings.session = step.session;
      graph.settings.incarnation = number % 16 == 15 ? 8 : 0;
      graph.partitions.push_back({this_device, graph_of(number / 2)});
      in.tell(std::move(graph), from);
      break;
    }
    case 2:
    case 3:
      ++in.requests;
      in.tell(
          run_step{.request = number, .handle = action / 10u, .step = step, .deadline_ms = number},
          from);
      break;
    case 4:
      if (action / 10u % 2u) {
        ++in.requests;
        in.tell(settle_step{step, number}, from);
        break;
      }
      in.tell(cancel_step{step, failure(error_kind::cancelled, "fuzzed")}, from);
      break;
    case 5:
      in.tell(
          tensor_push{.step = step,
                      .key = action / 10u % 5u,
                      .is_dead = action > 200,
                      .value = number % 3 ? tensor::scalar(1.0f) : tensor::scalar(int64_t{number}),
                      .frame = action > 240},
          from);
      break;
    case 6: in.tell(deregister_graph{action / 10u}, from); break;
    case 7:
      ++in.requests;
      ask(in, number, from);
      break;
    case 8:
      in.server->connection_ended(*from, failure(error_kind::unavailable, "fuzzed"));
      from = world::connect(number);
      break;
    default: in.advance_and_run(std::chrono::milliseconds{number * 4}); break;
  }
  if (action % 3 == 0)
    in.run();
}

} // namespace

FUZZ_TARGET(worker) {
  world in;
  for (size_t i = 0; i + 1 < std::min<size_t>(size, 200); i += 2)
    act(in, data[i], data[i + 1]);
  for (int i = 0; i < 12; ++i)
    // Beyond all deadlines, and the time after which tensors of steps that never begin are dropped.
    in.advance_and_run(10s);
  require(in.answers == in.requests);
  require(in.server->steps().idle());
  for (const auto& connection : in.connections)
    in.server->connection_ended(*connection, failure(error_kind::unavailable, "the end"));
  in.run();
  require(in.server->programs().size() == 0);
  require(in.server->unsettled() == 0);
  return 0;
}

} // namespace troupe::fuzz::worker
