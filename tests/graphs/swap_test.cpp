// Steps whose long-lived tensors are swapped to the host's memory for a while.
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/device/swap_support.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/passes.hpp"

#include <cstring>
#include <future>
#include <random>
#include <thread>

namespace troupe::test::swap_test {

using namespace std::chrono_literals;

namespace {

constexpr size_t kibibyte = 1024;

swap_options swapping_all() { return {.mode = swap_mode::on, .min_bytes = 1}; }

struct session_on_gpus {
  explicit session_on_gpus(const swap_options& swap, size_t limit = 0, int gpus = 1,
                           const program_options& programs = {}, bool fuse = true,
                           size_t reserve = 0, dtype precision = dtype::none) {
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [=, this] {
      auto simulated = make_simulated_devices(gpus, {.seed = std::random_device{}()},
                                              {.limit = limit, .reserve = reserve});
      devices = simulated;
      return simulated;
    };
    options.inter_op_threads = 2;
    options.passes.fold = false;
    options.passes.fuse = fuse;
    options.passes.swap = swap;
    options.passes.mixed_precision = precision;
    options.programs = programs;
    auto started = client::local(options);
    REQUIRE(started);
    client = *std::move(started);
  }

  result<std::vector<tensor>> run(const graph& run_graph, const step_signature& signature,
                                  const std::vector<tensor>& feeds) {
    auto deadline = step_clock::now() + 30s;
    if (!step) {
      TROUPE_ASSIGN(step, client->prepare(run_graph, signature, deadline));
    }
    return client->run(*step, feeds, deadline);
  }
  void settle() const {
    std::promise<void> done;
    devices.back()->as_accelerator()->notify_when_done([&](const status&) { done.set_value(); });
    done.get_future().wait();
  }
  swap_statistics swaps(size_t gpu = 0) const {
    return dynamic_cast<swap_support&>(*devices[gpu + 1]).swaps();
  }
  memory_statistics memory() const { return devices[1]->statistics(); }
  std::string misuses() const {
    auto& driver = gpu::gpu_of(*devices[1]).driver();
    return static_cast<gpu::simulated_driver&>(driver).misuses();
  }

  std::vector<std::shared_ptr<device>> devices;
  std::unique_ptr<troupe::client> client;
  std::shared_ptr<prepared_step> step;
};

// Layers whose outputs their gradients need, in reverse order.
struct deep_net {
  explicit deep_net(int64_t elements, int layers, int64_t declared = 0) : elements(elements) {
    auto x = add("Placeholder", {},
                 {{"dtype", dtype::f32}, {"shape", partial_shape{declared ? declared : elements}}});
    auto h = x;
    for (int i = 0; i < layers; ++i)
      h = add("Tanh", {add("Mul", {add("Sin", {h}), constant(1.5f)})});
    auto loss = add("Sum", {add("Mul", {h, h}), constant(tensor::vector<int32_t>({0}))});
    auto input_gradients = gradients({loss}, {x});
    REQUIRE(input_gradients);
    signature.feeds = {x};
    signature.fetches = {loss, (*input_gradients)[0]};
  }

  edge add(std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    auto added =
        nodes.add({.op = std::move(op), .inputs = std::move(inputs), .attrs = std::move(attrs)});
    INFO((added ? "" : added.status().message()));
    REQUIRE(added);
    return (*added)->output(0);
  }
  edge constant(tensor value) {
    auto type = value.type();
    return add("Const", {}, {{"value", std::move(value)}, {"dtype", type}});
  }
  edge constant(float value) { return constant(tensor::scalar(value)); }

  std::vector<tensor> feeds() const {
    std::vector<float> values(static_cast<size_t>(elements));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 1000) / 500 - 1;
    return {tensor::from_values({elements}, values)};
  }

  int64_t elements;
  graph nodes{simulated_library()};
  step_signature signature;
};

bool same(const std::vector<tensor>& a, const std::vector<tensor>& b) {
  return a.size() == b.size() &&
         std::ranges::equal(a, b, [](const tensor& x, const tensor& y) { return identical(x, y); });
}

size_t count(const graph& in, const op_def& op) {
  return static_cast<size_t>(
      std::ranges::count_if(in.nodes(), [&](const auto& at) { return &at->op() == &op; }));
}

} // namespace

TEST_CASE("a deep net that exceeds a GPU's memory learns the same with swapping") {
  watchdog watch;
  deep_net net{64 * 1024, 24}; // tensors of 256 KiB
  session_on_gpus roomy{{}};
  auto expected = roomy.run(net.nodes, net.signature, net.feeds());
  REQUIRE(expected);
  auto peak = roomy.memory().peak;
  auto limit = peak * 55 / 100;

  session_on_gpus tight{{}, limit};
  auto failed = tight.run(net.nodes, net.signature, net.feeds());
  REQUIRE_FALSE(failed);
  INFO(failed.status());
  CHECK(failed.status().kind() == error_kind::resource_exhausted);
  CHECK(failed.status().message().find("gpu:0 has ") != std::string::npos);
  CHECK(failed.status().message().find("largest tensors: 262144 bytes, f32[65536] of ") !=
        std::string::npos);

  for (size_t reserve : {size_t{0}, limit}) {
    CAPTURE(reserve);
    session_on_gpus swapping{{.mode = swap_mode::automatic}, limit, 1, {}, true, reserve};
    for (int i = 0; i < 5; ++i) {
      auto actual = swapping.run(net.nodes, net.signature, net.feeds());
      INFO((actual ? "" : actual.status().message()));
      REQUIRE(actual);
      CHECK(same(*actual, *expected));
    }
    swapping.settle();
    CHECK(swapping.memory().peak <= limit);
    CHECK(swapping.memory().in_use < peak / 10); // constants
    CHECK(swapping.swaps().bytes_out > 0);
    CHECK(swapping.swaps().bytes_out == swapping.swaps().bytes_in);
    CHECK(swapping.swaps().bytes_on_host == 0);
    CHECK(swapping.misuses() == "");
  }
}

TEST_CASE("automatic swapping leaves a net that fits unchanged, and forced swapping always swaps") {
  watchdog watch;
  deep_net net{64 * 1024, 12}, of_any_size{64 * 1024, 12, unknown_extent};
  session_on_gpus plain{{}};
  auto expected = plain.run(net.nodes, net.signature, net.feeds());
  REQUIRE(expected);
  session_on_gpus fitting{{.mode = swap_mode::automatic}};
  REQUIRE(fitting.run(net.nodes, net.signature, net.feeds()));
  CHECK(fitting.swaps().bytes_out == 0);
  // On a loaded machine, copies and thus free memory may be late: one of the runs is enough.
  bool took_less = false;
  for (int i = 0; i < 20 && !took_less; ++i) {
    session_on_gpus swapping{swapping_all()};
    auto actual = swapping.run(of_any_size.nodes, of_any_size.signature, net.feeds());
    REQUIRE(actual);
    CHECK(same(*actual, *expected));
    CHECK(swapping.swaps().bytes_out > 0);
    took_less = swapping.memory().peak < plain.memory().peak;
  }
  CHECK(took_less);
}

TEST_CASE("a failed step leaves no swapped tensors") {
  watchdog watch;
  deep_net net{64 * 1024, 24};
  session_on_gpus session{{.mode = swap_mode::on, .min_bytes = 1}, 1100 * kibibyte};
  for (int i = 0; i < 10; ++i) {
    auto failed = session.run(net.nodes, net.signature, net.feeds());
    REQUIRE_FALSE(failed);
    CHECK(failed.status().kind() == error_kind::resource_exhausted);
  }
  session.settle();
  CHECK(session.swaps().bytes_on_host == 0);
  CHECK(session.memory().in_use < 10 * kibibyte);
  deep_net small{1024, 4};
  session.step = nullptr;
  CHECK(session.run(small.nodes, small.signature, small.feeds()));
  CHECK(session.misuses() == "");
}

TEST_CASE("the swap pass adds no dependencies except those of swapped tensors") {
  deep_net net{64 * 1024, 10};
  auto closed = extract(net.nodes, net.signature);
  REQUIRE(closed);
  auto old_size = closed->nodes->nodes().size();
  auto report = swap_long_lived(*closed, {.mode = swap_mode::automatic, .memory = 2500 * kibibyte});
  CHECK(report.tensors > 0);
  CHECK(report.bytes == static_cast<int64_t>(report.tensors * 256 * kibibyte));
  CHECK(report.reduced_peak < report.peak);
  CHECK(report.reduced_peak <= static_cast<int64_t>(2500 * kibibyte));
  const auto& swapped_graph = *closed->nodes;
  size_t early = 0;
  CHECK(count(swapped_graph, internal_ops::swap_out) == report.tensors);
  CHECK(count(swapped_graph, internal_ops::swap_in) == report.tensors);
  CHECK(count(swapped_graph, internal_ops::swapped) == report.tensors);
  CHECK(swapped_graph.nodes().size() == old_size + 3 * report.tensors);
  for (const auto& at : swapped_graph.nodes()) {
    for (const auto& input : at->inputs())
      REQUIRE(input.node->id() < at->id());
    for (auto* control : at->controls())
      REQUIRE(control->id() < at->id());
    // Most copies can run concurrently with another node.
    if (&at->op() == &internal_ops::swapped)
      early += at->id() > at->inputs()[0].node->id() + 2;
  }
  CHECK(2 * early > report.tensors);
}

namespace {

// Differentiable ops in any order, with nodes that move or forward elements; a few are placed on
// the processor or the other GPU, or depend on a shape that the GPU computes.
struct random_net {
  random_net(unsigned seed, bool spread, bool recompute) : dice(seed), spread(spread) {
    for (int i = 0; i < 2; ++i) {
      values.push_back(
          add("Placeholder", {}, {{"dtype", dtype::f32}, {"shape", partial_shape{16, 8}}}));
      signature.feeds.push_back(values.back());
    }
    // Gradients compute the values of the first and the second half again.
    std::vector<std::vector<node*>> parts;
    for (int half = 0; half < 2; ++half) {
      auto begin = nodes.nodes().size();
      for (int i = 0; i < 15; ++i)
        values.push_back(any_op());
      auto& part = parts.emplace_back();
      for (auto id = begin; id < nodes.nodes().size(); ++id)
        part.push_back(nodes.nodes()[id].get());
    }
    if (!recompute)
      parts.clear();
    auto loss = add("Sum", {values.back(), constant(tensor::vector<int32_t>({0, 1}))});
    for (int i = 0; i < 3; ++i)
      loss = add("Add", {loss, add("Sum", {any(), constant(tensor::vector<int32_t>({0, 1}))})});
    auto input_gradients =
        gradients({loss}, signature.feeds, gradient_options{.recomputed_parts = parts});
    REQUIRE(input_gradients);
    signature.fetches = {loss, any()};
    for (auto input_gradient : *input_gradients)
      if (input_gradient)
        signature.fetches.push_back(input_gradient);
  }

  edge any() { return values[dice() % values.size()]; }
  edge any_late() {
    return values[values.size() - 1 - dice() % std::min<size_t>(4, values.size())];
  }
  edge any_op() {
    auto x = any_late();
    switch (dice() % 9) {
      case 0: return add("Tanh", {x});
      case 1: return add("Tanh", {add("Mul", {x, any()})});
      case 2: return add("Sigmoid", {add("Add", {x, any()})});
      case 3: return add("Identity", {add("Sin", {x})});
      case 4: {
        auto flat = add("Reshape", {x, constant(tensor::vector<int32_t>({128}))});
        return add("Reshape", {add("Sin", {flat}), constant(tensor::vector<int32_t>({16, 8}))});
      }
      case 5: {
        auto swapped = constant(tensor::vector<int32_t>({1, 0}));
        return add("Transpose", {add("Tanh", {add("Transpose", {x, swapped})}), swapped});
      }
      case 6: return add("MatMul", {add("Tanh", {x}), constant(square)});
      case 7: {
        if (!spread)
          return add("Relu", {x});
        // The GPU computes a shape, which the host needs: this begins another region.
        auto largest = add("ArgMax", {x, constant(tensor::scalar<int32_t>(1))});
        auto zero = add("Sub", {largest, largest});
        auto dims = add("Cast",
                        {add("Add", {add("Slice", {zero, constant(tensor::vector<int32_t>({0})),
                                                   constant(tensor::vector<int32_t>({1}))}),
                                     constant(tensor::vector<int64_t>({16}))})},
                        {{"DstT", dtype::i32}});
        auto extents = add("Concat", {constant(tensor::scalar<int32_t>(0)), dims,
                                      constant(tensor::vector<int32_t>({8}))});
        return add("Add", {x, add("Fill", {extents, constant(tensor::scalar(0.25f))})});
      }
      default: return add("Sub", {add("Square", {add("Tanh", {x})}), add("Neg", {any()})});
    }
  }

  edge add(std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    std::string device;
    if (spread && dice() % 6 == 0 && op != "Const")
      device = std::array{"/cpu:0", "/gpu:0", "/gpu:1"}[dice() % 3];
    auto added = nodes.add({.op = std::move(op),
                            .inputs = std::move(inputs),
                            .attrs = std::move(attrs),
                            .device = std::move(device)});
    INFO((added ? "" : added.status().message()));
    REQUIRE(added);
    return (*added)->output(0);
  }
  edge constant(tensor value) {
    auto type = value.type();
    return add("Const", {}, {{"value", std::move(value)}, {"dtype", type}});
  }
  tensor any_values(shape dims) {
    std::vector<float> numbers(static_cast<size_t>(dims.elements()));
    for (auto& number : numbers)
      number = std::uniform_real_distribution<float>{-1, 1}(dice);
    return tensor::from_values(dims, numbers);
  }

  std::mt19937 dice;
  bool spread;
  tensor square = any_values({8, 8});
  std::vector<edge> values;
  graph nodes{simulated_library()};
  step_signature signature;
};

} // namespace

TEST_CASE("random graphs give the same bits with and without swapping") {
  watchdog watch{100s};
  auto base = std::random_device{}();
  uint64_t swapped = 0;
  for (unsigned round = 0; round < 30; ++round) {
    auto spread = round % 2 == 1;
    INFO("seed " << base + round << (spread ? ", spread" : ""));
    random_net net{base + round, spread, round % 4 > 1};
    auto precision = round % 3 == 1 ? dtype::bf16 : dtype::none;
    auto gpus = spread ? 2 : 1;
    program_options programs{.region_per_node = round % 5 == 4, .deterministic = round % 4 == 2};
    session_on_gpus plain{{}, 0, gpus, programs, round % 3 != 0, 0, precision},
        swapping{swapping_all(), 0, gpus, programs, round % 3 != 0, 0, precision};
    for (int i = 0; i < 5; ++i) {
      std::vector<tensor> feeds{net.any_values({16, 8}), net.any_values({16, 8})};
      auto expected = plain.run(net.nodes, net.signature, feeds);
      INFO((expected ? "" : expected.status().message()));
      REQUIRE(expected);
      auto actual = swapping.run(net.nodes, net.signature, feeds);
      INFO((actual ? "" : actual.status().message()));
      REQUIRE(actual);
      REQUIRE(same(*actual, *expected));
    }
    swapping.settle();
    swapped += swapping.swaps().bytes_out;
    CHECK(swapping.swaps().bytes_on_host == 0);
    CHECK(swapping.misuses() == "");
  }
  CHECK(swapped > 0);
}

TEST_CASE("concurrent steps may swap on one GPU") {
  watchdog watch{100s};
  deep_net net{16 * 1024, 12};
  session_on_gpus plain{{}}, swapping{swapping_all()};
  auto expected = plain.run(net.nodes, net.signature, net.feeds());
  REQUIRE(expected);
  REQUIRE(swapping.run(net.nodes, net.signature, net.feeds()));
  std::atomic<int> errors = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 8; ++i)
          if (auto outcome = swapping.run(net.nodes, net.signature, net.feeds());
              !outcome || !same(*outcome, *expected))
            ++errors;
      });
  }
  CHECK(errors == 0);
  swapping.settle();
  CHECK(swapping.swaps().bytes_on_host == 0);
  CHECK(swapping.misuses() == "");
}

} // namespace troupe::test::swap_test
