// The calls to cuDNN for layers that it and our kernels both compute: golden cases, random layers,
// and layers for which it must not be called.
#include "tests/fake_cudnn/fake_cudnn.hpp"
#include "tests/ops/golden_case.hpp"
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "tests/simulated_gpu/simulated_layers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/kernel_selection.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"
#include "troupe/devices/gpu/cuda/layers.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <random>
#include <set>

namespace troupe::test::layers_test {

using namespace troupe::gpu;

namespace {

// A session with a simulated GPU, whose layers the fake cuDNN computes if it may.
struct layer_session {
  explicit layer_session(layers_by layer_choice = layers_by::library,
                         const program_options& programs = {}) {
    auto driver = make_simulated_driver({.seed = seed, .longest_delay = {}});
    auto& fake = fake_cudnn::instance();
    fake.run = [to = driver.get(), this](cudaStream_t in, std::function<void()> body) {
      lost += !to->launch(
          [body = std::move(body)]() -> status {
            body();
            return {};
          },
          reinterpret_cast<stream>(in));
    };
    fake.counted.clear();
    fake.ties = fake_ties::first;
    fake.sees_nan = true;
    fake.refuses_layers = false;
    std::shared_ptr<device> host = make_cpu_device({.intra_op_threads = 1});
    auto gpu = make_device(std::move(driver), host, 0, {});
    REQUIRE(gpu);
    choose_layers(**gpu, layer_choice);
    use_simulated_layers(cuda_layers());
    std::vector<std::shared_ptr<device>> devices{host, *gpu};
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [devices] { return devices; };
    options.passes = pass_options::none();
    options.programs = programs;
    auto local = client::local(options);
    REQUIRE(local);
    session = *std::move(local);
  }
  layer_session(const layer_session&) = delete;
  layer_session& operator=(const layer_session&) = delete;
  ~layer_session() {
    session.reset();
    use_simulated_layers(nullptr);
  }

  int calls(const std::string& function) { return fake_cudnn::instance().calls(function); }
  int calls() {
    int total = 0;
    auto& fake = fake_cudnn::instance();
    std::lock_guard guard{fake.mutex};
    for (const auto& [function, count] : fake.counted)
      total += count;
    return total;
  }

  unsigned seed = std::random_device{}();
  std::atomic<int> lost = 0; // launches that the driver refused
  std::unique_ptr<client> session;
};

std::vector<tensor> fetches_of(client& session, const std::string& text) {
  INFO(text);
  auto outcome = run(session, text_case{text, "test", &simulated_library()});
  INFO(outcome.status().message());
  REQUIRE(outcome);
  return *std::move(outcome);
}

// The results of processors.
std::vector<tensor> expected_of(const std::string& text) {
  static const std::shared_ptr<device> host = make_cpu_device({.intra_op_threads = 1});
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [] { return std::vector<std::shared_ptr<device>>{host}; };
  options.passes = pass_options::none();
  auto local = client::local(options);
  REQUIRE(local);
  return fetches_of(**local, text);
}

void check_against_processors(layer_session& on, const std::string& text) {
  auto expected = expected_of(text), actual = fetches_of(*on.session, text);
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    std::string mismatch;
    // Sums of many elements are rounded in another order.
    if (!close_to(actual[i], expected[i], 8 * default_tolerance(actual[i].type()), &mismatch))
      FAIL_CHECK("fetch " << i << ": " << mismatch << '\n' << text);
  }
}

struct dice {
  std::mt19937 bits;
  int number(int max) { return std::uniform_int_distribution{1, max}(bits); }
  bool coin() { return number(2) == 1; }
  const char* type() {
    constexpr const char* types[] = {"f32", "f16", "bf16", "f64"};
    return types[number(4) - 1];
  }
  // Different seeds each time: a session continues the sequence of a node with the same name and
  // seeds.
  std::string seeds() { return concat(" seed=", number(1000), " seed2=", ++draw_count, '\n'); }
  int draw_count = 0;
};

using extents = std::vector<int>;

std::string listed(const extents& values) {
  std::string text;
  for (auto value : values)
    text += concat(text.empty() ? "[" : ", ", value);
  return text + "]";
}

// [n, axes..., c] or [n, c, axes...].
extents arranged(int n, int c, const extents& axes, bool channels_first) {
  extents dims{n};
  if (channels_first)
    dims.push_back(c);
  dims.insert(dims.end(), axes.begin(), axes.end());
  if (!channels_first)
    dims.push_back(c);
  return dims;
}

std::string format_of(size_t axes, bool channels_first) {
  auto last = axes == 2 ? "NHWC" : "NDHWC", first = axes == 2 ? "NCHW" : "NCDHW";
  return concat(" data_format=\"", channels_first ? first : last, '"');
}

// Whole numbers, many of them equal: a tensor `name` of this shape and type.
std::string whole_numbers(dice& random, const std::string& name, const std::string& dims,
                          const std::string& type) {
  return concat(name, "_0 = RandomUniform(", dims, ") dtype=f32", random.seeds(), name, "_1 = Mul(",
                name, "_0, f32(6))\n", name, "_2 = Floor(", name, "_1)\n", name, "_3 = Sub(", name,
                "_2, f32(2))\n", name, " = Cast(", name, "_3) DstT=", type, "\n");
}
std::string numbers(dice& random, const std::string& name, const std::string& dims,
                    const std::string& type) {
  return concat(name, "_0 = RandomUniform(", dims, ") dtype=f32", random.seeds(), name, "_1 = Sub(",
                name, "_0, f32(0.4))\n", name, " = Cast(", name, "_1) DstT=", type, "\n");
}

std::string random_pooling(dice& random) {
  extents axes, sizes, strides;
  for (int i = random.coin() ? 2 : 3; i > 0; --i) {
    axes.push_back(random.number(7));
    sizes.push_back(random.number(std::min(3, axes.back())));
    strides.push_back(random.number(3));
  }
  auto first = random.coin();
  auto windows = concat(" ksize=", listed(arranged(1, 1, sizes, first)),
                        " strides=", listed(arranged(1, 1, strides, first)), " padding=\"",
                        random.coin() ? "SAME" : "VALID", '"', format_of(axes.size(), first), '\n');
  const auto* d = axes.size() == 2 ? "" : "3D";
  std::string type = random.type();
  auto dims = concat("i32", listed(arranged(random.number(3), random.number(5), axes, first)));
  return concat(whole_numbers(random, "x", dims, type), "y = MaxPool", d, "(x)", windows,
                "s = Shape(y)\n", whole_numbers(random, "dy", "s", type), "dx = MaxPool", d,
                "Grad(x, y, dy)", windows, "a = AvgPool", d, "(x)", windows, "da = AvgPool", d,
                "Grad(", dims, ", dy)", windows, "fetch y\nfetch dx\nfetch a\nfetch da\n");
}

std::string random_softmax(dice& random) {
  auto dims = concat("i32", listed({random.number(9), random.number(40)}));
  return concat(numbers(random, "x", dims, random.type()), "y = Softmax(x)\nz = LogSoftmax(x)\n",
                "fetch y\nfetch z\n");
}

std::string random_lrn(dice& random) {
  auto dims = concat(
      "i32", listed({random.number(3), random.number(4), random.number(4), random.number(20)}));
  auto type = std::string{random.type()};
  auto attrs = concat(" depth_radius=", random.number(8) - 1, " bias=", random.number(3),
                      ".25 alpha=0.", random.number(9), " beta=0.", random.number(9), '\n');
  return concat(numbers(random, "x", dims, type), numbers(random, "dy", dims, type), "y = LRN(x)",
                attrs, "dx = LRNGrad(dy, x, y)", attrs, "fetch y\nfetch dx\n");
}

std::string random_batch_norm(dice& random) {
  extents axes;
  for (int i = random.coin() ? 2 : 3; i > 0; --i)
    axes.push_back(random.number(4));
  auto first = random.coin(), training = random.number(3) > 1;
  auto channels = random.number(6);
  std::string type = random.type(), own = type == "f64" ? "f64" : "f32";
  auto dims = concat("i32", listed(arranged(1 + random.number(3), channels, axes, first)));
  auto channel_dims = concat("i32[", channels, ']');
  auto attrs = concat(" epsilon=0.00", random.number(9), format_of(axes.size(), first),
                      " is_training=", training ? "true" : "false");
  // Values that are not near 0, where cancellation destroys all digits, and not of small variance.
  return concat(
      numbers(random, "x", dims, type), numbers(random, "dy", dims, type),
      numbers(random, "scale", channel_dims, own), numbers(random, "offset", channel_dims, own),
      numbers(random, "mean", channel_dims, own), "v = RandomUniform(", channel_dims, ") dtype=f32",
      random.seeds(), "v1 = Add(v, f32(0.5))\nvariance = Cast(v1) DstT=", own,
      "\ny = FusedBatchNormV3(x, scale, offset, mean, variance)", attrs,
      training ? concat(" exponential_avg_factor=0.", random.number(9)) : "",
      "\nsingle = Cast(scale) DstT=f32\n", "g = FusedBatchNormGradV3(dy, x, single, y:3, y:4, y:5)",
      attrs,
      "\nfetch y\nfetch y:1\nfetch y:2\nfetch y:3\nfetch y:4\nfetch g\nfetch g:1\nfetch g:2\n");
}

// Layers that no other test uses.
std::string max_pool_of(int images, const char* x = nullptr) {
  auto windows = std::string{" ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding=\"VALID\"\n"};
  auto dims = concat("i32[", images, ", 3, 3, 2]");
  return concat("x = ", x ? std::string{x} : concat("Fill(", dims, ", f32(1))"), "\ny = MaxPool(x)",
                windows, "dy = Fill(i32[", images, ", 2, 2, 2], f32(1))\n",
                "dx = MaxPoolGrad(x, y, dy)", windows, "fetch y\nfetch dx\n");
}

} // namespace

TEST_CASE("cuDNN's layers give the results of an independent implementation") {
  watchdog watch{std::chrono::seconds{100}};
  const std::set<std::string> layer_ops{"AvgPool",
                                        "AvgPoolGrad",
                                        "AvgPool3D",
                                        "AvgPool3DGrad",
                                        "MaxPool",
                                        "MaxPoolGrad",
                                        "MaxPool3D",
                                        "MaxPool3DGrad",
                                        "Softmax",
                                        "LogSoftmax",
                                        "LRN",
                                        "LRNGrad",
                                        "FusedBatchNorm",
                                        "FusedBatchNormV2",
                                        "FusedBatchNormV3",
                                        "FusedBatchNormGrad",
                                        "FusedBatchNormGradV2",
                                        "FusedBatchNormGradV3"};
  layer_session on;
  INFO("seed " << on.seed);
  int cases = 0;
  for (const auto& stored : golden_cases())
    if (layer_ops.contains(stored.op())) {
      ++cases;
      if (auto failure_text = difference_of(*on.session, simulated_library(), stored);
          !failure_text.empty())
        FAIL_CHECK(stored.name << ": " << failure_text);
    }
  CHECK(cases > 6 * static_cast<int>(layer_ops.size()));
  for (const auto* function :
       {"cudnnPoolingForward", "cudnnPoolingBackward", "cudnnSoftmaxForward",
        "cudnnLRNCrossChannelForward", "cudnnLRNCrossChannelBackward",
        "cudnnBatchNormalizationForwardTraining", "cudnnBatchNormalizationForwardInference",
        "cudnnBatchNormalizationBackward"}) {
    CAPTURE(function);
    CHECK(on.calls(function) > 0);
  }
  CHECK(on.lost == 0);
}

TEST_CASE("cuDNN computes random layers as processors do") {
  watchdog watch{std::chrono::seconds{100}};
  layer_session on;
  auto seed = on.seed;
  INFO("seed " << seed);
  dice random{std::mt19937{seed}};
  auto hold = [&](auto make, std::initializer_list<const char*> functions) {
    for (int i = 0; i < 40; ++i)
      check_against_processors(on, make(random));
    for (const auto* function : functions) {
      CAPTURE(function);
      CHECK(on.calls(function) > 20);
    }
  };
  SECTION("poolings") { hold(random_pooling, {"cudnnPoolingForward", "cudnnPoolingBackward"}); }
  SECTION("softmax") { hold(random_softmax, {"cudnnSoftmaxForward"}); }
  SECTION("local response normalization") {
    hold(random_lrn, {"cudnnLRNCrossChannelForward", "cudnnLRNCrossChannelBackward"});
  }
  SECTION("batch normalization") {
    hold(random_batch_norm,
         {"cudnnBatchNormalizationForwardTraining", "cudnnBatchNormalizationForwardInference",
          "cudnnBatchNormalizationBackward"});
  }
}

TEST_CASE("cuDNN computes maxima only where it agrees about ties and NaNs") {
  watchdog watch;
  layer_session on;
  auto& fake = fake_cudnn::instance();
  auto launches = [&](int images, const char* function) {
    auto text = max_pool_of(images);
    check_against_processors(on, text); // makes the autotuner ask
    auto calls_before = on.calls(function);
    check_against_processors(on, text);
    return on.calls(function) - calls_before;
  };
  SECTION("with the first of equal maxima and with NaNs") {
    CHECK(launches(11, "cudnnPoolingBackward") == 1);
    CHECK(launches(11, "cudnnPoolingForward") == 2); // also the gradient's own maximum
  }
  SECTION("not with the last of equal maxima") {
    fake.ties = fake_ties::last;
    CHECK(launches(12, "cudnnPoolingBackward") == 0);
  }
  SECTION("not with all equal maxima") {
    fake.ties = fake_ties::all;
    CHECK(launches(13, "cudnnPoolingBackward") == 0);
  }
  SECTION("not without NaNs") {
    fake.sees_nan = false;
    CHECK(launches(14, "cudnnPoolingForward") == 0);
    CHECK(launches(14, "cudnnPoolingBackward") == 0);
  }
}

TEST_CASE("a softmax over its own input is tried on other memory") {
  watchdog watch;
  for (auto layer_choice : {layers_by::fastest, layers_by::library}) {
    layer_session on{layer_choice};
    for (int i = 0; i < 3; ++i)
      check_against_processors(on, concat("x = Mul(f32[[1, 2, 3], [4, 5, ",
                                          static_cast<int>(layer_choice),
                                          "]], f32(2))\ny = Softmax(x)\nfetch y\n"));
    CHECK(on.calls("cudnnSoftmaxForward") > 0);
  }
}

TEST_CASE("cuDNN's layers can be recorded and replayed") {
  watchdog watch;
  std::string text = "x = f32{2,3,3,2}[";
  for (int i = 0; i < 36; ++i)
    text += concat(i * 7 % 5, i < 35 ? ", " : "]\n");
  const auto windows = std::string{" ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding=\"VALID\"\n"};
  text += concat("y = MaxPool(x)", windows, "dy = Mul(y, y)\n", "dx = MaxPoolGrad(x, y, dy)",
                 windows, "a = AvgPool(dx)", windows, "da = AvgPoolGrad(i32[2, 3, 3, 2], a)",
                 windows, "n = LRN(da) depth_radius=1\n", "dn = LRNGrad(x, da, n) depth_radius=1\n",
                 "b = FusedBatchNormV3(dn, f32[1, 2], f32[3, 4], f32[0, 0], f32[1, 1])\n",
                 "db = FusedBatchNormGradV3(x, dn, f32[1, 2], b:3, b:4, b:5)\n",
                 "z = Softmax(db)\nfetch y\nfetch dx\nfetch z\n");
  auto expected = expected_of(text);
  layer_session on;
  INFO("seed " << on.seed << '\n' << text);
  text_case text_graph{text, "test", &simulated_library()};
  auto deadline = step_clock::now() + std::chrono::seconds{20};
  auto step =
      on.session->prepare(*text_graph.nodes, signature_of(text_graph.text.runs.front()), deadline);
  REQUIRE(step);
  int calls_of_first = 0, calls_of_last = 0;
  for (int i = 0; i < 8; ++i) {
    auto calls_before = on.calls();
    auto outcome = on.session->run(**step, {}, deadline);
    REQUIRE(outcome);
    for (size_t k = 0; k < outcome->size(); ++k)
      CHECK(close_to((*outcome)[k], expected[k], 1e-4));
    calls_of_last = on.calls() - calls_before;
    calls_of_first = i == 0 ? calls_of_last : calls_of_first;
  }
  CHECK(calls_of_first > 9);
  CHECK(calls_of_last == 0); // the recording was launched as a whole
  CHECK(on.lost == 0);
}

TEST_CASE("cuDNN is not called if determinism or our kernels are chosen") {
  watchdog watch;
  SECTION("deterministic sessions") {
    layer_session on{layers_by::library, {.deterministic = true}};
    check_against_processors(on, max_pool_of(21));
    CHECK(on.calls() == 0);
  }
  SECTION("devices that use our kernels") {
    layer_session on{layers_by::kernels};
    check_against_processors(on, max_pool_of(21));
    CHECK(on.calls() == 0);
  }
}

TEST_CASE("layers that cuDNN refuses are computed by our kernels") {
  watchdog watch;
  layer_session on;
  fake_cudnn::instance().refuses_layers = true;
  dice random{std::mt19937{on.seed}};
  INFO("seed " << on.seed);
  for (int i = 0; i < 5; ++i)
    for (const auto& text : {random_pooling(random), random_softmax(random), random_lrn(random),
                             random_batch_norm(random)})
      check_against_processors(on, text);
  CHECK(on.calls() == 0);
}

TEST_CASE("cuDNN is not offered layers beyond its documented limits") {
  auto offered = [](const layer& candidate) { return cuda_layers()->offers(candidate); };
  using axis = pooling_layer::axis;
  auto pooled = [&](axis rows) {
    return offered(pooling_layer{.images = 2, .channels = 3, .axes = {axis{}, rows, axis{}}});
  };
  CHECK(pooled({.in = 5, .size = 3, .stride = 2, .pad = 1, .out = 3}));
  // SAME of 4 elements pads only the end, which gives one window more than without padding.
  CHECK(!pooled({.in = 4, .size = 3, .stride = 2, .pad = 0, .out = 2}));
  CHECK(pooled({.in = 6, .size = 2, .stride = 3, .pad = 0, .out = 2}));
  // Windows that contain only padding.
  CHECK(!pooled({.in = 5, .size = 2, .stride = 1, .pad = 2, .out = 8}));
  CHECK(!pooled({.in = 1, .size = 2, .stride = 2, .pad = 2, .out = 2}));
  CHECK(!offered(pooling_layer{.images = int64_t{1} << 20, .channels = int64_t{1} << 12}));

  CHECK(offered(softmax_layer{.rows = 3, .classes = 1000}));
  CHECK(!offered(softmax_layer{.rows = 0, .classes = 1000}));
  CHECK(!offered(softmax_layer{.rows = int64_t{1} << 31, .classes = 2}));

  auto normalized = [&](lrn_layer normalization) {
    normalization.images = normalization.rows = normalization.columns = normalization.channels = 2;
    return offered(normalization);
  };
  CHECK(normalized({.radius = 7}));
  CHECK(!normalized({.radius = 8}));
  CHECK(!normalized({.radius = INT64_MAX}));
  CHECK(!normalized({.radius = 2, .bias = 0}));
  CHECK(!normalized({.radius = 2, .beta = 0.001}));
  CHECK(!normalized({.radius = 2, .alpha = -1}));
  CHECK(!normalized({.radius = 2, .alpha = std::numeric_limits<double>::quiet_NaN()}));

  auto batch = [&](batch_norm_layer normalization) {
    normalization.channels = 2;
    return offered(normalization);
  };
  using step = batch_norm_layer::step;
  CHECK(batch({.images = 2, .epsilon = 0}));
  CHECK(!batch({.images = 2, .epsilon = -1e-3}));
  CHECK(!batch({.images = 1, .epsilon = 0}));
  CHECK(!batch({.computes = step::backward, .images = 1}));
  CHECK(batch({.computes = step::inference, .images = 1}));
  CHECK(!batch({.images = 2, .epsilon = std::numeric_limits<double>::quiet_NaN()}));
}

} // namespace troupe::test::layers_test
