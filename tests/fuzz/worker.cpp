// Sequences of valid messages to a worker, in any order and with any numbers: two bytes each, what
// and of what. Whatever comes, the worker lives on, answers what asks for an answer, and keeps
// nothing in the end.
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
constexpr const char* here = "/job:worker/task:0/device:cpu:0";
constexpr const char* elsewhere = "/job:ps/task:0/device:cpu:0";

node* add(graph& to, node_spec what) {
  auto made = to.add(std::move(what));
  require(made.ok());
  return *made;
}

// A partition that counts in a variable, waits for a tensor, or waits for a queue; or puts
// something into the queue first.
tensor make_graph(int kind) {
  graph nodes{all_ops()};
  if (kind == 0) {
    auto* held = add(nodes, {.op = "VariableV2",
                             .name = "v",
                             .attrs = {{"dtype", dtype::i32}, {"shape", partial_shape{}}}});
    auto* one =
        add(nodes, {.op = "Const", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
    auto* set = add(nodes, {.op = "Assign", .inputs = {{held, 0}, {one, 0}}});
    add(nodes, {.op = "_Fetch",
                .inputs = {{set, 0}},
                .attrs = {{"index", int64_t{0}}, {"T", dtype::i32}}});
  } else if (kind == 1) {
    auto* came = add(nodes, {.op = "_Recv",
                             .attrs = {{"key", int64_t{3}},
                                       {"from", std::string{elsewhere}},
                                       {"dtype", dtype::f32},
                                       {"shape", partial_shape{}}}});
    auto* made = add(nodes, {.op = "Neg", .inputs = {{came, 0}}});
    add(nodes, {.op = "_Fetch",
                .inputs = {{made, 0}},
                .attrs = {{"index", int64_t{0}}, {"T", dtype::f32}}});
  } else {
    auto* queue = add(
        nodes,
        {.op = "FIFOQueue", .name = "q", .attrs = {{"component_types", std::vector{dtype::i32}}}});
    std::vector<node*> before;
    if (kind == 3) {
      auto* one = add(
          nodes, {.op = "Const", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
      before.push_back(add(nodes, {.op = "QueueEnqueue", .inputs = {{queue, 0}, {one, 0}}}));
    }
    auto* got = add(nodes, {.op = "QueueDequeue",
                            .inputs = {{queue, 0}},
                            .attrs = {{"component_types", std::vector{dtype::i32}}},
                            .controls = before});
    add(nodes, {.op = "_Fetch",
                .inputs = {{got, 0}},
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
  size_t asked = 0, answered = 0;

  world() {
    worker_options options{.ops = &library(), .devices = {}, .membership = {}, .server = server};
    auto devices = make_devices({.intra_op_threads = 1, .gpus = 0});
    require(devices.ok());
    options.devices = *std::move(devices);
    task = spawn_worker(system(), std::move(options));
    peer = system().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](const outgoing& what) {
        answered += std::holds_alternative<step_done>(what.content) ||
                    std::holds_alternative<register_reply>(what.content) ||
                    std::holds_alternative<reply>(what.content) ||
                    std::holds_alternative<device_list_reply>(what.content) ||
                    std::holds_alternative<state_list_reply>(what.content) ||
                    std::holds_alternative<positions_reply>(what.content) ||
                    std::holds_alternative<inspect_reply>(what.content);
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
    auto made = std::make_shared<peer_connection>();
    made->peer = concat("client ", number);
    return made;
  }
  void tell(message what, const connection_ptr& from) {
    if (!server->serve(what, from, peer))
      caf::anon_send(task, incoming{std::move(what), peer, from});
  }
};

void act(world& in, uint8_t what, uint8_t of) {
  auto& from = in.connections[of % 2];
  step_id step{uint64_t{of} / 64u, uint64_t{of} / 2u % 8u};
  switch (what % 10) {
    case 0:
    case 1: {
      ++in.asked;
      register_graph graph;
      graph.request = of;
      graph.how.session = step.session;
      graph.how.incarnation = of % 16 == 15 ? 8 : 0;
      graph.partitions.push_back({here, graph_of(of / 2)});
      in.tell(std::move(graph), from);
      break;
    }
    case 2:
    case 3:
      ++in.asked;
      in.tell(run_step{.request = of, .handle = what / 10u, .step = step, .deadline_ms = of}, from);
      break;
    case 4:
      if (what / 10u % 2u) {
        ++in.asked;
        in.tell(settle_step{step, of}, from);
        break;
      }
      in.tell(cancel_step{step, failure(error_kind::cancelled, "fuzzed")}, from);
      break;
    case 5:
      in.tell(tensor_push{.step = step,
                          .key = what / 10u % 5u,
                          .dead = what > 200,
                          .value = of % 3 ? tensor::scalar(1.0f) : tensor::scalar(int64_t{of}),
                          .frame = what > 240},
              from);
      break;
    case 6: in.tell(deregister_graph{what / 10u}, from); break;
    case 7:
      ++in.asked;
      if (of % 2)
        in.tell(container_reset{of, of % 4 ? "" : "other"}, from);
      else if (of % 16 == 2)
        in.tell(positions_request{of, of / 64u, {{"x", of % 32 == 2 ? "1 2 3" : "-"}}}, from);
      else if (of % 16 == 6)
        in.tell(
            inspect_request{of, of % 32 == 6 ? "/job:worker/task:0" : "/job:%", of / 16u, "step"},
            from);
      else if (of % 8)
        in.tell(device_list_request{of}, from);
      else
        in.tell(state_list_request{of}, from);
      break;
    case 8:
      in.server->lose(*from, failure(error_kind::unavailable, "fuzzed"));
      from = world::connect(of);
      break;
    default: in.pass(std::chrono::milliseconds{of * 4}); break;
  }
  if (what % 3 == 0)
    in.run();
}

} // namespace

FUZZ_TARGET(worker) {
  world in;
  for (size_t i = 0; i + 1 < std::min<size_t>(size, 200); i += 2)
    act(in, data[i], data[i + 1]);
  for (int i = 0; i < 12; ++i)
    in.pass(10s); // all deadlines, and the patience with steps that never come
  require(in.answered == in.asked);
  require(in.server->steps().idle());
  for (const auto& one : in.connections)
    in.server->lose(*one, failure(error_kind::unavailable, "the end"));
  in.run();
  require(in.server->programs().size() == 0);
  require(in.server->unsettled() == 0);
  return 0;
}

} // namespace troupe::fuzz::worker
