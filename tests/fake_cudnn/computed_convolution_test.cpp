// A convolution, its bias and its Relu, by the kernels of real GPUs on a simulated one: the calls
// to cuDNN are computed as its reference documents, and compared with the processor's results.
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

// The same as simulated_library(), except for convolutions.
const registry& library_with_cudnn() {
  static std::deque<kernel_def> kernels;
  static const registry library = [] {
    registry new_library;
    REQUIRE(ops::add_all(new_library, device_kind::cpu));
    for (const auto* kernel : cudnn_kernels())
      REQUIRE(new_library.add(*kernel));
    for (const auto* kernel : portable_kernels())
      REQUIRE(new_library.add(*kernel));
    kernels = gpu::simulated_kernels(new_library);
    for (const auto& kernel : kernels)
      REQUIRE(new_library.add(kernel));
    return new_library;
  }();
  return library;
}

// Convolutions by cuDNN: the second algorithm is CUDNN_..._IMPLICIT_PRECOMP_GEMM.
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
      auto devices = make_simulated_devices(1, {.seed = seed});
      gpu = devices.back();
      return devices;
    };
    auto local = client::local(options);
    REQUIRE(local);
    session = *std::move(local);
  }
  ~net() {
    session.reset();
    fake_cudnn::instance().run = nullptr;
  }

  result<tensor> run(std::string_view text, int times = 1) {
    text_case text_graph{text, "convolution", &library_with_cudnn()};
    result<std::vector<tensor>> fetched{status{}};
    for (int i = 0; i < times; ++i) {
      fetched = test::run(*session, text_graph);
      if (!fetched)
        return fetched.status();
    }
    return fetched->at(0);
  }

  static gpu::simulated_driver& driver_of(device& gpu) {
    return static_cast<gpu::simulated_driver&>(gpu::gpu_of(gpu).driver());
  }
  std::string misuses() const { return driver_of(*gpu).misuses(); }

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

// The gradient of the input or the filter, given the output's gradient.
struct random_gradient {
  explicit random_gradient(std::mt19937& dice) {
    auto pick = [&](int from, int to) {
      return from + static_cast<int>(dice() % static_cast<unsigned>(to - from + 1));
    };
    auto first = dice() % 2 == 0, same = dice() % 2 == 0, of_input = dice() % 2 == 0;
    auto groups = pick(1, 2), images = pick(1, 2), in = groups * pick(1, 2),
         out = groups * pick(1, 2), stride = pick(1, 2), dilation = stride > 1 ? 1 : pick(1, 2);
    std::array<int, 2> extent{pick(5, 7), pick(5, 7)}, size{pick(1, 3), pick(1, 3)}, out_extent{};
    for (size_t i = 0; i < 2; ++i) {
      auto reach = (size[i] - 1) * dilation + 1;
      out_extent[i] = same ? (extent[i] + stride - 1) / stride : (extent[i] - reach) / stride + 1;
    }
    auto four = [&](int image, int channels, std::array<int, 2> axes) {
      return first ? concat(image, ",", channels, ",", axes[0], ",", axes[1])
                   : concat(image, ",", axes[0], ",", axes[1], ",", channels);
    };
    auto image = four(images, in, extent);
    auto filter = concat(size[0], ",", size[1], ",", in / groups, ",", out);
    auto gradient = four(images, out, out_extent);
    auto feed = [&](std::string_view name, const std::string& dims, int64_t count) {
      return concat(name, " = Placeholder dtype=f32 shape=[", dims, "]\nfeed ", name, " = f32{",
                    dims, "}[", numbers(count, dice), "]\n");
    };
    text = feed("d", gradient, int64_t{images} * out * out_extent[0] * out_extent[1]);
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

// Results are kept for the process, so each test uses a new convolution.
std::string another(std::string_view more) {
  static int number = 0;
  std::string new_text{small};
  new_text.replace(new_text.find("NUMBER"), 6, std::to_string(++number));
  return concat(new_text, more, "feed x = f32{1,1,", number, ",1}[1]\n");
}

} // namespace

TEST_CASE("cuDNN computes convolutions with a bias as processors do") {
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
    auto calls_before = joined() + alone();
    auto actual = under.run(placed(layer.text, "/gpu:0"), 4); // later runs replay a recording
    INFO((actual ? "" : actual.status().message()));
    REQUIRE(actual);
    CHECK(joined() + alone() > calls_before);
    REQUIRE(actual->dims() == expected->dims());
    auto epsilon = layer.type == "f32" ? 1e-5 : layer.type == "f16" ? 4e-3 : 3e-2;
    auto a = converted(*actual, dtype::f64), b = converted(*expected, dtype::f64);
    for (int64_t k = 0; k < a.elements(); ++k)
      CHECK(a.data<double>()[k] == Approx(b.data<double>()[k]).epsilon(epsilon).margin(epsilon));
  }
  CHECK(joined() > 0);
  CHECK(under.refused == 0);
  CHECK(under.misuses() == "");
}

TEST_CASE("cuDNN computes the gradients of convolutions as processors do") {
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
    auto actual = under.run(placed(layer.text, "/gpu:0"), 4);
    INFO((actual ? "" : actual.status().message()));
    REQUIRE(actual);
    REQUIRE(actual->dims() == expected->dims());
    for (int64_t k = 0; k < actual->elements(); ++k)
      CHECK(actual->data<float>()[k] ==
            Approx(expected->data<float>()[k]).epsilon(1e-5).margin(1e-5));
  }
  CHECK(fake_cudnn::instance().calls("cudnnConvolutionBackwardData") > 0);
  CHECK(fake_cudnn::instance().calls("cudnnConvolutionBackwardFilter") > 0);
  CHECK(under.refused == 0);
  CHECK(under.misuses() == "");
}

TEST_CASE(
    "trials fuse the bias in all algorithms if there is a Relu, and in one if there is none") {
  watchdog watch;
  net under{1};
  SECTION("with a Relu") {
    REQUIRE(under.run(another("y = Relu(b) @\"/gpu:0\"\nfetch y\n")));
    CHECK(joined() >= 3 * 2);
    CHECK(alone() >= 3 * 2);
  }
  SECTION("without a Relu") {
    REQUIRE(under.run(another("fetch b\n")));
    CHECK(joined() >= 2);
    CHECK(joined() <= 6);
    CHECK(alone() >= 3 * 2);
  }
}

TEST_CASE("a separate launch adds a bias that cuDNN refuses to fuse") {
  watchdog watch;
  net under{1};
  for (auto& each_algorithm : fake_cudnn::instance().algorithms)
    each_algorithm.joins = false;
  auto text = another("y = Relu(b) @\"/gpu:0\"\nfetch y\n");
  auto fetched = under.run(text);
  REQUIRE(fetched);
  CHECK(fetched->values<float>()[0] == 4);
  CHECK(fetched->values<float>()[1] == 0);
  CHECK(joined() == 0);
  CHECK(alone() > 0);
}

TEST_CASE("the faster of fused and separate bias is used") {
  watchdog watch;
  net under{1};
  auto quick = fake_cudnn::instance().run;
  fake_cudnn::instance().algorithms = {{.works = false}, {}};
  for (auto joins_slowly : {true, false}) {
    fake_cudnn::instance().counted = {};
    fake_cudnn::instance().run = [=](cudaStream_t in, std::function<void()> body) {
      auto is_joined = joined() > 0 && alone() == 0; // the first one that is tried
      quick(in, [=] {
        std::this_thread::sleep_for(is_joined == joins_slowly ? 20ms : 0ms);
        body();
      });
    };
    auto text = another("fetch b\n");
    REQUIRE(under.run(text));
    auto joined_before = joined(), alone_before = alone();
    // The first one, and one that is not far slower, run five times, another twice; one more run is
    // the step's.
    CHECK(joined_before == (joins_slowly ? 5 : 6));
    CHECK(alone_before == (joins_slowly ? 6 : 2));
  }
  fake_cudnn::instance().run = quick;
}

TEST_CASE("the bias is added even if the convolution has no products") {
  watchdog watch;
  net under{1};
  auto fetched = under.run(R"(
x = Placeholder dtype=f32 shape=[1,2,2,0]
p = Conv2D(x, f32{1,1,0,2}[]) strides=[1, 1, 1, 1] padding="VALID" @"/gpu:0"
b = Add(p, f32[1, -2]) @"/gpu:0"
y = Relu(b) @"/gpu:0"
feed x = f32{1,2,2,0}[]
fetch y
)");
  INFO((fetched ? "" : fetched.status().message()));
  REQUIRE(fetched);
  for (int64_t i = 0; i < 8; ++i)
    CHECK(fetched->data<float>()[i] == (i % 2 == 0 ? 1 : 0));
}

} // namespace troupe::test::computed_convolution_test
