// Runs every case in this folder, and every op's example, on simulated GPUs.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/op_samples.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"

#include <random>

namespace troupe::test::simulated_gpu_test {

namespace {

std::unique_ptr<client> session_with(int gpus, const program_options& programs,
                                     const pass_options& passes, unsigned seed) {
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [=] { return make_simulated_devices(gpus, {.seed = seed}); };
  options.inter_op_threads = 2;
  options.programs = programs;
  options.passes = passes;
  auto session = client::local(options);
  REQUIRE(session);
  return *std::move(session);
}

std::string failures_of(int gpus, const std::vector<named_text>& cases,
                        const std::vector<std::string>& devices,
                        const program_options& programs = {}, const pass_options& passes = {}) {
  auto seed = std::random_device{}();
  UNSCOPED_INFO("seed " << seed);
  return differences_of(*session_with(gpus, programs, passes, seed), simulated_library(), cases,
                        devices);
}

} // namespace

TEST_CASE("every text graph gives what it promises on a simulated GPU") {
  watchdog watch{std::chrono::seconds{100}};
  CHECK(failures_of(1, all_cases(), {""}) == "");
  CHECK(failures_of(1, all_cases(), {""}, {}, pass_options::none()) == "");
  CHECK(failures_of(1, all_cases(), {""}, {.region_per_node = true}) == "");
}

TEST_CASE("every op's example gives what it promises on a simulated GPU") {
  watchdog watch{std::chrono::seconds{100}};
  CHECK(failures_of(1, all_examples(), {""}) == "");
  CHECK(failures_of(1, all_examples(), {""}, {}, pass_options::none()) == "");
}

TEST_CASE(
    "every text graph and every op's example gives the same where a GPU's products take 16 bits") {
  watchdog watch{std::chrono::seconds{100}};
  for (auto type : {dtype::bf16, dtype::f16}) {
    INFO(to_string(type));
    CHECK(failures_of(1, all_cases(), {""}, {}, {.mixed_precision = type}) == "");
    CHECK(failures_of(1, all_examples_for_16_bits(), {""}, {}, {.mixed_precision = type}) == "");
  }
}

TEST_CASE(
    "every text graph and every op's example gives the same where all that can be is swapped") {
  watchdog watch{std::chrono::seconds{100}};
  pass_options passes{.swap = {.mode = swap_mode::on, .min_bytes = 1}};
  CHECK(failures_of(1, all_cases(), {""}, {}, passes) == "");
  CHECK(failures_of(1, all_examples(), {""}, {}, passes) == "");
  CHECK(failures_of(2, all_cases(), {"/gpu:0", "/gpu:1", "/cpu:0"}, {}, passes) == "");
}

TEST_CASE("every text graph gives what it promises spread over a processor and two GPUs") {
  watchdog watch{std::chrono::seconds{100}};
  const std::vector<std::string> devices = {"/gpu:0", "/gpu:1", "/cpu:0"};
  CHECK(failures_of(2, all_cases(), devices) == "");
  CHECK(failures_of(2, all_examples(), devices) == "");
}

TEST_CASE("a simulated GPU draws the same random numbers as processors") {
  text_case sampled{R"(
g = RandomGamma(i32[300], f64[0.3, 0.9, 1, 7.5]) seed=3 seed2=4
h = RandomGamma(i32[7, 3], f16[0.5, 2]) seed=3 seed2=4
p = RandomPoisson(i32[300], f32[0, 0.3, 9, 12, 1000]) seed=3 seed2=4
q = RandomPoissonV2(i32[300], f64[0.3, 12]) seed=3 seed2=4 dtype=i32
t = ParameterizedTruncatedNormal(i32[4, 99], f64[0, 1, 2, 3], f64(1), f64[-1, 3, -inf, 5],
                                 f64[1, 4, 7, inf]) seed=3 seed2=4
n = ParameterizedTruncatedNormal(i32[50], f32(0), f32(2), f32(-1), f32(1)) seed=3 seed2=4
fetch g
fetch h
fetch p
fetch q
fetch t
fetch n
)",
                    "drawn", &simulated_library()};
  auto on_processor = run(*session_with(0, {}, {}, 1), sampled),
       on_gpu = run(*session_with(1, {}, {}, 1), sampled);
  REQUIRE(on_processor);
  REQUIRE(on_gpu);
  for (size_t i = 0; i < on_processor->size(); ++i) {
    CAPTURE(i);
    auto as_doubles = [](const tensor& x) { return converted(x, dtype::f64); };
    auto expected = as_doubles((*on_processor)[i]), actual = as_doubles((*on_gpu)[i]);
    REQUIRE(actual.elements() == expected.elements());
    for (int64_t k = 0; k < expected.elements(); ++k)
      CHECK(actual.data<double>()[k] == Approx(expected.data<double>()[k]).epsilon(1e-3));
  }
}

TEST_CASE("a simulated GPU refuses the parameters that processors refuse") {
  auto outcome_of = [](const char* text) {
    return run(*session_with(1, {}, pass_options::none(), 1),
               text_case{text, "refused", &simulated_library()});
  };
  auto refused = [&](const char* text, const char* message) {
    auto outcome = outcome_of(text);
    REQUIRE(!outcome);
    CHECK(outcome.status().message().find(message) != std::string::npos);
  };
  refused("g = RandomGamma(i32[3], f64[0.3, 0]) seed=3\nfetch g\n", "alpha must be positive");
  refused("p = RandomPoisson(i32[3], f32[inf]) seed=3\nfetch p\n", "a rate must be finite");
  refused(
      "t = ParameterizedTruncatedNormal(i32[2, 3], f32[0, nan], f32(1), f32(0), f32(1)) seed=3\n"
      "fetch t\n",
      "bounds of row 1");
  refused("q = FakeQuantWithMinMaxVars(f32[1], f32(1), f32(2))\nfetch q\n",
          "min must be at most 0");
}

} // namespace troupe::test::simulated_gpu_test
