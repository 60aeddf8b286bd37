// The calls to cuBLASLt on a simulated GPU, to a fake library.
#include "troupe/devices/gpu/cuda/gemm.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/fake_cublas_lt/fake_cublas_lt.hpp"
#include "tests/support/watchdog.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::test::gemm_test {

using namespace troupe::gpu;

namespace {

struct multiplying_gpu : simulated_gpu {
  multiplying_gpu() {
    auto& library = fake_cublas_lt::instance();
    library.epilogues = fake_epilogues::joined;
    library.algorithms = 2;
    library.refuses = 0;
    library.advice_requests = library.launches = 0;
    library.run = [this](cudaStream_t in, std::function<void()> body) {
      refused += !driver->launch(
          [body]() -> status {
            body();
            return {};
          },
          reinterpret_cast<stream>(in));
    };
  }

  int refused = 0; // refused by the driver
};

int advice_requests() { return fake_cublas_lt::instance().advice_requests; }
int launches() { return fake_cublas_lt::instance().launches; }

// Whole numbers, so that all types are exact.
tensor some_numbers(dtype type, int64_t count, std::mt19937& dice) {
  auto numbers = *tensor::make(type, shape{count});
  for (int64_t i = 0; i < count; ++i) {
    auto value = static_cast<float>(static_cast<int>(dice() % 5) - 2);
    switch (type) {
      case dtype::f16: numbers.data<float16>()[i] = float16{value}; break;
      case dtype::bf16: numbers.data<bfloat16>()[i] = bfloat16{value}; break;
      case dtype::f64: numbers.data<double>()[i] = static_cast<double>(value); break;
      default: numbers.data<float>()[i] = value;
    }
  }
  return numbers;
}

double element(const tensor& source, int64_t i) {
  switch (source.type()) {
    case dtype::f16: return static_cast<double>(static_cast<float>(source.data<float16>()[i]));
    case dtype::bf16: return static_cast<double>(static_cast<float>(source.data<bfloat16>()[i]));
    case dtype::f64: return source.data<double>()[i];
    default: return static_cast<double>(source.data<float>()[i]);
  }
}

// Row-major, as in gemm().
double expected(const product& geometry, const tensor& a, const tensor& b, const tensor* bias,
                bool rectify, int64_t batch, int64_t row, int64_t column) {
  double sum = bias ? element(*bias, column) : 0;
  for (int64_t i = 0; i < geometry.k; ++i)
    sum += element(a, batch * geometry.stride_a +
                          (geometry.transpose_a ? i * geometry.m + row : row * geometry.k + i)) *
           element(b, batch * geometry.stride_b + (geometry.transpose_b ? column * geometry.k + i
                                                                        : i * geometry.n + column));
  return rectify && sum < 0 ? 0 : sum;
}

struct random_product {
  explicit random_product(std::mt19937& dice, bool biased) {
    auto pick = [&](int64_t from, int64_t to) {
      return from + static_cast<int64_t>(dice() % static_cast<unsigned>(to - from + 1));
    };
    constexpr dtype types[] = {dtype::f16, dtype::bf16, dtype::f32, dtype::f64};
    auto m = pick(1, 6), n = pick(1, 6), k = pick(biased ? 0 : 1, 6);
    geometry = {.type = types[dice() % (biased ? 3 : 4)],
                .transpose_a = dice() % 2 == 0,
                .transpose_b = dice() % 2 == 0,
                .m = m,
                .n = n,
                .k = k,
                .batches = pick(1, 3),
                .stride_a = dice() % 2 ? m * k : 0,
                .stride_b = dice() % 2 ? k * n : 0,
                .stride_c = m * n};
    a = some_numbers(geometry.type, geometry.batches * m * k, dice);
    b = some_numbers(geometry.type, geometry.batches * k * n, dice);
    bias = some_numbers(geometry.type, n, dice);
    rectify = biased && dice() % 2 == 0;
  }
  product geometry;
  tensor a, b, bias;
  bool rectify;
};

void check(multiplying_gpu& gpu, const random_product& tested, bool biased) {
  const auto& geometry = tested.geometry;
  CAPTURE(to_string(geometry.type), geometry.m, geometry.n, geometry.k, geometry.batches,
          tested.rectify);
  auto& memory = gpu.device->memory();
  auto a = gpu.device->upload(tested.a), b = gpu.device->upload(tested.b),
       bias = gpu.device->upload(tested.bias);
  auto c = tensor::make(geometry.type, shape{geometry.batches * geometry.m * geometry.n}, memory);
  REQUIRE((a && b && bias && c));
  epilogue last{.bias = biased ? bias->raw() : nullptr, .rectify = tested.rectify};
  auto outcome = gemm(*gpu.device, memory, geometry, a->raw(), b->raw(), c->raw(), last);
  INFO(outcome.message());
  REQUIRE(outcome);
  auto downloaded = gpu.download(*c).get();
  REQUIRE(downloaded);
  for (int64_t batch = 0; batch < geometry.batches; ++batch)
    for (int64_t row = 0; row < geometry.m; ++row)
      for (int64_t column = 0; column < geometry.n; ++column)
        REQUIRE(element(*downloaded, (batch * geometry.m + row) * geometry.n + column) ==
                expected(geometry, tested.a, tested.b, biased ? &tested.bias : nullptr,
                         tested.rectify, batch, row, column));
}

const product plain{.m = 4, .n = 3, .k = 2, .stride_c = 12};

struct operands {
  explicit operands(multiplying_gpu& on) {
    for (auto* each_operand : {&a, &b, &c, &bias})
      *each_operand = *tensor::make(dtype::f32, {64}, on.device->memory());
  }
  status multiply(multiplying_gpu& on, const void* bias_pointer) {
    return gemm(*on.device, on.device->memory(), plain, a.raw(), b.raw(), c.raw(),
                {.bias = bias_pointer});
  }
  tensor a, b, c, bias;
};

} // namespace

TEST_CASE("gemm computes products in batches and with a bias") {
  watchdog watch;
  multiplying_gpu gpu;
  INFO("seed " << gpu.seed);
  std::mt19937 dice{gpu.seed};
  for (auto epilogues :
       {fake_epilogues::joined, fake_epilogues::without_algorithm, fake_epilogues::refused}) {
    fake_cublas_lt::instance().epilogues = epilogues;
    for (int i = 0; i < 100; ++i)
      for (auto biased : {false, true})
        check(gpu, random_product{dice, biased}, biased);
  }
  CHECK(gpu.refused == 0);
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("gemm asks for the library's advice once, even if there is none") {
  watchdog watch;
  multiplying_gpu gpu;
  operands in{gpu};
  SECTION("a product") {
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr));
    CHECK(advice_requests() == 1);
    CHECK(launches() == 3);
  }
  SECTION("a fused bias") {
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, in.bias.raw()));
    CHECK(advice_requests() == 1);
  }
  SECTION("a bias that is not fused: for the product with it, and for the one without") {
    fake_cublas_lt::instance().epilogues =
        GENERATE(fake_epilogues::without_algorithm, fake_epilogues::refused);
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, in.bias.raw()));
    CHECK(advice_requests() == 2);
    CHECK(launches() == 3);
  }
  SECTION("a product without an algorithm") {
    fake_cublas_lt::instance().algorithms = 0;
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr).kind() == error_kind::unimplemented);
    CHECK(advice_requests() == 1);
    CHECK(launches() == 0);
  }
  SECTION("an algorithm that is refused at its launch is not tried again") {
    fake_cublas_lt::instance().refuses = 1;
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr));
    CHECK(advice_requests() == 1);
    CHECK(launches() == 3);
  }
  SECTION("a product whose algorithms are all refused is not tried again") {
    fake_cublas_lt::instance().refuses = 2;
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr).kind() == error_kind::unimplemented);
    CHECK(advice_requests() == 1);
  }
  SECTION("a bias with another alignment is asked for separately") {
    CHECK(in.multiply(gpu, in.bias.raw()));
    CHECK(in.multiply(gpu, in.bias.data<float>() + 1));
    CHECK(advice_requests() == 2);
  }
  CHECK(gpu.finish());
}

TEST_CASE("a Relu after a product keeps NaN, which the library's own Relu would turn into 0") {
  watchdog watch;
  multiplying_gpu gpu;
  operands in{gpu};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::ranges::fill(in.a.values<float>(), nan);
  std::ranges::fill(in.b.values<float>(), 1.0f);
  std::ranges::fill(in.bias.values<float>(), 0.0f);
  CHECK(gemm(*gpu.device, gpu.device->memory(), plain, in.a.raw(), in.b.raw(), in.c.raw(),
             {.bias = in.bias.raw(), .rectify = true}));
  CHECK(gpu.finish());
  CHECK(std::ranges::all_of(in.c.values<float>().first(12), [](float x) { return std::isnan(x); }));
}

} // namespace troupe::test::gemm_test
