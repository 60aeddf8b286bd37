// What is asked of cuBLASLt, on a simulated GPU, of a library that only pretends to be it.
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
    library.questions = library.launches = 0;
    library.run = [this](cudaStream_t in, std::function<void()> body) {
      refused += !driver->launch(
          [body]() -> status {
            body();
            return {};
          },
          reinterpret_cast<stream>(in));
    };
  }

  int refused = 0; // by the driver
};

int questions() { return fake_cublas_lt::instance().questions; }
int launches() { return fake_cublas_lt::instance().launches; }

// Whole numbers, so that all types are exact.
tensor some_numbers(dtype type, int64_t count, std::mt19937& dice) {
  auto made = *tensor::make(type, shape{count});
  for (int64_t i = 0; i < count; ++i) {
    auto value = static_cast<float>(static_cast<int>(dice() % 5) - 2);
    switch (type) {
      case dtype::f16: made.data<float16>()[i] = float16{value}; break;
      case dtype::bf16: made.data<bfloat16>()[i] = bfloat16{value}; break;
      case dtype::f64: made.data<double>()[i] = static_cast<double>(value); break;
      default: made.data<float>()[i] = value;
    }
  }
  return made;
}

double element(const tensor& of, int64_t i) {
  switch (of.type()) {
    case dtype::f16: return static_cast<double>(static_cast<float>(of.data<float16>()[i]));
    case dtype::bf16: return static_cast<double>(static_cast<float>(of.data<bfloat16>()[i]));
    case dtype::f64: return of.data<double>()[i];
    default: return static_cast<double>(of.data<float>()[i]);
  }
}

// Row-major, as gemm() says it.
double expected(const product& what, const tensor& a, const tensor& b, const tensor* bias,
                bool rectify, int64_t batch, int64_t row, int64_t column) {
  double sum = bias ? element(*bias, column) : 0;
  for (int64_t i = 0; i < what.k; ++i)
    sum += element(a, batch * what.stride_a +
                          (what.transpose_a ? i * what.m + row : row * what.k + i)) *
           element(b, batch * what.stride_b +
                          (what.transpose_b ? column * what.k + i : i * what.n + column));
  return rectify && sum < 0 ? 0 : sum;
}

struct random_product {
  explicit random_product(std::mt19937& dice, bool biased) {
    auto pick = [&](int64_t from, int64_t to) {
      return from + static_cast<int64_t>(dice() % static_cast<unsigned>(to - from + 1));
    };
    constexpr dtype types[] = {dtype::f16, dtype::bf16, dtype::f32, dtype::f64};
    auto m = pick(1, 6), n = pick(1, 6), k = pick(biased ? 0 : 1, 6);
    what = {.type = types[dice() % (biased ? 3 : 4)],
            .transpose_a = dice() % 2 == 0,
            .transpose_b = dice() % 2 == 0,
            .m = m,
            .n = n,
            .k = k,
            .batches = pick(1, 3),
            .stride_a = dice() % 2 ? m * k : 0,
            .stride_b = dice() % 2 ? k * n : 0,
            .stride_c = m * n};
    a = some_numbers(what.type, what.batches * m * k, dice);
    b = some_numbers(what.type, what.batches * k * n, dice);
    bias = some_numbers(what.type, n, dice);
    rectify = biased && dice() % 2 == 0;
  }
  product what;
  tensor a, b, bias;
  bool rectify;
};

void check(multiplying_gpu& gpu, const random_product& given, bool biased) {
  const auto& what = given.what;
  CAPTURE(to_string(what.type), what.m, what.n, what.k, what.batches, given.rectify);
  auto& memory = gpu.device->memory();
  auto a = gpu.device->upload(given.a), b = gpu.device->upload(given.b),
       bias = gpu.device->upload(given.bias);
  auto c = tensor::make(what.type, shape{what.batches * what.m * what.n}, memory);
  REQUIRE((a && b && bias && c));
  epilogue last{.bias = biased ? bias->raw() : nullptr, .rectify = given.rectify};
  auto outcome = gemm(*gpu.device, memory, what, a->raw(), b->raw(), c->raw(), last);
  INFO(outcome.message());
  REQUIRE(outcome);
  auto got = gpu.download(*c).get();
  REQUIRE(got);
  for (int64_t batch = 0; batch < what.batches; ++batch)
    for (int64_t row = 0; row < what.m; ++row)
      for (int64_t column = 0; column < what.n; ++column)
        REQUIRE(element(*got, (batch * what.m + row) * what.n + column) ==
                expected(what, given.a, given.b, biased ? &given.bias : nullptr, given.rectify,
                         batch, row, column));
}

const product plain{.m = 4, .n = 3, .k = 2, .stride_c = 12};

struct operands {
  explicit operands(multiplying_gpu& on) {
    for (auto* one : {&a, &b, &c, &bias})
      *one = *tensor::make(dtype::f32, {64}, on.device->memory());
  }
  status multiply(multiplying_gpu& on, const void* with) {
    return gemm(*on.device, on.device->memory(), plain, a.raw(), b.raw(), c.raw(), {.bias = with});
  }
  tensor a, b, c, bias;
};

} // namespace

TEST_CASE("products are what they are said to be, in batches and with a bias") {
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
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("the library's advice is asked once, also where it has none") {
  watchdog watch;
  multiplying_gpu gpu;
  operands in{gpu};
  SECTION("a product") {
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr));
    CHECK(questions() == 1);
    CHECK(launches() == 3);
  }
  SECTION("a bias that is joined") {
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, in.bias.raw()));
    CHECK(questions() == 1);
  }
  SECTION("a bias that is not: about the product with it, and the one without") {
    fake_cublas_lt::instance().epilogues =
        GENERATE(fake_epilogues::without_algorithm, fake_epilogues::refused);
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, in.bias.raw()));
    CHECK(questions() == 2);
    CHECK(launches() == 3);
  }
  SECTION("a product that it does not know") {
    fake_cublas_lt::instance().algorithms = 0;
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr).kind() == error_kind::unimplemented);
    CHECK(questions() == 1);
    CHECK(launches() == 0);
  }
  SECTION("an algorithm that it does not run after all is not tried again") {
    fake_cublas_lt::instance().refuses = 1;
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr));
    CHECK(questions() == 1);
    CHECK(launches() == 3);
  }
  SECTION("nor is a product whose algorithms it all refuses") {
    fake_cublas_lt::instance().refuses = 2;
    for (int i = 0; i < 3; ++i)
      CHECK(in.multiply(gpu, nullptr).kind() == error_kind::unimplemented);
    CHECK(questions() == 1);
  }
  SECTION("a bias that is aligned otherwise is another question") {
    CHECK(in.multiply(gpu, in.bias.raw()));
    CHECK(in.multiply(gpu, in.bias.data<float>() + 1));
    CHECK(questions() == 2);
  }
  CHECK(gpu.finish());
}

TEST_CASE("a Relu behind a product keeps NaN, which the library's would make 0") {
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
