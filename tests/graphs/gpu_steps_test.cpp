// Promises that only a driver can check, of steps that are recorded, swapped, shared and failing:
// each test runs on a simulated GPU, and as [gpu] on a real one.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/gpu_world.hpp"
#include "tests/support/real_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/swap_support.hpp"

#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <thread>

namespace troupe::test::gpu_steps_test {

using namespace std::chrono_literals;

namespace {

using outputs = std::vector<tensor>;

// Runs the runs of text graphs, each prepared once.
struct text_session : gpu_world_session {
  using gpu_world_session::gpu_world_session;

  result<outputs> run(const text_case& tested, size_t which) {
    auto deadline = step_clock::now() + 20s;
    const auto& tested_run = tested.text.runs.at(which);
    auto& step = steps[{&tested, which}];
    if (!step) {
      TROUPE_ASSIGN(step, client->prepare(*tested.nodes, signature_of(tested_run), deadline));
    }
    return client->run(*step, feeds_of(tested_run), deadline);
  }
  void forget() {
    steps.clear();
    REQUIRE(client->reset("", step_clock::now() + 20s));
  }

  std::map<std::pair<const text_case*, size_t>, std::shared_ptr<prepared_step>> steps;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

client_options plain_passes(bool replay) {
  client_options options;
  options.passes = pass_options::none(); // otherwise small nets would be one launch
  options.programs.replay = replay;
  return options;
}

// A step is recorded in its third run: a test of six runs also runs under capture.
void six_runs_give_the_same(const gpu_world& on) {
  text_session recording{on, plain_passes(true)}, plain{on, plain_passes(false)};
  auto cases = all_cases();
  auto examples = all_examples();
  cases.insert(cases.end(), examples.begin(), examples.end());
  for (const auto& stored : cases) {
    INFO(stored.name);
    text_case text{stored.text, stored.name, on.ops};
    for (int round = 0; round < 6; ++round)
      for (size_t i = 0; i < text.text.runs.size(); ++i) {
        const auto& run = text.text.runs[i];
        // The last operations follow on separate lines, with times.
        auto expected = first_line(difference_of(run, plain.run(text, i)));
        CHECK(first_line(difference_of(run, recording.run(text, i))) == expected);
        recording.settle();
        plain.settle();
      }
    recording.forget();
    plain.forget();
  }
  CHECK(recording.devices.back()->as_accelerator()->replays().replays > 50);
}

// y = 2 x + 1, learnt from four points.
const char* learner = R"(
x = Placeholder dtype=f32 shape=[4]
y = Placeholder dtype=f32 shape=[4]
w = VariableV2 dtype=f32 shape=[]
b = VariableV2 dtype=f32 shape=[]
init_w = Assign(w, f32(0))
init_b = Assign(b, f32(0))
slope = Mul(x, w)
guess = Add(slope, b)
error = Sub(guess, y)
leaning = Mul(error, x)
dw = Mean(leaning, i32[0])
db = Mean(error, i32[0])
train_w = ApplyGradientDescent(w, f32(0.25), dw)
train_b = ApplyGradientDescent(b, f32(0.25), db)
target init_w
target init_b
run
feed x = f32[-1, 0, 1, 2]
feed y = f32[-1, 1, 3, 5]
target train_w
target train_b
run
w2 = Add(w, f32(0))
b2 = Add(b, f32(0))
fetch w2 = f32(0)
fetch b2 = f32(0)
)";

void threads_train_one_model(const gpu_world& on) {
  for (auto launch_threads : {false, true})
    for (auto replay : {false, true}) {
      CAPTURE(launch_threads, replay);
      client_options options;
      options.gpu_launch_threads = launch_threads;
      options.programs.replay = replay;
      text_session session{on, options};
      text_case model{learner, "test", on.ops};
      for (size_t which : {0u, 1u, 2u})
        REQUIRE(session.run(model, which)); // prepares each step
      std::atomic<int> failed = 0;
      {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
          threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i)
              failed += !session.run(model, 1);
          });
      }
      CHECK(failed == 0);
      auto learnt = session.run(model, 2);
      REQUIRE(learnt);
      CHECK(std::abs((*learnt)[0].values<float>()[0] - 2) < 1e-2f);
      CHECK(std::abs((*learnt)[1].values<float>()[0] - 1) < 1e-2f);
    }
}

// Layers whose outputs their gradients need, in reverse order.
struct deep_net {
  deep_net(const registry& ops, int64_t elements, int layers) : elements(elements), nodes(ops) {
    auto x = add("Placeholder", {}, {{"dtype", dtype::f32}, {"shape", partial_shape{elements}}});
    auto h = x;
    for (int i = 0; i < layers; ++i)
      h = add("Tanh", {add("Mul", {add("Sin", {h}), constant(tensor::scalar(1.5f))})});
    auto loss = add("Sum", {add("Mul", {h, h}), constant(tensor::vector<int32_t>({0}))});
    auto input_gradients = gradients({loss}, {x});
    REQUIRE(input_gradients);
    signature.feeds = {x};
    signature.fetches = {loss, (*input_gradients)[0]};
  }

  edge add(std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    auto added =
        nodes.add({.op = std::move(op), .inputs = std::move(inputs), .attrs = std::move(attrs)});
    REQUIRE(added);
    return (*added)->output(0);
  }
  edge constant(tensor value) {
    auto type = value.type();
    return add("Const", {}, {{"value", std::move(value)}, {"dtype", type}});
  }
  result<outputs> run(gpu_world_session& in) const {
    std::vector<float> values(static_cast<size_t>(elements));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 1000) / 500 - 1;
    auto deadline = step_clock::now() + 30s;
    TROUPE_ASSIGN(auto step, in.client->prepare(nodes, signature, deadline));
    return in.client->run(*step, std::vector{tensor::from_values({elements}, values)}, deadline);
  }

  int64_t elements;
  graph nodes;
  step_signature signature;
};

client_options with_swap(swap_mode mode) {
  client_options options;
  options.passes.swap = {.mode = mode, .min_bytes = 1};
  return options;
}

void swapped_steps_give_the_same(const gpu_world& on) {
  deep_net net{*on.ops, 256 * 1024, 24}; // tensors of 1 MiB
  outputs expected;
  size_t peak = 0;
  {
    gpu_world_session plain{on, with_swap(swap_mode::off)};
    auto outcome = net.run(plain);
    REQUIRE(outcome);
    expected = *std::move(outcome);
    peak = plain.devices.back()->statistics().peak;
  }
  gpu_world_session tight{on, with_swap(swap_mode::on), {.limit = peak * 7 / 10}};
  for (int i = 0; i < 5; ++i) {
    auto outcome = net.run(tight);
    INFO((outcome ? "" : outcome.status().message()));
    REQUIRE(outcome);
    for (size_t j = 0; j < expected.size(); ++j)
      CHECK(identical((*outcome)[j], expected[j]));
  }
  tight.settle();
  auto swaps = tight.devices.back()->as_accelerator()->as_swap_support()->swaps();
  CHECK(swaps.bytes_out > 0);
  CHECK(swaps.bytes_on_host == 0);
  CHECK(tight.devices.back()->statistics().peak <= peak * 7 / 10);
}

void short_memory_is_an_error(const gpu_world& on) {
  gpu_world_session session{on, with_swap(swap_mode::off), {.limit = size_t{8} << 20}};
  deep_net large{*on.ops, 256 * 1024, 24}, small{*on.ops, 1024, 4};
  for (int i = 0; i < 3; ++i) {
    auto failed = large.run(session);
    REQUIRE_FALSE(failed);
    INFO(failed.status().message());
    CHECK(failed.status().kind() == error_kind::resource_exhausted);
    CHECK(failed.status().message().find("gpu:0 has ") != std::string::npos);
    CHECK(small.run(session));
  }
  session.settle();
  CHECK(session.devices.back()->statistics().in_use < size_t{1} << 20);
}

void a_reserve_is_joined_again(const gpu_world& on) {
  constexpr size_t reserve_bytes = size_t{16} << 20;
  gpu_world_session session{on, {}, {.limit = reserve_bytes, .reserve = reserve_bytes}};
  auto& gpu = *session.devices.back();
  std::mt19937 dice{1};
  for (int round = 0; round < 20; ++round) {
    outputs kept_tensors;
    for (int i = 0; i < 50; ++i) {
      if (auto created =
              tensor::make(dtype::u8, {static_cast<int64_t>(1 + dice() % 400'000)}, gpu.memory()))
        kept_tensors.push_back(*std::move(created));
      if (!kept_tensors.empty() && dice() % 3 == 0)
        kept_tensors.erase(kept_tensors.begin() +
                           static_cast<std::ptrdiff_t>(dice() % kept_tensors.size()));
    }
  }
  session.settle();
  CHECK(gpu.statistics().in_use == 0);
  CHECK(tensor::make(dtype::u8, {static_cast<int64_t>(reserve_bytes)}, gpu.memory()));
}

// Two layers that learn to tell signs, in 16 bits as well as in 32.
void sixteen_bits_learn(const gpu_world& on) {
  const char* net = R"(
x = Placeholder dtype=f32 shape=[64,16]
y = Placeholder dtype=f32 shape=[64,1]
w = VariableV2 dtype=f32 shape=[16,1]
init = Assign(w, f32[[0],[0],[0],[0],[0],[0],[0],[0],[0],[0],[0],[0],[0],[0],[0],[0]])
guess = MatMul(x, w)
error = Sub(guess, y)
square = Mul(error, error)
loss = Mean(square, i32[0, 1])
dw = MatMul(x, error) transpose_a=true
train = ApplyGradientDescent(w, f32(0.004), dw)
target init
run
feed x = f32[[0]]
feed y = f32[[0]]
target train
run
feed x = f32[[0]]
feed y = f32[[0]]
fetch loss = f32(0)
)";
  text_case model{net, "test", on.ops};
  std::mt19937 dice{7};
  std::normal_distribution<float> normal;
  std::vector<float> x(64 * 16), y(64);
  for (auto& number : x)
    number = normal(dice);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = x[i * 16] - 2 * x[i * 16 + 3];
  const outputs feeds{tensor::from_values({64, 16}, x), tensor::from_values({64, 1}, y)};
  for (auto type : {dtype::none, dtype::f16, dtype::bf16}) {
    client_options options;
    options.passes.mixed_precision = type;
    gpu_world_session session{on, options};
    auto deadline = step_clock::now() + 60s;
    auto run = [&](size_t run_index, const outputs& fed) {
      auto step =
          session.client->prepare(*model.nodes, signature_of(model.text.runs[run_index]), deadline);
      REQUIRE(step);
      auto outcome = session.client->run(**step, fed, deadline);
      INFO((outcome ? "" : outcome.status().message()));
      REQUIRE(outcome);
      return *std::move(outcome);
    };
    run(0, {});
    CHECK(run(2, feeds)[0].values<float>()[0] > 1);
    for (int i = 0; i < 60; ++i)
      run(1, feeds);
    INFO(type);
    CHECK(run(2, feeds)[0].values<float>()[0] < 0.02f);
  }
}

} // namespace

TEST_CASE(
    "six runs of each graph on a simulated GPU give the same results with and without recording") {
  watchdog watch{240s};
  six_runs_give_the_same(gpu_world::simulated());
}
TEST_CASE("six runs of each graph on a GPU give the same results with and without recording",
          "[gpu]") {
  watchdog watch{400s};
  if (has_gpu())
    six_runs_give_the_same(gpu_world::real());
}

TEST_CASE("several threads may train one model on a simulated GPU") {
  watchdog watch;
  threads_train_one_model(gpu_world::simulated());
}
TEST_CASE("several threads may train one model on a GPU", "[gpu]") {
  watchdog watch;
  if (has_gpu())
    threads_train_one_model(gpu_world::real());
}

TEST_CASE("a net larger than the memory of a simulated GPU learns the same") {
  watchdog watch;
  swapped_steps_give_the_same(gpu_world::simulated());
}
TEST_CASE("a net larger than the memory of a GPU learns the same", "[gpu]") {
  watchdog watch;
  if (has_gpu())
    swapped_steps_give_the_same(gpu_world::real());
}

TEST_CASE("a lack of memory on a simulated GPU is an error, and the next step succeeds") {
  watchdog watch;
  short_memory_is_an_error(gpu_world::simulated());
}
TEST_CASE("a lack of memory on a GPU is an error, and the next step succeeds", "[gpu]") {
  watchdog watch;
  if (has_gpu())
    short_memory_is_an_error(gpu_world::real());
}

TEST_CASE("the free pieces of the reserve of a simulated GPU merge") {
  watchdog watch;
  a_reserve_is_joined_again(gpu_world::simulated());
}
TEST_CASE("the free pieces of the reserve of a GPU merge", "[gpu]") {
  watchdog watch;
  if (has_gpu())
    a_reserve_is_joined_again(gpu_world::real());
}

TEST_CASE("a model learns in 16 bits on a simulated GPU") {
  watchdog watch;
  sixteen_bits_learn(gpu_world::simulated());
}
TEST_CASE("a model learns in 16 bits on a GPU", "[gpu]") {
  watchdog watch;
  if (has_gpu())
    sixteen_bits_learn(gpu_world::real());
}

} // namespace troupe::test::gpu_steps_test
