// One message of every kind, with values that differ from the defaults.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

#include <algorithm>
#include <iterator>

namespace troupe::test {

inline tensor counted(int64_t elements) {
  auto empty = tensor::from_values<float>({0}, {});
  if (auto bigger = tensor::make(dtype::f32, shape{elements}))
    empty = *std::move(bigger);
  for (int64_t i = 0; i < empty.elements(); ++i)
    empty.data<float>()[i] = static_cast<float>(i % 1000);
  return empty;
}

inline tensor example_strings() {
  return tensor::from_values<std::string>({2, 2}, {"", "a", std::string(3, '\0'), "longer"});
}

/// Messages that open, check and close a connection, or lend memory to a task of the same machine.
inline std::vector<message> example_connection_messages() {
  return {
      hello{protocol_version,
            "0.1.0",
            "task",
            "worker",
            3,
            0xfedcba9876543210,
            1 << 20,
            1 << 30,
            "training",
            28,
            29,
            {30, 31},
            "a token",
            32,
            "0123456789ab"},
      refusal{failure(error_kind::failed_precondition, "not you")},
      ping{15, -16},
      pong{17},
      goodbye{"that is all"},
      borrow_request{24},
      loan{25, 26},
      loan_return{27},
  };
}

/// Messages that register graphs, and run and end steps.
inline std::vector<message> example_step_messages() {
  return {
      register_graph{
          .request = 1,
          .settings = {.session = 2,
                       .container = "box",
                       .region_per_node = true,
                       .deterministic = true,
                       .replay = true,
                       .costs = {{"layer1/product", 1500.5}},
                       .incarnation = 77,
                       .peers = {{"/job:ps/task:0", 78}},
                       .positions = {{"dropout/uniform", "1 2 3"}}},
          .partitions = {{"/job:a/task:0/device:cpu:0", tensor::vector<uint8_t>({1, 2})}}},
      register_reply{3, 4, failure(error_kind::not_found, "no kernel")},
      deregister_graph{5},
      run_step{6,
               7,
               {80, 8},
               9,
               {{0, tensor::scalar(1.5f)}, {4, example_strings()}, {2, counted(20'000)}},
               true,
               true,
               79,
               true,
               true},
      step_done{10,
                {},
                {{1, tensor::from_values<bool>({2, 0}, {})}},
                tensor::vector<uint8_t>({3, 4, 5}),
                true,
                initialization_stage::by_another},
      cancel_step{{0, 11}, failure(error_kind::cancelled, "enough")},
      settle_step{{82, 32}, 33},
      reply{19, failure(error_kind::out_of_range, "end")
                    .with_origin("QueueDequeue", "take")
                    .with_task("/job:ps/task:0")
                    .with_incarnation(82)
                    .with_lost_state()},
      container_reset{18, "box"},
      positions_request{31, 32, {{"a", "1 2 3"}, {"b", ""}}},
      positions_reply{33, 34, failure(error_kind::invalid_argument, "no"), {{"c", "4 5 6"}}},
      initialization_end{52, true},
      program_lost{55},
  };
}

/// Messages that send tensors.
inline std::vector<message> example_transfer_messages() {
  return {
      tensor_push{{81, 12}, 13, false, tensor::from_values<bool>({2}, {true, false}), 14, 15},
      pull{14},
      cancel_pull{22},
      withdrawal{23},
  };
}

/// Messages about the tasks of a cluster and its coordinator.
inline std::vector<message> example_membership_messages() {
  return {
      member_changes{{1, 2},
                     {1, 4},
                     {{{"ps", 0}, 35, "h:1", presence::unreachable, 3},
                      {{"worker", 65'535}, 36, "[::1]:2", presence::gone, 4}},
                     {"ps", 3}},
      number_claim{"worker", -1, 37, "h:3", true},
      number_grant{failure(error_kind::unavailable, "not yet"), {"worker", 4}, 38, "h:4"},
      drain_request{38},
      probe_request{{"worker", 5}, 39},
      probe_answer{{"worker", 6}, 40, true},
      vote_request{41, {42, 43}},
      vote{44, true},
  };
}

/// Messages of clients, of their sessions and of the operators' tools.
inline std::vector<message> example_client_messages() {
  return {
      device_list_request{20},
      device_list_reply{21, {{"/job:a/task:0/device:cpu:0", "cpu", 1ull << 40, "a CPU"}}},
      state_list_request{28},
      state_list_reply{29,
                       {.entries = {{"/job:ps/task:0", "", "variable", "w", "f32[2]", "fine", 8},
                                    {"/job:ps/task:0", "box", "queue", "q", "(i32)", "none", 0}},
                        .omitted_entries = 30}},
      inspect_request{35, "/job:a/task:0", 36, "step"},
      inspect_reply{37, failure(error_kind::not_found, "gone"),
                    tensor::vector<uint8_t>({'{', '}'})},
      session_request{45, 46,
                      session_run{47,
                                  {tensor::scalar(1.5f), counted(20'000), example_strings()},
                                  true,
                                  true,
                                  53,
                                  54,
                                  true}},
      session_reply{
          48,
          failure(error_kind::unavailable, "it leaves"),
          true,
          {"warned"},
          session_run_result{{example_strings()}, 49, {tensor::vector<uint8_t>({6, 7})}, 50, 51}},
      client_waits{{{"/job:ps/task:0", "it is not connected", 56, 57.5}, {}}},
  };
}

/// One message of each kind, in the order of the kinds.
inline std::vector<message> example_messages() {
  std::vector<message> examples;
  for (auto* examples_of :
       {example_connection_messages, example_step_messages, example_transfer_messages,
        example_membership_messages, example_client_messages})
    std::ranges::move(examples_of(), std::back_inserter(examples));
  std::ranges::sort(examples, {}, [](const message& example) { return example.index(); });
  return examples;
}

/// One of each kind that a session_request may contain.
inline std::vector<message> example_session_requests() {
  session_open open{.container = "box",
                    .region_per_node = true,
                    .deterministic = true,
                    .replay = false,
                    .place_by_cost = true,
                    .max_concurrent = 3,
                    .transfer_precision = f32_transfer::rounded,
                    .placement = {placement_strategy::greedy, true, recv_schedule::late},
                    .passes = pass_options::none(),
                    .restores = true};
  open.passes.mixed_precision = dtype::bf16;
  open.passes.swap = {swap_mode::automatic, 4, 5};
  return {
      session_request{1, 0, open},
      session_request{2, 3,
                      session_prepare{tensor::vector<uint8_t>({1, 2}),
                                      {"train", ""},
                                      8,
                                      true,
                                      true,
                                      {{.node = "w", .device = "/device:gpu:0", .mean_ns = 2.5}},
                                      true}},
      session_request{4, 5, session_run{6, {counted(3)}, true, true}},
      session_request{0, 0, session_release{7}},
      session_request{8, 9, session_reset{"box"}},
      session_request{10, 11, session_state_of{"/job:ps/task:0"}},
      session_request{12, 13, session_devices{}},
      session_request{12, 14, session_known_devices{}},
      session_request{0, 0, session_stop{12}},
      session_request{14, 15, session_positions{{{"a", "1 2"}, {"b", ""}}, {"/job:ps/task:0"}}},
      session_request{16, 17, session_initialization_end{18, true}},
  };
}

/// Session replies with one of each kind of content, and with each optional part.
inline std::vector<message> example_session_replies() {
  placement_report report{
      "greedy", {{"n", "Add", "d", "asked", 1.5}}, 2.5, 3.5, {{"a", "b", 4, 5.5}}};
  return {
      session_reply{16,
                    {},
                    true,
                    {},
                    std::monostate{},
                    true,
                    {{"/job:ps/task:0", 26}},
                    {{"/job:ps/task:1", 27}, {"/job:ps/task:1", 28}},
                    {{"/job:ps/task:2", initialization_stage::awaited},
                     {"/job:ps/task:3", initialization_stage::by_requester}}},
      session_reply{
          17, failure(error_kind::not_found, "gone"), true, {"a", ""}, prepared_handle{18}},
      session_reply{19, {}, false, {}, session_run_result{{counted(20'000)}, 20, {}, 21, 22}},
      session_reply{23, {}, false, {}, std::vector<device_info>{{"d", "cpu", 1, "a CPU"}}},
      session_reply{24,
                    {},
                    false,
                    {},
                    state_list{{{"t", "c", "k", "n", "h", "x", 8}}, 25},
                    false,
                    {},
                    {},
                    {},
                    {{"/job:ps/task:1", failure(error_kind::unavailable, "refused")}}},
      session_reply{
          26, {}, false, {}, std::vector<task_positions>{{"t", 27, {{"a", "3"}}}, {"u", 28}}},
      session_reply{29, {}, false, {}, report},
      session_reply{30, {}, false, {}, placement_report{}},
  };
}

inline std::vector<message> example_session_messages() {
  auto examples = example_session_requests();
  std::ranges::move(example_session_replies(), std::back_inserter(examples));
  return examples;
}

/// The text of all fields of a message, for comparisons.
std::string print(const message& to_print);

} // namespace troupe::test
