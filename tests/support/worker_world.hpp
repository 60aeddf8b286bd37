// A worker without threads, and a peer that says what a test wants.
#pragma once
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/actors/task/worker.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/partition.hpp"
#include "troupe/runtime/placement/place.hpp"
#include "troupe/serialization/wire/wire.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

inline const task_name self{"worker", 0};
inline constexpr uint64_t incarnation = 99;

struct worker_world : actor_world {
  std::function<void()> at_next_look; // at the clock, once
  std::shared_ptr<step_server> server =
      std::make_shared<step_server>(self, incarnation, [this, look = clock_of(system())] {
        if (auto act = std::exchange(at_next_look, {}))
          act();
        return look();
      });
  step_table& steps = server->steps();
  std::vector<message> sent; // to the peer
  caf::actor worker, membership, peer;
  connection_ptr connection = connect();

  /// Without a membership the worker reaches no other task.
  explicit worker_world(
      const std::function<caf::actor(caf::actor_system&)>& spawn_membership = {}) {
    if (spawn_membership)
      membership = spawn_membership(system());
    worker_options options{
        .ops = &library(), .devices = {}, .membership = membership, .server = server};
    options.devices = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 0}));
    worker = spawn_worker(system(), std::move(options));
    peer = system().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](outgoing& what) { sent.push_back(std::move(what.content)); }};
    });
  }
  ~worker_world() {
    for (auto* one : {&worker, &membership, &peer})
      if (*one)
        caf::anon_send_exit(*one, caf::exit_reason::user_shutdown);
    worker = membership = peer = nullptr;
    run();
  }

  // Cuts a run into what this task gets of it; the other device is on another task.
  std::vector<partition> cut_for(const text_case& of, size_t which = 0) {
    device_list devices{{"worker", 0, "cpu", 0}, {"ps", 0, "cpu", 0}};
    auto signature = signature_of(of.text.runs.at(which));
    auto closed = extract(*of.nodes, signature);
    REQUIRE(closed);
    auto chosen = place(*closed->nodes, devices);
    REQUIRE(chosen);
    auto parts = cut(*closed->nodes, chosen->chosen, devices);
    REQUIRE(parts);
    std::erase_if(*parts, [](const auto& one) { return one.device.job != "worker"; });
    return *std::move(parts);
  }
  result<registered> register_it(const text_case& of, size_t which = 0) {
    auto what = std::make_shared<register_partitions>();
    what->partitions = cut_for(of, which);
    auto box = ask<registered>(worker, register_request{what});
    run();
    REQUIRE(*box);
    INFO((**box).status());
    REQUIRE((**box).ok());
    return **box;
  }
  answer_box<step_result> begin(uint64_t handle, uint64_t step,
                                std::vector<indexed_tensor> feeds = {},
                                std::chrono::milliseconds timeout = 1s) {
    auto box =
        ask<step_result>(worker, run_request{handle, {0, step}, now() + timeout, std::move(feeds)});
    run();
    return box;
  }
  void from_peer(message what, connection_ptr from = {}) {
    if (!from)
      from = connection;
    if (!server->serve(what, from, peer))
      caf::anon_send(worker, incoming{std::move(what), peer, from});
    run();
  }
  // Another connection of the same peer.
  static connection_ptr connect() {
    auto made = std::make_shared<peer_connection>();
    made->peer = "client 5";
    return made;
  }
  void lose(peer_connection& which) {
    server->lose(which, failure(error_kind::unavailable, "reset"));
    run();
  }
  // Runs a step as another process would.
  status run_from_peer(uint64_t handle, uint64_t step, uint64_t of_incarnation = 0) {
    from_peer(run_step{.request = step,
                       .handle = handle,
                       .step = {0, step},
                       .deadline_ms = 1000,
                       .feeds = {},
                       .incarnation = of_incarnation});
    auto* done = std::get_if<step_done>(&sent.back());
    REQUIRE(done);
    CHECK(done->request == step);
    return done->outcome;
  }
  // As another process writes it.
  register_graph graph_of(const text_case& of, size_t which) {
    register_graph what;
    for (auto& part : cut_for(of, which)) {
      auto bytes = write_graph(*part.nodes);
      REQUIRE(bytes);
      what.partitions.push_back({to_string(part.device), *std::move(bytes)});
    }
    return what;
  }
  // Registers as another process would.
  uint64_t register_from_peer(const text_case& of, size_t which = 0) {
    from_peer(graph_of(of, which));
    auto* reply = std::get_if<register_reply>(&sent.back());
    REQUIRE(reply);
    REQUIRE(reply->outcome.ok());
    return reply->handle;
  }
};

} // namespace troupe::test
