// A convolution, its bias and its Relu, by the kernels of real GPUs on a simulated one: what is
// asked of cuDNN is computed as its reference says, and compared with the processor's.
#include "tests/fake_cudnn/cudnn_kernels.hpp"
#include "tests/fake_cudnn/fake_cudnn.hpp"
#include "tests/simulated_gpu/portable_kernels.hpp"
#include "tests/simulated_gpu/simulated_kernels.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/op_samples.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/devices/gpu/cuda/convolve.hpp"
#include "troupe/ops/all.hpp"

#include <deque>
#include <random>
#include <thread>

namespace troupe::test::computed_convolution_test {

using namespace std::chrono_literals;

namespace {

// As simulated_library(), but for convolutions.
const registry& library_with_cudnn() {
  static std::deque<kernel_def> kernels;
  static const registry all = [] {
    registry made;
    REQUIRE(ops::add_all(made, device_kind::cpu));
    for (const auto* one : cudnn_kernels())
      REQUIRE(made.add(*one));
    for (const auto* one : portable_kernels())
      REQUIRE(made.add(*one));
    kernels = gpu::simulated_kernels(made);
    for (const auto& one : kernels)
      REQUIRE(made.add(one));
    return made;
  }();
  return all;
}

// Convolutions as cuDNN has them: the second algorithm is CUDNN_..._IMPLICIT_PRECOMP_GEMM.
struct net {
  explicit net(unsigned seed) {
    auto& library = fake_cudnn::instance();
    library.algorithms = {{}, {.workspace = 1000}, {.workspace = 500}};
    library.launch = nullptr;
    library.counted = {};
    library.run = [this](cudaStream_t in, std::function<void()> body) {
      refused += !driver_of(*gpu).launch(
          [body]() -> status {
            body();
            return {};
          },
          reinterpret_cast<gpu::stream>(in));
    };
    client_options options;
    options.ops = &library_with_cudnn();
    options.inter_op_threads = 2;
    options.make_devices = [this, seed] {
      auto made = make_simulated_devices(1, {.seed = seed});
      gpu = made.back();
      return made;
    };
    auto made = client::local(options);
    REQUIRE(made);
    session = *std::move(made);
  }
  ~net() {
    session.reset();
    fake_cudnn::instance().run = nullptr;
  }

  result<tensor> run(std::string_view text, int times = 1) {
    text_case what{text, "convolution", &library_with_cudnn()};
    result<std::vector<tensor>> got{status{}};
    for (int i = 0; i < times; ++i) {
      got = test::run(*session, what);
      if (!got)
        return got.status();
    }
    return got->at(0);
  }

  static gpu::simulated_driver& driver_of(device& gpu) {
    return static_cast<gpu::simulated_driver&>(gpu::gpu_of(gpu).driver());
  }
  std::string misdeeds() const { return driver_of(*gpu).misdeeds(); }

  std::shared_ptr<device> gpu;
  int refused = 0;
  std::unique_ptr<client> session;
};

std::string numbers(int64_t count, std::mt19937& dice) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += concat(i ? ", " : "", static_cast<double>(static_cast<int>(dice() % 33) - 16) / 8);
  return text;
}

std::string placed(std::string text, std::string_view device) {
  for (size_t at; (at = text.find("DEVICE")) != std::string::npos;)
    text.replace(at, 6, concat('@', '"', device, '"'));
  return text;
}

struct random_layer {
  explicit random_layer(std::mt19937& dice) {
    auto pick = [&](int from, int to) {
      return from + static_cast<int>(dice() % static_cast<unsigned>(to - from + 1));
    };
    constexpr const char* types[] = {"f32", "f32", "f16", "bf16"};
    constexpr const char* paddings[] = {"VALID", "SAME", "EXPLICIT"};
    type = types[dice() % std::size(types)];
    rectifies = dice() % 2 == 0;
    auto first = dice() % 2 == 0;
    auto groups = pick(1, 2), images = pick(1, 3), rows = pick(5, 7), columns = pick(5, 7);
    auto in = groups * pick(1, 3), out = groups * pick(1, 3), height = pick(1, 3),
         width = pick(1, 3), stride = pick(1, 2), dilation = stride > 1 ? 1 : pick(1, 2);
    auto four = [&](auto channels, auto of_rows, auto of_columns, auto image) {
      return first ? concat(image, ",", channels, ",", of_rows, ",", of_columns)
                   : concat(image, ",", of_rows, ",", of_columns, ",", channels);
    };
    auto constant = [&](std::string_view name, const std::string& dims, int64_t count) {
      return concat(name, " = Placeholder dtype=", type, " shape=[", dims, "]\nfeed ", name, " = ",
                    type, "{", dims, "}[", numbers(count, dice), "]\n");
    };
    text = constant("x", four(in, rows, columns, images), images * rows * columns * in);
    text += constant("w", concat(height, ",", width, ",", in / groups, ",", out),
                     height * width * (in / groups) * out);
    text += constant("v", concat(out), out);
    const std::string padding = paddings[dice() % std::size(paddings)];
    text += concat("p = Conv2D(x, w) strides=[", four(1, stride, stride, 1), "] dilations=[",
                   four(1, dilation, dilation, 1), "] padding=\"", padding, '"');
    if (padding == "EXPLICIT")
      text += concat(" explicit_paddings=[", first ? "0,0,0,0,1,0,2,1" : "0,0,1,0,2,1,0,0", ']');
    text += concat(" data_format=\"", first ? "NCHW" : "NHWC", "\" DEVICE\n");
    text += concat("b = BiasAdd(p, v) data_format=\"", first ? "NCHW" : "NHWC", "\" DEVICE\n");
    text += rectifies ? "y = Relu(b) DEVICE\nfetch y\n" : "fetch b\n";
  }

  std::string type, text;
  bool rectifies;
};

// What the input's or the filter's gradient is, given the output's.
struct random_gradient {
  explicit random_gradient(std::mt19937& dice) {
    auto pick = [&](int from, int to) {
      return from + static_cast<int>(dice() % static_cast<unsigned>(to - from + 1));
    };
    auto first = dice() % 2 == 0, same = dice() % 2 == 0, of_input = dice() % 2 == 0;
    auto groups = pick(1, 2), images = pick(1, 2), in = groups * pick(1, 2),
         out = groups * pick(1, 2), stride = pick(1, 2), dilation = stride > 1 ? 1 : pick(1, 2);
    std::array<int, 2> extent{pick(5, 7), pick(5, 7)}, size{pick(1, 3), pick(1, 3)}, made{};
    for (size_t i = 0; i < 2; ++i) {
      auto reach = (size[i] - 1) * dilation + 1;
      made[i] = same ? (extent[i] + stride - 1) / stride : (extent[i] - reach) / stride + 1;
    }
    auto four = [&](int image, int channels, std::array<int, 2> of) {
      return first ? concat(image, ",", channels, ",", of[0], ",", of[1])
                   : concat(image, ",", of[0], ",", of[1], ",", channels);
    };
    auto image = four(images, in, extent);
    auto filter = concat(size[0], ",", size[1], ",", in / groups, ",", out);
    auto gradient = four(images, out, made);
    auto feed = [&](std::string_view name, const std::string& dims, int64_t count) {
      return concat(name, " = Placeholder dtype=f32 shape=[", dims, "]\nfeed ", name, " = f32{",
                    dims, "}[", numbers(count, dice), "]\n");
    };
    text = feed("d", gradient, int64_t{images} * out * made[0] * made[1]);
    if (of_input)
      text += feed("w", filter, int64_t{size[0]} * size[1] * (in / groups) * out) +
              concat("y = Conv2DBackpropInput(i32[", image, "], w, d)");
    else
      text += feed("x", image, int64_t{images} * in * extent[0] * extent[1]) +
              concat("y = Conv2DBackpropFilter(x, i32[", filter, "], d)");
    text += concat(" strides=[", four(1, 1, {stride, stride}), "] dilations=[",
                   four(1, 1, {dilation, dilation}), "] padding=\"", same ? "SAME" : "VALID",
                   "\" data_format=\"", first ? "NCHW" : "NHWC", "\" DEVICE\nfetch y\n");
  }

  std::string text;
};

int joined() { return fake_cudnn::instance().calls("cudnnConvolutionBiasActivationForward"); }
int alone() { return fake_cudnn::instance().calls("cudnnConvolutionForward"); }

constexpr auto small = R"(
x = Placeholder dtype=f32 shape=[1,1,NUMBER,1]
p = Conv2D(x, f32{1,1,1,2}[3, -2]) strides=[1, 1, 1, 1] padding="VALID" @"/gpu:0"
b = Add(p, f32[1, 2]) @"/gpu:0"
)";

// What was found is the process's, so each test asks something else.
std::string another(std::string_view more) {
  static int number = 0;
  std::string made{small};
  made.replace(made.find("NUMBER"), 6, std::to_string(++number));
  return concat(made, more, "feed x = f32{1,1,", number, ",1}[1]\n");
}

} // namespace

TEST_CASE("a convolution with its bias is by cuDNN what it is on processors") {
  watchdog watch{100s};
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  net under{seed};
  for (int i = 0; i < 60; ++i) {
    random_layer layer{dice};
    INFO(layer.text);
    auto expected = under.run(placed(layer.text, "/cpu:0"));
    REQUIRE(expected);
    auto before = joined() + alone();
    auto got = under.run(placed(layer.text, "/gpu:0"), 4); // later runs repeat a recording
    INFO((got ? "" : got.status().message()));
    REQUIRE(got);
    CHECK(joined() + alone() > before);
    REQUIRE(got->dims() == expected->dims());
    auto epsilon = layer.type == "f32" ? 1e-5 : layer.type == "f16" ? 4e-3 : 3e-2;
    auto a = converted(*got, dtype::f64), b = converted(*expected, dtype::f64);
    for (int64_t k = 0; k < a.elements(); ++k)
      CHECK(a.data<double>()[k] == Approx(b.data<double>()[k]).epsilon(epsilon).margin(epsilon));
  }
  CHECK(joined() > 0);
  CHECK(under.refused == 0);
  CHECK(under.misdeeds() == "");
}

TEST_CASE("the gradients of a convolution are by cuDNN what they are on processors") {
  watchdog watch{100s};
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  net under{seed};
  for (int i = 0; i < 40; ++i) {
    random_gradient layer{dice};
    INFO(layer.text);
    auto expected = under.run(placed(layer.text, "/cpu:0"));
    INFO((expected ? "" : expected.status().message()));
    REQUIRE(expected);
    auto got = under.run(placed(layer.text, "/gpu:0"), 4);
    INFO((got ? "" : got.status().message()));
    REQUIRE(got);
    REQUIRE(got->dims() == expected->dims());
    for (int64_t k = 0; k < got->elements(); ++k)
      CHECK(got->data<float>()[k] == Approx(expected->data<float>()[k]).epsilon(1e-5).margin(1e-5));
  }
  CHECK(fake_cudnn::instance().calls("cudnnConvolutionBackwardData") > 0);
  CHECK(fake_cudnn::instance().calls("cudnnConvolutionBackwardFilter") > 0);
  CHECK(under.refused == 0);
  CHECK(under.misdeeds() == "");
}

TEST_CASE("with a Relu all algorithms are tried joined and apart, without it one is joined") {
  watchdog watch;
  net under{1};
  SECTION("with it") {
    REQUIRE(under.run(another("y = Relu(b) @\"/gpu:0\"\nfetch y\n")));
    CHECK(joined() >= 3 * 2);
    CHECK(alone() >= 3 * 2);
  }
  SECTION("without it") {
    REQUIRE(under.run(another("fetch b\n")));
    CHECK(joined() >= 2);
    CHECK(joined() <= 6);
    CHECK(alone() >= 3 * 2);
  }
}

TEST_CASE("where cuDNN refuses to join a bias, a launch of its own adds it") {
  watchdog watch;
  net under{1};
  for (auto& one : fake_cudnn::instance().algorithms)
    one.joins = false;
  auto text = another("y = Relu(b) @\"/gpu:0\"\nfetch y\n");
  auto got = under.run(text);
  REQUIRE(got);
  CHECK(got->values<float>()[0] == 4);
  CHECK(got->values<float>()[1] == 0);
  CHECK(joined() == 0);
  CHECK(alone() > 0);
}

TEST_CASE("the faster of joined and apart is taken") {
  watchdog watch;
  net under{1};
  auto quick = fake_cudnn::instance().run;
  fake_cudnn::instance().algorithms = {{.works = false}, {}};
  for (auto joins_slowly : {true, false}) {
    fake_cudnn::instance().counted = {};
    fake_cudnn::instance().run = [=](cudaStream_t in, std::function<void()> body) {
      auto is_joined = joined() > 0 && alone() == 0; // the first that is tried
      quick(in, [=] {
        std::this_thread::sleep_for(is_joined == joins_slowly ? 20ms : 0ms);
        body();
      });
    };
    auto text = another("fetch b\n");
    REQUIRE(under.run(text));
    auto joined_before = joined(), alone_before = alone();
    // What comes first, or is not far slower, five times, the other twice; and the step's own.
    CHECK(joined_before == (joins_slowly ? 5 : 6));
    CHECK(alone_before == (joins_slowly ? 6 : 2));
  }
  fake_cudnn::instance().run = quick;
}

TEST_CASE("a bias is added where nothing else is added up") {
  watchdog watch;
  net under{1};
  auto got = under.run(R"(
x = Placeholder dtype=f32 shape=[1,2,2,0]
p = Conv2D(x, f32{1,1,0,2}[]) strides=[1, 1, 1, 1] padding="VALID" @"/gpu:0"
b = Add(p, f32[1, -2]) @"/gpu:0"
y = Relu(b) @"/gpu:0"
feed x = f32{1,2,2,0}[]
fetch y
)");
  INFO((got ? "" : got.status().message()));
  REQUIRE(got);
  for (int64_t i = 0; i < 8; ++i)
    CHECK(got->data<float>()[i] == (i % 2 == 0 ? 1 : 0));
}

} // namespace troupe::test::computed_convolution_test
