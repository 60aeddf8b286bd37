// Programs against direct evaluation, with tokens and answers delivered in random order.
#include "tests/support/catch.hpp"
#include "tests/support/test_steps.hpp"
#include "troupe/runtime/program/required_messages.hpp"

namespace troupe::test::instance_random_test {

namespace {

std::vector<int64_t> random_feeds(std::mt19937& dice, int count) {
  std::vector<int64_t> feeds(static_cast<size_t>(count));
  for (auto& feed : feeds)
    feed = static_cast<int64_t>(dice() % 1000);
  return feeds;
}

struct compiled_step {
  compiled_step(unsigned seed, int size, const region_options& regions)
      : play(seed, size), dice(seed + 1) {
    auto compiled = program::compile(play.take_graph(), device, std::ref(state), regions);
    if (!compiled)
      FAIL(compiled.status());
    code = *std::move(compiled);
    for (const auto& node : code->partition_graph().nodes())
      if (node->op().name == "Variable") {
        REQUIRE(static_cast<variable&>(**state(*node)).assign(tensor::scalar<int64_t>(0)).ok());
        expected_state[node->name()] = 0;
      }
  }
  int64_t value_of(const std::string& name) { return state[name].read()->data<int64_t>()[0]; }

  test_device device;
  variables state;
  random_step_graph play;
  std::mt19937 dice;
  std::shared_ptr<const program> code;
  std::map<std::string, int64_t> expected_state;
};

} // namespace

TEST_CASE("a program computes its graph for any order of tokens and answers") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    compiled_step s{seed, 5 + static_cast<int>(round % 60), cutting(round)};
    INFO(s.code->describe());
    instance running{s.code};
    step_player player{running, s.dice, [](const wait_point& wait, const auto& inputs) {
                         return random_step_graph::reply(*wait.origin, inputs);
                       }};
    for (int step = 0; step < 4; ++step) { // reuses the same instance
      auto feeds = random_feeds(s.dice, s.play.feeds());
      auto expected = s.play.expected(
          s.code->partition_graph(), feeds, [](const node&) { return false; }, s.expected_state);
      REQUIRE(concat(player.play(feeds)) == "ok");
      REQUIRE(player.fetched == expected);
      for (auto runs : player.runs)
        REQUIRE(runs == 1);
      REQUIRE(player.messages == required_messages(*s.code));
      for (const auto& [name, value] : s.expected_state)
        REQUIRE(s.value_of(name) == value);
      REQUIRE(s.device.memory().live == 0); // every slot was released
    }
  }
}

TEST_CASE("values that depend on a dead answer are dead, others are not, and every region ends") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    compiled_step s{seed, 5 + static_cast<int>(round % 60), cutting(round)};
    INFO(s.code->describe());
    instance running{s.code};
    unsigned step = 0;
    auto dies = [&](const node& node) {
      return (static_cast<unsigned>(node.id()) + seed + step) % 3 == 0;
    };
    step_player player{running, s.dice, [&](const wait_point& wait, const auto& inputs) {
                         return dies(*wait.origin) ? std::vector<int64_t>{}
                                                   : random_step_graph::reply(*wait.origin, inputs);
                       }};
    for (; step < 3; ++step) {
      auto feeds = random_feeds(s.dice, s.play.feeds());
      auto expected = s.play.expected(s.code->partition_graph(), feeds, dies, s.expected_state);
      REQUIRE(concat(player.play(feeds)) == "ok");
      REQUIRE(player.fetched == expected);
      for (auto runs : player.runs)
        REQUIRE(runs == 1);
      // Waits of dead regions begin without a request, and end with a token.
      REQUIRE(player.messages.to_regions() == required_messages(*s.code).to_regions());
      for (const auto& [name, value] : s.expected_state)
        REQUIRE(s.value_of(name) == value);
      REQUIRE(s.device.memory().live == 0);
    }
  }
}

TEST_CASE("regions of joined nodes need no more messages than a region for each node") {
  auto base = std::random_device{}();
  uint64_t joined_total = 0, single_total = 0;
  for (unsigned round = 0; round < 300; ++round) {
    auto seed = base + round;
    auto size = 5 + static_cast<int>(round % 60);
    INFO("seed " << seed);
    auto workers = 1 + static_cast<int>(round % 3);
    const compiled_step joined{seed, size, {.workers = workers, .dispatch_ns = 20}},
        single{seed, size, {.region_per_node = true}};
    // The first region starts the step. A node that waits has a second region for its answer.
    size_t regions = 1;
    for (const auto& node : single.code->partition_graph().nodes())
      regions += !needs_no_run(*node);
    CHECK(single.code->regions().size() == regions + single.code->waits().size());
    auto of_joined = required_messages(*joined.code), of_single = required_messages(*single.code);
    CHECK(of_joined.tokens <= of_single.tokens);
    CHECK(of_joined.region_ends <= of_single.region_ends);
    CHECK(of_joined.requests == of_single.requests);
    CHECK(of_joined.answers == of_single.answers);
    CHECK(of_joined.fetches == of_single.fetches);
    joined_total += of_joined.total();
    single_total += of_single.total();
  }
  CHECK(joined_total < single_total);
}

TEST_CASE("a step that is interrupted anywhere holds no memory after the reset") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 100; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    compiled_step s{seed, 40, cutting(round)};
    instance running{s.code};
    step_player* self = nullptr;
    auto remaining = static_cast<int>(s.dice() % 8);
    step_player player{running, s.dice, [&](const wait_point& wait, const auto& inputs) {
                         if (remaining-- <= 0)
                           self->stop.raise(); // stops the step when an answer arrives
                         return random_step_graph::reply(*wait.origin, inputs);
                       }};
    self = &player;
    auto feeds = random_feeds(s.dice, s.play.feeds());
    auto ended = player.play(feeds);
    REQUIRE((ended.ok() || ended.kind() == error_kind::cancelled));
    running.reset();
    player.stop.arm();
    remaining = 1 << 30;
    for (auto& [name, value] : s.expected_state)
      value = s.value_of(name);
    auto expected = s.play.expected(
        s.code->partition_graph(), feeds, [](const node&) { return false; }, s.expected_state);
    REQUIRE(concat(player.play(feeds)) == "ok");
    REQUIRE(player.fetched == expected);
    REQUIRE(s.device.memory().live == 0);
  }
}

} // namespace troupe::test::instance_random_test
