// One message of every kind, with values that differ from the defaults.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

namespace troupe::testing {

inline tensor counted(int64_t elements) {
  auto made = tensor::of<float>({0}, {});
  if (auto bigger = tensor::make(dtype::f32, shape{elements}))
    made = *std::move(bigger);
  for (int64_t i = 0; i < made.elements(); ++i)
    made.data<float>()[i] = static_cast<float>(i % 1000);
  return made;
}

inline std::vector<message> example_messages() {
  auto strings = tensor::of<std::string>({2, 2}, {"", "a", std::string(3, '\0'), "longer"});
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
            "a token"},
      refusal{failure(error_kind::failed_precondition, "not you")},
      register_graph{
          .request = 1,
          .how = {.session = 2,
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
               {{0, tensor::scalar(1.5f)}, {4, strings}, {2, counted(20'000)}},
               true,
               true,
               79},
      step_done{
          10, {}, {{1, tensor::of<bool>({2, 0}, {})}}, tensor::vector<uint8_t>({3, 4, 5}), true},
      cancel_step{{0, 11}, failure(error_kind::cancelled, "enough")},
      tensor_push{{81, 12}, 13, false, tensor::of<bool>({2}, {true, false}), 14, 15},
      pull{14},
      ping{15, -16},
      pong{17},
      goodbye{"that is all"},
      container_reset{18, "box"},
      reply{19, failure(error_kind::out_of_range, "end")},
      device_list_request{20},
      device_list_reply{21, {{"/job:a/task:0/device:cpu:0", "cpu", 1ull << 40, "a CPU"}}},
      unwanted{22},
      withdrawn{23},
      borrow{24},
      lent{25, 26},
      returned{27},
      settle_step{{82, 32}, 33},
      state_list_request{28},
      state_list_reply{29,
                       {.entries = {{"/job:ps/task:0", "", "variable", "w", "f32[2]", "fine", 8},
                                    {"/job:ps/task:0", "box", "queue", "q", "(i32)", "none", 0}},
                        .left_out = 30}},
      positions_request{31, 32, {{"a", "1 2 3"}, {"b", ""}}},
      positions_reply{33, 34, failure(error_kind::invalid_argument, "no"), {{"c", "4 5 6"}}},
      member_changes{{1, 2},
                     {1, 4},
                     {{{"ps", 0}, 35, "h:1", presence::unreachable, 3},
                      {{"worker", 65'535}, 36, "[::1]:2", presence::gone, 4}},
                     {"ps", 3}},
      number_claim{"worker", -1, 37, "h:3", true},
      number_grant{failure(error_kind::unavailable, "not yet"), {"worker", 4}, 38, "h:4"},
      inspect_request{35, "/job:a/task:0", 36, "step"},
      inspect_reply{37, failure(error_kind::not_found, "gone"),
                    tensor::vector<uint8_t>({'{', '}'})},
      drain_request{38},
      probe_request{{"worker", 5}, 39},
      probe_answer{{"worker", 6}, 40, true},
      vote_request{41, {42, 43}},
      vote{44, true},
  };
}

/// Prints all there is in a message, so that two of them can be compared.
std::string print(const message& what);

} // namespace troupe::testing
