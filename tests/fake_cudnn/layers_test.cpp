// What is asked of cuDNN where it and our kernels both compute a layer: golden cases, random ones,
// and what it must not be asked.
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

// A session with a simulated GPU, whose layers the pretended cuDNN computes where it may.
struct layer_session {
  explicit layer_session(layers_by which = layers_by::library,
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
    choose_layers(**gpu, which);
    use_simulated_layers(cuda_layers());
    std::vector<std::shared_ptr<device>> devices{host, *gpu};
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [devices] { return devices; };
    options.passes = pass_options::none();
    options.programs = programs;
    auto made = client::local(options);
    REQUIRE(made);
    session = *std::move(made);
  }
  layer_session(const layer_session&) = delete;
  layer_session& operator=(const layer_session&) = delete;
  ~layer_session() {
    session.reset();
    use_simulated_layers(nullptr);
  }

  int calls(const std::string& function) { return fake_cudnn::instance().calls(function); }
  int calls() {
    int all = 0;
    auto& fake = fake_cudnn::instance();
    std::lock_guard guard{fake.mutex};
    for (const auto& [function, count] : fake.counted)
      all += count;
    return all;
  }

  unsigned seed = std::random_device{}();
  std::atomic<int> lost = 0; // launches that the driver has refused
  std::unique_ptr<client> session;
};

std::vector<tensor> fetches_of(client& in, const std::string& text) {
  INFO(text);
  auto got = run(in, text_case{text, "test", &simulated_library()});
  INFO(got.status().message());
  REQUIRE(got);
  return *std::move(got);
}

// What processors compute.
std::vector<tensor> expected_of(const std::string& text) {
  static const std::shared_ptr<device> host = make_cpu_device({.intra_op_threads = 1});
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [] { return std::vector<std::shared_ptr<device>>{host}; };
  options.passes = pass_options::none();
  auto made = client::local(options);
  REQUIRE(made);
  return fetches_of(**made, text);
}

void check_against_processors(layer_session& on, const std::string& text) {
  auto expected = expected_of(text), actual = fetches_of(*on.session, text);
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    std::string why;
    // Sums of many elements are rounded in another order.
    if (!close_to(actual[i], expected[i], 8 * default_tolerance(actual[i].type()), &why))
      FAIL_CHECK("fetch " << i << ": " << why << '\n' << text);
  }
}

struct dice {
  std::mt19937 bits;
  int inplace_vector(int most) { return std::uniform_int_distribution{1, most}(bits); }
  bool coin() { return inplace_vector(2) == 1; }
  const char* type() {
    constexpr const char* all[] = {"f32", "f16", "bf16", "f64"};
    return all[inplace_vector(4) - 1];
  }
  // Others each time: a session goes on where a node of that name and these seeds has stopped.
  std::string seeds() { return concat(" seed=", inplace_vector(1000), " seed2=", ++drawn, '\n'); }
  int drawn = 0;
};

using extents = std::vector<int>;

std::string listed(const extents& of) {
  std::string text;
  for (auto one : of)
    text += concat(text.empty() ? "[" : ", ", one);
  return text + "]";
}

// [n, axes..., c] or [n, c, axes...].
extents arranged(int n, int c, const extents& axes, bool channels_first) {
  extents made{n};
  if (channels_first)
    made.push_back(c);
  made.insert(made.end(), axes.begin(), axes.end());
  if (!channels_first)
    made.push_back(c);
  return made;
}

std::string format_of(size_t axes, bool channels_first) {
  auto last = axes == 2 ? "NHWC" : "NDHWC", first = axes == 2 ? "NCHW" : "NCDHW";
  return concat(" data_format=\"", channels_first ? first : last, '"');
}

// Whole numbers, many of them equal: a tensor `name` of that shape and type.
std::string whole_numbers(dice& by, const std::string& name, const std::string& dims,
                          const std::string& type) {
  return concat(name, "_0 = RandomUniform(", dims, ") dtype=f32", by.seeds(), name, "_1 = Mul(",
                name, "_0, f32(6))\n", name, "_2 = Floor(", name, "_1)\n", name, "_3 = Sub(", name,
                "_2, f32(2))\n", name, " = Cast(", name, "_3) DstT=", type, "\n");
}
std::string numbers(dice& by, const std::string& name, const std::string& dims,
                    const std::string& type) {
  return concat(name, "_0 = RandomUniform(", dims, ") dtype=f32", by.seeds(), name, "_1 = Sub(",
                name, "_0, f32(0.4))\n", name, " = Cast(", name, "_1) DstT=", type, "\n");
}

std::string random_pooling(dice& by) {
  extents axes, sizes, strides;
  for (int i = by.coin() ? 2 : 3; i > 0; --i) {
    axes.push_back(by.inplace_vector(7));
    sizes.push_back(by.inplace_vector(std::min(3, axes.back())));
    strides.push_back(by.inplace_vector(3));
  }
  auto first = by.coin();
  auto windows = concat(" ksize=", listed(arranged(1, 1, sizes, first)),
                        " strides=", listed(arranged(1, 1, strides, first)), " padding=\"",
                        by.coin() ? "SAME" : "VALID", '"', format_of(axes.size(), first), '\n');
  const auto* d = axes.size() == 2 ? "" : "3D";
  std::string type = by.type();
  auto dims =
      concat("i32", listed(arranged(by.inplace_vector(3), by.inplace_vector(5), axes, first)));
  return concat(whole_numbers(by, "x", dims, type), "y = MaxPool", d, "(x)", windows,
                "s = Shape(y)\n", whole_numbers(by, "dy", "s", type), "dx = MaxPool", d,
                "Grad(x, y, dy)", windows, "a = AvgPool", d, "(x)", windows, "da = AvgPool", d,
                "Grad(", dims, ", dy)", windows, "fetch y\nfetch dx\nfetch a\nfetch da\n");
}

std::string random_softmax(dice& by) {
  auto dims = concat("i32", listed({by.inplace_vector(9), by.inplace_vector(40)}));
  return concat(numbers(by, "x", dims, by.type()), "y = Softmax(x)\nz = LogSoftmax(x)\n",
                "fetch y\nfetch z\n");
}

std::string random_lrn(dice& by) {
  auto dims = concat("i32", listed({by.inplace_vector(3), by.inplace_vector(4),
                                    by.inplace_vector(4), by.inplace_vector(20)}));
  auto type = std::string{by.type()};
  auto with = concat(" depth_radius=", by.inplace_vector(8) - 1, " bias=", by.inplace_vector(3),
                     ".25 alpha=0.", by.inplace_vector(9), " beta=0.", by.inplace_vector(9), '\n');
  return concat(numbers(by, "x", dims, type), numbers(by, "dy", dims, type), "y = LRN(x)", with,
                "dx = LRNGrad(dy, x, y)", with, "fetch y\nfetch dx\n");
}

std::string random_batch_norm(dice& by) {
  extents axes;
  for (int i = by.coin() ? 2 : 3; i > 0; --i)
    axes.push_back(by.inplace_vector(4));
  auto first = by.coin(), training = by.inplace_vector(3) > 1;
  auto channels = by.inplace_vector(6);
  std::string type = by.type(), own = type == "f64" ? "f64" : "f32";
  auto dims = concat("i32", listed(arranged(1 + by.inplace_vector(3), channels, axes, first)));
  auto each = concat("i32[", channels, ']');
  auto with = concat(" epsilon=0.00", by.inplace_vector(9), format_of(axes.size(), first),
                     " is_training=", training ? "true" : "false");
  // Away from 0, where everything is lost in cancellation, and of small variance.
  return concat(
      numbers(by, "x", dims, type), numbers(by, "dy", dims, type), numbers(by, "scale", each, own),
      numbers(by, "offset", each, own), numbers(by, "mean", each, own), "v = RandomUniform(", each,
      ") dtype=f32", by.seeds(), "v1 = Add(v, f32(0.5))\nvariance = Cast(v1) DstT=", own,
      "\ny = FusedBatchNormV3(x, scale, offset, mean, variance)", with,
      training ? concat(" exponential_avg_factor=0.", by.inplace_vector(9)) : "",
      "\nsingle = Cast(scale) DstT=f32\n", "g = FusedBatchNormGradV3(dy, x, single, y:3, y:4, y:5)",
      with,
      "\nfetch y\nfetch y:1\nfetch y:2\nfetch y:3\nfetch y:4\nfetch g\nfetch g:1\nfetch g:2\n");
}

// Layers that no test has asked for.
std::string max_pool_of(int images, const char* x = nullptr) {
  auto windows = std::string{" ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding=\"VALID\"\n"};
  auto dims = concat("i32[", images, ", 3, 3, 2]");
  return concat("x = ", x ? std::string{x} : concat("Fill(", dims, ", f32(1))"), "\ny = MaxPool(x)",
                windows, "dy = Fill(i32[", images, ", 2, 2, 2], f32(1))\n",
                "dx = MaxPoolGrad(x, y, dy)", windows, "fetch y\nfetch dx\n");
}

} // namespace

TEST_CASE("layers that cuDNN computes are what an independent implementation computes") {
  watchdog watch{std::chrono::seconds{100}};
  const std::set<std::string> wanted{"AvgPool",
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
  for (const auto& one : golden_cases())
    if (wanted.contains(one.op())) {
      ++cases;
      if (auto why = complaint_about(*on.session, simulated_library(), one); !why.empty())
        FAIL_CHECK(one.name << ": " << why);
    }
  CHECK(cases > 6 * static_cast<int>(wanted.size()));
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

TEST_CASE("random layers are the processor's where cuDNN computes them") {
  watchdog watch{std::chrono::seconds{100}};
  layer_session on;
  auto seed = on.seed;
  INFO("seed " << seed);
  dice by{std::mt19937{seed}};
  auto hold = [&](auto make, std::initializer_list<const char*> functions) {
    for (int i = 0; i < 40; ++i)
      check_against_processors(on, make(by));
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
    check_against_processors(on, text); // asks
    auto before = on.calls(function);
    check_against_processors(on, text);
    return on.calls(function) - before;
  };
  SECTION("as it does") {
    CHECK(launches(11, "cudnnPoolingBackward") == 1);
    CHECK(launches(11, "cudnnPoolingForward") == 2); // the gradient's own maximum, too
  }
  SECTION("not with the last of them") {
    fake.ties = fake_ties::last;
    CHECK(launches(12, "cudnnPoolingBackward") == 0);
  }
  SECTION("not with all of them") {
    fake.ties = fake_ties::all;
    CHECK(launches(13, "cudnnPoolingBackward") == 0);
  }
  SECTION("not without NaNs") {
    fake.sees_nan = false;
    CHECK(launches(14, "cudnnPoolingForward") == 0);
    CHECK(launches(14, "cudnnPoolingBackward") == 0);
  }
}

TEST_CASE("a softmax over its own input is not tried twice on it") {
  watchdog watch;
  for (auto which : {layers_by::fastest, layers_by::library}) {
    layer_session on{which};
    for (int i = 0; i < 3; ++i)
      check_against_processors(on, concat("x = Mul(f32[[1, 2, 3], [4, 5, ", static_cast<int>(which),
                                          "]], f32(2))\ny = Softmax(x)\nfetch y\n"));
    CHECK(on.calls("cudnnSoftmaxForward") > 0);
  }
}

TEST_CASE("cuDNN's layers can be noted down and launched again") {
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
  text_case what{text, "test", &simulated_library()};
  auto deadline = step_clock::now() + std::chrono::seconds{20};
  auto step = on.session->prepare(*what.nodes, signature_of(what.text.runs.front()), deadline);
  REQUIRE(step);
  int calls_of_first = 0, calls_of_last = 0;
  for (int i = 0; i < 8; ++i) {
    auto before = on.calls();
    auto got = on.session->run(**step, {}, deadline);
    REQUIRE(got);
    for (size_t k = 0; k < got->size(); ++k)
      CHECK(close_to((*got)[k], expected[k], 1e-4));
    calls_of_last = on.calls() - before;
    calls_of_first = i == 0 ? calls_of_last : calls_of_first;
  }
  CHECK(calls_of_first > 9);
  CHECK(calls_of_last == 0); // it was launched as a whole
  CHECK(on.lost == 0);
}

TEST_CASE("who wants the same bits each time, or our kernels, does not ask cuDNN") {
  watchdog watch;
  SECTION("deterministic sessions") {
    layer_session on{layers_by::library, {.deterministic = true}};
    check_against_processors(on, max_pool_of(21));
    CHECK(on.calls() == 0);
  }
  SECTION("devices that are told so") {
    layer_session on{layers_by::kernels};
    check_against_processors(on, max_pool_of(21));
    CHECK(on.calls() == 0);
  }
}

TEST_CASE("a library that refuses all layers changes nothing") {
  watchdog watch;
  layer_session on;
  fake_cudnn::instance().refuses_layers = true;
  dice by{std::mt19937{on.seed}};
  INFO("seed " << on.seed);
  for (int i = 0; i < 5; ++i)
    for (const auto& text :
         {random_pooling(by), random_softmax(by), random_lrn(by), random_batch_norm(by)})
      check_against_processors(on, text);
  CHECK(on.calls() == 0);
}

TEST_CASE("what cuDNN does not promise is not asked of it") {
  auto offered = [](const layer& what) { return cuda_layers()->offers(what); };
  using axis = pooling_layer::axis;
  auto pooled = [&](axis rows) {
    return offered(pooling_layer{.images = 2, .channels = 3, .axes = {axis{}, rows, axis{}}});
  };
  CHECK(pooled({.in = 5, .size = 3, .stride = 2, .pad = 1, .out = 3}));
  // SAME of 4 elements pads the end alone, which makes a window more than no padding does.
  CHECK(!pooled({.in = 4, .size = 3, .stride = 2, .pad = 0, .out = 2}));
  CHECK(pooled({.in = 6, .size = 2, .stride = 3, .pad = 0, .out = 2}));
  // Windows of nothing but padding.
  CHECK(!pooled({.in = 5, .size = 2, .stride = 1, .pad = 2, .out = 8}));
  CHECK(!pooled({.in = 1, .size = 2, .stride = 2, .pad = 2, .out = 2}));
  CHECK(!offered(pooling_layer{.images = int64_t{1} << 20, .channels = int64_t{1} << 12}));

  CHECK(offered(softmax_layer{.rows = 3, .classes = 1000}));
  CHECK(!offered(softmax_layer{.rows = 0, .classes = 1000}));
  CHECK(!offered(softmax_layer{.rows = int64_t{1} << 31, .classes = 2}));

  auto normalized = [&](lrn_layer what) {
    what.images = what.rows = what.columns = what.channels = 2;
    return offered(what);
  };
  CHECK(normalized({.radius = 7}));
  CHECK(!normalized({.radius = 8}));
  CHECK(!normalized({.radius = INT64_MAX}));
  CHECK(!normalized({.radius = 2, .bias = 0}));
  CHECK(!normalized({.radius = 2, .beta = 0.001}));
  CHECK(!normalized({.radius = 2, .alpha = -1}));
  CHECK(!normalized({.radius = 2, .alpha = std::numeric_limits<double>::quiet_NaN()}));

  auto batch = [&](batch_norm_layer what) {
    what.channels = 2;
    return offered(what);
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
