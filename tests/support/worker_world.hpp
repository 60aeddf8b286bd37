// A worker without threads, and a peer whose messages the test chooses.
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
  std::function<void()> at_next_look; // called once, when the worker next reads the clock
  std::shared_ptr<step_server> server =
      std::make_shared<step_server>(self, incarnation, [this, look = clock_of(system())] {
        if (auto body = std::exchange(at_next_look, {}))
          body();
        return look();
      });
  step_table& steps = server->steps();
  std::vector<message> sent_messages; // to the peer
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
      return {[this](outgoing& outgoing_message) {
        sent_messages.push_back(std::move(outgoing_message.content));
      }};
    });
  }
  ~worker_world() {
    for (auto* actor_handle : {&worker, &membership, &peer})
      if (*actor_handle)
        caf::anon_send_exit(*actor_handle, caf::exit_reason::user_shutdown);
    worker = membership = peer = nullptr;
    run();
  }

  // Partitions a run, and returns this task's part; the other device is on another task.
  std::vector<partition> cut_for(const text_case& test_case, size_t run_index = 0) {
    device_list devices{{"worker", 0, "cpu", 0}, {"ps", 0, "cpu", 0}};
    auto signature = signature_of(test_case.text.runs.at(run_index));
    auto closed = extract(*test_case.nodes, signature);
    REQUIRE(closed);
    auto chosen = place(*closed->nodes, devices);
    REQUIRE(chosen);
    auto parts = cut(*closed->nodes, chosen->chosen, devices);
    REQUIRE(parts);
    std::erase_if(*parts, [](const auto& part) { return part.device.job != "worker"; });
    return *std::move(parts);
  }
  result<registered> register_it(const text_case& test_case, size_t run_index = 0) {
    auto registration = std::make_shared<register_partitions>();
    registration->partitions = cut_for(test_case, run_index);
    auto answer = ask<registered>(worker, register_request{registration});
    run();
    REQUIRE(*answer);
    INFO((**answer).status());
    REQUIRE((**answer).ok());
    return **answer;
  }
  awaited_answer<step_result> begin(uint64_t handle, uint64_t step,
                                    std::vector<indexed_tensor> feeds = {},
                                    std::chrono::milliseconds timeout = 1s) {
    auto answer =
        ask<step_result>(worker, run_request{handle, {0, step}, now() + timeout, std::move(feeds)});
    run();
    return answer;
  }
  void from_peer(message content, connection_ptr from = {}) {
    if (!from)
      from = connection;
    if (!server->serve(content, from, peer))
      caf::anon_send(worker, incoming{std::move(content), peer, from});
    run();
  }
  // Another connection of the same peer.
  static connection_ptr connect() {
    auto new_connection = std::make_shared<peer_connection>();
    new_connection->peer = "client 5";
    return new_connection;
  }
  void lose(peer_connection& lost_connection) {
    server->connection_ended(lost_connection, failure(error_kind::unavailable, "reset"));
    run();
  }
  // Runs a step as another process does.
  status run_from_peer(uint64_t handle, uint64_t step, uint64_t incarnation = 0) {
    from_peer(run_step{.request = step,
                       .handle = handle,
                       .step = {0, step},
                       .deadline_ms = 1000,
                       .feeds = {},
                       .incarnation = incarnation});
    auto* reply = std::get_if<step_done>(&sent_messages.back());
    REQUIRE(reply);
    CHECK(reply->request == step);
    return reply->outcome;
  }
  // The message as another process writes it.
  register_graph graph_of(const text_case& test_case, size_t run_index) {
    register_graph registration;
    for (auto& part : cut_for(test_case, run_index)) {
      auto bytes = write_graph(*part.nodes);
      REQUIRE(bytes);
      registration.partitions.push_back({to_string(part.device), *std::move(bytes)});
    }
    return registration;
  }
  // Registers a graph as another process does.
  uint64_t register_from_peer(const text_case& test_case, size_t run_index = 0) {
    from_peer(graph_of(test_case, run_index));
    auto* reply = std::get_if<register_reply>(&sent_messages.back());
    REQUIRE(reply);
    REQUIRE(reply->outcome.ok());
    return reply->handle;
  }
};

} // namespace troupe::test
