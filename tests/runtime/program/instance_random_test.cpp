// Programs against direct evaluation, with everything that is under way delivered in random order.
#include "tests/support/catch.hpp"
#include "tests/support/test_steps.hpp"

namespace troupe::test::instance_random_test {

namespace {

std::vector<int64_t> random_feeds(std::mt19937& dice, int count) {
  std::vector<int64_t> feeds(static_cast<size_t>(count));
  for (auto& one : feeds)
    one = static_cast<int64_t>(dice() % 1000);
  return feeds;
}

struct scene {
  scene(unsigned seed, int size, const region_options& regions) : play(seed, size), dice(seed + 1) {
    auto compiled = program::compile(play.take_graph(), device, std::ref(state), regions);
    if (!compiled)
      FAIL(compiled.status());
    code = *std::move(compiled);
    for (const auto& node : code->of().nodes())
      if (node->op().name == "Variable") {
        REQUIRE(static_cast<variable&>(**state(*node)).assign(tensor::scalar<int64_t>(0)).ok());
        expected_state[node->name()] = 0;
      }
  }
  int64_t value_of(const std::string& name) { return state[name].read()->data<int64_t>()[0]; }

  test_device device;
  variables state;
  random_play play;
  std::mt19937 dice;
  std::shared_ptr<const program> code;
  std::map<std::string, int64_t> expected_state;
};

} // namespace

TEST_CASE("a program computes what its graph says, in whatever order tokens and answers come") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    scene s{seed, 5 + static_cast<int>(round % 60), cutting(round)};
    INFO(s.code->describe());
    instance running{s.code};
    stage on_stage{running, s.dice, [](const wait_point& wait, const auto& asked) {
                     return random_play::reply(*wait.origin, asked);
                   }};
    for (int step = 0; step < 4; ++step) { // the same instance again and again
      auto feeds = random_feeds(s.dice, s.play.feeds());
      auto expected = s.play.expected(
          s.code->of(), feeds, [](const node&) { return false; }, s.expected_state);
      REQUIRE(concat(on_stage.play(feeds)) == "ok");
      REQUIRE(on_stage.fetched == expected);
      for (auto runs : on_stage.runs)
        REQUIRE(runs == 1);
      for (const auto& [name, value] : s.expected_state)
        REQUIRE(s.value_of(name) == value);
      REQUIRE(s.device.memory().live == 0); // every slot was released
    }
  }
}

TEST_CASE("what depends on a dead answer is dead, the rest is not, and every region ends") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 300; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    scene s{seed, 5 + static_cast<int>(round % 60), cutting(round)};
    INFO(s.code->describe());
    instance running{s.code};
    unsigned step = 0;
    auto dies = [&](const node& node) {
      return (static_cast<unsigned>(node.id()) + seed + step) % 3 == 0;
    };
    stage on_stage{running, s.dice, [&](const wait_point& wait, const auto& asked) {
                     return dies(*wait.origin) ? std::vector<int64_t>{}
                                               : random_play::reply(*wait.origin, asked);
                   }};
    for (; step < 3; ++step) {
      auto feeds = random_feeds(s.dice, s.play.feeds());
      auto expected = s.play.expected(s.code->of(), feeds, dies, s.expected_state);
      REQUIRE(concat(on_stage.play(feeds)) == "ok");
      REQUIRE(on_stage.fetched == expected);
      for (auto runs : on_stage.runs)
        REQUIRE(runs == 1);
      for (const auto& [name, value] : s.expected_state)
        REQUIRE(s.value_of(name) == value);
      REQUIRE(s.device.memory().live == 0);
    }
  }
}

TEST_CASE("a step that breaks off anywhere leaves nothing behind after the reset") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 100; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    scene s{seed, 40, cutting(round)};
    instance running{s.code};
    stage* self = nullptr;
    auto left = static_cast<int>(s.dice() % 8);
    stage on_stage{running, s.dice, [&](const wait_point& wait, const auto& asked) {
                     if (left-- <= 0)
                       self->stop.raise(); // an answer comes, and the step is stopped
                     return random_play::reply(*wait.origin, asked);
                   }};
    self = &on_stage;
    auto feeds = random_feeds(s.dice, s.play.feeds());
    auto ended = on_stage.play(feeds);
    REQUIRE((ended.ok() || ended.kind() == error_kind::cancelled));
    running.reset();
    on_stage.stop.arm();
    left = 1 << 30;
    for (auto& [name, value] : s.expected_state)
      value = s.value_of(name);
    auto expected = s.play.expected(
        s.code->of(), feeds, [](const node&) { return false; }, s.expected_state);
    REQUIRE(concat(on_stage.play(feeds)) == "ok");
    REQUIRE(on_stage.fetched == expected);
    REQUIRE(s.device.memory().live == 0);
  }
}

} // namespace troupe::test::instance_random_test
